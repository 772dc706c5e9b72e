"""Columns of an interface that only some attachments have: set where one does, else left out.

What a link of PCI Express does not say is the usual, which is noted as assumed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.model.space import Axis
from dse.study import schema
from dse.study.faults import Faults
from dse.study.record_columns import NEUTRAL

PCIE = "interface_pcie"

USUAL = {"interface_max_payload_byte": 256.0, "interface_max_read_request_byte": 512.0}
"""What a link of PCI Express is taken to have negotiated (Neugebauer et al., SIGCOMM 2018)."""

_OF_PCIE = (*USUAL, "interface_completion_byte", "interface_descriptors", "interface_batch")

_POWER = ("interface_idle_power_w", "interface_transfer_j_per_byte")
_SUM = ("interface_overhead_plus_latency_cycles", "interface_overhead_plus_latency_s")

_SHARE = "interface_overhead_share"

_RETRANSMIT, _SEGMENT = "interface_retransmit_share", "interface_segment_byte"

SPLIT = (
    "interface: of overhead_plus_latency only the sum is known: all of it is taken as overhead, "
    "unless overhead_share says another part"
)

GROUPS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    (PCIE,): (PCIE, *_OF_PCIE),
    ("interface_round_trip_s",): ("interface_round_trip_s",),
    _POWER: _POWER,
    ("interface_attachment_area_m2",): ("interface_attachment_area_m2",),
    _SUM: (*_SUM, _SHARE),
    ("interface_acceleration",): ("interface_acceleration",),
    (_RETRANSMIT,): (_RETRANSMIT, _SEGMENT),
}
"""Columns that are left out together when the first ones say no more than their neutral values."""

Constants = dict[str, float]


def settle_attachments(
    written: schema.InterfaceSection,
    paths: Collection[str],
    constants: Constants,
    axes: list[Axis],
    faults: Faults,
) -> list[str]:
    """Leave out what no interface of a study has, and complete the rest; return notes.

    `paths` are the fields that are axes.  What describes a link that there is not is a fault.
    """
    _leave_out_unused(constants, axes)
    used = {*constants}.union(*(axis.columns for axis in axes))
    stated = written.overhead_share is not None or f"interface.{_field(_SHARE)}" in paths
    notes = [SPLIT] if _SHARE in used and not stated else []
    _check_sum(written, paths, used, constants, axes, faults)
    _check_share(paths, constants, axes, faults)
    if _RETRANSMIT in used and written.segment is None and "interface.segment" not in paths:
        notes.append(f"interface: segments are taken as {units.show(NEUTRAL[_SEGMENT], _SEGMENT)}")
    if PCIE in used:
        return [*notes, *_complete_pcie(constants, axes)]
    for column in _OF_PCIE:
        name = _field(column)
        path = f"interface.{name}"
        if path in paths or getattr(written, name) is not None:
            where = ("axes", path) if path in paths else ("interface", name)
            rule = "it describes a PCI Express link, and no interface of the study has one"
            faults.add(where, rule, "add for instance `pcie: gen4 x8` to `interface`")
    return notes


def _check_sum(
    written: schema.InterfaceSection,
    paths: Collection[str],
    used: Collection[str],
    constants: Constants,
    axes: list[Axis],
    faults: Faults,
) -> None:
    """Refuse a sum of overhead and latency beside its parts, and a share of what is no sum."""
    share = f"interface.{_field(_SHARE)}"
    where = ("axes", share) if share in paths else ("interface", _field(_SHARE))
    stated = share in paths or written.overhead_share is not None
    if stated and _SHARE not in used:
        rule = "it divides overhead_plus_latency, and no interface of the study has one"
        faults.add(where, rule, "remove it, or write the sum in place of overhead and latency")
    elif stated and any((values > 1.0).any() for values in _values(_SHARE, constants, axes)):
        faults.add(where, "a share is at most 1", "write for instance 50 %")
    parts = [name for name in ("overhead", "latency") if getattr(written, name) is not None]
    if written.overhead_plus_latency is not None and parts:
        rule = f"overhead_plus_latency is the sum already, and {parts[0]} would be added to it"
        faults.add(("interface", parts[0]), rule, "remove one of the two")


def _check_share(
    paths: Collection[str], constants: Constants, axes: list[Axis], faults: Faults
) -> None:
    """Refuse more segments that are sent again than there are."""
    if any((values > 1.0).any() for values in _values(_RETRANSMIT, constants, axes)):
        path = f"interface.{_field(_RETRANSMIT)}"
        where = ("axes", path) if path in paths else ("interface", _field(_RETRANSMIT))
        faults.add(where, "a share is at most 1", "write for instance 1 %")


def _field(column: str) -> str:
    return units.stem(column).removeprefix("interface_")


def _leave_out_unused(constants: Constants, axes: list[Axis]) -> None:
    for deciding, group in GROUPS.items():
        if all(_is_neutral(name, constants, axes) for name in deciding):
            for name in group:
                constants.pop(name, None)
            for place, axis in enumerate(axes):
                kept = {name: values for name, values in axis.columns.items() if name not in group}
                axes[place] = replace(axis, columns=kept)


def _is_neutral(name: str, constants: Constants, axes: list[Axis]) -> bool:
    neutral = NEUTRAL.get(name, 0.0)
    return all((values == neutral).all() for values in _values(name, constants, axes))


def _values(name: str, constants: Constants, axes: list[Axis]) -> Iterator[Column]:
    if name in constants:
        yield np.array([constants[name]])
    yield from (axis.columns[name] for axis in axes if name in axis.columns)


def _complete_pcie(constants: Constants, axes: list[Axis]) -> list[str]:
    assumed: list[str] = []
    for name, usual in USUAL.items():
        if any(np.isinf(values).any() for values in _values(name, constants, axes)):
            assumed.append(f"{_field(name)} {units.show(usual, name)}")
        if constants.get(name) == math.inf:
            constants[name] = usual
        for place, axis in enumerate(axes):
            if name in axis.columns:
                values = axis.columns[name]
                columns = {**axis.columns, name: np.where(np.isinf(values), usual, values)}
                axes[place] = replace(axis, columns=columns)
    return [f"interface: assumed of PCI Express: {', '.join(assumed)}"] if assumed else []

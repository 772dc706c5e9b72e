"""Columns of an interface that only some attachments have: set where one does, else omitted.

What a link of PCI Express does not say is the usual, which is noted as assumed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.model.space import Axis
from dse.study import schema, workload_interface_budget
from dse.study.faults import Faults
from dse.study.workload_interface_budget import declared_neutral

_SHARE, _RETRANSMIT = "interface_overhead_share", "interface_retransmit_share"

SPLIT = (
    "interface: of overhead_plus_latency only the sum is known: all of it is taken as overhead, "
    "unless overhead_share says another part"
)

_OWNERS = {
    "pcie": (
        "it describes a PCI Express link, and no interface of the study has one",
        "add for instance `pcie: gen4 x8` to `interface`",
    ),
    "attachment": (
        "an engine that reads its record again is on the way of the data, and no interface of the "
        "study is",
        "write `attachment: inline` in that interface",
    ),
    "retransmit_share": (
        "it describes segments that are sent again, and no interface of the study has any",
        "add for instance `retransmit_share: 1 %` to `interface`",
    ),
}
"""What is wrong with a field that belongs to another one, which no interface of a study has."""

Constants = dict[str, float]


def settle_attachments(
    study: schema.StudyFile, constants: Constants, axes: list[Axis], faults: Faults
) -> list[str]:
    """Omit what no interface of a study has, and complete the rest; return notes.

    What describes a link that there is not is a fault.
    """
    gone = _leave_out_unused(constants, axes)
    used = {*constants}.union(*(axis.columns for axis in axes))
    notes = []
    if _SHARE in used and not study.gives("interface.overhead_share"):
        notes.append(SPLIT)
    _check_sum(study, used, constants, axes, faults)
    if _exceeds_one(_RETRANSMIT, constants, axes):
        where = study.place("interface.retransmit_share")
        faults.add(where, "a share is at most 1", "write for instance 1 %")
    if _RETRANSMIT in used and not study.gives("interface.segment"):
        shown = units.show(declared_neutral("interface_segment_byte"), "interface_segment_byte")
        notes.append(f"interface: segments are taken as {shown}")
    for path, owners in gone.items():
        name = path.removeprefix("interface.")
        if name not in owners and owners[0] in _OWNERS and study.gives(path):
            faults.add(study.place(path), *_OWNERS[owners[0]])
    return [*notes, *_complete_usual(constants, axes)]


def _check_sum(
    study: schema.StudyFile,
    used: Collection[str],
    constants: Constants,
    axes: list[Axis],
    faults: Faults,
) -> None:
    """Refuse a sum of overhead and latency beside its parts, and a share of what is no sum."""
    share = "interface.overhead_share"
    if study.gives(share) and _SHARE not in used:
        rule = "it divides overhead_plus_latency, and no interface of the study has one"
        remedy = "remove it, or write the sum in place of overhead and latency"
        faults.add(study.place(share), rule, remedy)
    elif study.gives(share) and _exceeds_one(_SHARE, constants, axes):
        faults.add(study.place(share), "a share is at most 1", "write for instance 50 %")
    written = study.interface or workload_interface_budget.InterfaceSection()
    parts = [name for name in ("overhead", "latency") if getattr(written, name) is not None]
    if written.overhead_plus_latency is not None and parts:
        rule = f"overhead_plus_latency is the sum already, and {parts[0]} would be added to it"
        faults.add(("interface", parts[0]), rule, "remove one of the two")


def _exceeds_one(name: str, constants: Constants, axes: list[Axis]) -> bool:
    return any((values > 1.0).any() for values in _values(name, constants, axes))


def _field(column: str) -> str:
    return units.stem(column).removeprefix("interface_")


def _leave_out_unused(constants: Constants, axes: list[Axis]) -> dict[str, tuple[str, ...]]:
    """Remove the columns of fields that belong to neutral ones; return each field and those."""
    known = {path: one for path, one in workload_interface_budget.DECLARED.items() if one}
    gone = {
        path: one.belongs_to
        for path, one in known.items()
        if one.belongs_to
        and all(
            _is_neutral(column, constants, axes)
            for owner in one.belongs_to
            for column in known[f"interface.{owner}"].columns
        )
    }
    columns = {column for path in gone for column in known[path].columns}
    for column in columns:
        constants.pop(column, None)
    for place, axis in enumerate(axes):
        kept = {name: values for name, values in axis.columns.items() if name not in columns}
        axes[place] = replace(axis, columns=kept)
    return gone


def _is_neutral(name: str, constants: Constants, axes: list[Axis]) -> bool:
    return all((found == declared_neutral(name)).all() for found in _values(name, constants, axes))


def _values(name: str, constants: Constants, axes: list[Axis]) -> Iterator[Column]:
    if name in constants:
        yield np.array([constants[name]])
    yield from (axis.columns[name] for axis in axes if name in axis.columns)


def _complete_usual(constants: Constants, axes: list[Axis]) -> list[str]:
    """Set what a link does not say to what is usual; return a note of it."""
    assumed: list[str] = []
    known = {
        unit.columns[0]: unit.usual
        for unit in workload_interface_budget.FIELDS.values()
        if unit is not None
    }
    for name, usual in known.items():
        if usual is None:
            continue
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

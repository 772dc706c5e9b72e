"""Columns of an interface that only some attachments have: set where one does, else omitted.

What a link of PCI Express does not say is the usual, which is noted as assumed.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.study import schema, workload_interface_budget
from dse.study.reader import Reader
from dse.study.scenario import Scenario
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


def settle_attachments(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Omit what no interface of a study has, and complete the rest; note what is assumed.

    What describes a link that there is not is a fault.
    """
    gone = _leave_out_unused(scenario)
    if _SHARE in scenario.names and not study.gives("interface.overhead_share"):
        reader.notes.append(SPLIT)
    _check_sum(study, scenario, reader)
    if _exceeds_one(_RETRANSMIT, scenario):
        where = study.place("interface.retransmit_share")
        reader.fault(where, "a share is at most 1", "write for instance 1 %")
    if _RETRANSMIT in scenario.names and not study.gives("interface.segment"):
        shown = units.show(declared_neutral("interface_segment_byte"), "interface_segment_byte")
        reader.notes.append(f"interface: segments are taken as {shown}")
    for path, owners in gone.items():
        name = path.removeprefix("interface.")
        if name not in owners and owners[0] in _OWNERS and study.gives(path):
            reader.fault(study.place(path), *_OWNERS[owners[0]])
    if assumed := _complete_usual(scenario):
        reader.notes.append(f"interface: assumed of PCI Express: {', '.join(assumed)}")


def _check_sum(study: schema.StudyFile, scenario: Scenario, reader: Reader) -> None:
    """Refuse a sum of overhead and latency beside its parts, and a share of what is no sum."""
    share = "interface.overhead_share"
    if study.gives(share) and _SHARE not in scenario.names:
        rule = "it divides overhead_plus_latency, and no interface of the study has one"
        remedy = "remove it, or write the sum in place of overhead and latency"
        reader.fault(study.place(share), rule, remedy)
    elif study.gives(share) and _exceeds_one(_SHARE, scenario):
        reader.fault(study.place(share), "a share is at most 1", "write for instance 50 %")
    written = study.interface or workload_interface_budget.InterfaceSection()
    parts = [name for name in ("overhead", "latency") if getattr(written, name) is not None]
    if written.overhead_plus_latency is not None and parts:
        rule = f"overhead_plus_latency is the sum already, and {parts[0]} would be added to it"
        reader.fault(("interface", parts[0]), rule, "remove one of the two")


def _exceeds_one(name: str, scenario: Scenario) -> bool:
    return any((values > 1.0).any() for values in scenario.setters(name))


def _leave_out_unused(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Remove the columns of fields that belong to neutral ones; return each field and those."""
    known = {path: one for path, one in workload_interface_budget.DECLARED.items() if one}
    gone = {
        path: one.belongs_to
        for path, one in known.items()
        if one.belongs_to
        and all(
            (values == declared_neutral(column)).all()
            for owner in one.belongs_to
            for column in known[f"interface.{owner}"].columns
            for values in scenario.setters(column)
        )
    }
    columns = {column for path in gone for column in known[path].columns}
    for column in columns:
        scenario.constants.pop(column, None)
    scenario.remove(columns)
    return gone


def _complete_usual(scenario: Scenario) -> list[str]:
    """Set what a link does not say to what is usual; return that in words."""
    constants, assumed = scenario.constants, []
    fields = workload_interface_budget.FIELDS.values()
    for name, usual in ((unit.columns[0], unit.usual) for unit in fields):
        if usual is None:
            continue
        field = units.stem(name).removeprefix("interface_")
        if any(np.isinf(values).any() for values in scenario.setters(name)):
            assumed.append(f"{field} {units.show(usual, name)}")
        if constants.get(name) == math.inf:
            constants[name] = usual
        for place, axis in enumerate(scenario.axes):
            if name in axis.columns:
                values = axis.columns[name]
                columns = {**axis.columns, name: np.where(np.isinf(values), usual, values)}
                scenario.axes[place] = replace(axis, columns=columns)
    return assumed

"""The columns that all designs of a study share, and what is kept of where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dse import contract
from dse.model.mixed import PAYLOAD_OFFLOADED, Parted
from dse.model.space import Axis, constant
from dse.study import records as user_records
from dse.study import schema
from dse.study.faults import Faults
from dse.study.fields import Given, StudySection, Unit, unit_of
from dse.study.inputs import Input
from dse.study.records import Kind
from dse.study.sizes import Mix
from dse.study.sureness import RecordSureness


@dataclass
class Scenario:
    """Columns that every design shares, axes that replace them, what was assumed and read."""

    constants: dict[str, float] = field(default_factory=dict)
    axes: list[Axis] = field(default_factory=list)
    sureness: RecordSureness = field(default_factory=RecordSureness)
    notes: list[str] = field(default_factory=list)
    inputs: dict[str, Input] = field(default_factory=dict)
    kernels: list[contract.Kernel] = field(default_factory=list)
    interfaces: Sequence[contract.Interface] = ()
    refused: dict[str, str] = field(default_factory=dict)
    mix: Mix | None = None
    parts: Sequence[Parted] = ()

    @property
    def names(self) -> set[str]:
        """Every column that is set."""
        return set(self.constants).union(*(axis.columns for axis in self.axes))

    @property
    def varies(self) -> bool:
        """Whether offloads differ in size, or arrive at random."""
        return self.mix is not None or bool(self.highest("workload_arrival_cv2"))

    @property
    def chained(self) -> bool:
        """Whether some design chains its tasks, so that latencies decide rates."""
        return "workload_chained" in self.constants

    def record(self, kind: type[Kind], name: str, faults: Faults) -> Kind:
        """Return what the study names, and keep which file it comes from if any."""
        found, use = user_records.get_record(kind, name, faults.document)
        if use is not None:
            self.inputs[use.file.written] = use.file
            self.notes.append(use.note)
            if use.refused:
                self.refused[f"the fit of {found.name} was refused: {use.refused}"] = use.measured
        return found

    def keep_sureness(
        self, records: Sequence[Any], section: StudySection | None = None, axis: str = ""
    ) -> None:
        """Keep how sure records are, on an axis or alone, less what a section of the study sets."""
        replaced = {column for unit, _ in given_fields(section) for column in unit.columns}
        self.notes += self.sureness.keep(records, axis, replaced)

    def highest(self, column: str) -> float | None:
        """Return the largest value that a column takes, None when nothing sets it."""
        for axis in reversed(self.axes):
            if column in axis.columns:
                return float(axis.columns[column].max())
        return self.constants.get(column)

    @property
    def highest_demand(self) -> float | None:
        """Return the highest rate demanded of accelerators, None without a demand."""
        rate, share = map(self.highest, ("workload_rate_bit_per_s", PAYLOAD_OFFLOADED))
        return rate if rate is None or share is None else rate * share


def given_fields(section: StudySection | None) -> Iterator[tuple[Unit, Given]]:
    """Yield what a section gives of its fields with a unit."""
    if section is None:
        return
    for name in type(section).model_fields:
        unit, given = unit_of(type(section), name), getattr(section, name)
        if unit is not None and given is not None:
            yield unit, given


def to_columns(constants: Mapping[str, float]) -> dict[str, contract.Column]:
    """Return constants as columns of one row."""
    return {name: constant(value) for name, value in constants.items()}


def field_path(column: str) -> str:
    """Return the dotted path of the study field that sets a column."""
    if column.startswith("kernel_"):
        return "workload.kernel"
    if column.startswith("stage_"):
        return "stages"
    for path, unit in schema.FIELDS.items():
        if unit is not None and column in unit.columns:
            return path
    written = column.replace("_", ".", 1)
    if written in schema.FIELDS:  # a choice, which carries no unit
        return written
    return "budget.platform" if column.startswith("budget_") else column

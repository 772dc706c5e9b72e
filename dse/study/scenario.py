"""Columns that all designs of a study share, with their sources and uncertainties."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.files.document import stage_name
from dse.model.mixed import PAYLOAD_OFFLOADED, Parted
from dse.model.space import Axis, constant
from dse.study.field_kinds import Coded, Mix, StudySection
from dse.study.schema import DECLARED, PATHS, code

_PREFIX = {contract.Interface: "interface", contract.Kernel: "kernel", contract.Platform: "budget"}


@dataclass
class RecordSureness:
    """Uncertainty and sources of the columns that records set.

    Attributes
    ----------
    shares
        Relative standard uncertainties by the axis of the records (empty: the study names one) and
        the column, a value per record.
    records
        Interfaces, kernels and platforms by the prefix of their columns.
    designs
        Evidence, node and source of values, by stage and design.
    zeros
        Axis, position of the record and column of values given as zero by a record or the study.
    unspecified
        Fields that neither the interface nor the study gives, by position of the interface.
    unleaking
        Stages whose tables have no leakage.
    """

    shares: dict[tuple[str, str], contract.Column] = field(default_factory=dict)
    records: dict[str, Sequence[Any]] = field(default_factory=dict)
    designs: dict[str, dict[str, tuple[str, str, str]]] = field(default_factory=dict)
    unspecified: dict[int, tuple[str, ...]] = field(default_factory=dict)
    zeros: set[tuple[str, int, str]] = field(default_factory=set)
    unleaking: list[str] = field(default_factory=list)

    def keep(
        self, records: Sequence[Any], section: StudySection | None = None, axis: str = ""
    ) -> list[str]:
        """Keep the uncertainty of records, except for columns that a section of the study sets.

        Returns it in words, once for all records that share it.
        """
        replaced = set() if section is None else {*section.givens()}
        groups: dict[tuple[str, str], list[str]] = {}
        for row, record in enumerate(records):
            self.records[_PREFIX[type(record)]] = records
            for column, share in _shares(record).items():
                if column not in replaced:
                    shares = self.shares.setdefault((axis, column), np.zeros(len(records)))
                    shares[row] = share
            for start, names in (
                ("assumed (unpublished)", record.assumptions),
                ("fitted to measurements", record.fitted),
            ):
                kept = [name for name in names if _column(record, name) not in replaced]
                text = ", ".join(dict.fromkeys(_with_share(name, record) for name in kept))
                groups.setdefault((start, text), []).append(record.name)
            self.zeros |= {(axis, row, name) for name in {*record.zeros} - replaced}
        return [
            f"{start} for {', '.join(names)}: {text}"
            for (start, text), names in groups.items()
            if text
        ]

    def keep_designs(
        self, written: Any, names: Iterable[str], source: tuple[str, str, str]
    ) -> None:
        """Keep the source of designs of the written stage."""
        stage = str(stage_name(vars(written)))
        self.designs.setdefault(stage, {}).update(dict.fromkeys(names, source))


def _column(record: contract.Sureness, name: str) -> str:
    """Return the column that a field of a record sets.  The cap is a sum."""
    name = "power_cap_w" if name == "usable_power_w" else name
    return f"{_PREFIX[type(record)]}_{name}"


def _shares(record: contract.Sureness) -> dict[str, float]:
    """Return the relative standard uncertainty of the columns that a record sets."""
    shares = dict(record.uncertainty)
    if isinstance(record, contract.Platform) and record.usable_power_w:
        parts = {
            name: getattr(record, name) * shares.get(name, 0.0)
            for name in ("usable_power_w", "constant_power_w")
        }
        total = record.usable_power_w + record.constant_power_w
        shares["usable_power_w"] = math.hypot(*parts.values()) / total
    return {_column(record, name): share for name, share in shares.items() if share}


def _with_share(name: str, record: contract.Sureness) -> str:
    """Return a field as a note names it, with its uncertainty if the record states one."""
    share = record.uncertainty.get(name)
    column = f"{_PREFIX[type(record)]}_{name}"
    field = PATHS.get(column, units.stem(name)).rpartition(".")[2]
    return field if share is None else f"{field} (+- {100 * share:.3g} %)"


@dataclass
class Scenario:
    """Columns that every design shares, axes that replace them, and the records behind them."""

    constants: dict[str, float] = field(default_factory=dict)
    axes: list[Axis] = field(default_factory=list)
    sureness: RecordSureness = field(default_factory=RecordSureness)
    kernels: list[contract.Kernel] = field(default_factory=list)
    interfaces: Sequence[contract.Interface] = ()
    mix: Mix | None = None
    parts: Sequence[Parted] = ()

    @property
    def names(self) -> set[str]:
        """Return every column that is set."""
        return set(self.constants).union(*(axis.columns for axis in self.axes))

    @property
    def chained(self) -> bool:
        """Return whether some design chains its tasks, so that latencies decide rates."""
        return "workload_chained" in self.constants

    def setters(self, name: str) -> list[contract.Column]:
        """Return the values of a column in the study and each axis, of which the last counts."""
        own = [constant(self.constants[name])] if name in self.constants else []
        return own + [axis.columns[name] for axis in self.axes if name in axis.columns]

    def column(self, name: str) -> contract.Column | None:
        """Return the values of a column, or None if it is never set."""
        return next(reversed(self.setters(name)), None)

    def override(self, columns: Mapping[str, float]) -> None:
        """Set columns to one value each, in place of values of records or axes."""
        self.constants.update(columns)
        self.remove(columns)

    def remove(self, columns: Collection[str]) -> None:
        """Remove some columns from all axes."""
        for place, axis in enumerate(self.axes):
            kept = {name: values for name, values in axis.columns.items() if name not in columns}
            self.axes[place] = replace(axis, columns=kept)

    def highest(self, column: str) -> float | None:
        """Return the largest value of a column, or None if it is never set."""
        found = self.column(column)
        return None if found is None else float(found.max())

    @property
    def highest_demand(self) -> float | None:
        """Return the highest rate demanded of accelerators, or None without a demand."""
        rate, share = map(self.highest, ("workload_rate_bit_per_s", PAYLOAD_OFFLOADED))
        return rate if rate is None or share is None else rate * share


def field_path(column: str) -> str:
    """Return the dotted path of the study field that sets a column."""
    if column.startswith("kernel_"):
        return "workload.kernel"
    if column.startswith("stage_"):
        return "stages"
    if column in PATHS:
        return PATHS[column]
    return "budget.platform" if column.startswith("budget_") else column


def interface_columns(record: contract.Interface) -> dict[str, float]:
    """Return the columns that an interface sets, neutral or assumed if it gives no value."""
    columns = {}
    for name in contract.Interface.__dataclass_fields__:
        column, value = f"interface_{name}", getattr(record, name)
        path = PATHS.get(column, "")
        declared = DECLARED.get(path)
        if isinstance(declared, Coded):
            columns[column] = code(column, value or "none")
        elif declared is not None:
            left = path.removeprefix("interface.") in record.unspecified
            assumed = declared.assumed if left else None
            known = declared.neutral if value is None else float(value)
            columns[column] = known if assumed is None else assumed
    return columns


def platform_columns(record: contract.Platform) -> dict[str, float]:
    """Return the columns that a platform sets, or NaN for values that its source does not give."""
    usable = math.inf if record.usable_power_w is None else record.usable_power_w
    columns = {"budget_power_cap_w": record.constant_power_w + usable}
    for name in contract.Platform.__dataclass_fields__:
        value = getattr(record, name)
        if name != "usable_power_w" and isinstance(value, int | float | None):
            columns[f"budget_{name}"] = math.nan if value is None else float(value)
    return columns


def kernel_columns(record: contract.Kernel) -> dict[str, float]:
    """Return the columns that a kernel sets."""
    names = "index_s_per_byte", "exponent", "offset_s"
    return {f"kernel_{name}": getattr(record, name) for name in names}

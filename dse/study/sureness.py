"""How sure the figures of records are that a study uses: what is stated, and what is fitted."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dse import contract
from dse.algebra import units
from dse.model.space import Axis
from dse.study.schema import FIELDS

_PREFIX = {
    contract.Interface: "interface",
    contract.Kernel: "kernel",
    contract.Platform: "budget",
}


@dataclass
class RecordSureness:
    """How sure columns are that records set.

    Attributes
    ----------
    shares
        Relative standard uncertainties by the axis of the records (empty: the study names one) and
        the column, a value per record.
    fitted
        Axis, position of the record and column of what is fitted to measurements.
    assumed
        By axis and position of a record: its figures that nobody has published.
    left_out
        By axis and position of an interface: the fields that neither it nor the study gives, and
        what stands for each, in words.
    unleaking
        Stages whose tables tell no leakage: what stands for it, in words, and whether they tell the
        total power instead.
    """

    shares: dict[tuple[str, str], contract.Column] = field(default_factory=dict)
    fitted: set[tuple[str, int, str]] = field(default_factory=set)
    assumed: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    left_out: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)
    unleaking: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def keep(self, records: Sequence[Any], axis: str, replaced: Collection[str]) -> list[str]:
        """Keep how sure records are, and return it in words, once for all that share it.

        Columns in `replaced` are those that the study sets itself.
        """
        groups: dict[tuple[str, str], list[str]] = {}
        for row, record in enumerate(records):
            for column, share in _shares(record).items():
                if column not in replaced:
                    shares = self.shares.setdefault((axis, column), np.zeros(len(records)))
                    shares[row] = share
            for start, names in (
                ("assumed, not published", record.assumptions),
                ("fitted to measurements", record.fitted),
            ):
                kept = [name for name in names if _column(record, name) not in replaced]
                text = ", ".join(dict.fromkeys(_with_share(name, record) for name in kept))
                groups.setdefault((start, text), []).append(record.name)
            assumed = [
                f"{record.name}.{name}"
                for name in record.assumptions
                if _column(record, name) not in replaced
            ]
            self.assumed[axis, row] = (*self.assumed.get((axis, row), ()), *assumed)
            self.fitted |= {(axis, row, _column(record, name)) for name in record.fitted}
        return [
            f"{start}, for {', '.join(names)}: {text}"
            for (start, text), names in groups.items()
            if text
        ]

    def unpublished(self, axes: Sequence[Axis], point: Sequence[int]) -> tuple[str, ...]:
        """Return the figures behind one design, a choice per axis, that nobody has published.

        They are assumed by a record, or left out and zero or unlimited for that reason.
        """
        chosen = {axis.name: choice for axis, choice in zip(axes, point, strict=True)}
        found = [
            name
            for known in (self.assumed, self.left_out)
            for (axis, row), names in known.items()
            for name in names
            if chosen.get(axis, row) == row
        ]
        return (*found, *(f"{stage}.leakage_power" for stage in self.unleaking))


def _column(record: contract.Sureness, name: str) -> str:
    """Return the column that a field of a record sets; the cap is a sum."""
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
    """Return a field as a note names it, with its uncertainty where the record states one."""
    share = record.uncertainty.get(name)
    column = f"{_PREFIX[type(record)]}_{name}"
    paths = (path for path, unit in FIELDS.items() if unit is not None and column in unit.columns)
    field = next(paths, units.stem(name)).rpartition(".")[2]
    return field if share is None else f"{field} (+- {100 * share:.3g} %)"

"""Figures that an interface of a user's own leaves out, and what they are in the catalogue.

What stands for them is zero or unlimited, which no factor changes: absolute values are tried.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dse import contract
from dse.algebra import units
from dse.model.problem import Problem
from dse.plugins import registry
from dse.study.record_columns import interface_columns, neutral
from dse.study.schema import FIELDS
from dse.study.study import Study

HOST_CORES, HOST_POWER = "host_cores", "host_power"
"""The power of a busy core is that of the host over its cores, so that neither counts alone."""


@dataclass(frozen=True)
class LeftOut:
    """A figure that an interface leaves out.

    Attributes
    ----------
    name
        The field: ``interface.link``, or ``<record>.link`` of a record on an axis.
    words
        What stands for it.
    column
        What it sets; its suffix is the unit.
    typical
        The middle, the least and the largest value of the catalogue's interfaces, in SI.
    besides
        Columns without which it is of no account.
    place
        Axis and position of the record; None where the study has but one.
    """

    name: str
    words: str
    column: str
    typical: tuple[float, ...]
    besides: Mapping[str, float]
    place: tuple[int, int] | None

    def at(self, problem: Problem, value: float) -> Problem:
        """Return the problem with the figure at `value`, in SI."""
        columns = {**self.besides, self.column: value}
        space = problem.space
        if self.place is None:
            constants = {name: np.full(1, number) for name, number in columns.items()}
            return replace(
                problem, space=replace(space, constants={**space.constants, **constants})
            )
        number, row = self.place
        axis = space.axes[number]
        changed = {name: axis.columns[name].copy() for name in columns}
        for name, figure in columns.items():
            changed[name][row] = figure
        axes = list(space.axes)
        axes[number] = replace(axis, columns={**axis.columns, **changed})
        return replace(problem, space=replace(space, axes=tuple(axes)))


def left_out_of(study: Study) -> Iterator[LeftOut]:
    """Yield the figures that interfaces of a study leave out, where the catalogue has others."""
    axes = [axis.name for axis in study.problem.space.axes]
    for (axis, row), fields in study.sureness.left_out.items():
        place = (axes.index(axis), row) if axis else None
        section = "interface" if place is None else study.problem.space.axes[place[0]].labels[row]
        for field, words in fields.items():
            column, typical = catalogue_values(field)
            besides = {}
            if field == HOST_POWER and HOST_CORES in fields:
                cores, counts = catalogue_values(HOST_CORES)
                besides = {cores: counts[0]} if counts else {}
            now = _now(study.problem, column, place)
            others = tuple(value for value in typical if value != now)
            if others:
                yield LeftOut(f"{section}.{field}", words, column, others, besides, place)


def _now(problem: Problem, column: str, place: tuple[int, int] | None) -> float:
    if place is None:
        return float(problem.space.constants[column][0])
    return float(problem.space.axes[place[0]].columns[column][place[1]])


def catalogue_values(field: str) -> tuple[str, tuple[float, ...]]:
    """Return what a field of an interface sets, and its middle, least and largest values.

    Those of the catalogue's interfaces, as they are shown; cycles of a host as times.
    """
    unit = FIELDS[f"interface.{field}"]
    if unit is None:
        raise ValueError(f"interface.{field} is a choice, no figure")
    plain = neutral(unit)
    found: dict[str, list[float]] = {}
    for record in registry.records(contract.Interface).values():
        columns = interface_columns(record)
        for name in unit.columns:
            if columns[name] != plain[name] and math.isfinite(columns[name]):
                timed, value = _in_seconds(name, columns[name], record.host_clock_hz)
                found.setdefault(timed, []).append(units.parse(units.show(value, timed), timed))
    column = max(found, key=lambda name: len(found[name]), default=unit.columns[0])
    values = found.get(column, [])
    ends = (statistics.median_low(values), min(values), max(values)) if values else ()
    return column, tuple(dict.fromkeys(ends))


def _in_seconds(column: str, value: float, clock_hz: float | None) -> tuple[str, float]:
    """Return a column and its value with seconds in place of cycles of a host."""
    if "_cycle" not in column or clock_hz is None:
        return column, value
    if column.endswith("_per_cycle"):
        return column.replace("_per_cycle", "_per_s"), value * clock_hz
    return column.replace("_cycles", "_s"), value / clock_hz

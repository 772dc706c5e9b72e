"""One design, told: what it is, what it is worth, what limits it, and what it advises."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import Objective, Requirement, Threshold
from dse.model import tables
from dse.model.problem import Problem

TWO_DIGITS = 2
"""An advised value is rounded up to this many significant digits."""


@dataclass(frozen=True)
class Bottleneck:
    """A limit of a design.

    `value` is what it allows, in the unit of what it limits, and `slack` how far that is above
    what is reached, as a share; both are None for a limit that is known by name only.
    """

    label: str
    words: str
    value: float | None = None
    slack: float | None = None

    def plain(self) -> dict[str, Any]:
        """Return the limit as plain data, for JSON; `times` is the value over what is reached."""
        times = None if self.slack is None else 1.0 + self.slack
        return vars(self) | {"times": times}


@dataclass(frozen=True)
class Bottlenecks:
    """What limits `quantity`, which reaches `reached`; the limit that comes first stands first."""

    quantity: str
    reached: float
    bounds: tuple[Bottleneck, ...]


@dataclass(frozen=True)
class Advice:
    """What to do on either side of a threshold.

    Attributes
    ----------
    quantity, value
        The threshold and its value in SI, NaN where there is none.
    rounded
        The value rounded up: see `round_up`.
    chosen
        What the design itself has in the column that the threshold is about.
    threshold
        The column, and what is advised.
    """

    quantity: str
    value: float
    rounded: float
    chosen: float
    threshold: Threshold


@dataclass(frozen=True)
class Pick:
    """One design of a study.

    Attributes
    ----------
    name
        Its fleet, ``2 u16 + 1 u8``; its choices by name in a study without stages.
    counts
        Instances by ``<stage>.<design>``, those that are not zero.
    choices
        Its other choices by column: numbers in SI, or names.
    quantities
        What it is worth, in SI: the objectives, then what every answer tells.
    most, used
        For a quantity with an upper bound: the bound, and how much of it there is.
    limits
        What limits it.
    advice
        What it advises.
    """

    name: str
    counts: Mapping[str, int]
    choices: Mapping[str, float | str]
    quantities: Mapping[str, float]
    most: Mapping[str, float]
    used: Mapping[str, float]
    limits: tuple[Bottlenecks, ...]
    advice: tuple[Advice, ...]

    def plain(self) -> dict[str, Any]:
        """Return the design as plain data, for JSON."""
        return {
            "design": self.name,
            "counts": dict(self.counts),
            "choices": dict(self.choices),
            "quantities": dict(self.quantities),
            "at_most": dict(self.most),
        }


def pick(problem: Problem, point: NDArray[np.int64], also: str | None = None) -> Pick:
    """Return the design at `point`, shape (d,); tell one quantity more when it is asked for."""
    index = point[np.newaxis, :]
    columns = {name: float(column[0]) for name, column in problem.describe(index).items()}
    counts = {name: int(count[0]) for name, count in problem.counts(index).items() if count[0]}
    choices: dict[str, float | str] = {}
    for axis, position in zip(problem.space.axes, point, strict=True):
        if tables.is_choice_of_scenario(problem, axis):
            value = tables.axis_values(axis)[position]
            choices[tables.axis_column(axis)] = str(value) if axis.unit_name == "" else float(value)
    most = _most(problem, columns)
    return Pick(
        tables.design_names(problem, index)[0],
        counts,
        choices,
        _told(problem, columns, also),
        most,
        {name: columns[name] for name in most},
        tuple(_limits(problem, columns)),
        tuple(_advice(problem, columns)),
    )


def _told(problem: Problem, columns: Mapping[str, float], also: str | None) -> dict[str, float]:
    """Return the objectives and what every answer tells, each number in one unit only once."""
    wanted = [goal.name for goal in problem.goals] + ([also] if also else [])
    told = {name: columns[name] for name in wanted}
    for quantity in problem.quantities:
        value = columns[quantity.name]
        if not quantity.told or quantity.name in told or math.isnan(value):
            continue
        unit = units.suffix(quantity.name)
        if not any(value == known and unit == units.suffix(name) for name, known in told.items()):
            told[quantity.name] = value
    return told


def _most(problem: Problem, columns: Mapping[str, float]) -> dict[str, float]:
    """Return the upper bounds of what requirements bound, where there is any of it."""
    rules = [rule for rule in problem.requirements if rule.at_most in columns]
    bounds = {rule.quantity: columns[rule.at_most] for rule in rules if rule.quantity in columns}
    return {
        name: bound for name, bound in bounds.items() if math.isfinite(bound) and columns[name] > 0
    }


def _limits(problem: Problem, columns: Mapping[str, float]) -> Iterator[Bottlenecks]:
    for quantity in problem.quantities:
        code = columns[quantity.name]
        if quantity.limits and quantity.limited in columns and not math.isnan(code):
            reached = columns[quantity.limited]
            bounds = _bounds(quantity, int(code), reached, columns)
            yield Bottlenecks(quantity.limited, reached, bounds)


def _bounds(
    quantity: Objective, first: int, reached: float, columns: Mapping[str, float]
) -> tuple[Bottleneck, ...]:
    """Return the limits of a design, the one at position `first` before all others."""
    found = []
    for place, (label, limit) in enumerate(zip(quantity.labels, quantity.limits, strict=True)):
        values = [columns[name] for name in limit.quantities if name in columns]
        if values and math.isfinite(min(values)):
            value = min(values)
            found.append(
                (
                    place != first,
                    value,
                    Bottleneck(label, limit.words, value, _above(value, reached)),
                )
            )
        elif place == first:
            found.append((False, 0.0, Bottleneck(label, limit.words)))
    return tuple(bound for *_, bound in sorted(found, key=lambda entry: entry[:2]))


def _above(value: float, reached: float) -> float:
    return value / reached - 1.0 if reached > 0 else math.inf


def _advice(problem: Problem, columns: Mapping[str, float]) -> Iterator[Advice]:
    for quantity in problem.quantities:
        threshold = quantity.threshold
        if threshold is not None and threshold.column in columns:
            value = columns[quantity.name]
            chosen = columns[threshold.column]
            yield Advice(quantity.name, value, round_up(value), chosen, threshold)


def round_up(value: float) -> float:
    """Return the least number of two digits, whole from 1 on, that is not below `value`."""
    if not math.isfinite(value) or value <= 0:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - TWO_DIGITS)
    step = max(step, 1.0) if value >= 1 else step
    return float(f"{math.ceil(value / step * (1 - 1e-12)) * step:.{TWO_DIGITS}g}")


def bounded(problem: Problem, rule: str) -> Requirement | None:
    """Return the requirement that says `rule`, None when it bounds no single quantity."""
    named = (found for found in problem.requirements if found.rule == rule and found.quantity)
    return next(named, None)

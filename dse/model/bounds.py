"""Bounds: what a set of designs can at best be worth, from intervals of their columns.

Interval arithmetic through the objectives by their declared monotonicity: a quantity's bounds
are its function at the better and at the worse end of every argument.  An argument without a
declaration must be known exactly, otherwise the quantity is anything (not negative, unless it is
signed).  Whatever is declared at least (`Requirement.at_least`) holds for feasible designs only,
so bounds are those of the feasible designs of a set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression_bounds import least_violation
from dse.contract import Column, Guard, Objective, Requirement
from dse.model.graph import Step
from dse.model.problem import Problem, rounded

Columns = dict[str, Any]
"""One end of the interval of every column; those of stages as tuples."""

Ranges = Mapping[str, tuple[Column, Column]]
"""Ends of a range of a quantity."""

STAGE_CAPACITY = "stage_capacity_bit_per_s"

MARGIN = 1e-9
"""Relative; far above what rounding can do to a bound, far below what designs differ by."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of a problem's losses and violations.

    Attributes
    ----------
    problem
        Whose quantities, constraints and requirements are bounded.
    """

    problem: Problem

    @cached_property
    def least(self) -> Mapping[str, str]:
        """Quantities that are at least a column in every feasible design."""
        found: dict[str, str] = {}
        for step in self.problem.requirement_steps:
            if isinstance(step.plugin, Requirement):
                found.update(step.plugin.implies)
                if step.plugin.at_least:
                    found[step.plugin.quantity] = step.plugin.at_least
        return found

    @cached_property
    def wanted(self) -> frozenset[str]:
        """Every column that the bounds take."""
        steps = (*self.problem.search_plan, *self.problem.requirement_steps)
        names = {name for step in steps for name in step.arguments}
        return frozenset(names | set(self.least.values()))

    @cached_property
    def carried(self) -> tuple[str, ...]:
        """Quantities that no stage's capacity is below, ready for `floor` and ranges."""
        return tuple(
            step.name
            for step in self.problem.search_plan
            if isinstance(step.plugin, Objective) and STAGE_CAPACITY in step.plugin.at_most
        )

    def floor(self, low: Columns, ranges: Ranges) -> Column:
        """Return what each stage carries at least in a feasible design within `ranges`."""
        floor = np.zeros(1)
        for name in self.carried:
            if self.least.get(name) in low:
                floor = np.maximum(floor, low[self.least[name]])
            if name in ranges:
                floor = np.maximum(floor, ranges[name][0])
        return floor

    def best(
        self, low: Columns, high: Columns, ranges: Ranges, count: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses (count, m) and violations (count, k) of sets of designs.

        Parameters
        ----------
        low, high
            The ends of the interval of every input and stage column; the same object in both
            where a column is known exactly.
        ranges
            Quantities of which only values between two columns are of interest.
        """
        with np.errstate(all="ignore"):
            low, high, outside = self.intervals(low, high, ranges)
            violation = [
                _end(step, low, high, lower=True) for step in self.problem.requirement_steps
            ]
            violation += [
                least_violation(rule.expression, low, high) for rule in self.problem.constraints
            ]
            violation.append(np.where(outside > 0, np.inf, -1.0))
            loss = [
                -high[goal.name] if goal.maximise else low[goal.name] for goal in self.problem.goals
            ]
            # a quantity of one value only, such as a rate that is reached, needs no margin
            open_ = [low[goal.name] != high[goal.name] for goal in self.problem.goals]
        losses = _stacked(loss, count)
        margin = MARGIN * np.where(np.isfinite(losses), np.abs(losses), 0.0)
        losses -= margin * _stacked(open_, count)
        return rounded(losses), _stacked(violation, count) - MARGIN

    def intervals(
        self, low: Columns, high: Columns, ranges: Ranges, *, demanded: bool = True
    ) -> tuple[Columns, Columns, Column]:
        """Return the ends of every column and quantity; and by how much ranges are missed.

        Arguments are those of `best`; a quantity that they bound already stays as it is.  Unless
        `demanded`, designs that do not reach the demand are bounded as well.
        """
        low, high = dict(low), dict(high)
        outside = np.full(1, -np.inf)
        for step in self.problem.search_plan:
            if step.name not in low:
                self._bound(step, low, high, self.least if demanded else {})
            if step.name in ranges:
                least, most = ranges[step.name]
                missed = np.maximum(least - high[step.name], low[step.name] - most)
                outside = np.maximum(outside, missed)
                low[step.name] = np.maximum(low[step.name], least)
                high[step.name] = np.minimum(high[step.name], most)
        return low, high, outside

    def largest_violation(self, step: Step, low: Columns, high: Columns) -> Column:
        """Return by how much a requirement may be missed, given the ends from `intervals`."""
        return _end(step, high, low, lower=False)

    def _bound(self, step: Step, low: Columns, high: Columns, reached: Mapping[str, str]) -> None:
        """Add the ends of a quantity's interval; quantities are at least what they reach."""
        name = step.name
        near = low | {
            argument: np.maximum(low[argument], low[reached[argument]])
            for argument in step.arguments
            if reached.get(argument) in low and not _exact(argument, low, high)
        }
        below = _end(step, near, high, lower=True)
        above = below
        if not all(_exact(argument, low, high) for argument in step.arguments):
            above = _end(step, high, low, lower=False)
        if reached.get(name) in low:
            below = np.maximum(below, low[reached[name]])
        low[name], high[name] = below, above


def _end(step: Step, near: Columns, far: Columns, *, lower: bool) -> Column:
    """Return one end of a step's interval; what it rises with is taken at its `near` end."""
    plugin = step.plugin
    if isinstance(plugin, Guard):
        raise TypeError("guards have no bounds")
    given: Columns = {}
    for name in step.arguments:
        if name in plugin.rises_with or _exact(name, near, far):
            given[name] = near[name]
        elif name in plugin.falls_with:
            given[name] = far[name]
        else:
            return np.full(1, _unknown(plugin, lower=lower))
    value = np.asarray(plugin.function(**given), dtype=np.float64)
    return np.where(np.isnan(value), _unknown(plugin, lower=lower), value)


def _unknown(plugin: Objective | Requirement, *, lower: bool) -> float:
    """Return the end of an interval of which nothing is known."""
    if not lower:
        return np.inf
    return 0.0 if isinstance(plugin, Objective) and not plugin.signed else -np.inf


def _exact(name: str, low: Columns, high: Columns) -> bool:
    one, other = low[name], high[name]
    if isinstance(one, tuple):
        return all(first is second for first, second in zip(one, other, strict=True))
    return one is other


def _stacked(columns: Sequence[Column], count: int) -> NDArray[np.float64]:
    matrix = np.empty((count, len(columns)), order="F")
    for position, column in enumerate(columns):
        matrix[:, position] = column
    return matrix

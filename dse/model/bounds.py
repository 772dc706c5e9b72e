"""Bounds on sets of designs, from enclosures of their columns.

A set of designs is a column or an enclosure for each of its inputs and stages.  A quantity is
enclosed by its function at the better and at the worse end of every argument in which it is
declared to rise or fall.  Other arguments are passed unchanged, and arithmetic encloses the result
(`dse.algebra.enclosure`).  If neither is possible, the quantity may have any value, but no
negative one unless it is signed.  Columns declared as least values (`Requirement.at_least`) hold
for feasible designs only, so the bounds are bounds of the feasible designs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends, is_exact
from dse.contract import Column, Guard, Objective, Requirement
from dse.errors import ContractError
from dse.model.evaluation import matrix_of, rounded
from dse.model.fleet import STAGE_CAPACITY
from dse.model.graph import Failures, Step
from dse.model.stage import Columns, Wired

MARGIN = 1e-9
"""Relative margin, far above rounding errors of a bound and far below differences of designs."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of a problem's losses and violations."""

    problem: Wired

    @cached_property
    def least(self) -> Mapping[str, str]:
        """Return quantities that are at least a column in every feasible design."""
        found: dict[str, str] = {}
        for step in self.problem.requirement_steps:
            if isinstance(step.plugin, Requirement):
                found.update(step.plugin.implies)
                if step.plugin.at_least:
                    found[step.plugin.quantity] = step.plugin.at_least
        return found

    @cached_property
    def wanted(self) -> frozenset[str]:
        """Return every column that the bounds take."""
        steps = (*self.problem.search_plan, *self.problem.requirement_steps)
        names = {name for step in (*steps, *self._demands) for name in step.arguments}
        return frozenset(names | set(self.least.values()))

    @cached_property
    def carried(self) -> tuple[str, ...]:
        """Return quantities that no stage's capacity is below, ready for `floor`."""
        return tuple(
            step.name
            for step in self.problem.search_plan
            if isinstance(step.plugin, Objective) and STAGE_CAPACITY in step.plugin.at_most
        )

    @cached_property
    def _demands(self) -> tuple[Step, ...]:
        """Return the steps that make the quantities among `least` from columns of the study."""
        return self.problem.graph.closure(self.least.values())

    def _with_demands(self, columns: Columns) -> Columns:
        """Return columns with the demands."""
        columns = dict(columns)
        for step in self._demands:
            if step.name not in columns and {*step.arguments} <= {*columns}:
                columns[step.name] = enclosure(step, columns)
        return columns

    def floor(self, columns: Columns) -> Column:
        """Return the least capacity of each stage in a feasible design."""
        floor = np.zeros(1)
        with np.errstate(all="ignore"):
            columns = self._with_demands(columns)
        for name in self.carried:
            if self.least.get(name) in columns:
                floor = np.maximum(floor, ends(columns[self.least[name]])[0])
        return floor

    def best(self, columns: Columns, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses (count, m) and violations (count, k) of sets of designs.

        `columns` are every input and stage column of each set.
        """
        with np.errstate(all="ignore"):
            columns = self.enclosed(columns)
            violation = [
                ends(enclosure(step, columns))[0] for step in self.problem.requirement_steps
            ]
            violation += [
                ends(rule.enclosed_violation(columns))[0] for rule in self.problem.constraints
            ]
            pairs = [ends(columns[goal.name]) for goal in self.problem.goals]
            goals = zip(pairs, self.problem.goals, strict=True)
            loss = [-high if goal.maximise else low for (low, high), goal in goals]
            # a quantity of one value only, such as a rate that is reached, needs no margin
            open_ = [low != high for low, high in pairs]
        losses = _stacked(loss, count)
        margin = MARGIN * np.where(np.isfinite(losses), np.abs(losses), 0.0)
        losses -= margin * _stacked(open_, count)
        return rounded(losses), _stacked(violation, count) - MARGIN

    def enclosed(self, columns: Columns, *, demanded: bool = True) -> Columns:
        """Return every column and quantity enclosed.  A quantity among the columns is unchanged.

        Unless `demanded`, designs that do not reach the demand are enclosed as well.
        """
        columns = self._with_demands(columns)
        reached = self.least if demanded else {}
        for name in set(reached) & set(columns):
            if not is_exact(columns[name]):
                self._raise_to(reached, name, columns)
        for step in self.problem.search_plan:
            if step.name not in columns:
                columns[step.name] = enclosure(step, columns)
                self._raise_to(reached, step.name, columns)
        return columns

    def _raise_to(self, reached: Mapping[str, str], name: str, columns: Columns) -> None:
        """Raise the low end of a quantity to its least value in feasible designs."""
        if reached.get(name) in columns:
            low, high = ends(columns[name])
            least = ends(columns[reached[name]])[0]
            if (low < least).any():
                columns[name] = Enclosure(np.maximum(low, least), high)


def largest_violation(step: Step, columns: Columns) -> Column:
    """Return the largest possible miss of a requirement, or infinity if it is unknown."""
    return ends(enclosure(step, columns))[1]


def enclosure(step: Step, columns: Mapping[str, Any]) -> Any:
    """Return the column that a step makes, or its enclosure if arguments are enclosed.

    Declared directions count: an argument in which the function never falls, or never rises,
    takes its ends in turn.
    """
    plugin = step.plugin
    given = {name: columns[name] for name in step.arguments}
    opened = [name for name, value in given.items() if not is_exact(value)]
    if not opened:
        # Designs that fail are NaN here.  The cause of the error shows when they are evaluated.
        return _known(plugin, Failures().column(step, columns))
    if isinstance(plugin, Guard):
        raise TypeError("guards are not enclosed")
    sides: list[Column] = []
    for near, far in ((0, 1), (1, 0)):
        turned = _turned(plugin, {name: given[name] for name in opened}, near, far)
        try:
            found = ends(_known(plugin, step(given | turned)))
        except ContractError:  # arithmetic that cannot be enclosed
            return _unknown(plugin)
        if not turned:  # the other side has the same arguments
            return Enclosure(*found)
        sides.append(found[near])
    return Enclosure(*sides)


def _turned(
    plugin: Objective | Requirement, opened: Mapping[str, Any], near: int, far: int
) -> dict[str, Any]:
    """Return the ends of arguments with a direction: `near` if it rises, `far` if it falls."""
    falling = {name: _end(opened[name], far) for name in opened if name in plugin.falls_with}
    return falling | {
        name: _end(opened[name], near) for name in opened if name in plugin.rises_with
    }


def _end(value: Any, which: int) -> Any:
    if isinstance(value, tuple):
        return tuple(ends(part)[which] for part in value)
    return ends(value)[which]


def _known(plugin: Objective | Requirement | Guard, value: Any) -> Any:
    """Return a column or an enclosure with every NaN replaced by the range of possible values."""
    low, high = ends(value)
    wrong = np.isnan(low)
    if low is not high:
        wrong = wrong | np.isnan(high)
    if not wrong.any():
        return value
    least, most = ends(_unknown(plugin))
    return Enclosure(np.where(wrong, least, low), np.where(wrong, most, high))


def _unknown(plugin: Objective | Requirement | Guard) -> Enclosure:
    """Return the enclosure of an unknown value."""
    positive = isinstance(plugin, Objective) and not plugin.signed
    return Enclosure(np.full(1, 0.0 if positive else -np.inf), np.full(1, np.inf))


def _stacked(columns: Sequence[Column], count: int) -> NDArray[np.float64]:
    matrix = matrix_of(columns, (count,))
    if np.isnan(matrix.min(initial=np.inf)):
        matrix[np.isnan(matrix)] = -np.inf
    return matrix

"""Cells: boxes of consecutive values of each axis, and bounds of their designs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends
from dse.errors import ContractError
from dse.model.evaluation import matrix_of, rounded, shape_of
from dse.model.graph import Step
from dse.model.problem import Problem
from dse.model.space import Points, Space, coarsened


@dataclass(frozen=True)
class Cells:
    """The designs of a problem in cells of so many consecutive values of each axis."""

    problem: Problem
    steps: tuple[int, ...]

    @cached_property
    def space(self) -> Space:
        """Return the space of cells, in which columns that differ inside a cell are enclosed."""
        return coarsened(self.problem.space, self.steps)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of cells along each axis."""
        return self.space.sizes

    def bounds(
        self, points: Points, changed: Mapping[str, Any] | None = None, *, draws: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses (n, m) and violations (n, k) of cells' designs, NaN if unknown.

        They hold for the numbers as they are computed, bit by bit.  `changed` and `draws` are
        as in `Problem.evaluate`.
        """
        problem = self.problem
        shape = shape_of(points) if draws == 1 else (draws, len(points))
        with np.errstate(all="ignore"):
            columns = self._columns(points, changed or {})
            violation = problem.missed(columns, _made)
            violation += [] if problem.measured is None else [_ANYTHING]
            violation += [rule.enclosed_violation(columns) for rule in problem.constraints]
        goals = problem.goals
        loss = [-columns[goal.name] if goal.maximise else columns[goal.name] for goal in goals]
        low = matrix_of([ends(column)[0] for column in (*loss, *violation)], shape)
        return rounded(low[:, : len(goals)]), low[:, len(goals) :]

    def _columns(self, points: Points, changed: Mapping[str, Any]) -> dict[str, Any]:
        problem = self.problem
        columns: dict[str, Any] = self.space.columns(points) | dict(changed)
        if problem.measured is not None:  # unmeasured designs may have any value
            columns |= dict.fromkeys(problem.measured.outputs, _ANYTHING)
        steps = (*problem.search_plan, *problem.requirement_steps)
        wanted = {name for step in steps for name in step.arguments}
        columns |= problem.stage_columns(columns, wanted)
        for step in problem.search_plan:
            columns[step.name] = _made(step, columns)
        return columns

    def spread(self, axis: int, step: int) -> float:
        """Return the difference of columns among `step` consecutive values of an axis, 0 to 1.

        The mean of (most - least) / most, or 1 for an axis without an order.
        """
        own = self.problem.space.axes[axis]
        if not own.ordered:
            return 1.0
        found = [0.0]
        for name in own.columns if step > 1 else ():
            low, high = own.cell_ends(name, step)
            most = np.maximum(np.abs(low), np.abs(high))
            found.append(float(((high - low) / np.where(most > 0, most, 1.0)).mean()))
        return max(found)


_ANYTHING = Enclosure(np.full(1, np.nan), np.full(1, np.nan))


def _made(step: Step, columns: dict[str, Any]) -> Any:
    """Return the column of a step for columns and enclosures, or NaN if it cannot be enclosed."""
    try:
        return step(columns)
    except ContractError:
        return _ANYTHING


def opaque(problem: Problem) -> dict[str, str]:
    """Return the quantities and requirements that cannot be enclosed, each with the reason."""
    widest = [axis.size if axis.ordered else 1 for axis in problem.space.axes]
    cells = Cells(problem, tuple(widest))
    first = np.zeros((1, len(widest)), dtype=np.int64)
    found: dict[str, str] = {}
    with np.errstate(all="ignore"):
        columns = cells._columns(first, {})
        for step in (*problem.search_plan, *problem.requirement_steps):
            try:
                step(columns)
            except ContractError as error:
                found[step.name] = str(error.__cause__ or error)
    return found

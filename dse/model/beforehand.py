"""Rules on axes only, which exclude designs before they are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract.evaluators import Value
from dse.model.evaluation import Evaluation, Ledger, Problem, matrix_of, shape_of
from dse.model.graph import missed_by
from dse.model.measured import IS_MEASURED, MeasuredColumns
from dse.model.space import Axis, Index, Points, as_index, blocks

MOST_COUNTED = 1_000_000
"""Largest space whose designs that no such rule excludes are counted."""

MOST_CODES = 2**62
"""Largest space whose designs fit into whole numbers."""

_TOGETHER = 65_536
"""Number of designs that are judged at once."""


class Beforehand:
    """Constraints and requirements of a problem that take no measured column.

    A design that misses one of them is never measured.  It is pruned, as by a bound.
    """

    def __init__(self, problem: Problem, measured: MeasuredColumns) -> None:
        """Find the rules whose quantities follow from the settings of the study."""
        self._problem, self._measured = problem, measured
        self.rules = [rule for rule in problem.constraints if self._known(rule.names)]
        self.steps = [step for step in problem.requirement_steps if self._known(step.arguments)]
        self.pool = None if measured.pool is None else _within(problem.space.axes, measured.pool)
        said = self.rules or self.steps or self.pool is not None
        self.any = bool(said) and measured.at_rows is None

    def _known(self, names: frozenset[str] | tuple[str, ...]) -> bool:
        """Return whether quantities are computed without any measured column."""
        plan = self._problem.graph.closure(names)
        taken = {*names}.union(*(step.arguments for step in plan))
        return taken.isdisjoint(self._measured.outputs)

    @property
    def alone(self) -> Problem:
        """Return the problem of these rules, for all designs of the space, without measurements."""
        bound = [(one, self._problem.graph.bind(one)) for one in self._problem.requirements]
        kept = tuple(one for one, step in bound if step is not None and step in self.steps)
        constraints = tuple(self.rules)
        return replace(self._problem, measured=None, constraints=constraints, requirements=kept)

    def excluded(self, points: Points) -> NDArray[np.bool_]:
        """Return whether each design (n,) misses a rule whatever its measurement would be."""
        if not self.any:
            return np.zeros(len(points), dtype=bool)
        missing = self._missing(points)
        if self.pool is None:
            return missing
        sizes = self._problem.sizes
        designs, pool = (
            np.ravel_multi_index(tuple(one.T), sizes) for one in (as_index(points), self.pool)
        )
        return missing | ~np.isin(designs, pool)

    def _missing(self, points: Points) -> NDArray[np.bool_]:
        """Return whether each design (n,) misses a constraint or a requirement."""
        if not (self.rules or self.steps):
            return np.zeros(len(points), dtype=bool)
        nothing = dict.fromkeys(self._measured.outputs, np.full(1, np.nan))
        names = {name for rule in self.rules for name in rule.names}
        names |= {name for step in self.steps for name in step.arguments}
        columns = self._problem.columns(points, names, nothing, self.steps)
        missed = [missed_by(step, step(columns)) for step in self.steps]
        missed += [rule.violation(columns) for rule in self.rules]
        found = matrix_of(missed, shape_of(points))
        return np.asarray((found > 0).any(axis=1))

    @property
    def count(self) -> int | None:
        """Return the number of excluded designs, or None if the space is too large to count."""
        return self._counts[0]

    @property
    def most(self) -> int:
        """Return the most designs to measure, each counted once however many others share it."""
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[int | None, int]:
        """Return `count` and `most`."""
        problem, axes = self._problem, list(self._measured.axes)
        most = min(self._measured.size(problem.space), problem.size)
        if not self.any:
            return 0, most
        if self.pool is None and problem.size > MOST_COUNTED:
            return None, most
        parts = [self.pool] if self.pool is not None else blocks(problem.sizes, _TOGETHER)
        sizes = [problem.sizes[axis] for axis in axes]
        left, measured = 0, np.empty(0, dtype=np.int64)
        for part in parts:
            rows = as_index(part)[~self.excluded(part)]
            left += len(rows)
            measured = np.union1d(measured, np.ravel_multi_index(tuple(rows[:, axes].T), sizes))
        return problem.size - left, len(measured)

    def ask(self, points: Points) -> NDArray[np.bool_]:
        """Request measurements of designs that are not excluded, and return the excluded ones."""
        excluded = self.excluded(points)
        wanted = points if not excluded.any() else as_index(points)[~excluded]
        if len(wanted):
            self._measured.found(self._problem.space, wanted, ask=True)
        return excluded

    def settle(self, found: Evaluation, excluded: NDArray[np.bool_]) -> None:
        """Set excluded designs to miss these rules only, since their other violations are unknown.

        Designs outside the pool are never measured.
        """
        if not excluded.any():
            return
        steps, rules = self._problem.requirement_steps, self._problem.constraints
        others = found.violation.shape[1] - len(steps) - len(rules)
        known = [step in self.steps for step in steps] + [False] * others
        known += [rule in self.rules for rule in rules]
        found.violation[np.ix_(excluded, ~np.array(known))] = -1.0
        found.loss[excluded] = np.inf
        lacking = excluded & (found.violation <= 0).all(axis=1)
        found.violation[lacking, self._problem.constraint_names.index(IS_MEASURED)] = np.inf

    def ledger(self, points: Points) -> Ledger:
        """Return the ledger of designs."""
        excluded = self.excluded(points)
        rest: Index = as_index(points)[~excluded]
        pruned = Ledger(pruned=int(excluded.sum()))
        return pruned + self._measured.ledger(self._problem.space, rest)


def _within(axes: Sequence[Axis], designs: Sequence[Sequence[Value]]) -> Index:
    """Return the designs whose values are all on the axes, (n, d)."""
    places = [axis.places for axis in axes]
    pairs = ([*zip(places, design, strict=True)] for design in designs)
    rows = [[known[value] for known, value in row] for row in pairs if all(v in k for k, v in row)]
    return np.array(rows, dtype=np.int64).reshape(-1, len(places))

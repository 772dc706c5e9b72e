"""What rules on axes alone say of designs before anything of them is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract.evaluators import Value
from dse.model.evaluation import Evaluation, Ledger, Problem, matrix_of, shape_of
from dse.model.graph import missed_by
from dse.model.measured import MEASURED, MeasuredColumns
from dse.model.space import Axis, Index, Points, as_index, blocks

COUNTED = 1_000_000
"""Of spaces up to this size the designs that no such rule excludes are counted."""

MOST_CODES = 2**62
"""Of spaces up to this size a design is a whole number."""

TOGETHER = 65_536
"""Designs that are judged at once."""


class Beforehand:
    """Constraints and requirements of a problem that take nothing that is measured.

    A design that misses one of them is never measured: it is pruned, as by a bound.
    """

    def __init__(self, problem: Problem, measured: MeasuredColumns) -> None:
        """Find the rules whose quantities follow from what the study sets."""
        self._problem, self._measured = problem, measured
        self.rules = [rule for rule in problem.constraints if self._known(rule.names)]
        self.steps = [step for step in problem.requirement_steps if self._known(step.arguments)]
        self.pool = None if measured.pool is None else _within(problem.space.axes, measured.pool)
        said = self.rules or self.steps or self.pool is not None
        self.any = bool(said) and measured.at_rows is None

    def _known(self, names: frozenset[str] | tuple[str, ...]) -> bool:
        """Tell whether quantities are computed without anything that is measured."""
        plan = self._problem.graph.closure(names)
        taken = {*names}.union(*(step.arguments for step in plan))
        return taken.isdisjoint(self._measured.outputs)

    @property
    def alone(self) -> Problem:
        """The problem of these rules, of all designs of the space; nothing of it is measured."""
        bound = [(one, self._problem.graph.bind(one)) for one in self._problem.requirements]
        kept = tuple(one for one, step in bound if step is not None and step in self.steps)
        constraints = tuple(self.rules)
        return replace(self._problem, measured=None, constraints=constraints, requirements=kept)

    def excluded(self, points: Points) -> NDArray[np.bool_]:
        """Return which designs (n,) miss a rule whatever would be measured of them."""
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
        """Return which designs (n,) miss a constraint or a requirement."""
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
        """How many designs of the space are excluded; None where there are too many to look."""
        return self._counts[0]

    @property
    def most(self) -> int:
        """How many designs are measured at most, however many others share them."""
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[int | None, int]:
        """`count` and `most`."""
        problem, axes = self._problem, list(self._measured.axes)
        most = min(self._measured.size(problem.space), problem.size)
        if not self.any:
            return 0, most
        if self.pool is None and (problem.size > COUNTED or problem.continuous):
            return None, most
        parts = [self.pool] if self.pool is not None else blocks(problem.sizes, TOGETHER)
        sizes = [problem.sizes[axis] for axis in axes]
        left, measured = 0, np.empty(0, dtype=np.int64)
        for part in parts:
            rows = as_index(part)[~self.excluded(part)]
            left += len(rows)
            measured = np.union1d(measured, np.ravel_multi_index(tuple(rows[:, axes].T), sizes))
        return problem.size - left, len(measured)

    def ask(self, points: Points) -> NDArray[np.bool_]:
        """Let designs be measured but those that are excluded, and return these."""
        excluded = self.excluded(points)
        wanted = points if not excluded.any() else as_index(points)[~excluded]
        if len(wanted):
            self._measured.found(self._problem.space, wanted, ask=True)
        return excluded

    def settle(self, found: Evaluation, excluded: NDArray[np.bool_]) -> None:
        """Let excluded designs miss these rules alone: of all others nothing is known.

        Designs that the pool lacks are never measured.
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
        found.violation[lacking, self._problem.constraint_names.index(MEASURED)] = np.inf

    def ledger(self, points: Points) -> Ledger:
        """Return what is known of designs."""
        excluded = self.excluded(points)
        rest: Index = as_index(points)[~excluded]
        pruned = Ledger(pruned=int(excluded.sum()))
        return pruned + self._measured.ledger(self._problem.space, rest)


def _within(axes: Sequence[Axis], designs: Sequence[Sequence[Value]]) -> Index:
    """Return those of the designs that axes have, (n, d)."""
    places = [axis.places for axis in axes]
    pairs = ([*zip(places, design, strict=True)] for design in designs)
    rows = [[known[value] for known, value in row] for row in pairs if all(v in k for k, v in row)]
    return np.array(rows, dtype=np.int64).reshape(-1, len(places))

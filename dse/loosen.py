"""How far a field of a study has to go until a design is feasible, over the whole space.

A field goes away from today's value in rungs.  The first rung that admits a design is closed in
on, block by block: a block whose designs are all infeasible a little short of the best value so
far is passed by, any other is halved in down to the last digit.  That is exact where a design
that one value admits is admitted by all further values of the rung.  A demanded rate also sets
the least number of instances that carries it, so every rate at which one changes is a rung.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dse.contract import Column
from dse.fields import Unit
from dse.problem import Problem
from dse.records import neutral
from dse.search.exact import CHUNK
from dse.space import Index, blocks, constant

EVALUATIONS = 30_000_000
"""Designs evaluated to climb the rungs of one field; at least `FEWEST`, at most `MOST` rungs."""

FEWEST, MOST = 4, 40
MOST_STEPS = 2_000
"""Most changes of an instance count that are told apart inside one rung."""

FIRST, LAST = 0.05, 1e9
"""Distance of the first and of the last rung from today's value, relative to it."""

BEYOND = 1e-9
"""By how much a block has to beat the best value so far, relative to it."""

CONVERGED = 1e-13

RATE = "workload_rate_bit_per_s"
"""The field that decides how many instances are the least that carry it."""


@dataclass(frozen=True)
class Field:
    """A field of the study that may be changed.

    Attributes
    ----------
    path, column, unit
        Where it stands, what it sets, and what it carries.
    more
        Whether more of it is looser.
    """

    path: str
    column: str
    unit: Unit
    more: bool

    def columns(self, value: float) -> dict[str, Column]:
        """Return the columns that a value sets."""
        columns = neutral(self.unit) | {self.column: value}
        return {name: constant(entry) for name, entry in columns.items()}

    def tightest(self, problem: Problem) -> float | None:
        """Return the tightest of today's values; None when nothing limits."""
        values = problem.space.constants.get(self.column, np.empty(0))
        for axis in problem.space.axes:
            values = axis.columns.get(self.column, values)
        finite = values[np.isfinite(values) & (values > 0)]
        if not len(finite):
            return None
        return float(finite.min() if self.more else finite.max())

    def moved(self, value: float, share: float) -> float:
        """Return a value loosened by a share of itself (tightened where negative)."""
        moved = value * (1.0 + share) if self.more else value / (1.0 + share)
        if not self.unit.integer:
            return moved
        looser = (share > 0) == self.more
        return math.floor(value) + 1.0 if looser else math.ceil(value) - 1.0


def nearest(problem: Problem, field: Field) -> float | None:
    """Return the value of `field` nearest to today's that admits a design; None without one."""
    near = field.tightest(problem)
    if near is None:
        return None
    for rung in _rungs(problem, field, near):
        for step in [*_steps(problem, field, near, rung), rung]:
            found = _within(problem, field, near, step)
            if found is not None:
                return found
            near = step
    return None


def any_feasible(problem: Problem) -> bool:
    """Tell whether any design meets every constraint; stops at the first."""
    return any(problem.evaluate(block).feasible.any() for block in blocks(problem.sizes, CHUNK))


def _rungs(problem: Problem, field: Field, today: float) -> list[float]:
    """Return values ever further from today's."""
    count = min(max(EVALUATIONS // problem.size, FEWEST), MOST)
    factors = 1.0 + np.geomspace(FIRST, LAST, count)
    values = today * factors if field.more else today / factors
    if field.unit.integer:
        values = np.ceil(values) if field.more else np.maximum(np.floor(values), 1.0)
    kept = dict.fromkeys(values.tolist())
    return [value for value in kept if value != today]


def _steps(problem: Problem, field: Field, near: float, far: float) -> list[float]:
    """Return the rates, highest first, just above those at which a least count changes."""
    if field.column != RATE or field.more:
        return []
    steps: set[float] = set()
    for stage in problem.stages:
        axes = {axis.name: axis for axis in problem.space.axes}
        if stage.mixed or f"{stage.name}.instances" in axes:
            continue
        name = f"{stage.name}.clock"
        clocks = axes[name].columns[name] if name in axes else np.ones(1)
        for carried in np.outer(stage.designs.bandwidth_bit_per_s, clocks).ravel().tolist():
            least, most = math.ceil(far / carried), math.floor(near / carried)
            if most - least > MOST_STEPS:
                return []
            steps.update(count * carried * (1.0 + BEYOND) for count in range(least, most + 1))
    inside = sorted((step for step in steps if far < step < near), reverse=True)
    return inside if len(inside) <= MOST_STEPS else []


def _within(problem: Problem, field: Field, near: float, far: float) -> float | None:
    """Return the value between two nearest to `near` that admits a design, None if `far` fails."""
    best = None
    for block in blocks(problem.sizes, CHUNK):
        target = far if best is None else field.moved(best, -BEYOND)
        if best is not None and (best == near or (target > near) != field.more):
            return best
        feasible = problem.evaluate(block, field.columns(target)).feasible
        if feasible.any():
            rows = block.rows(np.flatnonzero(feasible))
            best = _halved(problem, field, rows, near, target)
    return best


def _halved(problem: Problem, field: Field, index: Index, near: float, far: float) -> float:
    """Return the nearest value that admits one of the designs `index`; `far` admits them all."""

    def admitted(value: float) -> Index:
        feasible = problem.evaluate(index, field.columns(value)).feasible
        kept: Index = index[feasible]
        return kept

    if len(admitted(near)):
        return near
    while abs(far - near) > CONVERGED * abs(far):
        middle = math.sqrt(near) * math.sqrt(far)
        if field.unit.integer:
            middle = float(math.floor((near + far) / 2))
        if middle in (near, far):
            break
        if len(left := admitted(middle)):
            index, far = left, middle
        else:
            near = middle
    return far

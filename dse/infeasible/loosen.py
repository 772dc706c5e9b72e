"""How far a field of a study has to go until a design is feasible, over the whole space.

For each design the field goes just as far as it takes to meet the constraints that the design
misses now; where it misses others then, on until it meets those.  The nearest value at which a
design meets everything is the answer.  That is done in rungs away from today's value, and is exact
where each constraint of a design changes but once inside a rung.  A demanded rate also sets the
least number of instances that carries it, so every rate at which one changes is a rung.  Blocks
that cannot beat the best value so far are passed by.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra.thresholds import ConstraintThreshold
from dse.contract import Column
from dse.model.problem import Problem
from dse.model.space import Index, blocks, constant
from dse.search.exact.enumeration import CHUNK
from dse.study.fields import Unit
from dse.study.record_columns import neutral

FIRST, FURTHEST = 0.05, 1e9
"""Distance of the first and the last rung from today's value, relative to it."""

EVALUATIONS = 10_000_000
FEWEST, MOST = 4, 40
"""Rungs of a field: as many as this many evaluations allow, between these two."""

MOST_STEPS, RUNGS = 2_000, 200
"""Rates at which an instance count changes; where there are more, that many even steps."""

BEYOND = 1e-9
"""By how much a block has to beat the best value so far, relative to it."""

CONVERGED = 1e-13

CROSSINGS = 4
"""How often a design may meet what it missed and miss something else instead."""

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

    def columns(self, value: float | Column) -> dict[str, Column]:
        """Return the columns that a value, or one value per design, sets."""
        columns = {name: constant(entry) for name, entry in neutral(self.unit).items()}
        return columns | {self.column: np.atleast_1d(np.asarray(value, dtype=np.float64))}

    def between(self, near: Column, far: Column) -> Column:
        """Return values between two: geometric means, whole where the field is."""
        if self.unit.integer:
            return np.floor((near + far) / 2)
        return np.sqrt(near) * np.sqrt(far)

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


def nearest_feasible(problem: Problem, field: Field) -> float | None:
    """Return the value of `field` nearest to today's that admits a design; None without one."""
    near = field.tightest(problem)
    if near is None:
        return None
    for far in _steps(problem, field, near) or rungs(problem, field, near):
        found = _within(problem, field, near, far)
        if found is not None:
            return found
        near = far
    return None


def bound_values(
    problem: Problem, named: Mapping[int, Sequence[ConstraintThreshold]]
) -> dict[tuple[int, int], float]:
    """Return for bound j of constraint k, under (k, j), the value that admits a design.

    Only a design that misses nothing but constraint k can be admitted by it.
    """
    found: dict[tuple[int, int], float] = {}
    for block in blocks(problem.sizes, CHUNK):
        violation = problem.evaluate(block).violation
        missed = violation > 0
        alone = missed.sum(axis=1) == 1
        for position, entries in named.items():
            rows = np.flatnonzero(alone & missed[:, position])
            if not len(rows) or not entries:
                continue
            if len(entries) == 1:  # its quantity decides how much is missed
                least = violation[rows, position].min()
                rows = rows[violation[rows, position] == least][:1]
            columns = problem.describe(block.rows(rows))
            for number, bound in enumerate(entries):
                values = bound.quantity.value(columns)[bound.rest.violation(columns) <= 0]
                best = [*values.tolist(), found.get((position, number), math.nan)]
                if (value := _nearest_to(bound, best)) is not None:
                    found[position, number] = value
    return found


def _nearest_to(bound: ConstraintThreshold, values: Sequence[float]) -> float | None:
    """Return the value nearest to the bound among those on its loose side."""
    loose = [
        value
        for value in values
        if math.isfinite(value)
        and ((bound.up and value >= bound.value) or (bound.down and value <= bound.value))
    ]
    return min(loose, key=lambda value: abs(value - bound.value), default=None)


def rungs(problem: Problem, field: Field, today: float, count: int | None = None) -> list[float]:
    """Return values ever further from today's, more of them where a design costs less."""
    count = count or min(max(EVALUATIONS // problem.size, FEWEST), MOST)
    factors = 1.0 + np.geomspace(FIRST, FURTHEST, count)
    values = today * factors if field.more else today / factors
    if field.unit.integer:
        values = np.ceil(values) if field.more else np.maximum(np.floor(values), 1.0)
    return [value for value in dict.fromkeys(values.tolist()) if value != today]


def _steps(problem: Problem, field: Field, near: float) -> list[float]:
    """Return the rates, highest first, just above those at which a least count changes."""
    far = near / FURTHEST
    if field.column != RATE or field.more:
        return []
    steps: set[float] = set()
    axes = {axis.name: axis for axis in problem.space.axes}
    for stage in problem.stages:
        if stage.mixed or f"{stage.name}.instances" in axes:
            continue
        name = f"{stage.name}.clock"
        clocks = axes[name].columns[name] if name in axes else np.ones(1)
        for carried in np.outer(stage.designs.bandwidth_bit_per_s, clocks).ravel().tolist():
            most = math.floor(near / carried)
            if most > MOST_STEPS:
                return [float(rung) for rung in np.geomspace(near, far, RUNGS)[1:]]
            steps.update(count * carried * (1.0 + BEYOND) for count in range(1, most + 1))
    inside = sorted((step for step in steps if far < step < near), reverse=True)
    return [*inside, far] if inside else []


def _within(problem: Problem, field: Field, near: float, far: float) -> float | None:
    """Return the value between two nearest to `near` that admits a design, None without one."""
    best = None
    for block in blocks(problem.sizes, CHUNK):
        target = far if best is None else field.moved(best, -BEYOND)
        if best is not None and (target > near) != field.more:
            return best
        today = problem.evaluate(block, field.columns(near))
        if today.feasible.any():
            return near
        missed = today.violation > 0
        still = problem.evaluate(block, field.columns(target)).violation > 0
        rows = np.flatnonzero(~(missed & still).any(axis=1))
        index, missed = block.rows(rows), missed[rows]
        nears = np.full(len(index), near)
        for _ in range(CROSSINGS):
            if not len(index):
                break
            found, index, nears = closest(problem, field, index, missed, nears, target)
            if found is not None:
                best = target = found
            missed = problem.evaluate(index, field.columns(nears)).violation > 0
            still = problem.evaluate(index, field.columns(target)).violation > 0
            open_ = ~(missed & still).any(axis=1)
            index, missed, nears = index[open_], missed[open_], nears[open_]
    return best


def closest(
    problem: Problem,
    field: Field,
    index: Index,
    missed: NDArray[np.bool_],
    nears: Column,
    far: float,
) -> tuple[float | None, Index, Column]:
    """Return the nearest value found that admits a design, and what may still beat it.

    At `far` each design meets what it misses at its value of `nears`, by `missed`, but perhaps
    not the rest.  Designs that are left meet that at the value returned with them, not the rest.
    """
    sign = 1.0 if field.more else -1.0
    fars = np.full(len(index), far)
    best = math.inf
    while True:
        middle = field.between(nears, fars)
        closed = (middle == nears) | (middle == fars)
        closed |= np.abs(fars - nears) <= CONVERGED * np.abs(fars)
        if closed.all():
            break
        evaluation = problem.evaluate(index, field.columns(middle))
        met = ~(missed & (evaluation.violation > 0)).any(axis=1)
        fars = np.where(met & ~closed, middle, fars)
        nears = np.where(met | closed, nears, middle)
        best = min(best, (sign * middle[evaluation.feasible]).min(initial=math.inf))
        kept = sign * nears < best  # the others are beaten already
        index, missed, nears, fars = index[kept], missed[kept], nears[kept], fars[kept]
    feasible = problem.evaluate(index, field.columns(fars)).feasible
    best = min(best, (sign * fars[feasible]).min(initial=math.inf))
    left = ~feasible & (sign * fars < best)
    return (sign * best if math.isfinite(best) else None), index[left], fars[left]

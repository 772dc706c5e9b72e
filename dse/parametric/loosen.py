"""How far a field of a study has to go until a design is feasible, over the whole space.

For each design the field goes just as far as it takes to meet the constraints that the design
violates now; where it violates others then, on until it meets those.  The nearest value at which
a design meets everything is the answer.  That is done in rungs away from the nominal value, and is
exact where each constraint of a design changes but once inside a rung.  A demanded rate also sets
the least number of instances that carries it, so every rate at which one changes is a rung.
Blocks that cannot improve on the best value so far are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra.thresholds import ConstraintThreshold
from dse.contract import Column
from dse.model.mixed import PAYLOAD_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import Index, Points, as_index, blocks, constant
from dse.search.exact.enumeration import CHUNK
from dse.study.fields import Unit
from dse.study.sections import neutral

FIRST, FURTHEST = 0.05, 1e9
"""Distance of the first and the last rung from the nominal value, relative to it."""

EVALUATIONS = 10_000_000
FEWEST, MOST = 4, 40
"""Rungs of a field: as many as this many evaluations allow, between these two."""

MOST_STEPS, RUNGS = 2_000, 200
"""Rates at which an instance count changes; where there are more, that many even steps."""

MARGIN = 1e-9
"""By how much a block has to improve on the best value so far, relative to it."""

CONVERGED = 1e-13

CROSSINGS = 4
"""How often a design may meet what it violated and violate something else instead."""

RATE = "workload_rate_bit_per_s"
"""The field that decides how many instances are the least that carry it."""


@dataclass(frozen=True)
class Field:
    """A field of the study that may be changed: where it stands, what it sets, what it carries.

    `more` says whether more of it is looser; `besides` is what has to be set along with it,
    `follows` the columns that it sets too, each a multiple of its value.
    """

    path: str
    column: str
    unit: Unit
    more: bool
    besides: tuple[tuple[str, str], ...] = ()
    follows: tuple[tuple[str, float], ...] = ()

    def overrides(self, text: str) -> tuple[tuple[str, str], ...]:
        """Return what sets the field to a value as it is written."""
        return ((self.path, text), *self.besides)

    def columns(self, value: float | Column) -> dict[str, Column]:
        """Return the columns that a value, or one value per design, sets."""
        columns = {name: constant(entry) for name, entry in neutral(self.unit).items()}
        given = np.atleast_1d(np.asarray(value, dtype=np.float64))
        others = {name: factor * given for name, factor in self.follows}
        return columns | {self.column: given} | others

    def between(self, near: Column, far: Column) -> Column:
        """Return values between two: geometric means, whole where the field is."""
        if self.unit.integer:
            return np.floor((near + far) / 2)
        return np.sqrt(near) * np.sqrt(far)

    def tightest(self, problem: Problem) -> float | None:
        """Return the tightest of the study's values; None when nothing limits."""
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
    """Return the value of `field` nearest to the nominal one that admits a design, or None."""
    near = field.tightest(problem)
    if near is None:
        return None
    for far in _steps(problem, field, near) or rungs(problem, field, near):
        found = _within(problem, field, near, far)
        if found is not None:
            return found
        near = far
    return None


def threshold_values(
    problem: Problem, named: Mapping[int, Sequence[ConstraintThreshold]]
) -> dict[tuple[int, int], float]:
    """Return for threshold j of constraint k, under (k, j), the value that admits a design.

    Only a design that violates nothing but constraint k can be admitted by it.
    """
    found: dict[tuple[int, int], float] = {}
    for block in every_design(problem):
        violation = problem.evaluate(block).violation
        violated = violation > 0
        alone = violated.sum(axis=1) == 1
        for rule, thresholds in named.items():
            rows = np.flatnonzero(alone & violated[:, rule])
            if not len(rows) or not thresholds:
                continue
            if len(thresholds) == 1:  # its quantity decides by how much it is violated
                least = violation[rows, rule].min()
                rows = rows[violation[rows, rule] == least][:1]
            columns = problem.describe(as_index(block, rows))
            for number, threshold in enumerate(thresholds):
                values = threshold.quantity.value(columns)[threshold.rest.violation(columns) <= 0]
                best = [*values.tolist(), found.get((rule, number), math.nan)]
                if (value := _nearest_to(threshold, best)) is not None:
                    found[rule, number] = value
    return found


def every_design(problem: Problem) -> Iterator[Points]:
    """Yield all designs, some at a time; the host alone comes last."""
    yield from blocks(problem.sizes, CHUNK)
    if len(problem.hosts):
        yield problem.hosts


def _nearest_to(threshold: ConstraintThreshold, values: Sequence[float]) -> float | None:
    """Return the value nearest to the threshold among those on its loose side."""
    loose = [
        value
        for value in values
        if math.isfinite(value)
        and (
            (threshold.up and value >= threshold.value)
            or (threshold.down and value <= threshold.value)
        )
    ]
    return min(loose, key=lambda value: abs(value - threshold.value), default=None)


def rungs(problem: Problem, field: Field, nominal: float, count: int | None = None) -> list[float]:
    """Return values ever further from the nominal one, more of them where a design costs less."""
    count = count or min(max(EVALUATIONS // problem.size, FEWEST), MOST)
    factors = 1.0 + np.geomspace(FIRST, FURTHEST, count)
    values = nominal * factors if field.more else nominal / factors
    if field.unit.integer:
        values = np.ceil(values) if field.more else np.maximum(np.floor(values), 1.0)
    return [value for value in dict.fromkeys(values.tolist()) if value != nominal]


def _steps(problem: Problem, field: Field, near: float) -> list[float]:
    """Return the rates, highest first, just above those at which a least count changes."""
    far = near / FURTHEST
    if field.column != RATE or field.more:
        return []
    steps: set[float] = set()
    axes = {axis.name: axis for axis in problem.space.axes}
    shares = problem.space.constants.get(PAYLOAD_OFFLOADED, np.ones(1))
    for axis in problem.space.axes:
        shares = axis.columns.get(PAYLOAD_OFFLOADED, shares)
    for stage in problem.stages:
        if stage.mixed or f"{stage.name}.instances" in axes:
            continue
        name = f"{stage.name}.clock"
        clocks = axes[name].columns[name] if name in axes else np.ones(1)
        demanded = np.outer(stage.designs.bandwidth_bit_per_s, clocks)
        for carried in np.outer(demanded, 1.0 / shares).ravel().tolist():
            most = math.floor(near / carried)
            if most > MOST_STEPS:
                return [float(rung) for rung in np.geomspace(near, far, RUNGS)[1:]]
            steps.update(count * carried * (1.0 + MARGIN) for count in range(1, most + 1))
    inside = sorted((step for step in steps if far < step < near), reverse=True)
    return [*inside, far] if inside else []


def _within(problem: Problem, field: Field, near: float, far: float) -> float | None:
    """Return the value between two nearest to `near` that admits a design, None without one."""
    best = None
    for block in every_design(problem):
        target = far if best is None else field.moved(best, -MARGIN)
        if best is not None and (target > near) != field.more:
            return best
        evaluation = problem.evaluate(block, field.columns(near))
        if evaluation.feasible.any():
            return near
        violated = evaluation.violation > 0
        still = problem.evaluate(block, field.columns(target)).violation > 0
        rows = np.flatnonzero(~(violated & still).any(axis=1))
        index, violated = as_index(block, rows), violated[rows]
        nears = np.full(len(index), near)
        for _ in range(CROSSINGS):
            if not len(index):
                break
            found, index, nears = closest(problem, field, index, violated, nears, target)
            if found is not None:
                best = target = found
            violated = problem.evaluate(index, field.columns(nears)).violation > 0
            still = problem.evaluate(index, field.columns(target)).violation > 0
            open_ = ~(violated & still).any(axis=1)
            index, violated, nears = index[open_], violated[open_], nears[open_]
    return best


def closest(
    problem: Problem,
    field: Field,
    index: Index,
    violated: NDArray[np.bool_],
    nears: Column,
    far: float,
) -> tuple[float | None, Index, Column]:
    """Return the nearest value found that admits a design, and what may still improve on it.

    At `far` each design meets what it violates at its value of `nears`, by `violated`, but perhaps
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
        met = ~(violated & (evaluation.violation > 0)).any(axis=1)
        fars = np.where(met & ~closed, middle, fars)
        nears = np.where(met | closed, nears, middle)
        best = min(best, (sign * middle[evaluation.feasible]).min(initial=math.inf))
        kept = sign * nears < best  # the others are further already
        index, violated, nears, fars = index[kept], violated[kept], nears[kept], fars[kept]
    feasible = problem.evaluate(index, field.columns(fars)).feasible
    best = min(best, (sign * fars[feasible]).min(initial=math.inf))
    left = ~feasible & (sign * fars < best)
    return (sign * best if math.isfinite(best) else None), index[left], fars[left]

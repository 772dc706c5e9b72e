"""How far a field or a bound of an infeasible study has to go until a design is feasible.

Values ever further from the nominal one are rungs, and the first rung that has a design is
searched for the nearest value.  Spaces that can be enumerated are tried design by design: each
goes just as far as it takes to meet what it violates now, and on where it violates something else
then, which is exact where each constraint of a design changes but once inside a rung.  Larger ones
are composed: a search proves that a value admits no design, or finds one, and the value at which
that one just fits is the next to improve on; what fits only inside a rung may be skipped there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.algebra.thresholds import ConstraintThreshold
from dse.contract import Column
from dse.errors import TooLargeError
from dse.model.evaluation import Evaluation
from dse.model.mixed import PAYLOAD_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import Index, Points, as_index, blocks, constant
from dse.parametric.repairs.attempt import EVALUATIONS, changed_study
from dse.search.conflicts import any_design
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.work import CALL, EffortError, spend
from dse.study.demand import RATE
from dse.study.field_kinds import Unit, neutral
from dse.study.study import Study

FIRST, FURTHEST = 0.05, 1e9
"""Distance of the first and the last rung from the nominal value, relative to it."""

FEWEST, MOST, COMPOSED = 4, 40, 24
"""Rungs of a field: as many as `EVALUATIONS` allow, between the first two; where it is composed."""

MOST_STEPS, EVEN = 2_000, 200
"""Rates at which an instance count changes are rungs; where there are more, that many even ones."""

MARGIN = 1e-9
"""By how much designs have to improve on the best value so far, relative to it."""

CONVERGED, NEAREST = 1e-13, 1e-7
"""A value of a design is found to the first; none nearer by the second share admits another."""

CROSSINGS = 4
"""How often a design may meet what it violated and violate something else instead."""

ANYTHING = 1e300
"""A bound that everything finite meets."""

Within = Callable[[float, float], float | None]
"""Takes a value that admits nothing and one beyond it: the nearest found between that admits a
design, None where there is none at the far one."""


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

    def between(self, near: Any, far: Any) -> Any:
        """Return values between two: geometric means, whole where the field is."""
        if self.unit.integer:
            return np.floor((near + far) / 2)
        return np.sqrt(near) * np.sqrt(far)

    def tightest(self, problem: Problem) -> float | None:
        """Return the tightest of the study's values; None when nothing limits."""
        values = problem.space.values(self.column)
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


def nearest_feasible(base: Study, field: Field, *, composed: bool) -> tuple[float, bool] | None:
    """Return the value of `field` nearest to that of `base` that admits a design, or None.

    And whether none nearer does, False where that takes too long to tell.

    Raises
    ------
    TooLargeError
        None was found in the time that one field may take.
    """
    problem = base.problem
    near = field.tightest(problem)
    if near is None:
        return None
    if composed:
        rungs = _rungs(problem, field, near, COMPOSED)
        within: Within = partial(_within_composed, base, field)
    else:
        rungs = _steps(problem, field, near) or _rungs(problem, field, near, None)
        within = partial(_within, problem, field)
    unsure: TooLargeError | None = None
    for far in rungs:
        try:
            value = within(near, far)
        except EffortError:
            raise
        except TooLargeError as error:  # a value further out may tell
            unsure = error
            continue
        if value is not None:
            if not composed:
                return value, True
            short_of = partial(field.moved, share=-NEAREST)
            found, least = _improved(near, value, within, short_of, field.between)
            return found, least and unsure is None
        near = far
    if unsure is not None:
        raise unsure
    return None


def nearest_bound(
    problem: Problem, place: int, threshold: ConstraintThreshold
) -> tuple[float, bool] | None:
    """Return the bound of a constraint nearest to today's that admits a design, or None.

    And whether none nearer does, as of `nearest_feasible`.
    """
    sides = [True] * threshold.up + [False] * threshold.down
    found = filter(None, [_bound(problem, place, threshold, up=up) for up in sides])
    return min(found, key=lambda pair: abs(pair[0] - threshold.value), default=None)


def _bound(
    problem: Problem, place: int, threshold: ConstraintThreshold, *, up: bool
) -> tuple[float, bool] | None:
    sign = 1.0 if up else -1.0

    def within(near: float, far: float) -> float | None:
        rules = list(problem.constraints)
        rules[place] = _between(threshold, near, far, up=up)
        design = any_design(replace(problem, constraints=tuple(rules)))
        if design is None:
            return None
        return float(threshold.quantity.value(problem.describe(design))[0])

    value = within(threshold.value, sign * ANYTHING)
    if value is None or not math.isfinite(value):
        return None
    return _improved(
        threshold.value,
        value,
        within,
        lambda value: value - sign * NEAREST * abs(value),
        lambda near, far: (near + far) / 2,
    )


def _between(threshold: ConstraintThreshold, near: float, far: float, *, up: bool) -> Expression:
    """Return the constraint with its bound anywhere between two numbers."""
    sides = (ast.GtE(), ast.LtE()) if up else (ast.LtE(), ast.GtE())
    parts: list[ast.expr] = [
        ast.Compare(threshold.quantity.tree, [side], [ast.Constant(float(number))])
        for side, number in zip(sides, (near, far), strict=True)
    ]
    tree = ast.BoolOp(ast.And(), [threshold.rest.tree, *parts])
    names = threshold.rest.names | threshold.quantity.names
    return Expression(threshold.source, names, True, tree)


def _improved(
    near: float,
    far: float,
    within: Within,
    short_of: Callable[[float], float],
    middle: Callable[[float, float], float],
) -> tuple[float, bool]:
    """Return the value nearest to `near`, which admits nothing, that admits a design; `far` does.

    And whether none nearer does.  `short_of` returns a value just short of one, `middle` one
    between two; what is just short is tried first, as what was found mostly is the nearest.
    """
    with suppress(TooLargeError):
        while True:
            target = short_of(far)
            value = within(near, target) if _is_inside(near, target, far) else None
            if value is None:
                return far, True
            far, target = value, middle(near, value)
            if not _is_inside(near, target, far):
                return far, True
            value = within(near, target)
            near, far = (target, far) if value is None else (near, value)
    return far, False


def _is_inside(near: float, target: float, far: float) -> bool:
    return min(near, far) < target < max(near, far)


def _rungs(problem: Problem, field: Field, nominal: float, count: int | None) -> list[float]:
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
    shares = problem.space.values(PAYLOAD_OFFLOADED)
    shares = shares if len(shares) else np.ones(1)
    for stage in problem.stages:
        if stage.mixed or f"{stage.name}.instances" in axes:
            continue
        name = f"{stage.name}.clock"
        clocks = axes[name].columns[name] if name in axes else np.ones(1)
        demanded = np.outer(stage.designs.bandwidth_bit_per_s, clocks)
        for carried in np.outer(demanded, 1.0 / shares).ravel().tolist():
            most = math.floor(near / carried)
            if most > MOST_STEPS:
                return [float(rung) for rung in np.geomspace(near, far, EVEN)[1:]]
            steps.update(count * carried * (1.0 + MARGIN) for count in range(1, most + 1))
    inside = sorted((step for step in steps if far < step < near), reverse=True)
    return [*inside, far] if inside else []


def _within(problem: Problem, field: Field, near: float, far: float) -> float | None:
    """Return the value between two nearest to `near` that admits one of all designs."""
    best = None
    for block in _every_design(problem):
        target = far if best is None else field.moved(best, -MARGIN)
        if best is not None and (target > near) != field.more:
            return best
        evaluation = _with(problem, field, block, near)
        if evaluation.feasible.any():
            return near
        rows = np.arange(len(evaluation.violation))
        violated, nears = evaluation.violation > 0, np.full(len(rows), near)
        for _ in range(CROSSINGS):
            still = _with(problem, field, block, target).violation > 0
            rows = np.flatnonzero(~(violated & still).any(axis=1))
            block, violated = as_index(block, rows), violated[rows]
            if not len(block):
                break
            found, block, nears = _closest(problem, field, block, violated, nears[rows], target)
            if found is not None:
                best = target = found
            violated = _with(problem, field, block, nears).violation > 0
    return best


def _with(problem: Problem, field: Field, points: Points, value: Column | float) -> Evaluation:
    """Return an evaluation of designs with another value of a field, or one each: it is work."""
    spend(CALL + len(points))
    return problem.evaluate(points, field.columns(value))


def _every_design(problem: Problem) -> Iterator[Points]:
    """Yield all designs, some at a time; the host alone comes last."""
    yield from blocks(problem.sizes, CHUNK)
    if len(problem.hosts):
        yield problem.hosts


def _within_composed(base: Study, field: Field, near: float, far: float) -> float | None:
    """Return the value between two at which a design that is found at `far` just fits."""
    text = f"{far:.0f}" if field.unit.integer else units.exact_text(far, field.column)
    changed = changed_study(base, field.overrides(text))
    design = None if changed is None else any_design(changed.problem)
    if changed is None or design is None:
        return None
    violated = _with(changed.problem, field, design, near).violation > 0
    found, _, _ = _closest(changed.problem, field, design, violated, np.full(1, near), far)
    return far if found is None else found


def _closest(
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
        evaluation = _with(problem, field, index, middle)
        met = ~(violated & (evaluation.violation > 0)).any(axis=1)
        fars = np.where(met & ~closed, middle, fars)
        nears = np.where(met | closed, nears, middle)
        best = min(best, (sign * middle[evaluation.feasible]).min(initial=math.inf))
        kept = sign * nears < best  # the others are further already
        index, violated, nears, fars = index[kept], violated[kept], nears[kept], fars[kept]
    feasible = _with(problem, field, index, fars).feasible
    best = min(best, (sign * fars[feasible]).min(initial=math.inf))
    left = ~feasible & (sign * fars < best)
    return (sign * best if math.isfinite(best) else None), index[left], fars[left]

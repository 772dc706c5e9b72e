"""The least change of each field and bound that makes an infeasible study feasible.

Every repair has been tried: the study with that one change has the design that is named.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import thresholds, units
from dse.algebra.expression import Expression
from dse.algebra.thresholds import ConstraintThreshold
from dse.contract import Column
from dse.errors import TooLargeError
from dse.model.evaluation import Evaluation
from dse.model.graph import argument_names
from dse.model.mixed import PAYLOAD_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import Index, Points, as_index, blocks, constant
from dse.parametric.repairs.attempt import (
    EVALUATIONS,
    NUMBER,
    Attempts,
    Override,
    Repair,
    Solved,
    admitted,
    changed_study,
    number_words,
    size_of,
    solve,
)
from dse.parametric.scale import LogScale
from dse.search.conflicts import any_design
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.work import CALL, EffortError, spend
from dse.study.demand import RATE, TASKS, followers
from dse.study.field_kinds import Unit, neutral
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS, FREE
from dse.study.written import is_owned

STAGE_FIELDS = frozenset({RATE, "workload_streams"})
"""Fields that decide what fleets are and carry; others act through what takes them."""

SHORT = 1e-3
"""How far short of a repair it is said what is still violated."""

FURTHER = (
    *(SHORT * 2**doubling for doubling in range(7)),
    *(1.1**step - 1 for step in range(1, 31)),
)
"""How much further on the study itself is tried, dense enough for what fits for a while only."""

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


def repairs_of(attempts: Attempts) -> list[Repair]:
    """Return the numbers of a study that would admit a design: of constraints, then fields."""
    infeasible = attempts.infeasible
    found = [
        _bound_repair(attempts, place, threshold)
        for place, constraint in enumerate(infeasible.problem.constraints)
        for threshold in thresholds.thresholds_of(constraint)
    ]
    for field, rules in _fields(infeasible).items():
        found.append(field_repair(attempts, infeasible, field, rules))
    return [repair for repair in found if repair is not None]


def _bound_repair(attempts: Attempts, place: int, threshold: ConstraintThreshold) -> Repair | None:
    infeasible, name = attempts.infeasible, threshold.name
    rule = infeasible.problem.constraints[place].text

    def override(text: str) -> tuple[Override, ...]:
        return ((f"constraints.{place}", as_yaml(threshold.text(text))),)

    with attempts.trying(f"another bound of {rule}"):
        found = nearest_bound(infeasible.problem, place, threshold)
        texts = [] if found is None else _bound_texts(threshold, found[0])
        first = _first_solved(infeasible, texts, override)
        if found is None or first is None:
            return None
        text, solved = first
        new, written = units.parse(text, name), threshold.text(text)
        repair = _number(override(text), written, name, threshold.value, new, solved)
        return replace(repair, constraints=(rule,), violated=(rule,), least=found[1])
    return None


def _bound_texts(threshold: ConstraintThreshold, value: float) -> list[str]:
    if threshold.up and threshold.down:
        return [units.exact_text(value, threshold.name)]
    up = value > threshold.value
    return thresholds.candidates(value, threshold.name, up=up, beyond=threshold.strict)


def _first_solved(
    base: Study, texts: Sequence[str], overrides: Callable[[str], tuple[Override, ...]]
) -> tuple[str, Solved] | None:
    """Return the first text of a number with which a study has a design, and what it admits."""
    for text in texts:
        with suppress(TooLargeError):
            solved = solve(base, overrides(text))
            if solved is not None:
                return text, solved
    return None


def _number(
    overrides: tuple[Override, ...],
    written: str,
    name: str,
    nominal: float,
    value: float,
    solved: Solved,
) -> Repair:
    return Repair(
        overrides=overrides,
        written=written,
        what=number_words(overrides[0][0], written, name, nominal, value),
        rank=NUMBER,
        size=size_of(value, nominal),
        name=name,
        nominal=nominal,
        value=value,
        **admitted(solved),
    )


def field_repair(
    attempts: Attempts, base: Study, field: Field, rules: tuple[str, ...] = ()
) -> Repair | None:
    """Return the repair by the value of a field nearest to that of `base`, None without one.

    `rules` are the requirements that it relaxes.
    """
    with attempts.trying(field.path):
        found = nearest_feasible(base, field, composed=attempts.composed)
        return None if found is None else _confirmed(base, field, rules, *found)
    return None


def _fields(infeasible: Study) -> dict[Field, tuple[str, ...]]:
    """Return the fields that may admit a design, with the rules of requirements they relax.

    Where the study has constraints of its own, what is free to choose may help either way.
    """
    problem = infeasible.problem
    found: dict[Field, tuple[str, ...]] = {}
    used = STAGE_FIELDS.union(*(step.arguments for step in problem.graph.steps))
    wanted: list[tuple[str, bool, str]] = []
    for requirement in problem.bound_requirements:
        used |= set(sum(argument_names(requirement), ()))
        wanted += [(column, False, requirement.rule) for column in requirement.relaxed_by_less]
        wanted += [(column, True, requirement.rule) for column in requirement.relaxed_by_more]
    free = sorted(column for column in used if field_path(column) in FREE)
    wanted += [(column, more, "") for column in free for more in (False, True)]
    demands_tasks = TASKS in problem.space.constants
    for named, more, rule in wanted:
        column = TASKS if named == RATE and demands_tasks else named
        path = field_path(column)
        unit = FIELDS.get(path)
        if unit is None or named not in used or not is_owned(infeasible.document, path):
            continue
        if _alone(problem, unit, column):
            follows = tuple(followers(problem, column).items())
            field = Field(path, column, unit, more, follows=follows)
            found[field] = (*found.get(field, ()), *filter(None, [rule]))
    return found


def _alone(problem: Problem, unit: Unit, column: str) -> bool:
    """Tell whether a column is all that sets its field: not, say, also a latency per byte."""
    plain = neutral(unit)
    given = [problem.space.constants, *(axis.columns for axis in problem.space.axes)]
    return column in unit.columns and not any(
        np.any(columns[name] != plain[name])
        for columns in given
        for name in plain.keys() & columns
        if name != column
    )


def _confirmed(
    infeasible: Study, field: Field, rules: tuple[str, ...], value: float, least: bool
) -> Repair | None:
    """Return the repair by `value`, or by the nearest value further on that is one.

    A demanded rate also sets how many instances are tried, so the study may need a little more.
    """
    found = _at(infeasible, field, value)
    if found is None:
        further = _further(infeasible, field, value)
        found = None if further is None else _at(infeasible, field, further)
        if found is None:
            return None
    text, solved = found
    parsed = units.parse(text, field.column)
    repaired, index = solved
    short = field.columns(field.moved(parsed, -SHORT))
    violated = repaired.problem.evaluate(index, short).violation[0] > 0
    names = np.array(repaired.problem.constraint_names, dtype=object)[violated]
    nominal = _nominal(infeasible.problem, field, parsed, solved)
    return replace(
        _number(field.overrides(text), text, field.column, nominal, parsed, solved),
        constraints=rules,
        violated=tuple(names) if least else (),
        least=least,
    )


def _at(infeasible: Study, field: Field, value: float) -> tuple[str, Solved] | None:
    """Return the shortest text of a value that admits a design, and what it admits."""
    now = field.tightest(infeasible.problem)
    counted = field.unit.counts and now is not None and now.is_integer()
    return _first_solved(infeasible, _field_texts(field, value, whole=counted), field.overrides)


def _field_texts(field: Field, value: float, *, whole: bool = False) -> list[str]:
    whole = whole or field.unit.integer
    return thresholds.candidates(value, field.column, up=field.more, whole=whole)


def _further(infeasible: Study, field: Field, value: float) -> float | None:
    """Return the nearest looser value with which the study itself has a design, to 0.01 %."""

    def has_design(value: float) -> bool:
        changed = changed_study(infeasible, field.overrides(_field_texts(field, value)[-1]))
        with suppress(TooLargeError):
            return changed is not None and any_design(changed.problem) is not None
        return False

    near = value
    for far in (field.moved(value, share) for share in FURTHER):
        if has_design(far):
            return LogScale(field.unit.integer).bisected(far, near, 1e-4, has_design)[0]
        near = far
    return None


def _nominal(problem: Problem, field: Field, value: float, solved: Solved) -> float:
    """Return what the field is in the study, for the design that a repair by `value` admits."""
    repaired, index = solved
    nominal = field.tightest(problem) or math.nan
    chosen = {
        axis.name: axis.labels[choice]
        for axis, choice in zip(repaired.problem.space.axes, index[0], strict=True)
        if choice >= 0
    }
    for axis in problem.space.axes:
        values = axis.columns.get(field.column)
        if values is None:
            continue
        if chosen.get(axis.name) in axis.labels:
            nominal = float(values[axis.labels.index(chosen[axis.name])])
        else:
            near = values[values <= value if field.more else values >= value]
            near = near if len(near) else values
            nominal = float(near.max() if field.more else near.min())
    return nominal


def as_yaml(text: str) -> str:
    """Return a text as YAML writes it."""
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text

"""The least change of each field and bound that makes an infeasible study feasible.

Every repair has been tried: the study with that one change has the design that is named.
"""

from __future__ import annotations

import ast
import json
import math
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.algebra import thresholds, units
from dse.algebra.expression import Expression
from dse.algebra.thresholds import ConstraintThreshold
from dse.contract import Column
from dse.errors import DseError, TooLargeError
from dse.files.document import Document
from dse.model import tables
from dse.model.evaluation import Evaluation
from dse.model.graph import argument_names
from dse.model.messages import DECIDING
from dse.model.mixed import PAYLOAD_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import Index, Points, as_index, blocks, constant
from dse.parametric.scale import NumberScale
from dse.reports.designs import described
from dse.reports.text import change, listed, relative_change, rule_text, unit_suffix
from dse.search.conflicts import any_design
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.work import CALL, EffortError, left_s, limited, spend
from dse.study import study
from dse.study.demand import OFFERED, RATE, followers
from dse.study.field_kinds import Unit, neutral
from dse.study.measured.evaluated import is_evaluated
from dse.study.overrides import override
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS, FREE
from dse.study.written import is_owned

Solved = tuple[Study, Index]
"""A changed study and its preferred design (1, d)."""

EVALUATIONS = 10_000_000
"""Designs that are always tried for a change, however few the study itself has."""

SHARE = 0.1
"""Part of the time that is left which one change may take."""

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


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A change of a number that makes a study feasible.

    Attributes
    ----------
    path, written
        What to set, as a dotted path, and the new value.
    design, limit
        The design that it admits, of several the one preferred, and what limits that, by the
        study's labelled quantity.
    constraints
        What it relaxes, in words.
    name, nominal, value
        What the number is, by a name whose suffix is the unit; today's value, of the design named,
        and the nearest one that admits a design, in SI.
    violated
        What the design violates when the number changes by 0.1 % less.
    least
        Whether no nearer number admits a design; False where that took too long to tell.
    """

    path: str
    written: str
    design: str
    limit: str
    name: str
    nominal: float
    value: float
    constraints: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    least: bool = True

    @property
    def is_constraint(self) -> bool:
        """Whether a constraint of the study changes, not a field."""
        return self.path.startswith("constraints.")

    @property
    def order(self) -> tuple[float, str]:
        """Sorts repairs, the least first: by their factor, so that a tenth is as far as ten times.

        What has none, as from 0, comes last.
        """
        ratio = self.value / self.nominal if self.nominal else math.nan
        if ratio > 0 and math.isfinite(ratio):
            return abs(math.log(ratio)), self.path
        relative = relative_change(self.value, self.nominal)
        return math.inf if relative is None else abs(relative), self.path

    @property
    def what(self) -> str:
        """Which number changes, of a field or of a constraint, and by how much, in words."""
        now = units.show(self.nominal, self.name)
        by = change(self.value, self.nominal, than=now) or f"instead of {now}"
        if self.is_constraint:
            return f"{self.written} ({by})"
        most = "at least" if self.value > self.nominal else "at most"
        return f"{self.path} {most} {self.written} ({by})"

    def sentence(self, known: Collection[str] = ()) -> str:
        """Return what changes, which design that admits, and what stands against less of a change.

        `known` are constraints of which it is said already that nothing meets them.
        """
        text = f"{self.what}: {self.design}"
        others = [rule for rule in self.violated if rule not in {*self.constraints, *known}]
        if self.least and others:
            beyond = "lower" if self.value > self.nominal else "higher"
            return f"{text}, any {beyond} value violates {listed([*map(rule_text, others)])}"
        if self.limit and not self.is_constraint:
            text += f" ({self.limit}-bound)"
        return text if self.least else f"{text}; less of a change may do"

    def command(self, document: Document) -> str:
        """Return the same as an option of a command line, and which earlier ones it replaces."""
        option = f"--set {_quoted(f'{self.path}={as_yaml(self.written)}')}"
        field = self.path.removeprefix("stages.")
        before = [pair for pair in document.overrides if pair[0].removeprefix("stages.") == field]
        replaced = listed([f"{path}={text}" for path, text in before])
        return f"{option}, in place of {replaced}" if replaced else option

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        relative = relative_change(self.value, self.nominal)
        return {
            "constraints": list(self.constraints),
            "set": self.path,
            "to": self.written,
            "overrides": {self.path: as_yaml(self.written)},
            "design": self.design,
            "limit": self.limit,
            f"nominal{unit_suffix(self.name)}": self.nominal,
            f"value{unit_suffix(self.name)}": self.value,
            "relative": math.inf if relative is None else abs(relative),
            "violated_short_of_it": list(self.violated),
            "least": self.least,
        }


def _quoted(text: str) -> str:
    """Return one word of a command line, in double quotes where that is enough."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def changed_study(infeasible: Study, path: str, written: str) -> Study | None:
    """Return the study with a field or constraint replaced, None when that is a fault."""
    try:
        changed = override(infeasible.document, [(path, as_yaml(written))])
        return study.prepare(changed, infeasible)
    except DseError:
        return None


def solve(infeasible: Study, path: str, written: str) -> Solved | None:
    """Return the changed study and its preferred design, None when it has none.

    Raises
    ------
    TooLargeError
        It takes too long.
    """
    changed = changed_study(infeasible, path, written)
    if changed is None:
        return None
    outcome = search.run_search(changed.problem, search.SearchSettings(method="exact"))
    if not outcome.feasible:
        return None
    order = changed.preference.order(changed.problem, outcome.front_index)
    return changed, outcome.front_index[order[:1]]


def admitted(solved: Solved) -> dict[str, Any]:
    """Return the design that a repair admits and what limits it, as a `Repair` takes them."""
    problem, index = solved[0].problem, solved[1]
    modelled = not is_evaluated(solved[0].document)  # a column of texts limits nothing
    category = tables.category(problem) if modelled else None
    limit = str(tables.design_table(problem, index)[category][0]) if category is not None else ""
    return {"design": described(problem, index)[0], "limit": limit}


class Attempts:
    """Changes tried one after the other, where they are no more work than the study itself."""

    def __init__(self, infeasible: Study, *, composed: bool = False) -> None:
        """Start with nothing tried; `composed` tells to search for numbers, not try all designs."""
        self.infeasible = infeasible
        self.composed = composed
        self.untried: list[str] = []

    @contextmanager
    def trying(self, change: str) -> Iterator[None]:
        """Give a change its share of the time; keep what it is where it is too much work."""
        try:
            with limited(seconds=SHARE * left_s()):
                yield
        except TooLargeError:
            with suppress(EffortError):
                spend(0)  # what ends the whole explanation is said once
                self.untried.append(change)
        except DseError:
            pass  # a model that fails or overflows with it admits nothing


@dataclass(frozen=True)
class Field:
    """A field of the study that may be changed: where it stands, what it sets, what it carries.

    `more` says whether more of it is looser; `follows` are the columns that it sets too, each a
    multiple of its value.
    """

    path: str
    column: str
    unit: Unit
    more: bool
    follows: tuple[tuple[str, float], ...] = ()

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
        sizes = {name: problem.space.values(name) for name in DECIDING}
        filled = stage.filled({name: one for name, one in sizes.items() if len(one)})
        bandwidth = stage.designs.bandwidth_bit_per_s[:, np.newaxis] * filled
        demanded = np.outer(bandwidth, clocks)
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
    changed = changed_study(base, field.path, text)
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
    """Return the numbers of a study that would admit a design, the smallest change first."""
    infeasible = attempts.infeasible
    found: list[Repair | None] = [
        _bound_repair(attempts, place, threshold)
        for place, constraint in enumerate(infeasible.problem.constraints)
        for threshold in thresholds.thresholds_of(constraint)
    ]
    for field, rules in _fields(infeasible).items():
        with attempts.trying(field.path):
            nearest = nearest_feasible(infeasible, field, composed=attempts.composed)
            if nearest is not None:
                found.append(_confirmed(infeasible, field, rules, *nearest))
    least: dict[tuple[str, str], Repair] = {}
    for repair in sorted(filter(None, found), key=lambda repair: repair.order):
        # more of the least on an axis, less of the most
        least.setdefault((repair.path, repair.written), repair)
    return list(least.values())


def _bound_repair(attempts: Attempts, place: int, threshold: ConstraintThreshold) -> Repair | None:
    infeasible, name = attempts.infeasible, threshold.name
    rule = infeasible.problem.constraints[place].text
    path = f"constraints.{place}"
    with attempts.trying(f"another bound of {rule}"):
        found = nearest_bound(infeasible.problem, place, threshold)
        texts = [] if found is None else _bound_texts(threshold, found[0])
        first = _first_solved(infeasible, path, texts, threshold.text)
        if found is None or first is None:
            return None
        text, solved = first
        return Repair(
            path=path,
            written=threshold.text(text),
            name=name,
            nominal=threshold.value,
            value=units.parse(text, name),
            constraints=(rule,),
            violated=(rule,),
            least=found[1],
            **admitted(solved),
        )
    return None


def _bound_texts(threshold: ConstraintThreshold, value: float) -> list[str]:
    if threshold.up and threshold.down:
        return [units.exact_text(value, threshold.name)]
    up = value > threshold.value
    return thresholds.candidates(value, threshold.name, up=up, beyond=threshold.strict)


def _first_solved(
    base: Study, path: str, texts: Sequence[str], written: Callable[[str], str] = str
) -> tuple[str, Solved] | None:
    """Return the first text of a number with which a study has a design, and what it admits."""
    for text in texts:
        with suppress(TooLargeError):
            solved = solve(base, path, written(text))
            if solved is not None:
                return text, solved
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
    demands_offloads = OFFERED in problem.space.constants
    for named, more, rule in wanted:
        column = OFFERED if named == RATE and demands_offloads else named
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
    return Repair(
        path=field.path,
        written=text,
        name=field.column,
        nominal=_nominal(infeasible.problem, field, parsed, solved),
        value=parsed,
        constraints=rules,
        violated=tuple(names) if least else (),
        least=least,
        **admitted(solved),
    )


def _at(infeasible: Study, field: Field, value: float) -> tuple[str, Solved] | None:
    """Return the shortest text of a value that admits a design, and what it admits."""
    now = field.tightest(infeasible.problem)
    counted = field.unit.counts and now is not None and now.is_integer()
    return _first_solved(infeasible, field.path, _field_texts(field, value, whole=counted))


def _field_texts(field: Field, value: float, *, whole: bool = False) -> list[str]:
    whole = whole or field.unit.integer
    return thresholds.candidates(value, field.column, up=field.more, whole=whole)


def _further(infeasible: Study, field: Field, value: float) -> float | None:
    """Return the nearest looser value with which the study itself has a design, to 0.01 %."""

    def has_design(value: float) -> bool:
        changed = changed_study(infeasible, field.path, _field_texts(field, value)[-1])
        with suppress(TooLargeError):
            return changed is not None and any_design(changed.problem) is not None
        return False

    near = value
    for far in (field.moved(value, share) for share in FURTHER):
        if has_design(far):
            scale = NumberScale(1e-3 * min(near, far), field.unit.integer)
            while not scale.is_close(near, far, 1e-4):
                middle = scale.middle(near, far)
                near, far = (near, middle) if has_design(middle) else (middle, far)
            return far
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

"""The least change of each bound and field that makes an infeasible study feasible.

It is where, along that number, some design is feasible first: the breakpoint of an empty answer.
Every repair has been tried: the study with that one change has the design that is named.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dse import search
from dse.algebra import thresholds, units
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import ContractError, DseError, TooLargeError
from dse.files.document import Document
from dse.model import tables
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.model.space import Index, as_index, one_block
from dse.parametric.breakpoints import (
    _DENSE as DENSE,
)
from dse.parametric.breakpoints import (
    _PARTS as PARTS,
)
from dse.parametric.breakpoints import (
    LISTED,
    Bracket,
    Line,
)
from dse.parametric.breakpoints import (
    _advance as advance,
)
from dse.parametric.question import AnswerDesigns, Question, goal_of, limits_of, widest
from dse.reports.designs import described
from dse.reports.text import change, listed, relative_change, rule_text, unit_suffix
from dse.search.conflicts import any_design
from dse.search.exact.work import EffortError, left_s, limited, spend
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of
from dse.study.demand import OFFERED, RATE
from dse.study.evaluated import is_evaluated
from dse.study.field_kinds import Unit, neutral
from dse.study.overrides import override
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS, FREE
from dse.study.written import is_owned

Solved = tuple[Study, Index]
"""A changed study and its preferred design (1, d)."""

_SHARE = 0.1
"""Part of the time that is left which one change may take."""

STAGE_FIELDS = frozenset({RATE, "workload_streams"})
"""Fields that decide what fleets are and carry; others act through what takes them."""

_SHORT = 1e-3
"""How far short of a repair it is said what is still violated."""

FACTOR, RUNGS, FIRST = 1e9, 32, 0.05
"""How far a field is varied, in how many parts, and the first of them, relative to its value."""

_BEYOND = (0.0, 1e-4, _SHORT, 1e-2)
"""How much further on a number is tried that does not do as it is written."""


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

    def __init__(self, infeasible: Study) -> None:
        """Start with nothing tried."""
        self.infeasible = infeasible
        self.untried: list[str] = []

    @contextmanager
    def trying(self, change: str) -> Iterator[None]:
        """Give a change its share of the time; keep what it is where it is too much work."""
        try:
            with limited(seconds=_SHARE * left_s()):
                yield
        except TooLargeError:
            with suppress(EffortError):
                spend(0)  # what ends the whole explanation is said once
                self.untried.append(change)
        except DseError:
            pass  # a model that fails or overflows with it admits nothing


@dataclass(frozen=True)
class Field:
    """A field of the study that may be changed: where it stands, and the column that it sets.

    `more` says whether more of it is looser, `rules` which requirements that relaxes.
    """

    path: str
    column: str
    unit: Unit
    more: bool
    rules: tuple[str, ...] = ()

    def tightest(self, problem: Problem) -> float | None:
        """Return the tightest of the study's values; None when nothing limits."""
        values = problem.space.values(self.column)
        finite = values[np.isfinite(values) & (values > 0)]
        if not len(finite):
            return None
        return float(finite.min() if self.more else finite.max())

    def short_of(self, value: float) -> float:
        """Return a value a little tighter."""
        if self.unit.integer:
            return value - 1.0 if self.more else value + 1.0
        return value * (1.0 - _SHORT if self.more else 1.0 + _SHORT)

    def of(self, found: Study) -> Assumption | None:
        """Return the field of a study that gives it one value."""
        every = assumptions_of(found, designs=False)
        own = (a for a in every if a.quantity == self.column and not a.touched and not a.bound)
        return next(own, None)


class LeastChange:
    """The search along a line, from today's value on, for the first at which a design is feasible.

    `least` says whether none nearer is known to be, False where that took too long to tell.
    """

    def __init__(self, infeasible: Study, entry: Assumption, limit: float) -> None:
        """Know every design of a space that is small."""
        low, high = sorted((entry.value, limit))
        question = Question(infeasible.preference, feasible=True)
        self.line = line = Line(entry, question, infeasible.settings, (low, high))
        self.least = True
        space = widest(line.entry.problem, line.ends)
        small = space.size <= LISTED
        every = as_index(one_block(space.sizes)) if small else line.pool[:0]
        self.rows = np.vstack([every, line.entry.problem.hosts]) if small else None

    def value(self, rungs: Sequence[float]) -> float | None:
        """Return the value, from one rung to the next until one admits a design."""
        unsure: TooLargeError | None = None
        near = self.line.entry.value
        for far in rungs:
            try:
                found, limited = self._within(near, far)
            except EffortError:
                raise
            except TooLargeError as error:  # a value further out may tell
                unsure, self.least = error, False
                continue
            if found is not None or limited:
                return found
            near = far
        if unsure is not None:
            raise unsure
        return None

    def _within(self, near: float, far: float) -> tuple[float | None, str]:
        """Return the value between two, and why designs cannot be evaluated up to the second."""
        if self.rows is None:
            return (self._searched(near, far) if self._admits(far) else None), ""
        line, rows = self.line, self.rows
        if not line.steps or len(rows) > DENSE // PARTS:
            with suppress(ContractError):
                violation = line.compare(rows, [near, far]).violation
                rows = rows[~(np.fmin(*violation) > 0).any(axis=1)]
        if not len(rows):
            return None, ""
        one = self._bracket(rows, near, far)
        return one.outside, one.limited

    def _bracket(self, rows: Index, near: float, far: float) -> Bracket:
        nothing = AnswerDesigns(frozenset(), rows[:0])
        one = Bracket(self.line, nothing, rows, near, far)
        advance([one])
        return one

    def _admits(self, value: float) -> bool:
        design = any_design(self.line.at(value))
        if design is not None:
            self.line.learn(design)
        return design is not None

    def _searched(self, near: float, far: float) -> float:
        """Return the value, of designs that exact searches find just short of it and half-way."""
        try:
            while True:
                one = self._bracket(self.line.pool, near, far)
                if one.outside is None or one.inside == near:
                    return far if one.outside is None else one.outside
                far = one.outside
                if not self._admits(one.inside):
                    return far
                far = one.inside
                middle = self.line.scale.middle(near, far)
                if middle in (near, far):
                    return far
                near, far = (near, middle) if self._admits(middle) else (middle, far)
        except EffortError:
            raise
        except TooLargeError:
            self.least = False
            return far

    def admitted(self, value: float) -> Index:
        """Return designs (n, d) that are feasible at a value."""
        rows = self.line.pool if self.rows is None else self.rows
        seen = self.line.compare(rows, [value])
        return np.asarray(rows[seen.feasible[0]])


def repairs_of(attempts: Attempts) -> list[Repair]:
    """Return the numbers of a study that would admit a design, the smallest change first."""
    infeasible = attempts.infeasible
    found: list[Repair | None] = [
        _bound_repair(attempts, place, threshold)
        for place, constraint in enumerate(infeasible.problem.constraints)
        for threshold in thresholds.thresholds_of(constraint)
    ]
    for field in _fields(infeasible):
        with attempts.trying(field.path):
            found.append(_field_repair(infeasible, field))
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
        found = _least_bound(infeasible, place, threshold)
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


def _least_bound(
    infeasible: Study, place: int, threshold: ConstraintThreshold
) -> tuple[float, bool] | None:
    """Return the bound nearest to today's that admits a design, and whether none nearer may.

    It is what is compared of the designs that meet all else: of every one where these are few, else
    of the best, where that is one quantity, or of any.
    """
    rules = list(infeasible.problem.constraints)
    rules[place] = threshold.rest
    free = replace(infeasible.problem, constraints=tuple(rules))
    if free.size <= LISTED:
        rows, least = np.vstack([as_index(one_block(free.sizes)), free.hosts]), True
        rows = rows[free.evaluate(rows).feasible]
    else:
        rows, least = _best(free, threshold)
    if not len(rows):
        return None
    values = threshold.quantity.value(free.describe(rows))
    nearest = float(values[np.abs(values - threshold.value).argmin()])
    return (nearest, least) if math.isfinite(nearest) else None


def _best(free: Problem, threshold: ConstraintThreshold) -> tuple[Index, bool]:
    """Return designs with the best of what a bound limits and True, or any design and False."""
    goal = goal_of(free, threshold)
    with suppress(TooLargeError):
        if goal is not None:
            settings = search.SearchSettings(method="exact")
            found = search.run_search(replace(free, goals=(goal,)), settings)
            if found.exact:
                return found.front_index, True
    design = any_design(free)
    return free.hosts[:0] if design is None else design, False


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


def _fields(infeasible: Study) -> list[Field]:
    """Return the fields that may admit a design, with the rules of requirements they relax.

    Where the study has constraints of its own, what is free to choose may help either way.
    """
    problem = infeasible.problem
    found: dict[tuple[str, bool], Field] = {}
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
            field = found.get((column, more), Field(path, column, unit, more))
            rules = (*field.rules, *filter(None, [rule]))
            found[column, more] = replace(field, rules=rules)
    return [*found.values()]


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


def _field_repair(infeasible: Study, field: Field) -> Repair | None:
    """Return the least change of a field that admits a design, tried in the study itself."""
    now = field.tightest(infeasible.problem)
    if now is None:
        return None
    unit = field.unit
    exact = f"{now:.0f} {units.label(field.column)}".rstrip()
    exact = exact if unit.integer else units.exact_text(now, field.column)
    single = changed_study(infeasible, field.path, exact)
    entry = None if single is None else field.of(single)
    if entry is None:
        return None
    limit = limits_of(entry, FACTOR)[field.more]
    change = LeastChange(infeasible, entry, limit)
    value = change.value(_rungs(entry, limit))
    whole = unit.integer or (unit.counts and now.is_integer())
    if value is None:
        return None
    for share in _BEYOND:
        further = value * (1.0 + share if field.more else 1.0 - share)
        texts = thresholds.candidates(further, field.column, up=field.more, whole=whole)
        first = _first_solved(infeasible, field.path, texts)
        if first is not None:
            return _confirmed(infeasible, field, first, least=change.least and not share)
    return None


def _rungs(entry: Assumption, limit: float) -> list[float]:
    """Return values ever further from today's; one design may be feasible in a part alone."""
    value = entry.value
    factors = 1.0 + np.geomspace(FIRST, FACTOR, RUNGS)
    values = value * factors if limit > value else value / factors
    values = np.round(values) if entry.integer else values
    low, high = sorted((value, limit))
    inside = [one for one in values.tolist() if low < one < high]
    return [*dict.fromkeys([*inside, limit])] if limit != value else []


def _confirmed(
    infeasible: Study, field: Field, first: tuple[str, Solved], *, least: bool
) -> Repair:
    """Return the repair by a value that admits a design, as text."""
    text, solved = first
    parsed = units.parse(text, field.column)
    entry, names = field.of(solved[0]), ()
    if entry is not None and least:
        short = entry.at(field.short_of(parsed))
        violated = short.evaluate(solved[1]).violation[0] > 0
        names = tuple(np.array(short.constraint_names, dtype=object)[violated])
    return Repair(
        path=field.path,
        written=text,
        name=field.column,
        nominal=_nominal(infeasible.problem, field, parsed),
        value=parsed,
        constraints=field.rules,
        violated=names,
        least=least,
        **admitted(solved),
    )


def _nominal(problem: Problem, field: Field, value: float) -> float:
    """Return what the field is in the study, of several values the one just short of another."""
    values = problem.space.values(field.column)
    near = values[(values <= value) if field.more else (values >= value)]
    near = near[np.isfinite(near) & (near > 0)]
    if not len(near):
        return field.tightest(problem) or math.nan
    return float(near.max() if field.more else near.min())


def as_yaml(text: str) -> str:
    """Return a text as YAML writes it."""
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text

"""The least change of one bound or field that makes an infeasible study feasible.

A bound moves to the nearest value of its quantity.  A field moves to the breakpoint of no answer,
the first value at which some design is feasible.  Every repair was tried: the study with that one
change has the named design.
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
from dse.errors import DseError, TooLargeError
from dse.files.document import Document
from dse.model import tables
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.model.space import Index, as_index, one_block
from dse.parametric.breakpoints import LISTED, TOO_MANY, Line, Span, bound_rivals, follow
from dse.parametric.question import AnswerDesigns, Question, goal_of, limits_of
from dse.reports.designs import described
from dse.reports.text import change, listed, relative_change, rule_text, unit_suffix
from dse.search.conflicts import any_design
from dse.search.exact.work import EffortError, left_s, limited, spend
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of
from dse.study.demand import OFFERED, RATE
from dse.study.field_kinds import Unit, neutral
from dse.study.overrides import is_evaluated, is_owned, override
from dse.study.scenario import field_path
from dse.study.study import Study
from dse.study.workload_interface_budget import FIELDS, FREE

Solved = tuple[Study, Index]
"""A changed study and its preferred design (1, d)."""

_SHARE = 0.1
"""Share of the remaining time for one change."""

_STAGE_FIELDS = frozenset({RATE, "workload_streams"})
"""Fields that decide on fleets and their capacity.  Others act through quantities."""

_SHORT = 1e-3
"""Distance from a repair at which violations are named."""

_FACTOR, _RUNGS, _FIRST = 1e9, 32, 0.05
"""Range of a field, number of its parts, and the first part relative to the field's value."""

_BEYOND = (0.0, 1e-4, _SHORT, 1e-2)
"""Shares by which a number moves further if it fails as written."""

_EVERYWHERE = 512
"""Largest space whose designs are all compared along a number with steps."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """A change of a number that makes a study feasible.

    Attributes
    ----------
    path, written
        Dotted path of the number, and the new value.
    design, limit
        The preferred design that it admits, and the design's limit by the study's labels.
    constraints
        Constraints that it relaxes, in words.
    name, nominal, value
        A name whose suffix is the unit, the present value, and the nearest that admits a design.
    violated
        Constraints that the design violates if the number changes by 0.1 % less.
    least
        True if no nearer number admits a design, False if the proof took too long.
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
        """The key of the order by size: a tenth is as far as ten times.

        Changes without a factor, such as from 0, come last.
        """
        ratio = self.value / self.nominal if self.nominal else math.nan
        if ratio > 0 and math.isfinite(ratio):
            return abs(math.log(ratio)), self.path
        relative = relative_change(self.value, self.nominal)
        return math.inf if relative is None else abs(relative), self.path

    def sentence(self, known: Collection[str] = ()) -> str:
        """Return the change, the design that it admits, and the obstacle to a smaller change.

        Constraints that are `known` as never met are no obstacle.
        """
        now = units.show(self.nominal, self.name)
        by = change(self.value, self.nominal, than=now) or f"instead of {now}"
        up = self.value > self.nominal
        most = "" if self.is_constraint else f"{self.path} at {'least' if up else 'most'} "
        text = f"{most}{self.written} ({by}): {self.design}"
        others = [rule for rule in self.violated if rule not in {*self.constraints, *known}]
        if self.least and others:
            rules = listed([*map(rule_text, others)])
            return f"{text}, any {'lower' if up else 'higher'} value violates {rules}"
        if self.limit and not self.is_constraint:
            text += f" ({self.limit}-bound)"
        return text if self.least else f"{text}; less of a change may do"

    def command(self, document: Document) -> str:
        """Return the change as an option of a command, and earlier options that it replaces."""
        option = f"--set {_quoted(f'{self.path}={as_yaml(self.written)}')}"
        field = self.path.removeprefix("stages.")
        before = [pair for pair in document.overrides if pair[0].removeprefix("stages.") == field]
        replaced = listed([f"{path}={text}" for path, text in before])
        return f"{option}, in place of {replaced}" if replaced else option

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
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
    """Return a word of a command line, in double quotes if these suffice."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def as_yaml(text: str) -> str:
    """Return a text as YAML writes it."""
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text


class Attempts:
    """The changes of a study that are tried, and the names of those that were too much work."""

    def __init__(self, infeasible: Study) -> None:
        """Start with nothing tried."""
        self.infeasible = infeasible
        self.untried: list[str] = []

    @contextmanager
    def trying(self, change: str) -> Iterator[None]:
        """Give a change its share of the time, and keep its name if it is too much work."""
        try:
            with limited(seconds=_SHARE * left_s()):
                yield
        except TooLargeError:
            with suppress(EffortError):
                spend(0)  # the end of the whole explanation is reported once
                self.untried.append(change)
        except DseError:
            pass  # a model that fails or overflows with it admits nothing


def repairs_of(attempts: Attempts) -> list[Repair]:
    """Return the numbers of a study that would admit a design, the smallest change first."""
    infeasible, found = attempts.infeasible, list[Repair | None]()
    for place, constraint in enumerate(infeasible.problem.constraints):
        for threshold in thresholds.thresholds_of(constraint):
            with attempts.trying(f"another bound of {constraint.text}"):
                found.append(_bound_repair(infeasible, place, threshold))
    for field in _fields(infeasible):
        with attempts.trying(field.path):
            found.append(_field_repair(infeasible, field))
    least: dict[tuple[str, str], Repair] = {}
    for repair in sorted(filter(None, found), key=lambda repair: repair.order):
        least.setdefault((repair.path, repair.written), repair)  # from either end of an axis
    return list(least.values())


def _bound_repair(infeasible: Study, place: int, threshold: ConstraintThreshold) -> Repair | None:
    """Return the change of a bound to the nearest value of its quantity."""
    name, rules = threshold.name, list(infeasible.problem.constraints)
    rule, rules[place] = rules[place].text, threshold.rest
    free = replace(infeasible.problem, constraints=tuple(rules))
    rows, least = _meeting(free, threshold)
    values = threshold.quantity.value(free.describe(rows))
    value = float(values[np.abs(values - threshold.value).argmin()]) if len(rows) else math.nan
    if not math.isfinite(value):
        return None
    up, beyond = value > threshold.value, threshold.strict
    texts = thresholds.candidates(value, name, up=up, beyond=beyond)
    texts = [units.exact_text(value, name)] if threshold.up and threshold.down else texts
    path = f"constraints.{place}"
    first = _first_solved(infeasible, path, texts, threshold.text)
    if first is None:
        return None
    return Repair(
        path=path,
        written=threshold.text(first[0]),
        name=name,
        nominal=threshold.value,
        value=units.parse(first[0], name),
        constraints=(rule,),
        violated=(rule,),
        least=least,
        **_admitted(first[1]),
    )


def _meeting(free: Problem, threshold: ConstraintThreshold) -> tuple[Index, bool]:
    """Return designs (n, d) that meet all but a bound, and whether the nearest is among them.

    All of a small space, else the best if the bound is of one quantity, else any.
    """
    if free.size <= LISTED:
        rows = np.vstack([as_index(one_block(free.sizes)), free.hosts])
        return rows[free.evaluate(rows).feasible], True
    goal = goal_of(free, threshold)
    with suppress(TooLargeError):
        if goal is not None:
            best = search.run_search(replace(free, goals=(goal,)), _EXACT)
            if best.exact:
                return best.front_index, True
    design = any_design(free)
    return free.hosts[:0] if design is None else design, False


_EXACT = search.SearchSettings(method="exact")


def _first_solved(
    base: Study, path: str, texts: Sequence[str], written: Callable[[str], str] = str
) -> tuple[str, Solved] | None:
    """Return the first text of a number with which a study has a design, and that design."""
    for text in texts:
        with suppress(TooLargeError):
            changed = _changed_study(base, path, written(text))
            outcome = None if changed is None else search.run_search(changed.problem, _EXACT)
            if changed is not None and outcome is not None and outcome.feasible:
                order = changed.preference.order(changed.problem, outcome.front_index)
                return text, (changed, outcome.front_index[order[:1]])
    return None


def _changed_study(infeasible: Study, path: str, written: str) -> Study | None:
    """Return the study with another field or constraint, or None if that is an error."""
    try:
        changed = override(infeasible.document, [(path, as_yaml(written))])
        return study.prepare(changed, infeasible)
    except DseError:
        return None


def _admitted(solved: Solved) -> dict[str, Any]:
    """Return the design that a repair admits and its limit, as fields of a `Repair`."""
    problem, index = solved[0].problem, solved[1]
    modelled = not is_evaluated(solved[0].document)  # measured texts limit nothing
    category = tables.category(problem) if modelled else None
    limit = str(tables.design_table(problem, index)[category][0]) if category is not None else ""
    return {"design": described(problem, index)[0], "limit": limit}


@dataclass(frozen=True)
class Field:
    """A field of the study that may change, and the column that it sets.

    Attributes
    ----------
    path, column, unit
        The field, its column, and its declaration.
    more
        True if larger values are looser.
    rules
        Requirements that this relaxes.
    """

    path: str
    column: str
    unit: Unit
    more: bool
    rules: tuple[str, ...] = ()

    def tightest(self, problem: Problem) -> float | None:
        """Return the tightest of the study's values, or None if none limits."""
        return self._outermost(problem.space.values(self.column), loosest=False)

    def nominal(self, problem: Problem, value: float) -> float:
        """Return the value of the study just short of another."""
        values = problem.space.values(self.column)
        short = values[(values <= value) if self.more else (values >= value)]
        return self._outermost(short, loosest=True) or self.tightest(problem) or math.nan

    def _outermost(self, values: Any, *, loosest: bool) -> float | None:
        finite = values[np.isfinite(values) & (values > 0)]
        if not len(finite):
            return None
        return float(finite.max() if self.more == loosest else finite.min())

    def short_of(self, value: float) -> float:
        """Return a value a little tighter."""
        if self.unit.integer:
            return value - 1.0 if self.more else value + 1.0
        return value * (1.0 - _SHORT if self.more else 1.0 + _SHORT)

    def of(self, found: Study) -> Assumption | None:
        """Return the field as an assumption of a study that gives it one value."""
        every = assumptions_of(found, designs=False)
        own = (a for a in every if a.quantity == self.column and not a.touched and not a.bound)
        return next(own, None)


def _fields(infeasible: Study) -> list[Field]:
    """Return the fields that may admit a design, with the requirements that they relax."""
    problem = infeasible.problem
    found: dict[tuple[str, bool], Field] = {}
    used = _STAGE_FIELDS.union(*(step.arguments for step in problem.graph.steps))
    for requirement in problem.bound_requirements:
        used |= set(sum(argument_names(requirement), ()))
    for named, more, rule in _loosenings(problem, used):
        column = OFFERED if named == RATE and OFFERED in problem.space.constants else named
        path = field_path(column)
        unit = FIELDS.get(path)
        if unit is None or named not in used or not is_owned(infeasible.document, path):
            continue
        if _is_sole(problem, unit, column):
            field = found.get((column, more), Field(path, column, unit, more))
            rules = (*field.rules, *filter(None, [rule]))
            found[column, more] = replace(field, rules=rules)
    return [*found.values()]


def _loosenings(problem: Problem, used: Collection[str]) -> Iterator[tuple[str, bool, str]]:
    """Yield columns, whether more of them is looser, and the requirement that this relaxes.

    A free choice may also help, in either direction, to meet a constraint of the study.
    """
    for requirement in problem.bound_requirements:
        for column in requirement.relaxed_by_less:
            yield column, False, requirement.rule
        for column in requirement.relaxed_by_more:
            yield column, True, requirement.rule
    for column in sorted(column for column in used if field_path(column) in FREE):
        yield column, False, ""
        yield column, True, ""


def _is_sole(problem: Problem, unit: Unit, column: str) -> bool:
    """Return whether no other column sets its field, such as a latency per byte."""
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
    now, unit = field.tightest(infeasible.problem), field.unit
    if now is None:
        return None
    exact = f"{now:.0f} {units.label(field.column)}".rstrip()
    exact = exact if unit.integer else units.exact_text(now, field.column)
    single = _changed_study(infeasible, field.path, exact)
    entry = None if single is None else field.of(single)
    if entry is None:
        return None
    value, least = _first_feasible(infeasible, entry, limits_of(entry, _FACTOR)[field.more])
    if value is None:
        return None
    whole = unit.integer or ("counts" in unit.kind and now.is_integer())
    for share in _BEYOND:
        further = value * (1.0 + share if field.more else 1.0 - share)
        texts = thresholds.candidates(further, field.column, up=field.more, whole=whole)
        first = _first_solved(infeasible, field.path, texts)
        if first is not None:
            return _confirmed(infeasible, field, first, least=least and not share)
    return None


def _first_feasible(
    infeasible: Study, entry: Assumption, limit: float
) -> tuple[float | None, bool]:
    """Return the first value up to a limit at which some design is feasible, and if it is proven.

    The values go ever further from the present one, since a design may be feasible in between only.
    """
    question = Question(infeasible.preference, feasible=True)
    low, high = sorted((entry.value, limit))
    line = Line(entry, question, infeasible.settings, (low, high))
    nothing = AnswerDesigns(frozenset(), line.pool[:0])
    every = line.steps and line.space.size <= _EVERYWHERE
    if every:
        designs = as_index(one_block(line.space.sizes))
        line.spans = [(low, high, np.vstack([designs, entry.problem.hosts]))]
    near, least = entry.value, True
    for far in _rungs(entry, limit):
        if not every and line.space.size <= LISTED:
            ends, none = sorted((near, far)), np.empty((0, len(entry.problem.goals)))
            bound_rivals([(line, Span(entry, ends[0], ends[1], none, None), nothing.rows)])
        (found,) = follow([(line, nothing, near, far)])
        least = least and found.limited != TOO_MANY
        if found.outside is not None or (found.limited and least):
            return found.outside, least
        near = far if least else near  # a value further out may still be known
    if not least:
        raise TooLargeError(TOO_MANY)
    return None, True


def _rungs(entry: Assumption, limit: float) -> list[float]:
    """Return values ever further from the present one, the last at the limit."""
    value = entry.value
    factors = 1.0 + np.geomspace(_FIRST, _FACTOR, _RUNGS)
    values = value * factors if limit > value else value / factors
    values = np.round(values) if entry.integer else values
    low, high = sorted((value, limit))
    inside = [one for one in values.tolist() if low < one < high]
    return [*dict.fromkeys([*inside, limit])] if limit != value else []


def _confirmed(
    infeasible: Study, field: Field, first: tuple[str, Solved], *, least: bool
) -> Repair:
    """Return the repair by the text of a value that admits a design."""
    text, (changed, design) = first
    value, entry, names = units.parse(text, field.column), field.of(changed), ()
    if entry is not None and least:
        short = entry.at(field.short_of(value))
        violated = short.evaluate(design).violation[0] > 0
        names = tuple(np.array(short.constraint_names, dtype=object)[violated])
    return Repair(
        path=field.path,
        written=text,
        name=field.column,
        nominal=field.nominal(infeasible.problem, value),
        value=value,
        constraints=field.rules,
        violated=names,
        least=least,
        **_admitted((changed, design)),
    )

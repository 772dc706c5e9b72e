"""Why no design of a study is feasible, and the least change of one number that admits one.

A bound moves to the nearest value of its quantity.  A field moves to the breakpoint of no answer,
the first value at which some design is feasible.  Every repair was tried: the study with that one
change has the named design.
"""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dse import search
from dse.algebra import thresholds, units
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import DseError, InfeasibleError, NothingFoundError, TooLargeError
from dse.files.document import Document
from dse.model import tables
from dse.model.evaluation import Goal, distinct
from dse.model.problem import Problem
from dse.model.space import ALONE, Index, as_index, one_block
from dse.parametric.breakpoints import LISTED, TOO_MANY, Line, find_rivals, follow
from dse.parametric.question import AnswerDesigns, Question, goal_of, limits_of
from dse.reports.designs import described
from dse.reports.text import (
    change,
    hanging,
    in_words,
    listed,
    pairs,
    paragraph,
    relative_change,
    unit_suffix,
    violation_text,
    zero_bound,
)
from dse.runs.runner import ENUMERABLE, Run, SolvedStudy
from dse.search import Outcome, Stop
from dse.search.conflicts import any_design, with_conflicts
from dse.search.exact.work import EffortError, left_s, limited, spend
from dse.search.settings import Budget
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of
from dse.study.demand import OFFERED
from dse.study.overrides import is_evaluated, is_owned, override
from dse.study.schema import FIELDS
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

_MOST_SEARCHED = 200_000_000
"""Largest space without composition in which changes are tried."""

_MOST_BOUNDS, _MOST_CONFLICTS = 4, 5
"""Number of quantities above which fronts take too long, and most conflicts in the text."""

_SHARE = 0.1
"""Share of the remaining time for one change."""

_FACTOR, _CORES = 1_000.0, 10.0
"""Largest factor by which a field may change, and by which the cores of the host may.

Larger changes are no remedies.
"""

_RUNGS = 13
"""Number of values of a field that are searched one after the other, the present one included."""

_BEYOND = (0.0, 1e-4, 1e-3, 1e-2)
"""Shares by which a number moves further if it fails as written."""

_EVERYWHERE = 512
"""Largest space whose designs are all compared along a number with steps."""

_EXACT = search.SearchSettings(method="exact")

Said = tuple[list[str], dict[str, Any]]
"""Lines of text, and plain data."""

# What bounds need, and the nearest design ----------------------------------------------------


Needed = tuple[dict[str, ConstraintThreshold], list[float], Index]
"""Bounds by their constraints, the best value of each quantity alone, and designs (n, d) of all."""


def needed_by(problem: Problem) -> Needed | None:
    """Return the necessary bounds of a problem's constraints on single quantities.

    None without such constraints, with more than `_MOST_BOUNDS`, if no design meets the others, if
    that takes too long, and for measured designs.
    """
    bounds, goals = dict[str, ConstraintThreshold](), dict[Goal, None]()
    for constraint in problem.constraints:
        found = thresholds.thresholds_of(constraint)
        goal = goal_of(problem, found[0]) if len(found) == len(constraint.names) == 1 else None
        if goal is not None:
            bounds[constraint.text], goals[goal] = found[0], None
    if not 0 < len(goals) <= _MOST_BOUNDS or problem.beforehand is not None:
        return None
    rest = tuple(rule for rule in problem.constraints if rule.text not in bounds)
    others = [place for place, name in enumerate(problem.constraint_names) if name not in bounds]
    met = (problem.evaluate(problem.hosts).violation[:, others] <= 0).all(axis=1)
    relaxed = replace(problem, goals=tuple(goals), constraints=rest, beside=False)
    with suppress(TooLargeError):
        outcome = search.run_search(relaxed, _EXACT)
        rows = np.vstack([outcome.front_index, problem.hosts[met]])
        columns = problem.describe(rows)
        values = np.column_stack([columns[bound.name] for bound in bounds.values()])
        known = np.isfinite(values).all(axis=1)
        if outcome.exact and known.any():
            best = np.where(
                [bound.down for bound in bounds.values()],
                values[known].max(axis=0),
                values[known].min(axis=0),
            )
            return bounds, best.tolist(), rows[known]
    return None


def _needed_text(bounds: dict[str, ConstraintThreshold], best: Sequence[float]) -> str:
    parts = [
        f"at {'most' if bound.down else 'least'} "
        f"{units.show(value, bound.name)} of {in_words(bound.name)}"
        for bound, value in zip(bounds.values(), best, strict=True)
    ]
    each = ", each on its own" if len(parts) > 1 else ""
    return f"without these bounds the study takes {listed(parts)}{each} (proven)"


def _near(problem: Problem, outcome: Outcome, nearest: Index) -> Said:
    """Return the necessary bounds, the nearest design, and the host alone if that is another."""
    need = needed_by(problem)
    tried = np.vstack([outcome.sample_index, nearest[np.newaxis]])
    point = _nearest(problem, distinct(tried) if need is None else need[2])
    (violation,) = problem.evaluate(point).violation.tolist()
    (design,) = described(problem, point)
    violations = dict(zip(problem.constraint_names, violation, strict=True))
    facts: dict[str, Any] = {"nearest_design": design, "violations": violations}
    lines = []
    if need is not None:
        facts["needed"] = dict(zip(need[0], need[1], strict=True))
        lines.append(paragraph(_needed_text(*need[:2]), "  "))
    some = " of those tried" * (outcome.certificate.way == "composed" and need is None)
    lines.append(hanging(f"nearest design{some}", *described(problem, point, people=True)))
    lines.append(pairs((f"  {rule}", text) for rule, text in _missed(problem, violation)))
    hosts = problem.evaluate(problem.hosts).violation
    if len(hosts) and not design.startswith(ALONE):
        best = hosts[np.maximum(hosts, 0.0).max(axis=1).argmin()].tolist()
        texts = (f"{rule}: {text}" for rule, text in _missed(problem, best))
        lines.append(hanging(ALONE, "; ".join(texts)))
    return lines, facts


def _missed(problem: Problem, violation: Sequence[float]) -> Iterator[tuple[str, str]]:
    """Yield the constraints that a design misses, with its violation in words."""
    for rule, by in zip(problem.constraint_names, violation, strict=True):
        if not by <= 0:
            yield rule, violation_text(by, rule)


def _nearest(problem: Problem, rows: Index) -> Index:
    """Return the one of designs (n, d) that misses constraints by the least relative sum.

    Designs with instances, and the host alone, come before empty ones.  A violation of a bound of 0
    is relative to the largest.
    """
    if problem.stages:
        some = np.array([bool(made) for made in problem.counts(rows)]) | (rows < 0).any(axis=1)
        rows = rows[some] if some.any() else rows
    missed = np.maximum(np.nan_to_num(problem.evaluate(rows).violation, nan=np.inf), 0.0)
    for place, rule in enumerate(problem.constraint_names):
        most = missed[np.isfinite(missed[:, place]), place].max(initial=0.0)
        if zero_bound(rule) is not None and most > 0:
            missed[:, place] /= most
    return rows[[int(missed.sum(axis=1).argmin())]]


# Repairs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repair:
    """A change of a number that makes a study feasible: its dotted path, and the new value.

    The suffix of `name` is the unit of its present and its new value.  `found` is the study with
    the change, and the preferred design that it admits, (1, d).  No nearer number does so if this
    is the `least`.  `constraint` is the one whose bound it is, or nothing.
    """

    path: str
    written: str
    name: str
    nominal: float
    value: float
    found: tuple[Study, Index]
    least: bool
    constraint: str = ""

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

    @property
    def limit(self) -> str:
        """The limit of the design by the study's labels, or nothing."""
        problem, index = self.found[0].problem, self.found[1]
        modelled = not is_evaluated(self.found[0].document)  # measured texts limit nothing
        category = tables.category(problem) if modelled else None
        return "" if category is None else str(tables.design_table(problem, index)[category][0])

    def lines(self, number: int, document: Document) -> Iterator[str]:
        """Yield the change with the design that it admits, and its option of a command.

        Earlier options that it replaces are named.
        """
        now = units.show(self.nominal, self.name)
        by = change(self.value, self.nominal, than=now) or f"instead of {now}"
        field, text = self.path.removeprefix("stages."), self.written
        if not self.constraint:
            text = f"{self.path} at {'least' if self.value > self.nominal else 'most'} {text}"
        (design,) = described(self.found[0].problem, self.found[1], people=True)
        text = f"{text} ({by}): {design}"
        if self.limit and not self.constraint:
            text += f" ({self.limit}-bound)"
        text += "" if self.least else "; less of a change may do"
        yield paragraph(f"  {number}. {text}", "     ")
        option = f"--set {_quoted(f'{self.path}={_as_yaml(self.written)}')}"
        before = [pair for pair in document.overrides if pair[0].removeprefix("stages.") == field]
        replaced = listed([f"{path}={text}" for path, text in before])
        yield f"     {option}" + (f", in place of {replaced}" if replaced else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        relative = relative_change(self.value, self.nominal)
        return {
            "set": self.path,
            "to": self.written,
            "overrides": {self.path: _as_yaml(self.written)},
            "design": described(self.found[0].problem, self.found[1])[0],
            "limit": self.limit,
            f"nominal{unit_suffix(self.name)}": self.nominal,
            f"value{unit_suffix(self.name)}": self.value,
            "relative": math.inf if relative is None else abs(relative),
            "least": self.least,
        }


def _quoted(text: str) -> str:
    """Return a word of a command line, in double quotes if these suffice."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def _as_yaml(text: str) -> str:
    return json.dumps(text) if text[0] in "'\"[{&*!|>%@`-" else text


def repairs_of(infeasible: Study) -> tuple[list[Repair], list[str]]:
    """Return the numbers of a study that would admit a design, the smallest change first.

    Also the names of changes that were too much work.
    """
    changes: list[tuple[str, Callable[[], Repair | None]]] = [
        (f"another bound of {rule.text}", partial(_bound_repair, infeasible, place, threshold))
        for place, rule in enumerate(infeasible.problem.constraints)
        for threshold in thresholds.thresholds_of(rule)
    ]
    changes += [
        (path, partial(_field_repair, infeasible, path, column, more))
        for path, column in fields_of(infeasible).items()
        for more in (False, True)
    ]
    found, untried = list[Repair](), dict[str, None]()
    for name, tried in changes:
        try:
            with limited(seconds=_SHARE * left_s()):
                repair = tried()
                found += [] if repair is None else [repair]
        except TooLargeError:
            with suppress(EffortError):
                spend(0)  # the end of the whole explanation is reported once
                untried[name] = None
        except DseError:
            pass  # a model that fails or overflows with it admits nothing
    least: dict[tuple[str, str], Repair] = {}
    for repair in sorted(found, key=lambda repair: repair.order):
        least.setdefault((repair.path, repair.written), repair)  # from either end of an axis
    return [*least.values()], [*untried]


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
    for text in texts:
        found = _solved(infeasible, path, threshold.text(text))
        if found is not None:
            written, shown = threshold.text(text), units.parse(text, name)
            return Repair(path, written, name, threshold.value, shown, found, least, rule)
    return None


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


def _solved(infeasible: Study, path: str, written: str) -> tuple[Study, Index] | None:
    """Return a study with another number, and its preferred design, or None without one."""
    changed = _changed(infeasible, path, written)
    with suppress(TooLargeError):
        outcome = None if changed is None else search.run_search(changed.problem, _EXACT)
        if changed is not None and outcome is not None and outcome.feasible:
            return changed, changed.preference.first(changed.problem, outcome.front_index)
    return None


def _changed(infeasible: Study, path: str, written: str) -> Study | None:
    """Return the study with another number, or None if that is an error."""
    try:
        changed = override(infeasible.document, [(path, _as_yaml(written))])
        return study.prepare(changed)
    except DseError:
        return None


def _limiting(problem: Problem, column: str, *, more: bool = True) -> list[float]:
    """Return the finite values of a column above 0, the tightest first if `more` is looser."""
    values = problem.space.values(column)
    return sorted(values[np.isfinite(values) & (values > 0)].tolist(), reverse=not more)


def fields_of(infeasible: Study) -> dict[str, str]:
    """Return the fields of a study that may change, each with the only column that it sets.

    Setting a field with two, such as a latency with a part per byte, would also remove one.
    """
    problem, found = infeasible.problem, dict[str, str]()
    for path, unit in FIELDS.items():
        given = [column for column in unit.columns if _limiting(problem, column)]
        given = [column for column in given if column == OFFERED] or given
        if len(given) == 1 and is_owned(infeasible.document, path):
            found[path] = given[0]
    return found


def _own_number(infeasible: Study, path: str, now: str, column: str) -> Assumption | None:
    """Return the only number that a field sets, or None."""
    single = _changed(infeasible, path, now)
    known = () if single is None else assumptions_of(single, designs=False)
    return next((a for a in known if a.quantity == column and not (a.touched or a.bound)), None)


def _field_repair(infeasible: Study, path: str, column: str, more: bool) -> Repair | None:
    """Return the least change of a field to one side that admits a design, tried in the study."""
    unit, given = FIELDS[path], _limiting(infeasible.problem, column, more=more)
    now = f"{given[0]:.0f} {units.label(column)}".rstrip()
    now = now if unit.integer else units.exact_text(given[0], column)
    entry = _own_number(infeasible, path, now, column)
    value, least = (None, True) if entry is None else _first_feasible(infeasible, entry, more=more)
    if value is None:
        return None
    whole = unit.integer or ("counts" in unit.kind and given[0].is_integer())
    for share in _BEYOND:
        further = value * (1.0 + share if more else 1.0 - share)
        for text in thresholds.candidates(further, column, up=more, whole=whole):
            found, shown = _solved(infeasible, path, text), units.parse(text, column)
            if found is not None:
                short = [one for one in given if (one - shown) * (1 if more else -1) <= 0]
                nominal = (short or given[:1])[-1]
                return Repair(path, text, column, nominal, shown, found, least and not share)
    return None


def _first_feasible(
    infeasible: Study, entry: Assumption, *, more: bool
) -> tuple[float | None, bool]:
    """Return the first value at which some design is feasible, and whether that is proven.

    The values go ever further from the present one, since a design may be feasible in between only.
    """
    limit = limits_of(entry, _CORES if entry.name.endswith(".host_cores") else _FACTOR)[more]
    low, high = sorted((entry.value, limit))
    line = Line(entry, Question(infeasible.preference, feasible=True), _EXACT, (low, high))
    nothing = AnswerDesigns(frozenset(), line.pool[:0])
    every = line.steps and line.space.size <= _EVERYWHERE
    if every:
        designs = as_index(one_block(line.space.sizes))
        line.spans = [(low, high, np.vstack([designs, entry.problem.hosts]))]
    near, least = entry.value, True
    for far in line.scale.values(near, limit, _RUNGS)[1:]:
        if not every and line.space.size <= LISTED:
            find_rivals([(line, min(near, far), max(near, far), nothing.rows)])
        found = follow(line, nothing, near, far)
        least = least and found.limited != TOO_MANY
        if found.flips_at is not None or (found.limited and least):
            return found.flips_at, least
        near = far if least else near  # a value further out may still be known
    if not least:
        raise TooLargeError(TOO_MANY)
    return None, True


# The explanation --------------------------------------------------------------------------------


def explain_infeasible(
    infeasible: Study, outcome: Outcome, *, seconds: float, stop: Stop | None = None
) -> tuple[str, dict[str, Any]]:
    """Return why no design is feasible and the remedies, as text and as plain data.

    A small space is searched again in full after a heuristic.  The explanation ends after `seconds`
    of CPU time, or at a `stop`.
    """
    with limited(seconds=seconds, stop=stop) as work:
        text, facts = _explained(infeasible, outcome)
    if not work.ended:
        return text, facts
    missing = f"not all changes that may admit a design were tried: {work.ended}"
    return f"{text}\n{missing}", facts | {"unfinished": missing}


def _explained(infeasible: Study, outcome: Outcome) -> tuple[str, dict[str, Any]]:
    problem, tried = infeasible.problem, outcome.evaluated
    outcome = _searched_whole(problem, outcome)
    if outcome.feasible:
        example = described(problem, outcome.front_index[:1])[0]
        facts = {"feasible": outcome.feasible, "evaluated": tried, "example": example}
        return (
            f"none of the {tried:,} designs evaluated is feasible, but others are, for "
            f"instance {example}; search with method exact, or with a larger budget"
        ), facts
    composed = outcome.certificate.way == "composed"
    conflicts = outcome.conflicts()
    facts = {
        "feasible": 0,
        "designs": problem.whole_size,
        "evaluated": outcome.evaluated + (outcome.reference_evaluations if composed else 0),
        "pruned": outcome.certificate.infeasible,
        "exact": outcome.exact,
        "conflicts": [list(conflict) for conflict in conflicts],
    }
    if outcome.nearest_index is None:
        if outcome.exact:
            return "no feasible design", facts
        missing = f"not every design was tried: {outcome.certificate.reason}"
        unfinished = {"unfinished": missing, "repairs": []}
        return f"no feasible design was found; {missing}", facts | unfinished
    near, near_facts = _near(problem, outcome, outcome.nearest_index)
    known = composed or (outcome.ledger.settled and problem.size <= _MOST_SEARCHED)
    untried = "changes that would admit a design were not looked for: too much work"
    repairs, repair_facts = _repairs(infeasible, conflicts) if known else ([untried], {})
    headline = _headline(infeasible, outcome, near_facts["violations"], known=known)
    lines = [headline, *near, *_conflict_lines(conflicts), *repairs]
    return "\n".join(filter(None, lines)), facts | near_facts | repair_facts


def _searched_whole(problem: Problem, outcome: Outcome) -> Outcome:
    """Return the outcome of an exact search of a small space that only a heuristic has searched.

    The outcome of a composed space gets its conflicts.
    """
    with suppress(TooLargeError):
        if outcome.certificate.way == "sampled" and problem.size <= ENUMERABLE:
            outcome = search.run_search(problem, _EXACT)
        if outcome.certificate.way == "composed" and not outcome.feasible:
            outcome = with_conflicts(problem, outcome)
    return outcome


def _headline(
    infeasible: Study, outcome: Outcome, violations: dict[str, float], *, known: bool
) -> str:
    """Return the first line.  It notes if designs are not `known`, or were not in the space."""
    problem, line = infeasible.problem, "no feasible design"
    if outcome.certificate.way == "composed":
        size = problem.size + len(problem.hosts)
        line += f": all {f'{size:,}' if size < 1e15 else f'{size:.3g}'} pruned by bounds"
    elif not known:
        line += f" among the {outcome.evaluated:,} evaluated"
    missed = {rule for rule, by in violations.items() if not by <= 0}
    bounds_alone = missed <= {rule.text for rule in problem.constraints}
    if known and bounds_alone and COMPUTE_ALONE in infeasible.notes:
        line += " with the least instances that carry the rate; more were not tried"
    return line + (f"; {outcome.ledger.but}" if outcome.ledger.but else "")


def _conflict_lines(conflicts: Sequence[Sequence[str]]) -> Iterator[str]:
    for conflict in conflicts[:_MOST_CONFLICTS]:
        together = " together" if len(conflict) > 1 else ""
        yield hanging(f"no design meets{together}", listed(conflict))
    if len(conflicts) > _MOST_CONFLICTS:
        yield f"and {len(conflicts) - _MOST_CONFLICTS} larger sets in conflict"


def _repairs(infeasible: Study, conflicts: Sequence[Sequence[str]]) -> Said:
    """Return the changes that would admit a design, as lines and as plain data."""
    repairs, untried = repairs_of(infeasible)
    relaxed = {repair.constraint for repair in repairs}
    rules = dict.fromkeys(rule for conflict in conflicts for rule in conflict)
    own = [rule.text for rule in infeasible.problem.constraints]
    helpless = [rule for rule in rules if rule in own and rule not in relaxed]
    first = "any one of these changes makes the study feasible, the smallest first:"
    lines = [first] * bool(repairs)
    for number, repair in enumerate(repairs, 1):
        lines += repair.lines(number, infeasible.document)
    if untried:
        lines.append(hanging("not tried, as that is too much work", listed(untried)))
    lines += [hanging("relaxing one bound alone does not help", rule) for rule in helpless]
    facts = {"repairs": [repair.to_dict() for repair in repairs], "untried": untried}
    return lines, facts | {"no_repair": helpless}


def require_feasible(
    answer: SolvedStudy,
    where: str = "",
    stop: Stop | None = None,
    budget: Budget | None = None,
) -> None:
    """Raise `InfeasibleError` if a study has no feasible design, with reasons and remedies.

    The message begins with `where`, such as a value of a sweep.  The explanation takes the rest of
    a budget, or of the study's effort.
    """
    if not answer.outcome.feasible:
        whole = budget or Budget(start_s=time.process_time() - answer.seconds)
        left = whole.within(answer.study.settings).left_s
        text, facts = explain_infeasible(answer.study, answer.outcome, seconds=left, stop=stop)
        raise InfeasibleError(where + text, facts)


def require_any_feasible(run: Run, stop: Stop | None = None, budget: Budget | None = None) -> None:
    """Raise `InfeasibleError` if no design is feasible, at any value of a sweep.

    After an interrupt that is unknown, and the error is a `NothingFoundError`.  A `stop` may end
    the search for remedies.
    """
    if run.feasible:
        return
    if run.interrupted:
        evaluated = sum(answer.outcome.evaluated for answer in run.answers)
        none = "interrupted before any designs were compared"
        if evaluated:
            none = f"interrupted: none of the {evaluated:,} designs evaluated so far is feasible"
        raise NothingFoundError(f"{none}; no front is written")
    where, sweep = "", run.sweep
    if sweep:
        value = sweep.values[0]
        shown = value if isinstance(value, str) else units.show(value, sweep.column)
        where = f"at {sweep.path} = {shown}: "
    require_feasible(run.answers[0], where, stop, budget)

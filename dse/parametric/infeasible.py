"""The reasons why no design is feasible, and the remedies, as text and as plain data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.errors import InfeasibleError, NothingFoundError, TooLargeError
from dse.model.evaluation import Goal, distinct
from dse.model.problem import Problem
from dse.model.space import ALONE, Index
from dse.parametric.question import goal_of
from dse.reports.designs import described
from dse.reports.text import hanging, in_words, listed, pairs, paragraph, violation_text, zero_bound
from dse.runs.limits import ENUMERABLE
from dse.runs.solved import Run, SolvedStudy
from dse.search import Outcome, Stop
from dse.search.conflicts import with_conflicts
from dse.search.exact.work import limited
from dse.search.settings import Budget
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

_MOST_SEARCHED = 200_000_000
"""Largest space without composition in which changes are tried."""

_MOST_BOUNDS = 4
"""Number of quantities above which fronts take too long."""

_MOST_CONFLICTS = 5
"""Most conflicts in the text.  The facts have all."""

Said = tuple[list[str], dict[str, Any]]
"""Lines of text, and plain data."""


@dataclass(frozen=True)
class Needed:
    """The designs that trade bounded quantities off.

    Attributes
    ----------
    bounds
        Each bound with the constraint of which it is the only one.
    values, rows
        Values of their quantities (n, bounds), and the designs (n, d).
    """

    bounds: tuple[tuple[str, ConstraintThreshold], ...]
    values: NDArray[np.float64]
    rows: Index

    @property
    def best(self) -> list[float]:
        """The best value of each quantity, independent of the others."""
        pairs = zip(self.bounds, self.values.T, strict=True)
        return [float(v.max() if bound.down else v.min()) for (_, bound), v in pairs]

    def sentence(self) -> str:
        """Return the necessary bounds in words."""
        parts = [
            f"at {'most' if bound.down else 'least'} "
            f"{units.show(value, bound.name)} of {in_words(bound.name)}"
            for (_, bound), value in zip(self.bounds, self.best, strict=True)
        ]
        each = ", each on its own" if len(parts) > 1 else ""
        return f"without these bounds the study takes {listed(parts)}{each} (proven)"


def needed_by(problem: Problem) -> Needed | None:
    """Return the necessary bounds of a problem's constraints on single quantities.

    None without such constraints, with more than `_MOST_BOUNDS`, if no design meets the others, if
    that takes too long, and for measured designs.
    """
    bounds = dict(_bounds(problem))
    goals = tuple(dict.fromkeys(goal for _, goal in bounds.values()))
    if not 0 < len(goals) <= _MOST_BOUNDS or problem.beforehand is not None:
        return None
    rest = tuple(rule for rule in problem.constraints if rule.text not in bounds)
    relaxed = replace(problem, goals=goals, constraints=rest, beside=False)
    outcome = None
    with suppress(TooLargeError):
        outcome = search.run_search(relaxed, search.SearchSettings(method="exact"))
    if outcome is None or not outcome.exact:
        return None
    others = [place for place, name in enumerate(problem.constraint_names) if name not in bounds]
    met = problem.evaluate(problem.hosts).violation[:, others] <= 0
    rows = np.vstack([outcome.front_index, problem.hosts[met.all(axis=1)]])
    columns = problem.describe(rows)
    values = np.column_stack([columns[bound.name] for bound, _ in bounds.values()])
    known = np.isfinite(values).all(axis=1)
    found = tuple((rule, bound) for rule, (bound, _) in bounds.items())
    return Needed(found, values[known], rows[known]) if known.any() else None


def _bounds(problem: Problem) -> Iterator[tuple[str, tuple[ConstraintThreshold, Goal]]]:
    """Yield constraints with one bound of one quantity, their bound, and its goal."""
    for constraint in problem.constraints:
        found = thresholds_of(constraint)
        goal = goal_of(problem, found[0]) if len(found) == len(constraint.names) == 1 else None
        if goal is not None:
            yield constraint.text, (found[0], goal)


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
        return _overlooked(problem, tried, outcome)
    composed = outcome.certificate.way == "composed"
    conflicts = outcome.conflicts()
    facts: dict[str, Any] = {
        "feasible": 0,
        "designs": problem.whole_size,
        "evaluated": outcome.evaluated + (outcome.reference_evaluations if composed else 0),
        "pruned": outcome.certificate.infeasible,
        "exact": outcome.exact,
        "conflicts": [list(conflict) for conflict in conflicts],
    }
    if outcome.nearest_index is None or outcome.nearest_violation is None:
        if outcome.exact:
            return "no feasible design", facts
        missing = f"not every design was tried: {outcome.certificate.reason}"
        unfinished = {"unfinished": missing, "repairs": []}
        return f"no feasible design was found; {missing}", facts | unfinished
    near, near_facts = _near(problem, outcome, outcome.nearest_index)
    known = composed or (outcome.ledger.settled and problem.size <= _MOST_SEARCHED)
    untried = "changes that would admit a design were not looked for: too much work"
    repairs, repair_facts = _repairs(infeasible, conflicts) if known else ([untried], {})
    few = known and _are_least(infeasible, near_facts["violations"])
    lines = [
        _headline(problem.size + len(problem.hosts), None if known else outcome.evaluated, composed)
        + " with the least instances that carry the rate; more were not tried" * few
        + (f"; {outcome.ledger.but}" if outcome.ledger.but else ""),
        *near,
        *_conflict_lines(conflicts),
        *repairs,
    ]
    return "\n".join(filter(None, lines)), facts | near_facts | repair_facts


def _searched_whole(problem: Problem, outcome: Outcome) -> Outcome:
    """Return the outcome of an exact search of a small space that only a heuristic has searched.

    The outcome of a composed space gets its conflicts.
    """
    with suppress(TooLargeError):
        if outcome.certificate.way == "sampled" and problem.size <= ENUMERABLE:
            outcome = search.run_search(problem, search.SearchSettings(method="exact"))
        if outcome.certificate.way == "composed" and not outcome.feasible:
            outcome = with_conflicts(problem, outcome)
    return outcome


def _overlooked(problem: Problem, tried: int, whole: Outcome) -> tuple[str, dict[str, Any]]:
    example = described(problem, whole.front_index[:1])[0]
    text = (
        f"none of the {tried:,} designs evaluated is feasible, but others are, for "
        f"instance {example}; search with method exact, or with a larger budget"
    )
    return text, {"feasible": whole.feasible, "evaluated": tried, "example": example}


def _near(problem: Problem, outcome: Outcome, nearest: Index) -> Said:
    """Return the necessary bounds, the nearest design, and the host alone if that is another."""
    need = needed_by(problem)
    tried = np.vstack([outcome.sample_index, nearest[np.newaxis]])
    point = _nearest(problem, distinct(tried) if need is None else need.rows)
    (violation,) = problem.evaluate(point).violation.tolist()
    (design,) = described(problem, point)
    violations = dict(zip(problem.constraint_names, violation, strict=True))
    facts: dict[str, Any] = {"nearest_design": design, "violations": violations}
    lines = []
    if need is not None:
        rules = (rule for rule, _ in need.bounds)
        facts["needed"] = dict(zip(rules, need.best, strict=True))
        lines.append(paragraph(need.sentence(), "  "))
    some = " of those tried" * (outcome.certificate.way == "composed" and need is None)
    lines.append(hanging(f"nearest design{some}", design))
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


def _are_least(infeasible: Study, violations: Mapping[str, float]) -> bool:
    """Return whether only as many instances as carry the rate were tried, and only bounds fail."""
    missed = {rule for rule, by in violations.items() if not by <= 0}
    own = {rule.text for rule in infeasible.problem.constraints}
    return COMPUTE_ALONE in infeasible.notes and missed <= own


def _headline(size: int, evaluated: int | None, composed: bool) -> str:
    """Return the first line.  `evaluated` is the number of known designs, if others are unknown."""
    if composed:
        number = f"{size:,}" if size < 1e15 else f"{size:.3g}"
        return f"no feasible design: all {number} pruned by bounds"
    return "no feasible design" + (f" among the {evaluated:,} evaluated" if evaluated else "")


def _conflict_lines(conflicts: Sequence[Sequence[str]]) -> Iterator[str]:
    for conflict in conflicts[:_MOST_CONFLICTS]:
        together = " together" if len(conflict) > 1 else ""
        yield hanging(f"no design meets{together}", listed(conflict))
    if len(conflicts) > _MOST_CONFLICTS:
        yield f"and {len(conflicts) - _MOST_CONFLICTS} larger sets in conflict"


def _repairs(infeasible: Study, conflicts: Sequence[Sequence[str]]) -> Said:
    """Return the changes that would admit a design, as lines and as plain data."""
    from dse.parametric.repairs import Attempts, repairs_of  # takes long

    attempts = Attempts(infeasible)
    repairs = repairs_of(attempts)
    relaxed = {rule for repair in repairs for rule in repair.constraints}
    rules = dict.fromkeys(rule for conflict in conflicts for rule in conflict)
    helpless = [rule for rule in rules if rule not in relaxed]
    lines = []
    if repairs:
        lines += ["any one of these changes makes the study feasible, the smallest first:"]
    for number, repair in enumerate(repairs, 1):
        known = rules if len(rules) == 1 else ()
        lines.append(paragraph(f"  {number}. {repair.sentence(known)}", "     "))
        lines.append(f"     {repair.command(infeasible.document)}")
    untried = list(dict.fromkeys(attempts.untried))
    if untried:
        lines.append(hanging("not tried, as that is too much work", listed(untried)))
    texts = [rule.text for rule in infeasible.problem.constraints]
    unhelpful = "relaxing one bound alone does not help"
    lines += [hanging(unhelpful, rule) for rule in helpless if rule in texts]
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

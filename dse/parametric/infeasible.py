"""Why no design meets every constraint and what would admit one, as text and as plain data."""

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
from dse.algebra.expression import Expression
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
from dse.study.overrides import Sweep
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

MOST_SEARCHED = 200_000_000
"""Designs of a space that is not composed, up to which changes are looked for."""

MOST_BOUNDS = 4
"""More quantities have fronts that take too long."""

MOST_CONFLICTS = 5
"""Most conflicts in the text; the facts hold all."""


@dataclass(frozen=True)
class Bound:
    """A constraint with one bound of one quantity: its place, the bound, and what is optimised."""

    place: int
    threshold: ConstraintThreshold
    goal: Goal


@dataclass(frozen=True)
class Needed:
    """The designs that trade the bounded quantities off: values (n, bounds) and rows (n, d)."""

    bounds: tuple[Bound, ...]
    values: NDArray[np.float64]
    rows: Index

    @property
    def best(self) -> list[float]:
        """The best value of each quantity, whatever the others are."""
        pairs = zip(self.bounds, self.values.T, strict=True)
        return [float(v.max() if bound.threshold.down else v.min()) for bound, v in pairs]

    def sentence(self) -> str:
        """Say what each bound would have to be at least."""
        parts = [
            f"at {'most' if bound.threshold.down else 'least'} "
            f"{units.show(value, bound.threshold.name)} of {in_words(bound.threshold.name)}"
            for bound, value in zip(self.bounds, self.best, strict=True)
        ]
        alone = ", each on its own" if len(parts) > 1 else ""
        return f"without these bounds the study takes {listed(parts)}{alone} (proven)"


def needed_by(problem: Problem) -> Needed | None:
    """Return what the bounds of a problem would have to be.

    None where it has none of a single quantity, more than `MOST_BOUNDS`, or no design without them,
    where that takes too long, and where designs are measured.
    """
    bounds = tuple(_bounds(problem))
    goals = tuple(dict.fromkeys(bound.goal for bound in bounds))
    if not 0 < len(goals) <= MOST_BOUNDS or problem.beforehand is not None:
        return None
    limited = [problem.constraints[bound.place] for bound in bounds]
    rest = tuple(rule for rule in problem.constraints if rule not in limited)
    relaxed = replace(problem, goals=goals, constraints=rest, beside=False)
    outcome = None
    with suppress(TooLargeError):
        outcome = search.run_search(relaxed, search.SearchSettings(method="exact"))
    if outcome is None or not outcome.exact:
        return None
    rows = np.vstack([outcome.front_index, _hosts_meeting(problem, limited)])
    columns = problem.describe(rows)
    values = np.column_stack([columns[bound.threshold.name] for bound in bounds])
    known = np.isfinite(values).all(axis=1)
    return Needed(bounds, values[known], rows[known]) if known.any() else None


def _hosts_meeting(problem: Problem, limited: Sequence[Expression]) -> Index:
    """Return the designs of the host alone, (n, d), that meet every constraint but some."""
    if not len(problem.hosts):
        return problem.hosts
    texts = {rule.text for rule in limited}
    others = [place for place, name in enumerate(problem.constraint_names) if name not in texts]
    violation = problem.evaluate(problem.hosts).violation
    found: Index = problem.hosts[(violation[:, others] <= 0).all(axis=1)]
    return found


def _bounds(problem: Problem) -> Iterator[Bound]:
    for place, constraint in enumerate(problem.constraints):
        found = thresholds_of(constraint)
        goal = goal_of(problem, found[0]) if len(found) == len(constraint.names) == 1 else None
        if goal is not None:
            yield Bound(place, found[0], goal)


def explain_infeasible(
    infeasible: Study, outcome: Outcome, *, seconds: float, stop: Stop | None = None
) -> tuple[str, dict[str, Any]]:
    """Return why no design is feasible and what would admit one, as text and as plain data.

    Spaces that can be enumerated are searched again in full when the search was a heuristic.  What
    is not known after `seconds` of CPU time, or when it is to stop, is not looked for.
    """
    with limited(seconds=seconds, stop=stop) as work:
        text, facts = _explained(infeasible, outcome)
    if not work.ended:
        return text, facts
    missing = f"not all changes that may admit a design were tried: {work.ended}"
    return f"{text}\n{missing}", facts | {"unfinished": missing}


def _explained(infeasible: Study, outcome: Outcome) -> tuple[str, dict[str, Any]]:
    problem = infeasible.problem
    whole = _searched_whole(problem, outcome)
    if whole.feasible:
        return _overlooked(infeasible, outcome, whole)
    outcome, composed = whole, whole.certificate.way == "composed"
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
    need = needed_by(problem)
    near, near_facts = _near(problem, outcome, outcome.nearest_index, need)
    known = composed or (outcome.ledger.settled and problem.size <= MOST_SEARCHED)
    repairs, repair_facts = (
        _repairs(infeasible, conflicts)
        if known
        else (["changes that would admit a design were not looked for: too much work"], {})
    )
    few = known and _are_least(infeasible, near_facts["violations"])
    lines = [
        _headline(problem.size + len(problem.hosts), None if known else outcome.evaluated, composed)
        + " with the least instances that carry the rate; more were not tried" * few
        + (f"; {outcome.ledger.but}" if outcome.ledger.but else ""),
        *near,
        *_host_lines(problem, near_facts["nearest_design"]),
        *_conflict_lines(conflicts),
        *repairs,
    ]
    return "\n".join(filter(None, lines)), facts | near_facts | repair_facts


def _searched_whole(problem: Problem, outcome: Outcome) -> Outcome:
    """Return what an exact search finds where a heuristic one found nothing and the space is small.

    That of a composed space with its conflicts.
    """
    with suppress(TooLargeError):
        if outcome.certificate.way == "sampled" and problem.size <= ENUMERABLE:
            outcome = search.run_search(problem, search.SearchSettings(method="exact"))
        if outcome.certificate.way == "composed" and not outcome.feasible:
            outcome = with_conflicts(problem, outcome)
    return outcome


def _near(
    problem: Problem, outcome: Outcome, nearest: Index, need: Needed | None
) -> tuple[list[str], dict[str, Any]]:
    """Return what bounds would have to be and the nearest design, as lines and as plain data."""
    tried = np.vstack([outcome.sample_index, nearest[np.newaxis]])
    point = _nearest(problem, distinct(tried) if need is None else need.rows)
    (violation,) = problem.evaluate(point).violation.tolist()
    violations = dict(zip(problem.constraint_names, violation, strict=True))
    (design,) = described(problem, point)
    facts: dict[str, Any] = {"nearest_design": design, "violations": violations}
    if need is not None:
        facts["needed"] = {
            problem.constraints[bound.place].text: value
            for bound, value in zip(need.bounds, need.best, strict=True)
        }
    composed = outcome.certificate.way == "composed"
    lines = [
        "" if need is None else paragraph(need.sentence(), "  "),
        hanging(f"nearest design{' of those tried' * (composed and need is None)}", design),
        pairs(
            (f"  {rule}", violation_text(by, rule))
            for rule, by in violations.items()
            if not by <= 0
        ),
    ]
    return lines, facts


def _nearest(problem: Problem, rows: Index) -> Index:
    """Return the one of designs (n, d) that misses constraints by the least sum, relatively.

    One with instances or the host alone, where there is any.  What misses a bound of 0 is relative
    to the most that a design misses it by.
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


def _host_lines(problem: Problem, nearest: str) -> Iterator[str]:
    """Yield what the host alone violates that comes nearest, unless that is the `nearest`."""
    found = problem.evaluate(problem.hosts).violation
    if len(found) and not nearest.startswith(ALONE):
        missed = found[np.maximum(found, 0.0).max(axis=1).argmin()].tolist()
        violated = zip(problem.constraint_names, missed, strict=True)
        texts = [f"{rule}: {violation_text(by, rule)}" for rule, by in violated if not by <= 0]
        yield hanging(ALONE, "; ".join(texts))


def _are_least(infeasible: Study, violations: Mapping[str, float]) -> bool:
    """Tell whether no more instances run than carry the rate, and only bounds are missed."""
    missed = {rule for rule, by in violations.items() if not by <= 0}
    own = {rule.text for rule in infeasible.problem.constraints}
    return COMPUTE_ALONE in infeasible.notes and missed <= own


def _headline(size: int, evaluated: int | None, composed: bool) -> str:
    """Return what was found; `evaluated` is how many designs where the others are not known."""
    if composed:
        number = f"{size:,}" if size < 1e15 else f"{size:.3g}"
        return f"no feasible design: all {number} pruned by bounds"
    return "no feasible design" + (f" among the {evaluated:,} evaluated" if evaluated else "")


def _conflict_lines(conflicts: Sequence[Sequence[str]]) -> Iterator[str]:
    for conflict in conflicts[:MOST_CONFLICTS]:
        together = " together" if len(conflict) > 1 else ""
        yield hanging(f"no design meets{together}", listed(conflict))
    if len(conflicts) > MOST_CONFLICTS:
        yield f"and {len(conflicts) - MOST_CONFLICTS} larger sets in conflict"


def _repairs(
    infeasible: Study, conflicts: Sequence[Sequence[str]]
) -> tuple[list[str], dict[str, Any]]:
    """Return what would admit a design, as lines and as plain data."""
    from dse.parametric.repairs import Attempts, repairs_of  # takes long

    attempts = Attempts(infeasible)
    repairs = repairs_of(attempts)
    relaxed = {rule for repair in repairs for rule in repair.constraints}
    rules = dict.fromkeys(rule for conflict in conflicts for rule in conflict)
    alone = [rule for rule in rules if rule not in relaxed]
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
    lines += [
        hanging("relaxing one bound alone does not help", rule) for rule in alone if rule in texts
    ]
    facts = {"repairs": [repair.to_dict() for repair in repairs], "untried": untried}
    return lines, facts | {"no_repair": alone}


def _overlooked(infeasible: Study, outcome: Outcome, whole: Outcome) -> tuple[str, dict[str, Any]]:
    example = described(infeasible.problem, whole.front_index[:1])[0]
    text = (
        f"none of the {outcome.evaluated:,} designs evaluated is feasible, but others are, for "
        f"instance {example}; search with method exact, or with a larger budget"
    )
    facts = {"feasible": whole.feasible, "evaluated": outcome.evaluated, "example": example}
    return text, facts


def require_feasible(
    answer: SolvedStudy,
    where: str = "",
    stop: Stop | None = None,
    budget: Budget | None = None,
) -> None:
    """Raise `InfeasibleError` when a study has no feasible design: why, and what would admit one.

    `where` is said first, of one value of a sweep for instance.  The explanation takes what is left
    of a budget, or what the search has left of the study's effort.
    """
    if not answer.outcome.feasible:
        whole = budget or Budget(start_s=time.process_time() - answer.seconds)
        left = whole.within(answer.study.settings).left_s
        text, facts = explain_infeasible(answer.study, answer.outcome, seconds=left, stop=stop)
        raise InfeasibleError(where + text, facts)


def require_any_feasible(run: Run, stop: Stop | None = None, budget: Budget | None = None) -> None:
    """Raise `InfeasibleError` when no design is feasible, at any value of a sweep.

    After an interrupt nobody knows, and it is a `NothingFoundError`; `stop` may end the search for
    what would admit one.
    """
    if not run.feasible:
        if run.interrupted:
            raise NothingFoundError(_nothing_found(run))
        sweep = run.sweep
        where = f"at {_first_value(sweep)}: " if sweep else ""
        require_feasible(run.answers[0], where, stop, budget)


def _nothing_found(run: Run) -> str:
    evaluated = sum(answer.outcome.evaluated for answer in run.answers)
    if not evaluated:
        return "interrupted before any designs were compared; no front is written"
    none = f"none of the {evaluated:,} designs evaluated so far is feasible"
    return f"interrupted: {none}; no front is written"


def _first_value(sweep: Sweep) -> str:
    value = sweep.values[0]
    return f"{sweep.path} = {value if isinstance(value, str) else units.show(value, sweep.column)}"

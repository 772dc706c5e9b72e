"""What is told when no design meets every constraint, as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dse import search
from dse.algebra import units
from dse.errors import InfeasibleError, TooLargeError
from dse.infeasible import repair
from dse.infeasible.conflicts import with_conflicts
from dse.model import tables
from dse.reports import report
from dse.runs.runner import ENUMERABLE, Run, SolvedStudy
from dse.search import EXACT_LIMIT, Outcome
from dse.study import study
from dse.study.study import Study

MOST_CONFLICTS = 5
"""Most conflicts in the text; the facts hold all."""


def require_feasible(answer: SolvedStudy, where: str = "") -> None:
    """Raise `InfeasibleError` when a study has no feasible design: why, and what would admit one.

    `where` is said first, of one value of a sweep for instance.
    """
    if not answer.outcome.feasible:
        text, facts = explain_infeasible(answer.study, answer.outcome)
        raise InfeasibleError(where + text, facts)


def require_any_feasible(run: Run) -> None:
    """Raise `InfeasibleError` when no design is feasible, at any value of a sweep."""
    if not any(answer.outcome.feasible for answer in run.answers):
        sweep = run.sweep
        where = f"at {sweep.path} = {sweep.written[0]}: " if sweep else ""
        require_feasible(run.answers[0], where)


def explain_infeasible(infeasible: Study, outcome: Outcome) -> tuple[str, dict[str, Any]]:
    """Return why no design is feasible and what would admit one, as text and as plain data.

    Spaces that can be enumerated are searched again in full when the search was a heuristic.
    """
    problem = infeasible.problem
    if not outcome.exact and problem.size <= ENUMERABLE:
        whole = search.run_search(problem, search.SearchSettings(method="exact"))
        if whole.feasible:
            return _overlooked(infeasible, outcome, whole)
        outcome = whole
    composed = outcome.certificate.way == "composed"
    if composed:
        with suppress(TooLargeError):
            outcome = with_conflicts(problem, outcome)
    conflicts = outcome.conflicts()
    facts: dict[str, Any] = {
        "feasible": 0,
        "designs": problem.size,
        "evaluated": outcome.evaluated + (outcome.reference_evaluations if composed else 0),
        "ruled_out_by_bounds": outcome.certificate.infeasible,
        "exact": outcome.exact,
        "conflicts": [list(conflict) for conflict in conflicts],
    }
    if outcome.nearest_index is None or outcome.nearest_violation is None:
        return "no feasible design", facts
    names = problem.constraint_names
    missed = dict(zip(names, outcome.nearest_violation.tolist(), strict=True))
    nearest = problem.point_text(outcome.nearest_index)
    known = composed or (outcome.exact and problem.size <= EXACT_LIMIT)
    repairs = repair.repairs(infeasible, composed=composed) if known else ()
    repaired = {rule for found in repairs for rule in found.constraints}
    beyond = [rule for rule in dict.fromkeys(sum(conflicts, ())) if rule not in repaired]
    facts |= {"nearest_design": nearest, "violations": missed}
    apart = _apart(infeasible, conflicts, composed) if known and not repairs else []
    if known:
        facts |= {
            "repairs": [found.plain() for found in repairs],
            "no_repair": beyond,
            "repairs_of_conflicts": [
                {"conflict": list(conflict), "repairs": [found.plain() for found in several]}
                for conflict, several in apart
            ],
        }
    text = report.infeasible(
        conflicts[:MOST_CONFLICTS],
        nearest,
        missed,
        more_conflicts=max(0, len(conflicts) - MOST_CONFLICTS),
        repairs=[_words(found) for found in repairs],
        beyond=beyond if known and not apart else (),
        apart=[(rules, [_words(found) for found in several]) for rules, several in apart],
        evaluated=None if known else outcome.evaluated,
        ruled_out=problem.size if composed else None,
    )
    return text, facts


def _apart(
    infeasible: Study, conflicts: Sequence[Sequence[str]], composed: bool
) -> list[tuple[Sequence[str], tuple[repair.Repair, ...]]]:
    """Return the repairs of each conflict with the study's constraints outside it left out."""
    rules = [constraint.text for constraint in infeasible.problem.constraints]
    found = []
    for conflict in conflicts[:MOST_CONFLICTS]:
        kept = [place for place, text in enumerate(rules) if text in conflict]
        data = infeasible.document.data | {"constraints": [rules[place] for place in kept]}
        alone = study.prepare(replace(infeasible.document, data=data))
        several = tuple(
            replace(entry, path=f"constraints.{kept[int(entry.path.rpartition('.')[2])]}")
            if entry.is_constraint
            else entry
            for entry in repair.repairs(alone, composed=composed)
        )
        if several:
            found.append((conflict, several))
    return found


def _overlooked(infeasible: Study, outcome: Outcome, whole: Outcome) -> tuple[str, dict[str, Any]]:
    example = tables.described(infeasible.problem, whole.front_index[:1])[0]
    text = (
        f"none of the {outcome.evaluated:,} designs evaluated is feasible, but "
        f"{whole.feasible:,} of all {whole.evaluated:,} are, for instance {example}; "
        "search with method exact, or with a larger budget"
    )
    facts = {"feasible": whole.feasible, "evaluated": outcome.evaluated, "example": example}
    return text, facts


def _words(found: repair.Repair) -> str:
    """Return a repair as a sentence: what to change, by how much, and what that admits."""
    amount = f"({_amount(found)} {units.show(found.today, found.name)})"
    if found.is_constraint:
        return f"{found.written} {amount}: {found.design}"
    most = "at least" if found.value > found.today else "at most"
    others = [rule for rule in found.missed if rule not in found.constraints]
    ends = f"limited by {found.limit}" if found.limit and not others else ""
    ends = f"short of it {' and '.join(others)} is missed" if others else ends
    text = f"{found.path} {most} {found.written} {amount}: {found.design}"
    return f"{text}, {ends}" if ends else text


def _amount(found: repair.Repair) -> str:
    if found.relative < 10:
        more = "more" if found.value > found.today else "less"
        return f"{100 * found.relative:.3g} % {more} than"
    return f"{found.relative + 1:.4g} times" if found.today else "instead of"

"""Why no design meets every constraint and what would admit one, as text and as plain data."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.errors import DseError, TooLargeError
from dse.model.evaluation import Goal, distinct
from dse.model.problem import Problem
from dse.model.space import ALONE, Index
from dse.parametric.repairs.repair import SHARE, Attempts, repairs_of
from dse.reports.designs import described
from dse.reports.text import hanging, in_words, listed, pairs, paragraph, violation_text
from dse.runs.limits import ENUMERABLE
from dse.search import Outcome, Stop
from dse.search.conflicts import any_design, with_conflicts
from dse.search.exact.work import left_s, limited
from dse.study import study
from dse.study.stages import COMPUTE_ALONE
from dse.study.study import Study

MOST_SEARCHED = 200_000_000
"""Designs of a space that is not composed, up to which changes are looked for."""

TIMES = 4
"""How many times the instances of the nearest design are tried, where the least are too few."""

MOST_BOUNDS = 4
"""More quantities have fronts that take too long."""

MOST_CONFLICTS = 5
"""Most conflicts in the text; the facts hold all."""


@dataclass(frozen=True)
class Bound:
    """A constraint with one bound of one quantity: its place in the study, and the bound."""

    place: int
    threshold: ConstraintThreshold

    @property
    def goal(self) -> Goal:
        """What is optimised in its place."""
        return Goal(self.threshold.name, maximise=self.threshold.down)

    def excess(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much values (n,) miss it, relative to it; 0 where they meet it."""
        sign = 1.0 if self.threshold.up else -1.0
        by = sign * (values - self.threshold.value)
        return np.maximum(by, 0.0) / (abs(self.threshold.value) or 1.0)


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

    @property
    def nearest(self) -> Index:
        """The design (d,) that misses the bounds by the least sum of relative excess."""
        pairs = zip(self.bounds, self.values.T, strict=True)
        excess = np.column_stack([bound.excess(values) for bound, values in pairs])
        return np.asarray(self.rows[int(excess.sum(axis=1).argmin())])

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
    and where that takes too long.  Where designs are measured, those of what is not measured.
    """
    bounds = tuple(_bounds(problem))
    before = problem.beforehand
    if before is not None:
        if before.pool is not None or not before.any:
            return None
        bounds = tuple(one for one in bounds if problem.constraints[one.place] in before.rules)
    goals = tuple(dict.fromkeys(bound.goal for bound in bounds))
    if not bounds or len(goals) > MOST_BOUNDS:
        return None
    limited = [problem.constraints[bound.place] for bound in bounds]
    searched = problem if before is None else before.alone
    rest = tuple(rule for rule in searched.constraints if rule not in limited)
    relaxed = replace(searched, goals=goals, constraints=rest)
    try:
        outcome = search.run_search(relaxed, search.SearchSettings(method="exact"))
    except TooLargeError:
        return None
    rows = outcome.front_index
    if not len(rows) or not outcome.exact:
        return None
    columns = relaxed.describe(rows)
    values = [np.broadcast_to(columns[bound.threshold.name], (len(rows),)) for bound in bounds]
    return Needed(bounds, np.column_stack(values), rows)


def _bounds(problem: Problem) -> Iterator[Bound]:
    for place, constraint in enumerate(problem.constraints):
        found = thresholds_of(constraint)
        names = constraint.names
        if len(found) != 1 or len(names) != 1 or found[0].name not in names:
            continue
        quantity = next((q for q in problem.quantities if q.name == found[0].name), None)
        plain = quantity is not None and not quantity.labels and not quantity.partial
        if plain and found[0].up != found[0].down and isinstance(found[0].quantity.tree, ast.Name):
            yield Bound(place, found[0])


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
        _repairs(infeasible, conflicts, composed)
        if known
        else (["changes that would admit a design were not looked for: too much work"], {})
    )
    few = known and _more_would_do(infeasible, outcome.nearest_index)
    lines = [
        _headline(problem.size + len(problem.hosts), None if known else outcome.evaluated, composed)
        + " with the least instances that carry the rate; with more there is one" * few
        + (f"; {outcome.ledger.but}" if outcome.ledger.but else ""),
        *near,
        *_host_lines(problem),
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
    point = _nearest(problem, outcome, nearest) if need is None else need.nearest[np.newaxis]
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
        pairs((f"  {rule}", violation_text(by)) for rule, by in violations.items() if not by <= 0),
    ]
    return lines, facts


def _nearest(problem: Problem, outcome: Outcome, nearest: Index) -> Index:
    """Return the design (1, d) that misses constraints by the least sum, relatively.

    Of the infeasible designs that the search kept; one with instances, where any has.
    """
    rows = distinct(np.vstack([outcome.sample_index, nearest[np.newaxis]]))
    some = np.array([bool(made) for made in problem.counts(rows)]) if problem.stages else None
    rows = rows if some is None or not some.any() else rows[some]
    violation = np.nan_to_num(problem.evaluate(rows).violation, nan=np.inf)
    missed = np.maximum(violation, 0.0).sum(axis=1)
    return rows[[int(missed.argmin())]]


def _host_lines(problem: Problem) -> Iterator[str]:
    """Yield what the host alone violates that comes nearest to meeting every constraint."""
    found = problem.evaluate(problem.hosts).violation
    if len(found):
        missed = found[np.maximum(found, 0.0).max(axis=1).argmin()].tolist()
        violated = zip(problem.constraint_names, missed, strict=True)
        texts = [f"{rule}: {violation_text(by)}" for rule, by in violated if not by <= 0]
        yield hanging(ALONE, "; ".join(texts))


def _more_would_do(infeasible: Study, nearest: Index) -> bool:
    """Tell whether several times the instances of the nearest design admit one, where few run."""
    if COMPUTE_ALONE not in infeasible.notes:
        return False
    (counts,) = infeasible.problem.counts(nearest[np.newaxis])
    document, most = infeasible.document, TIMES * max(counts.values(), default=1)
    stages = [
        fields | {"instances": {"from": int(fields.get("fleet") != "mixed"), "to": most}}
        if fields.get("instances") in (None, "least") and not fields.get("counts")
        else fields
        for fields in document.stages
    ]
    with suppress(DseError), limited(seconds=SHARE * left_s()):
        changed = replace(document, data=document.data | {"stages": stages})
        return any_design(study.prepare(changed).problem) is not None
    return False


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
    infeasible: Study, conflicts: Sequence[Sequence[str]], composed: bool
) -> tuple[list[str], dict[str, Any]]:
    """Return what would admit a design, as lines and as plain data."""
    attempts = Attempts(infeasible, composed=composed)
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
    known = whole.feasible_in_space
    count = f"at least {whole.feasible:,}" if known is None else f"{known:,}"
    text = (
        f"none of the {outcome.evaluated:,} designs evaluated is feasible, but {count} of all "
        f"{infeasible.problem.size:,} are, for instance {example}; "
        "search with method exact, or with a larger budget"
    )
    facts = {
        "feasible": whole.feasible,
        "feasible_in_space": known,
        "evaluated": outcome.evaluated,
        "example": example,
    }
    return text, facts

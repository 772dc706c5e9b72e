"""Whether any design is feasible, and which constraints conflict: searched only until known.

Spaces too large to enumerate are composed (`dse.search.exact.compose`): bounds prove that nothing
is feasible.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from dse import search
from dse.contract import Column
from dse.model.evaluation import Evaluation, Goal
from dse.model.problem import Problem
from dse.model.space import Index, Points, as_index
from dse.search import Outcome

MOST_SETS = 500
"""Sets of constraints that are searched for conflicts."""


class _FoundError(Exception):
    """Ends a search at its first feasible design."""

    def __init__(self, index: Index) -> None:
        super().__init__()
        self.index = index


@dataclass(frozen=True)
class _Probe(Problem):
    """A problem whose search ends at the first feasible design, whatever that is worth."""

    def evaluate(
        self, points: Points, changed: Mapping[str, Column] | None = None, *, draws: int = 1
    ) -> Evaluation:
        evaluation = super().evaluate(points, changed, draws=draws)
        rows = np.flatnonzero(evaluation.feasible)
        if len(rows):
            raise _FoundError(as_index(points, rows[:1]))
        return evaluation


def any_design(problem: Problem) -> Index | None:
    """Return a design (1, d) that meets every constraint, None when there is none.

    Raise `TooLargeError` if the time of `limited` does not suffice.
    """
    hosts = problem.hosts[problem.evaluate(problem.hosts).feasible]
    if len(hosts):
        return hosts[:1]
    space = replace(problem, beside=False)
    probe = _Probe(*(getattr(space, field.name) for field in fields(space)))
    try:
        search.run_search(probe, search.SearchSettings(method="exact"))
    except _FoundError as found:
        return found.index
    return None


def keeping(problem: Problem, rules: Collection[str]) -> Problem:
    """Return a problem of which only the constraints named `rules` are left."""
    exist = [q.name for q in problem.quantities if f"{q.name} exists" in rules]
    certain = [q.name for q in problem.quantities if not q.partial and not q.labels]
    sure = tuple(goal for goal in problem.goals if goal.name in certain)
    goals = (*(sure or (Goal(certain[0]),)), *map(Goal, exist))
    return replace(
        problem,
        goals=goals,
        requirements=tuple(entry for entry in problem.requirements if entry.rule in rules),
        constraints=tuple(entry for entry in problem.constraints if entry.text in rules),
    )


def with_conflicts(problem: Problem, outcome: Outcome) -> Outcome:
    """Return the outcome of an infeasible problem with all its conflicts.

    Each apparent conflict of the evaluated designs is searched: it is proven, or a design that
    meets it is one more example (implicit hitting sets).
    """
    problem = replace(problem, beside=False)
    satisfied, proven = set(outcome.satisfied), set[tuple[str, ...]]()
    bits = np.int64(1) << np.arange(len(problem.constraint_names), dtype=np.int64)
    for _ in range(MOST_SETS):
        outcome = replace(outcome, satisfied=frozenset(satisfied))
        seeming = [rules for rules in outcome.conflicts() if rules not in proven]
        if not seeming:
            break
        design = any_design(keeping(problem, seeming[0]))
        if design is None:
            proven.add(seeming[0])
        else:
            met = problem.evaluate(design).violation <= 0
            satisfied.add(int((met @ bits)[0]))
    return outcome

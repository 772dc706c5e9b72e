"""What is tracked as a number moves: the answer that a preference picks, or the whole front.

And how far it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.model.front import nondominated
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index

Key = tuple[int, ...]
"""What a design is: its row, and the counts that follow from it."""


@dataclass(frozen=True)
class TrackedAnswer:
    """What is tracked: the answer that a preference picks, or the whole `front`.

    With `counts` the instances that follow from the rate are part of what a design is; where `by`
    names axes by index, these alone tell designs apart.
    """

    preference: Preference
    front: bool = False
    counts: bool = True
    by: tuple[int, ...] = ()

    def column(self, problem: Problem) -> int | None:
        """Return which loss alone decides, None when the rest of the front matters too."""
        if self.front or self.preference.tolerance:
            return None
        return self.preference.column(problem)


@dataclass(frozen=True)
class AnswerDesigns:
    """The designs that answer: what they are, by which they are compared, and their rows (n, d)."""

    keys: tuple[Key, ...]
    rows: Index = field(compare=False)


@dataclass(frozen=True, kw_only=True)
class Breakpoint:
    """How far an answer holds, in SI, and the answer beyond.

    Attributes
    ----------
    holds_to
        The last value at which it was found to hold.
    flips_at
        The first value at which it was found not to; None when it holds up to the limit.
    beyond
        The answer there; of no designs when none is feasible, None where there is no flip.
    complete
        Every design was compared; False when only exact searches at some values were.
    limited
        Why nothing is known beyond `holds_to`; empty where the range ends as it was given.
    becomes
        The answer beyond in words, where that is wanted.
    regret
        By how much the answer is worse a tenth beyond, relative to the best design known: infinite
        where it is infeasible, None where no number is compared.
    """

    holds_to: float
    flips_at: float | None = None
    beyond: AnswerDesigns | None = None
    complete: bool = True
    limited: str = ""
    becomes: tuple[str, ...] = ()
    regret: float | None = None


def answer_among(problem: Problem, rows: Index, tracked: TrackedAnswer) -> AnswerDesigns:
    """Return which of the designs `rows` are the tracked answer."""
    rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
    evaluation = problem.evaluate(rows)
    rows, loss = rows[evaluation.feasible], evaluation.loss[evaluation.feasible]
    column = tracked.column(problem)
    if column is not None and len(rows):
        best = loss[:, column] == loss[:, column].min()
        rows, loss = rows[best], loss[best]
    if len(rows) > 1:
        rows = rows[nondominated(loss)]
        if not tracked.front:
            rows = rows[tracked.preference.order(problem, rows)[:1]]
    keys = sorted(set(map(tuple, identity(problem, rows, tracked).tolist())))
    return AnswerDesigns(tuple(keys), rows)


def answer_instead(
    problem: Problem, rows: Index, tracked: TrackedAnswer, before: AnswerDesigns
) -> AnswerDesigns:
    """Return the answer among designs `rows` where that of `before` holds no longer.

    Where the two tie in what decides, rounding may still name the one of before.
    """
    found = answer_among(problem, rows, tracked)
    if tracked.front or found.keys != before.keys:
        return found
    rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
    others = rows[~counting_as(before, problem, rows, tracked)]
    instead = answer_among(problem, others, tracked)
    return instead if instead.keys else found


def counting_as(
    answer: AnswerDesigns, problem: Problem, rows: Index, tracked: TrackedAnswer
) -> NDArray[np.bool_]:
    """Return which designs (n, d) count as one of an answer."""
    numbers = identity(problem, rows, tracked)
    same = np.zeros(len(rows), dtype=bool)
    for key in answer.keys:
        same |= (numbers == np.array(key)).all(axis=1)
    return same


def identity(problem: Problem, rows: Index, tracked: TrackedAnswer) -> Index:
    """Return what tells designs (n, d) apart, one row of numbers each."""
    if tracked.by:
        return rows[:, tracked.by]
    if not tracked.counts:
        return rows
    counts = [count for groups in problem.fleets(rows) for count, _ in groups]
    return np.column_stack([rows, *counts]).astype(np.int64)

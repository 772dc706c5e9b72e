"""What is asked of designs: the answer that a preference picks, or the whole front."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dse.algebra import units
from dse.model.front import nondominated
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index

Key = tuple[int, ...]
"""What a design is: its row, and the counts that follow from it."""


@dataclass(frozen=True)
class TrackedAnswer:
    """What is followed: the answer that a preference picks, or the whole front.

    Attributes
    ----------
    preference
        Picks the answer.
    front
        Follow which designs are on the front, whatever is preferred.
    counts
        Instances that follow from the rate are part of what a design is.
    by
        Positions of the axes that alone tell designs apart; empty for all of them.
    """

    preference: Preference
    front: bool = False
    counts: bool = True
    by: tuple[int, ...] = ()

    def column(self, problem: Problem) -> int | None:
        """Return which loss alone decides, None when the rest of the front matters too."""
        names = [goal.name for goal in problem.goals]
        expression = self.preference.expression
        if self.front or expression is None or len(expression.names) != 1:
            return None
        (name,) = expression.names
        plain = expression.text in (name, units.stem(name))
        return names.index(name) if plain and name in names else None


@dataclass(frozen=True)
class Answering:
    """The designs that answer: what they are, and their rows (n, d)."""

    keys: tuple[Key, ...]
    rows: Index


def look(problem: Problem, rows: Index, question: TrackedAnswer) -> Answering:
    """Return which of the designs `rows` answer the question."""
    rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
    evaluation = problem.evaluate(rows)
    rows, loss = rows[evaluation.feasible], evaluation.loss[evaluation.feasible]
    column = question.column(problem)
    if column is not None and len(rows):
        best = loss[:, column] == loss[:, column].min()
        rows, loss = rows[best], loss[best]
    if len(rows) > 1:
        rows = rows[nondominated(loss)]
        if not question.front:
            rows = rows[question.preference.order(problem, rows)[:1]]
    return Answering(_keys(problem, rows, question), rows)


def _keys(problem: Problem, rows: Index, question: TrackedAnswer) -> tuple[Key, ...]:
    return tuple(sorted(set(map(tuple, identity(problem, rows, question).tolist()))))


def identity(problem: Problem, rows: Index, question: TrackedAnswer) -> Index:
    """Return what tells designs (n, d) apart, one row of numbers each."""
    if question.by:
        return rows[:, question.by]
    if not question.counts:
        return rows
    counts = problem.counts(rows).values()
    return np.hstack([rows, *(count.astype(np.int64)[:, np.newaxis] for count in counts)])


@dataclass
class Pool:
    """Designs worth asking, without duplicates; it only grows."""

    rows: Index
    _known: set[bytes] = field(default_factory=set)

    def add(self, rows: Index) -> bool:
        """Add designs; return whether any was new."""
        new = [row for row in rows if row.tobytes() not in self._known]
        self._known.update(row.tobytes() for row in new)
        if new:
            self.rows = np.vstack([self.rows, *new])
        return bool(new)

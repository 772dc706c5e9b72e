"""Designs along one number: evaluated at its values, and the exact answer at some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.model.front import nondominated
from dse.model.matrices import distinct
from dse.model.problem import Problem
from dse.model.space import Index, Space
from dse.parametric import rivals
from dse.parametric.perturbed import TOGETHER, PerturbedDesigns, PerturbedPart, widest
from dse.parametric.scale import LogScale
from dse.parametric.tracking import AnswerDesigns, TrackedAnswer, answer_among, counting_as, spread
from dse.search.exact.work import CALL, LOOK, spend
from dse.study.assumptions import Assumption

MOST_KEPT = 480
"""Problems at values that are kept."""


@dataclass(frozen=True)
class Compared:
    """Losses (v, n, m) at each value, violations (v, n, k), and least instances (v, n, s)."""

    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    counts: NDArray[np.float64]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which designs meet every constraint, (v, n)."""
        return np.asarray((self.violation <= 0).all(axis=2))


@dataclass(frozen=True)
class Compare:
    """Designs (n, d) to be evaluated at each of some values of a number."""

    entry: Assumption
    rows: Index
    values: Sequence[float]


class Track:
    """One number of a study, within limits, and what is known of the designs along it."""

    def __init__(
        self,
        entry: Assumption,
        tracked: TrackedAnswer,
        settings: search.SearchSettings,
        limits: tuple[float, float],
        size: float = 0.0,
    ) -> None:
        """Know nothing so far; `settings` say how much a search may take.

        `size` is how large a number is that may pass zero.
        """
        self.entry = entry
        self.tracked = tracked
        self.scale = LogScale(entry.integer, entry.among, size if min(limits) <= 0.0 else 0.0)
        self.column = tracked.column(entry.problem)
        self._problems: dict[float, Problem] = {entry.value: entry.problem}
        self.space = widest(entry.problem, [self.at(limit) for limit in limits])
        self.rows: Index = entry.problem.hosts
        self._settings = replace(settings, method="exact", budget=None, options={}, partial=False)
        self._answers: dict[float, AnswerDesigns] = {}

    def at(self, value: float) -> Problem:
        """Return the problem at a value."""
        if value not in self._problems:
            if len(self._problems) > MOST_KEPT:
                self._problems.clear()
            self._problems[value] = self.entry.at(value)
        return self._problems[value]

    def know(self, value: float, front: Index) -> AnswerDesigns:
        """Take the front (n, d) at a value, and return the answer there."""
        problem = self.at(value)
        answer = answer_among(problem, front, self.tracked)
        self.rows = distinct(np.vstack([self.rows, spread(front, problem, self.tracked)]))
        self._answers[value] = answer
        return answer

    def pick(self, value: float) -> AnswerDesigns:
        """Return the answer at a value, searched exactly once."""
        if value not in self._answers:
            problem = self.at(value)
            try:
                front = search.run_search(problem, self._settings).front_index
            finally:
                spend(LOOK)  # a search that was cut short proves nothing, whatever it says
            self.know(value, front)
        return self._answers[value]

    def compare(self, rows: Index, values: Sequence[float]) -> Compared:
        """Return how designs (n, d) do at values."""
        (found,) = compare_together(
            self.entry.problem, self.space, [Compare(self.entry, rows, values)]
        )
        return found

    def proves(self, answer: AnswerDesigns) -> bool:
        """Whether designs answer by one loss, or as the whole front: intervals are proven then."""
        one = self.tracked.front or (self.column is not None and len(answer.rows) == 1)
        return one and len(answer.rows) > 0 and not self.entry.problem.tolerant

    def holds(self, answer: AnswerDesigns, value: float) -> bool:
        """Whether an answer holds at a value among all designs that are known."""
        problem = self.at(value)
        rows = np.vstack([self.rows, answer.rows])
        spend(CALL + len(rows))
        if self.tracked.front:
            return answer_among(problem, distinct(rows), self.tracked).keys == answer.keys
        rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
        found = problem.evaluate(rows)
        rows, loss = rows[found.feasible], found.loss[found.feasible]
        same = counting_as(answer, problem, rows, self.tracked)
        if not same.any():
            return not len(rows) and not answer.keys
        kept = same.copy()
        kept[nondominated(loss)] = True
        rows, loss, same = rows[kept], loss[kept], same[kept]
        preference = self.tracked.preference
        keys = np.column_stack(preference.keys(problem, preference.merit(problem, rows), loss))
        own = keys[same][np.lexsort(keys[same].T[::-1])[:1]]
        return not rivals.beats(keys[~same], own).any()


def compare_together(problem: Problem, space: Space, asked: Sequence[Compare]) -> list[Compared]:
    """Return how designs do at values of several numbers, evaluated together.

    A design that the space lacks at a value meets no constraint there.
    """
    tables = _evaluated(problem, space, list(_parts(asked)))
    found = []
    end = 0
    for ask in asked:
        shape = (len(ask.values), len(ask.rows))
        start, end = end, end + shape[0] * shape[1]
        loss, violation, counts = (
            np.ascontiguousarray(table[start:end]).reshape(*shape, table.shape[1])
            for table in tables
        )
        if (ask.rows >= np.array(problem.sizes)).any() or space.sizes != problem.sizes:
            for at, value in enumerate(ask.values):
                beyond = (ask.rows >= np.array(ask.entry.at(value).sizes)).any(axis=1)
                violation[at, beyond] = np.inf
        found.append(Compared(loss, violation, counts))
    return found


def _parts(asked: Sequence[Compare]) -> Iterator[PerturbedPart]:
    for ask in asked:
        step = max(1, TOGETHER // max(len(ask.rows), 1))
        for first in range(0, len(ask.values), step):
            yield PerturbedPart(ask.entry, ask.values[first : first + step], ask.rows)


def _evaluated(
    problem: Problem, space: Space, parts: Sequence[PerturbedPart]
) -> list[NDArray[np.float64]]:
    """Return losses, violations and least instances of parts, some evaluated at a time."""
    found = []
    first = count = 0
    for last, part in enumerate(parts, 1):
        count += len(part)
        if count < TOGETHER and last < len(parts):
            continue
        spend(CALL + count)
        moved = PerturbedDesigns(problem, space, parts[first:last])
        evaluation = moved.evaluate()
        found.append((evaluation.loss, evaluation.violation, moved.least_counts()))
        first, count = last, 0
    return [np.concatenate(tables) for tables in zip(*found, strict=True)]

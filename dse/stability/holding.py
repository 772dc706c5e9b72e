"""Where designs answer as they do at one value of an assumption: asked of losses at other values.

A tie is no other answer: a design takes the answer's place where it is better in the first of the
losses, in the order in which they decide, in which the two differ by more than rounding.

What is asked of many values is yielded, so that questions of several assumptions are answered
together.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.model.front import nondominated
from dse.model.matrices import distinct
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search.exact.work import CALL, LOOK, spend
from dse.stability import rivals
from dse.stability.screen import Screen
from dse.stability.tracking import (
    AnswerDesigns,
    TrackedAnswer,
    answer_among,
    answer_instead,
    counting_as,
    spread,
)
from dse.study.assumptions import Assumption

MOST_KEPT = 480
"""Problems at values that are kept."""

SCREENED = 20_000_000
"""Largest space of which every design is compared, unless its rivals are composed."""

LARGEST = 60_000_000
"""Largest space that is searched; a range ends where the space becomes larger."""


@dataclass(frozen=True)
class Compare:
    """Designs (n, d) to be evaluated at each of some values; axes have at `least` so many values.

    A design that the space lacks at a value meets no constraint there.
    """

    entry: Assumption
    rows: Index
    values: Sequence[float]
    least: tuple[int, ...]

    def __len__(self) -> int:
        """Return how many designs at a value are compared."""
        return len(self.values) * len(self.rows)


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

    def part(self, values: list[int], chosen: NDArray[np.bool_]) -> Compared:
        """Return some designs at some of the values."""
        tables = (self.loss, self.violation, self.counts)
        return Compared(*(table[values][:, chosen] for table in tables))


T = TypeVar("T")
Asked = Compare | Screen
Asking = Generator[Sequence[Asked], list[Any], T]
"""Yields what is asked, a `Compared` or an index for each, and returns what was found."""


def is_screened(problem: Problem) -> bool:
    """Tell whether every design of a space is compared, or ruled out by bounds."""
    return problem.size <= SCREENED or rivals.composes(problem)


class Searched:
    """Exact searches along one assumption, and the designs that they found: these only grow."""

    def __init__(
        self, entry: Assumption, tracked: TrackedAnswer, settings: search.SearchSettings
    ) -> None:
        """Know nothing so far; `settings` say how much a search may take."""
        self.entry = entry
        self.tracked = tracked
        self.rows: Index = np.empty((0, len(entry.problem.sizes)), dtype=np.int64)
        self._settings = replace(settings, method="exact", budget=None, options={}, partial=False)
        self._fronts: dict[float, Index] = {}
        self._answers: dict[float, AnswerDesigns] = {}
        self._problems: dict[float, Problem] = {entry.value: entry.problem}

    def at(self, value: float) -> Problem:
        """Return the problem at a value."""
        if value not in self._problems:
            if len(self._problems) > MOST_KEPT:
                self._problems.clear()
            self._problems[value] = self.entry.at(value)
        return self._problems[value]

    def know(self, value: float, front: Index, answer: AnswerDesigns) -> None:
        """Take designs of the front (n, d) and the answer at a value."""
        self._fronts[value], self._answers[value] = front, answer
        self.rows = distinct(np.vstack([self.rows, front])) if len(self.rows) else front

    def front(self, value: float) -> Index:
        """Return the front at a value, searched once; of many designs, some."""
        if value not in self._fronts:
            problem = self.at(value)
            settings = replace(self._settings, limit=max(LARGEST, problem.size))
            try:
                front = search.run_search(problem, settings).front_index
            finally:
                spend(LOOK)  # a search that was cut short proves nothing, whatever it says
            some = spread(front, problem, self.tracked)
            self.know(value, some, answer_among(problem, front, self.tracked))
        return self._fronts[value]

    def change_at(self, value: float, before: float) -> None:
        """Know that at a value another answer holds than at the one `before`."""
        front, problem = self.front(value), self.at(value)
        self._answers[value] = answer_instead(problem, front, self.tracked, self.answer(before))

    def knows(self, value: float) -> bool:
        """Tell whether the answer at a value is known."""
        return value in self._answers

    def answer(self, value: float) -> AnswerDesigns:
        """Return the answer at a value."""
        self.front(value)
        return self._answers[value]


class Holding:
    """Says where one of some designs is the answer that it is at the value of an assumption.

    Attributes
    ----------
    column
        The loss that decides, None where the rest of a front matters too.
    counts
        Least instances of the answer, where they are part of what it is.
    """

    def __init__(
        self, searched: Searched, entry: Assumption, sizes: Collection[tuple[int, ...]]
    ) -> None:
        """Take the assumption at the value where the answer is known, and sizes of its spaces."""
        self.entry = entry
        self.searched = searched
        self.tracked = searched.tracked
        self.answer = searched.answer(entry.value)
        self.column = self.tracked.column(entry.problem)
        self.counts: NDArray[np.float64] | None = None
        self._least = tuple(map(min, zip(*sizes, strict=True)))

    @property
    def alone(self) -> bool:
        """Whether one design answers and one loss decides: then assumptions share evaluations."""
        one = self.column is not None and len(self.answer.rows) == 1
        return one and not self.tracked.by and not self.entry.problem.tolerant

    def compare(self, rows: Index, values: Sequence[float]) -> Compare:
        """Ask how designs do at values."""
        return Compare(self.entry, rows, values, self._least)

    def is_compared(self, value: float) -> bool:
        """Tell whether every design is compared: one loss decides, or the front is followed."""
        problem = self.searched.at(value)
        if problem.tolerant:
            return False
        return (self.tracked.front or self.column is not None) and is_screened(problem)

    def others_of(self, rows: Index) -> Index:
        """Return which designs are none of the answer, nor count as it."""
        if self.tracked.by:
            return rows[~self.same(self.entry.problem, rows)]
        known = {row.tobytes() for row in self.answer.rows}
        return rows[[row.tobytes() not in known for row in rows]]

    def with_answer(self, rows: Index) -> Index:
        """Return designs and the answer, each once; one that is alone comes first."""
        if not self.alone:
            return distinct(np.vstack([self.answer.rows, rows]))
        return np.vstack([self.answer.rows, self.others_of(distinct(rows))])

    def same(self, problem: Problem, rows: Index) -> NDArray[np.bool_]:
        """Return which designs count as one of the answer at a value."""
        return counting_as(self.answer, problem, rows, self.tracked)

    def incumbents(self, one: float, other: float) -> Index:
        """Return the known designs that have the answer at both values."""
        if not self.tracked.by or self.tracked.front:
            return self.answer.rows
        rows = self.searched.rows[self.same(self.searched.at(one), self.searched.rows)]
        ends = [self.searched.at(value).evaluate(rows) for value in (one, other)]
        both = ends[0].feasible & ends[1].feasible
        if self.column is None or not both.any():
            return rows[both]
        worst = np.maximum(*(end.loss[both, self.column] for end in ends))
        return rows[both][[int(np.argmin(worst))]]

    def held(self, rows: Index, values: Sequence[float], seen: Compared | None) -> int:
        """Return at how many values, from the first on, some designs have the answer."""
        if seen is None:
            every = (number for number, at in enumerate(values) if not self.holds(rows, at))
            return next(every, len(values))
        held = self.holds_seen(seen)
        return len(values) if held.all() else int(np.argmin(held))

    def holds_seen(self, seen: Compared) -> NDArray[np.bool_]:
        """Return at which values the first design is the answer, if it is `alone`."""
        held = seen.feasible[:, 0]
        if self.counts is not None:
            held &= (seen.counts[:, 0] == self.counts).all(axis=1)
        keys = np.concatenate([seen.loss[:, :, [self.column or 0]], seen.loss], axis=2)
        return np.asarray(held & ~(rivals.beats(keys, keys[:, :1]) & seen.feasible).any(axis=1))

    def holds(self, rows: Index, value: float) -> bool:
        """Whether some designs have the answer at a value."""
        spend(CALL + len(rows))
        problem = self.searched.at(value)
        if self.tracked.front:
            return answer_among(problem, rows, self.tracked).keys == self.answer.keys
        rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
        found = problem.evaluate(rows)
        rows, loss = rows[found.feasible], found.loss[found.feasible]
        same = self.same(problem, rows)
        if not same.any():
            return not len(rows) and not self.answer.keys
        kept = same.copy()
        kept[nondominated(loss)] = True
        rows, loss, same = rows[kept], loss[kept], same[kept]
        preference = self.tracked.preference
        keys = np.column_stack(preference.keys(problem, preference.merit(problem, rows), loss))
        own = keys[same][np.lexsort(keys[same].T[::-1])[:1]]
        return not rivals.beats(keys[~same], own).any()

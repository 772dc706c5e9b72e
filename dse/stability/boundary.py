"""Where the answer to a study changes as one of its numbers moves, to a tenth of a per cent.

A pool of designs, the fronts of every exact search so far, tells cheaply where an answer may
end.  Whether it holds up to there is asked of the whole space: what `rivals` cannot rule out
between two values is asked in the middle and again in each half, down to `NARROW`.  Spaces
beyond `SCREENED` designs that cannot be composed are searched exactly at points instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.model.problem import Problem
from dse.model.space import Index
from dse.stability import rivals
from dse.stability.tracking import Answering, Pool, TrackedAnswer, identity, look

NARROW = 1e-3
"""Relative width of the intervals that are not divided any further."""

PRECISE = 1e-7
"""Relative width to which an end is bisected."""

SCREENED = 20_000_000
"""Largest space of which every design is compared, unless its rivals are composed."""

LARGEST = 60_000_000
"""Largest space that is searched; what makes it larger bounds the range looked at."""

STEPS, DENSE = 40, 480
CHECKS, MANY_CHECKS = 10, 40
SMALL = 300_000
"""Points where the pool is asked, the second if not every design is compared; then also points of
exact searches, and up to which space there are many of them."""


@dataclass(frozen=True)
class Edge:
    """How far an answer holds.

    Attributes
    ----------
    inside
        The last value at which it was found to hold.
    outside
        The first value at which it was found not to; None when it holds up to the limit.
    complete
        Every design was compared; False when only exact searches at points of a grid were.
    limited
        The range ends at `inside` because the space grows beyond what is searched.
    """

    inside: float
    outside: float | None
    complete: bool
    limited: bool = False


class Line:
    """The answers to one question along one number."""

    def __init__(
        self,
        at: Callable[[float], Problem],
        question: TrackedAnswer,
        pool: Pool,
        *,
        integer: bool = False,
        known: tuple[float, Answering] | None = None,
        touched: tuple[int, int] | None = None,
    ) -> None:
        """Start with a pool of designs that may answer, which this line adds to.

        `known` is a value and the answer there, where an exact search has found it; `touched`
        an axis and its position, where only designs there depend on the number.
        """
        self._touched: tuple[int, int] | None = None
        self._may_touch = touched
        self._at = at
        self.question = question
        self.pool = pool
        self.integer = integer
        self.solves = 0
        self._exact: dict[float, Answering] = dict([known] if known else [])
        self._problems: dict[float, Problem] = {}

    def problem(self, value: float) -> Problem:
        """Return the problem at a value of the number."""
        if value not in self._problems:
            if len(self._problems) > DENSE:
                self._problems.clear()
            self._problems[value] = self._at(value)
        return self._problems[value]

    def exact(self, value: float) -> Answering:
        """Return the answer at a value, searched exactly; the front joins the pool."""
        if value not in self._exact:
            problem = self.problem(value)
            limit = max(LARGEST, problem.size)
            front = search.run_search(problem, search.SearchSettings(method="exact", limit=limit))
            self.solves += 1
            self.pool.add(front.front_index)
            self._exact[value] = look(problem, front.front_index, self.question)
        return self._exact[value]

    def edge(self, start: float, limit: float) -> Edge:
        """Return how far from `start` towards `limit` the answer at `start` holds."""
        reach = self._reach(start, limit)
        today = self.exact(start)
        if self._is_unrivalled(today, start, start, reach):
            return Edge(reach, None, complete=True, limited=reach != limit)
        witnesses: list[float] = []
        while True:
            known = len(self.pool.rows)
            inside, outside = self._pooled_edge(today, start, reach, witnesses)
            complete = self._is_complete(inside)
            changed = self._first_change(today, start, inside, complete=complete)
            if changed is None:
                ends = [] if complete and today.rows.size else [inside]
                ends += [] if outside is None else [outside]
                changed = next((end for end in ends if self._surprises(today, end, outside)), None)
            if changed is None and not complete and len(self.pool.rows) > known:
                continue  # what the checks found may answer between them
            if changed is None or (changed in witnesses and len(self.pool.rows) == known):
                return Edge(inside, outside, complete, outside is None and reach != limit)
            witnesses.append(changed)

    def holds(self, start: float, low: float, high: float) -> bool:
        """Return True when nothing beats the answer at `start` from `low` to `high`: one look.

        False says nothing.  It is tried only where the number leaves the answer itself alone.
        """
        if any(self._reach(start, limit) != limit for limit in (low, high)):
            return False
        today = self.exact(start)
        problems = [self.problem(value) for value in (low, start, high)]
        if any((today.rows >= np.array(problem.sizes)).any() for problem in problems):
            return False
        losses = [problem.evaluate(today.rows).loss for problem in problems]
        alone = all(np.array_equal(loss, losses[1]) for loss in losses)
        self._touched = self._may_touch if alone else None
        return alone and self._is_unrivalled(today, start, low, high)

    def _is_unrivalled(self, today: Answering, start: float, low: float, high: float) -> bool:
        """Whether no design may beat the answer at `start`, which holds at two values."""
        if not today.rows.size or not self._is_complete(low) or not self._is_complete(high):
            return False
        for value in (low, high):
            if look(self.problem(value), today.rows, self.question).keys != today.keys:
                return False
        others = self._rivals(today, today.rows, (low, high, self._middle(low, high)), None)
        return others is not None and not len(others)

    def _is_complete(self, value: float) -> bool:
        """Whether every design is compared: one loss decides, or the front is followed."""
        problem = self.problem(value)
        decided = self.question.front or self.question.column(problem) is not None
        return decided and (problem.size <= SCREENED or rivals.composes(problem))

    def _surprises(self, today: Answering, value: float, outside: float | None) -> bool:
        """Whether an exact search contradicts what the pool said of an end."""
        holds = self.exact(value).keys == today.keys
        return holds if value == outside else not holds

    def _reach(self, start: float, limit: float) -> float:
        """Return how far the space stays small enough to be searched."""
        if self.problem(limit).size <= LARGEST:
            return limit
        inside, outside = start, limit
        while not self._close(inside, outside, NARROW):
            middle = self._middle(inside, outside)
            if self.problem(middle).size <= LARGEST:
                inside = middle
            else:
                outside = middle
        return inside

    def _pooled_edge(
        self, today: Answering, start: float, limit: float, witnesses: Iterable[float]
    ) -> tuple[float, float | None]:
        """Return the last value where the pool has today's answer, and the first where not."""
        inside = start
        steps = STEPS if self._is_complete(limit) else DENSE
        for value in self._grid(start, limit, steps, witnesses):
            if look(self.problem(value), self.pool.rows, self.question).keys != today.keys:
                return self._bisect(today, inside, value)
            inside = value
        return inside, None

    def _bisect(self, today: Answering, inside: float, outside: float) -> tuple[float, float]:
        while not self._close(inside, outside, PRECISE):
            middle = self._middle(inside, outside)
            if look(self.problem(middle), self.pool.rows, self.question).keys == today.keys:
                inside = middle
            else:
                outside = middle
        return inside, outside

    def _grid(
        self, start: float, limit: float, count: int, extra: Iterable[float] = ()
    ) -> list[float]:
        """Return values from `start` (left out) to `limit`, dense near `start`."""
        span = abs(math.log(limit / start))
        if span == 0.0:
            return []
        sign = 1.0 if limit > start else -1.0
        distances = np.geomspace(min(NARROW, span), span, count)
        values = [start * math.exp(sign * float(distance)) for distance in distances[:-1]]
        if self.integer:
            values = [float(round(value)) for value in values]
        between = {value for value in (*values, *extra) if (value - start) * (value - limit) < 0}
        return sorted({*between, limit} - {start}, reverse=sign < 0)

    def _middle(self, one: float, other: float) -> float:
        middle = math.sqrt(one) * math.sqrt(other)
        if not self.integer:
            return middle
        return float(min(max(math.floor(middle), min(one, other) + 1), max(one, other) - 1))

    def _close(self, one: float, other: float, width: float) -> bool:
        if self.integer:
            return abs(one - other) <= 1
        return abs(one - other) <= width * min(one, other)

    def _first_change(
        self, today: Answering, start: float, end: float, *, complete: bool
    ) -> float | None:
        """Return a value between two that share an answer where it is another; None: nowhere."""
        if start == end:
            return None
        if complete:
            return self._change_inside(today, start, end, None)
        many = self.problem(end).size <= SMALL
        for value in self._grid(start, end, MANY_CHECKS if many else CHECKS):
            if self.exact(value).keys != today.keys:
                return value
        return None

    def _change_inside(
        self, today: Answering, start: float, end: float, among: Index | None
    ) -> float | None:
        """Return where a rival wins between `start` and `end`, None when none does."""
        middle = self._middle(start, end)
        holders = self._holders(today, start, end)
        others = self._rivals(today, holders, (start, end, middle), among)
        if others is not None and not len(others):
            return None
        known = self.pool.rows if self.question.by else holders
        contenders = None if others is None else np.vstack([others, known])
        narrow = self._close(start, end, NARROW)
        for value in (end,) if narrow else (middle, end):
            problem = self.problem(value)
            found = (
                self.exact(value)
                if contenders is None
                else look(problem, contenders, self.question)
            )
            if found.keys != today.keys and self.question.by:
                found = self.exact(value)  # designs told apart from none may do better
            if found.keys != today.keys:
                self.pool.add(found.rows)
                return value
        if narrow:
            return None
        left = self._change_inside(today, start, middle, others)
        return left if left is not None else self._change_inside(today, middle, end, others)

    def _holders(self, today: Answering, start: float, end: float) -> Index:
        """Return the designs that hold today's answer at both values, of those known."""
        if not self.question.by or self.question.front:
            return today.rows
        rows = self.pool.rows[self._same(today, start, self.pool.rows)]
        ends = [self.problem(value).evaluate(rows) for value in (start, end)]
        both = ends[0].feasible & ends[1].feasible
        column = self.question.column(self.problem(start))
        if column is None or not both.any():
            return rows[both]
        worst = np.maximum(ends[0].loss[both, column], ends[1].loss[both, column])
        return rows[both][[int(np.argmin(worst))]]

    def _same(self, today: Answering, value: float, rows: Index) -> NDArray[np.bool_]:
        """Return which designs are told apart from none of today's answer."""
        numbers = identity(self.problem(value), rows, self.question)
        same = np.zeros(len(rows), dtype=bool)
        for key in today.keys:
            same |= (numbers == np.array(key)).all(axis=1)
        return same

    def _rivals(
        self, today: Answering, holders: Index, values: tuple[float, ...], among: Index | None
    ) -> Index | None:
        """Return the designs that may win between two values; None when they are too many."""
        start, end, middle = (self.problem(value) for value in values)
        column = self.question.column(start)
        distance = abs(math.log(values[1] / values[0]))
        if among is None:
            short = distance <= rivals.SHORT
            found = rivals.among_all(start, end, holders, column, self._touched, short=short)
        else:
            problems = (start, end, middle)
            found = rivals.among_few(problems, holders, among, column, distance)
        if found is None or not self.question.by:
            return found
        return found[~self._same(today, values[0], found)]

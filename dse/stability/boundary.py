"""Where the answer to a study changes as one of its numbers moves, to a tenth of a per cent.

A pool of designs, the fronts of every exact search so far, says cheaply where an answer may end.
Whether it holds up to there is decided over the whole space: what `rivals` cannot rule out between
two values is compared in the middle and again in each half, down to `NARROW`.  Spaces beyond
`SCREENED` designs that cannot be composed are searched exactly at points instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.errors import NotFiniteError, TooLargeError, UnitError
from dse.model.problem import Problem
from dse.model.space import Index, blocks
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.work import LOOK, spend
from dse.stability import rivals
from dse.stability.edge import OVERFLOW, TOO_MANY, Edge
from dse.stability.log_scale import LogScale, log_distance
from dse.stability.tracking import (
    AnswerDesigns,
    Pool,
    TrackedAnswer,
    answer_among,
    identity,
)

NARROW = 1e-3
"""Relative width of the intervals that are not divided any further."""

PRECISE = 1e-7
"""Relative width to which an end is bisected."""

SCREENED = 20_000_000
"""Largest space of which every design is compared, unless its rivals are composed."""

LARGEST = 60_000_000
"""Largest space that is searched; a range ends where the space becomes larger."""

STEPS, DENSE = 40, 480
CHECKS, MANY_CHECKS = 10, 40
SMALL = 300_000
"""Points where the pool is compared, the second if not every design is; then also points of exact
searches, and up to which space there are many of them."""


def is_screened(problem: Problem) -> bool:
    """Tell whether every design of a space is compared, or ruled out by bounds."""
    return problem.size <= SCREENED or rivals.composes(problem)


class Line:
    """The tracked answer along one number."""

    def __init__(
        self,
        at: Callable[[float], Problem],
        tracked: TrackedAnswer,
        pool: Pool,
        *,
        integer: bool = False,
        known: tuple[float, AnswerDesigns] | None = None,
        settings: search.SearchSettings,
    ) -> None:
        """Start with a pool of designs that may be the answer, which this line adds to.

        `known` is a value and the answer there, where an exact search has found it; `settings` says
        how much a search may take.
        """
        self._settings = replace(settings, method="exact", budget=None, options={})
        self._at = at
        self.tracked = tracked
        self.pool = pool
        self._scale = LogScale(integer)
        self.solves = 0
        self._exact: dict[float, AnswerDesigns] = dict([known] if known else [])
        self._problems: dict[float, Problem] = {}

    def problem(self, value: float) -> Problem:
        """Return the problem at a value of the number."""
        if value not in self._problems:
            if len(self._problems) > DENSE:
                self._problems.clear()
            self._problems[value] = self._at(value)
        return self._problems[value]

    def exact(self, value: float) -> AnswerDesigns:
        """Return the answer at a value, searched exactly; the front joins the pool."""
        if value not in self._exact:
            problem = self.problem(value)
            settings = replace(self._settings, limit=max(LARGEST, problem.size))
            front = search.run_search(problem, settings)
            self.solves += 1
            spend(LOOK)  # a search that was cut short proves nothing
            self.pool.add(front.front_index)
            self._exact[value] = answer_among(problem, front.front_index, self.tracked)
        return self._exact[value]

    def edge(self, start: float, limit: float) -> Edge:
        """Return how far from `start` towards `limit` the answer at `start` holds."""
        reach = self._reach(start, limit)
        limited = TOO_MANY if reach != limit else ""
        while True:
            try:
                return self._edge_within(start, reach, limited)
            except TooLargeError:
                return Edge(holds_to=start, complete=False, limited=TOO_MANY)
            except NotFiniteError:
                again, limited = limited == OVERFLOW, OVERFLOW
                inside, _ = self._scale.bisected(start, reach, NARROW, self._is_finite)
                reach = self._scale.middle(start, reach) if again else inside
                if self._scale.is_close(start, reach, NARROW):
                    return Edge(holds_to=start, limited=OVERFLOW)

    def _is_finite(self, value: float) -> bool:
        """Whether no design that may be compared at a value overflows there."""
        problem = self.problem(value)
        try:
            if problem.size <= SCREENED and not rivals.composes(problem):
                for block in blocks(problem.sizes, CHUNK):
                    problem.evaluate(block)
            else:
                self.exact(value)
        except NotFiniteError:
            return False
        return True

    def _edge_within(self, start: float, reach: float, limited: str) -> Edge:
        """Return how far up to `reach` the answer holds; beyond it the range is `limited`."""
        answer = self.exact(start)
        if self._is_unrivalled(answer, start, start, reach):
            return Edge(holds_to=reach, limited=limited)
        changes: list[float] = []
        while True:
            known = len(self.pool.rows)
            inside, outside = self._pooled_edge(answer, start, reach, changes)
            complete = self._is_complete(inside)
            changed = self._first_change(answer, start, inside, complete=complete)
            if changed is None:
                ends = [] if complete and answer.rows.size else [inside]
                ends += [] if outside is None else [outside]
                changed = next(
                    (end for end in ends if self._is_contradicted(answer, end, outside)), None
                )
            if changed is None and not complete and len(self.pool.rows) > known:
                continue  # what the checks found may answer between them
            if changed is None or (changed in changes and len(self.pool.rows) == known):
                why = limited if outside is None else ""
                return Edge(holds_to=inside, flips_at=outside, complete=complete, limited=why)
            changes.append(changed)

    def _is_unrivalled(self, answer: AnswerDesigns, start: float, low: float, high: float) -> bool:
        """Whether no design may replace the answer at `start`, which holds at two values."""
        if not answer.rows.size or not self._is_complete(low) or not self._is_complete(high):
            return False
        if not all(self._holds_at(value, answer, answer.rows) for value in (low, high)):
            return False
        others = self._rivals(answer, answer.rows, (low, high, self._scale.middle(low, high)), None)
        return others is not None and not len(others)

    def _is_complete(self, value: float) -> bool:
        """Whether every design is compared: one loss decides, or the front is followed.

        Two ends say nothing of a design between them that may fail there.
        """
        problem = self.problem(value)
        if problem.tolerant:
            return False
        comparable = self.tracked.front or self.tracked.column(problem) is not None
        return comparable and is_screened(problem)

    def _is_contradicted(self, answer: AnswerDesigns, value: float, outside: float | None) -> bool:
        """Whether an exact search contradicts what the pool says of an end."""
        holds = self.exact(value).keys == answer.keys
        return holds if value == outside else not holds

    def _reach(self, start: float, limit: float) -> float:
        """Return how far the space stays small enough to be searched."""

        def fits(value: float) -> bool:
            try:
                return self.problem(value).size <= LARGEST
            except UnitError:  # there are no axes so long
                return False

        return limit if fits(limit) else self._scale.bisected(start, limit, NARROW, fits)[0]

    def _pooled_edge(
        self, answer: AnswerDesigns, start: float, limit: float, changes: Iterable[float]
    ) -> tuple[float, float | None]:
        """Return the last value where the pool has the answer, and the first where not."""

        def holds(value: float) -> bool:
            return self._holds_at(value, answer, self.pool.rows)

        inside = start
        steps = STEPS if self._is_complete(limit) else DENSE
        for value in self._scale.grid(start, limit, steps, NARROW, changes):
            if not holds(value):
                return self._scale.bisected(inside, value, PRECISE, holds)
            inside = value
        return inside, None

    def _holds_at(self, value: float, answer: AnswerDesigns, rows: Index) -> bool:
        """Whether some designs have the answer at a value."""
        return answer_among(self.problem(value), rows, self.tracked).keys == answer.keys

    def _first_change(
        self, answer: AnswerDesigns, start: float, end: float, *, complete: bool
    ) -> float | None:
        """Return a value between two that share an answer where it is another; None: nowhere."""
        if start == end:
            return None
        if complete:
            return self._change_inside(answer, start, end, None)
        many = self.problem(end).size <= SMALL
        for value in self._scale.grid(start, end, MANY_CHECKS if many else CHECKS, NARROW):
            if self.exact(value).keys != answer.keys:
                return value
        return None

    def _change_inside(
        self, answer: AnswerDesigns, start: float, end: float, among: Index | None
    ) -> float | None:
        """Return where a rival wins between `start` and `end`, None when none does."""
        middle = self._scale.middle(start, end)
        incumbents = self._incumbents(answer, start, end)
        others = self._rivals(answer, incumbents, (start, end, middle), among)
        if others is not None and not len(others):
            return None
        known = self.pool.rows if self.tracked.by else incumbents
        contenders = None if others is None else np.vstack([others, known])
        narrow = self._scale.is_close(start, end, NARROW)
        for value in (end,) if narrow else (middle, end):
            problem = self.problem(value)
            found = (
                self.exact(value)
                if contenders is None
                else answer_among(problem, contenders, self.tracked)
            )
            if found.keys != answer.keys and self.tracked.by:
                found = self.exact(value)  # designs that count as one of the answer may do better
            if found.keys != answer.keys:
                self.pool.add(found.rows)
                return value
        if narrow:
            return None
        left = self._change_inside(answer, start, middle, others)
        return left if left is not None else self._change_inside(answer, middle, end, others)

    def _incumbents(self, answer: AnswerDesigns, start: float, end: float) -> Index:
        """Return the known designs that have the answer at both values."""
        if not self.tracked.by or self.tracked.front:
            return answer.rows
        rows = self.pool.rows[self._same(answer, start, self.pool.rows)]
        ends = [self.problem(value).evaluate(rows) for value in (start, end)]
        both = ends[0].feasible & ends[1].feasible
        column = self.tracked.column(self.problem(start))
        if column is None or not both.any():
            return rows[both]
        worst = np.maximum(ends[0].loss[both, column], ends[1].loss[both, column])
        return rows[both][[int(np.argmin(worst))]]

    def _same(self, answer: AnswerDesigns, value: float, rows: Index) -> NDArray[np.bool_]:
        """Return which designs count as one of the answer."""
        numbers = identity(self.problem(value), rows, self.tracked)
        same = np.zeros(len(rows), dtype=bool)
        for key in answer.keys:
            same |= (numbers == np.array(key)).all(axis=1)
        return same

    def _rivals(
        self,
        answer: AnswerDesigns,
        incumbents: Index,
        values: tuple[float, ...],
        among: Index | None,
    ) -> Index | None:
        """Return the designs that may win between two values; None when they are too many."""
        start, end, middle = (self.problem(value) for value in values)
        column = self.tracked.column(start)
        distance = log_distance(values[0], values[1])
        if among is None:
            short = distance <= rivals.SHORT
            found = rivals.among_all(start, end, incumbents, column, short=short)
        else:
            problems = (start, end, middle)
            found = rivals.among_few(problems, incumbents, among, column, distance)
        if found is None or not self.tracked.by:
            return found
        return found[~self._same(answer, values[0], found)]

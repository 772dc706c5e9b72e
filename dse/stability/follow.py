"""Following an answer along one assumption: how far it holds, and the answer beyond.

Designs that are known, of fronts so far, say how far the answer holds at most.  Where one loss
decides, or a front is followed, one question to the space over that interval, a little beyond its
ends, gives every design that may win anywhere in it; among these the interval is halved until none
of them can win between two values (`between`).  Otherwise, and in spaces beyond `SCREENED` designs
that cannot be composed, the space is searched exactly at points instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dse.errors import DseError, NotFiniteError, TooLargeError, UnitError
from dse.model.matrices import distinct
from dse.model.problem import Problem
from dse.model.space import Index, blocks
from dse.reports.designs import parts
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.work import CALL, spend
from dse.stability import rivals
from dse.stability.between import Between, Span
from dse.stability.edge import OVERFLOW, TOO_MANY
from dse.stability.flips import NOTHING_FITS, IntervalEnd
from dse.stability.holding import LARGEST, SCREENED, Asking, Compared, Holding, Searched
from dse.stability.log_scale import NARROW, LogScale
from dse.stability.tracking import answer_instead
from dse.study.assumptions import Assumption

PRECISE = 1e-7
"""Relative width to which an end is bisected."""

GROWTH = 128
"""How many times larger a space may become; up to `LARGEST` it may in any case."""

STEPS, DENSE = 40, 480
CHECKS, MANY_CHECKS = 10, 40
SMALL = 300_000
"""Points where known designs are compared, the second if not every design is; then also points of
exact searches, and up to which space there are many of them."""

Ends = tuple[IntervalEnd, IntervalEnd]


class Follower:
    """Follows the answer along one assumption, to both sides of the value where it is known."""

    def __init__(self, entry: Assumption, searched: Searched, limits: tuple[float, float]) -> None:
        """Take both ends of the range; `searched` knows a front, or searches it."""
        self.entry = entry
        self._searched = searched
        self._tracked = searched.tracked
        self._scale = LogScale(entry.integer, entry.among)
        self._limited = ["", ""]
        self._limits = list(limits)
        self._within: tuple[float, ...] = limits
        for side, limit in enumerate(limits):
            self._limits[side] = self._reach(limit)
            self._limited[side] = "" if self._limits[side] == limit else TOO_MANY
        self._hold = Holding(searched, entry, [problem.sizes for problem in self.problems])

    @property
    def problems(self) -> tuple[Problem, Problem]:
        """The problems at both ends of the range."""
        return self._searched.at(self._limits[0]), self._searched.at(self._limits[1])

    @property
    def column(self) -> int:
        """The loss that decides where several assumptions are looked at together."""
        return self._hold.column or 0

    def ends(self) -> Asking[Ends]:
        """Return both ends of the interval in which the answer holds."""
        if self._hold.alone and all(map(self._hold.is_compared, self._limits)):
            return (yield from self._ends(*self._limits))
        start = self.entry.value
        low, _ = yield from self._ends(self._limits[0], start)
        _, high = yield from self._ends(start, self._limits[1])
        return low, high

    def _ends(self, *limits: float) -> Asking[Ends]:
        """Return both ends within limits."""
        self._within = limits
        hold = self._hold
        rows, touched = yield from self._start()
        spans = yield from self._spans(rows, ())
        between = Between(hold, spans)
        if not (yield from between.find(rows, touched, last=False)):
            # the front tells too little: those at the ends tell more
            at_ends = [inside if outside is None else outside for inside, outside in spans]
            rows = hold.with_answer(np.vstack([rows, *map(self._searched.front, at_ends)]))
            spans = yield from self._spans(rows, ())
            between = Between(hold, spans)
            yield from between.find(rows, touched, last=True)
        changes: list[float] = []
        while True:
            known = len(self._searched.rows)
            changed = (yield from between.changes(spans, changes)) or self._at_points(spans)
            new = [value for value, _ in changed if value not in changes]
            if not new and len(self._searched.rows) == known:
                break
            changes += new
            more = [won for _, won in changed]
            rows = hold.with_answer(np.vstack([rows, *more, self._known()]))
            spans = yield from self._spans(rows, changes)
            if not hold.alone:  # more designs count as the answer, which may reach further
                between = Between(hold, spans)
                yield from between.find(rows, touched, last=True)
        every = distinct(np.vstack([rows, *between.rows]))
        low, high = (self._end(side, span, every) for side, span in enumerate(spans))
        return low, high

    def shorten(self, error: DseError) -> None:
        """Shorten the range to what can be searched after an error there.

        Raises
        ------
        DseError
            The error, where nothing is left to be shortened.
        """
        start = self.entry.value
        if all(limit == start for limit in self._limits):
            raise error
        if isinstance(error, TooLargeError):
            self._limits, self._limited = [start, start], [TOO_MANY, TOO_MANY]
        elif isinstance(error, NotFiniteError):
            far = [side for side in (0, 1) if not self._is_finite(self._limits[side])]
            for side in far or (0, 1):
                self._limited[side] = OVERFLOW
                self._limits[side] = self._shortened(self._limits[side], bisected=bool(far))
        else:
            raise error

    def _shortened(self, limit: float, *, bisected: bool) -> float:
        start = self.entry.value
        if bisected:
            return self._scale.bisected(start, limit, NARROW, self._is_finite)[0]
        middle = self._scale.middle(start, limit)
        return start if self._scale.is_close(start, middle, NARROW) else middle

    def _is_finite(self, value: float) -> bool:
        """Whether no design that may be compared at a value overflows there."""
        problem = self._searched.at(value)
        try:
            if problem.size <= SCREENED and not rivals.composes(problem):
                for block in blocks(problem.sizes, CHUNK):
                    spend(CALL + len(block))
                    problem.evaluate(block)
            else:
                self._searched.front(value)
        except NotFiniteError:
            return False
        return True

    def _reach(self, limit: float) -> float:
        """Return how far the space stays small enough to be searched."""

        def fits(value: float, most: int = LARGEST) -> bool:
            try:
                return self._searched.at(value).size <= most
            except UnitError:  # there are no axes so long
                return False

        start = self.entry.value
        if fits(limit, max(LARGEST, GROWTH * self._searched.at(start).size)):
            return limit
        return self._scale.bisected(start, limit, NARROW, fits)[0] if fits(start) else start

    def _known(self) -> Index:
        """Return the designs of searches so far; of one alone, those that won are enough."""
        rows = self._searched.rows
        return (
            rows[:0]
            if self._hold.alone and all(map(self._hold.is_compared, self._limits))
            else rows
        )

    def _start(self) -> Asking[tuple[Index, tuple[int, int] | None]]:
        """Return the designs that say how far the answer holds at most, it first.

        And an axis and one of its choices, if only designs with that can do better than today.
        """
        hold = self._hold
        rows = hold.with_answer(self._searched.rows)
        if not hold.alone:
            return rows, None
        low, high = self._within
        (seen,) = yield [hold.compare(rows, (low, self.entry.value, high))]
        if self._tracked.counts:
            hold.counts = seen.counts[1, 0]
        alone = (seen.loss[:, 0] == seen.loss[1, 0]).all() and seen.feasible[:, 0].all()
        return rows[self._may_win(seen)], self.entry.touched if alone else None

    def _may_win(self, seen: Compared) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which designs may win between the ends; the first of them is the answer."""
        possible = np.ones(seen.loss.shape[1], dtype=bool)
        if seen.feasible[:, 0].all():
            worst = seen.loss[:, 0].max(axis=0)
            possible = (seen.violation.min(axis=0) <= 0).all(axis=1)
            possible &= rivals.may_beat_each(seen.loss.min(axis=0), worst, self.column)
            possible[0] = True
        return possible

    def _spans(self, rows: Index, changes: Sequence[float]) -> Asking[list[Span]]:
        """Return how far designs, those of the answer first, have the answer, to either side."""
        start = self.entry.value
        grids = [self._grid(rows, limit, changes) for limit in self._within]
        held = yield from self._held(rows, grids)
        spans: list[Span] = []
        for grid, first in zip(grids, held, strict=True):
            outside = grid[first] if first < len(grid) else None
            spans.append(([start, *grid][first], outside))
        while True:
            middles = [
                (side, self._scale.middle(inside, outside))
                for side, (inside, outside) in enumerate(spans)
                if outside is not None and not self._scale.is_close(inside, outside, PRECISE)
            ]
            if not middles:
                return spans
            held = yield from self._held(rows, [[middle] for _, middle in middles])
            for (side, middle), holds in zip(middles, held, strict=True):
                inside, outside = spans[side]
                spans[side] = (middle, outside) if holds else (inside, middle)

    def _grid(self, rows: Index, limit: float, changes: Sequence[float]) -> list[float]:
        start, hold = self.entry.value, self._hold
        counted = hold.counts is not None and hold.counts.size
        if hold.alone and len(rows) == 1 and start != limit and not counted:
            return [limit]
        steps = STEPS if self._hold.is_compared(limit) else DENSE
        return self._scale.grid(start, limit, steps, NARROW, changes)

    def _held(self, rows: Index, grids: Sequence[Sequence[float]]) -> Asking[list[int]]:
        """Return at how many values of each grid, from the first on, designs have the answer."""
        hold = self._hold
        if not hold.alone:
            return [hold.held(rows, grid, None) for grid in grids]
        seen = yield [hold.compare(rows, grid) for grid in grids if grid]
        replies = iter(seen)
        return [hold.held(rows, grid, next(replies)) if grid else 0 for grid in grids]

    def _at_points(self, spans: Sequence[Span]) -> list[tuple[float, Index]]:
        """Return a value where an exact search contradicts what known designs say."""
        by = bool(self._tracked.by) and not self._tracked.front
        for inside, outside in spans:
            compared = self._hold.is_compared(inside)
            values = [] if outside is None or (compared and not by) else [outside]
            if not compared:
                few = CHECKS if self._searched.at(inside).size > SMALL else MANY_CHECKS
                values += self._scale.grid(self.entry.value, inside, few, NARROW)
            for value in values:
                front = self._searched.front(value)
                if self._hold.holds(self._searched.rows, value) is (value == outside):
                    return [(value, front)]
        return []

    def _end(self, side: int, span: Span, rows: Index) -> IntervalEnd:
        inside, outside = span
        compared = self._hold.is_compared(inside)
        becomes: tuple[str, ...] = ()
        if outside is not None:
            problem = self._searched.at(outside)
            if not (self._hold.alone and compared):
                rows = self._searched.front(outside)
            found = answer_instead(problem, rows, self._tracked, self._hold.answer)
            texts = parts(problem, found.rows)
            becomes = texts[0] if texts else (NOTHING_FITS,)
        limited = self._limited[side] if outside is None else ""
        return IntervalEnd(
            holds_to=inside,
            flips_at=outside,
            complete=compared,
            limited=limited,
            becomes=becomes,
        )

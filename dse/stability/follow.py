"""Following an answer that one loss decides along one assumption, from the whole space once.

The designs of the front say how far the answer holds at most.  One question to the space over that
interval, a little beyond its ends, gives every design that may win anywhere in it.  Among these the
interval is halved until none of them can win between two values (`rivals.among_few`).

What is asked is yielded, so that the questions of several assumptions are answered together.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.errors import UnitError
from dse.model.front import dominated_by_point
from dse.model.space import Index
from dse.reports.designs import parts
from dse.search.exact.work import LOOK, spend
from dse.stability import rivals
from dse.stability.boundary import LARGEST, NARROW, PRECISE, STEPS, is_screened
from dse.stability.edge import Edge
from dse.stability.flips import NOTHING_FITS, IntervalEnd
from dse.stability.log_scale import LogScale, log_distance
from dse.stability.screen import Screen
from dse.stability.tracking import AnswerDesigns, TrackedAnswer, answer_among, spread
from dse.study.assumptions import Assumption

EFFORT = 1_000_000
"""Work to go through a space of partial designs at first; what takes more is divided."""

MOST_EFFORT = 32_000_000
"""Work after which an interval is divided no more."""

GROWTH = 128
"""How many times larger a space may become."""

SHORTEST = 1e-3
"""Natural logarithm of the ratio of two values between which no more is divided."""


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

    def part(self, values: list[int], chosen: NDArray[np.bool_] | None = None) -> Compared:
        """Return some designs at some of the values."""
        tables = [table[values] for table in (self.loss, self.violation, self.counts)]
        return Compared(*(table if chosen is None else table[:, chosen] for table in tables))


T = TypeVar("T")
Asked = Compare | Screen
Asking = Generator[Sequence[Asked], list[Any], T]
"""Yields what is asked, a `Compared` or an index for each, and returns what was found."""

Span = tuple[float, float | None]
"""The last value where the answer holds, and the first where it does not; None for the limit."""

Ends = tuple[IntervalEnd, IntervalEnd]


Between = tuple[float, float, Index]
"""Two values, and the designs (n, d) that may win between them."""

MANY = 100_000
"""Designs at values that are compared before an interval is divided further."""


class UnfollowedError(Exception):
    """The answer cannot be followed so, and has to be tracked from point to point."""


class Follower:
    """Follows the answer along one assumption."""

    def __init__(
        self,
        entry: Assumption,
        tracked: TrackedAnswer,
        front: Index,
        nominal: AnswerDesigns,
        limits: tuple[float, float],
        settings: search.SearchSettings,
    ) -> None:
        """Take the exact `front` and its answer, both ends of the range, and how to search.

        Raises
        ------
        UnfollowedError
            Where more than one loss decides, or the space is too large to be gone through.
        """
        self.entry = entry
        try:
            self.problems = tuple(entry.at(limit) for limit in limits)
        except UnitError as error:  # there are no axes so long
            raise UnfollowedError from error
        self._check(tracked)
        self._settings = settings
        self._tracked = tracked
        self._nominal = nominal
        self._front = np.vstack([nominal.rows, self._others_of(front)])
        self._limits = limits
        self._least = tuple(map(min, *(problem.sizes for problem in self.problems)))
        self._ties: dict[bytes, bool] = {}
        self._scale = LogScale(entry.integer)
        self.column = tracked.column(entry.problem) or 0
        self._counts: NDArray[np.float64] = np.empty(0)

    def ends(self) -> Asking[Ends]:
        """Return both ends of the interval in which the answer holds.

        Raises
        ------
        UnfollowedError
            There are too many designs to compare.
        """
        low, high = self._limits
        (seen,) = yield [self._compare(self._front, (low, self.entry.value, high))]
        self._counts = seen.counts[1, 0]
        rows = self._front[self._may_win(seen)]
        spans = yield from self._spans(rows, ())
        beyond, searched = yield from self._searched(rows, spans)
        alone = (seen.loss[:, 0] == seen.loss[1, 0]).all() and seen.feasible[:, 0].all()
        touched = self.entry.touched if alone else None
        others = yield from self._others(rows, spans, searched, touched, last=False)
        if others is None:  # the front tells too little: those at the ends tell more
            ends = [inside if outside is None else outside for inside, outside in spans]
            rows = self._with(rows, [self._front_at(end) for end in ends])
            spans = yield from self._spans(rows, ())
            further, searched = yield from self._searched(rows, spans)
            beyond = np.vstack([beyond, further])
            others = yield from self._others(rows, spans, searched, touched, last=True)
        if others is None:
            raise UnfollowedError
        changes: list[float] = []
        while others:
            found = yield from self._changes(spans, others, changes)
            if not found:
                break
            changes += [value for value, _ in found]
            rows = self._with(rows, [won for _, won in found])
            spans = yield from self._spans(rows, changes)
        every = np.vstack([rows, *(some for _, _, some in others), beyond])
        every = np.unique(every, axis=0)
        return self._end(spans[0], every), self._end(spans[1], every)

    def _check(self, tracked: TrackedAnswer) -> None:
        """Refuse what is tracked from point to point."""
        if tracked.column(self.entry.problem) is None or self.entry.problem.tolerant:
            raise UnfollowedError
        most = max(LARGEST, GROWTH * self.entry.problem.size)
        if not all(is_screened(problem) and problem.size <= most for problem in self.problems):
            raise UnfollowedError

    def _compare(self, rows: Index, values: Sequence[float]) -> Compare:
        return Compare(self.entry, rows, values, self._least)

    def _front_at(self, value: float) -> Index:
        problem = self.entry.at(value)
        front = search.run_search(problem, self._settings).front_index
        spend(LOOK)  # a search that was cut short proves nothing
        return spread(front, problem, self._tracked)

    def _with(self, rows: Index, more: Sequence[Index]) -> Index:
        """Return designs and more of them, each once, the answer first."""
        every = np.unique(np.vstack([rows, *more]), axis=0)
        return np.vstack([self._nominal.rows, self._others_of(every)])

    def _others_of(self, rows: Index) -> Index:
        """Return which designs are not the answer."""
        others: Index = rows[~(rows == self._nominal.rows).all(axis=1)]
        return others

    def _may_win(self, seen: Compared) -> NDArray[np.bool_]:
        """Return which designs may win between the ends; the first of them is the answer."""
        if not seen.feasible[:, 0].all():
            return np.ones(seen.loss.shape[1], dtype=bool)
        possible: NDArray[np.bool_] = (seen.violation.min(axis=0) <= 0).all(axis=1)
        worst = seen.loss[:, 0].max(axis=0)
        possible &= rivals.may_win(seen.loss.min(axis=0), worst[np.newaxis], self.column)
        possible[0] = True
        return possible

    def _spans(self, rows: Index, changes: Sequence[float]) -> Asking[list[Span]]:
        """Return how far the first row is the answer among all, to either side."""
        start = self.entry.value
        grids = [
            [limit]
            if len(rows) == 1 and start != limit and not self._counts.size
            else self._scale.grid(start, limit, STEPS, NARROW, changes)
            for limit in self._limits
        ]
        seen = yield [self._compare(rows, grid) for grid in grids if grid]
        spans: list[Span] = []
        for grid in grids:
            held = self._holds(rows, grid, seen.pop(0)) if grid else np.ones(0, dtype=bool)
            first = len(grid) if held.all() else int(np.argmin(held))
            spans.append(([start, *grid][first], None if held.all() else grid[first]))
        while True:
            middles = {
                side: self._scale.middle(inside, outside)
                for side, (inside, outside) in enumerate(spans)
                if outside is not None and not self._scale.is_close(inside, outside, PRECISE)
            }
            if not middles:
                return spans
            seen = yield [self._compare(rows, (middle,)) for middle in middles.values()]
            for (side, middle), there in zip(middles.items(), seen, strict=True):
                inside, outside = spans[side]
                held = self._holds(rows, (middle,), there)
                spans[side] = (middle, outside) if held[0] else (inside, middle)

    def _searched(self, rows: Index, spans: Sequence[Span]) -> Asking[tuple[Index, list[float]]]:
        """Search the space beyond ends where no design fits that is known: its front, and where."""
        values = [outside for _, outside in spans if outside is not None]
        if not values:
            return rows[:0], []
        (seen,) = yield [self._compare(rows, values)]
        searched = [
            value for value, fits in zip(values, seen.feasible.any(axis=1), strict=True) if not fits
        ]
        fronts = [self._front_at(value) for value in searched]
        return np.concatenate([rows[:0], *fronts]), searched

    def _others(
        self,
        rows: Index,
        spans: Sequence[Span],
        searched: Collection[float],
        touched: tuple[int, int] | None,
        *,
        last: bool,
    ) -> Asking[list[Between] | None]:
        """Return which designs of the whole space may win, up to the ends or just beyond.

        Not beyond where that is `searched`.  None where they are too many; unless it is the `last`
        time, as soon as that shows.
        """
        outer = [
            inside if outside is None or outside in searched else outside
            for inside, outside in spans
        ]
        worst: dict[float, NDArray[np.float64]] = {}
        found: list[Between] = []
        pending, most = [(outer[0], outer[1])], EFFORT
        while pending:
            values = list(dict.fromkeys(end for pair in pending for end in pair))
            (seen,) = yield [self._compare(rows, values)]
            worst = {
                value: self._worst(seen, at, answers=value not in (spans[0][1], spans[1][1]))
                for at, value in enumerate(values)
            }
            asked = [
                Screen(self.entry, *pair, np.maximum(worst[pair[0]], worst[pair[1]]), touched, most)
                for pair in pending
            ]
            replies = yield asked
            missing = []
            for (low, high), reply in zip(pending, replies, strict=True):
                if reply is None:
                    missing.append((low, high))
                elif len(others := self._others_of(reply)):
                    found.append((low, high, others))
            if missing and most > (MOST_EFFORT if last else EFFORT):
                return None
            pending = [half for pair in missing for half in self._halves(*pair)]
            most *= 2
        return found

    def _halves(self, low: float, high: float) -> list[tuple[float, float]]:
        """Divide what is too wide to be gone through at once, first at today's value."""
        if log_distance(low, high) <= SHORTEST or (self.entry.integer and high - low <= 1):
            raise UnfollowedError
        today = self.entry.value
        middle = today if low < today < high else self._scale.middle(low, high)
        return [(low, middle), (middle, high)]

    def _worst(self, seen: Compared, at: int, *, answers: bool) -> NDArray[np.float64]:
        """Return the losses of the answer at a value, which is today's or the best one known."""
        if answers:
            return np.asarray(seen.loss[at, 0])
        decides = np.where(seen.feasible[at], seen.loss[at, :, self.column], np.inf)
        return np.asarray(seen.loss[at, decides.argmin()])

    def _holds(self, rows: Index, values: Sequence[float], seen: Compared) -> NDArray[np.bool_]:
        """Return at which values the first row is the answer among all."""
        decides = np.where(seen.feasible, seen.loss[:, :, self.column], np.inf)
        best = decides.min(axis=1)
        held = seen.feasible[:, 0] & (decides[:, 0] == best)
        held &= (seen.counts[:, 0] == self._counts).all(axis=1)
        tied = decides == best[:, np.newaxis]
        for at in np.flatnonzero(held & (tied.sum(axis=1) > 1)).tolist():
            held[at] = self._wins_tie(rows, values[at], seen, at, tied[at])
        return np.asarray(held)

    def _wins_tie(
        self, rows: Index, value: float, seen: Compared, at: int, tied: NDArray[np.bool_]
    ) -> bool:
        """Whether the first row is the answer among those that are tied at a value."""
        loss = seen.loss[at]
        tied = tied & ~dominated_by_point(loss, loss[0])
        if tied.sum() == 1:
            return True
        same = (loss[tied] == loss[0]).all()  # then names alone decide, wherever that is
        key = rows[tied].tobytes() + seen.counts[at, tied].tobytes()
        if same and key in self._ties:
            return self._ties[key]
        found = answer_among(self.entry.at(value), rows[tied], self._tracked)
        wins = found.keys == self._nominal.keys
        if same:
            self._ties[key] = wins
        return wins

    def _changes(
        self, spans: Sequence[Span], others: Sequence[Between], known: Collection[float]
    ) -> Asking[list[tuple[float, Index]]]:
        """Return values inside the spans where others win, not `known` yet, and which do."""
        first, last = sorted(inside for inside, _ in spans)
        today = self.entry.value
        asked = []
        for one, other, among in others:
            low, high = sorted((one, other))
            low, high = max(low, first), min(high, last)
            if low < high:
                ends = sorted({low, high, min(max(today, low), high)})
                asked += [self._divided(*pair, among, rivals.SHORT) for pair in pairwise(ends)]
        while asked:
            some, asked = asked, []
            found: list[tuple[float, Index]] = []
            for ask, there in zip(some, (yield some), strict=True):
                changed, wider = self._inside(ask, there)
                found += [(value, won) for value, won in changed if value not in known]
                asked += wider
            if found:
                return found
        return []

    def _inside(
        self, ask: Compare, seen: Compared
    ) -> tuple[list[tuple[float, Index]], list[Compare]]:
        """Return values where others win, and which do; and what is to be divided further."""
        found: list[tuple[float, Index]] = []
        wider = []
        for first in range(0, len(ask.values) - 1, 2):
            one, middle, other = ask.values[first : first + 3]
            rows, part = self._possible(ask, seen, first)
            if len(rows) == 1:
                continue
            narrow = self._scale.is_close(one, other, NARROW)
            held = self._holds(rows, (one, middle, other), part)
            found += [
                (value, answer_among(self.entry.at(value), rows, self._tracked).rows)
                for value, holds in ((middle, held[1] or narrow), (other, held[2]))
                if not holds
            ]
            if not narrow:
                width = log_distance(one, other) / 2
                wider.append(self._divided(one, other, rows[1:], width))
        return found, wider

    def _divided(self, start: float, end: float, among: Index, width: float) -> Compare:
        """Ask for the answer and others at the ends and middles of parts of at most a width."""
        values = [start, end]
        while log_distance(values[0], values[1]) > width * 1.01 and not self._is_whole(values):
            if len(values) * len(among) > MANY:
                break
            values = self._with_middles(values)
        rows = np.vstack([self._nominal.rows, among])
        return self._compare(rows, self._with_middles(values))

    def _is_whole(self, values: Sequence[float]) -> bool:
        """Whether nothing lies between some of the values, or no ratio tells how much does."""
        pairs = list(pairwise(values))
        near = any(self._scale.is_close(one, other, NARROW) for one, other in pairs)
        return near or any(math.isinf(log_distance(one, other)) for one, other in pairs)

    def _with_middles(self, values: Sequence[float]) -> list[float]:
        middles = [self._scale.middle(one, other) for one, other in pairwise(values)]
        return [value for pair in zip(values, middles, strict=False) for value in pair] + [
            values[-1]
        ]

    def _possible(self, ask: Compare, seen: Compared, first: int) -> tuple[Index, Compared]:
        """Return what may win between two values, the answer first, and how it does there."""
        ends = seen.part([first, first + 2, first + 1])
        distance = log_distance(ask.values[first], ask.values[first + 2])
        possible = rivals.may_replace(
            ends.loss, ends.violation, ends.loss[:, :1], self.column, distance
        )
        possible[0] = True
        return ask.rows[possible], seen.part([first, first + 1, first + 2], possible)

    def _end(self, edge: Span, rows: Index) -> IntervalEnd:
        inside, outside = edge
        becomes: tuple[str, ...] = ()
        if outside is not None:
            problem = self.entry.at(outside)
            found = answer_among(problem, rows, self._tracked)
            texts = parts(problem, found.rows)
            becomes = texts[0] if texts else (NOTHING_FITS,)
        return IntervalEnd(**vars(Edge(holds_to=inside, flips_at=outside)), becomes=becomes)

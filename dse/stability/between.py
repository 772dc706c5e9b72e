"""Which designs may take the place of an answer between two values, and where they do."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.model.matrices import distinct
from dse.model.space import Index
from dse.stability import rivals
from dse.stability.holding import Asking, Compare, Compared, Holding
from dse.stability.log_scale import NARROW, LogScale, log_distance
from dse.stability.screen import Screen
from dse.stability.tracking import answer_among

EFFORT = 1_000_000
"""Work to go through a space of partial designs at first; what takes more is divided."""

SHORTEST = 1e-3
"""Natural logarithm of the ratio of two values between which no more is divided."""

MANY = 100_000
"""Designs at values that are compared before an interval is divided further."""

Span = tuple[float, float | None]
"""The last value where the answer holds, and the first where it does not; None for the limit."""


class Between:
    """The designs that may win in an interval around the value where an answer is known."""

    def __init__(self, hold: Holding, spans: Sequence[Span]) -> None:
        """Take how far the answer holds at most."""
        self._hold = hold
        self._entry = hold.entry
        self._scale = LogScale(hold.entry.integer, hold.entry.among)
        self._spans = spans
        self._beyond: Index = hold.answer.rows[:0]
        self._searched: list[float] = []
        self._found: list[tuple[float, float, Index]] = []

    @property
    def rows(self) -> list[Index]:
        """Designs that may win up to the ends, and fronts beyond where nothing known fits."""
        return [self._beyond, *(rows for _, _, rows in self._found)]

    def _look_beyond(self, rows: Index) -> Asking[None]:
        """Search the space beyond ends where no design fits that is known."""
        values = [outside for _, outside in self._spans if outside is not None]
        if not values or not self._hold.alone:
            return
        (seen,) = yield [self._hold.compare(rows, values)]
        fits = seen.feasible.any(axis=1).tolist()
        self._searched = [value for value, some in zip(values, fits, strict=True) if not some]
        fronts = [self._hold.searched.front(value) for value in self._searched]
        self._beyond = np.concatenate([self._beyond, *fronts])

    def find(self, rows: Index, touched: tuple[int, int] | None, *, last: bool) -> Asking[bool]:
        """Find which designs of the whole space may win, up to the ends or just beyond.

        Not beyond where that is searched.  False where they are too many, unless it is the `last`
        time: then intervals are divided until they are `SHORTEST`, where both ends are searched.
        """
        yield from self._look_beyond(rows)
        ends = (self._outer(0), self._outer(1))
        pending, most = [ends] if ends[0] != ends[1] else [], EFFORT
        while pending:
            replies = yield from self._asked(pending, rows, touched, most)
            missing = []
            for (low, high), reply in zip(pending, replies, strict=True):
                if reply is None:
                    missing.append((low, high))
                elif len(others := self._hold.others_of(reply)):
                    self._found.append((low, high, others))
            if missing and most > EFFORT and not last:
                return False
            pending = [half for pair in missing for half in self._halves(*pair)]
            most *= 2
        return True

    def _outer(self, side: int) -> float:
        inside, outside = self._spans[side]
        if not self._hold.is_compared(inside):
            return self._entry.value
        beyond = self._hold.alone and outside not in self._searched
        return outside if beyond and outside is not None else inside

    def _asked(
        self,
        pairs: Sequence[tuple[float, float]],
        rows: Index,
        touched: tuple[int, int] | None,
        most: int,
    ) -> Asking[list[Index | None]]:
        """Return the designs that may win between pairs of values, None for too many."""
        if not self._hold.alone:
            return [self._rivals(low, high) for low, high in pairs]
        values = list(dict.fromkeys(end for pair in pairs for end in pair))
        (seen,) = yield [self._hold.compare(rows, values)]
        worst = {value: self._worst(seen, at, value) for at, value in enumerate(values)}
        return (
            yield [
                Screen(
                    self._entry, *pair, np.maximum(worst[pair[0]], worst[pair[1]]), touched, most
                )
                for pair in pairs
            ]
        )

    def _rivals(self, low: float, high: float) -> Index | None:
        hold = self._hold
        ends = self._hold.searched.at(low), self._hold.searched.at(high)
        short = log_distance(low, high) <= rivals.SHORT
        return rivals.among_all(*ends, hold.incumbents(low, high), hold.column, short=short)

    def _worst(self, seen: Compared, at: int, value: float) -> NDArray[np.float64]:
        """Return the losses of the answer at a value, which is today's or the best one known."""
        if value not in (self._spans[0][1], self._spans[1][1]):
            return np.asarray(seen.loss[at, 0])
        decides = np.where(seen.feasible[at], seen.loss[at, :, self._hold.column or 0], np.inf)
        return np.asarray(seen.loss[at, decides.argmin()])

    def _halves(self, low: float, high: float) -> list[tuple[float, float]]:
        """Divide what is too wide to be gone through at once, first at today's value."""
        if log_distance(low, high) <= SHORTEST or self._scale.is_close(low, high, 0.0):
            fronts = np.vstack([self._hold.searched.front(value) for value in (low, high)])
            self._found.append((low, high, self._hold.others_of(distinct(fronts))))
            return []
        today = self._entry.value
        middle = today if low < today < high else self._scale.middle(low, high)
        return [(low, middle), (middle, high)]

    def changes(
        self, spans: Sequence[Span], known: Collection[float]
    ) -> Asking[list[tuple[float, Index]]]:
        """Return values inside the spans where others win, not `known` yet, and which do."""
        first, last = sorted(inside for inside, _ in spans)
        today = self._entry.value
        asked = []
        for one, other, among in self._found:
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
            others = self._hold.others_of(rows)
            if not len(others):
                continue
            narrow = self._scale.is_close(one, other, NARROW)
            held = self._held(rows, (middle, other), part)
            found += [
                (value, self._winners(value, rows))
                for value, holds in zip((middle, other), held, strict=True)
                if not holds and (value == other or not narrow)
            ]
            if not narrow:
                width = log_distance(one, other) / 2
                wider.append(self._divided(one, other, others, width))
        return found, wider

    def _held(self, rows: Index, values: Sequence[float], part: Compared) -> list[bool]:
        if self._hold.alone:
            held: list[bool] = self._hold.holds_seen(part).tolist()
            return held
        if self._hold.tracked.by:
            rows = distinct(np.vstack([rows, self._hold.searched.rows]))
        return [self._hold.holds(rows, value) for value in values]

    def _winners(self, value: float, rows: Index) -> Index:
        if self._hold.tracked.by:  # designs that count as one of the answer may do better
            return self._hold.searched.front(value)
        return answer_among(self._hold.searched.at(value), rows, self._hold.tracked).rows

    def _divided(self, start: float, end: float, among: Index, width: float) -> Compare:
        """Ask for the answer and others at the ends and middles of parts of at most a width."""
        values = [start, end]
        while log_distance(values[0], values[1]) > width * 1.01 and not self._is_whole(values):
            if len(values) * len(among) > MANY:
                break
            values = self._with_middles(values)
        rows = np.vstack([self._hold.incumbents(start, end), among])
        return self._hold.compare(rows, self._with_middles(values))

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
        values = [first, first + 2, first + 1]
        distance = log_distance(ask.values[first], ask.values[first + 2])
        own = len(ask.rows) - len(self._hold.others_of(ask.rows))
        possible = rivals.may_replace(
            seen.loss[values],
            seen.violation[values],
            seen.loss[values, :own],
            self._hold.column,
            distance,
        )
        possible[:own] = True
        return ask.rows[possible], seen.part([first + 1, first + 2], possible)

"""Values of a number on its scale: grids, middles and bisection.

Between two values of one sign the scale is logarithmic; where it passes zero there is no ratio, and
it is the number's own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dse.study.assumptions import Assumption

NARROW = 1e-3
"""Relative width of the intervals that are not divided any further."""


def log_distance(one: float, other: float) -> float:
    """Return the natural logarithm of the ratio of two values of one sign, else infinity."""
    if one == 0.0 or other == 0.0 or (one < 0.0) != (other < 0.0):
        return math.inf
    return abs(math.log(abs(other)) - math.log(abs(one)))


@dataclass(frozen=True)
class LogScale:
    """The scale of a number, which may take whole values only, or only those `among` some."""

    integer: bool = False
    among: tuple[float, ...] = ()
    size: float = 0.0
    """How large a number is that may pass zero, where no ratio tells what is close."""

    def grid(self, start: float, limit: float, count: int, first: float) -> list[float]:
        """Return values beyond `start` up to `limit`, dense near `start`.

        The natural logarithm of the first ratio is `first`.
        """
        span = log_distance(start, limit)
        if span == 0.0:
            return [limit] if limit != start else []
        if math.isfinite(span):
            half = math.copysign(0.5, abs(limit) - abs(start))  # a whole ratio may overflow
            distances = np.geomspace(min(first, span), span, count)[:-1]
            roots = [math.exp(half * float(distance)) for distance in distances]
            values = [start * root * root for root in roots]
        else:
            shares = np.geomspace(first, 1.0, count)[:-1]
            values = [start + float(share) * (limit - start) for share in shares]
        if self.integer:
            values = [float(round(value)) for value in values]
        low, high = sorted((start, limit))
        if self.among:
            values = list(self.among)
        between = {value for value in values if low < value < high}
        return sorted({*between, limit} - {start}, reverse=limit < start)

    def middle(self, one: float, other: float) -> float:
        """Return the value halfway on the scale, whole and between the two where that matters.

        Of values that are given the one in the middle, `one` where there is none.
        """
        if self.among:
            between = self._between(one, other)
            return between[len(between) // 2] if between else one
        if min(one, other) > 0.0 or max(one, other) < 0.0:
            middle = math.copysign(math.sqrt(abs(one)) * math.sqrt(abs(other)), one)
        else:
            middle = one / 2 + other / 2
        low, high = sorted((one, other))
        if not self.integer:
            return min(max(middle, low), high)  # rounding must not leave the interval
        return float(min(max(math.floor(middle), low + 1), high - 1))

    def is_close(self, one: float, other: float, width: float) -> bool:
        """Whether two values are at most `width` apart, relatively, or no float lies between."""
        return self.halfway(one, other, width) is None

    def halfway(self, one: float, other: float, width: float) -> float | None:
        """Return the middle of two values, None where they are close."""
        least = 1.0 if self.integer else width * max(min(abs(one), abs(other)), self.size)
        if not self.among and abs(one - other) <= least:
            return None
        middle = self.middle(one, other)
        return None if middle in (one, other) else middle

    def _between(self, one: float, other: float) -> list[float]:
        low, high = sorted((one, other))
        return [value for value in self.among if low < value < high]

    def cut(self, low: float, high: float, width: float, halvings: int = 3) -> list[float]:
        """Return values from one to another, both among them: halved again and again.

        Parts that are at most `width` wide, relatively, are not halved.
        """
        values = [low, high]
        for _ in range(halvings):
            finer = [low]
            for one, other in pairwise(values):
                middle = self.halfway(one, other, width)
                finer += [other] if middle is None else [middle, other]
            values = finer
        return values

    def dense(self, low: float, high: float, width: float, most: int) -> list[float]:
        """Return at most so many values from one to another, both among them.

        All of them where they are whole and no more; parts are at least `width` wide, relatively.
        """
        if self.integer and not self.among and abs(high - low) < most:
            step = 1 if high >= low else -1
            return [float(value) for value in range(int(low), int(high) + step, step)]
        span = log_distance(low, high)
        if self.among or math.isinf(span):
            return self.cut(low, high, width, int(math.log2(most)))
        half = math.copysign(span / 2, abs(high) - abs(low))  # a whole ratio may overflow
        roots = np.exp(half * np.linspace(0.0, 1.0, 1 + min(most - 1, math.ceil(span / width))))
        between = (low * roots * roots)[1:-1]
        values = (np.round(between) if self.integer else between).tolist()
        return [*dict.fromkeys([low, *values, high])]

    def bisected(
        self, inside: float, outside: float, width: float, holds: Callable[[float], bool]
    ) -> tuple[float, float]:
        """Return where something holds and where it does not, at most `width` apart."""
        while not self.is_close(inside, outside, width):
            middle = self.middle(inside, outside)
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
        return inside, outside


def limits_of(entry: Assumption, factor: float, size: float = 0.0) -> tuple[float, float]:
    """Return the ends of the range in which an assumption is varied.

    From its value over a factor to its value times it; a number that may be negative moves by as
    much to either side, and through zero.  `size` is how large it may be where it is zero.
    """
    value = entry.value
    if value <= 0.0:
        step = (factor - 1.0) * (abs(value) or size or 1.0)
        return max(value - step, -sys.float_info.max), min(value + step, sys.float_info.max)
    most, least = sys.float_info.max, sys.float_info.min
    low, high = max(value / factor, min(value, least)), min(value * factor, most)
    if entry.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    if entry.among:
        within = [known for known in entry.among if low <= known <= high]
        low, high = within[0], within[-1]
    return low, high

"""Values of a number on a logarithmic scale: grids, middles and bisection."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LogScale:
    """The scale of a number above 0, which may take whole values only."""

    integer: bool = False

    def grid(
        self, start: float, limit: float, count: int, first: float, extra: Iterable[float] = ()
    ) -> list[float]:
        """Return values from `start` (left out) to `limit`, dense near `start`, and `extra`.

        The natural logarithm of the first ratio is `first`.
        """
        span = abs(math.log(limit / start))
        if span == 0.0:
            return []
        sign = 1.0 if limit > start else -1.0
        distances = np.geomspace(min(first, span), span, count)
        values = [start * math.exp(sign * float(distance)) for distance in distances[:-1]]
        if self.integer:
            values = [float(round(value)) for value in values]
        between = {value for value in (*values, *extra) if (value - start) * (value - limit) < 0}
        return sorted({*between, limit} - {start}, reverse=sign < 0)

    def middle(self, one: float, other: float) -> float:
        """Return the geometric mean of two values, whole and between them where that matters."""
        middle = math.sqrt(one) * math.sqrt(other)
        if not self.integer:
            return middle
        return float(min(max(math.floor(middle), min(one, other) + 1), max(one, other) - 1))

    def is_close(self, one: float, other: float, width: float) -> bool:
        """Whether two values are at most `width` apart, relatively."""
        if self.integer:
            return abs(one - other) <= 1
        return abs(one - other) <= width * min(one, other)

    def bisected(
        self, inside: float, outside: float, width: float, holds: Callable[[float], bool]
    ) -> tuple[float, float]:
        """Return where something holds and where it does not, at most `width` apart."""
        while not self.is_close(inside, outside, width):
            middle = self.middle(inside, outside)
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
        return inside, outside

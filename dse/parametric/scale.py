"""The values that a number may take, and the range in which it is varied."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from dse.study.assumptions import Assumption

CLOSE = 1e-7
"""Relative width to which a breakpoint is found."""

ZERO = 1e-12
"""From this share of the range on a number is moved that is zero or passes it."""


@dataclass(frozen=True)
class NumberScale:
    """The scale of a number: logarithmic, linear within its `floor` where it passes zero.

    It may take whole values only, or only those `among` some.
    """

    floor: float
    integer: bool = False
    among: tuple[float, ...] = ()

    def place(self, value: float) -> float:
        """Return where a value lies on the scale."""
        size, log_floor = abs(value), math.log(self.floor)
        near = size <= 1e9 * self.floor  # a larger ratio may overflow
        place = math.log1p(size / self.floor) if near else math.log(size) - log_floor
        return math.copysign(place, value)

    def values(self, start: float, end: float, count: int) -> list[float]:
        """Return so many values from one to another, both among them; all where these are few."""
        low, high = sorted((start, end))
        if self.integer and not self.among and high - low < count:
            inside = np.arange(low, high)
        elif self.among:
            inside = np.array(self.among)
        else:
            places = np.linspace(self.place(low), self.place(high), count)[1:-1]
            sizes = np.exp(np.abs(places) + math.log(self.floor)) - self.floor
            inside = np.sign(places) * sizes
            inside = np.round(inside) if self.integer else inside
        inside = inside[(inside > low) & (inside < high)]
        found: list[float] = np.unique([low, *inside, high]).tolist()
        return found if end >= start else found[::-1]

    def middle(self, one: float, other: float) -> float:
        """Return a value between two, the first where there is none."""
        between = self.values(one, other, 3)[1:-1]
        return between[len(between) // 2] if between else one

    def is_close(self, one: float, other: float, width: float = CLOSE) -> bool:
        """Whether two values are at most `width` apart, relatively, or none lies between."""
        near = abs(one - other) <= width * max(min(abs(one), abs(other)), self.floor)
        return near or len(self.values(one, other, 3)) < 3


def logarithmic_from(low: float, high: float) -> float:
    """Return from which size on a number between two values is logarithmic."""
    least = min(abs(low), abs(high))
    same = (low > 0) == (high > 0) and least > 0
    return (1e-3 * least if same else ZERO * max(abs(low), abs(high))) or sys.float_info.min


def limits_of(entry: Assumption, factor: float, size: float = 0.0) -> tuple[float, float]:
    """Return the ends of the range in which an assumption is varied.

    From its value over a factor to its value times it; a number that may be negative moves by as
    much to either side, and through zero.  `size` is how large a bound may be that is zero, or up
    to where another number is moved that is.
    """
    value = entry.value
    if value == 0.0 and entry.bound is None:
        return 0.0, size
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

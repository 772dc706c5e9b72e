"""At which granularities an offload pays: of a fitted model, with intervals, and of data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dse.fitting.interface.fit import (
    COMPUTING,
    EXPONENT,
    FIXED,
    INDEX,
    OFFSET,
    PER_BYTE,
    Estimate,
    FittedModel,
)
from dse.fitting.interface.powers import Array

LARGEST_BYTE = 2.0**64
"""As far as a 64-bit address reaches; beyond it nothing pays any more."""

_GRID = np.linspace(math.log(1e-3), math.log(LARGEST_BYTE), 4001)

Ranges = tuple[tuple[float, float], ...]
"""Granularities in bytes, in ascending order; 0 and infinity are open ends."""


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """Where offloads pay.

    Attributes
    ----------
    pays
        Where the model's host is not faster.
    crossings
        The ends of these ranges, where both times are equal, with their 95 % intervals: 0 or
        infinity where the noise leaves an end open.
    of_data
        The same of the measured times, joined by straight lines between logarithms; open ends
        where the offload is not slower at the smallest or the largest size.
    """

    pays: Ranges
    crossings: tuple[Estimate, ...]
    of_data: Ranges

    @property
    def is_open(self) -> bool:
        """Whether the noise leaves open on both sides where a crossing is."""
        return any(found.low == 0 and found.high == math.inf for found in self.crossings)


def break_even(model: FittedModel, size: Array, host: Array, offload: Array) -> BreakEven:
    """Return where offloads pay."""
    pays = ranges(_spans(lambda x: advantage(model.possible, x)))
    return BreakEven(
        pays=pays,
        crossings=tuple(_crossing(model, end) for end in range_ends(pays)),
        of_data=_of_data(size, host, offload),
    )


def range_ends(found: Ranges) -> Iterator[float]:
    """Yield the ends of ranges that are not open."""
    yield from (end for pair in found for end in pair if 0 < end < math.inf)


def pays_at(found: Ranges, size: float) -> bool:
    """Tell whether a size lies in one of the ranges."""
    return any(low <= size <= high for low, high in found)


def advantage(parameters: Array, x: Array) -> Array:
    """Return host time minus offload time at granularities ``exp(x)``."""
    grown = np.exp(parameters[EXPONENT] * x)
    host = parameters[OFFSET] + parameters[INDEX] * grown
    per_byte = parameters[PER_BYTE] * np.exp(x)
    found: Array = host - (parameters[FIXED] + per_byte + parameters[COMPUTING] * grown)
    return found


def inside(model: FittedModel, x: Array) -> Array:
    """Return what is not negative where ``exp(x)`` belongs to the interval.

    Both times can be equal there, as far as the noise tells: their difference is within t
    standard errors of zero (Fieller's interval, which also knows open ends).
    """
    p = model.free
    grown = np.exp(p[EXPONENT] * x)
    gradient = np.zeros((len(x), len(p)))
    gradient[:, OFFSET], gradient[:, FIXED] = 1.0, -1.0
    gradient[:, INDEX], gradient[:, COMPUTING] = grown, -grown
    gradient[:, PER_BYTE] = -np.exp(x)
    gradient[:, EXPONENT] = (p[INDEX] - p[COMPUTING]) * grown * x
    error, quantile = model.deviation(gradient)
    return np.asarray(error * quantile - np.abs(advantage(p, x)))


def _crossing(model: FittedModel, end: float) -> Estimate:
    """Return a crossing with the connected part of the interval around it."""
    around = ranges(_spans(lambda x: inside(model, x)))
    return Estimate(end, *next((pair for pair in around if pair[0] <= end <= pair[1]), (end, end)))


def _spans(value: Callable[[Array], Array]) -> Iterator[tuple[float, float]]:
    """Yield the spans of x in which a function is not negative; ends lie on roots or the rim."""
    edges = np.diff(np.concatenate([[0], value(_GRID) >= 0, [0]]))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    last = len(_GRID) - 1
    for start, stop in zip(starts, stops, strict=True):
        yield (
            -math.inf if start == 0 else _root(value, _GRID[start - 1], _GRID[start]),
            math.inf if stop == last else _root(value, _GRID[stop], _GRID[stop + 1]),
        )


def _root(value: Callable[[Array], Array], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda x: float(value(np.array([x]))[0]), low, high, xtol=1e-13))


def ranges(spans: Iterator[tuple[float, float]]) -> Ranges:
    """Return spans of logarithms as ranges of granularity."""
    return tuple((math.exp(low), math.exp(high)) for low, high in spans)


def _of_data(size: Array, host: Array, offload: Array) -> Ranges:
    x, gain = np.log(size), np.log(host / offload)
    wins = gain >= 0
    edges: list[float] = [-math.inf] if wins[0] else []
    for after in np.flatnonzero(wins[1:] != wins[:-1]) + 1:
        share = gain[after - 1] / (gain[after - 1] - gain[after])
        edges.append(float(x[after - 1] + share * (x[after] - x[after - 1])))
    edges += [math.inf] if wins[-1] else []
    return ranges(zip(edges[::2], edges[1::2], strict=True))

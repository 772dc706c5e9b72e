"""LogCA's optimisation regions: the granularities at which improving a parameter pays.

Section and figure numbers are from Altaf and Wood, ISCA 2017 (see `LogCA`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dse.contract import Column
from dse.objectives.logca.paper.model import LogCA
from dse.objectives.logca.roots import ADDRESSED_BYTE

PARAMETERS = {"latency": "L", "overhead": "o", "index": "C", "acceleration": "A"}
"""The parameters that can be improved, and their letters in the paper."""

IMPROVEMENT = 10.0
"""Factor by which a parameter is improved: a time shortened, or C or A increased (3.2)."""

THRESHOLD = 0.2
"""Least relative gain of speedup that pays."""

_REACH = math.log(ADDRESSED_BYTE)
_GRID = np.linspace(-_REACH, _REACH, 4097)
"""Logarithms of granularities, 32 per doubling."""

Intervals = tuple[tuple[float, float], ...]


def gains(device: LogCA, g: ArrayLike) -> dict[str, Column]:
    """Return the speedup with each parameter improved, over the speedup without."""
    return {name: _gain(device, name, g) for name in PARAMETERS}


def _gain(device: LogCA, name: str, g: ArrayLike) -> Column:
    change = IMPROVEMENT if name in ("index", "acceleration") else 1 / IMPROVEMENT
    improved = replace(device, **{name: getattr(device, name) * change})
    return improved.speedup(g) / device.speedup(g)


def labels(device: LogCA, g: ArrayLike) -> tuple[str, ...]:
    """Return the region of each granularity as in figs 6, 10, 11: some of ``LoCA``, or empty."""
    pays = [
        np.where(gain >= 1 + THRESHOLD, PARAMETERS[name], "")
        for name, gain in gains(device, g).items()
    ]
    return tuple(map("".join, zip(*pays, strict=True)))


def cutoffs(device: LogCA) -> dict[str, Intervals]:
    """Return the intervals of granularity in which improving a parameter pays (3.2).

    Their ends are exact.  An end beyond `ADDRESSED_BYTE`, or below its inverse, is infinity or 0.
    No interval: never a bottleneck.
    """
    return {name: _intervals(device, name) for name in PARAMETERS}


def _intervals(device: LogCA, name: str) -> Intervals:
    from scipy.optimize import brentq  # which takes long to import

    def above(x: float) -> float:
        return float(_gain(device, name, math.exp(x))) - (1 + THRESHOLD)

    pays = _gain(device, name, np.exp(_GRID)) >= 1 + THRESHOLD
    turns = np.flatnonzero(pays[1:] != pays[:-1])
    ends = [math.exp(brentq(above, _GRID[at], _GRID[at + 1], xtol=1e-14)) for at in turns]
    edges = [0.0][: int(pays[0])] + ends + [math.inf][: int(pays[-1])]
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def power_of_two_cutoffs(device: LogCA) -> dict[str, Intervals]:
    """Return the intervals as the paper draws them, at powers of two from one byte on.

    Each end moves up to the next power of two, the first sample on its other side.
    """
    rounded = {
        name: [(_power_of_two(low), _power_of_two(high)) for low, high in intervals]
        for name, intervals in cutoffs(device).items()
    }
    return {
        name: tuple((low, high) for low, high in intervals if low < high)
        for name, intervals in rounded.items()
    }


def _power_of_two(granularity: float) -> float:
    """Return the next power of two, at least 1.  0 and infinity are unchanged."""
    if granularity in (0.0, math.inf):
        return granularity
    return max(1.0, 2.0 ** math.ceil(math.log2(granularity)))

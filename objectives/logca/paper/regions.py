"""LogCA's optimisation regions: the granularities at which improving a parameter pays.

Section and figure numbers are from Altaf and Wood, ISCA 2017 (see `LogCA`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

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

Intervals = tuple[tuple[float, float], ...]


def gains(device: LogCA, g: ArrayLike, *, factor: float = IMPROVEMENT) -> dict[str, Column]:
    """Return the speedup with each parameter improved, over the speedup without."""
    base = device.speedup(g)
    return {
        name: replace(device, **{name: getattr(device, name) * change}).speedup(g) / base
        for name in PARAMETERS
        for change in [factor if name in ("index", "acceleration") else 1 / factor]
    }


def labels(device: LogCA, g: ArrayLike) -> tuple[str, ...]:
    """Return the region of each granularity as in figs 6, 10, 11: some of ``LoCA``, or empty."""
    pays = [
        np.where(gain >= 1 + THRESHOLD, PARAMETERS[name], "")
        for name, gain in gains(device, g).items()
    ]
    return tuple(map("".join, zip(*pays, strict=True)))


def cutoffs(
    device: LogCA, *, factor: float = IMPROVEMENT, threshold: float = THRESHOLD
) -> dict[str, Intervals]:
    """Return the exact intervals of granularity in which improving a parameter pays (3.2).

    An end that does not exist is 0 or infinity.  No interval: never a bottleneck.
    """
    terms = _advantage(device, factor, threshold)
    return {name: _nonnegative_intervals(terms[name]) for name in PARAMETERS}


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


def _advantage(device: LogCA, factor: float, threshold: float) -> dict[str, dict[float, float]]:
    """Return, by parameter, a sum of powers of g that is >= 0 if the gain is large enough.

    Dividing a part P of the offload time T by k is worth it if ``T / (T - P (1 - 1/k))``
    reaches 1 + t, that is if ``P (1 + t) (1 - 1/k) / t >= T``.  The computational index is
    in host and offload time, so its two speedups are compared by cross-multiplication.
    """
    power, index, offset = device.exponent, device.index, device.host_offset
    computing = index / device.acceleration
    parts = {
        "overhead": {0.0: device.overhead},
        "latency": {1.0 if device.latency_per_byte else 0.0: device.latency},
        "acceleration": {power: computing},
    }
    total = _add(*parts.values())
    scale = (1 + threshold) * (1 - 1 / factor) / threshold
    sums = {
        name: _add(_times(part, {0.0: scale}), _times(total, {0.0: -1.0}))
        for name, part in parts.items()
    }
    better_host = {0.0: offset, power: factor * index}
    better_total = _add(total, {power: (factor - 1) * computing})
    worse = _times({0.0: -(1 + threshold)}, {0.0: offset, power: index})
    return sums | {"index": _add(_times(better_host, total), _times(worse, better_total))}


def _add(*sums: Mapping[float, float]) -> dict[float, float]:
    """Add sums of powers, given as coefficient by exponent."""
    total: dict[float, float] = {}
    for terms in sums:
        for power, value in terms.items():
            total[power] = total.get(power, 0.0) + value
    return total


def _times(left: Mapping[float, float], right: Mapping[float, float]) -> dict[float, float]:
    """Multiply sums of powers."""
    return _add(*({p + q: x * y} for p, x in left.items() for q, y in right.items()))


def _power_of_two(granularity: float) -> float:
    """Return the next power of two, at least 1.  0 and infinity are unchanged."""
    if granularity in (0.0, math.inf):
        return granularity
    mantissa, exponent = math.frexp(granularity)
    return max(1.0, math.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent))


def _nonnegative_intervals(terms: Mapping[float, float]) -> tuple[tuple[float, float], ...]:
    """Return the intervals of g > 0 in which ``sum(coefficient * g**exponent)`` is not negative.

    `terms` are coefficients by exponent, any number of them, of one device: between two roots of
    its derivative (after division by the lowest power) a sum is monotone, and the derivative has
    one term less.  Roots beyond `ADDRESSED_BYTE`, or below its inverse, are ignored: such an
    interval ends at infinity, or starts at 0.
    """
    reach = math.log(ADDRESSED_BYTE)
    kept = {exponent: value for exponent, value in terms.items() if value != 0}
    if not kept:
        return ((0.0, math.inf),)
    edges = [-reach, *_sign_changes(kept, reach), reach]
    found: list[tuple[float, float]] = []
    for low, high in pairwise(edges):
        if _scaled_sum(kept, (low + high) / 2) >= 0:
            start = 0.0 if low == -reach else math.exp(low)
            found.append((start, math.inf if high == reach else math.exp(high)))
    return tuple(found)


def _sign_changes(terms: Mapping[float, float], reach: float) -> list[float]:
    """Return the x in (-reach, reach) at which ``sum(value * exp(exponent x))`` changes sign."""
    if len(terms) < 2:
        return []
    lowest = min(terms)
    derivative = {
        exponent - lowest: value * (exponent - lowest)
        for exponent, value in terms.items()
        if exponent != lowest
    }
    from scipy.optimize import brentq  # which takes long to import

    edges = [-reach, *_sign_changes(derivative, reach), reach]
    return [
        brentq(lambda x: _scaled_sum(terms, x), low, high, xtol=1e-14)
        for low, high in pairwise(edges)
        if _scaled_sum(terms, low) * _scaled_sum(terms, high) < 0
    ]


def _scaled_sum(terms: Mapping[float, float], x: float) -> float:
    """Return the sum at x over its largest term, so that it neither overflows nor vanishes."""
    sizes = {power: math.log(abs(value)) + power * x for power, value in terms.items()}
    largest = max(sizes.values())
    return sum(
        math.copysign(math.exp(size - largest), terms[power]) for power, size in sizes.items()
    )

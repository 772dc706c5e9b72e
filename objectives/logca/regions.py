"""LogCA's optimisation regions: at which granularities improving a parameter pays.

Section and figure numbers are those of Altaf and Wood, ISCA 2017 (see `LogCA`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column
from dse.objectives.logca.break_even import nonnegative_intervals
from dse.objectives.logca.implications import number, require_one
from dse.objectives.logca.model import LogCA

PARAMETERS = {"latency": "L", "overhead": "o", "index": "C", "acceleration": "A"}
"""The parameters that can be improved, and their letters in the figures."""

Intervals = tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class Regions:
    """Where improving a parameter gives at least the wanted gain (3.2).

    Attributes
    ----------
    granularity
        The granularities, in bytes.
    gain
        By parameter: speedup with the parameter improved over the speedup without.
    beneficial
        By parameter: whether the gain reaches ``1 + threshold`` there.
    cutoffs
        By parameter: the exact intervals of granularity in which it does; an end that does
        not exist is 0 or infinity.  No interval: never a bottleneck.
    power_of_two_cutoffs
        The same as the figures show them, drawn at powers of two from one byte on: each end
        moves up to the next one, the first sample on its other side.
    """

    granularity: Column
    gain: Mapping[str, Column]
    beneficial: Mapping[str, NDArray[np.bool_]]
    cutoffs: Mapping[str, Intervals]
    power_of_two_cutoffs: Mapping[str, Intervals]

    @property
    def labels(self) -> tuple[str, ...]:
        """Region label of each granularity as in figs 6, 10, 11: some of ``LoCA``, or empty."""
        flags = [np.atleast_1d(self.beneficial[name]).ravel() for name in PARAMETERS]
        letters = tuple(PARAMETERS.values())
        return tuple(
            "".join(letter for letter, flag in zip(letters, row, strict=True) if flag)
            for row in zip(*flags, strict=True)
        )


def regions(
    device: LogCA, g: ArrayLike, *, factor: float = 10.0, threshold: float = 0.2
) -> Regions:
    """Return where improving a parameter of one device by `factor` pays (section 3.2)."""
    require_one(device)
    if not np.all(np.asarray(g) > 0):
        raise ValueError(f"granularity is {np.min(g)}; a gain needs one above zero bytes")
    if not (1 < factor < math.inf and 0 < threshold < math.inf):
        raise ValueError(
            f"factor is {factor} and threshold {threshold}; an improvement needs a factor above "
            "1 and a threshold above 0, for instance 10 and 0.2"
        )
    base = device.speedup(g)
    gain = {name: _improved(device, name, factor).speedup(g) / base for name in PARAMETERS}
    terms = _advantage(device, factor, threshold)
    cutoffs = {name: nonnegative_intervals(terms[name]) for name in PARAMETERS}
    rounded = {
        name: tuple((_power_of_two(low), _power_of_two(high)) for low, high in intervals)
        for name, intervals in cutoffs.items()
    }
    return Regions(
        granularity=np.asarray(g, dtype=np.float64),
        gain=gain,
        beneficial={name: np.asarray(gain[name] >= 1 + threshold) for name in PARAMETERS},
        cutoffs=cutoffs,
        power_of_two_cutoffs={
            name: tuple((low, high) for low, high in intervals if low < high)
            for name, intervals in rounded.items()
        },
    )


def _improved(device: LogCA, name: str, factor: float) -> LogCA:
    """Return the device with one parameter improved: a time shortened, or C or A increased."""
    change = factor if name in ("index", "acceleration") else 1 / factor
    return replace(device, **{name: number(device, name) * change})


def _advantage(device: LogCA, factor: float, threshold: float) -> dict[str, dict[float, float]]:
    """Return, by parameter, a sum of powers of g that is >= 0 where the gain is large enough.

    Dividing a part P of the offload time T by k is worth it where ``T / (T - P (1 - 1/k))``
    reaches 1 + t, that is where ``P (1 + t) (1 - 1/k) / t >= T``.  The computational index is
    in host and offload time, so its two speedups are compared by cross-multiplication.
    """
    power, index = number(device, "exponent"), number(device, "index")
    offset = number(device, "host_offset")
    computing = index / number(device, "acceleration")
    parts = {
        "overhead": {0.0: number(device, "overhead")},
        "latency": {1.0 if device.latency_per_byte else 0.0: number(device, "latency")},
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
    """Return the least power of two, from 1 on, that is no less; 0 and infinity stay."""
    if granularity in (0.0, math.inf):
        return granularity
    mantissa, exponent = math.frexp(granularity)
    return max(1.0, math.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent))

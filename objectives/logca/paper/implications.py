"""LogCA's seven implications for one device, and the reasons why a speedup is out of its reach.

Equation and section numbers are from Altaf and Wood, ISCA 2017 (see `LogCA`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from dse.objectives.logca.paper.model import LogCA
from dse.objectives.logca.roots import roots


class Limits(NamedTuple):
    """Speedup at the ends of the range of granularities.

    Attributes
    ----------
    zero
        Exact limit for g to 0: 0, save with a host offset or without any fixed offload time.
    infinity
        Exact limit for g to infinity: the acceleration with latency per call (eq 3).  With
        latency per byte 0, A C / (A L + C) or A for an exponent below, at or above 1 (eq 9).
    """

    zero: float
    infinity: float


class Peak(NamedTuple):
    """Least upper bound of the speedup, and its granularity: a limit has g = 0 or infinity."""

    granularity: float
    speedup: float


def limits(device: LogCA) -> Limits:
    """Return the limits of the speedup, as in `Limits`."""
    fast, slow = device.acceleration, 0.0 if device.per_byte > 0 else device.acceleration
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = float(np.divide(1, device.per_byte / device.index + 1 / device.acceleration))
        zero = float(np.divide(device.host_offset, device.fixed))
    if device.exponent == 1:
        fast = slow = linear
    elif device.exponent < 1:
        fast, slow = slow, fast
    return Limits(zero=slow if math.isnan(zero) else zero, infinity=fast)


def peak(device: LogCA, *, smallest: float = 0.0) -> Peak:
    """Return the least upper bound of the speedup over g >= `smallest`.

    The derivative has the sign of ``b C (o - offset / A) - (1 - b) C L g - offset L g**(1-b)``
    with latency per byte and exponent b, so only b < 1 puts a maximum inside the range.
    """
    ends = limits(device)
    found = [Peak(smallest, float(device.speedup(smallest)) if smallest > 0 else ends.zero)]
    rise = 1 - device.exponent
    saved = device.fixed - device.host_offset / device.acceleration
    gain, loss = device.exponent * device.index * saved, rise * device.index * device.per_byte
    if rise > 0 and gain > 0:
        before = -device.host_offset * device.per_byte
        inside = float(roots(before, rise, loss, -gain, largest=math.inf)[0])
        if inside > smallest:
            found.append(Peak(inside, float(device.speedup(inside))))
    return max(*found, Peak(math.inf, ends.infinity), key=attrgetter("speedup"))


_ROUNDING = 1e-9


def implications(device: LogCA, *, tolerance: float = 0.1) -> tuple[bool | None, ...]:
    """Return whether each of the seven holds for a device, None for one without its premise.

    1. Acceleration moves g_1 by no more than the `tolerance`: against an infinite one.
    2. Doubling C divides g_1 by ``2**(1/exponent)``.
    3. Doubling A multiplies g_A/2 by ``2**(1/exponent)``.
    4. A sub-linear kernel loses speedup again as granularity grows.
    5. A sub-linear kernel gains only with C / L above 1.
    6. A sub-linear kernel reaches A / 2 only with (C / A) / L above 1.
    7. If A / 2 is out of reach, C / L bounds any larger acceleration too.

    4 to 7 are of latency per byte, and hold for the exact peak of the speedup instead of one Newton
    step: for all granularities in 4, for whole bytes (g >= 1) in the others, since below that no
    data is moved.
    """
    unlimited = replace(device, acceleration=math.inf)
    now, ideal = float(device.break_even()), float(unlimited.break_even())
    change = now / ideal - 1 if ideal > 0 else math.nan
    half = float(device.half_acceleration())
    more_work = replace(device, index=2 * device.index)
    faster = replace(device, acceleration=2 * device.acceleration)
    return (
        None if math.isnan(change) else change <= tolerance,
        _scales(now, float(more_work.break_even()), -1 / device.exponent),
        _scales(half, float(faster.half_acceleration()), 1 / device.exponent),
        *_with_latency_per_byte(device, unlimited),
    )


def _scales(before: float, after: float, power: float) -> bool | None:
    """Return whether a root is ``2**power`` times its earlier value, None if there was no root."""
    if not before > 0:
        return None
    return math.isclose(after / before, 2.0**power, rel_tol=_ROUNDING)


def _with_latency_per_byte(device: LogCA, unlimited: LogCA) -> tuple[bool | None, ...]:
    """Return whether implications 4 to 7 hold."""
    if not device.per_byte > 0:
        return (None,) * 4
    acceleration, intensity = device.acceleration, device.index / device.latency
    falls = limits(device).infinity < peak(device).speedup
    reached = peak(device, smallest=1.0).speedup
    gains = reached <= 1 or intensity > 1
    halves = reached < acceleration / 2 or intensity / acceleration > 1
    ideal = peak(unlimited, smallest=1.0).speedup
    bounds = ideal <= min(intensity, acceleration) * (1 + _ROUNDING)
    out_of_reach = math.isnan(device.half_acceleration(largest=math.inf))
    return (
        *((falls, gains, halves) if device.exponent < 1 else (None,) * 3),
        bounds if out_of_reach else None,
    )

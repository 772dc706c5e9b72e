"""LogCA's limits: what the speedup tends to, and the most it can be.

Equation numbers are those of Altaf and Wood, ISCA 2017 (see `LogCA`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dse.contract import Column
from dse.objectives.logca.break_even import roots, shaped
from dse.objectives.logca.model import LogCA


class Limits(NamedTuple):
    """Speedup at the ends of the range of granularities.

    Attributes
    ----------
    zero
        Exact limit for g to 0: 0, save with a host offset or without any fixed offload time.
    one_byte
        Exact speedup at g = 1, which the paper calls the limit for small g (eqs 4, 10).
    one_byte_bound
        What it stays below however fast the accelerator (right-hand side of eq 4).
    infinity
        Exact limit for g to infinity: the acceleration with latency per call (eq 3); with
        latency per byte 0, A C / (A L + C) or A for an exponent below, at or above 1 (eq 9).
    """

    zero: Column
    one_byte: Column
    one_byte_bound: Column
    infinity: Column


class Peak(NamedTuple):
    """Least upper bound of the speedup, and where: a limit has g = 0 or infinity."""

    granularity: Column
    speedup: Column


def limits(device: LogCA) -> Limits:
    """Return the limits of the speedup; see `Limits`."""
    rows, _, shape = device.rows()
    by_growth = [rows.exponent < 1, rows.exponent == 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = 1 / (rows.per_byte / rows.index + 1 / rows.acceleration)
        slow = np.where(rows.per_byte > 0, 0.0, rows.acceleration)
        only_powers = np.select(by_growth, [rows.acceleration, linear], slow)
        without_fixed = (rows.fixed == 0) & (rows.offset == 0)
        zero = np.where(without_fixed, only_powers, rows.offset / rows.fixed)
        bound = (rows.offset + rows.index) / (rows.fixed + rows.per_byte)
    return Limits(
        zero=shaped(zero, shape),
        one_byte=device.speedup(1.0),
        one_byte_bound=shaped(bound, shape),
        infinity=shaped(np.select(by_growth, [slow, linear], rows.acceleration), shape),
    )


def peak(device: LogCA, *, smallest: float = 0.0) -> Peak:
    """Return the least upper bound of the speedup over g >= `smallest`.

    The derivative's sign is that of ``b C (o - offset / A) - (1 - b) C L g - offset L g**(1-b)``
    with latency per byte and exponent b, so only b < 1 puts a maximum inside the range.
    """
    rows, _, shape = device.rows()
    rise = np.where(rows.exponent < 1, 1 - rows.exponent, np.nan)
    gain = rows.exponent * rows.index * (rows.fixed - rows.offset / rows.acceleration)
    loss = rise * rows.index * rows.per_byte
    inside = roots(-rows.offset * rows.per_byte, rise, loss, -gain, largest=math.inf)[..., 0]
    inside = np.where((gain > 0) & (inside > smallest), inside, np.nan).reshape(shape)

    ends = limits(device)
    at_inside = device.speedup(np.where(np.isnan(inside), 1.0, inside))
    candidates = (
        (smallest, device.speedup(smallest) if smallest > 0 else ends.zero),
        (inside, np.where(np.isnan(inside), -1.0, at_inside)),
        (math.inf, ends.infinity),
    )
    granularity, speedup = (np.broadcast_to(value, shape) for value in candidates[0])
    for place, value in candidates[1:]:
        granularity = np.where(value > speedup, place, granularity)
        speedup = np.maximum(value, speedup)
    return Peak(granularity=granularity[()], speedup=speedup[()])

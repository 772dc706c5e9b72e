"""LogCA's seven implications, tried on one device, and why a speedup is out of its reach.

Equation and section numbers are those of Altaf and Wood, ISCA 2017 (see `LogCA`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
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


_ROUNDING = 1e-9


@dataclass(frozen=True)
class Implication:
    """One of the paper's implications, tried on one device.

    Attributes
    ----------
    number, statement
        Which one, and what it says.
    holds
        Whether its conclusion is true of the device; None without its premise.
    numbers
        What decides.
    """

    number: int
    statement: str
    holds: bool | None
    numbers: Mapping[str, float]


def implications(device: LogCA, *, tolerance: float = 0.1) -> tuple[Implication, ...]:
    """Return the seven implications with one device's numbers for or against each."""
    require_one(device)
    return (
        _break_even_and_acceleration(device, tolerance),
        _doubled(device, 2, "index"),
        _doubled(device, 3, "acceleration"),
        *_with_latency_per_byte(device),
    )


def _break_even_and_acceleration(device: LogCA, tolerance: float) -> Implication:
    """Implication 1: compare g_1 with that of an infinitely fast accelerator."""
    now = float(device.break_even())
    ideal = float(replace(device, acceleration=math.inf).break_even())
    change = now / ideal - 1 if ideal > 0 else math.nan
    return Implication(
        number=1,
        statement=f"acceleration moves g_1 by no more than {tolerance:.0%}",
        holds=None if math.isnan(change) else change <= tolerance,
        numbers={
            "acceleration": number(device, "acceleration"),
            "break_even": now,
            "break_even_at_infinite_acceleration": ideal,
            "relative_change": change,
            "tolerance": tolerance,
        },
    )


def _doubled(device: LogCA, which: int, name: str) -> Implication:
    """Implications 2 and 3: double a parameter and compare a root with the closed form."""
    if name == "index":
        root, question = "break_even", "doubling C divides g_1 by 2**(1/exponent)"
    else:
        root, question = "half_acceleration", "doubling A multiplies g_A/2 by 2**(1/exponent)"
    twice = replace(device, **{name: 2 * number(device, name)})
    before, after = float(getattr(device, root)()), float(getattr(twice, root)())
    ratio = after / before if before > 0 else math.nan
    sign = -1.0 if name == "index" else 1.0
    predicted = 2.0 ** (sign / number(device, "exponent"))
    return Implication(
        number=which,
        statement=question,
        holds=math.isclose(ratio, predicted, rel_tol=_ROUNDING) if before > 0 else None,
        numbers={root: before, f"{root}_doubled": after, "ratio": ratio, "predicted": predicted},
    )


def _with_latency_per_byte(device: LogCA) -> tuple[Implication, ...]:
    """Implications 4 to 7, on the exact peak of the speedup instead of one Newton step.

    The peak of 5 to 7 is taken over whole bytes (g >= 1): below that no data is moved.
    """
    acceleration = number(device, "acceleration")
    latency, index = number(device, "latency"), number(device, "index")
    per_byte = bool(device.latency_per_byte) and latency > 0
    sublinear = per_byte and number(device, "exponent") < 1
    intensity = index / latency if per_byte else math.inf
    reached = float(peak(device, smallest=1.0).speedup)
    half = float(device.half_acceleration(largest=math.inf))
    ideal = float(peak(replace(device, acceleration=math.inf), smallest=1.0).speedup)
    wanted, bounds = acceleration / 2, min(intensity, acceleration) * (1 + _ROUNDING)
    shown = {"intensity": intensity, "peak_speedup": reached}
    converse = {"papers_condition": 1 / number(device, "exponent")}
    return (
        _falls_again(device, sublinear=sublinear),
        Implication(
            5,
            "a sub-linear kernel gains only with C / L above 1",
            (reached <= 1 or intensity > 1) if sublinear else None,
            shown | converse,
        ),
        Implication(
            6,
            "a sub-linear kernel reaches A / 2 only with (C / A) / L above 1",
            (reached < wanted or intensity / acceleration > 1) if sublinear else None,
            {"accelerator_intensity": intensity / acceleration, "half_acceleration": half}
            | converse,
        ),
        Implication(
            7,
            "where A / 2 is out of reach, C / L bounds any larger acceleration too",
            ideal <= bounds if per_byte and math.isnan(half) else None,
            shown
            | {"acceleration": acceleration, "half_acceleration": half}
            | {"peak_at_infinite_acceleration": ideal},
        ),
    )


def _falls_again(device: LogCA, *, sublinear: bool) -> Implication:
    """Implication 4: compare the peak over all granularities with the limit for large ones."""
    place, highest = map(float, peak(device))
    limit = float(limits(device).infinity)
    return Implication(
        4,
        "a sub-linear kernel loses speedup again as granularity grows",
        limit < highest if sublinear else None,
        {"peak_granularity": place, "peak_speedup": highest, "limit": limit},
    )


def require_one(device: LogCA) -> None:
    """Raise a ValueError for columns of devices."""
    if device.shape:
        raise ValueError(
            f"this question is for one device, not for columns of shape {device.shape}; ask "
            "each of .devices()"
        )


def number(device: LogCA, name: str) -> float:
    """Return a field of a single device."""
    return float(np.asarray(getattr(device, name)))

"""LogCA: the time of an offload to an accelerator, and the speedup over the host.

Altaf and Wood, "LogCA: A High-Level Performance Model for Hardware Accelerators", ISCA 2017.
First, for linear kernels only, in IEEE Computer Architecture Letters 14(2), 2015.  Numbers of
equations, sections and tables are the ISCA paper's.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column

_LARGEST_BYTE = 2.0**64
"""Default limit of a granularity: as far as a 64-bit address reaches."""

_STEPS = 14
_STEPS_OF_MOST = 4
_SETTLED = 1e-7  # a step; with cubic convergence the remaining error is below rounding
_BLOCK = 16384  # rows whose temporaries stay in the cache


def first_nonnegative(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, *, largest: float = _LARGEST_BYTE
) -> Column:
    """Return the lower bound of the g > 0 with ``a g**b - c g - d >= 0``, or NaN without one.

    Needs b > 0 and c >= 0, in any broadcastable shapes.
    """
    rows, shape = flat(a, b, c, d)
    found = np.empty(rows[0].size)
    with np.errstate(all="ignore"):
        for block in _blocks(found.size):
            part = [row[block] for row in rows]
            balance = _balance(*part)
            root = _root(balance, upper=np.isnan(balance.low))
            found[block] = np.where(_sign_near_zero(*part) >= 0, 0.0, root)
        found[found > min(largest, sys.float_info.max)] = np.nan
    return shaped(found, shape)


def roots(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, *, largest: float = _LARGEST_BYTE
) -> Column:
    """Return all g > 0 with ``a g**b - c g - d = 0``: ascending, NaN last, on a new last axis.

    Accurate to a few roundings, unless two roots almost coincide: then the problem is
    ill-conditioned.  Needs b > 0 and c >= 0.
    """
    rows, shape = flat(a, b, c, d)
    found = np.empty((rows[0].size, 2))
    with np.errstate(all="ignore"):
        for block in _blocks(len(found)):
            balance = _balance(*(row[block] for row in rows))
            for side in (0, 1):
                found[block, side] = _root(balance, upper=np.full(balance.low.shape, side == 1))
        found[found > min(largest, sys.float_info.max)] = np.nan
    found.sort(axis=1)
    return found.reshape((*shape, 2))


def flat(*values: ArrayLike) -> tuple[list[Column], tuple[int, ...]]:
    """Return the values broadcast against each other as contiguous rows, and their shape.

    Scalars become rows of one: numpy computes a scalar's exponential with other code than an
    array's, and one design must give the same bits as a batch.
    """
    columns = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in values))
    return [np.ascontiguousarray(column).reshape(-1) for column in columns], columns[0].shape


def shaped(row: Column, shape: tuple[int, ...]) -> Column:
    """Return a row in its shape, a numpy scalar for ()."""
    result: Column = row.reshape(shape)[()]
    return result


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


class _Balance(NamedTuple):
    """``exp(first + first_rate x) + exp(second + second_rate x) = 1``, x the log of a root.

    `low` and `high` are initial values for the lower and the upper root: outside of them, with
    both terms at most 1, or NaN without such a root.  `linear` is the only root if the
    equation is linear in g, else NaN, because a logarithm would only lose accuracy.
    """

    first: Column
    first_rate: Column
    second: Column
    second_rate: Column
    low: Column
    high: Column
    linear: Column


def _balance(a: Column, b: Column, c: Column, d: Column) -> _Balance:
    """Divide ``a g**b - c g - d = 0`` by the one term whose sign the others do not have."""
    is_linear = (b == 1) | (a == 0)
    linear = np.where(is_linear, d / np.where(b == 1, a - c, -c), np.nan)

    terms = (a, -c, -d)
    powers = (b, np.ones_like(b), np.zeros_like(b))
    signs = [np.sign(term) for term in terms]
    odd_sign = np.where(signs[0] + signs[1] + signs[2] > 0, -1.0, 1.0)
    is_odd = [sign == odd_sign for sign in signs]

    def turn(values: tuple[Column, Column, Column]) -> tuple[Column, Column, Column]:
        """Reorder three columns cyclically so that the odd term's comes first."""
        x, y, z = values
        if is_odd[0].all():
            return values
        return (
            np.where(is_odd[0], x, np.where(is_odd[1], y, z)),
            np.where(is_odd[0], y, np.where(is_odd[1], z, x)),
            np.where(is_odd[0], z, np.where(is_odd[1], x, y)),
        )

    odd, *others = turn(terms)
    odd_power, *other_powers = turn(powers)
    first, second = (np.log(-other / odd) for other in others)
    first_rate, second_rate = (power - odd_power for power in other_powers)

    # With rates of opposite sign the sum has a least value: the weighted geometric mean
    # of both terms, each divided by its weight.  With equal signs the weight's log is NaN.
    weight = second_rate / (second_rate - first_rate)
    least = weight * (first - np.log(weight)) + (1 - weight) * (second - np.log1p(-weight))
    exists = (is_odd[0] | is_odd[1] | is_odd[2]) & ~is_linear & ~(least > 0)

    bounds = [(first_rate, -first / first_rate), (second_rate, -second / second_rate)]
    low = np.maximum(*(np.where(rate < 0, bound, -np.inf) for rate, bound in bounds))
    high = np.minimum(*(np.where(rate > 0, bound, np.inf) for rate, bound in bounds))
    low[~(exists & np.isfinite(low))] = np.nan
    high[~(exists & np.isfinite(high))] = np.nan
    linear[~((linear > 0) & np.isfinite(linear))] = np.nan
    return _Balance(first, first_rate, second, second_rate, low, high, linear)


def _root(balance: _Balance, *, upper: NDArray[np.bool_]) -> Column:
    """Return the lower or the upper root of each row, a linear one with the upper.

    Each step solves the quadratic with the value, slope and curvature of the sum (Halley's
    irrational method).  A row stops by its own last step, so that its bits do not depend on
    the other rows.
    """
    x = np.where(upper, balance.high, balance.low)
    both = np.isfinite(balance.first) & np.isfinite(balance.second)  # else x is the root
    moving = np.flatnonzero(both & np.isfinite(x))
    side = np.where(upper, 1.0, -1.0)
    work = [column[moving] for column in (x, side, *balance[:4])]
    for count in range(_STEPS):
        y, sign, first, first_rate, second, second_rate = work
        one, two = np.exp(first + first_rate * y), np.exp(second + second_rate * y)
        value = one + two - 1
        one *= first_rate
        two *= second_rate
        slope = one + two
        curvature = one * first_rate + two * second_rate
        square = np.maximum(slope * slope - 2 * value * curvature, 0)
        step = 2 * value / (slope + sign * np.sqrt(square))
        step[~np.isfinite(step)] = 0  # 0 / 0 on a double root
        y -= step
        if count >= _STEPS_OF_MOST:
            x[moving] = y
            unsettled = np.abs(step) > _SETTLED
            moving, work = moving[unsettled], [column[unsettled] for column in work]
            if not moving.size:
                break
    return np.where(upper & ~np.isnan(balance.linear), balance.linear, np.exp(x))


def _sign_near_zero(a: Column, b: Column, c: Column, d: Column) -> Column:
    """Return the sign of ``a g**b - c g - d`` just above g = 0, the sign of its lowest power."""
    sign = np.sign(-d)
    for coefficient in (
        np.where(b == 1, a - c, np.where(b < 1, a, -c)),
        np.where(b == 1, a - c, np.where(b < 1, -c, a)),
    ):
        sign = np.where(sign == 0, np.sign(coefficient), sign)
    return sign


def nonnegative_intervals(terms: Mapping[float, float]) -> tuple[tuple[float, float], ...]:
    """Return the intervals of g > 0 in which ``sum(coefficient * g**exponent)`` is not negative.

    `terms` are coefficients by exponent, any number of them, of one device: between two roots of
    its derivative (after division by the lowest power) a sum is monotone, and the derivative has
    one term less.  Roots beyond `_LARGEST_BYTE`, or below its inverse, are ignored: such an
    interval ends at infinity, or starts at 0.
    """
    reach = math.log(_LARGEST_BYTE)
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
    from scipy.optimize import brentq  # only here, because every command loads this module

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


@dataclass(frozen=True, kw_only=True)
class LogCA:
    """An accelerator behind an interface, running one kernel (Table 1).

    The host takes ``host_offset + index * g**exponent``, an offload ``overhead + latency
    [* g] + index * g**exponent / acceleration``.  All times are in one unit, for instance the
    paper's host cycles.  Granularities g are in bytes, one or a column of them, and
    results have their shape.

    Parameters
    ----------
    latency
        Time to move the data across the interface, per call or per byte.
    overhead
        Time the host spends on setting up one offload.
    index
        Computational index C: time on the host per ``byte**exponent``.
    acceleration
        Peak speedup A, or infinity if `latency` includes the accelerator's time.
    exponent
        Power of the granularity that the computation grows with.
    latency_per_byte
        Whether `latency` is per byte (eq 8) or per call (eq 2).
    host_offset
        Fixed time of a call on the host.  The paper's model has no such time.

    Raises
    ------
    ValueError
        A value that is negative, zero, infinite or NaN and must not be.

    Notes
    -----
    A granularity beyond `largest` (by default all that 64 bits address) counts as missing.
    With ``largest=math.inf`` every root counts.  It matters for exponents just
    above 1: with Table 5 as printed, AES on the discrete GPU breaks even at 1e125 bytes.
    """

    latency: float
    overhead: float
    index: float
    acceleration: float
    exponent: float = 1.0
    latency_per_byte: bool = False
    host_offset: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError if a value is invalid."""
        for name in ("latency", "overhead", "host_offset"):
            _require(name, getattr(self, name), above_zero=False)
        for name in ("index", "exponent"):
            _require(name, getattr(self, name), above_zero=True)
        _require("acceleration", self.acceleration, above_zero=True, infinite=True)
        if not isinstance(self.latency_per_byte, bool):
            raise ValueError(
                f"latency_per_byte is {self.latency_per_byte!r}; it states whether latency counts "
                "per byte; write True or False"
            )

    @property
    def fixed(self) -> float:
        """Return the time of an offload per call, without the accelerator's."""
        return self.overhead + (0.0 if self.latency_per_byte else self.latency)

    @property
    def per_byte(self) -> float:
        """Return the time of an offload per byte, without the accelerator's."""
        return self.latency if self.latency_per_byte else 0.0

    def host_time(self, g: ArrayLike) -> Column:
        """Return the time without the accelerator, T0."""
        size, shape = _sizes(g)
        return shaped(self.host_offset + self.index * _power(size, self.exponent), shape)

    def offload_time(self, g: ArrayLike) -> Column:
        """Return the time of an offload, T1."""
        size, shape = _sizes(g)
        with np.errstate(over="ignore"):
            computing = self.index * _power(size, self.exponent) / self.acceleration
        return shaped(self.fixed + self.per_byte * size + computing, shape)

    def speedup(self, g: ArrayLike) -> Column:
        """Return T0 / T1 (eqs 1, 2, 8), infinity if the offload takes no time at all."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(self.host_time(g), self.offload_time(g))

    def intensity_bound(self, g: ArrayLike) -> Column:
        """Return ``C / L * g**(exponent - 1)``: limit of latency per byte (eq 9), else infinity."""
        size, shape = _sizes(g)
        with np.errstate(divide="ignore"):
            return shaped(self.index * _power(size, self.exponent) / (self.per_byte * size), shape)

    def granularities(self, speedup: float) -> Column:
        """Return every granularity that gives a speedup, ascending, or an empty column."""
        _require("speedup", speedup, above_zero=True)
        found = roots(
            self.index * (1 - speedup / self.acceleration),
            self.exponent,
            speedup * self.per_byte,
            speedup * self.fixed - self.host_offset,
        )
        return found[~np.isnan(found)]

    def break_even(self, *, largest: float = _LARGEST_BYTE) -> Column:
        """Return g_1: the least granularity without an advantage of the host, else NaN.

        Exact for latency per call (eq 5) and per byte alike.  0 if a host offset lets every
        small offload pay.
        """
        return first_nonnegative(
            self.index * (1 - 1 / self.acceleration),
            self.exponent,
            self.per_byte,
            self.fixed - self.host_offset,
            largest=largest,
        )

    def half_acceleration(self, *, largest: float = _LARGEST_BYTE) -> Column:
        """Return g_{A/2}: the least granularity with half the acceleration, else NaN (eq 6)."""
        wanted = math.nan if math.isinf(self.acceleration) else self.acceleration / 2
        return first_nonnegative(
            self.index / 2,
            self.exponent,
            wanted * self.per_byte,
            wanted * self.fixed - self.host_offset,
            largest=largest,
        )

    def bound(self, g: ArrayLike = _LARGEST_BYTE) -> str | NDArray[np.str_]:
        """Return the bound of offloads of some size: ``compute-bound`` or ``latency-bound``.

        An offload is latency-bound if its latency per byte takes longer than its computing, so that
        ``intensity_bound`` is below the acceleration (eqs 3, 9).  Section 3.1 names the bound by
        the exponent only, as for g to infinity, which gives a fitted 1.01 another name than 1.
        """
        size, shape = _sizes(g)
        computing = self.index * _power(size, self.exponent) / self.acceleration
        by_latency = self.per_byte * size > computing
        names = np.where(by_latency, "latency-bound", "compute-bound").reshape(shape)
        return names if shape else str(names)


def _sizes(g: ArrayLike) -> tuple[Column, tuple[int, ...]]:
    """Return granularities as a row, and their shape."""
    _require("granularity", g, above_zero=False)
    (size,), shape = flat(g)
    return size, shape


def _require(name: str, value: ArrayLike, *, above_zero: bool, infinite: bool = False) -> None:
    """Raise a ValueError that shows the first value out of range."""
    values = np.asarray(value, dtype=np.float64).ravel()
    good = ((values > 0) if above_zero else (values >= 0)) & (infinite | np.isfinite(values))
    if not good.all():
        rule = "above zero" if above_zero else "zero or more"
        rule += " (infinity is allowed)" if infinite else " and finite"
        raise ValueError(f"{name} is {values[~good][0]}; it must be {rule}")


def _power(size: Column, exponent: float) -> Column:
    """Return ``size**exponent``: numpy's own power takes other code for a row of one."""
    with np.errstate(divide="ignore"):
        return size if exponent == 1 else np.exp(exponent * np.log(size))

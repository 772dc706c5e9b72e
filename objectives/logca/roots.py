"""Roots of ``a g**b - c g - d``: the sizes at which an offload takes as long as the host."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column

ADDRESSED_BYTE = 2.0**64
"""Default limit of a granularity: as far as a 64-bit address reaches."""

_STEPS = 14
_STEPS_OF_MOST = 4
_SETTLED = 1e-7  # a step; with cubic convergence the remaining error is below rounding
_BLOCK = 16384  # rows whose temporaries stay in the cache


def first_nonnegative(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, *, largest: float = ADDRESSED_BYTE
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
    a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, *, largest: float = ADDRESSED_BYTE
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

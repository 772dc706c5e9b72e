"""Bounds of columns: what elementwise functions return when designs come as ranges.

A plug-in's function, given an `Interval` for a column, computes with it as with an array and
returns an interval that holds its value for every design of the range.  IEEE arithmetic rounds
monotonically, so the bounds hold for the computed numbers themselves, not only for the real ones;
no plug-in has to declare anything.  What cannot be bounded becomes NaN, which proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column

WIDER = 1e-14
"""Relative error allowed for functions that numpy may round either way."""


class Interval(np.lib.mixins.NDArrayOperatorsMixin):
    """A column that lies between `low` and `high`, both of one shape; NaN where unknown.

    Where neither bound is NaN, no number between them is.
    """

    def __init__(self, low: Column, high: Column) -> None:
        """Bound a column."""
        self.low, self.high = low, high

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the column."""
        return self.low.shape

    def __getitem__(self, chosen: Any) -> Interval:
        """Return some of the rows."""
        return Interval(self.low[chosen], self.high[chosen])

    def reshape(self, shape: Sequence[int]) -> Interval:
        """Return the same bounds in another shape."""
        return Interval(self.low.reshape(shape), self.high.reshape(shape))

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Refuse to become an array, which could not hold the bounds."""
        raise TypeError("an interval is no array")

    def __bool__(self) -> bool:
        """Refuse to be a condition."""
        raise TypeError("an interval is no condition")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Bound a numpy function of intervals, as far as `UFUNCS` knows it."""
        if method != "__call__" or options or ufunc not in UFUNCS:
            return NotImplemented
        return UFUNCS[ufunc](*map(bounds, inputs))

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]
    ) -> Any:
        """Bound ``numpy.where``, and say how many dimensions there are."""
        if function is np.ndim:
            return len(self.shape)
        return _where_only(function, arguments, options)


class Condition:
    """A comparison of intervals: where it `holds` for every design, and where it `fails`."""

    __array_ufunc__ = None

    def __init__(self, holds: NDArray[np.bool_], fails: NDArray[np.bool_]) -> None:
        """Keep what is certain."""
        self.holds, self.fails = holds, fails

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]
    ) -> Any:
        """Choose between bounds with ``numpy.where``."""
        return _where_only(function, arguments, options)

    def __bool__(self) -> bool:
        """Refuse to decide for a whole range at once."""
        raise TypeError("a comparison of intervals may be neither true nor false")


def bounds(value: Any) -> tuple[Column, Column]:
    """Return the bounds of an interval; a plain column is its own bounds."""
    if isinstance(value, Interval):
        return value.low, value.high
    column = np.asarray(value, dtype=np.float64)
    return column, column


Pair = tuple[Column, Column]


def _rising(ufunc: np.ufunc) -> Callable[..., Interval]:
    """Return the bounds of a function that rises with all its arguments."""

    def bounded(*pairs: Pair) -> Interval:
        return Interval(ufunc(*(low for low, _ in pairs)), ufunc(*(high for _, high in pairs)))

    return bounded


def _added(a: Pair, b: Pair) -> Interval:
    low, high = a[0] + b[0], a[1] + b[1]
    if low.min() > -np.inf or high.max() < np.inf:
        return Interval(low, high)
    clash = np.isinf(low) & np.isinf(high) & (low != high)  # inf - inf may lie between
    return _unless(clash, low, high)


def _multiplied(a: Pair, b: Pair) -> Interval:
    if a[0].min() >= 0 and b[0].min() >= 0:
        low, high = a[0] * b[0], a[1] * b[1]
        if high.max() < np.inf:
            return Interval(low, high)
    else:
        low, high = _corners(np.multiply, a, b)
    zero = ((a[0] <= 0) & (a[1] >= 0), (b[0] <= 0) & (b[1] >= 0))
    return _unless((zero[0] & _endless(b)) | (zero[1] & _endless(a)), low, high)


def _divided(a: Pair, b: Pair) -> Interval:
    if a[0].min() >= 0 and b[0].min() > 0:
        low, high = a[0] / b[1], a[1] / b[0]
        if a[1].max() < np.inf:
            return Interval(low, high)
    else:
        low, high = _corners(np.true_divide, a, b)
    zero = (b[0] <= 0) & (b[1] >= 0)
    return _unless(zero | (_endless(a) & _endless(b)), low, high)


def _corners(ufunc: np.ufunc, a: Pair, b: Pair) -> Pair:
    found = [ufunc(x, y) for x in a for y in b]
    return np.minimum.reduce(found), np.maximum.reduce(found)


def _endless(a: Pair) -> NDArray[np.bool_]:
    endless: NDArray[np.bool_] = np.isinf(a[0]) | np.isinf(a[1])
    return endless


def _unless(unknown: NDArray[np.bool_], low: Column, high: Column) -> Interval:
    if unknown.any():
        low, high = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    return Interval(low, high)


def _widened(ufunc: np.ufunc) -> Callable[[Pair], Interval]:
    """Return the bounds of a rising function whose rounding numpy does not promise."""

    def bounded(a: Pair) -> Interval:
        low, high = ufunc(a[0]), ufunc(a[1])
        return _unless(np.isnan(low), low - WIDER * np.abs(low), high + WIDER * np.abs(high))

    return bounded


def _powered(a: Pair, b: Pair) -> Interval:
    low, high = _corners(np.power, a, b)
    unknown = ~(a[0] > 0) | np.isinf(high)
    return _unless(unknown, low * (1 - WIDER), high * (1 + WIDER))


def _negated(a: Pair) -> Interval:
    return Interval(-a[1], -a[0])


def _absolute(a: Pair) -> Interval:
    low = np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(np.abs(a[0]), np.abs(a[1])))
    return _unless(np.isnan(a[0]), low, np.maximum(np.abs(a[0]), np.abs(a[1])))


UFUNCS: Mapping[np.ufunc, Callable[..., Any]] = {
    np.add: _added,
    np.subtract: lambda a, b: _added(a, (-b[1], -b[0])),
    np.multiply: _multiplied,
    np.true_divide: _divided,
    np.negative: _negated,
    np.absolute: _absolute,
    np.minimum: _rising(np.minimum),
    np.maximum: _rising(np.maximum),
    np.nextafter: _rising(np.nextafter),
    np.ceil: _rising(np.ceil),
    np.floor: _rising(np.floor),
    np.sqrt: _widened(np.sqrt),
    np.exp: _widened(np.exp),
    np.log: _widened(np.log),
    np.log2: _widened(np.log2),
    np.power: _powered,
    np.isnan: lambda a: Condition(_never(a), ~np.isnan(a[0]) & ~np.isnan(a[1])),
    np.isfinite: lambda a: Condition(np.isfinite(a[0]) & np.isfinite(a[1]), _never(a)),
    np.less: lambda a, b: Condition(a[1] < b[0], a[0] >= b[1]),
    np.less_equal: lambda a, b: Condition(a[1] <= b[0], a[0] > b[1]),
    np.greater: lambda a, b: Condition(a[0] > b[1], a[1] <= b[0]),
    np.greater_equal: lambda a, b: Condition(a[0] >= b[1], a[1] < b[0]),
}
"""Bounds of a function, or what is certain about a comparison, from bounds of its arguments."""


def _never(a: Pair) -> NDArray[np.bool_]:
    return np.zeros(a[0].shape, dtype=bool)


def _where_only(function: Any, arguments: Any, options: Mapping[str, Any]) -> Any:
    if function is not np.where or options or len(arguments) != 3:
        return NotImplemented
    return _where(*arguments)


def _where(condition: Any, yes: Any, no: Any) -> Interval:
    if isinstance(condition, Condition):
        holds, fails = condition.holds, condition.fails
    else:
        holds = np.asarray(condition, dtype=bool)
        fails = ~holds
    (yes_low, yes_high), (no_low, no_high) = bounds(yes), bounds(no)
    low = np.where(holds, yes_low, np.where(fails, no_low, np.minimum(yes_low, no_low)))
    high = np.where(holds, yes_high, np.where(fails, no_high, np.maximum(yes_high, no_high)))
    return Interval(low, high)

"""Enclosures of columns: results of elementwise functions for ranges of designs.

A function, given an `Enclosure` for a column, computes with it as with an array and returns an
enclosure that holds its value for every design of the range.  IEEE arithmetic rounds
monotonically, so the ends hold for the computed numbers themselves, not only for the real ones.
No function has to declare anything.  A value that cannot be bounded becomes NaN, which proves
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract.columns import Column

WIDER = 1e-14
"""Relative error allowed for functions that numpy may round either way."""

Ends = tuple[Column, Column]
"""Low and high end of a column, or NaN if unknown."""


class Enclosure(np.lib.mixins.NDArrayOperatorsMixin):
    """A column that lies between `low` and `high`, both of one shape, or NaN if unknown.

    If neither end is NaN, no number between them is NaN.
    """

    def __init__(self, low: Column, high: Column) -> None:
        """Enclose a column."""
        if low.shape != high.shape:
            low, high = np.broadcast_arrays(low, high)
        self.low, self.high = low, high

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the column."""
        return self.low.shape

    def __getitem__(self, chosen: Any) -> Enclosure:
        """Return some of the rows."""
        return Enclosure(self.low[chosen], self.high[chosen])

    def reshape(self, shape: Sequence[int]) -> Enclosure:
        """Return the same ends in another shape."""
        return Enclosure(self.low.reshape(shape), self.high.reshape(shape))

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Raise TypeError, since an array cannot hold both ends."""
        raise TypeError("a range of values is no array")

    def __bool__(self) -> bool:
        """Raise TypeError, since a range is no condition."""
        raise TypeError("a range of values is no condition")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Enclose a numpy function of enclosures, as far as `UFUNCS` knows it."""
        if method != "__call__" or options or ufunc not in UFUNCS:
            return NotImplemented
        return UFUNCS[ufunc](*map(ends, inputs))

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]
    ) -> Any:
        """Enclose ``numpy.where`` and ``numpy.clip``, and return the number of dimensions."""
        if function is np.ndim:
            return len(self.shape)
        if function is np.clip and len(arguments) == 3 and not options:
            return np.minimum(np.maximum(arguments[0], arguments[1]), arguments[2])
        return _where_only(function, arguments, options)


class Condition:
    """A comparison of enclosures, which `holds` or `fails` for every design of a row."""

    __array_ufunc__ = None

    def __init__(self, holds: NDArray[np.bool_], fails: NDArray[np.bool_]) -> None:
        """Keep the rows that are certain."""
        self.holds, self.fails = holds, fails

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]
    ) -> Any:
        """Choose between enclosures with ``numpy.where``."""
        return _where_only(function, arguments, options)

    def __bool__(self) -> bool:
        """Raise TypeError, since a comparison may be both true and false within a range."""
        raise TypeError("a comparison of ranges may be neither true nor false")

    def __and__(self, other: Any) -> Condition:
        """Return a condition that holds if both hold."""
        also = _condition(other)
        return Condition(self.holds & also.holds, self.fails | also.fails)

    def __or__(self, other: Any) -> Condition:
        """Return a condition that holds if either holds."""
        also = _condition(other)
        return Condition(self.holds | also.holds, self.fails & also.fails)

    def __invert__(self) -> Condition:
        """Return a condition that holds if this one fails."""
        return Condition(self.fails, self.holds)

    __rand__, __ror__ = __and__, __or__


def _condition(value: Any) -> Condition:
    if isinstance(value, Condition):
        return value
    if isinstance(value, Enclosure):
        raise TypeError("a range of values is no condition")
    holds = np.asarray(value, dtype=bool)
    return Condition(holds, ~holds)


def ends(value: Any) -> Ends:
    """Return both ends of an enclosure.  The ends of a plain column are the column itself."""
    if isinstance(value, Enclosure):
        return value.low, value.high
    column = np.asarray(value, dtype=np.float64)
    return column, column


def is_exact(value: Any) -> bool:
    """Return whether a value is a plain column, or a tuple of plain columns."""
    if isinstance(value, tuple):
        return not any(isinstance(part, Enclosure) for part in value)
    return not isinstance(value, Enclosure)


def hull(values: Sequence[Any]) -> Enclosure:
    """Return an enclosure of all given columns and enclosures."""
    lows, highs = zip(*map(ends, values), strict=True)
    return Enclosure(reduce(np.minimum, lows), reduce(np.maximum, highs))


def _rising(ufunc: np.ufunc) -> Callable[..., Enclosure]:
    """Return the enclosure of a function that rises with all its arguments."""

    def enclosed(*pairs: Ends) -> Enclosure:
        return Enclosure(ufunc(*(low for low, _ in pairs)), ufunc(*(high for _, high in pairs)))

    return enclosed


def _added(a: Ends, b: Ends) -> Enclosure:
    low, high = a[0] + b[0], a[1] + b[1]
    if low.min(initial=0.0) > -np.inf or high.max(initial=0.0) < np.inf:
        return Enclosure(low, high)
    clash = np.isinf(low) & np.isinf(high) & (low != high)  # inf - inf may lie between
    return _unless(clash, low, high)


def _multiplied(a: Ends, b: Ends) -> Enclosure:
    if a[0].min(initial=0.0) >= 0 and b[0].min(initial=0.0) >= 0:
        low, high = a[0] * b[0], a[1] * b[1]
        if high.max(initial=0.0) < np.inf:
            return Enclosure(low, high)
    else:
        low, high = _corners(np.multiply, a, b)
    zero = ((a[0] <= 0) & (a[1] >= 0), (b[0] <= 0) & (b[1] >= 0))
    return _unless((zero[0] & _endless(b)) | (zero[1] & _endless(a)), low, high)


def _divided(a: Ends, b: Ends) -> Enclosure:
    if a[0].min(initial=0.0) >= 0 and b[0].min(initial=1.0) > 0:
        low, high = a[0] / b[1], a[1] / b[0]
        if a[1].max(initial=0.0) < np.inf:
            return Enclosure(low, high)
    else:
        low, high = _corners(np.true_divide, a, b)
    zero = (b[0] <= 0) & (b[1] >= 0)
    return _unless(zero | (_endless(a) & _endless(b)), low, high)


def _corners(ufunc: np.ufunc, a: Ends, b: Ends) -> Ends:
    found = [ufunc(x, y) for x in a for y in b]
    return np.minimum.reduce(found), np.maximum.reduce(found)


def _endless(a: Ends) -> NDArray[np.bool_]:
    endless: NDArray[np.bool_] = np.isinf(a[0]) | np.isinf(a[1])
    return endless


def _unless(unknown: NDArray[np.bool_], low: Column, high: Column) -> Enclosure:
    if unknown.any():
        low, high = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    return Enclosure(low, high)


def _widened(ufunc: np.ufunc) -> Callable[[Ends], Enclosure]:
    """Return the enclosure of a rising function whose rounding numpy does not promise."""

    def enclosed(a: Ends) -> Enclosure:
        low, high = ufunc(a[0]), ufunc(a[1])
        return _unless(np.isnan(low), low - WIDER * np.abs(low), high + WIDER * np.abs(high))

    return enclosed


def _powered(a: Ends, b: Ends) -> Enclosure:
    low, high = _corners(np.power, a, b)
    whole = np.isfinite(b[0]) & (b[0] == np.round(b[0])) & (b[0] >= 1)
    if (b[0] == b[1]).all() and whole.all():
        even = b[0] % 2 == 0
        low = np.where(even & (a[0] <= 0) & (a[1] >= 0), 0.0, low)
        unknown = np.isnan(low) | _endless(a)
    else:
        unknown = ~(a[0] > 0) | np.isinf(high)
    return _unless(unknown, low - WIDER * np.abs(low), high + WIDER * np.abs(high))


def _absolute(a: Ends) -> Enclosure:
    low = np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.minimum(np.abs(a[0]), np.abs(a[1])))
    return _unless(np.isnan(a[0]), low, np.maximum(np.abs(a[0]), np.abs(a[1])))


def _squared(a: Ends) -> Enclosure:
    size = _absolute(a)
    return Enclosure(size.low * size.low, size.high * size.high)


def _equal(a: Ends, b: Ends) -> Condition:
    same = (a[0] == a[1]) & (b[0] == b[1]) & (a[0] == b[0])
    return Condition(same, (a[1] < b[0]) | (a[0] > b[1]))


def _finite(a: Ends) -> Condition:
    return Condition(np.isfinite(a[0]) & np.isfinite(a[1]), (a[0] == a[1]) & np.isinf(a[0]))


_RISING = (np.minimum, np.maximum, np.nextafter, np.ceil, np.floor, np.trunc, np.rint, np.sign)
_RISING_ROUNDED = (
    *(np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1),
    *(np.log, np.log2, np.log10, np.log1p),
)
"""Rising functions whose rounding numpy does not promise."""

UFUNCS: Mapping[np.ufunc, Callable[..., Any]] = {
    np.add: _added,
    np.subtract: lambda a, b: _added(a, (-b[1], -b[0])),
    np.multiply: _multiplied,
    np.true_divide: _divided,
    np.reciprocal: lambda a: _divided((np.ones(1), np.ones(1)), a),
    np.negative: lambda a: Enclosure(-a[1], -a[0]),
    np.positive: lambda a: Enclosure(*a),
    np.absolute: _absolute,
    np.square: _squared,
    **{ufunc: _rising(ufunc) for ufunc in _RISING},
    **{ufunc: _widened(ufunc) for ufunc in _RISING_ROUNDED},
    np.power: _powered,
    np.isnan: lambda a: Condition(np.zeros(a[0].shape, bool), ~np.isnan(a[0]) & ~np.isnan(a[1])),
    np.isfinite: _finite,
    np.isinf: lambda a: ~_finite(a),
    np.less: lambda a, b: Condition(a[1] < b[0], a[0] >= b[1]),
    np.less_equal: lambda a, b: Condition(a[1] <= b[0], a[0] > b[1]),
    np.greater: lambda a, b: Condition(a[0] > b[1], a[1] <= b[0]),
    np.greater_equal: lambda a, b: Condition(a[0] >= b[1], a[1] < b[0]),
    np.equal: _equal,
    np.not_equal: lambda a, b: ~_equal(a, b),
}
"""Enclosure of a function, or certainty of a comparison, from the ends of its arguments."""


def _where_only(function: Any, arguments: Any, options: Mapping[str, Any]) -> Any:
    if function is not np.where or options or len(arguments) != 3:
        return NotImplemented
    return _where(*arguments)


def _where(condition: Any, yes: Any, no: Any) -> Enclosure:
    decided = _condition(condition)
    (yes_low, yes_high), (no_low, no_high) = ends(yes), ends(no)
    either_low, either_high = np.minimum(yes_low, no_low), np.maximum(yes_high, no_high)
    low = np.where(decided.holds, yes_low, np.where(decided.fails, no_low, either_low))
    high = np.where(decided.holds, yes_high, np.where(decided.fails, no_high, either_high))
    return Enclosure(low, high)

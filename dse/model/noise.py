"""How sure it is that of two designs, each measured a few times, one is the better one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column

SURE = 0.975
"""Probability below which the better of two designs is within noise of the other."""


def chance_less(
    gap: ArrayLike, error: ArrayLike, other_error: ArrayLike, *, repeats: int
) -> Column:
    """Return the probability that a true value is less than another one.

    Of means of n measurements with standard errors e_1 and e_2, whose difference is `gap`:

        P = T_v(gap / sqrt(e_1^2 + e_2^2)),   v = (n - 1) (e_1^2 + e_2^2)^2 / (e_1^4 + e_2^4)

    T_v is the distribution of Student, v as of Welch (Biometrika 34, 1947).  Before the
    measurements any values are as likely; where the values of all designs differ by less than their
    noise, P is too large.  1/2 where there is neither gap nor noise.
    """
    from scipy.special import stdtr  # only where there is noise

    gap = np.asarray(gap, dtype=np.float64)
    first, second = np.nan_to_num(np.square(error)), np.nan_to_num(np.square(other_error))
    whole = first + second
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gap == 0, 0.0, gap / np.sqrt(whole))
        share = first / whole
        freedom = (repeats - 1) / (share**2 + (1 - share) ** 2)
    exact = 0.5 + 0.5 * np.sign(gap)
    return np.where(whole > 0, stdtr(np.where(whole > 0, freedom, 1.0), ratio), exact)


def within_noise(
    values: Mapping[str, Column], errors: Mapping[str, Column], row: int, *, repeats: int
) -> NDArray[np.bool_]:
    """Return which designs (n,) nothing tells from that of a `row`, by any of their values."""
    alike = [
        np.abs(chance_less(column - column[row], error[row], error, repeats=repeats) - 0.5)
        < SURE - 0.5
        for name, column in values.items()
        for error in (errors.get(name, np.zeros(len(column))),)
    ]
    return np.asarray(np.all(alike, axis=0), dtype=bool)


def folded(
    values: Mapping[str, Column],
    errors: Mapping[str, Column],
    first: Sequence[int],
    *,
    repeats: int,
) -> dict[int, int]:
    """Return rows of designs, and of how many others each one stands for, within noise of it.

    Rows `first` are taken first, then the others in order.
    """
    count = len(next(iter(values.values()), ()))
    left = np.ones(count, dtype=bool)
    found: dict[int, int] = {}
    for row in dict.fromkeys((*first, *range(count))):
        if left[row]:
            alike = left & within_noise(values, errors, row, repeats=repeats)
            alike[row] = True
            left &= ~alike
            found[row] = int(alike.sum()) - 1
    return found

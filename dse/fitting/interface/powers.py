"""Least squares on the logarithm of a sum of powers.

A time ``sum_k coefficient_k * g**exponent_k`` whose errors are relative, of one size all over the
range, is fitted by the least squares of ``log(time) - log(sum)``.  The coefficients may come out
negative (the sum may not); one exponent may be sought.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EXPONENTS = np.linspace(0.2, 3.0, 57)
"""Where the search for a free exponent starts: the best of these."""

_TIGHT = 1e-14
_RANK = 1e-11  # singular values below this share of the largest count as zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Powers:
    """A fitted sum of powers.

    Attributes
    ----------
    coefficients, exponents
        Of each term, (terms,).
    covariance
        Of the coefficients and, last, the sought exponent, for a noise of variance 1; (parameters,
        parameters), zero where a parameter was held.
    jacobian
        Of ``log(sum)``, in units in which the columns have length 1; (sizes, parameters).
    shift
        Of the coefficients with a held last exponent, per unit of that exponent; (terms,).
    residuals
        ``log(time / sum)``, (sizes,).
    freedom
        Degrees of freedom.
    """

    coefficients: Array
    exponents: Array
    covariance: Array
    jacobian: Array
    shift: Array
    residuals: Array
    freedom: int

    @property
    def squares(self) -> float:
        """Sum of the squared residuals."""
        return float(np.sum(self.residuals**2))

    @property
    def noise(self) -> float:
        """Variance of the relative error; NaN without degrees of freedom."""
        return self.squares / self.freedom if self.freedom > 0 else float("nan")

    def at(self, size: Array) -> Array:
        """Return the sum at sizes (any,)."""
        return _sum(np.log(size), self.coefficients, self.exponents)


def fit_powers(
    size: Array, time: Array, exponents: Array, *, free: bool, used: Flags | None = None
) -> Powers:
    """Fit one curve.

    Parameters
    ----------
    size, time
        Above zero, (sizes,).
    exponents
        Of the terms, (terms,); a free last one is only a placeholder.
    free
        Whether the exponent of the last term is sought.
    used
        Which terms there are, (terms,); all by default.  The last one is if its exponent is sought.
    """
    kept = np.ones(len(exponents), np.bool_) if used is None else used
    logs, y = np.log(size), np.log(time)
    centre = logs.mean()
    scaled, exponents = _solve(logs - centre, y, np.array(exponents, dtype=np.float64), kept, free)
    coefficients = scaled * np.exp(-exponents * centre)
    sums = _sum(logs, coefficients, exponents)
    jacobian = _jacobian(logs, coefficients, exponents, free) * _sought(kept, free)
    length = np.linalg.norm(jacobian, axis=0)
    length[length == 0] = 1.0
    unit = jacobian / length
    inverse = np.linalg.pinv(unit, rcond=_RANK) / length[:, None]
    slope = _jacobian(logs, coefficients, exponents, free=True)[:, -1]
    return Powers(
        coefficients=coefficients,
        exponents=exponents,
        covariance=inverse @ inverse.T,
        jacobian=unit,
        shift=-(inverse @ slope)[: len(exponents)],
        residuals=y - np.log(sums),
        freedom=len(size) - int(kept.sum()) - free,
    )


def _solve(x: Array, y: Array, powers: Array, kept: Flags, free: bool) -> tuple[Array, Array]:
    """Return coefficients and exponents of least squares."""
    from scipy.optimize import least_squares

    def parts(found: Array) -> tuple[Array, Array]:
        coefficients, exponents = np.zeros(len(powers)), powers.copy()
        coefficients[kept] = found[: kept.sum()]
        if free:
            exponents[-1] = found[-1]
        return coefficients, exponents

    def residuals(found: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.log(_sum(x, *parts(found))) - y)

    def slope(found: Array) -> Array:
        return _jacobian(x, *parts(found), free)[:, _sought(kept, free)]

    start = _start(x, y, powers, kept, free)
    found = least_squares(
        residuals, start, slope, x_scale="jac", xtol=_TIGHT, ftol=_TIGHT, gtol=_TIGHT
    )
    return parts(found.x)


def _sought(kept: Flags, free: bool) -> Flags:
    """Return which parameters are sought: coefficients and, last, a free exponent."""
    return np.append(kept, np.ones(int(free), np.bool_))


def _start(x: Array, y: Array, powers: Array, kept: Flags, free: bool) -> Array:
    """Return the least squares of the relative errors, at the best exponent of a few."""
    if not free:
        return _linear(x, y, powers, kept)[0]
    tried = []
    for exponent in EXPONENTS:
        found, miss = _linear(x, y, np.append(powers[:-1], exponent), kept)
        tried.append((miss, np.append(found, exponent)))
    return min(tried, key=lambda entry: entry[0])[1]


def _linear(x: Array, y: Array, powers: Array, kept: Flags) -> tuple[Array, float]:
    """Minimise relative errors at given exponents; positive coefficients where a sum is not."""
    relative = np.exp(np.outer(x, powers[kept]) - y[:, None])
    found: Array = np.asarray(np.linalg.lstsq(relative, np.ones(len(x)), rcond=None)[0], np.float64)
    if (relative @ found <= 0).any():
        found = (1 / relative).min(axis=0) / kept.sum()
    return found, float(np.sum(np.log(relative @ found) ** 2))


def _sum(logs: Array, coefficients: Array, exponents: Array) -> Array:
    found: Array = np.exp(np.outer(logs, exponents)) @ coefficients
    return found


def _jacobian(logs: Array, coefficients: Array, exponents: Array, free: bool) -> Array:
    """Return the derivatives of the log of the sum, by the last exponent too when it is free."""
    columns = np.exp(np.outer(logs, exponents))
    if free:
        columns = np.column_stack([columns, coefficients[-1] * columns[:, -1] * logs])
    found: Array = columns / _sum(logs, coefficients, exponents)[:, None]
    return found

"""Least squares on the logarithm of sums of powers, many data sets at once.

A time ``sum_k coefficient_k * g**exponent_k`` whose errors are relative, of one size all over the
range, is fitted by the least squares of ``log(time) - log(sum)``.  The coefficients may come out
negative (the sum may not); one exponent may be sought.  Gauss-Newton with step halving, by
pseudo-inverses of the small Jacobians of all rows together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

EXPONENTS = np.linspace(0.2, 3.0, 57)
"""Where the search for a free exponent starts: the best of these."""

_STEPS = 60
_HALVINGS = 12
_CONVERGED = 1e-11  # relative decrease of the sum of squares
_RANK = 1e-11  # singular values below this share of the largest count as zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Powers:
    """Fitted sums of powers, one per row.

    Attributes
    ----------
    coefficients, exponents
        Of each term, (rows, terms).
    covariance
        Of the coefficients and, last, the sought exponent, for a noise of variance 1; (rows,
        parameters, parameters), zero where a parameter was held.
    jacobian
        Of ``log(sum)``, in units in which the columns have length 1; (rows, sizes, parameters).
    shift
        Of the coefficients with a held last exponent, per unit of that exponent; (rows, terms).
    residuals
        ``log(time / sum)``, (rows, sizes).
    freedom
        Degrees of freedom of each row.
    """

    coefficients: Array
    exponents: Array
    covariance: Array
    jacobian: Array
    shift: Array
    residuals: Array
    freedom: Array

    @property
    def squares(self) -> Array:
        """Sum of the squared residuals of each row."""
        total: Array = np.sum(self.residuals**2, axis=1)
        return total

    @property
    def noise(self) -> Array:
        """Variance of the relative error of each row; NaN without degrees of freedom."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.freedom > 0, self.squares / self.freedom, np.nan)

    def at(self, size: Array) -> Array:
        """Return the sums at sizes (rows, any) or (any,)."""
        powers = np.exp(self.exponents[:, :, None] * np.log(np.atleast_2d(size))[:, None, :])
        sums: Array = np.einsum("dk,dkn->dn", self.coefficients, powers)
        return sums


def fit_powers(
    size: Array, time: Array, exponents: Array, *, free: bool, used: Flags | None = None
) -> Powers:
    """Fit every row of `time`.

    Parameters
    ----------
    size
        Sizes above zero, (sizes,) or (rows, sizes).
    time
        Times above zero, (rows, sizes).
    exponents
        Of the terms, (terms,) or (rows, terms); a free last one is only a placeholder.
    free
        Whether the exponent of the last term is sought.
    used
        Which terms a row has, (rows, terms); all by default.
    """
    rows = len(time)
    logs = np.log(np.broadcast_to(size, time.shape))
    centre = logs.mean(axis=1, keepdims=True)
    x, y = logs - centre, np.log(time)
    powers = np.array(np.broadcast_to(exponents, (rows, np.shape(exponents)[-1])), dtype=np.float64)
    kept = np.ones(powers.shape, np.bool_) if used is None else used
    coefficients, powers = _start(x, y, powers, kept, free)
    coefficients, powers = _iterate(x, y, coefficients, powers, kept, free)

    # Back from sizes relative to their mean to bytes: a = b * exp(-exponent * centre).
    jacobian, sums = _jacobian(x, coefficients, powers, kept, free)
    inverse, unit = _inverse(jacobian)
    shift = -np.einsum("dpn,dn->dp", inverse, _slope(x, coefficients, powers) / sums)
    factor = np.exp(-powers * centre)
    back = np.zeros((rows, inverse.shape[1], inverse.shape[1]))
    terms = np.arange(powers.shape[1])
    back[:, terms, terms] = factor
    moved = shift[:, : len(terms)] * factor
    moved[:, -1] -= coefficients[:, -1] * factor[:, -1] * centre[:, 0]
    if free:
        back[:, -1, -1] = 1.0
        back[:, -2, -1] = -coefficients[:, -1] * factor[:, -1] * centre[:, 0]
    inverse = back @ inverse
    return Powers(
        coefficients=coefficients * factor,
        exponents=powers,
        covariance=inverse @ inverse.swapaxes(1, 2),
        jacobian=unit,
        shift=moved,
        residuals=y - np.log(sums),
        freedom=time.shape[1] - np.sum(kept, axis=1) - float(free),
    )


def _start(x: Array, y: Array, powers: Array, kept: Flags, free: bool) -> tuple[Array, Array]:
    """Start from the least squares of the relative errors, at the best exponent of a few."""
    best, chosen = _linear(x, y, powers, kept), powers
    if not free:
        return best[0], chosen
    least = np.full(len(x), np.inf)
    coefficients = best[0]
    for exponent in EXPONENTS:
        trial = powers.copy()
        trial[:, -1] = exponent
        found, miss = _linear(x, y, trial, kept)
        better = miss < least
        least = np.where(better, miss, least)
        coefficients = np.where(better[:, None], found, coefficients)
        chosen = np.where(better[:, None], trial, chosen)
    return coefficients, chosen


def _linear(x: Array, y: Array, powers: Array, kept: Flags) -> tuple[Array, Array]:
    """Minimise relative errors at given exponents; positive coefficients where a sum is not."""
    basis = np.exp(powers[:, :, None] * x[:, None, :]) * kept[:, :, None]
    relative = (basis / np.exp(y)[:, None, :]).swapaxes(1, 2)
    found = _inverse(relative)[0].sum(axis=2)
    low = np.any(np.einsum("dk,dkn->dn", found, basis) <= 0, axis=1)
    with np.errstate(divide="ignore"):
        smallest = np.min(1 / relative, axis=1)
    spread = np.where(kept, smallest, 0.0) / np.maximum(kept.sum(axis=1, keepdims=True), 1)
    found = np.where(low[:, None], spread, found)
    sums = np.einsum("dk,dkn->dn", found, basis)
    return found, np.sum((y - np.log(sums)) ** 2, axis=1)


def _iterate(
    x: Array, y: Array, coefficients: Array, powers: Array, kept: Flags, free: bool
) -> tuple[Array, Array]:
    """Take Gauss-Newton steps, halved until they help, until no row gets better."""
    terms = powers.shape[1]
    jacobian, sums = _jacobian(x, coefficients, powers, kept, free)
    squares = np.sum((y - np.log(sums)) ** 2, axis=1)
    for _ in range(_STEPS):
        step = np.einsum("dpn,dn->dp", _inverse(jacobian)[0], y - np.log(sums))
        before, open_rows, share = squares.copy(), np.ones(len(x), np.bool_), 1.0
        for _ in range(_HALVINGS):
            trial, bent = coefficients + share * step[:, :terms], powers.copy()
            if free:
                bent[:, -1] += share * step[:, -1]
            sums_there = _sum(x, trial, bent)
            with np.errstate(divide="ignore", invalid="ignore"):
                there = np.sum((y - np.log(sums_there)) ** 2, axis=1)
            better = open_rows & (there < squares)  # NaN is never better
            coefficients = np.where(better[:, None], trial, coefficients)
            powers = np.where(better[:, None], bent, powers)
            squares = np.where(better, there, squares)
            open_rows &= ~better
            share /= 2
            if not open_rows.any():
                break
        if np.all(before - squares <= _CONVERGED * before):
            break
        jacobian, sums = _jacobian(x, coefficients, powers, kept, free)
    return coefficients, powers


def _sum(x: Array, coefficients: Array, powers: Array) -> Array:
    basis = np.exp(powers[:, :, None] * x[:, None, :])
    sums: Array = np.einsum("dk,dkn->dn", coefficients, basis)
    return sums


def _slope(x: Array, coefficients: Array, powers: Array) -> Array:
    """Derivative of the sums with respect to the last exponent."""
    slope: Array = coefficients[:, -1:] * np.exp(powers[:, -1:] * x) * x
    return slope


def _jacobian(
    x: Array, coefficients: Array, powers: Array, kept: Flags, free: bool
) -> tuple[Array, Array]:
    """Return the derivatives of the log of the sums (rows, sizes, parameters), and the sums."""
    sums = _sum(x, coefficients, powers)
    basis = np.exp(powers[:, :, None] * x[:, None, :]) * kept[:, :, None]
    columns = [*(basis[:, term] for term in range(basis.shape[1]))]
    if free:
        columns.append(_slope(x, coefficients, powers))
    return np.stack(columns, axis=2) / sums[:, :, None], sums


def _inverse(jacobian: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse (rows, parameters, sizes) and the columns scaled to length 1."""
    length = np.linalg.norm(jacobian, axis=1, keepdims=True)
    length = np.where(length > 0, length, 1.0)
    unit = jacobian / length
    return np.linalg.pinv(unit, rcond=_RANK) / length.swapaxes(1, 2), unit

"""Fits laws to a few points: least squares, the form chosen by leave-one-out error.

The only user of scipy in fits of cores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.study.core_law import FORMS, LINEAR, Law, evaluate_law

LEVEL = 0.95
"""Of the confidence intervals."""

EXACT_REFITS = 100
"""Up to this many points a power or exponential law is fitted anew without each of them; beyond,
the error comes from the leverage of the linearised law."""

_ALIKE = 1e-9
"""What differs by less, relative to the data, differs by rounding only."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A law and what supports it, in SI.

    Attributes
    ----------
    law
        The law.
    leave_one_out
        Root mean square error of each point, predicted by the law fitted to the others.
    residuals
        Law minus data, one per point.
    intervals
        Confidence interval of each coefficient: Student's t with n - p degrees of freedom;
        linearised at the fit for power and exponential laws.
    others
        Every other form that was tried, with its leave-one-out error; best first.
    """

    law: Law
    leave_one_out: float
    residuals: Column
    intervals: tuple[tuple[float, float], ...]
    others: tuple[tuple[Law, float], ...]

    @property
    def rms(self) -> float:
        """Root mean square of the residuals."""
        return _rms(self.residuals)

    def spread(self, parameters: Mapping[str, Column]) -> float:
        """Return the relative standard deviation of the data about the law."""
        values = self.law(parameters)
        table = values - self.residuals
        freedom = len(table) - len(self.law.coefficients)
        compared = table != 0
        return float(np.sqrt(np.sum((values / table - 1)[compared] ** 2) / freedom))


def fit_law(
    parameters: Mapping[str, Column], values: Column, form: str | None = None
) -> Fitted | None:
    """Return the law of least leave-one-out error over any of one or two parameters.

    Of laws that predict alike, the one with the fewest coefficients is taken.  A law needs one
    point more than it has coefficients, and must stay positive (a value that is zero somewhere:
    not negative) on the whole range of the parameters.

    Parameters
    ----------
    parameters
        Columns of shape (n,), above zero.
    values
        What to describe, shape (n,).
    form
        One of `FORMS`; all of them are tried when it is None.

    Returns
    -------
    Fitted | None
        None when the points support no law.
    """
    if np.ptp(values) <= _ALIKE * np.abs(values).max():
        form = "constant"
    tried = [
        (law, error)
        for law in _laws(parameters, values, form)
        if _is_possible(law, parameters, values)
        and math.isfinite(error := _leave_one_out(law, parameters, values))
    ]
    if not tried:
        return None
    ranked = sorted(tried, key=lambda entry: entry[1])
    enough = ranked[0][1] + _ALIKE * _rms(values)
    alike = [entry for entry in ranked if entry[1] <= enough]
    law, error = min(alike, key=lambda entry: len(entry[0].coefficients))
    return Fitted(
        law=law,
        leave_one_out=float(_unless_rounding(np.array(error), values)),
        residuals=_unless_rounding(law(parameters) - values, values),
        intervals=_intervals(law, parameters, values),
        others=tuple(entry for entry in ranked if entry[0] is not law),
    )


def _unless_rounding(errors: Column, values: Column) -> Column:
    return np.where(np.abs(errors) <= _ALIKE**1.5 * np.abs(values).max(), 0.0, errors)


def _laws(parameters: Mapping[str, Column], values: Column, form: str | None) -> Iterator[Law]:
    """Yield every law that the points determine and leave at least one degree of freedom."""
    for name in FORMS if form is None else (form,):
        sizes = (0,) if name == "constant" else range(1, len(parameters) + 1)
        for size in sizes:
            for over in itertools.combinations(parameters, size):
                if len(values) < size + 2:
                    continue
                table = _table(parameters, over)
                coefficients = _solve(name, table, values)
                if coefficients is not None:
                    yield Law(form=name, over=over, coefficients=tuple(coefficients.tolist()))


def _table(parameters: Mapping[str, Column], over: Sequence[str]) -> Matrix:
    """Return parameters as a matrix of shape (points, parameters)."""
    count = len(next(iter(parameters.values())))
    return np.array([parameters[name] for name in over]).reshape(len(over), count).T


def _solve(form: str, table: Matrix, values: Column, start: Column | None = None) -> Column | None:
    """Return the coefficients of least squares, None when the points do not determine them."""
    if form in LINEAR:
        return _linear(_basis(form, table), values)
    if (values <= 0).any():
        return None
    return _growth(np.log(table) if form == "power" else table, values, start, form)


def _basis(form: str, table: Matrix) -> Matrix:
    return np.hstack([np.ones((len(table), 1)), table**2 if form == "square" else table])


def _linear(basis: Matrix, values: Column) -> Column | None:
    if basis.shape[1] == 1:
        return np.array([values.mean()])
    scale = np.linalg.norm(basis, axis=0)
    found, _, rank, _ = np.linalg.lstsq(basis / scale, values, rcond=1e-10)
    rounding = 1e-13 * float(np.linalg.norm(values))
    found = np.where(np.abs(found) < rounding, 0.0, found)
    return np.asarray(found / scale) if rank == basis.shape[1] else None


def _growth(logs: Matrix, values: Column, start: Column | None, form: str) -> Column | None:
    """Fit a exp(b t) for every column t of `logs`, which are scaled about their means."""
    from scipy.optimize import least_squares

    centre, spread = logs.mean(axis=0), np.ptp(logs, axis=0)
    if not spread.all():
        return None
    basis = np.hstack([np.ones((len(logs), 1)), (logs - centre) / spread])
    first = _linear(basis, np.log(values))
    if first is None:
        return None
    if start is not None:
        first = np.array([math.log(start[0]) + start[1:] @ centre, *(start[1:] * spread)])
    size = np.abs(values).max()

    def residuals(shares: Column) -> Column:
        return np.asarray(np.exp(np.minimum(basis @ shares, 700.0)) / size - values / size)

    def slope(shares: Column) -> Matrix:
        return np.asarray(basis * (np.exp(np.minimum(basis @ shares, 700.0)) / size)[:, None])

    found = least_squares(residuals, first, slope, xtol=1e-13, ftol=1e-13, gtol=1e-13, max_nfev=200)
    rates = found.x[1:] / spread
    exponent = float(found.x[0] - rates @ centre)
    if not found.success or abs(exponent) > 600:
        return None
    return np.array([math.exp(exponent), *rates])


def _is_possible(law: Law, parameters: Mapping[str, Column], values: Column) -> bool:
    """Whether a law keeps the sign of its data on the range: it is monotone in each parameter."""
    ends = [(parameters[name].min(), parameters[name].max()) for name in law.over]
    corners = [np.array(column) for column in zip(*itertools.product(*ends), strict=True)]
    least = float(np.min(evaluate_law(law.form, corners, law.coefficients)))
    return least > 0 or (least >= 0 and bool((values == 0).any()))


def _leave_one_out(law: Law, parameters: Mapping[str, Column], values: Column) -> float:
    if law.form in LINEAR or len(values) > EXACT_REFITS:
        slope = _slope(law, parameters)
        unitary, triangle = np.linalg.qr(slope / np.linalg.norm(slope, axis=0))
        if np.abs(np.diag(triangle)).min() < 1e-10:
            return math.inf
        free = 1.0 - (unitary**2).sum(axis=1)
        if free.min() < 1e-9:  # without this point the others do not determine the law
            return math.inf
        return _rms((law(parameters) - values) / free)
    table, start = _table(parameters, law.over), np.array(law.coefficients)
    errors = []
    for point in range(len(values)):
        rest = np.arange(len(values)) != point
        found = _solve(law.form, table[rest], values[rest], start)
        if found is None:
            return math.inf
        predicted = evaluate_law(law.form, list(table[point : point + 1].T), found.tolist())
        errors.append(float(predicted[0]) - values[point])
    return _rms(np.array(errors))


def _slope(law: Law, parameters: Mapping[str, Column]) -> Matrix:
    """Return the derivative of a law by its coefficients, shape (points, coefficients)."""
    table = _table(parameters, law.over)
    if law.form in LINEAR:
        return _basis(law.form, table)
    values = law(parameters)
    logs = np.log(table) if law.form == "power" else table
    return np.hstack([values[:, None] / law.coefficients[0], values[:, None] * logs])


def _intervals(
    law: Law, parameters: Mapping[str, Column], values: Column
) -> tuple[tuple[float, float], ...]:
    from scipy.stats import t

    slope = _slope(law, parameters)
    scale = np.linalg.norm(slope, axis=0)
    freedom = len(values) - len(law.coefficients)
    variance = float(((law(parameters) - values) ** 2).sum()) / freedom
    inverse = np.linalg.pinv(slope / scale)
    deviations = np.sqrt(variance * (inverse**2).sum(axis=1)) / scale
    widths = t.ppf((1 + LEVEL) / 2, freedom) * deviations
    pairs = zip(law.coefficients, widths.tolist(), strict=True)
    return tuple((value - width, value + width) for value, width in pairs)


def _rms(values: Column) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

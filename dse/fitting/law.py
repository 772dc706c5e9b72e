"""Fits laws to a few points: relative errors, the form chosen by leave-one-out error.

An error is the logarithm of law over data, for tables span decades: power and exponential laws
are linear regression then, the others are sought.  Where data are zero somewhere, an error is a
share of their mean.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.study.cores.core_law import FORMS, LINEAR, Law, evaluate_law

LEVEL = 0.95
"""Of the confidence intervals."""

EXACT_REFITS = 100
"""Up to this many points an affine or square law is fitted anew without each of them; beyond,
the error comes from the leverage of the linearised law."""

SURE = 0.025
"""A form is taken when data are this unlikely about a constant; the best of several is tried."""

_ALIKE = 1e-9
"""What differs by less, relative to the data, differs by rounding only."""
_ROUNDING = 1e-11
_MOST_STEPS = 100

Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A law and what supports it, in SI.

    Attributes
    ----------
    law
        The law.
    errors
        Of each point, relative.
    leave_one_out
        Root mean square error of each point, predicted by the law fitted to the others.
    residuals
        Law minus data, one per point.
    intervals
        Confidence interval of each coefficient: Student's t with n - p degrees of freedom;
        linearised at the fit for affine and square laws.
    others
        Every other form that was tried, with its leave-one-out error; best first.
    chance
        How likely the data are about a constant, by the best other form (F test).
    """

    law: Law
    errors: Column
    leave_one_out: float
    residuals: Column
    intervals: tuple[tuple[float, float], ...]
    others: tuple[tuple[Law, float], ...]
    chance: float

    @property
    def rms(self) -> float:
        """Root mean square of the errors."""
        return _rms(self.errors)

    @property
    def is_doubtful(self) -> bool:
        """Whether another form predicts better than this constant, and the data do not tell."""
        better = bool(self.others) and self.others[0][1] < self.leave_one_out
        return self.law.form == "constant" and better

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

    Of laws that predict alike, the one with the fewest coefficients is taken, and a constant
    unless the data are unlikely about one.  A law needs one
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
    alike = [entry for entry in ranked if entry[1] <= ranked[0][1] + _ALIKE]
    law, error = min(alike, key=lambda entry: len(entry[0].coefficients))
    chance = _chance(law, parameters, values)
    constant = [entry for entry in ranked if entry[0].form == "constant"]
    if constant and chance > SURE:
        law, error = constant[0]
    return Fitted(
        law=law,
        errors=(errors := _errors(law(parameters), values)),
        leave_one_out=0.0 if error <= _ROUNDING else error,
        residuals=np.where(errors == 0, 0.0, law(parameters) - values),
        intervals=_intervals(law, parameters, values),
        others=tuple(entry for entry in ranked if entry[0] is not law),
        chance=chance,
    )


def _chance(law: Law, parameters: Mapping[str, Column], values: Column) -> float:
    """Return how likely the data are about a constant, by a law that has more coefficients."""
    from scipy.stats import f

    more = len(law.coefficients) - 1
    constant = _solve("constant", np.empty((len(values), 0)), values)
    if not more or constant is None:
        return 1.0
    without, rest = (
        float(np.sum(_errors(column, values) ** 2))
        for column in (np.broadcast_to(constant, values.shape), law(parameters))
    )
    freedom = len(values) - len(law.coefficients)
    spread = max(rest / freedom, _ROUNDING**2)
    return float(f.sf(max(without - rest, 0.0) / more / spread, more, freedom))


def _errors(law: Column, values: Column) -> Column:
    """Return how far a law is off at each point, relative; rounding is none."""
    if (values > 0).all():
        errors = np.log(law / values) if (law > 0).all() else np.full(len(values), math.inf)
    else:
        errors = (law - values) / (np.abs(values).mean() or 1.0)
    return np.where(np.abs(errors) <= _ROUNDING, 0.0, errors)


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


def _solve(form: str, table: Matrix, values: Column) -> Column | None:
    """Return the coefficients of least squares, None when the points do not determine them."""
    basis = _basis(form, table)
    if not (values > 0).all():
        return _linear(basis, values) if form in LINEAR else None
    if form not in ("affine", "square"):  # linear in the logarithms
        found = _linear(basis, np.log(values / values[0]))
        if found is None or abs(found[0]) > 600:
            return None
        return np.array([values[0] * math.exp(found[0]), *found[1:]])
    return _nearest_ratio(basis, values)


def _basis(form: str, table: Matrix) -> Matrix:
    """Return the columns whose sum is a law, or the logarithm of one."""
    columns = {"square": np.square, "power": np.log}.get(form, np.asarray)(table)
    return np.hstack([np.ones((len(table), 1)), columns])


def _linear(basis: Matrix, values: Column) -> Column | None:
    if basis.shape[1] == 1:
        return np.array([values.mean()])
    scale = np.linalg.norm(basis, axis=0)
    scale[scale == 0] = 1.0
    found, _, rank, _ = np.linalg.lstsq(basis / scale, values, rcond=1e-10)
    rounding = 1e-13 * float(np.linalg.norm(values))
    found = np.where(np.abs(found) < rounding, 0.0, found)
    return np.asarray(found / scale) if rank == basis.shape[1] else None


def _nearest_ratio(basis: Matrix, values: Column) -> Column | None:
    """Return the sum of columns whose ratio to the values is nearest to 1, in the logarithm.

    Gauss-Newton; a step is halved until it is an improvement and all sums are positive.
    """

    def squares(coefficients: Column) -> float:
        return float(np.sum(_errors(basis @ coefficients, values) ** 2))

    found = _linear(basis / values[:, None], np.ones(len(values)))
    if found is None:
        return None
    if math.isinf(squares(found)):
        found = np.array([math.exp(np.log(values).mean()), *np.zeros(basis.shape[1] - 1)])
    for _ in range(_MOST_STEPS):
        law = basis @ found
        step = _linear(basis / law[:, None], np.log(values / law))
        if step is None:
            return None
        least = squares(found) * (1 + _ROUNDING)
        while squares(found + step) > least and np.abs(basis @ step / law).max() > _ROUNDING:
            step = step / 2
        found = found + step
        if np.abs(basis @ step / law).max() <= _ROUNDING:
            break
    return found


def _is_possible(law: Law, parameters: Mapping[str, Column], values: Column) -> bool:
    """Whether a law keeps the sign of its data on the range: it is monotone in each parameter."""
    ends = [(parameters[name].min(), parameters[name].max()) for name in law.over]
    corners = [np.array(column) for column in zip(*itertools.product(*ends), strict=True)]
    least = float(np.min(evaluate_law(law.form, corners, law.coefficients)))
    return least > 0 or (least >= 0 and bool((values == 0).any()))


def _leave_one_out(law: Law, parameters: Mapping[str, Column], values: Column) -> float:
    slope = _slope(law, parameters, values)
    unitary, triangle = np.linalg.qr(slope / np.linalg.norm(slope, axis=0))
    free = 1.0 - (unitary**2).sum(axis=1)
    # without a point of which nothing is free the others do not determine the law
    if np.abs(np.diag(triangle)).min() < 1e-10 or free.min() < 1e-9:
        return math.inf
    is_linear = law.form not in ("affine", "square") or not (values > 0).all()
    if is_linear or len(values) > EXACT_REFITS:
        return _rms(_errors(law(parameters), values) / free)
    table, errors = _table(parameters, law.over), np.zeros(len(values))
    for point in range(len(values)):
        rest = np.arange(len(values)) != point
        found = _solve(law.form, table[rest], values[rest])
        if found is None:
            return math.inf
        predicted = evaluate_law(law.form, list(table[point : point + 1].T), found.tolist())
        errors[point] = _errors(predicted, values[point : point + 1])[0]
    return _rms(errors)


def _slope(law: Law, parameters: Mapping[str, Column], values: Column) -> Matrix:
    """Return the derivative of the errors by the coefficients, shape (points, coefficients).

    By the logarithm of the first one, for laws that are linear in logarithms.
    """
    basis = _basis(law.form, _table(parameters, law.over))
    if not (values > 0).all():
        return basis / (np.abs(values).mean() or 1.0)
    return basis / law(parameters)[:, None] if law.form in ("affine", "square") else basis


def _intervals(
    law: Law, parameters: Mapping[str, Column], values: Column
) -> tuple[tuple[float, float], ...]:
    from scipy.stats import t

    slope = _slope(law, parameters, values)
    scale = np.linalg.norm(slope, axis=0)
    freedom = len(values) - len(law.coefficients)
    variance = float((_errors(law(parameters), values) ** 2).sum()) / freedom
    inverse = np.linalg.pinv(slope / scale)
    deviations = np.sqrt(variance * (inverse**2).sum(axis=1)) / scale
    widths = t.ppf((1 + LEVEL) / 2, freedom) * deviations
    first, *rest = zip(law.coefficients, widths.tolist(), strict=True)
    ends = [(value - width, value + width) for value, width in rest]
    value, width = first
    if (values > 0).all() and law.form not in ("affine", "square"):
        return ((value * math.exp(-width), value * math.exp(width)), *ends)
    return ((value - width, value + width), *ends)


def _rms(values: Column) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

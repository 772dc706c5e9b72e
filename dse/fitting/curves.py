"""Times of calls as sums of powers of the size, fitted to measurements.

The host takes ``offset + index * g**exponent``, an offload ``fixed + per_byte * g + computing *
g**exponent`` with ``computing = index / acceleration`` (LogCA, Altaf and Wood, ISCA 2017, eqs 2
and 8).  Errors are relative and of one size per curve, so logarithms are fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dse.errors import DseError

Array = NDArray[np.float64]

LEAST_SIZES = 3
"""One more than either curve has parameters when the exponent is taken as 1."""

CONFIDENCE, SURE = 0.95, 0.99
"""Of intervals.  An exponent is 1 if 1 lies inside its interval of the second level."""

CLOSE, MOST_NOISE = 0.05, 0.1
"""A curve fits that is nowhere further off than the first, or that does not step and whose noise is
below the second: more is no noise of a timer but another shape."""

PER_BYTE = "per_byte_s_per_byte"

_EXPONENTS = np.linspace(0.2, 3.0, 57)  # start of the search for an exponent
_RANK = 1e-11  # singular values below this share of the largest count as zero


class Estimate(NamedTuple):
    """A value with its 95 % interval.  NaN ends without a degree of freedom."""

    value: float
    low: float
    high: float

    @classmethod
    def about(cls, value: float, centre: float, margin: float) -> Estimate:
        """Return a value with an interval about `centre`, which does not reach below zero."""
        return cls(float(value), *np.maximum((centre - margin, centre + margin), 0.0).tolist())


def least_squares_of_logarithms(
    model: Callable[[Array], tuple[Array, Array]], values: Array, start: Array
) -> Array:
    """Return the parameters of the least squares of ``log(model / values)``, given derivatives."""
    from scipy.optimize import least_squares

    def residuals(found: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.log(model(found)[0] / values))

    def slopes(found: Array) -> Array:
        value, by = model(found)
        return np.asarray(by / value[:, None])

    tight = 1e-14
    found = least_squares(
        residuals, start, slopes, method="lm", x_scale="jac", xtol=tight, ftol=tight, gtol=tight
    ).x
    # the sum of squares is flat near its least value, so a last step of Gauss and Newton
    by, length = slopes(found), np.linalg.norm(slopes(found), axis=0)
    step = np.linalg.lstsq(by / length, residuals(found), rcond=_RANK)[0]
    return np.asarray(found - step / length)


def start_of_sum(basis: Array, values: Array) -> Array:
    """Return coefficients of columns whose sum is positive and near to the values."""
    relative = basis / values[:, None]
    start = np.asarray(np.linalg.lstsq(relative, np.ones(len(values)), rcond=None)[0], float)
    return start if (relative @ start > 0).all() else (1 / relative).min(axis=0) / len(start)


def quantile(freedom: float | Array, confidence: float = CONFIDENCE) -> Array:
    """Return Student's t for a two-sided interval.  NaN without degrees of freedom."""
    from scipy.special import stdtrit

    known = np.where(np.asarray(freedom) > 0, freedom, np.nan)
    return np.asarray(stdtrit(known, (1 + confidence) / 2))


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted sum of powers, ``sum_k coefficients[k] * g**exponents[k]``, none negative.

    Sizes are in B, times in s, of (sizes,).  A sought exponent is the last one, and one more
    parameter.
    """

    size: Array
    time: Array
    coefficients: Array
    exponents: Array
    sought: bool

    def at(self, size: Array) -> Array:
        """Return the time at sizes (any,)."""
        return np.asarray(np.power.outer(size, self.exponents) @ self.coefficients)

    def bend(self, size: Array) -> Array:
        """Return the derivative of the time by the last exponent, (any,)."""
        return np.asarray(self.coefficients[-1] * size ** self.exponents[-1] * np.log(size))

    def slopes(self, size: Array) -> Array:
        """Return the derivatives of the time by the parameters, (any, parameters)."""
        terms = np.power.outer(size, self.exponents)
        return np.column_stack([terms, self.bend(size)]) if self.sought else terms

    @property
    def relative(self) -> Array:
        """Slopes at the sizes, as shares of the time."""
        return self.slopes(self.size) / self.at(self.size)[:, None]

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return len(self.size) - int((self.coefficients != 0).sum()) - self.sought

    @property
    def errors(self) -> Array:
        """Measured time over the sum, less 1, (sizes,)."""
        return self.time / self.at(self.size) - 1

    @property
    def worst(self) -> float:
        """Largest error."""
        return float(np.max(np.abs(self.errors)))

    @cached_property
    def noise(self) -> float:
        """Relative standard deviation.  NaN without degrees of freedom."""
        squares = float(np.sum(np.log1p(self.errors) ** 2))
        return math.sqrt(squares / self.freedom) if self.freedom > 0 else math.nan

    @property
    def fits(self) -> bool:
        """Whether no size is off by much, or the scatter is no more than noise without a step."""
        return self.worst < CLOSE or (self.noise <= MOST_NOISE and not self.step)

    @cached_property
    def step(self) -> float:
        """The size from which on times are another curve, 0 without one.

        A step at each size but the outer ones is tried as one more term, at 99 % for all together.
        """
        if self.freedom < 2 or self.worst < CLOSE:
            return 0.0
        left = np.eye(len(self.size)) - self.relative @ self.inverse
        errors = left @ np.log1p(self.errors)
        steps = left @ (self.size[:, None] >= self.size[2:-1])
        share = errors @ steps / np.linalg.norm(steps, axis=0)
        t = np.abs(share) / np.sqrt((errors @ errors - share**2) / (self.freedom - 1))
        sure = quantile(self.freedom - 1, 1 - (1 - SURE) / len(t))
        return float(self.size[2 + np.argmax(t)]) if t.max() > sure else 0.0

    @cached_property
    def inverse(self) -> Array:
        """The matrix from relative errors to changes of the parameters, (parameters, sizes)."""
        length = np.linalg.norm(self.relative, axis=0)
        return np.asarray(np.linalg.pinv(self.relative / length, rcond=_RANK) / length[:, None])

    def variances(self, by: Array) -> Array:
        """Return the variance of sums of the parameters, (sums,).  `by` is (sums, parameters)."""
        return np.asarray(((by @ self.inverse) ** 2).sum(axis=1) * self.noise**2)

    def margin(self, confidence: float) -> float:
        """Return half the width of the interval of the last parameter."""
        deviation = float(np.linalg.norm(self.inverse[-1])) * self.noise
        return deviation * float(quantile(self.freedom, confidence))


def fit_curve(
    size: Array, time: Array, exponents: Sequence[float], *, sought: bool = False
) -> Curve:
    """Fit one curve by the least squares of ``log(time) - log(sum)``, no term negative.

    A sought last exponent is only a placeholder in `exponents`.
    """
    centre = math.exp(float(np.mean(np.log(size))))
    used = np.ones(len(exponents), np.bool_)
    while True:  # the most negative term goes, and the others are fitted again
        scaled = _signed(size / centre, time, np.array(exponents, np.float64), used, sought=sought)
        coefficients = scaled.coefficients * centre**-scaled.exponents
        if not (coefficients < 0).any():
            return replace(scaled, size=size, coefficients=coefficients)
        spread = np.linalg.norm(scaled.inverse, axis=1)[: len(used)]
        used[np.argmin(np.where(used, scaled.coefficients / spread, 0.0))] = False


def _signed(
    size: Array, time: Array, exponents: Array, used: NDArray[np.bool_], *, sought: bool
) -> Curve:
    """Fit the used terms of a curve, of any sign.  The sum stays positive."""
    parameters = np.append(used, True) if sought else used

    def curve(found: Array) -> Curve:
        coefficients, powers = np.zeros(len(used)), exponents.copy()
        coefficients[used] = found[: used.sum()]
        powers[-1] = found[-1] if sought else powers[-1]
        return Curve(size, time, coefficients, powers, sought)

    def model(found: Array) -> tuple[Array, Array]:
        one = curve(found)
        return one.at(size), one.slopes(size)[:, parameters]

    starts = []
    for last in _EXPONENTS if sought else exponents[-1:]:
        start = start_of_sum(np.power.outer(size, [*exponents[:-1], last])[:, used], time)
        starts.append(np.append(start, last) if sought else start)
    best = min(starts, key=lambda start: float(np.sum(np.log(model(start)[0] / time) ** 2)))
    return curve(least_squares_of_logarithms(model, time, best))


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveModel:
    """Both curves, or only the offload.  `general` is the host with an exponent that was sought."""

    host: Curve | None
    offload: Curve
    general: Curve | None = None

    @property
    def curves(self) -> dict[str, Curve]:
        """The curves by name."""
        return ({} if self.host is None else {"host": self.host}) | {"offload": self.offload}

    @property
    def linear(self) -> bool:
        """Whether the exponent is 1 because the data do not speak against it."""
        return self.host is None or not self.host.sought

    @property
    def acceleration(self) -> float:
        """LogCA's A, NaN if all computing is in the time per byte."""
        if self.host is None or self.linear:
            return math.nan
        computing = self.offload.coefficients[-1]
        return float(self.host.coefficients[-1] / computing) if computing else math.inf

    @property
    def known_host(self) -> Curve:
        """The host, without which there is no threshold."""
        if self.host is None:
            raise DseError("a threshold needs the host's times")
        return self.host

    def gap(self, x: Array) -> Array:
        """Return host time minus offload time at granularities ``exp(x)``."""
        return self.known_host.at(np.exp(x)) - self.offload.at(np.exp(x))

    def inside(self, x: Array) -> Array:
        """Return t standard errors less the gap: not negative in Fieller's interval of exp(x)."""
        by_host = self.known_host.slopes(np.exp(x))
        if not self.linear:  # the exponent is the offload's too
            by_host[:, -1] -= self.offload.bend(np.exp(x))
        margins = self._margins(by_host, -self.offload.slopes(np.exp(x)))
        return np.asarray(margins - np.abs(self.gap(x)))

    def _margins(self, by_host: Array, by_offload: Array) -> Array:
        """Return t standard errors of sums of the parameters, with Welch's degrees of freedom."""
        offload, host = self.offload, self.host or self.offload
        if host.sought:  # the offload's terms move with the host's exponent
            shift = offload.inverse @ (offload.bend(offload.size) / offload.at(offload.size))
            by_host = by_host - np.outer(by_offload @ shift, np.eye(by_host.shape[1])[-1])
        one, other = host.variances(by_host), offload.variances(by_offload)
        total = one + other
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = one**2 / np.float64(host.freedom) + other**2 / np.float64(offload.freedom)
            known = total**2 / shares
        return np.asarray(np.sqrt(np.maximum(total, 0)) * quantile(np.where(total > 0, known, 1)))

    def estimates(self) -> dict[str, Estimate]:
        """Return the parameters by name, with intervals.  None reaches below zero."""
        names = ("host_offset_s", "index_s_per_byte", "fixed_s", PER_BYTE)
        both = (self.host or self.offload, self.offload)
        by_host, by_offload = (np.zeros((4, len(one.inverse))) for one in both)
        by_host[:2, :2] = by_offload[2:, :2] = np.eye(2)
        values = np.concatenate([one.coefficients[:2] for one in both])
        each = zip(names, values, values, self._margins(by_host, by_offload), strict=True)
        found = {name: Estimate.about(*of) for name, *of in each if self.host or name in names[2:]}
        if self.host is not None:
            power, margin = 1.0, math.nan
            if self.general is not None:
                power, margin = self.general.exponents[-1], self.general.margin(CONFIDENCE)
            found["exponent"] = Estimate.about(self.host.exponents[-1], power, margin)
        return found


def fit_model(size: Array, host: Array | None, offload: Array) -> CurveModel:
    """Fit host and offload times in s at granularities in bytes, (sizes,) each."""
    if host is None:
        return CurveModel(host=None, offload=fit_curve(size, offload, [0.0, 1.0]))
    found = fit_curve(size, host, [0.0, 1.0])
    terms, general = [0.0, 1.0], None
    if len(size) > LEAST_SIZES:  # three do not show the exponent
        general = fit_curve(size, host, terms, sought=True)
        power = float(general.exponents[-1])
        if found.worst > 1e-9 and abs(power - 1) > general.margin(SURE):
            found, terms = general, [*terms, power]
    return CurveModel(host=found, offload=fit_curve(size, offload, terms), general=general)

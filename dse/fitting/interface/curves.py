"""Times of calls as sums of powers of the size, fitted to measurements.

The host takes ``offset + index * g**exponent``, an offload ``fixed + per_byte * g + computing *
g**exponent`` with ``computing = index / acceleration`` (LogCA, Altaf and Wood, ISCA 2017, eqs 2
and 8).  Errors are relative and of one size per curve, so logarithms are fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
"""Of intervals; an exponent is 1 unless 1 lies outside its interval of the second one."""

CLOSE, MOST_NOISE = 0.05, 0.1
"""A curve fits that is nowhere further off than the first, or whose noise is below the second:
more is no noise of a timer but another shape."""

_EXPONENTS = np.linspace(0.2, 3.0, 57)  # where the search for an exponent starts
_TIGHT = 1e-14
_RANK = 1e-11  # singular values below this share of the largest count as zero


class Estimate(NamedTuple):
    """A value with its 95 % interval; NaN ends where the data leave nothing to tell it from."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """A fitted sum of powers, ``sum_k coefficients[k] * g**exponents[k]``, none negative.

    Attributes
    ----------
    size, time
        Measured, in B and s, (sizes,).
    coefficients, exponents
        Of each term, (terms,).
    sought
        Whether the last exponent was sought: it is one more parameter, the last one.
    at_will
        The same with terms of any sign, on which intervals are centred, where it is another.
    """

    size: Array
    time: Array
    coefficients: Array
    exponents: Array
    sought: bool
    at_will: Curve | None = None

    def at(self, size: Array) -> Array:
        """Return the time at sizes (any,)."""
        return np.asarray(np.power.outer(size, self.exponents) @ self.coefficients)

    def slopes(self, size: Array) -> Array:
        """Return the derivatives of the time by the parameters, (any, parameters)."""
        terms = np.power.outer(size, self.exponents)
        return np.column_stack([terms, self.bend(size)]) if self.sought else terms

    def bend(self, size: Array) -> Array:
        """Return the derivative of the time by the last exponent, (any,)."""
        power = np.power(size, self.exponents[-1]) * np.log(size)
        return np.asarray(self.coefficients[-1] * power)

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return len(self.size) - int((self.coefficients != 0).sum()) - self.sought

    @cached_property
    def errors(self) -> Array:
        """Measured time over the sum, less 1, (sizes,)."""
        return self.time / self.at(self.size) - 1

    @property
    def worst(self) -> float:
        """Largest error."""
        return float(np.max(np.abs(self.errors)))

    @property
    def noise(self) -> float:
        """Relative standard deviation; NaN without degrees of freedom."""
        squares = float(np.sum(np.log1p(self.errors) ** 2))
        return math.sqrt(squares / self.freedom) if self.freedom > 0 else math.nan

    @property
    def fits(self) -> bool:
        """Whether no size is off by much, or the scatter is no more than noise."""
        return self.worst < CLOSE or self.noise <= MOST_NOISE

    @cached_property
    def inverse(self) -> Array:
        """What turns relative errors into changes of the parameters, (parameters, sizes)."""
        slopes = self.slopes(self.size) / self.at(self.size)[:, None]
        length = np.linalg.norm(slopes, axis=0)
        return np.asarray(np.linalg.pinv(slopes / length, rcond=_RANK) / length[:, None])

    @cached_property
    def covariance(self) -> Array:
        """Of the parameters."""
        return np.asarray(self.inverse @ self.inverse.T * self.noise**2)

    def shift(self) -> Array:
        """Return the change of the coefficients per unit of a held last exponent, (terms,)."""
        return np.asarray(-self.inverse @ (self.bend(self.size) / self.at(self.size)))


def fit_curve(
    size: Array, time: Array, exponents: Sequence[float], *, sought: bool = False
) -> Curve:
    """Fit one curve by the least squares of ``log(time) - log(sum)``, no term negative.

    A sought last exponent is only a placeholder in `exponents`.
    """
    centre = math.exp(float(np.mean(np.log(size))))
    used = np.ones(len(exponents), np.bool_)
    at_will = None
    while True:  # the most negative term goes, and the others are fitted again
        scaled = _free(size / centre, time, np.array(exponents, np.float64), used, sought=sought)
        coefficients = scaled.coefficients * centre**-scaled.exponents
        found = replace(scaled, size=size, coefficients=coefficients, at_will=at_will)
        if not (coefficients < 0).any():
            return found
        at_will = at_will or found
        spread = np.linalg.norm(scaled.inverse, axis=1)[: len(used)]
        used[np.argmin(np.where(used, scaled.coefficients / spread, 0.0))] = False


def _free(
    size: Array, time: Array, exponents: Array, used: NDArray[np.bool_], *, sought: bool
) -> Curve:
    """Fit the used terms of a curve, of any sign; the sum stays positive."""
    from scipy.optimize import least_squares

    count = int(used.sum())
    parameters = np.append(used, True) if sought else used

    def curve(found: Array) -> Curve:
        coefficients, powers = np.zeros(len(used)), exponents.copy()
        coefficients[used] = found[:count]
        powers[-1] = found[-1] if sought else powers[-1]
        return Curve(
            size=size, time=time, coefficients=coefficients, exponents=powers, sought=sought
        )

    def residuals(found: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.log(curve(found).at(size) / time))

    def slopes(found: Array) -> Array:
        one = curve(found)
        return np.asarray(one.slopes(size)[:, parameters] / one.at(size)[:, None])

    starts: list[Array] = []
    for last in _EXPONENTS if sought else exponents[-1:]:
        relative = np.power.outer(size, [*exponents[:-1], last])[:, used] / time[:, None]
        start = np.asarray(np.linalg.lstsq(relative, np.ones(len(size)), rcond=None)[0], float)
        if (relative @ start <= 0).any():
            start = (1 / relative).min(axis=0) / count
        starts.append(np.append(start, last) if sought else start)
    start = min(starts, key=lambda found: float(np.sum(residuals(found) ** 2)))
    tight = least_squares(
        residuals, start, slopes, x_scale="jac", xtol=_TIGHT, ftol=_TIGHT, gtol=_TIGHT
    )
    return curve(tight.x)


def quantile(freedom: float | Array, confidence: float = CONFIDENCE) -> Array:
    """Return Student's t for a two-sided interval; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    return np.asarray(
        stdtrit(np.where(np.asarray(freedom) > 0, freedom, np.nan), (1 + confidence) / 2)
    )


def _margins(one: Array, other: Array, freedom: int, others: int) -> Array:
    """Return t standard errors of the sum of two variances.

    The degrees of freedom are Welch and Satterthwaite's.
    """
    total = one + other
    with np.errstate(divide="ignore", invalid="ignore"):
        known = total**2 / (one**2 / np.float64(freedom) + other**2 / np.float64(others))
    return np.asarray(np.sqrt(np.maximum(total, 0)) * quantile(np.where(total > 0, known, 1.0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveModel:
    """Both curves, or an offload alone; `general` is the host with an exponent that was sought."""

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
        """LogCA's A, NaN where all computing is in the time per byte."""
        if self.host is None or self.linear:
            return math.nan
        computing = self.offload.coefficients[-1]
        return float(self.host.coefficients[-1] / computing) if computing else math.inf

    def gap(self, x: Array) -> Array:
        """Return host time minus offload time at granularities ``exp(x)``."""
        return self.known_host.at(np.exp(x)) - self.offload.at(np.exp(x))

    @property
    def known_host(self) -> Curve:
        """The host.

        Raises
        ------
        DseError
            There is none.
        """
        if self.host is None:
            raise DseError("a threshold needs the host's times")
        return self.host

    def inside(self, x: Array) -> Array:
        """Return what is not negative where ``exp(x)`` belongs to the interval.

        Both times can be equal there, as far as the noise tells: their difference is within t
        standard errors of zero (Fieller's interval, which also knows open ends).
        """
        host = self.known_host.at_will or self.known_host
        offload, size = self.offload.at_will or self.offload, np.exp(x)
        by_host, by_offload = host.slopes(size), offload.slopes(size)
        if host.sought:  # the offload's terms move with the host's exponent
            by_host[:, -1] -= offload.bend(size) + by_offload @ offload.shift()
        of_host, of_offload = (
            np.einsum("ni,ij,nj->n", slopes, curve.covariance, slopes)
            for slopes, curve in ((by_host, host), (by_offload, offload))
        )
        margin = _margins(of_host, of_offload, host.freedom, offload.freedom)
        return np.asarray(margin - np.abs(host.at(size) - offload.at(size)))

    def estimates(self) -> dict[str, Estimate]:
        """Return the parameters by name, with intervals; none reaches below zero."""
        names = {"host": ("host_offset_s", "index_s_per_byte"), "offload": ("fixed_s", PER_BYTE)}
        found = {}
        for kind, curve in self.curves.items():
            at_will = curve.at_will or curve
            variance, moved, freedom = np.diag(at_will.covariance), np.zeros(1), 1
            if kind == "offload" and self.host is not None and self.host.sought:
                moved = at_will.shift() ** 2 * self.host.covariance[-1, -1]
                freedom = self.host.freedom
            margins = _margins(variance, moved, at_will.freedom, freedom)
            for place, name in enumerate(names[kind]):
                centre = at_will.coefficients[place]
                found[name] = _estimate(curve.coefficients[place], centre, margins[place])
        if self.host is not None:
            power, margin = 1.0, math.nan
            if self.general is not None:
                power, margin = self.general.exponents[-1], _bend_margin(self.general, CONFIDENCE)
            found["exponent"] = _estimate(power, power, margin)._replace(
                value=float(self.host.exponents[-1])
            )
        return found


PER_BYTE = "per_byte_s_per_byte"


def _estimate(value: float, centre: float, margin: float) -> Estimate:
    """Return an interval about `centre`, not below zero, that holds the value; NaN stays NaN."""
    low, high = np.minimum(centre - margin, value), np.maximum(centre + margin, value)
    return Estimate(float(value), float(np.maximum(low, 0.0)), float(np.maximum(high, 0.0)))


def _bend_margin(curve: Curve, confidence: float) -> float:
    """Return half the width of the interval of a sought exponent."""
    return math.sqrt(curve.covariance[-1, -1]) * float(quantile(curve.freedom, confidence))


def fit_model(size: Array, host: Array | None, offload: Array) -> CurveModel:
    """Fit host and offload times in s at granularities in bytes, (sizes,) each."""
    if host is None:
        return CurveModel(host=None, offload=fit_curve(size, offload, [0.0, 1.0]))
    found = fit_curve(size, host, [0.0, 1.0])
    general = None
    if len(size) > LEAST_SIZES:  # three do not show the exponent
        general = fit_curve(size, host, [0.0, 1.0], sought=True)
        off = abs(float(general.exponents[-1]) - 1)
        if found.worst > 1e-9 and off > _bend_margin(general, SURE):
            found = general
    terms = [0.0, 1.0, *(found.exponents[-1:].tolist() if found.sought else ())]
    return CurveModel(host=found, offload=fit_curve(size, offload, terms), general=general)


def held_out(size: Array, host: Array | None, offload: Array) -> dict[str, Array]:
    """Return the times of each curve at each size, predicted from the other sizes; (sizes,)."""
    predicted: dict[str, list[float]] = {}
    for gone in range(len(size)):
        kept = np.arange(len(size)) != gone
        model = fit_model(size[kept], None if host is None else host[kept], offload[kept])
        for name, curve in model.curves.items():
            predicted.setdefault(name, []).append(float(curve.at(size[[gone]])[0]))
    return {name: np.array(times) for name, times in predicted.items()}

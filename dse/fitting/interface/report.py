"""A kernel and an interface fitted to host and offload times, and what speaks for the fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.algebra import units
from dse.errors import DseError, UnitError
from dse.fitting.interface.fit import (
    COMPUTING,
    EXPONENT,
    FIXED,
    INDEX,
    OFFSET,
    PER_BYTE,
    SIGNIFICANCE,
    Estimate,
    FittedModel,
    InterfaceFit,
    fit_times,
    nested_p,
)
from dse.fitting.interface.powers import Array, Powers, fit_powers
from dse.fitting.interface.timings import Timings, openssl_timings, read_csv

LARGEST_BYTE = 2.0**64
"""As far as a 64-bit address reaches; beyond it nothing pays any more."""

_GRID = np.linspace(math.log(1e-3), math.log(LARGEST_BYTE), 4001)

Ranges = tuple[tuple[float, float], ...]
"""Granularities in bytes, in ascending order; 0 and infinity are open ends."""


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """Where offloads pay.

    Attributes
    ----------
    pays
        Where the model's host is not faster.
    crossings
        The ends of these ranges, where both times are equal, with their 95 % intervals: 0 or
        infinity where the noise leaves an end open.
    of_data
        The same of the measured times, joined by straight lines between logarithms; open ends
        where the offload is not slower at the smallest or the largest size.
    """

    pays: Ranges
    crossings: tuple[Estimate, ...]
    of_data: Ranges

    @property
    def is_open(self) -> bool:
        """Whether the noise leaves open on both sides where a crossing is."""
        return any(found.low == 0 and found.high == math.inf for found in self.crossings)


def break_even(model: FittedModel, size: Array, host: Array, offload: Array) -> BreakEven:
    """Return where offloads pay."""
    pays = ranges(_spans(lambda x: advantage(model.possible, x)))
    return BreakEven(
        pays=pays,
        crossings=tuple(_crossing(model, end) for end in range_ends(pays)),
        of_data=_of_data(size, host, offload),
    )


def range_ends(found: Ranges) -> Iterator[float]:
    """Yield the ends of ranges that are not open."""
    yield from (end for pair in found for end in pair if 0 < end < math.inf)


def pays_at(found: Ranges, size: float) -> bool:
    """Tell whether a size lies in one of the ranges."""
    return any(low <= size <= high for low, high in found)


def advantage(parameters: Array, x: Array) -> Array:
    """Return host time minus offload time at granularities ``exp(x)``."""
    grown = np.exp(parameters[EXPONENT] * x)
    host = parameters[OFFSET] + parameters[INDEX] * grown
    per_byte = parameters[PER_BYTE] * np.exp(x)
    found: Array = host - (parameters[FIXED] + per_byte + parameters[COMPUTING] * grown)
    return found


def inside(model: FittedModel, x: Array) -> Array:
    """Return what is not negative where ``exp(x)`` belongs to the interval.

    Both times can be equal there, as far as the noise tells: their difference is within t
    standard errors of zero (Fieller's interval, which also knows open ends).
    """
    p = model.free
    grown = np.exp(p[EXPONENT] * x)
    gradient = np.zeros((len(x), len(p)))
    gradient[:, OFFSET], gradient[:, FIXED] = 1.0, -1.0
    gradient[:, INDEX], gradient[:, COMPUTING] = grown, -grown
    gradient[:, PER_BYTE] = -np.exp(x)
    gradient[:, EXPONENT] = (p[INDEX] - p[COMPUTING]) * grown * x
    error, quantile = model.deviation(gradient)
    return np.asarray(error * quantile - np.abs(advantage(p, x)))


def _crossing(model: FittedModel, end: float) -> Estimate:
    """Return a crossing with the connected part of the interval around it."""
    around = ranges(_spans(lambda x: inside(model, x)))
    return Estimate(end, *next((pair for pair in around if pair[0] <= end <= pair[1]), (end, end)))


def _spans(value: Callable[[Array], Array]) -> Iterator[tuple[float, float]]:
    """Yield the spans of x in which a function is not negative; ends lie on roots or the rim."""
    edges = np.diff(np.concatenate([[0], value(_GRID) >= 0, [0]]))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    last = len(_GRID) - 1
    for start, stop in zip(starts, stops, strict=True):
        yield (
            -math.inf if start == 0 else _root(value, _GRID[start - 1], _GRID[start]),
            math.inf if stop == last else _root(value, _GRID[stop], _GRID[stop + 1]),
        )


def _root(value: Callable[[Array], Array], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda x: float(value(np.array([x]))[0]), low, high, xtol=1e-13))


def ranges(spans: Iterator[tuple[float, float]]) -> Ranges:
    """Return spans of logarithms as ranges of granularity."""
    return tuple((math.exp(low), math.exp(high)) for low, high in spans)


def _of_data(size: Array, host: Array, offload: Array) -> Ranges:
    x, gain = np.log(size), np.log(host / offload)
    wins = gain >= 0
    edges: list[float] = [-math.inf] if wins[0] else []
    for after in np.flatnonzero(wins[1:] != wins[:-1]) + 1:
        share = gain[after - 1] / (gain[after - 1] - gain[after])
        edges.append(float(x[after - 1] + share * (x[after] - x[after - 1])))
    edges += [math.inf] if wins[-1] else []
    return ranges(zip(edges[::2], edges[1::2], strict=True))


MOST_NOISE = 0.1
"""Scatter beyond this is no noise of a timer, but a shape that the model does not have."""

CLOSE = 0.05
"""A model that is nowhere further off is good enough, however sure it is that it is not exact."""

_DEGREES = (2, 3, 4, 5)
_MOST_EXTRA = 2
_NEW = 0.1  # share of a bend that the model's own parameters must not already make


@dataclass(frozen=True, kw_only=True)
class Curve:
    """How well one curve fits.

    Attributes
    ----------
    noise
        Relative standard deviation of the times around it.
    worst, worst_byte
        Largest relative residual, and at which size.
    held_out, held_out_worst
        Relative error at a size that the fit did not see: root mean square, and largest.
    p
        How likely residuals so bent are if the model is true; NaN when too few sizes tell.
    """

    noise: float
    worst: float
    worst_byte: float
    held_out: float
    held_out_worst: float
    p: float

    @property
    def is_close(self) -> bool:
        """Whether no size is off by more than `CLOSE`."""
        return abs(self.worst) < CLOSE

    @property
    def fits(self) -> bool:
        """Whether it is close, or nothing speaks against it: neither a bend nor much scatter."""
        return self.is_close or (not self.p < SIGNIFICANCE and self.noise <= MOST_NOISE)


@dataclass(frozen=True, kw_only=True)
class Checks:
    """Both curves, and the host without a fixed time per call (LogCA as published).

    Attributes
    ----------
    offset_p
        How likely the host's data are without a fixed time, against the model with it; NaN when
        it was not tested for.
    """

    host: Curve
    offload: Curve
    pure: Curve
    offset_p: float

    @property
    def pure_p(self) -> float:
        """How likely the host's data are under LogCA as published: the worse of two tests."""
        return float(np.fmin(self.pure.p, self.offset_p))

    @property
    def pure_fits(self) -> bool:
        """Whether LogCA as published fits the host."""
        return self.pure.is_close or (self.pure.fits and not self.offset_p < SIGNIFICANCE)


def check_adequacy(size: Array, host: Array, offload: Array, fit: InterfaceFit) -> Checks:
    """Return what speaks for and against a fit; a fixed time is tested for in any case."""
    pure = fit_powers(size, host, np.array([1.0]), free=True)
    offset = fit_powers(size, host, np.array([0.0, 1.0]), free=True)
    return Checks(
        host=_curve(size, host, fit.model.host, free=not fit.linear),
        offload=_curve(size, offload, fit.model.offload, free=False),
        pure=_curve(size, host, pure, free=True),
        offset_p=nested_p(pure, offset) if offset.coefficients[0] > 0 else math.nan,
    )


def _curve(size: Array, time: Array, found: Powers, *, free: bool) -> Curve:
    errors = np.expm1(found.residuals)
    worst = int(np.argmax(np.abs(errors)))
    unseen = _held_out(size, time, found, free=free)
    return Curve(
        noise=math.sqrt(found.noise),
        worst=float(errors[worst]),
        worst_byte=float(size[worst]),
        held_out=float(np.sqrt(np.mean(unseen**2))),
        held_out_worst=float(unseen[np.argmax(np.abs(unseen))]),
        p=lack_of_fit(found, size),
    )


def _held_out(size: Array, time: Array, found: Powers, *, free: bool) -> Array:
    """Return the relative error at each size, predicted from the others."""
    used = found.coefficients != 0
    errors = []
    for gone in range(len(size)):
        kept = np.arange(len(size)) != gone
        again = fit_powers(size[kept], time[kept], found.exponents, free=free, used=used)
        errors.append(float(time[gone] / again.at(size[[gone]])[0] - 1))
    return np.array(errors)


def lack_of_fit(found: Powers, size: Array) -> float:
    """Return how likely residuals so bent over the log of the size are if the model is true.

    An F test of the model against itself with one or two bends (polynomials of the logarithm,
    orthogonal to what its parameters can do); NaN with fewer than two degrees of freedom.
    """
    from scipy.special import fdtrc

    residuals, freedom = found.residuals, found.freedom
    if np.max(np.abs(residuals)) < 1e-9:
        return 1.0  # exact data, up to rounding
    if freedom < 2:
        return math.nan
    x = np.log(size)
    x = 2 * (x - x.min()) / (x.max() - x.min()) - 1
    own = found.jacobian
    basis = np.linalg.qr(own[:, np.any(own != 0, axis=0)])[0]
    bends = []
    for degree in _DEGREES:
        column = np.polynomial.chebyshev.chebval(x, np.eye(degree + 1)[degree])
        rest = column - basis @ (basis.T @ column)
        if np.linalg.norm(rest) > _NEW * np.linalg.norm(column):
            bends.append(rest / np.linalg.norm(rest))
            basis = np.column_stack([basis, bends[-1]])
        if len(bends) == (_MOST_EXTRA if freedom >= 2 * _MOST_EXTRA else 1):
            break
    explained = float(sum((bend @ residuals) ** 2 for bend in bends))
    left = freedom - len(bends)
    ratio = (explained / len(bends)) / ((found.squares - explained) / left)
    return float(fdtrc(len(bends), left, ratio))


@dataclass(frozen=True, kw_only=True, eq=False)
class InterfaceReport:
    """Timings, the fit, what speaks for and against it, and from where on an offload pays."""

    timings: Timings
    fit: InterfaceFit
    checks: Checks
    pays: BreakEven
    pure: bool

    @property
    def is_linear_assumed(self) -> bool:
        """Whether the exponent is 1 because three sizes cannot determine it."""
        return math.isnan(self.fit.linear_p)


def report_on(timings: Timings, *, pure: bool = False) -> InterfaceReport:
    """Fit, check and find where an offload pays.

    Raises
    ------
    DseError
        When the host does not take longer for more data: no computation to fit.
    """
    data = (timings.size, timings.host, timings.offload)
    if timings.host[-1] <= timings.host[0]:
        raise DseError(
            f"the host takes {units.show(timings.host[0], 'host_s')} for the smallest and "
            f"{units.show(timings.host[-1], 'host_s')} for the largest size; "
            "a kernel takes longer for more data; look at the columns and their units"
        )
    fit = fit_times(*data, pure=pure)
    if not all(fit.estimates[name].value > 0 for name in ("index_s_per_byte", "exponent")):
        raise DseError(
            "the host's time does not grow with the size as a power does; measure larger sizes"
        )
    return InterfaceReport(
        timings=timings,
        fit=fit,
        checks=check_adequacy(*data, fit),
        pays=break_even(fit.model, *data),
        pure=pure,
    )


def read_timings(
    data: Path | None,
    software: Path | None = None,
    hardware: Path | None = None,
    *,
    algorithm: str | None = None,
    clock: str | None = None,
) -> Timings:
    """Return the times in a CSV, or in two outputs of openssl speed.

    Raises
    ------
    DseError
        When it is neither, or both; `StudyError` when they cannot be read.
    """
    if data is not None and software is None and hardware is None:
        if algorithm is not None:
            raise DseError("--algorithm chooses among outputs of openssl speed; remove it")
        return read_csv(data, None if clock is None else _clock_hz(clock))
    if data is None and software is not None and hardware is not None:
        if clock is not None:
            raise DseError("--clock turns cycles in a CSV into seconds; remove it")
        return openssl_timings(software, hardware, algorithm)
    raise DseError(
        "a fit needs a CSV of granularity, host and offload times, or both --software and "
        "--hardware, outputs of `openssl speed`; name one or the other"
    )


def _clock_hz(written: str) -> float:
    try:
        clock = units.parse_clock(written)
    except UnitError as error:
        raise UnitError(f"--clock {written!r}: {error.rule}", error.remedy) from error
    if clock <= 0:
        raise UnitError(f"--clock {written!r}: it must be positive", 'write "3 GHz"')
    return clock

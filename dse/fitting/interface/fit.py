"""Fitting a kernel and an interface to measured host and offload times.

The model is that of the two records of `dse.contract`: the host takes ``offset + index *
g**exponent``, an offload ``fixed + per_byte * g + computing * g**exponent`` with ``computing =
index / acceleration`` (LogCA, Altaf and Wood, ISCA 2017, eqs 2 and 8).  Errors are relative and
of one size per curve.  An exponent that the data cannot tell from 1 is 1; then only the sum of
`per_byte` and `computing` shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dse.fitting.interface.powers import Array, Flags, Powers, fit_powers

CONFIDENCE = 0.95
SIGNIFICANCE = 0.01
"""A simpler model is rejected when the data are this unlikely under it."""

OFFSET, INDEX, EXPONENT, FIXED, PER_BYTE, COMPUTING = range(6)
_TERMS = 6
_ROUNDING = 1e-18  # squares of exact data


class Estimate(NamedTuple):
    """A value with its 95 % interval; NaN ends where the data leave nothing to tell it from."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """One form of the model: both curves without a negative term, and as they come out at will.

    Parameters stand in the order `OFFSET` to `COMPUTING`.
    """

    host: Powers
    offload: Powers
    host_at_will: Powers
    offload_at_will: Powers

    @cached_property
    def possible(self) -> Array:
        """Parameters, none negative, (6,)."""
        return np.maximum(_parameters(self.host, self.offload), 0.0)

    @cached_property
    def free(self) -> Array:
        """The same without that bound: what intervals are centred on."""
        return _parameters(self.host_at_will, self.offload_at_will)

    @cached_property
    def covariances(self) -> tuple[Array, Array]:
        """Covariances of `free` from the noise of either curve, (6, 6)."""
        host, offload = self.host_at_will, self.offload_at_will
        count = len(host.covariance)
        spread = np.zeros((_TERMS, count))
        spread[:count, :count] = np.eye(count)
        if count > EXPONENT:  # an exponent that was sought also moves the offload's terms
            spread[FIXED:, EXPONENT] = offload.shift
        apart = np.zeros((_TERMS, _TERMS))
        stop = FIXED + len(offload.coefficients)
        apart[FIXED:stop, FIXED:stop] = offload.covariance * offload.noise
        return spread @ (host.covariance * host.noise) @ spread.T, apart

    def deviation(self, gradient: Array) -> tuple[Array, Array]:
        """Return the standard error of functions of the parameters, and its t quantile.

        `gradient` is (..., 6).  The degrees of freedom are Welch and Satterthwaite's for two
        variances.
        """
        from scipy.special import stdtrit

        parts = [np.einsum("...i,ij,...j->...", gradient, c, gradient) for c in self.covariances]
        freedoms = (self.host_at_will.freedom, self.offload_at_will.freedom)
        total = parts[0] + parts[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = sum(part**2 / count for part, count in zip(parts, freedoms, strict=True))
            freedom = np.where(total > 0, total**2 / shares, 1.0)
        return np.sqrt(np.maximum(total, 0)), np.asarray(stdtrit(freedom, (1 + CONFIDENCE) / 2))

    def margin(self, gradient: Mapping[int, float]) -> float:
        """Return half the width of the interval of a function of the parameters."""
        columns = np.zeros(_TERMS)
        columns[list(gradient)] = list(gradient.values())
        error, quantile = self.deviation(columns)
        return float(error * quantile)


@dataclass(frozen=True, kw_only=True, eq=False)
class InterfaceFit:
    """The model that suits the data, and what it says.

    Attributes
    ----------
    linear
        Whether the exponent is 1 because the data do not reject it.
    linear_p
        How likely the data are if it is; NaN when three sizes cannot tell.
    model
        The form that suits the data.
    estimates
        By name: ``host_offset_s``, ``index_s_per_byte``, ``exponent``, ``fixed_s`` (overhead and
        latency together), ``per_byte_s_per_byte`` (with exponent 1 the whole of it, computing
        included), ``peak_acceleration`` (with exponent 1: if all of it is computing).
    """

    linear: bool
    linear_p: float
    model: FittedModel
    estimates: Mapping[str, Estimate]


def fit_times(size: Array, host: Array, offload: Array, *, pure: bool = False) -> InterfaceFit:
    """Fit host and offload times in s at granularities in bytes, (sizes,) each.

    `pure` is LogCA as published: the host has no fixed time per call.
    """
    general, one = (
        _model(size, host, offload, free=free, used=np.array([not pure, True]))
        for free in (True, False)
    )
    p = nested_p(one.host_at_will, general.host_at_will)
    linear = not p < SIGNIFICANCE
    model = one if linear else general
    estimates = _estimates(model, linear=linear)
    if linear:
        margin = general.margin({EXPONENT: 1.0})
        sought = _estimate(float(general.possible[EXPONENT]), general.free[EXPONENT], margin)
        estimates["exponent"] = sought._replace(value=1.0)
    return InterfaceFit(linear=linear, linear_p=p, model=model, estimates=estimates)


def nested_p(simple: Powers, general: Powers) -> float:
    """Return how likely squares so much larger are when the one parameter less is true.

    NaN when the general form leaves no degree of freedom.
    """
    from scipy.special import fdtrc

    if simple.squares < _ROUNDING:
        return 1.0
    if general.freedom < 1:
        return math.nan
    gain = max(simple.squares - general.squares, 0.0)
    return float(fdtrc(1, general.freedom, gain / max(general.noise, _ROUNDING)))


def _model(size: Array, host: Array, offload: Array, *, free: bool, used: Flags) -> FittedModel:
    """Fit one form of the model, without and with the bound at zero."""
    powers = np.array([0.0, 1.0])
    at_will = fit_powers(size, host, powers, free=free, used=used)
    bounded = at_will
    if at_will.coefficients[0] < 0:
        bounded = fit_powers(size, host, powers, free=free, used=np.array([False, True]))

    def offload_beside(found: Powers) -> Powers:
        terms = [0.0, 1.0, *(found.exponents[1:] if free else ())]
        return fit_powers(size, offload, np.array(terms), free=False)

    offload_at_will = offload_beside(at_will)
    first = offload_at_will if bounded is at_will else offload_beside(bounded)
    return FittedModel(
        host=bounded,
        offload=_not_negative(size, offload, first),
        host_at_will=at_will,
        offload_at_will=offload_at_will,
    )


def _not_negative(size: Array, time: Array, found: Powers) -> Powers:
    """Drop the most negative term of what was found and fit again, while there is one."""
    used = np.ones(len(found.exponents), np.bool_)
    while (found.coefficients[used] < 0).any():
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = found.coefficients / np.sqrt(np.diag(found.covariance))
        used[np.argmin(np.where(used, sizes, np.inf))] = False
        found = fit_powers(size, time, found.exponents, free=False, used=used)
    return found


def _parameters(host: Powers, offload: Powers) -> Array:
    found = np.zeros(_TERMS)
    found[[OFFSET, INDEX]] = host.coefficients
    found[EXPONENT] = host.exponents[1]
    found[FIXED : FIXED + len(offload.coefficients)] = offload.coefficients
    return found


def _estimates(model: FittedModel, *, linear: bool) -> dict[str, Estimate]:
    """Return the named parameters with intervals; no interval reaches below zero."""
    found = {
        name: _estimate(model.possible[place], model.free[place], model.margin({place: 1.0}))
        for name, place in (
            ("host_offset_s", OFFSET),
            ("exponent", EXPONENT),
            ("fixed_s", FIXED),
            ("per_byte_s_per_byte", PER_BYTE),
        )
    }
    index = float(model.free[INDEX])
    factor = float(np.exp(model.margin({INDEX: 1 / index})))
    value = float(model.possible[INDEX])
    ends = min(index / factor, value), max(index * factor, value)
    found["index_s_per_byte"] = Estimate(value, *ends)
    term = PER_BYTE if linear else COMPUTING
    share = float(model.free[term]) / index
    margin = model.margin({term: 1 / index, INDEX: -share / index})
    inverse = _estimate(model.possible[term] / value, share, margin)
    with np.errstate(divide="ignore"):
        found["peak_acceleration"] = Estimate(
            *(float(np.divide(1.0, end)) for end in (inverse.value, inverse.high, inverse.low))
        )
    return found


def _estimate(value: float, centre: float, margin: float) -> Estimate:
    """Return an interval about `centre`, not below zero, that holds the value; NaN stays NaN."""
    low, high = np.minimum(centre - margin, value), np.maximum(centre + margin, value)
    return Estimate(float(value), float(np.maximum(low, 0.0)), float(np.maximum(high, 0.0)))

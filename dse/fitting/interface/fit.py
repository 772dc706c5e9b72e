"""Fitting a kernel and an interface to measured host and offload times.

The model is that of the two records of `dse.contract`: the host takes ``offset + index *
g**exponent``, an offload ``fixed + per_byte * g + computing * g**exponent`` with ``computing =
index / acceleration`` (LogCA, Altaf and Wood, ISCA 2017, eqs 2 and 8).  Errors are relative and
of one size per curve.  An exponent that the data cannot tell from 1 is 1; then only the sum of
`per_byte` and `computing` shows.  Everything works on many data sets (rows) at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dse.fitting.interface.powers import Array, Flags, Powers, fit_powers

CONFIDENCE = 0.95
SIGNIFICANCE = 0.01
"""A simpler model is rejected when the data are this unlikely under it."""

OFFSET, INDEX, EXPONENT, FIXED, PER_BYTE, COMPUTING = range(6)
_TERMS = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A value with its 95 % interval, one per row."""

    value: Array
    low: Array
    high: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """One form of the model, fitted to every row.

    Attributes
    ----------
    possible
        Parameters in the order `OFFSET` to `COMPUTING`, none negative, (rows, 6).
    free
        The same without that bound: what intervals are centred on.
    host_part, offload_part
        Covariance of `free` from the noise of either curve, (rows, 6, 6).
    host, offload
        The bounded fits.
    host_squares
        Squared residuals of the unbounded fit of the host.
    host_freedom, offload_freedom
        Degrees of freedom of the unbounded fits.
    """

    possible: Array
    free: Array
    host_part: Array
    offload_part: Array
    host: Powers
    offload: Powers
    host_squares: Array
    host_freedom: Array
    offload_freedom: Array

    def deviation(self, gradient: Array) -> tuple[Array, Array]:
        """Return the standard error of a function of the parameters, and its t quantile.

        The degrees of freedom are Welch and Satterthwaite's for two variances.
        """
        from scipy.special import stdtrit

        apart = (len(gradient), *(1,) * (gradient.ndim - 2))  # rows against any places
        parts = [
            np.einsum(
                "...i,...ij,...j->...", gradient, part.reshape(*apart, *part.shape[1:]), gradient
            )
            for part in (self.host_part, self.offload_part)
        ]
        freedoms = [freedom.reshape(apart) for freedom in (self.host_freedom, self.offload_freedom)]
        total = parts[0] + parts[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
            freedom = np.where(total > 0, total**2 / shares, 1.0)
        error: Array = np.sqrt(np.maximum(total, 0))
        quantile: Array = np.asarray(stdtrit(freedom, (1 + CONFIDENCE) / 2), dtype=np.float64)
        return error, quantile


@dataclass(frozen=True, kw_only=True, eq=False)
class InterfaceFit:
    """The model that suits each row, and what it says.

    Attributes
    ----------
    linear
        Whether the exponent is 1 because the data do not reject it.
    linear_p
        How likely the data are if it is.
    models
        The general form and the one with exponent 1.
    estimates
        By name: ``host_offset_s``, ``index_s_per_byte``, ``exponent``, ``fixed_s`` (overhead and
        latency together), ``per_byte_s_per_byte`` (with exponent 1 the whole of it, computing
        included), ``peak_acceleration`` (with exponent 1: if all of it is computing).
    """

    linear: Flags
    linear_p: Array
    models: tuple[FittedModel, FittedModel]
    estimates: Mapping[str, Estimate]

    def model(self, row: int = 0) -> FittedModel:
        """Return the form that suits a row."""
        return self.models[int(self.linear[row])]


def fit_times(size: Array, host: Array, offload: Array, *, pure: bool = False) -> InterfaceFit:
    """Fit every row of `host` and `offload`.

    Parameters
    ----------
    size
        Granularities in bytes, (sizes,).
    host, offload
        Times in seconds, (rows, sizes).
    pure
        LogCA as published: the host has no fixed time per call.
    """
    models = tuple(_model(size, host, offload, free=free, pure=pure) for free in (True, False))
    general, linear = models
    linear_p = nested_p(linear.host_squares, general.host_squares, general.host_freedom)
    is_linear = linear_p >= SIGNIFICANCE
    found = [_estimates(model, linear=model is linear) for model in models]
    estimates = {
        name: Estimate(
            **{
                part: np.where(is_linear, getattr(found[1][name], part), getattr(value, part))
                for part in ("value", "low", "high")
            }
        )
        for name, value in found[0].items()
    }
    sought = found[0]["exponent"]
    estimates["exponent"] = Estimate(
        value=np.where(is_linear, 1.0, sought.value), low=sought.low, high=sought.high
    )
    return InterfaceFit(
        linear=is_linear, linear_p=linear_p, models=(general, linear), estimates=estimates
    )


def nested_p(simple: Array, general: Array, freedom: Array) -> Array:
    """Return how likely squares so much larger are when the one parameter less is true."""
    from scipy.special import fdtrc

    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.maximum(simple - general, 0) / (general / freedom)
    tiny = simple < 1e-18  # exact data, up to rounding
    return np.where(tiny, 1.0, fdtrc(1, freedom, np.where(tiny, 0.0, ratio)))


def _model(size: Array, host: Array, offload: Array, *, free: bool, pure: bool) -> FittedModel:
    """Fit one form of the model, without and with the bound at zero."""
    rows = len(host)
    used = np.tile([not pure, True], (rows, 1))
    powers = np.array([0.0, 1.0])
    at_will = fit_powers(size, host, powers, free=free, used=used)
    bounded = fit_powers(
        size, host, powers, free=free, used=used & (at_will.coefficients >= [0.0, -np.inf])
    )
    terms = _offload_terms(at_will.exponents, free)
    offload_at_will = fit_powers(size, offload, terms, free=False)
    offload_bounded = _not_negative(size, offload, _offload_terms(bounded.exponents, free))
    return FittedModel(
        possible=np.maximum(_parameters(bounded, offload_bounded), 0.0),
        free=_parameters(at_will, offload_at_will),
        host_part=_host_part(at_will, offload_at_will, free),
        offload_part=_offload_part(offload_at_will),
        host=bounded,
        offload=offload_bounded,
        host_squares=at_will.squares,
        host_freedom=at_will.freedom,
        offload_freedom=offload_at_will.freedom,
    )


def _offload_terms(host_exponents: Array, free: bool) -> Array:
    constant, one = np.zeros(len(host_exponents)), np.ones(len(host_exponents))
    columns = [constant, one, host_exponents[:, 1]] if free else [constant, one]
    return np.stack(columns, axis=1)


def _not_negative(size: Array, time: Array, exponents: Array) -> Powers:
    """Fit; drop the most negative term of each row and fit again, while there is one."""
    used = np.ones(exponents.shape, np.bool_)
    found = fit_powers(size, time, exponents, free=False, used=used)
    for _ in range(exponents.shape[1] - 1):
        spread = np.sqrt(np.einsum("dpp->dp", found.covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.where(used, found.coefficients / spread, np.inf)
        worst = sizes == sizes.min(axis=1, keepdims=True)
        drop = used & worst & (found.coefficients < 0)
        if not drop.any():
            break
        used = used & ~drop
        found = fit_powers(size, time, exponents, free=False, used=used)
    return found


def _parameters(host: Powers, offload: Powers) -> Array:
    found = np.zeros((len(host.coefficients), _TERMS))
    found[:, [OFFSET, INDEX]] = host.coefficients
    found[:, EXPONENT] = host.exponents[:, 1]
    found[:, FIXED : FIXED + offload.coefficients.shape[1]] = offload.coefficients
    return found


def _host_part(host: Powers, offload: Powers, free: bool) -> Array:
    """Covariance from the host's noise; its exponent also moves the offload's terms."""
    parameters = host.covariance.shape[1]
    spread = np.zeros((len(host.coefficients), _TERMS, parameters))
    spread[:, range(parameters), range(parameters)] = 1.0
    if free:
        spread[:, FIXED:, EXPONENT] = offload.shift
    covariance = host.covariance * host.noise[:, None, None]
    part: Array = spread @ covariance @ spread.swapaxes(1, 2)
    return part


def _offload_part(offload: Powers) -> Array:
    part = np.zeros((len(offload.coefficients), _TERMS, _TERMS))
    stop = FIXED + offload.coefficients.shape[1]
    part[:, FIXED:stop, FIXED:stop] = offload.covariance * offload.noise[:, None, None]
    return part


def _estimates(model: FittedModel, *, linear: bool) -> dict[str, Estimate]:
    """Return the named parameters with intervals; no interval reaches below zero."""
    found = {}
    for name, place in (
        ("host_offset_s", OFFSET),
        ("exponent", EXPONENT),
        ("fixed_s", FIXED),
        ("per_byte_s_per_byte", PER_BYTE),
    ):
        margin = _margin(model, {place: np.ones(len(model.free))})
        centre = model.free[:, place]
        found[name] = _estimate(model.possible[:, place], centre - margin, centre + margin)
    index = model.free[:, INDEX]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = np.exp(_margin(model, {INDEX: 1 / index}))
        found["index_s_per_byte"] = _estimate(
            model.possible[:, INDEX], index / factor, index * factor
        )
        term = PER_BYTE if linear else COMPUTING
        share = model.free[:, term] / index
        margin = _margin(model, {term: 1 / index, INDEX: -share / index})
        inverse = _estimate(
            model.possible[:, term] / model.possible[:, INDEX], share - margin, share + margin
        )
        found["peak_acceleration"] = Estimate(
            value=1 / inverse.value, low=1 / inverse.high, high=1 / inverse.low
        )
    return found


def _margin(model: FittedModel, gradient: Mapping[int, Array]) -> Array:
    """Return half the width of the interval of a function of the parameters."""
    columns = np.zeros(model.free.shape)
    for place, values in gradient.items():
        columns[:, place] = values
    error, quantile = model.deviation(columns)
    return error * quantile


def _estimate(value: Array, low: Array, high: Array) -> Estimate:
    return Estimate(
        value=value,
        low=np.maximum(np.fmin(low, value), 0.0),
        high=np.maximum(np.fmax(high, value), 0.0),
    )

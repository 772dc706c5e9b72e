"""From which granularity on an offload pays: of a fitted model, with its interval, and of data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dse.fitting.interface.fit import (
    COMPUTING,
    EXPONENT,
    FIXED,
    INDEX,
    OFFSET,
    PER_BYTE,
    FittedModel,
    InterfaceFit,
)
from dse.fitting.interface.powers import Array

LARGEST_BYTE = 2.0**64
"""As far as a 64-bit address reaches; beyond it nothing pays any more."""

_GRID = np.linspace(math.log(1e-3), math.log(LARGEST_BYTE), 4001)


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """Where offloads pay.

    Attributes
    ----------
    pays
        Ranges of granularity in which the model's host is not faster, in bytes; 0 and infinity
        are open ends.
    low, high
        95 % interval of the first start of them; infinite where the noise leaves it open, NaN
        where there is no such start.
    of_data
        Where the measured times, joined by straight lines between logarithms, first cross in
        favour of the offload; 0 when the offload wins at every size, NaN when it never does.
    """

    pays: tuple[tuple[float, float], ...]
    low: float
    high: float
    of_data: float

    @property
    def granularity(self) -> float:
        """The break-even granularity: 0 when every offload pays, NaN when none does."""
        return self.pays[0][0] if self.pays else math.nan


def break_even(fit: InterfaceFit, size: Array, host: Array, offload: Array) -> BreakEven:
    """Return where offloads of the first row pay."""
    model = fit.model()
    spans = _spans(lambda x: advantage(model.possible, x)[0])
    pays = tuple((_end(first), _end(last)) for first, last in spans)
    start = pays[0][0] if pays else math.nan
    low, high = (math.nan, math.nan)
    if start > 0:
        low, high = _interval(model, math.log(start))
    return BreakEven(pays=pays, low=low, high=high, of_data=_of_data(size, host[0], offload[0]))


def advantage(parameters: Array, x: Array) -> Array:
    """Return host time minus offload time at granularities ``exp(x)``: (rows, sizes)."""
    p = parameters[:, :, None]
    grown = np.exp(p[:, EXPONENT] * x)
    host = p[:, OFFSET] + p[:, INDEX] * grown
    offload = p[:, FIXED] + p[:, PER_BYTE] * np.exp(x) + p[:, COMPUTING] * grown
    found: Array = host - offload
    return found


def inside(model: FittedModel, x: Array) -> Array:
    """Return what is not negative where ``exp(x)`` belongs to the interval: (rows, sizes).

    Both times can be equal there, as far as the noise tells: their difference is within t
    standard errors of zero (Fieller's interval, which also knows open ends).
    """
    p = model.free[:, :, None]
    grown = np.exp(p[:, EXPONENT] * x)
    gradient = np.zeros((len(model.free), x.shape[-1], model.free.shape[1]))
    gradient[..., OFFSET], gradient[..., FIXED] = 1.0, -1.0
    gradient[..., INDEX], gradient[..., COMPUTING] = grown, -grown
    gradient[..., PER_BYTE] = -np.exp(x)
    gradient[..., EXPONENT] = (p[:, INDEX] - p[:, COMPUTING]) * grown * x
    error, quantile = model.deviation(gradient)
    found: Array = error * quantile - np.abs(advantage(model.free, x))
    return found


def _interval(model: FittedModel, start: float) -> tuple[float, float]:
    """Return the connected part of the interval around the break-even."""
    low, high = start, start
    for first, last in _spans(lambda x: inside(model, x)[0]):
        if first <= start <= last:
            low, high = first, last
    return _end(low), _end(high)


def _spans(value: Callable[[Array], Array]) -> list[tuple[float, float]]:
    """Return the spans of x in which a function is not negative; ends lie on roots or the rim."""
    edges = np.diff(np.concatenate([[0], value(_GRID) >= 0, [0]]))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    last = len(_GRID) - 1
    return [
        (
            -math.inf if start == 0 else _root(value, _GRID[start - 1], _GRID[start]),
            math.inf if stop == last else _root(value, _GRID[stop], _GRID[stop + 1]),
        )
        for start, stop in zip(starts, stops, strict=True)
    ]


def _root(value: Callable[[Array], Array], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda x: float(value(np.array([x]))[0]), low, high, xtol=1e-13))


def _end(x: float) -> float:
    return math.exp(x) if math.isfinite(x) else 0.0 if x < 0 else math.inf


def _of_data(size: Array, host: Array, offload: Array) -> float:
    gain = np.log(host / offload)
    if gain[0] >= 0:
        return 0.0
    wins = np.flatnonzero(gain >= 0)
    if not wins.size:
        return math.nan
    after, before = wins[0], wins[0] - 1
    share = gain[before] / (gain[before] - gain[after])
    x = np.log(size)
    return float(np.exp(x[before] + share * (x[after] - x[before])))

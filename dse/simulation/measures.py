"""What was seen of offloads, and how sure it is: means of batches, the first part left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.simulation.events import Passage
from dse.simulation.pipeline import Traffic

BATCHES = 20
ROUNDING = 1e-14
"""Relative; what differs by less in times since the first arrival is the same."""

NOISE = 1e-9
"""Relative spread of batches that rounding explains."""

DROPPED = 0.1
"""Share of the offloads that is left out, in which lines still form."""

RARE = 0.01
LEAST, MOST = 20_000, 500_000
"""Offloads that are simulated at least and at most, unless the user says how many."""

WANTED = 0.05
"""Relative standard error of the mean wait for which there are to be enough offloads."""


@dataclass(frozen=True)
class Seen:
    """A number and its standard error; the error is NaN where there are too few offloads."""

    value: float
    error: float


def enough(load: float, cv2: float, size_cv2: float) -> float:
    """Return how many offloads make the mean wait sure to `WANTED`.

    ``2 (c_a2 + c_s2) / (error (1 - load))^2``: neighbours wait for the same, the more so the fuller
    it is.

    References
    ----------
    Whitt, "Planning queueing simulations", Management Science 35, 1989.
    """
    return 2.0 * (cv2 + size_cv2) / (WANTED * max(1.0 - load, 1e-9)) ** 2


def measure(traffic: Traffic, passage: Passage) -> Mapping[str, Seen]:
    """Return what is seen, by `dse.contract.Simulated`, of offloads that have ended, by name."""
    first = int(len(passage.ended_s) * DROPPED)
    arrived, ended = passage.arrived_s[first:], passage.ended_s[first:]
    kind = passage.kind[first:]
    alone = np.array([one.alone_s for one in traffic.pipelines])
    bits = np.array([one.bits for one in traffic.pipelines])[kind]
    time = ended - arrived
    wait = time - alone[kind]
    rounding = ROUNDING * max(float(alone.max()), float(ended[-1]) if len(ended) else 0.0)
    wait = np.where(np.abs(wait) < rounding, 0.0, wait)
    seconds = np.diff(ended, prepend=ended[:1])

    def mean(values: Column) -> Seen:
        return _estimate(values, lambda rows: rows.mean(axis=-1))

    def over_time(values: Column) -> Seen:
        return _ratio(values[1:], seconds[1:])

    draw, core_s = traffic.draw, passage.core_s[first:]
    joule = draw.always_w * seconds + draw.core_w * core_s + draw.bit_j * bits
    rare = _estimate(time, lambda rows: np.quantile(rows, 1.0 - RARE, axis=-1), least=1.0 / RARE)
    return {
        "rate": over_time(bits),
        "wait": mean(wait),
        "time": mean(time),
        "rare_time": rare,
        "cores": over_time(core_s),
        "energy": _ratio(joule[1:], bits[1:]),
    }


def _ratio(values: Column, over: Column) -> Seen:
    """Return a sum over another."""
    pairs = np.stack([values, over])
    return _estimate(pairs, lambda rows: rows[0].sum(axis=-1) / rows[1].sum(axis=-1))


def _estimate(
    values: Column,
    statistic: Callable[[Column], NDArray[np.float64] | np.float64],
    least: float = 1.0,
) -> Seen:
    """Return a statistic of rows (..., n); its error from that of batches of `least` or more."""
    count = values.shape[-1]
    size = count // BATCHES
    if not count:
        return Seen(math.nan, math.nan)
    whole = float(statistic(values))
    if size < least:
        return Seen(whole, math.nan)
    batches = values[..., : size * BATCHES].reshape(*values.shape[:-1], BATCHES, size)
    spread = float(np.std(np.asarray(statistic(batches)), ddof=1))
    return Seen(whole, spread / math.sqrt(BATCHES) if spread > NOISE * abs(whole) else 0.0)

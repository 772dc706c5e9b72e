"""Arrivals of offloads, and their passage through a pipeline, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.simulation.pipeline import Kinds, Pipeline, passed

CALLBACK_EVERY = 5_000
"""Offloads between two reports of progress."""


def arrivals(*, cv2: float, rate_hz: float, count: int, seed: int) -> Column:
    """Return times of arrival, in s: independent gaps of one mean and squared variation.

    Equal gaps (0), gamma distributed (below 1), exponential (1), hyperexponential with balanced
    means (above 1).
    """
    random, mean = np.random.default_rng(seed), 1.0 / rate_hz
    if cv2 == 0:
        gaps = np.full(count, mean)
    elif cv2 < 1:
        gaps = random.gamma(1.0 / cv2, mean * cv2, count)
    else:
        share = (1.0 + math.sqrt((cv2 - 1.0) / (cv2 + 1.0))) / 2.0
        short = random.random(count) < share
        means = np.where(short, mean / (2.0 * share), mean * (cv2 + 1.0) * share)
        gaps = random.exponential(1.0, count) * means
    return np.cumsum(gaps)


def kinds(*, shares: Sequence[float], count: int, seed: int) -> NDArray[np.intp]:
    """Return the index of each offload's size among all sizes, drawn by their shares.

    It draws separately from the arrivals, common to all sizes.
    """
    chances = np.asarray(shares) / math.fsum(shares)
    return np.random.default_rng((seed, 1)).choice(len(chances), count, p=chances)


@dataclass(frozen=True)
class Passage:
    """Results of offloads, in the order of their arrival.

    Attributes
    ----------
    kind
        The index of each offload's pipeline among all pipelines.
    arrived_s, ended_s
        Time of each arrival, and of the return of the last bit.
    core_s
        Time for which each held a host core.
    """

    kind: Kinds
    arrived_s: Column
    ended_s: Column
    core_s: Column


def pass_through(
    pipelines: Sequence[Pipeline],
    kind: Kinds,
    arrived_s: Column,
    *,
    callback: Callable[[int], None] = lambda _: None,
) -> Passage:
    """Return the passage of offloads.  Each kind has a pipeline, of the same parts.

    Every queue is first come, first served, the one in front of the slots unlimited, and offloads
    do not overtake each other.  So each is computed from those before it, station by station
    (Lindley's recursion), with the times of a simulation by events.
    """
    count = len(arrived_s)
    started, ended, left = ([0.0] * count for _ in range(3))
    free, ready = ([0.0] * len(pipelines[0].stations) for _ in range(2))
    slots, cores = pipelines[0].slots, pipelines[0].cores
    for number, (one, start) in enumerate(zip(kind.tolist(), arrived_s.tolist(), strict=True)):
        pipeline = pipelines[one]
        if number >= slots:
            start = max(start, ended[number - int(slots)])
        if number >= cores:
            start = max(start, left[number - int(cores)])
        first = last = start + pipeline.overhead_s + pipeline.latency_s
        for place, station in enumerate(pipeline.stations):
            begin = max(last if station.whole else first, free[place])
            came = first, last, ready[place]
            first, last, free[place], ready[place] = passed(station, begin, *came)
        started[number], ended[number] = start, last
        left[number] = last if pipeline.sync else start + pipeline.core_s
        if (number + 1) % CALLBACK_EVERY == 0:
            callback(number + 1)
    return Passage(kind, arrived_s, np.array(ended), np.array(left) - np.array(started))

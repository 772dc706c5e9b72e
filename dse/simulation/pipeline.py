"""The simulated pipeline, and the passage of offloads through it, with times in seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column

Kinds = NDArray[np.intp]
"""The place of each offload's size among all."""


@dataclass(frozen=True)
class Station:
    """One server that takes offloads in order of arrival.

    Attributes
    ----------
    name
        Its name in words.
    busy_s
        Busy time with an offload that arrives all at once.
    fill_s
        From the first bit in to the first bit out.
    whole
        It waits for the last bit before it starts, and the next one for its last bit.
    first_round
        Share of an offload that it takes in its first round, for which it waits.
    last_round_s
        From its first round to the last, if that is less than it is busy.
    again_s
        Busy time with an offload after its departure.
    """

    name: str
    busy_s: float
    fill_s: float = 0.0
    whole: bool = False
    first_round: float = 0.0
    last_round_s: float = math.inf
    again_s: float = 0.0


@dataclass(frozen=True)
class Pipeline:
    """Slots, host cores, and the stations behind them, as offloads of one size meet them.

    Attributes
    ----------
    slots, cores
        Offloads that may be under way, and host cores.
    sync
        A core is held until the offload has ended.
    overhead_s, core_s
        Time on a core before an offload leaves it, and time for which it is held unless `sync`.
    latency_s
        Delay that keeps nothing busy.
    stations
        In the order of passage.
    bits
        Payload of an offload.
    """

    slots: float
    cores: float
    sync: bool
    overhead_s: float
    core_s: float
    latency_s: float
    stations: tuple[Station, ...]
    bits: float

    @cached_property
    def alone_s(self) -> float:
        """Return the time of one offload that meets no other."""
        first = last = self.overhead_s + self.latency_s
        for station in self.stations:
            start = last if station.whole else first
            first, last, _, _ = passed(station, start, first, last, 0.0)
        return last

    @property
    def busy_s(self) -> Mapping[str, float]:
        """Return the busy time of each part with one offload, over its servers."""
        places = min(self.slots, self.cores) if self.sync else self.slots
        found = {station.name: station.busy_s + station.again_s for station in self.stations}
        found["offload slots"] = self.alone_s / places
        if not self.sync:
            found["host cores"] = self.core_s / self.cores
        return found


def passed(
    station: Station, start: float, first: float, last: float, ready: float
) -> tuple[float, float, float, float]:
    """Return the exits of the first and the last bit from a station, and its free and ready times.

    It starts on an offload whose bits come evenly from `first` to `last`.  Its rounds begin when
    the first one is there, and the rounds of the offload before leave room for it: at `ready`.
    """
    busy, fill = station.busy_s, station.fill_s
    begin = first + (last - first) * station.first_round
    begin = start if start > begin else begin  # `max` would be the slowest part of a simulation
    begin = ready if ready > begin else begin
    free, end = start + busy, begin + station.last_round_s
    free = last if last > free else free
    end = last if last > end else end
    end = (free if free < end else end) + fill
    first = end if station.whole else start + fill
    return first, end, free + station.again_s, begin + busy


@dataclass(frozen=True)
class Draw:
    """Power that is drawn all the time, by a busy host core, and energy of a bit of payload."""

    always_w: float = 0.0
    core_w: float = 0.0
    bit_j: float = 0.0


@dataclass(frozen=True)
class Traffic:
    """Offloads of each size, and their path: the same parts, busy for other times.

    Attributes
    ----------
    pipelines, shares
        Pipeline of the offloads of a size, and their share of all offloads.
    demand_bit_per_s
        Payload that arrives each second, infinite for as much as can pass.
    cv2
        Squared coefficient of variation of the gaps between arrivals.
    draw
        Power and energy of all parts.
    """

    pipelines: tuple[Pipeline, ...]
    shares: tuple[float, ...] = (1.0,)
    demand_bit_per_s: float = math.inf
    cv2: float = 0.0
    draw: Draw = Draw()

    @cached_property
    def bits(self) -> float:
        """Return the mean payload of an offload."""
        return self._mean([one.bits for one in self.pipelines])

    @property
    def sizes(self) -> int:
        """Return the number of sizes of offloads."""
        return len({one.bits for one in self.pipelines})

    @cached_property
    def service_cv2(self) -> float:
        """Return the highest squared coefficient of variation of the busy time of a part."""
        each = [one.busy_s for one in self.pipelines]
        means = [(name, mean) for name, mean in self.busy_s.items() if mean]
        return max(
            self._mean([(busy[name] / mean - 1.0) ** 2 for busy in each]) for name, mean in means
        )

    @cached_property
    def busy_s(self) -> Mapping[str, float]:
        """Return the mean busy time of each part with an offload, over its servers."""
        each = [one.busy_s for one in self.pipelines]
        return {name: self._mean([busy[name] for busy in each]) for name in each[0]}

    @property
    def most_hz(self) -> float:
        """Return the offloads per second that keep the busiest part busy all the time."""
        return 1.0 / max(self.busy_s.values())

    @property
    def rate_hz(self) -> float:
        """Return the number of offloads that arrive each second."""
        return min(self.demand_bit_per_s / self.bits, self.most_hz)

    @property
    def load(self) -> float:
        """Return the share of the time for which the busiest part is busy."""
        return self.rate_hz / self.most_hz

    def _mean(self, values: Sequence[float]) -> float:
        return sum(share * one for share, one in zip(self.shares, values, strict=True))


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

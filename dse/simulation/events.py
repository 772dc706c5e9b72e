"""Arrivals of offloads, and their passage: as discrete events, or one after the other.

Every queue is first come, first served, and the queue in front of the slots is unlimited.
Offloads do not overtake each other, so the order of events at equal times changes nothing.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.simulation.pipeline import Kinds, Pipeline, passed


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


CALLBACK_EVERY = 50_000
"""Events between two reports of progress."""

Callback = Callable[[int], None]


@dataclass(frozen=True)
class Passage:
    """Results of offloads, in the order of their arrival, up to the last event.

    Attributes
    ----------
    kind
        The index of each offload's pipeline among all pipelines.
    arrived_s, ended_s
        Time of each arrival, and of the return of the last bit.
    core_s
        Time for which each held a host core.
    events
        Number of events.
    cut
        Reason for the early end, if not all offloads have ended.
    """

    kind: Kinds
    arrived_s: Column
    ended_s: Column
    core_s: Column
    events: int
    cut: str = ""


def pass_through(
    pipelines: Sequence[Pipeline],
    kind: Kinds,
    arrived_s: Column,
    *,
    most_events: float,
    callback: Callback | None = None,
) -> Passage:
    """Simulate offloads, and return the end of each.  Each kind has a pipeline, of the same parts.

    An interrupt of the user ends it: the offloads that have ended until then are returned.
    """
    run = _Run(pipelines, kind, arrived_s.tolist())
    cut = ""
    try:
        while run.heap and not cut:
            run.some(min(CALLBACK_EVERY, most_events - run.events))
            if callback is not None:
                callback(run.ended)
            if run.heap and run.events >= most_events:
                cut = f"the limit of {run.events:,} events was reached"
    except KeyboardInterrupt:
        cut = "it was interrupted"
    ended = np.array(run.last_s[: run.ended])
    core = np.array(run.core_s[: run.ended])
    return Passage(kind[: run.ended], arrived_s[: run.ended], ended, core, run.events, cut)


def one_after_the_other(pipelines: Sequence[Pipeline], kind: Kinds, arrived_s: Column) -> Passage:
    """Return the passage of offloads, station by station (Lindley's recursion)."""
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
    return Passage(kind, arrived_s, np.array(ended), np.array(left) - np.array(started), 0)


_ARRIVES, _LEAVES_CORE, _FREES_CORE, _COMES, _FREES, _ENDS = range(6)


class _Run:
    """The state of a simulation: a heap of future events, and the queues."""

    def __init__(self, pipelines: Sequence[Pipeline], kind: Kinds, arrived_s: list[float]) -> None:
        """Begin with the first arrival."""
        self.passed_by = [pipelines[one] for one in kind]
        self.arrived_s, stations = arrived_s, pipelines[0].stations
        self.slots, self.cores = pipelines[0].slots, pipelines[0].cores
        self.for_slot: deque[int] = deque()
        self.for_core: deque[int] = deque()
        self.free = [True] * len(stations)
        self.lines: list[deque[int]] = [deque() for _ in stations]
        count = len(arrived_s)
        self.ready = [0.0] * len(stations)
        self.began_s = [0.0] * count
        self.first_s, self.last_s, self.core_s = ([0.0] * count for _ in range(3))
        self.ended = self.events = 0
        self.heap = [(at, _ARRIVES, 0, 0) for at in arrived_s[:1]]

    def some(self, most: float) -> None:
        """Process so many events, or all."""
        happens = (
            self._arrives,
            self._leaves_core,
            self._frees_core,
            self._comes,
            self._frees,
            self._ends,
        )
        heap, last = self.heap, self.events + most
        while heap and self.events < last:
            at, what, offload, place = heapq.heappop(heap)
            happens[what](at, offload, place)
            self.events += 1

    def _push(self, at: float, what: int, offload: int, place: int = 0) -> None:
        heapq.heappush(self.heap, (at, what, offload, place))

    def _arrives(self, at: float, offload: int, _: int) -> None:
        if offload + 1 < len(self.arrived_s):
            self._push(self.arrived_s[offload + 1], _ARRIVES, offload + 1)
        if self.slots > 0:
            self.slots -= 1
            self._wants_core(at, offload)
        else:
            self.for_slot.append(offload)

    def _wants_core(self, at: float, offload: int) -> None:
        if self.cores >= 1:
            self.cores -= 1
            self._takes_core(at, offload)
        else:
            self.for_core.append(offload)

    def _takes_core(self, at: float, offload: int) -> None:
        self.began_s[offload] = at
        pipeline = self.passed_by[offload]
        self._push(at + pipeline.overhead_s, _LEAVES_CORE, offload)
        if not pipeline.sync:
            self._push(at + pipeline.core_s, _FREES_CORE, offload)

    def _leaves_core(self, at: float, offload: int, _: int) -> None:
        first = at + self.passed_by[offload].latency_s
        self.first_s[offload] = self.last_s[offload] = first
        self._push(first, _COMES, offload, 0)

    def _frees_core(self, at: float, offload: int, _: int) -> None:
        self.core_s[offload] = at - self.began_s[offload]
        if self.for_core:
            self._takes_core(at, self.for_core.popleft())
        else:
            self.cores += 1

    def _comes(self, at: float, offload: int, place: int) -> None:
        if self.free[place]:
            self._starts(at, offload, place)
        else:
            self.lines[place].append(offload)

    def _starts(self, at: float, offload: int, place: int) -> None:
        stations = self.passed_by[offload].stations
        station = stations[place]
        self.free[place] = False
        came = self.first_s[offload], self.last_s[offload]
        first, last, free, self.ready[place] = passed(station, at, *came, self.ready[place])
        self._push(free, _FREES, offload, place)
        self.first_s[offload], self.last_s[offload] = first, last
        if place + 1 == len(stations):
            self._push(last, _ENDS, offload)
        else:
            following = stations[place + 1]
            self._push(last if following.whole else first, _COMES, offload, place + 1)

    def _frees(self, at: float, _: int, place: int) -> None:
        self.free[place] = True
        if self.lines[place]:
            self._starts(at, self.lines[place].popleft(), place)

    def _ends(self, at: float, offload: int, _: int) -> None:
        self.ended += 1
        if self.passed_by[offload].sync:
            self._frees_core(at, offload, 0)
        if self.for_slot:
            self._wants_core(at, self.for_slot.popleft())
        else:
            self.slots += 1

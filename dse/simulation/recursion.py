"""Offloads one after the other: when each starts and ends, station by station."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dse.contract import Column
from dse.model.tape.compiled import has_llvmlite
from dse.simulation.events import Passage
from dse.simulation.pipeline import Kinds, Pipeline, passed


def one_after_the_other(
    pipelines: Sequence[Pipeline], kind: Kinds, arrived_s: Column, *, compiled: bool | None = None
) -> Passage:
    """Return what becomes of offloads, station by station (Lindley's recursion).

    As machine code or not, to the last bit; None for machine code where llvmlite is installed.
    """
    if has_llvmlite() if compiled is None else compiled:
        from dse.simulation.compiled import passages  # only where llvmlite is installed

        start, ended, left = passages(pipelines, kind, arrived_s)
    else:
        start, ended, left = _passages(pipelines, kind, arrived_s)
    return Passage(kind, arrived_s, ended, left - start, 0)


def _passages(pipelines: Sequence[Pipeline], kind: Kinds, arrived_s: Column) -> tuple[Column, ...]:
    """Return when offloads start, when they end, and when they leave their host cores."""
    count = len(arrived_s)
    started, ended, left = ([0.0] * count for _ in range(3))
    free, ready = ([0.0] * len(pipelines[0].stations) for _ in range(2))
    slots, cores = pipelines[0].slots, pipelines[0].cores
    for number, at in enumerate(arrived_s.tolist()):
        pipeline = pipelines[kind[number]]
        start = at
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
    return np.array(started), np.array(ended), np.array(left)

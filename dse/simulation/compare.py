"""The model's numbers of one design, and a simulation of it."""

from __future__ import annotations

import math

from dse.answers.design import pick
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search import Progress
from dse.simulation.arrivals import arrivals, kinds
from dse.simulation.events import Passage, pass_through
from dse.simulation.measures import LEAST, MOST, enough, measure
from dse.simulation.pipeline import Traffic
from dse.simulation.report import BothSides, Simulation
from dse.simulation.traffic import traffic_of
from dse.study.study import Study

EVENTS = 50_000_000


def both_sides(
    problem: Problem, index: Index, traffic: Traffic, passage: Passage
) -> tuple[BothSides, ...]:
    """Return what the model says of a design (1, d) beside what was seen of its offloads."""
    described, seen = problem.describe(index), measure(traffic, passage)
    predicted = {
        one.simulated: (one.name, float(described[one.name][0]))
        for one in problem.quantities
        if one.simulated
    }
    return tuple(
        BothSides(name, *predicted[name], seen[name]) for name in seen if name in predicted
    )


def simulated(
    prepared: Study,
    index: Index,
    *,
    offloads: int | None,
    events: int | None,
    seed: int,
    progress: Progress | None,
) -> Simulation:
    """Return a simulation of the design (1, d) beside what the model says of it.

    Of so many offloads, or as many as it takes, and of `events` at most, or `EVENTS`.

    Raises
    ------
    UnitError
        The study has no offloads, or something that is not simulated.
    """
    problem, traffic = prepared.problem, traffic_of(prepared, index)
    rate, cv2 = traffic.rate_hz, traffic.cv2
    needed = enough(rate / traffic.most_hz, cv2, traffic.size_cv2)
    count = offloads or math.ceil(min(max(needed, LEAST), MOST))
    times = arrivals(cv2=cv2, rate_hz=rate, count=count, seed=seed)
    passage = pass_through(
        traffic.pipelines,
        kinds(shares=traffic.shares, count=count, seed=seed),
        times,
        most_events=EVENTS if events is None else events,
        callback=None if progress is None else lambda done: progress(done, count),
    )
    return Simulation(
        design=pick(problem, index[0]).line,
        traffic=traffic,
        compared=both_sides(problem, index, traffic, passage),
        seed=seed,
        wanted=count,
        ended=len(passage.ended_s),
        events=passage.events,
        enough=needed,
        cut=passage.cut,
        time_s=passage.ended_s - passage.arrived_s,
    )

"""A simulation of one design beside the model: numbers, errors, differences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dse.algebra import units
from dse.answers.design import pick
from dse.contract import Column
from dse.errors import UnitError
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.text import (
    ROUNDING,
    Printable,
    in_words,
    listed,
    paragraph,
    percent,
    signed,
    table_text,
)
from dse.search import Progress
from dse.simulation.events import (
    Passage,
    arrivals,
    kinds,
    one_after_the_other,
    pass_through,
)
from dse.simulation.measures import LEAST, MOST, WANTED, Seen, enough, measure
from dse.simulation.pipeline import Traffic
from dse.simulation.traffic import traffic_of
from dse.study.study import Study

HEADERS = ("quantity", "model", "simulation", "standard error", "model is", "in errors")


@dataclass(frozen=True)
class BothSides:
    """A quantity as the model has it, and as the simulation saw it."""

    measure: str
    quantity: str
    model: float
    simulated: Seen

    @property
    def difference(self) -> float | None:
        """How much more the model says, relative to what was seen; None where that is nothing."""
        seen = self.simulated.value
        known = math.isfinite(self.model) and math.isfinite(seen) and seen > 0
        return self.model / seen - 1.0 if known else None

    @property
    def errors(self) -> float | None:
        """How many standard errors the model is away; None where there is no error."""
        error = self.simulated.error
        return (self.model - self.simulated.value) / error if error > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "model": self.model,
            "simulated": self.simulated.value,
            "standard_error": self.simulated.error,
            "difference": self.difference,
            "errors": self.errors,
        }


@dataclass(frozen=True, repr=False)
class Simulation(Printable):
    """What was simulated, and the model beside it.

    Attributes
    ----------
    design
        The design in one line.
    traffic
        How offloads arrive, and what they pass.
    compared
        Quantities of the model and of the simulation.
    seed
        Of what is drawn at random.
    wanted, ended, events
        Offloads that were to pass, that did, and events it took.
    enough
        Offloads that would make the mean wait sure to `WANTED`.
    cut
        Why it ended early; empty when it did not.
    time_s
        From arrival to end of each offload, in order of arrival.
    """

    design: str
    traffic: Traffic
    compared: tuple[BothSides, ...]
    seed: int
    wanted: int
    ended: int
    events: int
    enough: float
    cut: str = ""
    time_s: Column = field(default_factory=lambda: np.zeros(0), repr=False)

    def text(self) -> str:
        """Return the comparison as a table, and what was simulated."""
        rows = [tuple(_cells(entry)) for entry in self.compared]
        traffic = self.traffic
        arrivals = {0.0: "steady", 1.0: "Poisson"}.get(traffic.cv2, f"cv2 {traffic.cv2:g}")
        sizes = len(traffic.pipelines)
        several = f" of {sizes} sizes" if sizes > 1 else ""
        loads = {name: busy * traffic.rate_hz for name, busy in traffic.busy_s.items()}
        shares = [f"{name} {percent(share)}" for name, share in loads.items() if share > 0]
        lines = [
            f"{self.design}",
            paragraph(
                f"{self.ended:,} offloads{several}, {arrivals} arrivals, seed {self.seed}, "
                f"{self.events:,} events; the first tenth is discarded."
            ),
            paragraph(f"Busy: {listed(shares)}."),
            table_text(rows, HEADERS),
            *(paragraph(each, "  ") for each in self._remarks()),
        ]
        return "\n".join(lines)

    def _remarks(self) -> Iterator[str]:
        if self.cut:
            yield f"note: of {self.wanted:,} offloads {self.ended:,} have ended, because {self.cut}"
        if self.ended < self.enough:
            need = f"{self.enough:,.0f}" if self.enough < 1e12 else "far more"
            yield (
                f"note: for ± {percent(WANTED)} on the mean wait: --offloads {need}; "
                "with fewer, errors are larger than printed"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        quantities = {entry.quantity: entry.to_dict() for entry in self.compared}
        return {
            "design": self.design,
            "offloads": self.ended,
            "wanted": self.wanted,
            "enough": self.enough,
            "events": self.events,
            "cut": self.cut,
            "seed": self.seed,
            "sizes": len(self.traffic.pipelines),
            "arrivals_cv2": self.traffic.cv2,
            "arrivals_hz": self.traffic.rate_hz,
            "quantities": quantities,
        }


def _cells(entry: BothSides) -> Iterator[str]:
    yield in_words(entry.quantity)
    yield units.show(entry.model, entry.quantity)
    yield units.show(entry.simulated.value, entry.quantity)
    yield units.show(entry.simulated.error, entry.quantity)
    more = entry.difference
    alike = more is not None and abs(more) < ROUNDING
    yield "the same" if alike else "" if more is None else signed(more)
    yield "" if entry.errors is None else f"{entry.errors:+.1f}"


EVENTS = 50_000_000

OFFLOADS = 50_000
"""Offloads that are simulated for an answer."""

SURE = 2.0
"""Standard errors of the simulation beyond which a difference counts."""

SEEN = 0.01
"""Relative difference below which an answer says nothing."""

SETTLED = {"time": 0.06, "cores": 0.06, "rare_time": 1.0}
"""Share of the offloads that are `enough` from which on batches know the error of a measure: those
that are one in a hundred come together, and few batches have them."""


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


def simulation_section(prepared: Study, index: Index) -> Section | None:
    """Return how far the model of the design (1, d) is from what a simulation sees.

    None where neither arrivals nor sizes vary.
    """
    try:
        traffic = traffic_of(prepared, index)
    except UnitError as error:
        return Section("simulation", "Simulation", (f"Not simulated: {error.rule}.",), brief=())
    rate, cv2 = traffic.rate_hz, traffic.cv2
    if not cv2 and not traffic.size_cv2:
        return None
    kind = kinds(shares=traffic.shares, count=OFFLOADS, seed=0)
    times = arrivals(cv2=cv2, rate_hz=rate, count=OFFLOADS, seed=0)
    passage = one_after_the_other(traffic.pipelines, kind, times)
    load = rate / traffic.most_hz
    needed = enough(load, cv2, traffic.size_cv2)
    known = [
        one
        for one in both_sides(prepared.problem, index, traffic, passage)
        if one.measure in SETTLED
    ]
    settled = [one for one in known if SETTLED[one.measure] * needed <= OFFLOADS]
    apart = [_apart(one) for one in settled if _is_apart(one)]
    unsettled = [one.quantity for one in known if one not in settled]
    notes = [f"In a simulation of {OFFLOADS:,} offloads: {listed(apart)}."] if apart else []
    lines = list(notes)
    if settled and not apart:
        lines.append(f"A simulation of {OFFLOADS:,} offloads agrees with the model.")
    if unsettled:
        names = listed([in_words(name) for name in unsettled])
        lines.append(
            f"At {percent(min(load, 1.0))} of what the design carries, {OFFLOADS:,} simulated "
            f"offloads do not settle {names}: dse simulate --offloads."
        )
    quantities = {one.quantity: one.to_dict() for one in settled}
    facts = {"offloads": OFFLOADS, "quantities": quantities, "unsettled": unsettled}
    return Section("simulation", "Simulation", tuple(lines), facts=facts, brief=tuple(notes))


def _is_apart(one: BothSides) -> bool:
    """Return whether a difference is worth a word, beyond the simulation's own error."""
    return abs(one.difference or 0.0) > SEEN and abs(one.errors or 0.0) > SURE


def _apart(one: BothSides) -> str:
    seen = one.simulated
    value, error, model = (
        units.show(number, one.quantity) for number in (seen.value, seen.error, one.model)
    )
    return f"{in_words(one.quantity)} {value} +- {error} ({model} by the model)"

"""Whether a recommended design holds in a simulation, and which is the next if not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dse.algebra import units
from dse.answers.design import pick
from dse.errors import InfeasibleError, UnitError
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.text import in_words, listed, percent
from dse.runs.solved import REFUSED, KnownFront
from dse.simulation.events import arrivals, kinds, one_after_the_other
from dse.simulation.measures import enough
from dse.simulation.pipeline import Traffic
from dse.simulation.report import BothSides, both_sides
from dse.simulation.traffic import traffic_of

OFFLOADS, CROWD = 50_000, 20_000
"""Offloads that pass a design, and that wait from the start, to see what it carries."""

TRIED = 5
"""Designs that are simulated at most, until one holds."""

BEYOND = 100.0
"""Load that stands for all above it, that of a demand without end too."""

SURE = 2.0
"""Standard errors of the simulation beyond which a difference counts."""

SEEN = 0.01
"""Relative difference below which nothing is said."""

SETTLED = {"time": 0.06, "cores": 0.06, "rare_time": 1.0}
"""Share of the offloads that are `enough` from which on batches know the error of a measure: those
that are one in a hundred come together, and few batches have them."""


@dataclass(frozen=True)
class Tried:
    """One design that was simulated.

    Attributes
    ----------
    design
        The design in one line.
    compared
        The model's numbers, and what was seen.
    unsettled
        Quantities for which there were too few offloads.
    load
        Offloads that arrive, over those of a crowd that are carried.
    fault
        Why the design does not hold, if so.
    """

    design: str
    compared: tuple[BothSides, ...]
    unsettled: tuple[str, ...]
    load: float
    fault: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        quantities = {entry.quantity: entry.to_dict() for entry in self.compared}
        facts = {"design": self.design, "load": self.load, "unsettled": self.unsettled}
        return facts | {"fault": self.fault or None, "quantities": quantities}


def held(solved: KnownFront, preference: Preference) -> tuple[KnownFront, Section | None, bool]:
    """Return the front from its best design on that holds in a simulation; what to tell of it.

    And whether others had been preferred.  There is nothing to tell where neither arrivals nor
    sizes vary.

    Raises
    ------
    InfeasibleError
        None of the first `TRIED` designs holds.
    """
    study, front = solved.study, solved.front
    ranked = front[preference.order(study.problem, front)]
    tried: list[Tried] = []
    for place, row in enumerate(ranked[:TRIED]):
        try:
            traffic = traffic_of(study, row[np.newaxis])
        except UnitError as error:
            line = f"Not simulated: {error.rule}."
            return solved, Section("simulation", "Simulation", (line,), brief=()), False
        if not traffic.cv2 and not traffic.size_cv2:
            return solved, None, False
        tried.append(_tried(study.problem, row[np.newaxis], traffic))
        if not tried[-1].fault:
            found = {**solved.found, "exact": False, REFUSED: place}
            left = replace(solved, front=ranked[place:], found=found)
            return left if place else solved, _section(tried), place > 0
    facts = {"simulated": [one.to_dict() for one in tried]}
    refused = "\n".join(_refused(one) for one in tried)
    which = (
        "the design does not hold" if len(tried) == 1 else f"none of the best {len(tried)} holds"
    )
    remedy = "--no-simulate answers by the model alone"
    raise InfeasibleError(f"in a simulation {which}; {remedy}\n{refused}", facts)


def _tried(problem: Problem, index: Index, traffic: Traffic) -> Tried:
    """Simulate one design (1, d)."""
    kind = kinds(shares=traffic.shares, count=OFFLOADS, seed=0)
    times = arrivals(cv2=traffic.cv2, rate_hz=traffic.rate_hz, count=OFFLOADS, seed=0)
    passage = one_after_the_other(traffic.pipelines, kind, times)
    crowd = one_after_the_other(traffic.pipelines, kind[:CROWD], np.zeros(CROWD)).ended_s
    most_hz = (CROWD // 2) / float(crowd[-1] - crowd[CROWD // 2 - 1])
    load = min(traffic.demand_bit_per_s / traffic.bits, most_hz * BEYOND) / most_hz
    noise = SURE * np.sqrt(traffic.size_cv2 / CROWD) + traffic.pipelines[0].slots / CROWD
    needed = enough(load, traffic.cv2, traffic.size_cv2)
    known = [
        entry for entry in both_sides(problem, index, traffic, passage) if entry.measure in SETTLED
    ]
    settled = tuple(one for one in known if SETTLED[one.measure] * needed <= OFFLOADS)
    fault = _outside(problem, index, settled)
    if load > 1.0 + noise:
        carried = units.show(most_hz * traffic.bits, "workload_rate_bit_per_s")
        fault = f"it carries {carried}, so that lines grow without end"
    unsettled = tuple(one.quantity for one in known if one not in settled)
    return Tried(pick(problem, index[0]).line, settled, unsettled, load, fault)


def _outside(problem: Problem, index: Index, compared: tuple[BothSides, ...]) -> str:
    """Return which constraint is violated by what was seen, beyond the simulation's own error."""
    columns: Mapping[str, Any] = problem.describe(index)
    ways = np.array([-SURE, 0.0, SURE])
    for rule in problem.constraints:
        named = [entry for entry in compared if entry.quantity in rule.names]
        ends = {one.quantity: one.simulated.value + ways * one.simulated.error for one in named}
        if named and (rule.violation({**columns, **ends}) > 0).all():
            return f"{listed([_shown(one) for one in named])}, which {rule.text} rules out"
    return ""


def _shown(entry: BothSides) -> str:
    value, error = (
        units.show(number, entry.quantity)
        for number in (entry.simulated.value, entry.simulated.error)
    )
    return f"{in_words(entry.quantity)} {value} +- {error}"


def _refused(one: Tried) -> str:
    return f"Not {one.design}, which the model prefers: in a simulation {one.fault}."


def _section(tried: list[Tried]) -> Section:
    """Return what to report of designs, the last of which holds."""
    refused, last = [_refused(one) for one in tried[:-1]], tried[-1]
    apart = [
        f"{_shown(one)} ({units.show(one.model, one.quantity)} by the model)"
        for one in last.compared
        if one.difference is not None
        and abs(one.difference) > SEEN
        and abs(one.errors or 0.0) > SURE
    ]
    notes = [f"In a simulation of {OFFLOADS:,} offloads: {listed(apart)}."] if apart else []
    agrees = f"A simulation of {OFFLOADS:,} offloads agrees with the model."
    lines = [*notes] or ([agrees] if last.compared else [])
    if last.unsettled:
        load = percent(min(last.load, 1.0))
        line = (
            f"At {load} of what the design carries, {OFFLOADS:,} simulated offloads do not settle "
            f"{listed([in_words(name) for name in last.unsettled])}: dse simulate --offloads."
        )
        lines.append(line)
    facts = {"offloads": OFFLOADS, "tried": [one.to_dict() for one in tried]}
    return Section(
        "simulation", "Simulation", (*refused, *lines), facts=facts, brief=(*refused, *notes)
    )

"""A simulation of one design beside the model: numbers, errors, differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.answers.design import pick
from dse.contract import Column
from dse.errors import UnitError
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.text import (
    SHOWN_ROUNDING,
    Printable,
    in_words,
    listed,
    paragraph,
    percent,
    signed,
    table_text,
)
from dse.search import Progress
from dse.simulation.pipeline import Passage, Traffic, arrivals, kinds, pass_through
from dse.simulation.traffic import traffic_of
from dse.study.study import Study

_BATCHES = 20
TIME_ROUNDING = 1e-14
"""Relative difference below which times since the first arrival are the same."""

NOISE = 1e-9
"""Relative error that rounding explains."""

DROPPED = 0.1
"""Share of the offloads that is omitted, in which lines still form."""

RARE = 0.01
LEAST, MOST = 20_000, 500_000
"""Least and most offloads of a simulation, unless the user gives a number."""

MOST_NAMED = 20_000_000
"""Most offloads that a user may ask for."""

WANTED = 0.05
"""Relative standard error of the mean wait that determines the number of offloads."""


class Seen(NamedTuple):
    """A number and its standard error, NaN if there are too few offloads."""

    value: float
    error: float


def enough(load: float, cv2: float, service_cv2: float) -> float:
    """Return how many offloads make the mean wait sure to `WANTED`.

    ``2 (c_a2 + c_s2) / (error (1 - load))^2``: neighbours wait for the same, the more so the fuller
    it is.

    References
    ----------
    Whitt, "Planning queueing simulations", Management Science 35, 1989.
    """
    return 2.0 * (cv2 + service_cv2) / (WANTED * max(1.0 - load, 1e-9)) ** 2


def measure(traffic: Traffic, passage: Passage) -> Mapping[str, Seen]:
    """Return the measures of ended offloads, by `dse.contract.Simulated`, by name."""
    first = int(len(passage.ended_s) * DROPPED)
    arrived, ended = passage.arrived_s[first:], passage.ended_s[first:]
    kind = passage.kind[first:]
    alone = np.array([one.alone_s for one in traffic.pipelines])
    bits = np.array([one.bits for one in traffic.pipelines])[kind]
    time = ended - arrived
    wait = time - alone[kind]
    rounding = TIME_ROUNDING * max(float(alone.max()), float(ended[-1]) if len(ended) else 0.0)
    wait = np.where(np.abs(wait) < rounding, 0.0, wait)
    seconds = np.diff(ended, prepend=ended[:1])

    def over_time(values: Column) -> Seen:
        return _ratio(values[1:], seconds[1:])

    draw, core_s = traffic.draw, passage.core_s[first:]
    joule = draw.always_w * seconds + draw.core_w * core_s + draw.bit_j * bits
    return {
        "rate": over_time(bits),
        "wait": _mean(wait),
        "time": _mean(time),
        "rare_time": _rare(time),
        "cores": over_time(core_s),
        "energy": _ratio(joule[1:], bits[1:]),
    }


def _ratio(values: Column, over: Column) -> Seen:
    """Return a sum over another."""
    pairs = np.stack([values, over])
    return _estimate(pairs, lambda rows: rows[0].sum(axis=-1) / rows[1].sum(axis=-1))


def _rare(time: Column) -> Seen:
    """Return the quantile q(p) that a share p = `RARE` of the offloads exceeds.

    Its error is ``(q(p - e) - q(p + e)) / 2`` with the standard error e of that share by batches
    (p - e at least p / 4).  The spread of the batches' quantiles would be 0.2 to 0.6 of it at
    loads from 0.8: rare offloads come together, and few batches have them.

    Two errors hold the mean of 60 seeds in 92 % of runs at loads of 0.5 and 0.7, in 85 % at 0.8
    and 0.9 and in 81 % at 0.95 (two designs, c_a^2 of 1 and 4, offloads `enough`), but in 45 % at
    0.99, at which `MOST` offloads are a thirtieth of `enough`, or less.
    """
    value = float(np.quantile(time, 1.0 - RARE)) if len(time) else math.nan
    if len(time) < _BATCHES / RARE:
        return Seen(value, math.nan)
    share = _mean(time > value).error
    below, above = np.quantile(time, 1.0 - RARE + np.array([-share, min(share, 0.75 * RARE)]))
    return _sure(value, float(above - below) / 2.0)


def _mean(values: NDArray[np.float64 | np.bool_]) -> Seen:
    return _estimate(values, lambda rows: rows.mean(axis=-1))


def _estimate(
    values: NDArray[Any], statistic: Callable[[NDArray[Any]], NDArray[np.float64] | np.float64]
) -> Seen:
    """Return a statistic of rows (..., n), and its error from the spread of batches."""
    count = values.shape[-1]
    size = count // _BATCHES
    if not count:
        return Seen(math.nan, math.nan)
    whole = float(statistic(values))
    if not size:
        return Seen(whole, math.nan)
    batches = values[..., : size * _BATCHES].reshape(*values.shape[:-1], _BATCHES, size)
    spread = float(np.std(np.asarray(statistic(batches)), ddof=1))
    return _sure(whole, spread / math.sqrt(_BATCHES))


def _sure(value: float, error: float) -> Seen:
    return Seen(value, error if error > NOISE * abs(value) else 0.0)


_HEADERS = ("quantity", "model", "simulation", "standard error", "model is", "in errors")


@dataclass(frozen=True)
class BothSides:
    """A quantity as the model has it, and as the simulation saw it."""

    measure: str
    quantity: str
    model: float
    simulated: float
    standard_error: float

    @property
    def difference(self) -> float | None:
        """Return the excess of the model relative to the simulation, None for nothing simulated."""
        known = math.isfinite(self.model) and math.isfinite(self.simulated) and self.simulated > 0
        return self.model / self.simulated - 1.0 if known else None

    @property
    def errors(self) -> float | None:
        """Return the model's distance in standard errors, None without an error."""
        error = self.standard_error
        return (self.model - self.simulated) / error if error > 0 else None

    @property
    def differs(self) -> bool:
        """Return whether the difference is worth a word."""
        return abs(self.difference or 0.0) > SEEN

    @property
    def shown(self) -> tuple[str, str, str]:
        """Return model, simulation and standard error with their unit."""
        model, seen, error = (
            units.show(one, self.quantity)
            for one in (self.model, self.simulated, self.standard_error)
        )
        return model, seen, error

    def row(self) -> tuple[str, ...]:
        """Return the cells of a table."""
        more = self.difference
        alike = more is not None and abs(more) < SHOWN_ROUNDING
        by = "the same" if alike else "" if more is None else signed(more)
        errors = "" if self.errors is None else f"{self.errors:+.1f}"
        return in_words(self.quantity), *self.shown, by, errors

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        numbers = asdict(self) | {"difference": self.difference, "errors": self.errors}
        return {name: numbers[name] for name in numbers if name not in ("measure", "quantity")}


@dataclass(frozen=True, repr=False)
class Simulation(Printable):
    """A simulation, and the model beside it.

    Attributes
    ----------
    design
        The design in one line.
    traffic
        Arrivals of offloads, and their path.
    compared
        Quantities of the model and of the simulation.
    seed
        Seed of the random draws.
    offloads
        Their number.
    enough
        Offloads that would make the mean wait sure to `WANTED`.
    time_s
        From arrival to end of each offload, in order of arrival.
    """

    design: str
    traffic: Traffic
    compared: tuple[BothSides, ...]
    seed: int
    offloads: int
    enough: float
    time_s: Column = field(repr=False)

    def text(self) -> str:
        """Return the comparison as a table, and the simulated traffic."""
        traffic = self.traffic
        arrivals = {0.0: "steady", 1.0: "Poisson"}.get(traffic.cv2, f"cv2 {traffic.cv2:g}")
        several = f" of {traffic.sizes} sizes" * (traffic.sizes > 1)
        loads = {name: busy * traffic.rate_hz for name, busy in traffic.busy_s.items()}
        shares = [f"{name} {percent(share)}" for name, share in loads.items() if share > 0]
        of = f"{self.offloads:,} offloads{several}, {arrivals} arrivals, seed {self.seed}"
        lines = [
            self.design,
            paragraph(f"{of}; the first tenth is discarded."),
            paragraph(f"Busy: {listed(shares)}."),
            table_text([one.row() for one in self.compared], _HEADERS),
        ]
        if self.offloads < self.enough:
            need = f"{self.enough:,.0f}" if self.enough < 1e12 else "far more"
            note = f"note: for ± {percent(WANTED)} on the mean wait: --offloads {need}; "
            lines.append(paragraph(f"{note}with fewer, errors are larger than printed", "  "))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "design": self.design,
            "offloads": self.offloads,
            "enough": self.enough,
            "seed": self.seed,
            "sizes": self.traffic.sizes,
            "arrivals_cv2": self.traffic.cv2,
            "arrivals_hz": self.traffic.rate_hz,
            "quantities": {one.quantity: one.to_dict() for one in self.compared},
        }


OFFLOADS = 50_000
"""Offloads that are simulated for an answer."""

SURE = 2.0
"""Least significant difference, in standard errors of the simulation."""

SEEN = 0.01
"""Relative difference below which an answer is silent."""

_MORE = "dse simulate --offloads"

SETTLED = {"time": 0.06, "cores": 0.06, "rare_time": 1.0}
"""Share of the offloads that are `enough` from which on batches know the error of a measure: those
that are one in a hundred come together, and few batches have them."""


def simulated(
    prepared: Study,
    index: Index,
    *,
    offloads: int | None,
    seed: int,
    progress: Progress | None,
) -> Simulation:
    """Return a simulation of the design (1, d) beside the values of the model.

    It has so many offloads, or as many as needed.

    Raises
    ------
    UnitError
        The study has no offloads, something that is not simulated, or they are too many.
    """
    if offloads is not None and offloads > MOST_NAMED:
        raise UnitError(f"{offloads:,} offloads are too many", f"ask for {MOST_NAMED:,} at most")
    traffic = traffic_of(prepared, index)
    needed = enough(traffic.load, traffic.cv2, traffic.service_cv2)
    count = offloads or math.ceil(min(max(needed, LEAST), MOST))
    passage, compared = _beside(prepared.problem, index, traffic, count, seed, progress)
    design, time = pick(prepared.problem, index[0]).line, passage.ended_s - passage.arrived_s
    return Simulation(design, traffic, compared, seed, count, needed, time)


def _beside(
    problem: Problem,
    index: Index,
    traffic: Traffic,
    count: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Passage, tuple[BothSides, ...]]:
    """Return the passage of offloads, beside the values of the model."""
    passage = pass_through(
        traffic.pipelines,
        kinds(shares=traffic.shares, count=count, seed=seed),
        arrivals(cv2=traffic.cv2, rate_hz=traffic.rate_hz, count=count, seed=seed),
        callback=lambda done: None if progress is None else progress(done, count),
    )
    described, seen = problem.describe(index), measure(traffic, passage)
    names = {one.simulated: one.name for one in problem.quantities if one.simulated}
    return passage, tuple(
        BothSides(one, names[one], float(described[names[one]][0]), *seen[one])
        for one in seen
        if one in names
    )


def _not_settled(traffic: Traffic, rest: list[BothSides]) -> list[str]:
    """Return a line that names what so few offloads do not settle, or none."""
    names = listed([in_words(one.quantity) for one in rest])
    start = f"At {percent(min(traffic.load, 1.0))} of what the design carries, {OFFLOADS:,}"
    return [f"{start} simulated offloads do not settle {names}: {_MORE}."] * bool(rest)


def simulation_section(prepared: Study, index: Index) -> Section | None:
    """Return the difference of the model of the design (1, d) from a simulation.

    None if neither arrivals nor sizes vary.
    """
    try:
        traffic = traffic_of(prepared, index)
    except UnitError as error:
        return Section("simulation", "Simulation", (f"Not simulated: {error.rule}.",), brief=())
    if not traffic.cv2 and len(traffic.pipelines) == 1:
        return None
    _, compared = _beside(prepared.problem, index, traffic, OFFLOADS)
    known = [one for one in compared if one.measure in SETTLED]
    return _agreement(prepared.problem, traffic, known)


def _agreement(problem: Problem, traffic: Traffic, known: list[BothSides]) -> Section:
    """Return which quantities a simulation settles, and which of them the model has otherwise."""
    needed = enough(traffic.load, traffic.cv2, traffic.service_cv2)
    settled = [one for one in known if SETTLED[one.measure] * needed <= OFFLOADS]
    rest = [one for one in known if one not in settled]
    in_use = [one for one in rest if one.quantity in problem.in_use and one.differs]
    apart = [_apart(one) for one in settled if one.differs and abs(one.errors or 0.0) > SURE]
    notes = [f"In a simulation of {OFFLOADS:,} offloads: {listed(apart)}."] * bool(apart)
    agrees = [f"A simulation of {OFFLOADS:,} offloads agrees with the model."] * bool(settled)
    lines = [*(notes or agrees), *_not_settled(traffic, rest)]
    brief = (*notes, *map(_roughly, in_use))
    facts = {
        "offloads": OFFLOADS,
        "load": traffic.load,
        "quantities": {one.quantity: one.to_dict() for one in settled},
        "unsettled": [one.quantity for one in rest],
    }
    return Section("simulation", "Simulation", tuple(lines), facts=facts, brief=brief)


def _apart(one: BothSides) -> str:
    model, seen, error = one.shown
    return f"{in_words(one.quantity)} {seen} +- {error} ({model} by the model)"


def _roughly(one: BothSides) -> str:
    """Return the value of a quantity of which too few offloads were simulated, in a sentence."""
    name, (model, seen, _) = in_words(one.quantity), one.shown
    return f"{name[0].upper()}{name[1:]} is about {seen} by simulation ({model} by the model)."

"""A simulation of one design beside the model: numbers, errors, differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.answers.design import pick
from dse.contract import ATTACHMENTS, SIZE, TRANSFERS, WAIT_MODES, Column
from dse.errors import UnitError
from dse.model.messages import filled_share, whole_tasks
from dse.model.mixed import TASKS_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import ALONE, Index
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
from dse.simulation.events import (
    Passage,
    arrivals,
    kinds,
    one_after_the_other,
    pass_through,
)
from dse.simulation.pipeline import Draw, Pipeline, Station, Traffic
from dse.study.study import Study

FRAME_BYTE = 2 + 2 + 4
"""Start symbols, sequence number, link check."""

ADDRESSED_BYTE, ANSWERING_BYTE = 16, 12
"""Header of a request with a 64-bit address, and of a completion with data."""

DESCRIPTOR_BYTE, WORD_BYTE = 16, 4


def wire_byte(columns: Mapping[str, float], size: float) -> tuple[float, float]:
    """Return the bytes to the device and to the host of an offload of so many bytes.

    The device reads the offload and, unless it is inline, writes a result of the same size.  A
    batch shares a doorbell, one fetch and one write-back of its descriptors, an interrupt, and the
    read of a head pointer.

    References
    ----------
    PCI Express base specification 5.0, for packets, and Neugebauer et al., SIGCOMM 2018,
    section 3, for a batch.
    """
    payload = columns["interface_max_payload_byte"]
    cut = min(payload, columns["interface_completion_byte"])

    def headers(byte: float, most: float, header: int) -> int:
        return math.ceil(byte / most) * (FRAME_BYTE + header)

    def requests(byte: float) -> float:
        return headers(byte, columns["interface_max_read_request_byte"], ADDRESSED_BYTE)

    def answered(byte: float) -> float:
        return headers(byte, cut, ANSWERING_BYTE) + byte

    def written(byte: float) -> float:
        return headers(byte, payload, ADDRESSED_BYTE) + byte

    batch, word = columns["interface_batch"], WORD_BYTE
    result = 0.0 if _inline(columns) else written(size)
    ring = DESCRIPTOR_BYTE * columns["interface_descriptors"] * batch
    to_device = written(word) + answered(ring) + requests(word)
    to_host = requests(ring) + written(ring) + written(word) + answered(word)
    return answered(size) + to_device / batch, requests(size) + result + to_host / batch


Columns = Mapping[str, float]
Stages = Mapping[str, list[float]]

STAGES = (
    "stage_capacity_bit_per_s",
    "stage_clocked",
    "stage_common",
    "stage_dynamic_energy_j_per_bit",
    "stage_latency_s",
    "stage_leakage_power_w",
    "stage_message_end_bit",
    "stage_payload_bit",
    "stage_read_byte_per_bit",
    "stage_round_bit",
    "stage_round_s",
    "stage_serial_tasks",
    "stage_written_byte_per_bit",
)
FILLED = "filled"
"""Key of the share of whole tasks that messages fill, among columns of stages."""

PACKETS, AGAIN = "interface_packet_byte_per_s", "interface_reread_ratio"
"""Keys of the rate of packets on PCI Express, and of the share of a record read again."""

RAREST = 1e-15
"""The least chance of a number of bytes read again that is simulated."""


def traffic_of(prepared: Study, index: Index) -> Traffic:
    """Return the traffic of one design (1, d): its arrivals, and their path.

    Raises
    ------
    UnitError
        The study has no offloads, or something that is not simulated.
    """
    problem = prepared.problem
    columns = {name: float(column[0]) for name, column in problem.space.columns(index).items()}
    fleets = problem.stage_columns(problem.space.columns(index), STAGES)
    unknown = (np.zeros(1),) * len(problem.stages)  # of power and memory, as to the model
    stages = {name: [float(one[0]) for one in fleets.get(name, unknown)] for name in STAGES}
    _refuse(columns, stages)
    if (index < 0).any():
        raise UnitError(f"{ALONE} offloads nothing", "name a design with instances")
    for one in problem.quantities:
        if one.simulated == "packet_rate":
            columns[PACKETS] = float(problem.columns(index, [one.name])[one.name][0])
    size, parts = np.full(1, columns.get(SIZE, 1.0)), problem.stages[0].messages
    ends = zip(stages["stage_payload_bit"], stages["stage_message_end_bit"], strict=True)
    stages[FILLED] = [float(filled_share(parts, {SIZE: size}, *end)[0]) for end in ends]
    mix = prepared.mix
    sizes, shares = ((columns[SIZE],), (1.0,)) if mix is None else (mix.sizes, mix.shares)
    passed = [
        (_pipeline(columns | {SIZE: size, AGAIN: again}, stages), share * chance)
        for size, share in zip(sizes, shares, strict=True)
        for again, chance in _again(columns, size).items()
    ]
    pipelines, chances = zip(*passed, strict=True)
    return Traffic(
        pipelines=pipelines,
        shares=chances,
        demand_bit_per_s=columns.get("workload_rate_bit_per_s", float("inf")),
        cv2=columns.get("workload_arrival_cv2", 0.0),
        draw=_draw(columns | {SIZE: max(sizes)}, stages),
    )


def _pipeline(columns: Columns, stages: Stages) -> Pipeline:
    """Return the pipeline of offloads of one size, in which writes take half a PCIe round trip."""
    clock = columns["interface_host_clock_hz"]

    def seconds(name: str, per: str = "") -> float:
        cycles = columns.get(f"interface_{name}_cycles{per}", 0.0)
        return cycles / clock + columns.get(f"interface_{name}_s{per}", 0.0)

    overhead, mode = seconds("overhead"), WAIT_MODES[int(columns["interface_wait"])]
    # the doorbell is written, then a descriptor is read if there is one, then the payload
    across = 0.5 + min(columns.get("interface_descriptors", 0.0), 1.0) + 1.0
    return Pipeline(
        slots=columns["interface_in_flight"],
        cores=columns["interface_host_cores"],
        sync=mode == "sync",
        overhead_s=overhead,
        core_s=overhead + (2.0 * seconds("switch") if mode == "sync_os" else 0.0),
        latency_s=seconds("latency") + across * seconds("round_trip"),
        stations=_stations(columns, stages, seconds("latency", "_per_byte")),
        bits=8.0 * columns[SIZE],
    )


def _refuse(columns: Columns, stages: Stages) -> None:
    """Raise UnitError if there is no pipeline, or only the equations define its clocks."""
    if "interface_in_flight" not in columns or not any(stages.values()):
        rule = "what is simulated are offloads, and this study has none"
        raise UnitError(rule, "give it stages and an interface")
    if columns.get(TASKS_OFFLOADED, 1.0) < 1:
        rule = "sizes that stay on the host are not simulated"
        raise UnitError(rule, "leave workload.offload_above out")
    if any(columns.get(f"interface_overhead_plus_latency_{unit}") for unit in ("cycles", "s")):
        rule = "a sum of overhead and latency is not simulated"
        raise UnitError(rule, "write overhead and latency in its place")
    if max(stages["stage_serial_tasks"]) > 1:
        rule = "streams of dependent tasks that share pipelines are not simulated"
        raise UnitError(rule, "set workload.streams=1, or workload.chained=false")
    if columns.get("budget_power_cap_w", float("inf")) < float("inf"):
        rule = "a power cap, under which clocks fall, is not simulated"
        raise UnitError(rule, "remove budget.power_cap")
    if max(stages["stage_common"]) > 0 and "workload_rate_bit_per_s" in columns:
        rule = "clocks that meet the rate are not simulated"
        raise UnitError(rule, "write `clock: 1`, or another fraction, in the stages")
    if math.isinf(min(stages["stage_capacity_bit_per_s"])):
        rule = "a whole accelerator, whose pipelines nobody knows, is not simulated"
        raise UnitError(rule, "describe it by `stages`")
    if min(stages["stage_capacity_bit_per_s"]) <= 0:
        raise UnitError("a stage of this design has no instances", "choose another design")


def _stations(columns: Columns, stages: Stages, byte_s: float) -> tuple[Station, ...]:
    """Return the stations behind the host: link, memory, every stage, link."""
    size = columns[SIZE]
    per_cycle = columns.get("interface_link_byte_per_cycle", float("inf"))
    cycled = per_cycle * columns["interface_host_clock_hz"]
    link_s = size / min(columns["interface_link_byte_per_s"], cycled)
    in_s = out_s = link_s
    if columns.get("interface_pcie", 0.0):
        in_s, out_s = (max(link_s, byte / columns[PACKETS]) for byte in wire_byte(columns, size))
    stored = columns["interface_transfer"] == TRANSFERS.index("store_and_forward")
    memory = columns.get("budget_memory_byte_per_s", float("inf"))
    found = [Station("latency per byte", byte_s * size, whole=True)] if byte_s else []
    found.append(Station("link in", in_s, whole=stored, again_s=columns[AGAIN] * in_s))
    found.append(Station("memory", 8.0 * size * _moved_byte(stages) / memory))
    found += _fleet(stages, 8.0 * size)
    if not _inline(columns):
        found.append(Station("link out", out_s, whole=stored))
        found.append(Station("last write", 0.0, columns.get("interface_round_trip_s", 0.0) / 2.0))
    return tuple(one for one in found if one.busy_s or one.fill_s)


def _inline(columns: Columns) -> bool:
    return columns.get("interface_attachment") == ATTACHMENTS.index("inline")


def _again(columns: Columns, size: float) -> Mapping[float, float]:
    """Return the chance of each share of a record that is read again: up to each
    segment that is sent again, independently of the others."""
    share = columns.get("interface_retransmit_share", 0.0) * _inline(columns)
    segment, chances, end = columns.get("interface_segment_byte", size), {0.0: 1.0}, 0.0
    while share and end < size:
        end = min(end + segment, size)
        for byte, chance in sorted(chances.items(), reverse=True):
            chances[byte] = (1.0 - share) * chance
            chances[byte + end] = chances.get(byte + end, 0.0) + share * chance
        chances = {byte: chance for byte, chance in chances.items() if chance > RAREST}
    return {byte / size: chance for byte, chance in chances.items()}


def _fleet(stages: Stages, bits: float) -> list[Station]:
    """Return the stages: each at its own clock, or all at the rate of the slowest."""
    found = []
    rates = _rates(stages)
    for number, rate in enumerate(rates):
        of = {name: stages[name][number] for name in (*STAGES, FILLED)}
        name = f"stage {number + 1}" if len(rates) > 1 else "fleet"
        round_bit, end, payload = (
            of[f"stage_{one}_bit"] for one in ("round", "message_end", "payload")
        )
        slower = of["stage_capacity_bit_per_s"] / rate
        before = max(float(whole_tasks(bits / 8.0, round_bit, end)) - 1.0, 0.0)
        busy = float(whole_tasks(bits / 8.0, payload, end)) * payload * of[FILLED] / rate
        first, last = (
            max(1.0 - before * round_bit / bits, 0.0),
            before * of["stage_round_s"] * slower,
        )
        filling = of["stage_latency_s"] * slower
        found.append(Station(name, busy, filling, first_round=first, last_round_s=last))
    return found


def _rates(stages: Stages) -> list[float]:
    """Return at which rate each stage streams while it is busy."""
    carried = stages["stage_capacity_bit_per_s"]
    slowest = min(carried)
    pairs = zip(carried, stages["stage_common"], strict=True)
    return [slowest if common else own for own, common in pairs]


def _moved_byte(stages: Stages) -> float:
    """Return bytes to and from memory for a bit of payload."""
    return stages["stage_read_byte_per_bit"][0] + stages["stage_written_byte_per_bit"][-1]


def _draw(columns: Columns, stages: Stages) -> Draw:
    """Return the draw of all parts: gated clocks switch with the payload, others all the time."""
    energy, clocked = stages["stage_dynamic_energy_j_per_bit"], stages["stage_clocked"]
    buffers = 2.0 * columns["interface_in_flight"] * 8.0 * columns[SIZE]  # input and output
    always = [
        *stages["stage_leakage_power_w"],
        *(e * c * rate for e, c, rate in zip(energy, clocked, _rates(stages), strict=True)),
        columns.get("interface_buffer_leakage_w_per_bit", 0.0) * buffers,
        columns.get("interface_idle_power_w", 0.0),
        columns.get("budget_constant_power_w", 0.0),
    ]
    of_bits = [
        *(e * (1.0 - c) for e, c in zip(energy, clocked, strict=True)),
        columns.get("budget_memory_j_per_byte", 0.0) * _moved_byte(stages),
        columns.get("interface_transfer_j_per_byte", 0.0) / 8.0,
        4.0 * columns.get("interface_buffer_j_per_bit", 0.0),  # in and out, written and read
    ]
    host = columns.get("interface_host_power_w", 0.0) / columns["interface_host_cores"]
    return Draw(sum(always), host, sum(of_bits))


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

WANTED = 0.05
"""Relative standard error of the mean wait that determines the number of offloads."""


@dataclass(frozen=True)
class Seen:
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
    simulated: Seen

    @property
    def difference(self) -> float | None:
        """Return the excess of the model relative to the simulation, None for nothing simulated."""
        seen = self.simulated.value
        known = math.isfinite(self.model) and math.isfinite(seen) and seen > 0
        return self.model / seen - 1.0 if known else None

    @property
    def errors(self) -> float | None:
        """Return the model's distance in standard errors, None without an error."""
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
    wanted, ended, events
        Requested and ended offloads, and the number of events.
    enough
        Offloads that would make the mean wait sure to `WANTED`.
    cut
        Reason of an early end, or empty.
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
        """Return the comparison as a table, and the simulated traffic."""
        rows = [tuple(_cells(entry)) for entry in self.compared]
        traffic = self.traffic
        arrivals = {0.0: "steady", 1.0: "Poisson"}.get(traffic.cv2, f"cv2 {traffic.cv2:g}")
        sizes = traffic.sizes
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
            table_text(rows, _HEADERS),
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
            "sizes": self.traffic.sizes,
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
    alike = more is not None and abs(more) < SHOWN_ROUNDING
    yield "the same" if alike else "" if more is None else signed(more)
    yield "" if entry.errors is None else f"{entry.errors:+.1f}"


EVENTS = 50_000_000

OFFLOADS = 50_000
"""Offloads that are simulated for an answer."""

SURE = 2.0
"""Least significant difference, in standard errors of the simulation."""

SEEN = 0.01
"""Relative difference below which an answer is silent."""

SETTLED = {"time": 0.06, "cores": 0.06, "rare_time": 1.0}
"""Share of the offloads that are `enough` from which on batches know the error of a measure: those
that are one in a hundred come together, and few batches have them."""


def both_sides(
    problem: Problem, index: Index, traffic: Traffic, passage: Passage
) -> tuple[BothSides, ...]:
    """Return the values of the model for a design (1, d) beside the simulated ones."""
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
    seed: int,
    progress: Progress | None,
) -> Simulation:
    """Return a simulation of the design (1, d) beside the values of the model.

    It has so many offloads, or as many as needed.

    Raises
    ------
    UnitError
        The study has no offloads, or something that is not simulated.
    """
    problem, traffic = prepared.problem, traffic_of(prepared, index)
    rate, cv2 = traffic.rate_hz, traffic.cv2
    needed = enough(rate / traffic.most_hz, cv2, traffic.service_cv2)
    count = offloads or math.ceil(min(max(needed, LEAST), MOST))
    passage = pass_through(
        traffic.pipelines,
        kinds(shares=traffic.shares, count=count, seed=seed),
        arrivals(cv2=cv2, rate_hz=rate, count=count, seed=seed),
        most_events=EVENTS,
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
    """Return the difference of the model of the design (1, d) from a simulation.

    None if neither arrivals nor sizes vary.
    """
    try:
        traffic = traffic_of(prepared, index)
    except UnitError as error:
        return Section("simulation", "Simulation", (f"Not simulated: {error.rule}.",), brief=())
    if not traffic.cv2 and len(traffic.pipelines) == 1:
        return None
    kind = kinds(shares=traffic.shares, count=OFFLOADS, seed=0)
    times = arrivals(cv2=traffic.cv2, rate_hz=traffic.rate_hz, count=OFFLOADS, seed=0)
    passage = one_after_the_other(traffic.pipelines, kind, times)
    load = traffic.rate_hz / traffic.most_hz
    needed = enough(load, traffic.cv2, traffic.service_cv2)
    compared = both_sides(prepared.problem, index, traffic, passage)
    known = [one for one in compared if one.measure in SETTLED]
    settled = [one for one in known if SETTLED[one.measure] * needed <= OFFLOADS]
    rest = [one for one in known if one not in settled]
    return _section(prepared.problem, settled, rest, load)


def _section(
    problem: Problem, settled: Sequence[BothSides], rest: Sequence[BothSides], load: float
) -> Section:
    """Return the differences of quantities that the offloads settle, and of the rest."""
    unsettled = [one.quantity for one in rest]
    apart = [_apart(one) for one in settled if _is_apart(one)]
    notes = [f"In a simulation of {OFFLOADS:,} offloads: {listed(apart)}."] if apart else []
    lines = [*notes, *_unsettled(unsettled, load)]
    if settled and not apart:
        lines.insert(0, f"A simulation of {OFFLOADS:,} offloads agrees with the model.")
    named = _named(problem)
    notes += [_roughly(one) for one in rest if one.quantity in named and _differs(one)]
    quantities = {one.quantity: one.to_dict() for one in settled}
    facts = {"offloads": OFFLOADS, "load": load, "quantities": quantities, "unsettled": unsettled}
    return Section("simulation", "Simulation", tuple(lines), facts=facts, brief=tuple(notes))


def _named(problem: Problem) -> set[str]:
    """Return the quantities that the objectives and constraints of a study name."""
    rules = [name for rule in problem.constraints for name in rule.names]
    return {*rules, *(goal.name for goal in problem.goals)}


def _unsettled(names: Sequence[str], load: float) -> Iterator[str]:
    """Yield a sentence on quantities of which too few offloads were simulated."""
    if names:
        yield (
            f"At {percent(min(load, 1.0))} of what the design carries, {OFFLOADS:,} simulated "
            f"offloads do not settle {listed([in_words(name) for name in names])}: "
            "dse simulate --offloads."
        )


def _roughly(one: BothSides) -> str:
    """Return the value of a quantity of which too few offloads were simulated, in a sentence."""
    seen, model = (units.show(value, one.quantity) for value in (one.simulated.value, one.model))
    name = in_words(one.quantity)
    return f"{name[0].upper()}{name[1:]} is about {seen} by simulation ({model} by the model)."


def _is_apart(one: BothSides) -> bool:
    """Return whether a difference is worth a word, beyond the simulation's error."""
    return _differs(one) and abs(one.errors or 0.0) > SURE


def _differs(one: BothSides) -> bool:
    return abs(one.difference or 0.0) > SEEN


def _apart(one: BothSides) -> str:
    seen = one.simulated
    value, error, model = (
        units.show(number, one.quantity) for number in (seen.value, seen.error, one.model)
    )
    return f"{in_words(one.quantity)} {value} +- {error} ({model} by the model)"

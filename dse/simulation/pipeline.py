"""The pipeline that offloads pass, with times in seconds: what is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from dse.contract import TRANSFERS, WAIT_MODES
from dse.errors import UnitError
from dse.model.mixed import TASKS_OFFLOADED
from dse.model.problem import Problem
from dse.model.space import Index


@dataclass(frozen=True)
class Station:
    """One server that takes offloads in order of arrival.

    Attributes
    ----------
    name
        What it is called in words.
    busy_s
        For how long it is busy with an offload that comes at once.
    fill_s
        From the first bit in to the first bit out.
    whole
        It waits for the last bit before it starts, and the next one for its last bit.
    """

    name: str
    busy_s: float
    fill_s: float = 0.0
    whole: bool = False


@dataclass(frozen=True)
class Pipeline:
    """Slots, host cores, and the stations behind them; all offloads are of one size.

    Attributes
    ----------
    slots, cores
        Offloads that may be under way, and host cores.
    sync
        A core is held until the offload has ended.
    overhead_s, core_s
        Time on a core before an offload leaves it, and for how long it is held unless `sync`.
    latency_s
        Delay that keeps nothing busy.
    stations
        In the order in which they are passed.
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
        """Time of one offload that meets no other."""
        first = last = self.overhead_s + self.latency_s
        for station in self.stations:
            start = last if station.whole else first
            end = max(start + station.busy_s, last)
            first, last = passed(station, start, end)
        return last

    @property
    def most_hz(self) -> float:
        """Offloads per second at which the busiest part is busy all the time."""
        return 1.0 / max(self.busy_s.values())

    @property
    def busy_s(self) -> Mapping[str, float]:
        """Time for which each part is busy with one offload, over its servers."""
        places = min(self.slots, self.cores) if self.sync else self.slots
        found = {station.name: station.busy_s for station in self.stations}
        found["offload slots"] = self.alone_s / places
        if not self.sync:
            found["host cores"] = self.core_s / self.cores
        return found


def passed(station: Station, start: float, end: float) -> tuple[float, float]:
    """Return when the first and the last bit leave a station that is busy from start to end."""
    last = end + station.fill_s
    return (last, last) if station.whole else (start + station.fill_s, last)


def pipeline_of(problem: Problem, index: Index) -> tuple[Pipeline, float, float]:
    """Return the pipeline of one design (1, d), the demanded rate in bit/s, and its arrivals.

    The rate is infinite where none is demanded; arrivals are the squared coefficient of variation
    of the gaps between them, 0 where the study does not say.

    Raises
    ------
    UnitError
        The study has no offloads, or something that is not simulated.
    """
    columns = {name: float(column[0]) for name, column in problem.space.columns(index).items()}
    fleets = problem.stage_columns(problem.space.columns(index), STAGES)
    stages = {name: [float(one[0]) for one in fleets[name]] for name in STAGES if name in fleets}
    _refuse(columns, stages)
    clock = columns["interface_host_clock_hz"]

    def seconds(name: str, per: str = "") -> float:
        cycles = columns.get(f"interface_{name}_cycles{per}", 0.0)
        return cycles / clock + columns.get(f"interface_{name}_s{per}", 0.0)

    overhead, mode = seconds("overhead"), WAIT_MODES[int(columns["interface_wait"])]
    found = Pipeline(
        slots=columns["interface_in_flight"],
        cores=columns["interface_host_cores"],
        sync=mode == "sync",
        overhead_s=overhead,
        core_s=overhead + (2.0 * seconds("switch") if mode == "sync_os" else 0.0),
        latency_s=seconds("latency"),
        stations=_stations(columns, stages, seconds("latency", "_per_byte")),
        bits=8.0 * columns["workload_granularity_byte"],
    )
    rate = columns.get("workload_rate_bit_per_s", float("inf"))
    return found, rate, columns.get("workload_arrival_cv2", 0.0)


STAGES = (
    "stage_capacity_bit_per_s",
    "stage_latency_s",
    "stage_read_byte_per_bit",
    "stage_serial_tasks",
    "stage_written_byte_per_bit",
)


def _refuse(columns: Mapping[str, float], stages: Mapping[str, list[float]]) -> None:
    """Raise for what has no pipeline, or one whose clocks only the equations know."""
    if "interface_in_flight" not in columns or not stages:
        rule = "what is simulated are offloads, and this study has none"
        raise UnitError(rule, "give it stages and an interface")
    if columns.get(TASKS_OFFLOADED, 1.0) < 1:
        rule = "sizes that stay on the host are not simulated"
        raise UnitError(rule, "write one size, without workload.offload_above")
    if columns.get("workload_size_cv2", 0.0) > 0:
        raise UnitError("offloads of several sizes are not simulated", "write one size")
    if {"interface_pcie", "interface_round_trip_s"} & {*columns}:
        rule = "packets and round trips of PCI Express are not simulated"
        raise UnitError(rule, "write link and latency in their place")
    if "interface_overhead_share" in columns:
        rule = "a sum of overhead and latency is not simulated"
        raise UnitError(rule, "write overhead and latency in its place")
    if max(stages["stage_serial_tasks"]) > 1:
        rule = "streams of dependent tasks that share pipelines are not simulated"
        raise UnitError(rule, "set workload.streams=1, or workload.chained=false")
    if columns.get("budget_power_cap_w", float("inf")) < float("inf"):
        rule = "a power cap, under which clocks fall, is not simulated"
        raise UnitError(rule, "remove budget.power_cap")
    if columns.get("workload_meet", 0.0) > 0:
        rule = "clocks that meet the rate are not simulated"
        raise UnitError(rule, "write `clock: 1`, or another fraction, in the stages")
    if min(stages["stage_capacity_bit_per_s"]) <= 0:
        raise UnitError("a stage of this design has no instances", "choose another design")


def _stations(
    columns: Mapping[str, float], stages: Mapping[str, list[float]], byte_s: float
) -> tuple[Station, ...]:
    """Return what an offload passes behind the host: link, memory, every stage, link."""
    size = columns["workload_granularity_byte"]
    per_cycle = columns.get("interface_link_byte_per_cycle", float("inf"))
    cycled = per_cycle * columns["interface_host_clock_hz"]
    link_s = size / min(columns["interface_link_byte_per_s"], cycled)
    stored = columns["interface_transfer"] == TRANSFERS.index("store_and_forward")
    traffic = stages["stage_read_byte_per_bit"][0] + stages["stage_written_byte_per_bit"][-1]
    memory = columns.get("budget_memory_byte_per_s", float("inf"))
    found = [Station("latency per byte", byte_s * size, whole=True)] if byte_s else []
    found.append(Station("link in", link_s, whole=stored))
    found.append(Station("memory", 8.0 * size * traffic / memory))
    found += _fleet(columns, stages, 8.0 * size)
    found.append(Station("link out", link_s, whole=stored))
    return tuple(one for one in found if one.busy_s or one.fill_s)


def _fleet(
    columns: Mapping[str, float], stages: Mapping[str, list[float]], bits: float
) -> list[Station]:
    """Return the stages: each at its own clock, or all at the rate of the slowest."""
    carried = stages["stage_capacity_bit_per_s"]
    common = columns.get("workload_common", 0.0) > 0
    found = []
    for number, (capacity, latency) in enumerate(
        zip(carried, stages["stage_latency_s"], strict=True), start=1
    ):
        rate = min(carried) if common else capacity
        name = f"stage {number}" if len(carried) > 1 else "fleet"
        found.append(Station(name, bits / rate, latency * (capacity / rate)))
    return found

"""The quantities of a chain worked out one design at a time, without arrays.

The oracle follows docs/models/: rates of the pipelines are found by bisection, not solved for.
"""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from dse.contract import PCIE_LINKS, TRANSFERS, WAIT_MODES, Objective
from dse.plugins import registry
from tests.objectives.packets import TO_DEVICE, TO_HOST, batch, counted, packet_rate
from tests.objectives.waiting_oracle import waits

QUANTITIES = {
    name: record
    for name, record in registry.records(Objective).items()
    if not record.function.__module__.endswith(("platform_limits", "inline"))
}
ARGUMENTS = {
    name: inspect.signature(record.function).parameters for name, record in QUANTITIES.items()
}
GENERATIONS = ("gen2", "gen3", "gen4")
LABELS = ("compute", "link", "power", "offload", "dependence")
inf = math.inf


def evaluated(columns: dict[str, Any]) -> dict[str, Any]:
    """Return every quantity, wired by argument names; what nothing gives keeps its default."""
    columns = dict(columns)
    left = {name for name in QUANTITIES if name not in columns}
    while left:
        for name in [name for name in left if not left & set(ARGUMENTS[name])]:
            left.discard(name)
            asked = ARGUMENTS[name]
            given = {argument: columns[argument] for argument in asked if argument in columns}
            needed = {a for a, one in asked.items() if one.default is inspect.Parameter.empty}
            if needed <= set(given):
                with np.errstate(all="ignore"):  # as the engine does
                    columns[name] = QUANTITIES[name](**given)
    return columns


def design(random: np.random.Generator) -> dict[str, Any]:
    """Return the inputs of one design, drawn so that each limit has its turn."""

    def drawn(low: float, high: float) -> float:
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    def stage() -> dict[str, float]:
        peak = drawn(1e9, 1e11)
        serial = random.choice([1.0, 1.0, 4.0])
        together = 64.0 * float(random.integers(1, 256))
        uneven = float(random.choice([1.0, random.uniform(1.0, 3.0)]))  # of a fleet that mixes
        return {
            "instances": float(random.integers(1, 9)),
            "area_m2": drawn(1e-9, 1e-6),
            "peak_bit_per_s": peak,
            "capacity_bit_per_s": peak * (1.0 if serial == 1 else random.uniform(0.2, 1.0)),
            "serial_tasks": float(serial),
            "latency_s": drawn(1e-8, 1e-5),
            "tasks_in_flight": float(random.integers(1, 64)),
            "read_byte_per_bit": random.uniform(0.1, 0.5),
            "written_byte_per_bit": random.uniform(0.1, 0.5),
            "extrapolated": float(random.integers(0, 2)),
            "leakage_power_w": drawn(1e-5, 1e-3),
            "dynamic_energy_j_per_bit": drawn(1e-14, 1e-12),
            "clocked": float(random.integers(0, 2)),
            "common": float(random.integers(0, 2)),
            "clock_hz": drawn(1e8, 1e9),
            "clock_limit": random.uniform(0.5, 1.0),
            "payload_bit": float(random.choice([64, 4096])),
            "filled": 0.5,
            "message_end_bit": float(random.choice([0, 65, 128])),
            "start_task_per_s": peak / 32,
            "round_bit": together,
            "round_s": together / peak * uneven,
        }

    offloaded = float(random.choice([1.0, random.uniform(0.3, 1.0)]))
    return {
        "stages": [stage() for _ in range(random.integers(1, 4))],
        "workload_tasks_offloaded": offloaded,
        "workload_payload_offloaded": offloaded ** float(random.uniform(0.0, 1.0)),
        "workload_rate_bit_per_s": drawn(1e8, 1e11),
        "workload_granularity_byte": float(int(drawn(64, 1e5))),
        "workload_arrival_cv2": float(random.choice([0.0, 0.5, 1.0, 4.0])),
        "kernel_index_s_per_byte": drawn(1e-10, 1e-8),
        "kernel_exponent": random.uniform(1.0, 2.0),
        "kernel_offset_s": drawn(1e-8, 1e-6),
        "interface_overhead_cycles": drawn(10, 1e4),
        "interface_overhead_s": drawn(1e-9, 1e-6),
        "interface_latency_cycles": drawn(10, 1e4),
        "interface_latency_s": drawn(1e-9, 1e-6),
        "interface_latency_cycles_per_byte": drawn(1e-2, 1.0),
        "interface_latency_s_per_byte": drawn(1e-11, 1e-9),
        "interface_host_clock_hz": drawn(1e9, 4e9),
        "interface_link_byte_per_s": drawn(1e8, 1e11),
        "interface_link_byte_per_cycle": drawn(0.1, 64),
        "interface_transfer": float(random.integers(0, len(TRANSFERS))),
        "interface_in_flight": float(random.choice([1, 2, 8, 64])),
        "interface_wait": float(random.integers(0, len(WAIT_MODES))),
        "interface_switch_cycles": drawn(10, 1e4),
        "interface_switch_s": drawn(1e-9, 1e-6),
        "interface_host_power_w": drawn(10, 100),
        "interface_host_cores": float(random.integers(1, 64)),
        "interface_buffer_area_m2_per_bit": drawn(1e-14, 1e-12),
        "interface_buffer_leakage_w_per_bit": drawn(1e-12, 1e-10),
        "interface_overhead_plus_latency_cycles": drawn(1, 1e3),
        "interface_overhead_plus_latency_s": drawn(1e-9, 1e-6),
        "interface_overhead_share": random.uniform(0.1, 1.5),
        "interface_round_trip_s": drawn(1e-8, 1e-6),
        "interface_pcie": float(PCIE_LINKS.index(f"{random.choice(GENERATIONS)} x8")),
        "interface_max_payload_byte": 256.0,
        "interface_max_read_request_byte": float(random.choice([128, 512, 4096])),
        "interface_completion_byte": float(random.choice([64, 4096])),
        "interface_descriptors": float(random.integers(0, 4)),
        "interface_batch": float(random.integers(1, 33)),
        "interface_idle_power_w": drawn(1e-3, 10),
        "interface_buffer_j_per_bit": drawn(1e-14, 1e-12),
        "interface_transfer_j_per_byte": drawn(1e-12, 1e-10),
        "interface_attachment_area_m2": drawn(1e-9, 1e-6),
        "budget_memory_byte_per_s": drawn(1e8, 1e11),
        "budget_memory_j_per_byte": drawn(1e-12, 1e-10),
        "budget_power_cap_w": drawn(1e-3, 1.0),
        "budget_constant_power_w": drawn(1e-5, 1e-3),
    }


Stage = SimpleNamespace


def linked(of: dict[str, Any]) -> dict[str, float]:
    """Return what a link of PCI Express carries, by counting the packets of a batch."""
    g, most = of["workload_granularity_byte"], int(of["interface_max_payload_byte"])
    offloads = int(of["interface_batch"])
    link = PCIE_LINKS[int(of["interface_pcie"])]
    moved = counted(
        batch(
            int(g),
            payload=most,
            request=int(of["interface_max_read_request_byte"]),
            completion=int(of["interface_completion_byte"]),
            descriptors=int(of["interface_descriptors"]),
            offloads=offloads,
        )
    )
    found = {
        "pcie_packet_byte_per_s": packet_rate(link, most),
        "pcie_to_device_byte": moved[TO_DEVICE] / offloads,
        "pcie_to_host_byte": moved[TO_HOST] / offloads,
        "round_trips_s": (3 if of["interface_descriptors"] else 2) * of["interface_round_trip_s"],
    }
    fuller = max(found["pcie_to_device_byte"], found["pcie_to_host_byte"])
    found["pcie_payload_bit_per_s"] = 8 * g * found["pcie_packet_byte_per_s"] / fuller
    return found


def offloads(of: dict[str, Any], stages: list[Stage], found: dict[str, float]) -> dict[str, float]:
    """Return what offloads are made of: time outside, and per byte through link and memory."""
    clock, g = of["interface_host_clock_hz"], of["workload_granularity_byte"]
    stored = of["interface_transfer"] == TRANSFERS.index("store_and_forward")
    cycle_link = of["interface_link_byte_per_cycle"] * clock
    packets = linked(of)
    stated = 8 * min(of["interface_link_byte_per_s"], cycle_link)
    link = min(stated, packets["pcie_payload_bit_per_s"])
    memory = of["budget_memory_byte_per_s"] / found["memory_byte_per_bit"]
    overhead, fixed, byte = (
        of[f"interface_{name}_cycles{per}"] / clock + of[f"interface_{name}_s{per}"]
        for name, per in (("overhead", ""), ("latency", ""), ("latency", "_per_byte"))
    )
    storing = 16 / link if stored else 0.0
    both = of["interface_overhead_plus_latency_cycles"] / clock
    both += of["interface_overhead_plus_latency_s"]
    part = min(1, of["interface_overhead_share"]) * both
    overhead, fixed = overhead + part, fixed + both - part + packets["round_trips_s"]
    return packets | {
        "overhead_s": overhead,
        "fixed_latency_s": fixed,
        "latency_s_per_byte": byte,
        "link_bit_per_s": link,
        "link_limit_bit_per_s": min(link, 8 / byte),
        "memory_limit_bit_per_s": memory,
        "storing_s_per_byte": storing,
        "passing_s_per_byte": 8 / memory if stored else 8 / min(link, memory),
        "transfer_s": overhead + fixed + (byte + storing) * g,
        "host_time_s": of["kernel_offset_s"]
        + of["kernel_index_s_per_byte"] * g ** of["kernel_exponent"],
        "buffer_bit": 16 * of["interface_in_flight"] * g,
    }


def earlier_rounds(stage: Stage, g: float) -> int:
    """Return how many rounds of tasks start before the last one."""
    whole, rest = divmod(8 * g + stage.message_end_bit, stage.round_bit)
    return max(0, round(float(whole)) - int(rest == 0))


def streamed_of(g: float, stages: list[Stage]) -> float:
    """Return the bits that a message streams: in the part of its last task that it fills."""
    return max(streamed_in(g, stage) for stage in stages)


def streamed_in(g: float, stage: Stage) -> float:
    """Return the same of one stage."""
    return min(8 * g, (8 * g + stage.message_end_bit) * stage.filled)


def inside_s(of: dict[str, Any], found: dict[str, float], at: float, passing: float) -> float:
    """Return the time of an offload from its first bit into the pipelines to its last one out."""
    g, stages = of["workload_granularity_byte"], [Stage(**one) for one in of["stages"]]
    filled = found["own_fill_s"] + found["common_fill_bit"] / at
    rounds = rounds_of(g, stages, passing, found["power_limit_bit_per_s"])
    shared = min(rounds["common_rounds_bit"], 8 * g)
    last = rounds["rounds_s"] + max(g * passing, shared / at + (g - shared / 8) * passing)
    streamed = max(streamed_of(g, stages) / at, g * passing)
    return max(filled + min(last, streamed), 8 * g / at * found["serial_tasks"])


def least_rate(of: dict[str, Any], found: dict[str, float]) -> float:
    """Return the least rate of the pipelines at which the offloads deliver the throughput."""
    k, g = of["interface_in_flight"], of["workload_granularity_byte"]
    spare = k * 8 * g / found["throughput_bit_per_s"] - found["transfer_s"]

    def late(at: float) -> bool:
        return inside_s(of, found, at, found["passing_s_per_byte"]) > spare

    low, high = 1.0, 1e30
    if late(high):
        return inf
    for _ in range(300):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if late(middle) else (low, middle)
    return high


def expected(of: dict[str, Any]) -> dict[str, float]:
    """Return the quantities of one design, by loops over its stages."""
    stages = [Stage(**figures) for figures in of["stages"]]
    common, meet = all(s.common for s in stages), any(s.common for s in stages)
    found = {
        "clocks_meet": float(meet),
        "clocks_common": float(common),
        "instances": sum(s.instances for s in stages),
        "fleet_area_m2": sum(s.area_m2 for s in stages),
        "capacity_bit_per_s": min(s.capacity_bit_per_s for s in stages),
        "peak_bit_per_s": min(s.peak_bit_per_s for s in stages),
        "serial_tasks": max(s.serial_tasks for s in stages),
        "fill_bit": sum(s.latency_s * s.capacity_bit_per_s for s in stages),
        "chain_latency_s": sum(s.latency_s for s in stages),
        "tasks_in_flight": max(s.tasks_in_flight for s in stages),
        "memory_byte_per_bit": stages[0].read_byte_per_bit + stages[-1].written_byte_per_bit,
        "extrapolated": max(s.extrapolated for s in stages),
        "dynamic_energy_j_per_bit": sum(s.dynamic_energy_j_per_bit for s in stages),
        "gated_energy_j_per_bit": sum(s.dynamic_energy_j_per_bit for s in stages if not s.clocked),
        "clocked_energy_j_per_bit": sum(
            s.dynamic_energy_j_per_bit for s in stages if s.clocked and s.common
        ),
    }
    found |= offloads(of, stages, found)
    buffers = found["buffer_bit"]
    found["buffer_area_m2"] = buffers * of["interface_buffer_area_m2_per_bit"]
    silicon = found["fleet_area_m2"] + found["buffer_area_m2"]
    found["area_m2"] = silicon + of["interface_attachment_area_m2"]
    found["buffer_leakage_power_w"] = buffers * of["interface_buffer_leakage_w_per_bit"]
    leakage = sum(s.leakage_power_w for s in stages) + found["buffer_leakage_power_w"]
    found["leakage_power_w"] = leakage
    found["memory_energy_j_per_bit"] = found["memory_byte_per_bit"] * of["budget_memory_j_per_byte"]
    usable = max(0.0, of["budget_power_cap_w"] - of["budget_constant_power_w"] - leakage)
    energy = found["dynamic_energy_j_per_bit"] + found["memory_energy_j_per_bit"]
    energy += 2 * (1 + 1) * of["interface_buffer_j_per_bit"]  # in and out, written and read
    cap = found["power_limit_bit_per_s"] = usable / energy
    slower = [max(1.0, s.capacity_bit_per_s / cap) if cap else inf for s in stages]
    own = [(s, by) for s, by in zip(stages, slower, strict=True) if not s.common]
    found["throttled_s"] = sum(s.latency_s * (by - 1) for s, by in own)
    found["own_latency_s"] = sum(s.latency_s for s, _ in own)
    found["own_fill_s"] = sum(s.latency_s * by for s, by in own)
    found["common_fill_bit"] = sum(s.latency_s * s.capacity_bit_per_s for s in stages if s.common)
    g = of["workload_granularity_byte"]
    found |= rounds_of(g, stages, found["passing_s_per_byte"], cap)
    found["own_power_w"] = sum(
        s.dynamic_energy_j_per_bit * min(s.capacity_bit_per_s, cap) for s, _ in own if s.clocked
    )
    return found | rates(of, stages, found, meet=meet, common=common)


def rounds_of(g: float, stages: list[Stage], passing: float, cap: float) -> dict[str, float]:
    """Return what the rounds of all stages take."""
    own = longer = shared = 0.0
    for s in stages:
        rounds = earlier_rounds(s, g)
        if s.common:
            shared += min(rounds * s.round_s * s.capacity_bit_per_s, streamed_in(g, s))
            continue
        late = passing if len(stages) == 1 else 0.0
        part = s.filled / s.capacity_bit_per_s
        streamed_s = min(
            8 * g * max(0.0, 1 / s.capacity_bit_per_s - late / 8),
            8 * g * max(0.0, part - late / 8) + s.message_end_bit * part,
        )
        own += min(rounds * max(0.0, s.round_s - s.round_bit * late / 8), streamed_s)
        if rounds and cap < s.capacity_bit_per_s:
            of_rounds = min(rounds * s.round_s, streamed_in(g, s) / s.capacity_bit_per_s)
            longer += of_rounds * (s.capacity_bit_per_s / cap - 1) if cap else inf
    return {
        "own_rounds_s": own,
        "throttled_rounds_s": longer,
        "rounds_s": own + longer,
        "common_rounds_bit": shared,
        "streamed_bit": streamed_of(g, stages),
    }


def rates(
    of: dict[str, Any], stages: list[Stage], found: dict[str, float], *, meet: bool, common: bool
) -> dict[str, float]:
    """Return the rates of a design, the clocks at which it runs, and its power."""
    found, k, g = dict(found), of["interface_in_flight"], of["workload_granularity_byte"]
    capacity, cap = found["capacity_bit_per_s"], found["power_limit_bit_per_s"]
    most = found["stream_limit_bit_per_s"] = min(capacity, cap)
    inside = inside_s(of, found, most, found["passing_s_per_byte"]) if most else inf
    offload = found["offload_limit_bit_per_s"] = k * 8 * g / (found["transfer_s"] + inside)
    link, memory = found["link_limit_bit_per_s"], found["memory_limit_bit_per_s"]
    chained = found["dependence_limit_bit_per_s"] = (
        capacity if capacity < found["peak_bit_per_s"] else inf
    )
    in_order = [found["peak_bit_per_s"], min(link, memory), cap, offload, chained]
    found["bound"] = float(in_order.index(min(in_order)))
    limit = found["rate_limit_bit_per_s"] = min(capacity, cap, link, memory, offload)
    demand = of["workload_rate_bit_per_s"] * of["workload_payload_offloaded"]
    found["demand_bit_per_s"] = demand
    reached = found["throughput_bit_per_s"] = min(limit, demand)
    if not reached:
        return found  # nothing runs; times are endless
    if reached == offload and meet:
        return found  # nothing is spare: the least clock is a matter of rounding
    if reached < offload:
        found["offload_stream_bit_per_s"] = least_rate(of, found)
    met = max(reached, found["offload_stream_bit_per_s"]) if meet else inf
    found["met_rate_bit_per_s"] = met
    stream = found["stream_rate_bit_per_s"] = min(met, most)
    found["accelerator_s"] = inside_s(of, found, stream, 0.0)
    latency = found["transfer_s"] + inside_s(of, found, stream, found["passing_s_per_byte"])
    found["offload_latency_s"] = latency
    found["acceleration"] = found["host_time_s"] / found["accelerator_s"]
    found["speedup"] = found["host_time_s"] / latency
    clocked = found["clocked_rate_bit_per_s"] = stream if common else cap
    share = [min(1.0, (stream if s.common else clocked) / s.capacity_bit_per_s) for s in stages]
    found["clock_hz"] = max(s.clock_hz * by for s, by in zip(stages, share, strict=True))
    found["clock_fraction"] = max(s.clock_limit * by for s, by in zip(stages, share, strict=True))
    found["utilisation"] = reached / capacity
    found["task_throughput_task_per_s"] = reached / (stages[0].payload_bit * stages[0].filled)
    found |= stays(of, found)
    found |= waits(of, found)
    if found["offload_arrival_cv2"] and any(
        abs(found[f"{station}_load"] - 1) < 1e-6 for station in ("fleet", "link", "slot", "host")
    ):
        return {
            name: value
            for name, value in found.items()
            if "wait" not in name and "_p99" not in name and "_mean" not in name
        }  # on the edge of forever
    return found | powers(of, stages, found)


def stays(of: dict[str, Any], found: dict[str, float]) -> dict[str, float]:
    """Return what tasks that stay on the host take of it, and what they leave."""
    part = of["workload_tasks_offloaded"]
    offloads_per_s = found["throughput_bit_per_s"] / (8 * of["workload_granularity_byte"])
    tasks_per_s = offloads_per_s / part
    cores = (tasks_per_s - offloads_per_s) * found["host_time_s"]
    each = of["interface_host_power_w"] / of["interface_host_cores"]
    return {
        "staying_time_s": cores / offloads_per_s,
        "staying_cores": cores,
        "staying_power_w": cores * each,
        "free_host_cores": max(0.0, of["interface_host_cores"] - cores),
        # a gap is a geometric number of gaps
        "offload_arrival_cv2": part * of["workload_arrival_cv2"] + 1 - part,
    }


def powers(of: dict[str, Any], stages: list[Stage], found: dict[str, float]) -> dict[str, float]:
    """Return the powers of a design that runs."""
    reached, stream = found["throughput_bit_per_s"], found["stream_rate_bit_per_s"]
    per_s = reached / (8 * of["workload_granularity_byte"])
    switch = of["interface_switch_cycles"] / of["interface_host_clock_hz"]
    switches = 2 * (switch + of["interface_switch_s"])
    busy = {
        "sync": found["taken_slots"] / per_s if per_s else 0.0,
        "sync_os": found["overhead_s"] + switches,
        "async": found["overhead_s"],
    }[WAIT_MODES[int(of["interface_wait"])]]
    cores = per_s * busy + found["staying_cores"]
    host_w = cores * of["interface_host_power_w"] / of["interface_host_cores"]
    gated = reached * found["gated_energy_j_per_bit"]
    clocked = stream * found["clocked_energy_j_per_bit"]
    memory = reached * found["memory_energy_j_per_bit"]
    own = found["own_power_w"]
    buffered = 2 * (1 + 1) * of["interface_buffer_j_per_bit"] * reached
    power_w = found["leakage_power_w"] + gated + clocked + own + buffered
    per_byte = of["interface_transfer_j_per_byte"]
    attached = of["interface_idle_power_w"] + per_byte * reached / 8
    all_bit_per_s = reached / of["workload_payload_offloaded"]
    whole = power_w + host_w + memory + attached + of["budget_constant_power_w"]
    return {
        "offload_cores": per_s * busy,
        "host_cores": cores,
        "host_power_w": host_w,
        "gated_power_w": gated,
        "clocked_power_w": clocked,
        "dynamic_power_w": gated + clocked + own,
        "base_power_w": sum(s.leakage_power_w for s in stages) + gated,
        "memory_power_w": memory,
        "power_w": power_w,
        "attachment_power_w": attached,
        "total_power_w": whole,
        "energy_j_per_bit": whole / all_bit_per_s,
        "task_energy_j": whole / (all_bit_per_s / (stages[0].payload_bit * stages[0].filled)),
    }


def columns_of(one: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a design as the engine gives them."""
    columns: dict[str, Any] = {
        name: np.array([value]) for name, value in one.items() if name != "stages"
    }
    columns["stage_alone"] = (np.array([float(len(one["stages"]) == 1)]),) * len(one["stages"])
    for name in one["stages"][0]:
        columns[f"stage_{name}"] = tuple(np.array([stage[name]]) for stage in one["stages"])
    return columns


def host_less_offload_s(one: dict[str, Any], found: dict[str, float], g: float) -> float:
    """Return how much longer the host takes than an offload of another granularity."""
    at = {**one, "workload_granularity_byte": g}
    per_byte = found["latency_s_per_byte"] + found["storing_s_per_byte"]
    outside = found["overhead_s"] + found["fixed_latency_s"] + per_byte * g
    stream = found["stream_rate_bit_per_s"]
    offload = outside + inside_s(at, found, stream, found["passing_s_per_byte"])
    alone = one["kernel_offset_s"] + one["kernel_index_s_per_byte"] * g ** one["kernel_exponent"]
    return alone - offload

"""Requirements of every design of a system by its study, and rules for any design (guards).

A requirement returns the relative excess over a bound, at most 0 if it is met.  A
guard returns the relative difference of its terms: if they differ, a model is broken.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from dse.contract import WAIT_MODES, Column, Falling, Rising, guard, requirement
from dse.objectives.system.fleet import Stages, largest, least, total
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.power import ACCESSES

_LIMITS = (
    "rate_limit_bit_per_s",
    "capacity_bit_per_s",
    "power_limit_bit_per_s",
    "link_limit_bit_per_s",
    "link_bit_per_s",
    "pcie_payload_bit_per_s",
    "memory_limit_bit_per_s",
    "offload_limit_bit_per_s",
    "mixed_limit_bit_per_s",
    "accelerated_limit_bit_per_s",
)


@requirement(rule="every stage has at least one instance")
def has_instances(*, stage_instances: Falling[Stages]) -> Column:
    """Return how many instances the emptiest stage lacks: ``1 - min_j n_j``."""
    return 1.0 - least(stage_instances)


@requirement(
    rule="busy host cores are at most interface.host_cores",
    quantity="host_cores",
    at_most="interface_host_cores",
)
def fits_host(*, host_cores: Rising[Column], interface_host_cores: Falling[Column]) -> Column:
    """Return the relative excess of busy host cores over the cores of the host."""
    return host_cores / interface_host_cores - 1.0


@requirement(
    rule="interface.in_flight is at most interface.max_in_flight",
    quantity="interface_in_flight",
    at_most="interface_max_in_flight",
)
def fits_in_flight(
    *, interface_in_flight: Rising[Column], interface_max_in_flight: Falling[Column]
) -> Column:
    """Return the relative excess of offloads in flight over the interface's capacity."""
    return interface_in_flight / interface_max_in_flight - 1.0


@requirement(
    rule="interface.batch is at most interface.in_flight",
    quantity="interface_batch",
    at_most="interface_in_flight",
)
def fills_batch(*, interface_batch: Rising[Column], interface_in_flight: Falling[Column]) -> Column:
    """Return the relative excess of a batch over the offloads in flight, which never fill it."""
    return interface_batch / interface_in_flight - 1.0


@requirement(
    rule="constant power and leakage stay below budget.power_cap",
    strict=True,  # at the cap nothing is left to run with
)
def spares_power(
    *,
    leakage_power_w: Rising[Column],
    budget_power_cap_w: Falling[Column],
    budget_constant_power_w: Rising[Column | float] = 0.0,
) -> Column:
    """Return by how much constant power exceeds the power cap, relative to the cap."""
    constant = leakage_power_w + budget_constant_power_w
    return constant / budget_power_cap_w - 1.0


@requirement(
    rule="the throughput reaches workload.rate",
    quantity="throughput_bit_per_s",
    at_least="demand_bit_per_s",
    implies={
        # the throughput is at most each limit, and met means that it is the demand
        **dict.fromkeys(_LIMITS, "demand_bit_per_s"),
        # k * 8 g / T1 at the clocks allowed is no less than the rate
        "stream_limit_bit_per_s": "offload_stream_bit_per_s",
    },
)
def meets_demand(
    *, throughput_bit_per_s: Falling[Column], demand_bit_per_s: Rising[Column]
) -> Column:
    """Return the missing share of the demanded rate."""
    return 1.0 - throughput_bit_per_s / demand_bit_per_s


@requirement(
    rule="queues are stable if arrivals or sizes vary",
    strict=True,  # at a load of 1 lines grow without end
)
def lines_end(
    *,
    busiest_load: Rising[Column],
    offload_arrival_cv2: Rising[Column],
    workload_size_cv2: Rising[Column | float] = 0.0,
) -> Column:
    """Return the share of time that the busiest station lacks, -1 without any variation."""
    return np.where(offload_arrival_cv2 + workload_size_cv2 > 0, busiest_load - 1.0, -1.0)


def _apart(one: Column, other: Column) -> Column:
    """Return how far one number is from another, relative to that unless it is 0."""
    return np.abs(one - other) / np.where(other > 0, other, 1.0)


def _exceeds(value: Column, bound: Column) -> Column:
    """Return the relative excess of a value over a bound, at least 0: both may be 0 or inf."""
    return np.where(value <= bound, 0.0, value / bound - 1.0)


@guard(rule="offloads per second are at most the tasks that start per second")
def offloads_within_tasks(
    *,
    throughput_bit_per_s: Column,
    workload_granularity_byte: Column,
    stage_start_task_per_s: Stages,
) -> Column:
    """Return the relative excess of ``R / 8 g`` over the tasks that the slowest stage starts."""
    offloads = throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte)
    return _exceeds(offloads, least(stage_start_task_per_s))


@guard(rule="speedup is at most the acceleration and the limit of the interface")
def speedup_within_bounds(
    *, speedup: Column, acceleration: Column, host_time_s: Column, transfer_s: Column
) -> Column:
    """Return the relative excess of speedup over A, or T0 / (o + L).

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 3 and 4.
    """
    return _exceeds(speedup, np.minimum(acceleration, host_time_s / transfer_s))


@guard(rule="power is energy over time")
def power_is_energy_over_time(
    *,
    power_w: Column,
    stage_dynamic_power_w: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_leakage_power_w: Stages,
    stage_clocked: Stages,
    stage_common: Stages,
    stream_rate_bit_per_s: Column,
    throughput_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
    buffer_leakage_power_w: Column | float = 0.0,
    interface_buffer_j_per_bit: Column | float = 0.0,
) -> Column:
    """Return by how much power differs from the energy of one second, stage by stage."""
    energy = total(stage_leakage_power_w) + buffer_leakage_power_w
    energy = energy + ACCESSES * throughput_bit_per_s * interface_buffer_j_per_bit
    stages = zip(
        stage_dynamic_power_w, stage_capacity_bit_per_s, stage_clocked, stage_common, strict=True
    )
    for dynamic, capacity, clocked, common in stages:
        own = np.minimum(capacity, power_limit_bit_per_s)
        running = np.where(common > 0, stream_rate_bit_per_s, own)
        rate = np.where(clocked > 0, running, throughput_bit_per_s)
        energy = energy + dynamic * (rate / capacity)
    return _apart(power_w, energy)


@guard(rule="energy per bit times rate is total power")
def energy_times_rate_is_power(
    *,
    energy_j_per_bit: Column,
    throughput_bit_per_s: Column,
    total_power_w: Column,
    workload_payload_offloaded: Column | float = 1.0,
) -> Column:
    """Return by how much energy per bit at the rate reached differs from total power."""
    reached = throughput_bit_per_s / workload_payload_offloaded
    return _apart(energy_j_per_bit * reached, total_power_w)


@guard(rule="total power is the sum of its parts")
def total_power_is_its_parts(
    *,
    total_power_w: Column,
    power_w: Column,
    host_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
    attachment_power_w: Column | float = 0.0,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Return by how much total power differs from everything that draws power."""
    parts = power_w + host_power_w + memory_power_w
    return _apart(total_power_w, parts + attachment_power_w + budget_constant_power_w)


@guard(rule="power stays under budget.power_cap")
def power_stays_under_the_cap(
    *,
    power_w: Column,
    budget_power_cap_w: Column,
    budget_constant_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
) -> Column:
    """Return the relative excess of fleet, memory and constant power over the power cap."""
    drawn = power_w + memory_power_w + budget_constant_power_w
    return _exceeds(drawn, budget_power_cap_w)


@guard(rule="throughput is at most every limit it names")
def throughput_within_limits(
    *,
    throughput_bit_per_s: Column,
    peak_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
    offload_limit_bit_per_s: Column | float = np.inf,
    dependence_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Return the relative excess of the throughput over the tightest limit that it names."""
    others = (link_limit_bit_per_s, memory_limit_bit_per_s, offload_limit_bit_per_s)
    named = (peak_bit_per_s, power_limit_bit_per_s, *others, dependence_limit_bit_per_s)
    return _exceeds(throughput_bit_per_s, least(cast(Stages, named)))


@guard(rule="an offload is no faster than anything that it passes through")
def offload_within_limits(
    *,
    offload_latency_s: Column,
    workload_granularity_byte: Column,
    capacity_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
    reread_ratio: Column | float = 0.0,
) -> Column:
    """Return the relative excess of 8 g / T1 over the tightest limit for one offload."""
    rate = BIT_PER_BYTE * workload_granularity_byte / offload_latency_s
    link = link_limit_bit_per_s * (1.0 + reread_ratio)  # bytes read again come later
    limits = (capacity_bit_per_s, power_limit_bit_per_s, link, memory_limit_bit_per_s)
    return _exceeds(rate, least(cast(Stages, limits)))


@guard(rule="an offload takes no longer than its work on one core of each stage")
def offload_within_one_core(
    *,
    offload_latency_s: Column,
    transfer_s: Column,
    passing_s_per_byte: Column,
    workload_granularity_byte: Column,
    serial_tasks: Column,
    stage_payload_bit: Stages,
    stage_message_end_bit: Stages,
    stage_latency_s: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    stream_rate_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
    accelerated_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Return the relative excess of T1 over the time of its tasks one after another.

    ``T_oh + n (p g + sum_j ((8 g + e_j) / p_j + 1) max(latency_j, I_j) max(1, c_j / r_j))`` with
    the rate r_j at which stage j runs, its payload p_j per task and its end e_j of a message.  For
    a whole accelerator, which has no stages, T0 / A is in place of the sum.
    """
    payload = BIT_PER_BYTE * workload_granularity_byte
    work = passing_s_per_byte * workload_granularity_byte + payload / accelerated_limit_bit_per_s
    tasks = [
        (payload + end) / task + 1.0
        for task, end in zip(stage_payload_bit, stage_message_end_bit, strict=True)
    ]
    stages = (tasks, stage_latency_s, stage_round_s, stage_capacity_bit_per_s, stage_common)
    for count, latency, interval, capacity, common in zip(*stages, strict=True):
        rate = np.where(common > 0, stream_rate_bit_per_s, power_limit_bit_per_s)
        each = np.maximum(latency, interval)
        # a record of whole offloads takes no time here
        slower = np.where(each > 0, np.maximum(capacity / rate, 1.0), 1.0)
        work = work + count * (each * slower)
    alone = transfer_s + np.maximum(serial_tasks, 1.0) * work
    return _exceeds(offload_latency_s, alone)


@guard(rule="no station is busy for longer than all the time")
def stations_within_time(
    *, fleet_load: Column, link_load: Column, slot_load: Column, host_load: Column
) -> Column:
    """Return the relative excess of the busiest station over its servers (Little's law)."""
    return largest((fleet_load, link_load, slot_load, host_load)) - 1.0


@guard(rule="a host core that waits is a slot: no more of them are busy than there are slots")
def waiting_cores_within_slots(
    *, offload_cores: Column, slots: Column, interface_wait: Column
) -> Column:
    """Return the relative excess of busy cores that wait (sync) over slots (Little's law)."""
    waiting = np.equal(interface_wait, WAIT_MODES.index("sync"))
    return np.where(waiting, offload_cores / slots, 0.0) - 1.0

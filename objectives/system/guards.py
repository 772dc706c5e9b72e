"""What holds of every design whatever its figures: where it does not, a model is broken.

The functions return by how much, relative to the terms compared.
"""

from __future__ import annotations

import numpy as np

from dse.contract import WAIT_MODES, Column, guard
from dse.objectives.system.fleet import Stages, largest, total
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.rate import limits_in_order


def _apart(one: Column, other: Column) -> Column:
    """Return how far one number is from another, relative to that unless it is 0."""
    return np.abs(one - other) / np.where(other > 0, other, 1.0)


@guard(rule="speedup is at most the acceleration and what the interface alone allows")
def speedup_within_bounds(
    *, speedup: Column, acceleration: Column, host_time_s: Column, transfer_s: Column
) -> Column:
    """Return by what share speedup exceeds A, or T0 / (o + L).

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 3 and 4.
    """
    with np.errstate(divide="ignore"):
        interface = host_time_s / transfer_s
    return speedup / np.minimum(acceleration, interface) - 1.0


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
) -> Column:
    """Return by how much power differs from the energy of one second, stage by stage."""
    energy = total(stage_leakage_power_w) + buffer_leakage_power_w
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
    dynamic_power_w: Column,
    leakage_power_w: Column,
    host_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
    attachment_power_w: Column | float = 0.0,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Return by how much total power differs from everything that draws power."""
    parts = dynamic_power_w + leakage_power_w + host_power_w + memory_power_w
    return _apart(total_power_w, parts + attachment_power_w + budget_constant_power_w)


@guard(rule="power stays under budget.power_cap")
def power_stays_under_the_cap(
    *,
    power_w: Column,
    budget_power_cap_w: Column,
    budget_constant_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
) -> Column:
    """Return by what share fleet, memory and constant power exceed the power cap."""
    return (power_w + memory_power_w + budget_constant_power_w) / budget_power_cap_w - 1.0


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
    """Return by what share the throughput exceeds the tightest limit that it names."""
    named = limits_in_order(
        compute=peak_bit_per_s,
        power=power_limit_bit_per_s,
        link=link_limit_bit_per_s,
        memory=memory_limit_bit_per_s,
        offload=offload_limit_bit_per_s,
        dependence=dependence_limit_bit_per_s,
    )
    return largest(tuple(throughput_bit_per_s / limit for limit in named)) - 1.0


@guard(rule="an offload is no faster than anything that it passes through")
def offload_within_limits(
    *,
    offload_latency_s: Column,
    workload_granularity_byte: Column,
    capacity_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Return by what share 8 g / T1 exceeds the tightest limit that one offload meets."""
    rate = BIT_PER_BYTE * workload_granularity_byte / offload_latency_s
    limits = (capacity_bit_per_s, power_limit_bit_per_s, link_limit_bit_per_s)
    return largest(tuple(rate / limit for limit in (*limits, memory_limit_bit_per_s))) - 1.0


@guard(rule="an offload takes no longer than its work on one core of each stage")
def offload_within_one_core(
    *,
    offload_latency_s: Column,
    transfer_s: Column,
    passing_s_per_byte: Column,
    workload_granularity_byte: Column,
    serial_tasks: Column,
    stage_payload_bit: Stages,
    stage_latency_s: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    stream_rate_bit_per_s: Column,
    power_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Return by what share T1 exceeds that of its tasks one after another.

    ``T_oh + n (p g + sum_j (8 g / p_j + 1) max(latency_j, I_j) max(1, c_j / r_j))``, r_j being the
    rate at which stage j runs and p_j its payload per task.
    """
    payload = BIT_PER_BYTE * workload_granularity_byte
    work = passing_s_per_byte * workload_granularity_byte
    stages = (stage_payload_bit, stage_latency_s, stage_round_s, stage_capacity_bit_per_s)
    for task, latency, interval, capacity, common in zip(*stages, stage_common, strict=True):
        rate = np.where(common > 0, stream_rate_bit_per_s, power_limit_bit_per_s)
        each = np.maximum(latency, interval)
        with np.errstate(invalid="ignore"):  # a record of whole offloads takes no time here
            slower = np.where(each > 0, np.maximum(capacity / rate, 1.0), 1.0)
        work = work + (payload / task + 1.0) * (each * slower)
    alone = transfer_s + np.maximum(serial_tasks, 1.0) * work
    return offload_latency_s / alone - 1.0


@guard(rule="no station is busy for longer than all the time")
def stations_within_time(
    *, fleet_load: Column, link_load: Column, slot_load: Column, host_load: Column
) -> Column:
    """Return by what share the busiest station exceeds its servers (Little's law)."""
    return largest((fleet_load, link_load, slot_load, host_load)) - 1.0


@guard(rule="a host core that waits is a slot: no more of them are busy than there are slots")
def waiting_cores_within_slots(
    *, offload_cores: Column, slots: Column, interface_wait: Column
) -> Column:
    """Return by what share the busy cores that wait (sync) exceed their slots (Little's law)."""
    waiting = np.equal(interface_wait, WAIT_MODES.index("sync"))
    return np.where(waiting, offload_cores / slots, 0.0) - 1.0

"""Power and energy of a chain of fleets, under a power cap.

Every stage of the chain streams at one payload rate r.  A stage of capacity c then runs at the
clock fraction r / c and switches r * p_dyn / c watts (Battle & Hempstead, section IV-C).  The
power cap is the energy roofline's (Choi et al., IPDPS 2014, eqs 1 and 3) with a core task as the
operation.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Guard, Objective, Requirement
from dse.objectives.system.chain import Stages, total

BATTLE_HEMPSTEAD = "Battle & Hempstead, sections IV-C and V-C"
ROOFLINE = "Choi et al., IPDPS 2014, eqs 1 and 3"


def dynamic_energy_j_per_bit(*, stage_dynamic_energy_j_per_bit: Stages) -> Column:
    """Switching energy of all stages per payload bit; the clock does not change it."""
    return total(stage_dynamic_energy_j_per_bit)


def leakage_power_w(
    *, stage_leakage_power_w: Stages, buffer_leakage_power_w: Column | float = 0.0
) -> Column:
    """Leakage of the fleet and of the buffers, whatever the clock."""
    return total(stage_leakage_power_w) + buffer_leakage_power_w


def power_limit_bit_per_s(
    *,
    dynamic_energy_j_per_bit: Column,
    leakage_power_w: Column,
    memory_energy_j_per_bit: Column | float = 0.0,
    budget_power_cap_w: Column | float = np.inf,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Payload rate at which fleet, buffers and memory spend the whole power cap.

    Energy roofline, eq. 3: usable power is the cap less everything constant (leakage and the
    platform's constant power); the host is outside the cap.  Memory traffic is charged at the
    rate of the pipelines, which is cautious where they run ahead of the payload.
    """
    usable = budget_power_cap_w - budget_constant_power_w - leakage_power_w
    energy = dynamic_energy_j_per_bit + memory_energy_j_per_bit
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(energy > 0, np.maximum(usable, 0.0) / energy, np.inf)


def dynamic_power_w(*, stream_rate_bit_per_s: Column, dynamic_energy_j_per_bit: Column) -> Column:
    """Switching power of the fleet at the scaled clock: sum of count * p_dyn * fraction."""
    return stream_rate_bit_per_s * dynamic_energy_j_per_bit


def power_w(*, dynamic_power_w: Column, leakage_power_w: Column) -> Column:
    """Power of fleet and buffers."""
    return dynamic_power_w + leakage_power_w


def memory_energy_j_per_bit(
    *, memory_byte_per_bit: Column, budget_memory_j_per_byte: Column
) -> Column:
    """Energy of moving a payload bit to and from memory."""
    return memory_byte_per_bit * budget_memory_j_per_byte


def memory_power_w(*, throughput_bit_per_s: Column, memory_energy_j_per_bit: Column) -> Column:
    """Power of moving the payload to and from memory."""
    return throughput_bit_per_s * memory_energy_j_per_bit


def total_power_w(
    *,
    power_w: Column,
    host_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Power of fleet, buffers, busy host cores, memory traffic and what is always on."""
    return power_w + host_power_w + memory_power_w + budget_constant_power_w


def energy_j_per_bit(*, total_power_w: Column, throughput_bit_per_s: Column) -> Column:
    """Total energy per payload bit."""
    with np.errstate(divide="ignore"):
        return total_power_w / throughput_bit_per_s


def spares_power(
    *,
    leakage_power_w: Column,
    budget_power_cap_w: Column,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Return by how much constant power exceeds the power cap, relative to the cap."""
    constant = leakage_power_w + budget_constant_power_w
    return constant / budget_power_cap_w - 1.0


def power_is_energy_over_time(
    *,
    power_w: Column,
    stage_dynamic_power_w: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_leakage_power_w: Stages,
    stream_rate_bit_per_s: Column,
    buffer_leakage_power_w: Column | float = 0.0,
) -> Column:
    """Return by how much power differs from the energy of one second, stage by stage."""
    energy = total(stage_leakage_power_w) + buffer_leakage_power_w
    for dynamic, capacity in zip(stage_dynamic_power_w, stage_capacity_bit_per_s, strict=True):
        energy = energy + dynamic * (stream_rate_bit_per_s / capacity)
    return np.abs(power_w - energy) / energy


def energy_times_rate_is_power(
    *, energy_j_per_bit: Column, throughput_bit_per_s: Column, total_power_w: Column
) -> Column:
    """Return by how much energy per bit at the rate reached differs from total power."""
    return np.abs(energy_j_per_bit * throughput_bit_per_s / total_power_w - 1.0)


def total_power_is_its_parts(
    *,
    total_power_w: Column,
    dynamic_power_w: Column,
    leakage_power_w: Column,
    host_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Return by how much total power differs from everything that draws power."""
    parts = dynamic_power_w + leakage_power_w + host_power_w + memory_power_w
    return np.abs(total_power_w / (parts + budget_constant_power_w) - 1.0)


def power_stays_under_the_cap(
    *,
    power_w: Column,
    budget_power_cap_w: Column,
    budget_constant_power_w: Column | float = 0.0,
    memory_power_w: Column | float = 0.0,
) -> Column:
    """Return by what share fleet, memory and constant power exceed the power cap."""
    return (power_w + memory_power_w + budget_constant_power_w) / budget_power_cap_w - 1.0


objectives = (
    Objective(
        function=power_w,
        source=BATTLE_HEMPSTEAD,
        rises_with=("dynamic_power_w", "leakage_power_w"),
        told=True,
    ),
    Objective(
        function=total_power_w,
        source="everything that draws power",
        rises_with=("power_w", "host_power_w", "memory_power_w", "budget_constant_power_w"),
        told=True,
    ),
    Objective(
        function=energy_j_per_bit,
        source=ROOFLINE,
        rises_with=("total_power_w",),
        falls_with=("throughput_bit_per_s",),
        told=True,
    ),
    Objective(
        function=dynamic_power_w,
        source=BATTLE_HEMPSTEAD,
        rises_with=("stream_rate_bit_per_s", "dynamic_energy_j_per_bit"),
    ),
    Objective(
        function=leakage_power_w,
        source=BATTLE_HEMPSTEAD,
        grows_with_instances=True,
        rises_with=("stage_leakage_power_w", "buffer_leakage_power_w"),
    ),
    Objective(
        function=memory_power_w,
        source=ROOFLINE,
        rises_with=("throughput_bit_per_s", "memory_energy_j_per_bit"),
    ),
    Objective(
        function=memory_energy_j_per_bit,
        source=ROOFLINE,
        rises_with=("memory_byte_per_bit", "budget_memory_j_per_byte"),
    ),
    Objective(
        function=dynamic_energy_j_per_bit,
        source=BATTLE_HEMPSTEAD,
        rises_with=("stage_dynamic_energy_j_per_bit",),
        over_stages="sum",
    ),
    Objective(
        function=power_limit_bit_per_s,
        source=ROOFLINE,
        rises_with=("budget_power_cap_w",),
        falls_with=(
            "dynamic_energy_j_per_bit",
            "leakage_power_w",
            "memory_energy_j_per_bit",
            "budget_constant_power_w",
        ),
    ),
)

requirements = (
    Requirement(
        function=spares_power,
        rule="constant power and leakage stay below budget.power_cap",
        strict=True,  # at the cap nothing is left to run with
        rises_with=("leakage_power_w", "budget_constant_power_w"),
        falls_with=("budget_power_cap_w",),
        relaxed_by_less=("budget_constant_power_w",),
        relaxed_by_more=("budget_power_cap_w",),
    ),
)

guards = (
    Guard(function=power_is_energy_over_time, rule="power is energy over time"),
    Guard(function=energy_times_rate_is_power, rule="energy per bit times rate is total power"),
    Guard(function=total_power_is_its_parts, rule="total power is the sum of its parts"),
    Guard(function=power_stays_under_the_cap, rule="power stays under budget.power_cap"),
)

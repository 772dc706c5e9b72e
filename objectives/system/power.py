"""Power and energy of a chain of fleets, under a power cap.

A stage of capacity c that streams a payload rate runs at the clock fraction rate / c and switches
rate * p_dyn / c watts (Battle & Hempstead, section IV-C).  If clocks are gated while pipelines
idle, that rate is the throughput R, for any clock.  If not, it is the rate r at
which the pipelines are clocked.  The power cap is the energy roofline's (Choi et al., IPDPS 2014,
eqs 1 and 3) with a core task as the operation.  In the equations, m is the memory traffic per
payload bit, e the switching energy per payload bit.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Falling, Rising, objective
from dse.objectives.system.fleet import Stages, total
from dse.objectives.system.sources import BATTLE_HEMPSTEAD, ENERGY_ROOFLINE

ACCESSES = 4.0
"""Accesses of buffers per bit of payload, for writing and reading it and its result."""


@objective(source=BATTLE_HEMPSTEAD, report=True)
def power_w(
    *,
    base_power_w: Rising[Column],
    clocked_power_w: Rising[Column],
    own_power_w: Rising[Column | float] = 0.0,
    buffer_leakage_power_w: Rising[Column | float] = 0.0,
    interface_buffer_j_per_bit: Rising[Column | float] = 0.0,
    throughput_bit_per_s: Rising[Column | float] = 0.0,
) -> Column:
    """Power of fleet and buffers.

    ``P = P_base + r e_clocked + P_own + P_buffer + 4 R e_buffer = P_dyn + P_leak + 4 R e_buffer``,
    in W: a bit of payload, and of its result, is written to a buffer once and read once.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    fleet = base_power_w + clocked_power_w + own_power_w + buffer_leakage_power_w
    return fleet + ACCESSES * throughput_bit_per_s * interface_buffer_j_per_bit


@objective(source=BATTLE_HEMPSTEAD, over_stages="sum")
def base_power_w(
    *,
    throughput_bit_per_s: Rising[Column],
    stage_leakage_power_w: Rising[Stages],
    stage_dynamic_energy_j_per_bit: Rising[Stages],
    stage_clocked: Falling[Stages],
) -> Column:
    """Power that a fleet draws at any rate of its pipelines: leakage, and gated switching.

    ``P_base = sum_j P_leak,j + R e_gated``, in W.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    stages = zip(stage_leakage_power_w, stage_dynamic_energy_j_per_bit, stage_clocked, strict=True)
    return total(
        leakage + throughput_bit_per_s * (energy * (1.0 - clocked))
        for leakage, energy, clocked in stages
    )


@objective(source="everything that draws power", report=True)
def total_power_w(
    *,
    power_w: Rising[Column],
    host_power_w: Rising[Column | float] = 0.0,
    memory_power_w: Rising[Column | float] = 0.0,
    attachment_power_w: Rising[Column | float] = 0.0,
    budget_constant_power_w: Rising[Column | float] = 0.0,
) -> Column:
    """Power of fleet, buffers, busy host cores, memory traffic, attachment and constant power.

    ``P + P_host + P_mem + P_const + P_attachment``, in W.
    """
    known = power_w + host_power_w + memory_power_w + budget_constant_power_w
    return known + attachment_power_w


@objective(source=ENERGY_ROOFLINE, report=True, simulated="energy")
def energy_j_per_bit(
    *,
    total_power_w: Rising[Column],
    throughput_bit_per_s: Falling[Column],
    workload_payload_offloaded: Rising[Column | float] = 1.0,
) -> Column:
    """Total energy per payload bit, also of the payload that stays on the host.

    ``P_total q_b / R``, in J/bit, with the share q_b of all payload that is offloaded.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 1.
    """
    return total_power_w * workload_payload_offloaded / throughput_bit_per_s


@objective(source=BATTLE_HEMPSTEAD)
def task_energy_j(
    *,
    energy_j_per_bit: Rising[Column],
    stage_payload_bit: Rising[Stages],
    stage_filled: Rising[Stages],
) -> Column:
    """Total energy for the payload of one task of the first stage, host included.

    ``P_total q_b / R payload_first filled_first``, in J: the mean of all payload, offloaded or
    not.

    References
    ----------
    Battle & Hempstead, Tables I to III, for the cores only.
    """
    return energy_j_per_bit * stage_payload_bit[0] * stage_filled[0]


@objective(source=BATTLE_HEMPSTEAD)
def dynamic_power_w(
    *,
    gated_power_w: Rising[Column],
    clocked_power_w: Rising[Column],
    own_power_w: Rising[Column | float] = 0.0,
) -> Column:
    """Switching power of the fleet at the scaled clock: sum of count * p_dyn * fraction.

    ``P_dyn = R e_gated + r e_clocked + P_own``, in W.

    References
    ----------
    Battle & Hempstead, section IV-C, in which R and r are one.
    """
    return gated_power_w + clocked_power_w + own_power_w


@objective(source="clock gating")
def gated_power_w(
    *, throughput_bit_per_s: Rising[Column], gated_energy_j_per_bit: Rising[Column]
) -> Column:
    """Switching power of pipelines whose clocks are gated while they idle.

    ``R e_gated``, in W.
    """
    return throughput_bit_per_s * gated_energy_j_per_bit


@objective(source="clock gating")
def clocked_power_w(
    *, stream_rate_bit_per_s: Rising[Column], clocked_energy_j_per_bit: Rising[Column]
) -> Column:
    """Switching power of pipelines at the one rate that switch while they idle.

    ``r e_clocked``, in W.
    """
    return stream_rate_bit_per_s * clocked_energy_j_per_bit


@objective(source="switching at the own clock", over_stages="sum")
def own_power_w(
    *,
    stage_dynamic_energy_j_per_bit: Rising[Stages],
    stage_capacity_bit_per_s: Rising[Stages],
    stage_clocked: Rising[Stages],
    stage_common: Falling[Stages],
    power_limit_bit_per_s: Rising[Column | float] = np.inf,
) -> Column:
    """Switching power of stages that run at their own clocks beside others that meet the demand.

    ``P_own = sum_j e_j min(c_j, power limit)`` of those that switch while they idle, in W.
    """

    def switched(energy: Column, capacity: Column, clocked: Column, common: Column) -> Column:
        always = (clocked > 0) & (common <= 0)
        return np.where(always, energy * np.minimum(capacity, power_limit_bit_per_s), 0.0)

    stages = (stage_dynamic_energy_j_per_bit, stage_capacity_bit_per_s, stage_clocked, stage_common)
    return total(map(switched, *stages))


@objective(source=BATTLE_HEMPSTEAD, grows_with_instances=True)
def leakage_power_w(
    *, stage_leakage_power_w: Rising[Stages], buffer_leakage_power_w: Rising[Column | float] = 0.0
) -> Column:
    """Leakage of the fleet and of the buffers, whatever the clock.

    ``P_leak = sum_j P_leak,j + P_buffer``, in W.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    return total(stage_leakage_power_w) + buffer_leakage_power_w


@objective(source=ENERGY_ROOFLINE)
def memory_power_w(
    *, throughput_bit_per_s: Rising[Column], memory_energy_j_per_bit: Rising[Column]
) -> Column:
    """Power of moving the payload to and from memory.

    ``P_mem = R m e_mem``, in W.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 1.
    """
    return throughput_bit_per_s * memory_energy_j_per_bit


@objective(source=ENERGY_ROOFLINE)
def memory_energy_j_per_bit(
    *, memory_byte_per_bit: Rising[Column], budget_memory_j_per_byte: Rising[Column]
) -> Column:
    """Energy of moving a payload bit to and from memory.

    ``m e_mem``, in J/bit.

    References
    ----------
    Choi et al., IPDPS 2014, eq. 1.
    """
    return memory_byte_per_bit * budget_memory_j_per_byte


@objective(source=BATTLE_HEMPSTEAD, over_stages="sum")
def dynamic_energy_j_per_bit(*, stage_dynamic_energy_j_per_bit: Rising[Stages]) -> Column:
    """Switching energy of all stages per payload bit, the same for all clocks.

    ``e = sum_j p_dyn,j / c_j``, in J/bit.

    References
    ----------
    Battle & Hempstead, section IV-C.
    """
    return total(stage_dynamic_energy_j_per_bit)


@objective(source="clock gating", over_stages="sum")
def gated_energy_j_per_bit(
    *, stage_dynamic_energy_j_per_bit: Rising[Stages], stage_clocked: Falling[Stages]
) -> Column:
    """Switching energy per payload bit of the stages whose clocks are gated while they idle.

    ``e_gated``, in J/bit.
    """
    pairs = zip(stage_dynamic_energy_j_per_bit, stage_clocked, strict=True)
    return total(energy * (1.0 - clocked) for energy, clocked in pairs)


@objective(source="clock gating", over_stages="sum")
def clocked_energy_j_per_bit(
    *,
    stage_dynamic_energy_j_per_bit: Rising[Stages],
    stage_clocked: Rising[Stages],
    stage_common: Rising[Stages],
) -> Column:
    """Switching energy per payload bit of the stages at the one rate that switch while they idle.

    ``e_clocked``, in J/bit.
    """
    stages = zip(stage_dynamic_energy_j_per_bit, stage_clocked, stage_common, strict=True)
    return total(energy * clocked * common for energy, clocked, common in stages)


@objective(source=ENERGY_ROOFLINE)
def power_limit_bit_per_s(
    *,
    dynamic_energy_j_per_bit: Falling[Column],
    leakage_power_w: Falling[Column],
    memory_energy_j_per_bit: Falling[Column | float] = 0.0,
    interface_buffer_j_per_bit: Falling[Column | float] = 0.0,
    budget_power_cap_w: Rising[Column | float] = np.inf,
    budget_constant_power_w: Falling[Column | float] = 0.0,
) -> Column:
    """Payload rate at which fleet, buffers and memory spend the whole power cap.

    ``max(0, cap - P_const - P_leak) / (e + m e_mem + 4 e_buffer)``, in bit/s: usable power is the
    cap less everything constant (leakage and the platform's constant power).  The host is outside
    the cap.  Memory traffic is charged at the rate of the pipelines, which is cautious if they
    run ahead of the payload.

    References
    ----------
    Choi et al., IPDPS 2014, eqs 1 and 3.
    """
    usable = budget_power_cap_w - budget_constant_power_w - leakage_power_w
    energy = dynamic_energy_j_per_bit + memory_energy_j_per_bit
    energy = energy + ACCESSES * interface_buffer_j_per_bit
    limit = np.where(energy > 0, np.maximum(usable, 0.0) / energy, np.inf)
    return np.where(np.less(budget_power_cap_w, np.inf), limit, np.inf)

"""What offloads cost their host: busy cores, power, and buffers for what is in flight.

The ways of waiting are those of Accelerometer (Sriraman & Dhanotia, ASPLOS 2020).  In the
equations, R is the throughput, g the granularity in bytes, k the offloads in flight, o the
overhead and T1 the time of an offload.
"""

from __future__ import annotations

import numpy as np

from dse.contract import WAIT_MODES, Column, objective
from dse.objectives.system.offload_terms import BIT_PER_BYTE


@objective(
    source="Sriraman & Dhanotia, ASPLOS 2020",
    told=True,
    simulated="cores",
    rises_with=(
        "throughput_bit_per_s",
        "overhead_s",
        "offload_latency_s",
        "inside_wait_s",
        "interface_switch_cycles",
        "interface_switch_s",
    ),
    falls_with=("workload_granularity_byte", "interface_host_clock_hz"),
)
def host_cores(
    *,
    throughput_bit_per_s: Column,
    workload_granularity_byte: Column,
    overhead_s: Column,
    offload_latency_s: Column,
    interface_wait: Column,
    inside_wait_s: Column | float = 0.0,
    interface_switch_cycles: Column | float = 0.0,
    interface_switch_s: Column | float = 0.0,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Host cores kept busy: offloads per second times the time each costs its core.

    ``R / (8 g) b``, a number; b is T1, and the wait under way, for a core that waits (sync), o and
    two thread switches for one that runs another thread (sync_os), and o for one that goes on
    (async).

    References
    ----------
    Sriraman & Dhanotia, "Accelerometer", ASPLOS 2020.
    """
    switch = 2.0 * (interface_switch_cycles / interface_host_clock_hz + interface_switch_s)
    wait = np.asarray(interface_wait)
    busy = np.where(
        wait == WAIT_MODES.index("sync"),
        offload_latency_s + inside_wait_s,
        overhead_s + np.where(wait == WAIT_MODES.index("sync_os"), switch, 0.0),
    )
    offloads_per_s = throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte)
    # an empty fleet takes forever over no offloads
    with np.errstate(invalid="ignore"):
        return np.where(np.greater(offloads_per_s, 0), offloads_per_s * busy, 0.0)


@objective(
    source="vendor figures for power and cores",
    rises_with=("host_cores", "interface_host_power_w"),
    falls_with=("interface_host_cores",),
)
def host_power_w(
    *, host_cores: Column, interface_host_power_w: Column, interface_host_cores: Column
) -> Column:
    """Power of the busy host cores, each an equal share of the host's power.

    ``host_cores P_host / N_host``, in W.
    """
    return host_cores * (interface_host_power_w / interface_host_cores)


@objective(source="2 k g bytes", rises_with=("interface_in_flight", "workload_granularity_byte"))
def buffer_bit(*, interface_in_flight: Column, workload_granularity_byte: Column) -> Column:
    """Buffers for input and output of every offload in flight: 2 k g bytes.

    ``2 * 8 k g``, in bit.
    """
    return 2.0 * BIT_PER_BYTE * interface_in_flight * workload_granularity_byte


@objective(
    source="bits times cell area",
    rises_with=("buffer_bit", "interface_buffer_area_m2_per_bit"),
)
def buffer_area_m2(*, buffer_bit: Column, interface_buffer_area_m2_per_bit: Column) -> Column:
    """Area of the buffers.

    ``A_buffer = bits * area per bit``, in m2.
    """
    return buffer_bit * interface_buffer_area_m2_per_bit


@objective(
    source="bits times leakage",
    rises_with=("buffer_bit", "interface_buffer_leakage_w_per_bit"),
)
def buffer_leakage_power_w(
    *, buffer_bit: Column, interface_buffer_leakage_w_per_bit: Column
) -> Column:
    """Leakage of the buffers.

    ``P_buffer = bits * leakage per bit``, in W.
    """
    return buffer_bit * interface_buffer_leakage_w_per_bit

"""What offloads cost their host: busy cores, power, and buffers for what is in flight.

The ways of waiting are those of Accelerometer (Sriraman & Dhanotia, ASPLOS 2020).
"""

from __future__ import annotations

import numpy as np

from dse.contract import WAIT_MODES, Column, Objective, Requirement
from dse.objectives.system.offload import BIT_PER_BYTE


def host_cores(
    *,
    throughput_bit_per_s: Column,
    workload_granularity_byte: Column,
    overhead_s: Column,
    offload_latency_s: Column,
    interface_wait: Column,
    interface_switch_cycles: Column | float = 0.0,
    interface_switch_s: Column | float = 0.0,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Host cores kept busy: offloads per second times the time each costs its core.

    A core that waits (sync) is busy for the whole offload; one that runs another thread
    (sync_os) for the set-up and two thread switches; one that goes on (async) for the set-up.
    """
    switch = 2.0 * (interface_switch_cycles / interface_host_clock_hz + interface_switch_s)
    wait = np.asarray(interface_wait)
    busy = np.where(
        wait == WAIT_MODES.index("sync"),
        offload_latency_s,
        overhead_s + np.where(wait == WAIT_MODES.index("sync_os"), switch, 0.0),
    )
    offloads_per_s = throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte)
    # an empty fleet takes forever over no offloads
    with np.errstate(invalid="ignore"):
        return np.where(np.greater(offloads_per_s, 0), offloads_per_s * busy, 0.0)


def host_power_w(
    *, host_cores: Column, interface_host_power_w: Column, interface_host_cores: Column
) -> Column:
    """Power of the busy host cores, each an equal share of the host's power."""
    return host_cores * (interface_host_power_w / interface_host_cores)


def buffer_bit(*, interface_in_flight: Column, workload_granularity_byte: Column) -> Column:
    """Buffers for input and output of every offload in flight: 2 k g bytes."""
    return 2.0 * BIT_PER_BYTE * interface_in_flight * workload_granularity_byte


def buffer_area_m2(*, buffer_bit: Column, interface_buffer_area_m2_per_bit: Column) -> Column:
    """Area of the buffers."""
    return buffer_bit * interface_buffer_area_m2_per_bit


def buffer_leakage_power_w(
    *, buffer_bit: Column, interface_buffer_leakage_w_per_bit: Column
) -> Column:
    """Leakage of the buffers."""
    return buffer_bit * interface_buffer_leakage_w_per_bit


def fits_host(*, host_cores: Column, interface_host_cores: Column) -> Column:
    """Return by what share the busy host cores exceed those that the host has."""
    return host_cores / interface_host_cores - 1.0


objectives = (
    Objective(
        function=host_cores,
        source="Sriraman & Dhanotia, ASPLOS 2020",
        told=True,
        rises_with=(
            "throughput_bit_per_s",
            "overhead_s",
            "offload_latency_s",
            "interface_switch_cycles",
            "interface_switch_s",
        ),
        falls_with=("workload_granularity_byte", "interface_host_clock_hz"),
    ),
    Objective(
        function=host_power_w,
        source="vendor figures for power and cores",
        rises_with=("host_cores", "interface_host_power_w"),
        falls_with=("interface_host_cores",),
    ),
    Objective(
        function=buffer_bit,
        source="2 k g bytes",
        rises_with=("interface_in_flight", "workload_granularity_byte"),
    ),
    Objective(
        function=buffer_area_m2,
        source="bits times cell area",
        rises_with=("buffer_bit", "interface_buffer_area_m2_per_bit"),
    ),
    Objective(
        function=buffer_leakage_power_w,
        source="bits times leakage",
        rises_with=("buffer_bit", "interface_buffer_leakage_w_per_bit"),
    ),
)
"""What the host pays, in the order in which reports show it."""

requirements = (
    Requirement(
        function=fits_host,
        rule="busy host cores are at most interface.host_cores",
        rises_with=("host_cores",),
        falls_with=("interface_host_cores",),
        quantity="host_cores",
        at_most="interface_host_cores",
        relaxed_by_less=(
            "workload_rate_bit_per_s",
            "interface_overhead_cycles",
            "interface_overhead_s",
        ),
        relaxed_by_more=("interface_host_cores", "workload_granularity_byte"),
    ),
)

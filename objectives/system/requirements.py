"""What every design of a system has to meet, as far as its study says so.

The functions return by how much a bound is missed, relative to it; at most 0 where it is met.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, requirement
from dse.objectives.system.fleet import Stages, least

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


@requirement(rule="every stage has at least one instance", falls_with=("stage_instances",))
def has_instances(*, stage_instances: Stages) -> Column:
    """Return how many instances the emptiest stage lacks: ``1 - min_j n_j``."""
    return 1.0 - least(stage_instances)


@requirement(
    rule="busy host cores are at most interface.host_cores",
    rises_with=("host_cores",),
    falls_with=("interface_host_cores",),
    quantity="host_cores",
    at_most="interface_host_cores",
    relaxed_by_less=(
        "workload_rate_bit_per_s",
        "interface_overhead_cycles",
        "interface_overhead_s",
        "interface_overhead_plus_latency_cycles",
        "interface_overhead_plus_latency_s",
        "interface_overhead_share",
    ),
    relaxed_by_more=("interface_host_cores", "workload_granularity_byte"),
    undeclared={"implies": "nothing keeps a transfer longer than a task; it is only drawn so"},
)
def fits_host(*, host_cores: Column, interface_host_cores: Column) -> Column:
    """Return by what share the busy host cores exceed those that the host has."""
    return host_cores / interface_host_cores - 1.0


@requirement(
    rule="interface.in_flight is at most interface.max_in_flight",
    rises_with=("interface_in_flight",),
    falls_with=("interface_max_in_flight",),
    quantity="interface_in_flight",
    at_most="interface_max_in_flight",
    relaxed_by_less=("interface_in_flight",),
    relaxed_by_more=("interface_max_in_flight",),
)
def fits_in_flight(*, interface_in_flight: Column, interface_max_in_flight: Column) -> Column:
    """Return by what share the offloads in flight exceed what the interface holds."""
    return interface_in_flight / interface_max_in_flight - 1.0


@requirement(
    rule="interface.batch is at most interface.in_flight",
    rises_with=("interface_batch",),
    falls_with=("interface_in_flight",),
    quantity="interface_batch",
    at_most="interface_in_flight",
    relaxed_by_less=("interface_batch",),
    relaxed_by_more=("interface_in_flight",),
)
def fills_batch(*, interface_batch: Column, interface_in_flight: Column) -> Column:
    """Return by what share a batch exceeds the offloads in flight, which would never fill it."""
    return interface_batch / interface_in_flight - 1.0


@requirement(
    rule="constant power and leakage stay below budget.power_cap",
    strict=True,  # at the cap nothing is left to run with
    rises_with=("leakage_power_w", "budget_constant_power_w"),
    falls_with=("budget_power_cap_w",),
    relaxed_by_less=("budget_constant_power_w",),
    relaxed_by_more=("budget_power_cap_w",),
    undeclared={"at_most": "leakage and constant power count together, not each alone"},
)
def spares_power(
    *,
    leakage_power_w: Column,
    budget_power_cap_w: Column,
    budget_constant_power_w: Column | float = 0.0,
) -> Column:
    """Return by how much constant power exceeds the power cap, relative to the cap."""
    constant = leakage_power_w + budget_constant_power_w
    return constant / budget_power_cap_w - 1.0


@requirement(
    rule="the throughput reaches workload.rate",
    rises_with=("demand_bit_per_s",),
    falls_with=("throughput_bit_per_s",),
    quantity="throughput_bit_per_s",
    at_least="demand_bit_per_s",
    relaxed_by_less=(
        "workload_rate_bit_per_s",
        "interface_overhead_cycles",
        "interface_overhead_s",
        "interface_latency_cycles",
        "interface_latency_s",
        "interface_latency_cycles_per_byte",
        "interface_latency_s_per_byte",
        "interface_overhead_plus_latency_cycles",
        "interface_overhead_plus_latency_s",
        "interface_round_trip_s",
    ),
    relaxed_by_more=(
        "workload_streams",
        "workload_granularity_byte",
        "interface_in_flight",
        "interface_batch",
        "interface_link_byte_per_s",
        "interface_link_byte_per_cycle",
        "budget_power_cap_w",
        "budget_memory_byte_per_s",
    ),
    implies={
        # the throughput is at most each limit, and met means that it is the demand
        **dict.fromkeys(_LIMITS, "demand_bit_per_s"),
        # k * 8 g / T1 at the clocks allowed is no less than the rate
        "stream_limit_bit_per_s": "offload_stream_bit_per_s",
    },
)
def meets_demand(*, throughput_bit_per_s: Column, demand_bit_per_s: Column) -> Column:
    """Return the missing share of the demanded rate."""
    return 1.0 - throughput_bit_per_s / demand_bit_per_s


@requirement(
    rule="queues are stable where arrivals or sizes vary",
    strict=True,  # at a load of 1 lines grow without end
    rises_with=("busiest_load", "offload_arrival_cv2", "workload_size_cv2"),
    relaxed_by_less=(
        "workload_rate_bit_per_s",
        "interface_overhead_cycles",
        "interface_overhead_s",
    ),
    relaxed_by_more=(
        "interface_in_flight",
        "interface_link_byte_per_s",
        "interface_link_byte_per_cycle",
        "workload_granularity_byte",
    ),
)
def lines_end(
    *,
    busiest_load: Column,
    offload_arrival_cv2: Column,
    workload_size_cv2: Column | float = 0.0,
) -> Column:
    """Return by what share of the time the busiest station is short; -1 where nothing varies."""
    return np.where(offload_arrival_cv2 + workload_size_cv2 > 0, busiest_load - 1.0, -1.0)

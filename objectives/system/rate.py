"""The rate that a chain of fleets reaches, and the clock at which it does.

The reached rate is the least of what compute, link or memory, power cap, offload and dependence
allow.  Clocks meet but do not exceed the demand (Battle & Hempstead, sections IV-C and V-C), or
run as fast as allowed; a demand is never exceeded either way.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from dse.contract import Column, Guard, Limit, Objective, Requirement
from dse.objectives.system.chain import Stages, largest, least

BOUNDS = ("compute", "link", "power", "offload", "dependence")

BATTLE_HEMPSTEAD = "Battle & Hempstead, sections IV-C and V-C"
ROOFLINE = "Choi et al., IPDPS 2014, eqs 1 and 3"


def stream_limit_bit_per_s(*, capacity_bit_per_s: Column, power_limit_bit_per_s: Column) -> Column:
    """Highest payload rate at which the chain may stream."""
    return np.minimum(capacity_bit_per_s, power_limit_bit_per_s)


def memory_limit_bit_per_s(
    *, memory_byte_per_bit: Column, budget_memory_byte_per_s: Column
) -> Column:
    """Payload rate that the memory bandwidth allows (energy roofline, eq. 3, second term)."""
    with np.errstate(divide="ignore"):
        return budget_memory_byte_per_s / memory_byte_per_bit


def dependence_limit_bit_per_s(*, capacity_bit_per_s: Column, peak_bit_per_s: Column) -> Column:
    """Payload rate when each stream has one task in flight (a chained mode such as CBC).

    The least over the stages of streams * payload / latency; infinite where that costs nothing.
    """
    return np.where(capacity_bit_per_s < peak_bit_per_s, capacity_bit_per_s, np.inf)


def _limits(
    compute: Column,
    power: Column,
    link: Column | float,
    memory: Column | float,
    offload: Column | float,
    dependence: Column | float,
) -> Stages:
    """Return the limits in the order of `BOUNDS`."""
    return cast(Stages, (compute, np.minimum(link, memory), power, offload, dependence))


def rate_limit_bit_per_s(
    *,
    capacity_bit_per_s: Column,
    power_limit_bit_per_s: Column,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
    offload_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Least of all limits at the top clock: the most that this design can carry.

    What dependent tasks allow is part of the capacity; `bound` tells the two apart.
    """
    others = (power_limit_bit_per_s, link_limit_bit_per_s, memory_limit_bit_per_s)
    return least(cast(Stages, (capacity_bit_per_s, *others, offload_limit_bit_per_s)))


def bound(
    *,
    peak_bit_per_s: Column,
    power_limit_bit_per_s: Column,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
    offload_limit_bit_per_s: Column | float = np.inf,
    dependence_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Limit that is reached first when the rate rises (memory counts as link)."""
    limits = np.broadcast_arrays(
        *_limits(
            peak_bit_per_s,
            power_limit_bit_per_s,
            link_limit_bit_per_s,
            memory_limit_bit_per_s,
            offload_limit_bit_per_s,
            dependence_limit_bit_per_s,
        )
    )
    first: Column = np.argmin(np.stack(limits), axis=0).astype(np.float64)
    return first


def throughput_bit_per_s(
    *, rate_limit_bit_per_s: Column, workload_rate_bit_per_s: Column | float = np.inf
) -> Column:
    """Payload rate reached: what the design can carry, and no more than is demanded."""
    return np.minimum(rate_limit_bit_per_s, workload_rate_bit_per_s)


def task_throughput_task_per_s(
    *, throughput_bit_per_s: Column, stage_payload_bit: Stages
) -> Column:
    """Tasks of the first stage per second."""
    return throughput_bit_per_s / stage_payload_bit[0]


def stream_rate_bit_per_s(
    *,
    throughput_bit_per_s: Column,
    stream_limit_bit_per_s: Column,
    offload_stream_bit_per_s: Column | float = 0.0,
    workload_meet: Column | float = 0.0,
) -> Column:
    """Payload rate at which the pipelines are clocked.

    Clocked to meet the demand: the least rate that carries it, also through offloads that have
    to finish in time.  Otherwise as fast as allowed.
    """
    needed = np.maximum(throughput_bit_per_s, offload_stream_bit_per_s)
    meet = np.minimum(needed, stream_limit_bit_per_s)
    return np.where(np.asarray(workload_meet) > 0, meet, stream_limit_bit_per_s)


def clock_hz(
    *, stage_clock_hz: Stages, stage_capacity_bit_per_s: Stages, stream_rate_bit_per_s: Column
) -> Column:
    """Fastest clock of any instance, after scaling."""
    pairs = zip(stage_clock_hz, stage_capacity_bit_per_s, strict=True)
    return largest(tuple(clock * (stream_rate_bit_per_s / capacity) for clock, capacity in pairs))


def clock_fraction(
    *, stage_clock_limit: Stages, stage_capacity_bit_per_s: Stages, stream_rate_bit_per_s: Column
) -> Column:
    """Largest share of its top clock at which any stage runs."""
    pairs = zip(stage_clock_limit, stage_capacity_bit_per_s, strict=True)
    return largest(tuple(limit * (stream_rate_bit_per_s / capacity) for limit, capacity in pairs))


def utilisation(*, throughput_bit_per_s: Column, capacity_bit_per_s: Column) -> Column:
    """Throughput as a share of what the slowest stage could carry, at the clock allowed."""
    return throughput_bit_per_s / capacity_bit_per_s


def meets_demand(*, throughput_bit_per_s: Column, workload_rate_bit_per_s: Column) -> Column:
    """Return the missing share of the demanded rate."""
    return 1.0 - throughput_bit_per_s / workload_rate_bit_per_s


def throughput_within_limits(
    *,
    throughput_bit_per_s: Column,
    peak_bit_per_s: Column,
    power_limit_bit_per_s: Column,
    link_limit_bit_per_s: Column | float = np.inf,
    memory_limit_bit_per_s: Column | float = np.inf,
    offload_limit_bit_per_s: Column | float = np.inf,
    dependence_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Return by what share the throughput exceeds the tightest limit that it names."""
    limits = _limits(
        peak_bit_per_s,
        power_limit_bit_per_s,
        link_limit_bit_per_s,
        memory_limit_bit_per_s,
        offload_limit_bit_per_s,
        dependence_limit_bit_per_s,
    )
    return largest(tuple(throughput_bit_per_s / limit for limit in limits)) - 1.0


LIMITS = (
    "capacity_bit_per_s",
    "power_limit_bit_per_s",
    "link_limit_bit_per_s",
    "memory_limit_bit_per_s",
    "offload_limit_bit_per_s",
)

objectives = (
    Objective(
        function=throughput_bit_per_s,
        source=BATTLE_HEMPSTEAD,
        rises_with=("rate_limit_bit_per_s", "workload_rate_bit_per_s"),
        at_most=("stage_capacity_bit_per_s",),
        told=True,
    ),
    Objective(
        function=task_throughput_task_per_s,
        source=BATTLE_HEMPSTEAD,
        rises_with=("throughput_bit_per_s",),
        falls_with=("stage_payload_bit",),
    ),
    Objective(
        function=bound,
        source=ROOFLINE,
        labels=BOUNDS,
        limits=(
            Limit(words="compute", quantities=("peak_bit_per_s",)),
            Limit(
                words="the link or memory",
                quantities=("link_limit_bit_per_s", "memory_limit_bit_per_s"),
            ),
            Limit(words="the power cap", quantities=("power_limit_bit_per_s",)),
            Limit(words="offload overhead", quantities=("offload_limit_bit_per_s",)),
            Limit(words="dependence", quantities=("dependence_limit_bit_per_s",)),
        ),
        limited="throughput_bit_per_s",
    ),
    Objective(function=clock_hz, source=BATTLE_HEMPSTEAD, told=True),
    Objective(function=clock_fraction, source=BATTLE_HEMPSTEAD),
    Objective(
        function=utilisation,
        source="throughput over capacity",
        rises_with=("throughput_bit_per_s",),
        falls_with=("capacity_bit_per_s",),
    ),
    Objective(function=rate_limit_bit_per_s, source=ROOFLINE, rises_with=LIMITS),
    Objective(
        function=memory_limit_bit_per_s,
        source=ROOFLINE,
        rises_with=("budget_memory_byte_per_s",),
        falls_with=("memory_byte_per_bit",),
    ),
    Objective(
        function=dependence_limit_bit_per_s,
        source="one task in flight per stream: rate <= streams * payload / latency",
    ),
    Objective(
        function=stream_limit_bit_per_s,
        source=ROOFLINE,
        rises_with=("capacity_bit_per_s", "power_limit_bit_per_s"),
        at_most=("stage_capacity_bit_per_s",),
    ),
    Objective(
        function=stream_rate_bit_per_s,
        source=BATTLE_HEMPSTEAD,
        rises_with=("throughput_bit_per_s", "offload_stream_bit_per_s", "stream_limit_bit_per_s"),
        # a design that carries the demand may stream as fast as that takes
        settled_while={"stream_limit_bit_per_s": "workload_meet"},
    ),
)

requirements = (
    Requirement(
        function=meets_demand,
        rule="the throughput reaches workload.rate",
        rises_with=("workload_rate_bit_per_s",),
        falls_with=("throughput_bit_per_s",),
        quantity="throughput_bit_per_s",
        at_least="workload_rate_bit_per_s",
        relaxed_by_less=(
            "workload_rate_bit_per_s",
            "interface_overhead_cycles",
            "interface_overhead_s",
            "interface_latency_cycles",
            "interface_latency_s",
            "interface_latency_cycles_per_byte",
            "interface_latency_s_per_byte",
        ),
        relaxed_by_more=(
            "workload_streams",
            "workload_granularity_byte",
            "interface_in_flight",
            "interface_link_byte_per_s",
            "interface_link_byte_per_cycle",
            "budget_power_cap_w",
            "budget_memory_byte_per_s",
        ),
        # k * 8 g / T1 at the top clock is no less than the rate
        implies={"stream_limit_bit_per_s": "offload_stream_bit_per_s"},
    ),
)

guards = (
    Guard(function=throughput_within_limits, rule="throughput is at most every limit it names"),
)

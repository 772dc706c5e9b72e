"""What offloads wait when they do not arrive steadily, and what that does to their time.

The wait of the pipeline is the largest of its stations' (`stations`): a lower bound for exact
waits of stations, close where one station is the bottleneck, and never above their sum.  In the
equations, lambda are the offloads per second, g the granularity in bytes, R the throughput, r the
payload rate of the pipelines, n the streams of dependent tasks that share them, m the slots, H the
host cores, T1 the time of an offload alone, c_a2 the squared coefficient of variation of the gaps
between arrivals.  Steady arrivals (c_a2 = 0) below every limit wait nothing.

All sizes are equal here.  How far simulations differ is in docs/simulation.md.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, objective
from dse.objectives.system.chain import largest
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.queueing import decay_per_gap, percentile_wait_s, station_wait_s

SOURCE = "Sakasegawa 1977; Kraemer & Langenbach-Belz 1976"
STEADY = {"settled_while": "steady arrivals do not wait, so that the offload alone counts"}
RARE = 0.01
"""Share of offloads that take longer than the 99th percentile."""


@objective(
    source=SOURCE,
    rises_with=("fleet_load", "workload_granularity_byte", "workload_arrival_cv2"),
    falls_with=("stream_rate_bit_per_s", "serial_tasks"),
)
def fleet_wait_s(
    *,
    fleet_load: Column,
    workload_granularity_byte: Column,
    stream_rate_bit_per_s: Column,
    serial_tasks: Column,
    workload_arrival_cv2: Column,
) -> Column:
    """Mean wait for the fleet, were it the only station.

    That for one of n servers with ``S = 8 g n / r``, in s: independent tasks are all in one line,
    n = 1; n streams of dependent tasks share the pipelines.

    References
    ----------
    As `station_wait_s`.
    """
    serial = np.maximum(serial_tasks, 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        service = BIT_PER_BYTE * workload_granularity_byte * serial / stream_rate_bit_per_s
        return station_wait_s(
            load=fleet_load,
            service_s=service,
            servers=serial,
            arrival_cv2=workload_arrival_cv2,
        )


@objective(
    source=SOURCE,
    rises_with=("link_load", "workload_granularity_byte", "workload_arrival_cv2"),
    falls_with=("link_limit_bit_per_s", "memory_limit_bit_per_s"),
)
def link_wait_s(
    *,
    link_load: Column,
    workload_granularity_byte: Column,
    link_limit_bit_per_s: Column,
    workload_arrival_cv2: Column,
    memory_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Mean wait for the link, or the memory if that is slower, were it the only station.

    That for one server with ``S = 8 g / min(link, memory)``, in s.

    References
    ----------
    As `station_wait_s`.
    """
    slower = np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return station_wait_s(
            load=link_load,
            service_s=BIT_PER_BYTE * workload_granularity_byte / slower,
            servers=np.ones(1),
            arrival_cv2=workload_arrival_cv2,
        )


@objective(
    source=SOURCE,
    rises_with=("arrival_rate_hz", "offload_latency_s", "workload_arrival_cv2"),
    falls_with=("slots",),
)
def slot_wait_s(
    *,
    arrival_rate_hz: Column,
    offload_latency_s: Column,
    slots: Column,
    workload_arrival_cv2: Column,
) -> Column:
    """Mean wait for a slot, were that the only station.

    That for one of m servers with ``S = T1``, in s.

    References
    ----------
    As `station_wait_s`.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return station_wait_s(
            load=arrival_rate_hz * offload_latency_s / slots,
            service_s=offload_latency_s,
            servers=slots,
            arrival_cv2=workload_arrival_cv2,
        )


@objective(
    source=SOURCE,
    rises_with=("host_load", "workload_arrival_cv2"),
    falls_with=("arrival_rate_hz", "interface_host_cores"),
)
def host_wait_s(
    *,
    host_load: Column,
    arrival_rate_hz: Column,
    interface_host_cores: Column,
    workload_arrival_cv2: Column,
) -> Column:
    """Mean wait for a host core, were that the only station; 0 for cores that are slots (sync).

    That for one of H servers with ``S = host load H / lambda``, in s.

    References
    ----------
    As `station_wait_s`.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        service = host_load * interface_host_cores / arrival_rate_hz
        return station_wait_s(
            load=host_load,
            service_s=service,
            servers=interface_host_cores,
            arrival_cv2=workload_arrival_cv2,
        )


@objective(
    source="the largest wait of a station",
    rises_with=("fleet_wait_s", "link_wait_s", "slot_wait_s", "host_wait_s"),
    told=True,
    simulated="wait",
)
def wait_s(
    *, fleet_wait_s: Column, link_wait_s: Column, slot_wait_s: Column, host_wait_s: Column
) -> Column:
    """Mean time that an offload waits for others, infinite where a station is overloaded.

    ``W = max(fleet, link, slots, host)``, in s.

    References
    ----------
    Friedman, Operations Research 13, 1965: with constant times the order of stations is
    indifferent.
    """
    return largest((fleet_wait_s, link_wait_s, slot_wait_s, host_wait_s))


@objective(
    source="the part of a wait that m slots leave room for",
    rises_with=("fleet_wait_s", "link_wait_s", "slots", "workload_granularity_byte"),
    falls_with=("stream_rate_bit_per_s", "link_limit_bit_per_s", "memory_limit_bit_per_s"),
)
def inside_wait_s(
    *,
    fleet_wait_s: Column,
    link_wait_s: Column,
    slots: Column,
    workload_granularity_byte: Column,
    stream_rate_bit_per_s: Column,
    link_limit_bit_per_s: Column,
    memory_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Mean wait of an offload that is under way: in its slot, for the fleet or the link.

    ``W_S (m - 1) S / (W_S + (m - 1) S)``, in s, with ``S = 8 g / min(r, link, memory)`` and W_S the
    larger of both waits: the m - 1 others in their slots are all that can stand before it.  Fitted
    to simulations; host cores come out within 10 % for nine in ten Poisson designs.
    """
    slowest = np.minimum(
        stream_rate_bit_per_s, np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s)
    )
    wait = np.maximum(fleet_wait_s, link_wait_s)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        others = np.maximum(slots - 1.0, 0.0) * (BIT_PER_BYTE * workload_granularity_byte / slowest)
        return np.where((wait > 0) & (others > 0), 1.0 / (1.0 / wait + 1.0 / others), 0.0)


@objective(
    source="service and wait",
    rises_with=("offload_latency_s", "wait_s"),
    undeclared=STEADY,
    simulated="time",
)
def offload_latency_mean_s(*, offload_latency_s: Column, wait_s: Column) -> Column:
    """Mean time of an offload from its arrival to its end.

    ``T1 + W``, in s.
    """
    return offload_latency_s + wait_s


@objective(
    source="Abate, Choudhury & Whitt 1995",
    rises_with=("offload_latency_s", "wait_s", "busiest_load", "workload_arrival_cv2"),
    falls_with=("arrival_rate_hz",),
    undeclared=STEADY,
    told=True,
    simulated="rare_time",
)
def offload_latency_p99_s(
    *,
    offload_latency_s: Column,
    wait_s: Column,
    busiest_load: Column,
    arrival_rate_hz: Column,
    workload_arrival_cv2: Column,
) -> Column:
    """Time from arrival to end that one in a hundred offloads exceeds.

    ``T1 + ln(100 eta W) / eta``, in s, with the decay rate eta of the busiest station.

    References
    ----------
    As `decay_per_gap` and `percentile_wait_s`.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        decay = arrival_rate_hz * decay_per_gap(load=busiest_load, arrival_cv2=workload_arrival_cv2)
        wait = percentile_wait_s(wait_s=wait_s, decay_hz=decay, beyond=RARE)
    waits = np.isfinite(wait_s) & (wait_s > 0)
    return offload_latency_s + np.where(waits, wait, wait_s)

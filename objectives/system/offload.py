"""Offloads through an interface: LogCA with a fleet as the accelerator.

LogCA (Altaf & Wood, ISCA 2017, eqs 1, 2 and 8): one offload of g bytes takes
T1 = o + L(g) + C1(g), the host alone takes T0.  Behind a fleet C1 is the fleet's own time, so the
acceleration A = T0 / C1 is derived rather than given.  With k offloads in flight the interface
delivers k * 8 g / T1; k = 1 is the paper's unpipelined case.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Guard, Objective, Requirement, Threshold
from dse.objectives.logca.model import break_even_granularity

LOGCA = "Altaf & Wood, ISCA 2017, eqs 1, 2 and 8"
BIT_PER_BYTE = 8.0


def overhead_s(
    *,
    interface_overhead_cycles: Column,
    interface_overhead_s: Column,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Time the host spends on setting up one offload (LogCA's o)."""
    return interface_overhead_cycles / interface_host_clock_hz + interface_overhead_s


def latency_s_per_byte(
    *,
    interface_latency_cycles_per_byte: Column,
    interface_latency_s_per_byte: Column,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Time per byte to cross the interface, 0 where latency is fixed (LogCA's L, eq. 8)."""
    return (
        interface_latency_cycles_per_byte / interface_host_clock_hz + interface_latency_s_per_byte
    )


def fixed_latency_s(
    *,
    interface_latency_cycles: Column,
    interface_latency_s: Column,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Time to cross the interface whatever the granularity (LogCA's L, eq. 2)."""
    return interface_latency_cycles / interface_host_clock_hz + interface_latency_s


def transfer_s(
    *,
    overhead_s: Column,
    fixed_latency_s: Column,
    latency_s_per_byte: Column,
    workload_granularity_byte: Column,
) -> Column:
    """Time of one offload outside the accelerator: o + L + L_byte g."""
    return overhead_s + fixed_latency_s + latency_s_per_byte * workload_granularity_byte


def stream_bit(
    *, workload_granularity_byte: Column, fill_bit: Column, serial_tasks: Column
) -> Column:
    """Payload that passes the pipelines during one offload: fill + 8 g.

    In a chained mode an offload is of one stream, whose tasks follow each other, so the payload
    of every stream that shares the pipelines passes by as well.
    """
    payload = BIT_PER_BYTE * workload_granularity_byte
    return np.maximum(fill_bit + payload, payload * serial_tasks)


def offload_limit_bit_per_s(
    *,
    interface_in_flight: Column,
    workload_granularity_byte: Column,
    transfer_s: Column,
    stream_bit: Column,
    stream_limit_bit_per_s: Column,
) -> Column:
    """Payload rate of k concurrent offloads at the top clock: k * 8 g / T1."""
    payload = interface_in_flight * BIT_PER_BYTE * workload_granularity_byte
    return payload / (transfer_s + stream_bit / stream_limit_bit_per_s)


def link_limit_bit_per_s(
    *,
    latency_s_per_byte: Column,
    interface_link_byte_per_cycle: Column | float = np.inf,
    interface_link_byte_per_s: Column | float = np.inf,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Payload rate of the link; latency per byte is itself a link of 1 / L."""
    link = np.minimum(
        interface_link_byte_per_cycle * interface_host_clock_hz, interface_link_byte_per_s
    )
    with np.errstate(divide="ignore"):
        return BIT_PER_BYTE * np.minimum(link, 1.0 / latency_s_per_byte)


def offload_stream_bit_per_s(
    *,
    throughput_bit_per_s: Column,
    stream_bit: Column,
    transfer_s: Column,
    interface_in_flight: Column,
    workload_granularity_byte: Column,
) -> Column:
    """Least payload rate of the pipelines at which k offloads deliver the throughput.

    From k * 8 g / (T_oh + X / r) >= R follows r >= X / (k * 8 g / R - T_oh).
    """
    payload = interface_in_flight * BIT_PER_BYTE * workload_granularity_byte
    with np.errstate(divide="ignore", invalid="ignore"):
        spare = payload / throughput_bit_per_s - transfer_s
        return np.where(spare > 0, stream_bit / spare, np.inf)


def accelerator_s(*, stream_bit: Column, stream_rate_bit_per_s: Column) -> Column:
    """Time of one offload inside the accelerators, C1(g)."""
    with np.errstate(divide="ignore"):
        return stream_bit / stream_rate_bit_per_s


def offload_latency_s(*, transfer_s: Column, accelerator_s: Column) -> Column:
    """Time of one offload, T1(g)."""
    return transfer_s + accelerator_s


def host_time_s(
    *,
    workload_granularity_byte: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
) -> Column:
    """Time of the same work on a host core, T0(g) = c0 + C g ** beta."""
    power = np.asarray(workload_granularity_byte) ** kernel_exponent
    return kernel_offset_s + kernel_index_s_per_byte * power


def speedup(*, host_time_s: Column, offload_latency_s: Column) -> Column:
    """How many times faster one offload is than the host, T0 / T1."""
    return host_time_s / offload_latency_s


def acceleration(*, host_time_s: Column, accelerator_s: Column) -> Column:
    """How many times faster the accelerators are than the host, A = T0 / C1."""
    return host_time_s / accelerator_s


def break_even_byte(
    *,
    overhead_s: Column,
    fixed_latency_s: Column,
    latency_s_per_byte: Column,
    fill_bit: Column,
    stream_rate_bit_per_s: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
    serial_tasks: Column,
) -> Column:
    """Granularity from which an offload is no slower than the host, g_1; may not exist.

    The accelerators stay clocked as they are.  In a chained mode T1 is the larger of two lines,
    and g_1 the larger of their two break-even points.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        fixed = overhead_s + fixed_latency_s
        per_byte = latency_s_per_byte + BIT_PER_BYTE / stream_rate_bit_per_s
        serial = latency_s_per_byte + BIT_PER_BYTE * serial_tasks / stream_rate_bit_per_s
        fill = fill_bit / stream_rate_bit_per_s
    streamed = break_even_granularity(
        fixed_s=fixed + fill,
        per_byte_s=per_byte,
        index_s_per_byte=kernel_index_s_per_byte,
        exponent=kernel_exponent,
        offset_s=kernel_offset_s,
    )
    chained = break_even_granularity(
        fixed_s=fixed,
        per_byte_s=serial,
        index_s_per_byte=kernel_index_s_per_byte,
        exponent=kernel_exponent,
        offset_s=kernel_offset_s,
    )
    return np.maximum(streamed, chained)


def fits_in_flight(*, interface_in_flight: Column, interface_max_in_flight: Column) -> Column:
    """Return by what share the offloads in flight exceed what the interface holds."""
    return interface_in_flight / interface_max_in_flight - 1.0


def speedup_within_bounds(
    *, speedup: Column, acceleration: Column, host_time_s: Column, transfer_s: Column
) -> Column:
    """Return by what share speedup exceeds A, or T0 / (o + L) (LogCA, eqs 3 and 4)."""
    with np.errstate(divide="ignore"):
        interface = host_time_s / transfer_s
    return speedup / np.minimum(acceleration, interface) - 1.0


_SET_UP = ("interface_overhead_cycles", "interface_overhead_s")
_CROSSING = ("interface_latency_cycles", "interface_latency_s")
_PER_BYTE = ("interface_latency_cycles_per_byte", "interface_latency_s_per_byte")
_CLOCK = ("interface_host_clock_hz",)
_LINK = ("interface_link_byte_per_cycle", "interface_link_byte_per_s")

objectives = (
    Objective(
        function=offload_latency_s,
        source=LOGCA,
        rises_with=("transfer_s", "accelerator_s"),
        told=True,
    ),
    Objective(
        function=speedup,
        source=LOGCA,
        rises_with=("host_time_s",),
        falls_with=("offload_latency_s",),
        told=True,
    ),
    Objective(
        function=break_even_byte,
        source="Altaf & Wood, ISCA 2017, eq. 5",
        partial=True,
        threshold=Threshold(
            column="workload_granularity_byte",
            above="use the accelerator",
            below="leave the work on the host",
            never="the host is faster at every granularity",
        ),
    ),
    Objective(function=overhead_s, source=LOGCA, rises_with=_SET_UP, falls_with=_CLOCK),
    Objective(function=fixed_latency_s, source=LOGCA, rises_with=_CROSSING, falls_with=_CLOCK),
    Objective(function=latency_s_per_byte, source=LOGCA, rises_with=_PER_BYTE, falls_with=_CLOCK),
    Objective(
        function=transfer_s,
        source=LOGCA,
        rises_with=(
            "overhead_s",
            "fixed_latency_s",
            "latency_s_per_byte",
            "workload_granularity_byte",
        ),
    ),
    Objective(
        function=accelerator_s,
        source=LOGCA,
        rises_with=("stream_bit",),
        falls_with=("stream_rate_bit_per_s",),
        # clocked to meet R it is the least of X / R and k * 8 g / R - T_oh
        settled_while={"stream_rate_bit_per_s": "workload_meet"},
    ),
    Objective(
        function=host_time_s,
        source=LOGCA,
        rises_with=("kernel_index_s_per_byte", "kernel_offset_s", "workload_granularity_byte"),
    ),
    Objective(
        function=acceleration,
        source=LOGCA,
        rises_with=("host_time_s",),
        falls_with=("accelerator_s",),
    ),
    Objective(
        function=stream_bit,
        source="fill + 8 g",
        rises_with=("workload_granularity_byte", "fill_bit", "serial_tasks"),
    ),
    Objective(
        function=offload_limit_bit_per_s,
        source="k offloads in flight: k * 8 g / T1",
        rises_with=("interface_in_flight", "workload_granularity_byte", "stream_limit_bit_per_s"),
        falls_with=("transfer_s", "stream_bit"),
    ),
    Objective(
        function=offload_stream_bit_per_s,
        source="k * 8 g / T1 = R solved for the clock",
        rises_with=("throughput_bit_per_s", "stream_bit", "transfer_s"),
        falls_with=("interface_in_flight", "workload_granularity_byte"),
    ),
    Objective(
        function=link_limit_bit_per_s,
        source="link bandwidth",
        rises_with=(*_LINK, *_CLOCK),
        falls_with=("latency_s_per_byte",),
    ),
)
"""The quantities of an offload, in the order in which reports show them."""

requirements = (
    Requirement(
        function=fits_in_flight,
        rule="interface.in_flight is at most interface.max_in_flight",
        rises_with=("interface_in_flight",),
        falls_with=("interface_max_in_flight",),
        quantity="interface_in_flight",
        at_most="interface_max_in_flight",
        relaxed_by_less=("interface_in_flight",),
        relaxed_by_more=("interface_max_in_flight",),
    ),
)

guards = (
    Guard(
        function=speedup_within_bounds,
        rule="speedup is at most the acceleration and what the interface alone allows",
    ),
)

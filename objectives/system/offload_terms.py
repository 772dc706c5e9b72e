"""What the time and the rate of offloads are made of: LogCA with a fleet as the accelerator.

LogCA (Altaf & Wood, ISCA 2017, eqs 1, 2 and 8): one offload of g bytes takes
``T1 = o + L(g) + C1(g)``, the host alone takes T0.  Behind a fleet C1 is the fleet's own time, so
the acceleration A = T0 / C1 is derived rather than given.  With k offloads in flight the interface
delivers k * 8 g / T1; k = 1 is the paper's unpipelined case.  T_oh is T1 without C1, X the payload
that passes the pipelines meanwhile, r their rate, R the throughput.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, objective
from dse.objectives.system.sources import LOGCA

BIT_PER_BYTE = 8.0


@objective(
    source=LOGCA,
    rises_with=("interface_overhead_cycles", "interface_overhead_s"),
    falls_with=("interface_host_clock_hz",),
)
def overhead_s(
    *,
    interface_overhead_cycles: Column,
    interface_overhead_s: Column,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Time the host spends on setting up one offload (LogCA's o).

    ``o = cycles / f_host + seconds``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    return interface_overhead_cycles / interface_host_clock_hz + interface_overhead_s


@objective(
    source=LOGCA,
    rises_with=("interface_latency_cycles", "interface_latency_s"),
    falls_with=("interface_host_clock_hz",),
)
def fixed_latency_s(
    *,
    interface_latency_cycles: Column,
    interface_latency_s: Column,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Time to cross the interface whatever the granularity (LogCA's L, eq. 2).

    ``L = cycles / f_host + seconds``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2.
    """
    return interface_latency_cycles / interface_host_clock_hz + interface_latency_s


@objective(
    source=LOGCA,
    rises_with=("interface_latency_cycles_per_byte", "interface_latency_s_per_byte"),
    falls_with=("interface_host_clock_hz",),
)
def latency_s_per_byte(
    *,
    interface_latency_cycles_per_byte: Column,
    interface_latency_s_per_byte: Column,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Time per byte to cross the interface, 0 where latency is fixed (LogCA's L, eq. 8).

    ``L_byte = cycles per byte / f_host + seconds per byte``, in s/B.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 8.
    """
    return (
        interface_latency_cycles_per_byte / interface_host_clock_hz + interface_latency_s_per_byte
    )


@objective(
    source=LOGCA,
    rises_with=(
        "overhead_s",
        "fixed_latency_s",
        "latency_s_per_byte",
        "workload_granularity_byte",
    ),
)
def transfer_s(
    *,
    overhead_s: Column,
    fixed_latency_s: Column,
    latency_s_per_byte: Column,
    workload_granularity_byte: Column,
) -> Column:
    """Time of one offload outside the accelerator: o + L + L_byte g.

    ``T_oh = o + L + L_byte g``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    return overhead_s + fixed_latency_s + latency_s_per_byte * workload_granularity_byte


@objective(
    source=LOGCA,
    rises_with=("stream_bit",),
    falls_with=("stream_rate_bit_per_s",),
    # clocked to meet R it is the least of X / R and k * 8 g / R - T_oh
    settled_while={"stream_rate_bit_per_s": "workload_meet"},
)
def accelerator_s(*, stream_bit: Column, stream_rate_bit_per_s: Column) -> Column:
    """Time of one offload inside the accelerators, C1(g).

    ``C1 = X / r``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2, where it is the host's time over A.
    """
    with np.errstate(divide="ignore"):
        return stream_bit / stream_rate_bit_per_s


@objective(
    source=LOGCA,
    rises_with=("kernel_index_s_per_byte", "kernel_offset_s", "workload_granularity_byte"),
    undeclared={"kernel_exponent": "time falls with it below one byte"},
)
def host_time_s(
    *,
    workload_granularity_byte: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
) -> Column:
    """Time of the same work on a host core, T0(g) = c0 + C g ** beta.

    ``T0 = c0 + C g ** beta``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 1.
    """
    power = np.asarray(workload_granularity_byte) ** kernel_exponent
    return kernel_offset_s + kernel_index_s_per_byte * power


@objective(source=LOGCA, rises_with=("host_time_s",), falls_with=("accelerator_s",))
def acceleration(*, host_time_s: Column, accelerator_s: Column) -> Column:
    """How many times faster the accelerators are than the host, A = T0 / C1.

    ``A = T0 / C1``, a number.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2, solved for A.
    """
    return host_time_s / accelerator_s


@objective(
    source="fill + 8 g",
    rises_with=("workload_granularity_byte", "fill_bit", "serial_tasks"),
)
def stream_bit(
    *, workload_granularity_byte: Column, fill_bit: Column, serial_tasks: Column
) -> Column:
    """Payload that passes the pipelines during one offload: fill + 8 g.

    ``X = max(fill + 8 g, 8 g serial)``, in bit.  In a chained mode an offload is of one stream,
    whose tasks follow each other, so the payload of every stream that shares the pipelines passes
    by as well.
    """
    payload = BIT_PER_BYTE * workload_granularity_byte
    return np.maximum(fill_bit + payload, payload * serial_tasks)


@objective(
    source="k offloads in flight: k * 8 g / T1",
    rises_with=("interface_in_flight", "workload_granularity_byte", "stream_limit_bit_per_s"),
    falls_with=("transfer_s", "stream_bit"),
)
def offload_limit_bit_per_s(
    *,
    interface_in_flight: Column,
    workload_granularity_byte: Column,
    transfer_s: Column,
    stream_bit: Column,
    stream_limit_bit_per_s: Column,
) -> Column:
    """Payload rate of k concurrent offloads at the top clock: k * 8 g / T1.

    ``k * 8 g / (T_oh + X / r_max)``, in bit/s.

    References
    ----------
    Altaf & Wood, ISCA 2017, for k = 1.
    """
    payload = interface_in_flight * BIT_PER_BYTE * workload_granularity_byte
    return payload / (transfer_s + stream_bit / stream_limit_bit_per_s)


@objective(
    source="k * 8 g / T1 = R solved for the clock",
    rises_with=("throughput_bit_per_s", "stream_bit", "transfer_s"),
    falls_with=("interface_in_flight", "workload_granularity_byte"),
    undeclared={"at_most": "in exact arithmetic only: the difference in its divisor cancels"},
)
def offload_stream_bit_per_s(
    *,
    throughput_bit_per_s: Column,
    stream_bit: Column,
    transfer_s: Column,
    interface_in_flight: Column,
    workload_granularity_byte: Column,
) -> Column:
    """Least payload rate of the pipelines at which k offloads deliver the throughput.

    ``X / (k * 8 g / R - T_oh)``, in bit/s, from ``k * 8 g / (T_oh + X / r) >= R``.
    """
    payload = interface_in_flight * BIT_PER_BYTE * workload_granularity_byte
    with np.errstate(divide="ignore", invalid="ignore"):
        spare = payload / throughput_bit_per_s - transfer_s
        return np.where(spare > 0, stream_bit / spare, np.inf)


@objective(
    source="link bandwidth",
    rises_with=(
        "interface_link_byte_per_cycle",
        "interface_link_byte_per_s",
        "interface_host_clock_hz",
    ),
    falls_with=("latency_s_per_byte",),
)
def link_limit_bit_per_s(
    *,
    latency_s_per_byte: Column,
    interface_link_byte_per_cycle: Column | float = np.inf,
    interface_link_byte_per_s: Column | float = np.inf,
    interface_host_clock_hz: Column | float = np.inf,
) -> Column:
    """Payload rate of the link; latency per byte is itself a link of 1 / L.

    ``8 min(link, 1 / L_byte)``, in bit/s.

    References
    ----------
    Latency per byte as a link: Altaf & Wood, ISCA 2017, eq. 8.
    """
    link = np.minimum(
        interface_link_byte_per_cycle * interface_host_clock_hz, interface_link_byte_per_s
    )
    with np.errstate(divide="ignore"):
        return BIT_PER_BYTE * np.minimum(link, 1.0 / latency_s_per_byte)

"""Terms of the time and the rate of offloads: LogCA with a fleet as the accelerator.

LogCA (Altaf & Wood, ISCA 2017, eqs 1, 2 and 8): one offload of g bytes takes
``T1 = o + L(g) + C1(g)``, the host by itself takes T0.  Behind a fleet C1 is the fleet's time, so
the acceleration A = T0 / C1 is derived rather than given.  LogCA has no separate link: here an
offload also passes the link and the memory, while the fleet computes or, stored and forwarded,
before and after.  With k offloads in flight the interface delivers k * 8 g / T1.  k = 1 is the
paper's unpipelined case.  T_oh is T1 outside the pipelines, r their rate, R the throughput.

A stage whose clock is gated while it idles runs at its own clock, so a task is not stretched by
its neighbours: the chain fills in the sum of its latencies.  Pipelines that share one rate r, to
meet a demand or because they are never gated, fill in F / r, with the payload F that enters
before the first result.
"""

from __future__ import annotations

import numpy as np

from dse.contract import TRANSFERS, WAIT_MODES, Alone, Column, Falling, Rising, objective
from dse.objectives.system.inline import returns
from dse.objectives.system.sources import LOGCA

BIT_PER_BYTE = 8.0

_NONE = (
    *("area_m2", "area_ge", "area_lc", "fleet_area_m2", "buffer_area_m2", "buffer_bit"),
    "instances",
    *("power_w", "dynamic_power_w", "leakage_power_w", "attachment_power_w"),
    *("overhead_s", "fleet_load", "fleet_wait_s", "link_load", "link_wait_s"),
)
"""Quantities that the host without accelerators does not have."""

HOST_ALONE = Alone(
    columns={
        "throughput_bit_per_s": "carried_demand_bit_per_s",
        "offload_latency_s": "host_time_s",
        "size_spread_s": "host_spread_s",
        "fixed_latency_s": "kernel_offset_s",
        "interface_in_flight": "host_slots",
        "interface_wait": float(WAIT_MODES.index("sync")),
        **dict.fromkeys(_NONE, 0.0),
    },
    own=("interface_host_cores", "interface_host_power_w"),
    cost="host_cores",
)
"""Each core does one task after another, at its speed: it is a slot that waits for T0.  Streams of
dependent tasks keep a core each.

Cores busy, their power, waits for a core and the 99th percentile follow as for offloads.
"""


@objective(source=LOGCA)
def overhead_s(
    *,
    interface_overhead_cycles: Rising[Column],
    interface_overhead_s: Rising[Column],
    interface_overhead_plus_latency_cycles: Rising[Column | float] = 0.0,
    interface_overhead_plus_latency_s: Rising[Column | float] = 0.0,
    interface_overhead_share: Rising[Column | float] = 1.0,
    interface_host_clock_hz: Falling[Column | float] = np.inf,
) -> Column:
    """Time the host spends on setting up one offload (LogCA's o).

    ``o = cycles / f_host + seconds + share * sum``, in s, with the sum of overhead and
    latency if only that is known.  Its share is at most 1.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    known = interface_overhead_cycles / interface_host_clock_hz + interface_overhead_s
    cycles = interface_overhead_plus_latency_cycles / interface_host_clock_hz
    both = cycles + interface_overhead_plus_latency_s
    return known + np.minimum(interface_overhead_share, 1.0) * both


@objective(source=LOGCA)
def fixed_latency_s(
    *,
    interface_latency_cycles: Rising[Column],
    interface_latency_s: Rising[Column],
    interface_overhead_plus_latency_cycles: Rising[Column | float] = 0.0,
    interface_overhead_plus_latency_s: Rising[Column | float] = 0.0,
    interface_overhead_share: Falling[Column | float] = 1.0,
    round_trips_s: Rising[Column | float] = 0.0,
    interface_host_clock_hz: Falling[Column | float] = np.inf,
) -> Column:
    """Time to cross the interface for any granularity (LogCA's L, eq. 2).

    ``L = cycles / f_host + seconds + (1 - share) * sum + round trips``, in s, with the sum of
    overhead and latency if only that is known.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2.
    """
    known = interface_latency_cycles / interface_host_clock_hz + interface_latency_s
    cycles = interface_overhead_plus_latency_cycles / interface_host_clock_hz
    both = cycles + interface_overhead_plus_latency_s
    return known + (1.0 - np.minimum(interface_overhead_share, 1.0)) * both + round_trips_s


@objective(source=LOGCA)
def latency_s_per_byte(
    *,
    interface_latency_cycles_per_byte: Rising[Column],
    interface_latency_s_per_byte: Rising[Column],
    interface_host_clock_hz: Falling[Column | float] = np.inf,
) -> Column:
    """Time per byte to cross the interface, 0 for fixed latency (LogCA's L, eq. 8).

    ``L_byte = cycles per byte / f_host + seconds per byte``, in s/B.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 8.
    """
    return (
        interface_latency_cycles_per_byte / interface_host_clock_hz + interface_latency_s_per_byte
    )


@objective(source=LOGCA)
def transfer_s(
    *,
    overhead_s: Rising[Column],
    fixed_latency_s: Rising[Column],
    latency_s_per_byte: Rising[Column],
    storing_s_per_byte: Rising[Column],
    workload_granularity_byte: Rising[Column],
) -> Column:
    """Time of one offload outside the pipelines: o + L + L_byte g, and the time of storing.

    ``T_oh = o + L + (L_byte + s) g``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    per_byte = latency_s_per_byte + storing_s_per_byte
    return overhead_s + fixed_latency_s + per_byte * workload_granularity_byte


@objective(source=LOGCA, over_sizes="mean", alone=HOST_ALONE)
def host_time_s(
    *,
    workload_granularity_byte: Rising[Column],
    kernel_index_s_per_byte: Rising[Column],
    kernel_exponent: Column,
    kernel_offset_s: Rising[Column],
) -> Column:
    """Time of the same work on a host core, T0(g) = c0 + C g ** beta.

    ``T0 = c0 + C g ** beta``, in s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 1.
    """
    power = np.asarray(workload_granularity_byte) ** kernel_exponent
    return kernel_offset_s + kernel_index_s_per_byte * power


@objective(source="one offload at a time per stream")
def host_slots(
    *, workload_chained: Column | float = 0.0, workload_streams: Rising[Column | float] = np.inf
) -> Column:
    """Host cores that the work can take at once if nothing is offloaded.

    n if the tasks of each of n streams wait for each other, else without a bound.  A number.
    """
    return np.where(np.not_equal(workload_chained, 0), workload_streams, np.inf)


@objective(source=LOGCA)
def carried_demand_bit_per_s(
    *,
    demand_bit_per_s: Rising[Column],
    host_slots: Rising[Column],
    host_time_s: Falling[Column],
    workload_granularity_byte: Column,
) -> Column:
    """Payload rate of the host without accelerators: the demand, up to the rate of its streams.

    ``min(demand, slots 8 g / T0)``, in bit/s.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 1, for T0.
    """
    most = host_slots * BIT_PER_BYTE * workload_granularity_byte / host_time_s
    return np.minimum(demand_bit_per_s, most)


@objective(source=LOGCA)
def accelerated_limit_bit_per_s(
    *,
    host_time_s: Falling[Column],
    interface_acceleration: Rising[Column],
    workload_granularity_byte: Column,
) -> Column:
    """Payload rate of a whole accelerator that computes A times as fast as the host.

    ``8 g A / T0``, in bit/s: one offload after the other takes C1 = T0 / A.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2.
    """
    return BIT_PER_BYTE * workload_granularity_byte * interface_acceleration / host_time_s


@objective(source=LOGCA)
def acceleration(*, host_time_s: Rising[Column], accelerator_s: Falling[Column]) -> Column:
    """Ratio of the host's time to the accelerators' time, A = T0 / C1.

    ``A = T0 / C1``, a number.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2, solved for A.
    """
    return host_time_s / accelerator_s


@objective(source="link bandwidth", at_most=("pcie_payload_bit_per_s",))
def link_bit_per_s(
    *,
    interface_link_byte_per_s: Rising[Column],
    interface_link_byte_per_cycle: Rising[Column | float] = np.inf,
    interface_host_clock_hz: Rising[Column | float] = np.inf,
    pcie_payload_bit_per_s: Rising[Column | float] = np.inf,
    reread_ratio: Falling[Column | float] = 0.0,
) -> Column:
    """Payload rate of the link in each direction, infinite if no rate is stated.

    ``min(8 link, payload of PCI Express) / (1 + rho)``, in bit/s, with rho bytes read again
    per byte of payload.
    """
    cycles = interface_link_byte_per_cycle * interface_host_clock_hz
    stated = BIT_PER_BYTE * np.minimum(cycles, interface_link_byte_per_s)
    return np.minimum(stated, pcie_payload_bit_per_s) / (1.0 + reread_ratio)


@objective(source="link bandwidth", at_most=("link_bit_per_s", "pcie_payload_bit_per_s"))
def link_limit_bit_per_s(
    *, link_bit_per_s: Rising[Column], latency_s_per_byte: Falling[Column]
) -> Column:
    """Payload rate of the link, with latency per byte as a link of 1 / L.

    ``min(link, 8 / L_byte)``, in bit/s.

    References
    ----------
    Latency per byte as a link: Altaf & Wood, ISCA 2017, eq. 8.
    """
    return np.minimum(link_bit_per_s, BIT_PER_BYTE / latency_s_per_byte)


@objective(source="store and forward")
def storing_s_per_byte(
    *,
    link_bit_per_s: Falling[Column],
    interface_transfer: Column,
    interface_attachment: Falling[Column | float] = 0.0,
    reread_ratio: Falling[Column | float] = 0.0,
) -> Column:
    """Time per byte to store an offload before it is computed, and its result before it returns.

    ``2 * 8 / (link (1 + rho))`` if transfers are stored and forwarded, half of it inline, because
    no result returns, 0 if they cut through, in s/B.  Bytes read again come later.
    """
    stored = np.equal(interface_transfer, TRANSFERS.index("store_and_forward"))
    crossings = 1.0 + returns(interface_attachment)
    once = link_bit_per_s * (1.0 + reread_ratio)
    return np.where(stored, crossings * BIT_PER_BYTE / once, 0.0)


@objective(source="link and memory")
def passing_s_per_byte(
    *,
    link_bit_per_s: Falling[Column],
    interface_transfer: Column,
    memory_limit_bit_per_s: Falling[Column | float] = np.inf,
    reread_ratio: Falling[Column | float] = 0.0,
) -> Column:
    """Time per byte to pass the link and the memory while the fleet computes.

    ``8 / min(link (1 + rho), memory)``, in s/B.  Only the memory's time if transfers are stored and
    forwarded.  Bytes read again come later.
    """
    stored = np.equal(interface_transfer, TRANSFERS.index("store_and_forward"))
    link = np.where(stored, np.inf, link_bit_per_s * (1.0 + reread_ratio))
    return BIT_PER_BYTE / np.minimum(link, memory_limit_bit_per_s)

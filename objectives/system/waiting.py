"""Waits of offloads without steady arrivals, and their effect on times.

The wait of the pipeline is the largest of its stations': a lower bound for exact
waits of stations, close if one station is the bottleneck, and never above their sum.  In the
equations, lambda are the offloads per second, g the granularity in bytes, R the throughput, r the
payload rate of the pipelines, n the streams of dependent tasks that share them, m the slots, H the
host cores, T1 the time of an offload by itself, c_a2 the squared coefficient of variation of the
gaps between arrivals, c_s2 the same for a station's service, 0 unless sizes vary (`mixes`).
If neither varies, offloads below every limit do not wait.

The differences from simulations are in docs/simulation.md.
"""

from __future__ import annotations

import numpy as np

from dse.contract import (
    TRANSFERS,
    WAIT_MODES,
    Caution,
    Column,
    Falling,
    Rising,
    SizeColumn,
    objective,
)
from dse.objectives.system.fleet import largest
from dse.objectives.system.mixes import percentile_wait_s, standardised, station_wait_s
from dse.objectives.system.offload_terms import BIT_PER_BYTE

CROWDED = 0.95
"""Load that makes an answer warn: Poisson arrivals wait ten times the service, or more."""

STORED_LOAD = 0.3
"""Load that makes an answer warn of a link that stores offloads of several sizes."""

_SOURCE = "load of a station: arrivals times service over servers"


def _crowded(queue: str) -> Caution:
    words = f"expect queueing {queue} unless offloads arrive steadily"
    return Caution(given="interface_in_flight", above=CROWDED, words=words)


@objective(source="throughput in offloads")
def arrival_rate_hz(
    *, throughput_bit_per_s: Rising[Column], workload_granularity_byte: Falling[Column]
) -> Column:
    """Offloads that arrive, and end, each second.

    ``lambda = R / (8 g)``, in Hz.
    """
    return throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte)


@objective(source="offloads in flight; host cores that wait")
def slots(
    *, interface_in_flight: Rising[Column], free_host_cores: Rising[Column], interface_wait: Column
) -> Column:
    """Offloads that can be under way at once, at most the host cores if these wait (sync).

    ``m = min(k, H)`` for sync, else k, a number.
    """
    waiting = np.equal(interface_wait, WAIT_MODES.index("sync"))
    held = np.minimum(interface_in_flight, free_host_cores)
    return np.where(waiting, held, interface_in_flight)


@objective(source=_SOURCE, caution=_crowded("for the cores (add instances or raise the clock)"))
def fleet_load(
    *, throughput_bit_per_s: Rising[Column], stream_rate_bit_per_s: Falling[Column]
) -> Column:
    """Share of time that the fleet is busy, at its clock.

    ``R / r``, a share.
    """
    return load_of(throughput_bit_per_s, stream_rate_bit_per_s)


@objective(source=_SOURCE, caution=_crowded("for the link or the memory"))
def link_load(
    *,
    throughput_bit_per_s: Rising[Column],
    link_limit_bit_per_s: Falling[Column],
    memory_limit_bit_per_s: Falling[Column | float] = np.inf,
) -> Column:
    """Share of time for which the link, or the memory if that is slower, is busy.

    ``R / min(link, memory)``, a share.
    """
    return load_of(throughput_bit_per_s, np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s))


@objective(
    source="store and forward",
    caution=Caution(
        given="workload_size_cv2",
        above=STORED_LOAD,
        words="sizes vary and transfers are stored and forwarded, so that small offloads wait "
        "behind large ones at every station, longer than calculated: simulate",
    ),
)
def stored_load(
    *,
    throughput_bit_per_s: Rising[Column],
    link_bit_per_s: Falling[Column],
    interface_transfer: Column,
    workload_size_cv2: Rising[Column],
) -> Column:
    """Share of time for which each direction of a link that stores offloads of a mix is busy.

    ``R / link``, a share, 0 if transfers cut through.
    """
    stored = np.equal(interface_transfer, TRANSFERS.index("store_and_forward"))
    stored = stored & np.greater(workload_size_cv2, 0)
    return np.where(stored, throughput_bit_per_s / link_bit_per_s, 0.0)


@objective(
    source=_SOURCE,
    caution=_crowded("for a slot (shorten offloads, or raise `in_flight` if more fit)"),
)
def slot_load(
    *,
    arrival_rate_hz: Rising[Column],
    offload_latency_s: Rising[Column],
    slots: Falling[Column],
    size_wait_s: Rising[Column | float] = 0.0,
) -> Column:
    """Share of the slots that are taken.

    ``lambda (T1 + W_v) / m``, a share, with W_v = 0 for offloads of one size.
    """
    held = offload_latency_s + size_wait_s
    taken = np.where(np.greater(arrival_rate_hz, 0), arrival_rate_hz * held, 0.0)
    return taken / slots


@objective(source=_SOURCE, caution=_crowded("for a host core"))
def host_load(
    *, offload_cores: Rising[Column], free_host_cores: Falling[Column], interface_wait: Column
) -> Column:
    """Share of the host cores that are busy, 0 for cores that wait (sync), which are slots.

    ``lambda b / H``, a share.
    """
    waiting = np.equal(interface_wait, WAIT_MODES.index("sync"))
    return np.where(waiting, 0.0, load_of(offload_cores, free_host_cores))


@objective(source="the busiest station")
def busiest_load(
    *,
    fleet_load: Rising[Column],
    link_load: Rising[Column],
    slot_load: Rising[Column],
    host_load: Rising[Column],
) -> Column:
    """Load of the busiest station.

    ``max(fleet, link, slots, host)``, a share.
    """
    return largest((fleet_load, link_load, slot_load, host_load))


def load_of(rate: Column, most: Column | float) -> Column:
    """Return a rate over its maximum, 0 without arrivals."""
    return np.where(np.greater(rate, 0), rate / most, 0.0)


@objective(source="share of the demand")
def demand_bit_per_s(
    *,
    workload_rate_bit_per_s: Rising[Column],
    workload_payload_offloaded: Rising[Column | float] = 1.0,
) -> Column:
    """Payload rate demanded of the accelerators: the part of the demand that the policy offloads.

    ``q_b demand``, in bit/s.
    """
    return workload_rate_bit_per_s * workload_payload_offloaded


@objective(source="Whitt 1983, splitting")
def offload_arrival_cv2(
    *, workload_arrival_cv2: Rising[Column], workload_tasks_offloaded: Column | float = 1.0
) -> Column:
    """Squared coefficient of variation of the gaps between offloads.

    ``q c_a2 + 1 - q``, a number: each task is offloaded or not whatever those before it were, so
    that a gap is a sum of gaps, as many as it takes.  Poisson arrivals stay so.

    References
    ----------
    Whitt, "The queueing network analyzer", Bell System Technical Journal 62, 1983, on splitting.
    """
    kept = workload_tasks_offloaded
    return workload_arrival_cv2 * kept + (1.0 - kept)


@objective(source="Altaf & Wood, ISCA 2017, eq. 1", over_sizes="staying")
def staying_time_s(
    *,
    workload_granularity_byte: Rising[Column],
    kernel_index_s_per_byte: Rising[Column],
    kernel_exponent: Column,
    kernel_offset_s: Rising[Column],
    workload_tasks_offloaded: Falling[Column],
) -> Column:
    """Host time of the tasks that stay, for each task that is offloaded.

    ``(1 - q) / q T0``, in s, with T0 for each size that stays, averaged.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 1, for T0.
    """
    power = np.asarray(workload_granularity_byte) ** kernel_exponent
    each = kernel_offset_s + kernel_index_s_per_byte * power
    return each * np.maximum(1.0 / workload_tasks_offloaded - 1.0, 0.0)


@objective(staying=True, source="Altaf & Wood, ISCA 2017, eq. 1")
def staying_cores(
    *,
    throughput_bit_per_s: Rising[Column],
    staying_time_s: Rising[Column],
    workload_granularity_byte: Falling[Column],
) -> Column:
    """Host cores that the sizes which stay keep busy.

    ``R / (8 g) staying time``, a number.

    References
    ----------
    As `staying_time_s`.
    """
    return throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte) * staying_time_s


@objective(staying=True, source="vendor values for power and cores")
def staying_power_w(
    *,
    staying_cores: Rising[Column],
    interface_host_power_w: Rising[Column],
    interface_host_cores: Falling[Column],
) -> Column:
    """Power of the host cores that the sizes which stay keep busy, a part of the host's.

    ``staying cores P_host / N_host``, in W.
    """
    return staying_cores * (interface_host_power_w / interface_host_cores)


@objective(source="cores set apart")
def free_host_cores(
    *, interface_host_cores: Rising[Column], staying_cores: Falling[Column | float] = 0.0
) -> Column:
    """Host cores that the sizes which stay leave to offloads.

    ``max(N_host - staying cores, 0)``, a number.
    """
    return np.maximum(interface_host_cores - staying_cores, 0.0)


SOURCE = "Sakasegawa 1977; Kraemer & Langenbach-Belz 1976"
_RARE = 0.01
"""Share of offloads that take longer than the 99th percentile."""


@objective(source=SOURCE)
def fleet_wait_s(
    *,
    fleet_load: Rising[Column],
    workload_granularity_byte: Rising[Column],
    stream_rate_bit_per_s: Falling[Column],
    serial_tasks: Falling[Column],
    offload_arrival_cv2: Rising[Column],
    workload_size_cv2: Rising[Column | float] = 0.0,
) -> Column:
    """Mean wait for the fleet, were it the only station.

    The wait for one of n servers with ``S = 8 g n / r``, in s: independent tasks are all in one
    line, n = 1.  n streams of dependent tasks share the pipelines.

    References
    ----------
    As `station_wait_s`.
    """
    serial = np.maximum(serial_tasks, 1.0)
    service = BIT_PER_BYTE * workload_granularity_byte * serial / stream_rate_bit_per_s
    return station_wait_s(
        load=fleet_load,
        service_s=service,
        servers=serial,
        arrival_cv2=offload_arrival_cv2,
        service_cv2=workload_size_cv2,
    )


@objective(source=SOURCE)
def link_wait_s(
    *,
    throughput_bit_per_s: Rising[Column],
    workload_granularity_byte: Rising[Column],
    link_limit_bit_per_s: Falling[Column],
    offload_arrival_cv2: Rising[Column],
    memory_limit_bit_per_s: Falling[Column | float] = np.inf,
    workload_size_cv2: Rising[Column | float] = 0.0,
    link_cv2: Rising[Column | float] = 0.0,
) -> Column:
    """Mean wait for the link, or the memory if that is longer, were it the only station.

    The larger of those for one server with ``S = 8 g / link`` and with ``S = 8 g / memory``, in s.

    References
    ----------
    As `station_wait_s`.
    """
    waits = []
    limits = (link_limit_bit_per_s, link_cv2), (memory_limit_bit_per_s, workload_size_cv2)
    for limit, service_cv2 in limits:
        wait = station_wait_s(
            load=load_of(throughput_bit_per_s, limit),
            service_s=BIT_PER_BYTE * workload_granularity_byte / limit,
            servers=np.ones(1),
            arrival_cv2=offload_arrival_cv2,
            service_cv2=service_cv2,
        )
        waits.append(wait)
    return np.maximum(*waits)


@objective(source=SOURCE)
def slot_wait_s(
    *,
    arrival_rate_hz: Rising[Column],
    offload_latency_s: Rising[Column],
    slots: Falling[Column],
    offload_arrival_cv2: Rising[Column],
    workload_size_cv2: Rising[Column | float] = 0.0,
    size_spread_s: Rising[Column | float] = 0.0,
    size_wait_s: Rising[Column | float] = 0.0,
) -> Column:
    """Mean wait for a slot, were that the only station.

    The wait for one of m servers with ``S = T1 + W_v`` and ``c_s2 = (spread / S)^2``, in s, with
    W_v = 0 for one size.  J takes the c_s2 of the sizes, which is larger: with T1's own a longer T1
    could wait less.

    References
    ----------
    As `station_wait_s`.
    """
    held = offload_latency_s + size_wait_s
    return station_wait_s(
        load=arrival_rate_hz * held / slots,
        service_s=held,
        servers=slots,
        arrival_cv2=offload_arrival_cv2,
        service_cv2=np.minimum((size_spread_s / held) ** 2, workload_size_cv2),
        shape_cv2=workload_size_cv2,
    )


@objective(source=SOURCE)
def host_wait_s(
    *,
    host_load: Rising[Column],
    arrival_rate_hz: Falling[Column],
    free_host_cores: Falling[Column],
    offload_arrival_cv2: Rising[Column],
) -> Column:
    """Mean wait for a host core, were that the only station, 0 for cores that are slots (sync).

    The wait for one of H servers with ``S = host load H / lambda``, in s.

    References
    ----------
    As `station_wait_s`.
    """
    service = host_load * free_host_cores / arrival_rate_hz
    return station_wait_s(
        load=host_load,
        service_s=service,
        servers=free_host_cores,
        arrival_cv2=offload_arrival_cv2,
    )


@objective(source="the largest wait of a station", report=True, simulated="wait")
def wait_s(
    *,
    fleet_wait_s: Rising[Column],
    link_wait_s: Rising[Column],
    slot_wait_s: Rising[Column],
    host_wait_s: Rising[Column],
) -> Column:
    """Mean time that an offload waits for others, infinite if a station is overloaded.

    ``W = max(fleet, link, slots, host)``, in s.

    References
    ----------
    Friedman, Operations Research 13, 1965: with constant times the order of stations is
    indifferent.
    """
    return largest((fleet_wait_s, link_wait_s, slot_wait_s, host_wait_s))


@objective(source="Little's law, in the room that m slots leave")
def taken_slots(
    *,
    arrival_rate_hz: Rising[Column],
    offload_latency_s: Rising[Column],
    fleet_wait_s: Rising[Column],
    link_wait_s: Rising[Column],
    fleet_load: Rising[Column],
    link_load: Rising[Column],
    slots: Rising[Column],
) -> Column:
    """Offloads under way at once: the average number of taken slots.

    ``N = A + x (1 - exp(-(m - A) rho^((m + 1) / (m - 1)) / x))``, a number, with ``A = lambda T1``
    for offloads that do not wait, and ``x = lambda W_S`` of the longer wait and the higher
    load of fleet and link: the number that would wait there with unlimited slots.  Such a line
    is there for rho of the time, and exponential then.  It finds room for m - A.  The rest of the
    exponent is fitted to simulations.  N is at most m if A is.

    References
    ----------
    Little, "A proof for the queuing formula L = lambda W", Operations Research 9, 1961.
    """
    alone = np.where(arrival_rate_hz > 0, arrival_rate_hz * offload_latency_s, 0.0)
    waiting = np.where(
        arrival_rate_hz > 0, arrival_rate_hz * np.maximum(fleet_wait_s, link_wait_s), 0.0
    )
    load = np.minimum(np.maximum(fleet_load, link_load), 1.0)
    exponent = (slots + 1.0) / np.maximum(slots - 1.0, 0.0)
    room = np.maximum(slots - alone, 0.0) * load**exponent
    inside = np.where(np.isinf(waiting), room, -waiting * np.expm1(-room / waiting))
    return alone + np.where((waiting > 0) & (room > 0), np.minimum(inside, room), 0.0)


@objective(source="service and wait", simulated="time")
def offload_latency_mean_s(*, offload_latency_s: Rising[Column], wait_s: Rising[Column]) -> Column:
    """Mean time of an offload from its arrival to its end.

    ``T1 + W``, in s.
    """
    return offload_latency_s + wait_s


@objective(
    source="Abate, Choudhury & Whitt 1995",
    over_sizes="together",
    report=True,
    simulated="rare_time",
)
def offload_latency_p99_s(
    *,
    offload_latency_s: Rising[Column],
    wait_s: Rising[Column],
    wait_decay_hz: Falling[Column],
    workload_granularity_byte: SizeColumn,
    size_spread_s: Rising[Column | float] = 0.0,
) -> Column:
    """Time from arrival to end that one in a hundred offloads exceeds.

    ``T1 + ln(100 eta W) / eta``, in s, with the decay rate eta.  For a mix of sizes the least t
    with ``sum_i p_i P(T_i + wait > t) <= 0.01`` and ``T_i = T1 + s max(z_i, 0)`` with the spread s
    of T1: no less than the time of size i by itself.

    References
    ----------
    As `wait_decay_hz` and `percentile_wait_s`.
    """
    sizes = standardised(workload_granularity_byte)
    times = [size_spread_s * np.maximum(size, 0.0) for size, _ in sizes]
    shares = [part for _, part in sizes]
    waits = np.isfinite(wait_s) & (wait_s > 0)
    found: Column = np.full(1, np.inf)
    for largest_met in range(len(sizes)):
        beyond = _RARE - sum(shares[largest_met + 1 :])  # larger ones count as late, all of them
        if beyond <= 0:
            continue
        own = times[largest_met]
        earlier = zip(times[: largest_met + 1], shares[: largest_met + 1], strict=True)
        weight = sum(part * np.exp(wait_decay_hz * (time - own)) for time, part in earlier)
        wait = percentile_wait_s(wait_s=wait_s, decay_hz=wait_decay_hz, beyond=beyond / weight)
        found = np.minimum(found, own + np.where(waits, np.maximum(wait, 0.0), wait_s))
    return offload_latency_s + found

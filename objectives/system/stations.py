"""The stations that an offload queues for, how busy each is, and what a policy keeps from them.

An offload takes one of k slots, then a host core, then the link in, the fleet and the link out, and
returns its slot.  A `sync` host core is held to the end, so that it is a slot itself.  A station's
load is the share of time for which it is busy, the largest of which is that of the bottleneck.  In
the equations, R is the throughput, g the granularity in bytes, k the offloads in flight, H the host
cores, T1 the time of an offload alone, r the payload rate of the pipelines.

Without overtaking and with equal sizes the n-th offload ends at
``D_n = max(A_n + T1, D_(n-1) + S, D_(n-k) + T1, D_(n-H) + b)``, S being the spacing and b the time
of a host core: each term alone is a station's, and the largest of their waits is a lower bound of
the wait of the whole, path by path.

A study's policy offloads the sizes above a threshold: q is the share of all tasks that is offloaded
and q_b that of the payload, and R and g, like everything of stage, link, slots and waits, are of
what is offloaded.  Without a policy q = q_b = 1, and all quantities are those of the whole demand,
to the last digit.
"""

from __future__ import annotations

import numpy as np

from dse.contract import WAIT_MODES, Caution, Column, objective
from dse.objectives.system.fleet import largest
from dse.objectives.system.offload_terms import BIT_PER_BYTE

CROWDED = 0.95
"""Load above which an answer warns: Poisson arrivals wait ten times the service, or more."""

STORED = 0.3
"""Load of a link that stores offloads of several sizes, above which an answer warns."""

_SOURCE = "load of a station: arrivals times service over servers"


def _crowded(queue: str) -> Caution:
    words = f"expect queueing {queue} unless offloads arrive steadily"
    return Caution(given="interface_in_flight", above=CROWDED, words=words)


@objective(
    source="throughput in offloads",
    rises_with=("throughput_bit_per_s",),
    falls_with=("workload_granularity_byte",),
)
def arrival_rate_hz(*, throughput_bit_per_s: Column, workload_granularity_byte: Column) -> Column:
    """Offloads that arrive, and end, each second.

    ``lambda = R / (8 g)``, in Hz.
    """
    return throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte)


@objective(
    source="offloads in flight; host cores that wait",
    rises_with=("interface_in_flight", "free_host_cores"),
)
def slots(
    *, interface_in_flight: Column, free_host_cores: Column, interface_wait: Column
) -> Column:
    """Offloads that can be under way at once: no more than host cores where these wait (sync).

    ``m = min(k, H)`` for sync, else k, a number.
    """
    waiting = np.equal(interface_wait, WAIT_MODES.index("sync"))
    held = np.minimum(interface_in_flight, free_host_cores)
    return np.where(waiting, held, interface_in_flight)


@objective(
    source=_SOURCE,
    rises_with=("throughput_bit_per_s",),
    falls_with=("stream_rate_bit_per_s",),
    caution=_crowded("for the cores (add instances or raise the clock)"),
)
def fleet_load(*, throughput_bit_per_s: Column, stream_rate_bit_per_s: Column) -> Column:
    """Share of time for which the fleet is busy, at the clock at which it runs.

    ``R / r``, a share.
    """
    return load_of(throughput_bit_per_s, stream_rate_bit_per_s)


@objective(
    source=_SOURCE,
    rises_with=("throughput_bit_per_s",),
    falls_with=("link_limit_bit_per_s", "memory_limit_bit_per_s"),
    undeclared={"settled_while": "a slow memory is busy however offloads are transferred"},
    caution=_crowded("for the link or the memory"),
)
def link_load(
    *,
    throughput_bit_per_s: Column,
    link_limit_bit_per_s: Column,
    memory_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """Share of time for which the link, or the memory if that is slower, is busy.

    ``R / min(link, memory)``, a share.
    """
    return load_of(throughput_bit_per_s, np.minimum(link_limit_bit_per_s, memory_limit_bit_per_s))


@objective(
    source="store and forward",
    rises_with=("throughput_bit_per_s", "storing_s_per_byte", "workload_size_cv2"),
    caution=Caution(
        given="workload_size_cv2",
        above=STORED,
        words="sizes vary and transfers are stored and forwarded, so that small offloads wait "
        "behind large ones at every station, longer than calculated: simulate",
    ),
)
def stored_load(
    *, throughput_bit_per_s: Column, storing_s_per_byte: Column, workload_size_cv2: Column
) -> Column:
    """Share of time for which each direction of a link that stores offloads of a mix is busy.

    ``R / 8 s / 2``, a share, with s for both directions; 0 where transfers cut through.
    """
    load = throughput_bit_per_s / BIT_PER_BYTE * storing_s_per_byte / 2.0
    return np.where(np.greater(workload_size_cv2, 0), load, 0.0)


@objective(
    source=_SOURCE,
    rises_with=("arrival_rate_hz", "offload_latency_s", "size_wait_s"),
    falls_with=("slots",),
    caution=_crowded("for a slot (shorten offloads, or raise `in_flight` where more fit)"),
)
def slot_load(
    *,
    arrival_rate_hz: Column,
    offload_latency_s: Column,
    slots: Column,
    size_wait_s: Column | float = 0.0,
) -> Column:
    """Share of the slots that are taken.

    ``lambda (T1 + W_v) / m``, a share; W_v is 0 for offloads of one size.
    """
    held = offload_latency_s + size_wait_s
    taken = np.where(np.greater(arrival_rate_hz, 0), arrival_rate_hz * held, 0.0)
    return taken / slots


@objective(
    source=_SOURCE,
    rises_with=("offload_cores",),
    falls_with=("free_host_cores",),
    caution=_crowded("for a host core"),
)
def host_load(*, offload_cores: Column, free_host_cores: Column, interface_wait: Column) -> Column:
    """Share of the host cores that are busy; 0 for those that wait (sync), which are slots.

    ``lambda b / H``, a share.
    """
    waiting = np.equal(interface_wait, WAIT_MODES.index("sync"))
    return np.where(waiting, 0.0, load_of(offload_cores, free_host_cores))


@objective(
    source="the busiest station",
    rises_with=("fleet_load", "link_load", "slot_load", "host_load"),
    undeclared={"settled_while": "a fleet that fills sooner may be busier and need fewer slots"},
)
def busiest_load(
    *, fleet_load: Column, link_load: Column, slot_load: Column, host_load: Column
) -> Column:
    """Load of the busiest station.

    ``max(fleet, link, slots, host)``, a share.
    """
    return largest((fleet_load, link_load, slot_load, host_load))


def load_of(rate: Column, most: Column | float) -> Column:
    """Return a rate over the most that there can be, 0 where nothing arrives."""
    return np.where(np.greater(rate, 0), rate / most, 0.0)


@objective(
    source="share of the demand",
    rises_with=("workload_rate_bit_per_s", "workload_payload_offloaded"),
)
def demand_bit_per_s(
    *, workload_rate_bit_per_s: Column, workload_payload_offloaded: Column | float = 1.0
) -> Column:
    """Payload rate demanded of the accelerators: what the policy offloads of the whole demand.

    ``q_b demand``, in bit/s.
    """
    return workload_rate_bit_per_s * workload_payload_offloaded


@objective(
    source="Whitt 1983, splitting",
    rises_with=("workload_arrival_cv2",),
    undeclared={"workload_tasks_offloaded": "rises with it where arrivals are bursts, else falls"},
)
def offload_arrival_cv2(
    *, workload_arrival_cv2: Column, workload_tasks_offloaded: Column | float = 1.0
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


@objective(
    source="Altaf & Wood, ISCA 2017, eq. 1",
    rises_with=("kernel_index_s_per_byte", "kernel_offset_s", "workload_granularity_byte"),
    falls_with=("workload_tasks_offloaded",),
    undeclared={"kernel_exponent": "time falls with it below one byte"},
    over_sizes="staying",
)
def staying_time_s(
    *,
    workload_granularity_byte: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
    workload_tasks_offloaded: Column,
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


@objective(
    staying=True,
    source="Altaf & Wood, ISCA 2017, eq. 1",
    rises_with=("throughput_bit_per_s", "staying_time_s"),
    falls_with=("workload_granularity_byte",),
)
def staying_cores(
    *, throughput_bit_per_s: Column, staying_time_s: Column, workload_granularity_byte: Column
) -> Column:
    """Host cores that the sizes which stay keep busy.

    ``R / (8 g) staying time``, a number.

    References
    ----------
    As `staying_time_s`.
    """
    return throughput_bit_per_s / (BIT_PER_BYTE * workload_granularity_byte) * staying_time_s


@objective(
    staying=True,
    source="vendor figures for power and cores",
    rises_with=("staying_cores", "interface_host_power_w"),
    falls_with=("interface_host_cores",),
)
def staying_power_w(
    *, staying_cores: Column, interface_host_power_w: Column, interface_host_cores: Column
) -> Column:
    """Power of the host cores that the sizes which stay keep busy, a part of the host's.

    ``staying cores P_host / N_host``, in W.
    """
    return staying_cores * (interface_host_power_w / interface_host_cores)


@objective(
    source="cores set apart", rises_with=("interface_host_cores",), falls_with=("staying_cores",)
)
def free_host_cores(*, interface_host_cores: Column, staying_cores: Column | float = 0.0) -> Column:
    """Host cores that the sizes which stay leave to offloads.

    ``max(N_host - staying cores, 0)``, a number.
    """
    return np.maximum(interface_host_cores - staying_cores, 0.0)

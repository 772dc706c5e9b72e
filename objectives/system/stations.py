"""The stations that an offload queues for, and how busy each of them is.

An offload takes one of k slots, then a host core, then the link in, the fleet and the link out, and
returns its slot.  A `sync` host core is held to the end, so that it is a slot itself.  A station's
load is the share of time for which it is busy, the largest of which is that of the bottleneck.  In
the equations, R is the throughput, g the granularity in bytes, k the offloads in flight, H the host
cores, T1 the time of an offload alone, r the payload rate of the pipelines.

Without overtaking and with equal sizes the n-th offload ends at
``D_n = max(A_n + T1, D_(n-1) + S, D_(n-k) + T1, D_(n-H) + b)``, S being the spacing and b the time
of a host core: each term alone is a station's, and the largest of their waits is a lower bound of
the wait of the whole, path by path.
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
    with np.errstate(invalid="ignore"):
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
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.greater(rate, 0), rate / most, 0.0)

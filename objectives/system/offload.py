"""Value of an offload compared with the host: its time, its speedup, and its break-even size.

LogCA (Altaf & Wood, ISCA 2017) with a fleet as the accelerator, behind a link: one offload of g
bytes takes ``T1 = T_oh + C(r)`` (`offload_rates`), the host by itself takes T0.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Falling, Rising, Threshold, objective
from dse.objectives.logca.roots import first_nonnegative, roots
from dse.objectives.system.fleet import Stages
from dse.objectives.system.offload_rates import streaming_s
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.sources import LOGCA

_NEAR = 1e-9
"""Relative tolerance, more than the rounding of a granularity."""


@objective(
    source=LOGCA,
    # clocked to meet R it is the least of T1 at r = R and k * 8 g / R
    settled_while={"stream_rate_bit_per_s": "clocks_meet"},
    report=True,
)
def offload_latency_s(
    *,
    transfer_s: Rising[Column],
    own_fill_s: Rising[Column],
    common_fill_bit: Rising[Column],
    rounds_s: Rising[Column],
    common_rounds_bit: Rising[Column],
    passing_s_per_byte: Rising[Column],
    serial_tasks: Rising[Column],
    workload_granularity_byte: Rising[Column],
    streamed_bit: Rising[Column],
    stream_rate_bit_per_s: Falling[Column],
) -> Column:
    """Time of one offload, T1(g): never faster than the link or the memory that it passes.

    ``T1 = T_oh + C(r)`` (`offload_rates`), in s.  Without link, memory and dependence that is
    LogCA's ``o + L(g) + C1(g)``.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    inside = streaming_s(
        rate_bit_per_s=stream_rate_bit_per_s,
        granularity_byte=workload_granularity_byte,
        streamed_bit=streamed_bit,
        fill=(own_fill_s, common_fill_bit),
        rounds=(rounds_s, common_rounds_bit),
        passing_s_per_byte=passing_s_per_byte,
        serial_tasks=serial_tasks,
    )
    return transfer_s + inside


@objective(source=LOGCA, report=True)
def speedup(*, host_time_s: Rising[Column], offload_latency_s: Falling[Column]) -> Column:
    """Ratio of the host's time to the time of one offload, T0 / T1.

    ``T0 / T1``, a number.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 1, 2 and 8.
    """
    return host_time_s / offload_latency_s


@objective(
    source="Altaf & Wood, ISCA 2017, eq. 5",
    partial=True,
    threshold=Threshold(
        column="workload_granularity_byte",
        above="the offload is faster",
        below="the host is faster",
        never="the host is faster at every granularity",
    ),
)
def break_even_byte(
    *,
    overhead_s: Column,
    fixed_latency_s: Column,
    latency_s_per_byte: Column,
    storing_s_per_byte: Column,
    passing_s_per_byte: Column,
    own_fill_s: Column,
    common_fill_bit: Column,
    stream_rate_bit_per_s: Column,
    kernel_index_s_per_byte: Column,
    kernel_exponent: Column,
    kernel_offset_s: Column,
    serial_tasks: Column,
    stage_round_bit: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    power_limit_bit_per_s: Column | float = np.inf,
    interface_acceleration: Column | float = np.inf,
) -> Column:
    """Least granularity of an offload no slower than the host, g_1, which may not exist.

    ``T0(g_1) = T1(g_1)``, in B.  The accelerators stay clocked as they are, and a link of PCI
    Express keeps its rate at the design's granularity: small offloads get less of it.
    T1 is at most the larger of two lines: the streamed one up to their crossing, then the line of
    dependent tasks.  For one stage with independent tasks it has a step for each round (`rounds`),
    whose tops lie on that line: at g_1 the host reaches the step below it.  Steps are those
    of messages without an end.
    A whole accelerator takes T0 / A for every g, while its payload passes by.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 5, with the exact root in place of one Newton step.
    """
    fixed = overhead_s + fixed_latency_s
    per_byte = latency_s_per_byte + storing_s_per_byte
    streamed_s = BIT_PER_BYTE / stream_rate_bit_per_s
    fill = own_fill_s + common_fill_bit / stream_rate_bit_per_s
    passing = np.maximum(streamed_s, passing_s_per_byte)
    crossing = fill / np.maximum(streamed_s * serial_tasks - passing, 0.0)
    host = kernel_index_s_per_byte, kernel_exponent
    streamed = first_nonnegative(*host, per_byte + passing, fixed + fill - kernel_offset_s)
    slope, shortfall = per_byte + streamed_s * serial_tasks, fixed - kernel_offset_s
    chained = _first_from(crossing, *host, slope, shortfall)
    left = 1.0 - 1.0 / np.asarray(interface_acceleration)
    passed = first_nonnegative(*host, per_byte + passing_s_per_byte, fixed - kernel_offset_s)
    computed = first_nonnegative(
        left * kernel_index_s_per_byte, kernel_exponent, per_byte, fixed - left * kernel_offset_s
    )
    computed = np.where(left > 0, np.maximum(passed, computed), np.nan)
    before = (streamed <= crossing) & (crossing > 0) | np.isnan(crossing)
    found = np.where(before, streamed, chained)
    found = np.where(np.less(interface_acceleration, np.inf), computed, found)
    if len(stage_round_bit) > 1:
        return found
    payload = stage_round_bit[0] / BIT_PER_BYTE
    passed = passing_s_per_byte * payload
    interval, capacity = stage_round_s[0], stage_capacity_bit_per_s[0]
    own = np.maximum(interval - passed, 0.0)
    own = own + interval * np.maximum(capacity / power_limit_bit_per_s - 1.0, 0.0)
    shared = np.maximum(interval * (capacity / stream_rate_bit_per_s) - passed, 0.0)
    step = np.where(np.greater(stage_common[0], 0), shared, own)
    rounds = np.floor(found / payload)
    late = fixed + fill - kernel_offset_s + rounds * step
    reached = _first_from(rounds * payload, *host, per_byte + passing_s_per_byte, late)
    # no faster than all payload at the rate, if a latency is less than an interval
    reached = np.maximum(reached, first_nonnegative(*host, slope, shortfall))
    stepped = (reached <= found) & (step > 0) & np.less_equal(serial_tasks, 1)
    return np.where(stepped, reached, found)


def _first_from(least: Column, a: Column, b: Column, c: Column, d: Column) -> Column:
    """Return the smallest g from `least` on at which ``a g**b - c g - d`` becomes 0."""
    found = roots(a, b, c, d)
    found = np.where(found >= least[..., np.newaxis] * (1.0 - _NEAR), found, np.nan)
    first = np.fmin(found[..., 0], found[..., 1])
    return np.where(least == 0, first_nonnegative(a, b, c, d), first)

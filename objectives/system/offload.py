"""What an offload is worth beside the host: its time, its speedup, and from where on it pays.

LogCA (Altaf & Wood, ISCA 2017) with a fleet as the accelerator, behind a link: one offload of g
bytes takes ``T1 = T_oh + C(r)``, the host alone takes T0.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Threshold, objective
from dse.objectives.logca.model import first_nonnegative, roots
from dse.objectives.system.fleet import Stages, total
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.sources import LOGCA

ROUNDING = 1e-12
"""Relative; what rounding may add to a whole number of rounds."""

UNSEEN = "no random system shows it with clocks that meet R, which is no proof"


def rounds_before(granularity_byte: Column, round_bit: Column) -> Column:
    """Return how many rounds start before the last one, n - 1; 0 for an empty fleet."""
    rounds = np.ceil(BIT_PER_BYTE * granularity_byte / round_bit * (1.0 - ROUNDING))
    return np.where(np.greater(round_bit, 0), np.maximum(rounds - 1.0, 0.0), 0.0)


@objective(
    source="rounds of tasks",
    rises_with=("stage_round_s", "workload_granularity_byte"),
    falls_with=(
        "stage_round_bit",
        "stage_capacity_bit_per_s",
        "stage_common",
        "stage_alone",
        "passing_s_per_byte",
    ),
    over_stages="sum",
    over_sizes="mean",
    settled_while={"passing_s_per_byte": "clocks_meet"},
    undeclared={"stage_round_s settled": UNSEEN},
)
def own_rounds_s(
    *,
    stage_round_bit: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    stage_alone: Stages,
    workload_granularity_byte: Column,
    passing_s_per_byte: Column,
) -> Column:
    """Time for which the last round of stages at their own clocks waits, beyond its payload.

    Of one stage ``min((n - 1) max(0, I - p W / 8), 8 g max(0, 1 / c - p / 8))``, in s: payload that
    link and memory bring in p per byte leaves that much less to wait for.  Of several
    ``sum_j min((n_j - 1) I_j, 8 g / c_j)``: with p a faster link could make the bound longer.
    """

    def waits(bit: Column, s: Column, capacity: Column, common: Column, alone: Column) -> Column:
        passing = np.where(np.greater(alone, 0), passing_s_per_byte / BIT_PER_BYTE, 0.0)
        rounds = rounds_before(workload_granularity_byte, bit)
        streamed = np.maximum(1.0 / capacity - passing, 0.0)
        streamed = BIT_PER_BYTE * workload_granularity_byte * streamed
        waited = np.minimum(rounds * np.maximum(s - passing * bit, 0.0), streamed)
        return np.where(np.greater(common, 0), 0.0, waited)

    stages = (stage_round_bit, stage_round_s, stage_capacity_bit_per_s, stage_common, stage_alone)
    return total(map(waits, *stages))


@objective(
    source="clocks under a power cap",
    rises_with=("stage_round_s", "stage_capacity_bit_per_s", "workload_granularity_byte"),
    falls_with=("stage_round_bit", "stage_common", "power_limit_bit_per_s"),
    over_stages="sum",
    over_sizes="mean",
    undeclared={"stage_round_s settled": UNSEEN},
)
def throttled_rounds_s(
    *,
    stage_round_bit: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    workload_granularity_byte: Column,
    power_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """How much longer rounds take because a power cap keeps stages from their clocks.

    ``sum_j min((n_j - 1) I_j, 8 g / c_j) max(0, c_j / power limit - 1)`` of the stages at their own
    clocks, in s.
    """

    def longer(bit: Column, s: Column, capacity: Column, common: Column) -> Column:
        payload = BIT_PER_BYTE * workload_granularity_byte
        rounds = rounds_before(workload_granularity_byte, bit)
        inverse = 1.0 / power_limit_bit_per_s
        slower = np.minimum(
            rounds * s * np.maximum(capacity * inverse - 1.0, 0.0),
            payload * np.maximum(inverse - 1.0 / capacity, 0.0),
        )
        capped = (common <= 0) & np.less(power_limit_bit_per_s, np.inf)
        return np.where(capped, np.where(rounds > 0, slower, 0.0), 0.0)

    stages = (stage_round_bit, stage_round_s, stage_capacity_bit_per_s, stage_common)
    return total(map(longer, *stages))


@objective(
    source="rounds of tasks",
    rises_with=(
        "stage_round_s",
        "stage_capacity_bit_per_s",
        "stage_common",
        "workload_granularity_byte",
    ),
    falls_with=("stage_round_bit",),
    over_stages="sum",
    over_sizes="mean",
)
def common_rounds_bit(
    *,
    stage_round_bit: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    workload_granularity_byte: Column,
) -> Column:
    """Payload that stages at one rate carry from their first to their last round.

    ``Q = sum_j min((n_j - 1) I_j c_j, 8 g)`` of the stages at one rate, in bit; over the rate, it
    is the time.
    """

    def carried(bit: Column, s: Column, capacity: Column, common: Column) -> Column:
        rounds = rounds_before(workload_granularity_byte, bit)
        most = np.minimum(rounds * s * capacity, BIT_PER_BYTE * workload_granularity_byte)
        return np.where(common > 0, most, 0.0)

    stages = (stage_round_bit, stage_round_s, stage_capacity_bit_per_s, stage_common)
    return total(map(carried, *stages))


@objective(source="rounds of tasks", rises_with=("own_rounds_s", "throttled_rounds_s"))
def rounds_s(*, own_rounds_s: Column, throttled_rounds_s: Column) -> Column:
    """Time for which the last round of stages at their own clocks waits, as the power cap has it.

    ``q = own rounds + throttled rounds``, in s.
    """
    return own_rounds_s + throttled_rounds_s


def streaming_s(
    *,
    rate_bit_per_s: Column,
    granularity_byte: Column,
    own_fill_s: Column,
    common_fill_bit: Column,
    rounds_s: Column,
    common_rounds_bit: Column,
    passing_s_per_byte: Column,
    serial_tasks: Column,
) -> Column:
    """Return C(r), in s: the time from the first bit in to the last bit out."""
    per_bit = 1.0 / rate_bit_per_s
    payload = BIT_PER_BYTE * granularity_byte
    passed = passing_s_per_byte * granularity_byte
    before = np.minimum(common_rounds_bit, payload)
    last = passing_s_per_byte * (granularity_byte - before / BIT_PER_BYTE) + before * per_bit
    late = np.where(common_rounds_bit > 0, np.maximum(passed, last), passed)
    through = np.minimum(rounds_s + late, np.maximum(passed, payload * per_bit))
    filled = own_fill_s + np.where(common_fill_bit > 0, common_fill_bit * per_bit, 0.0)
    serial = np.maximum(serial_tasks, 1.0)  # 0 for an empty fleet, which takes forever
    return np.maximum(filled + through, per_bit * serial * payload)


@objective(
    source="pipelines that share one rate",
    rises_with=("stage_latency_s", "stage_capacity_bit_per_s", "stage_common"),
    over_stages="sum",
)
def common_fill_bit(
    *, stage_latency_s: Stages, stage_capacity_bit_per_s: Stages, stage_common: Stages
) -> Column:
    """Payload that fills the pipelines which share one rate.

    ``F = sum_j latency_j c_j`` of the stages at one rate, in bit.
    """
    stages = zip(stage_latency_s, stage_capacity_bit_per_s, stage_common, strict=True)
    return total(
        np.where(np.greater(common, 0), latency * capacity, 0.0)
        for latency, capacity, common in stages
    )


@objective(
    source="latency of a task, Battle & Hempstead, section IV-B",
    rises_with=("stage_latency_s",),
    falls_with=("stage_common",),
    over_stages="sum",
)
def own_latency_s(*, stage_latency_s: Stages, stage_common: Stages) -> Column:
    """Time of one task through the stages that run at their own clocks, as fast as allowed.

    ``sum_j latency_j`` of the stages at their own clocks, in s.

    References
    ----------
    Latency: Battle & Hempstead, sections IV-B and V-A.
    """
    stages = zip(stage_latency_s, stage_common, strict=True)
    return total(np.where(np.greater(common, 0), 0.0, latency) for latency, common in stages)


@objective(source="pipelines at their own clocks", rises_with=("own_latency_s", "throttled_s"))
def own_fill_s(*, own_latency_s: Column, throttled_s: Column) -> Column:
    """Time to fill the pipelines which each run at their own clock.

    ``t = sum_j latency_j max(1, c_j / power limit)`` of the stages at their own clocks, in s.
    """
    return own_latency_s + throttled_s


@objective(
    source="clocks under a power cap",
    rises_with=("stage_latency_s", "stage_capacity_bit_per_s"),
    falls_with=("power_limit_bit_per_s", "stage_common"),
    over_stages="sum",
)
def throttled_s(
    *,
    stage_latency_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
    power_limit_bit_per_s: Column | float = np.inf,
) -> Column:
    """How much longer a task takes because a power cap keeps stages from their clocks.

    ``sum_j latency_j max(0, c_j / power limit - 1)`` of the stages at their own clocks, in s.
    """

    def longer(latency: Column, capacity: Column, common: Column) -> Column:
        share = np.maximum(capacity / power_limit_bit_per_s - 1.0, 0.0)
        capped = (common <= 0) & np.less(power_limit_bit_per_s, np.inf)
        return np.where(capped, np.where(latency > 0, latency * share, 0.0), 0.0)

    return total(map(longer, stage_latency_s, stage_capacity_bit_per_s, stage_common))


@objective(
    source=LOGCA,
    rises_with=(
        "own_fill_s",
        "common_fill_bit",
        "throttled_rounds_s",
        "common_rounds_bit",
        "workload_granularity_byte",
        "serial_tasks",
        "stage_round_s",
    ),
    falls_with=(
        "stream_rate_bit_per_s",
        "stage_round_bit",
        "stage_capacity_bit_per_s",
        "stage_common",
    ),
    undeclared={"settled_while": "stages may run at their own clocks, and tasks in no chain"},
)
def accelerator_s(
    *,
    own_fill_s: Column,
    common_fill_bit: Column,
    throttled_rounds_s: Column,
    common_rounds_bit: Column,
    workload_granularity_byte: Column,
    stream_rate_bit_per_s: Column,
    serial_tasks: Column,
    stage_round_bit: Stages,
    stage_round_s: Stages,
    stage_capacity_bit_per_s: Stages,
    stage_common: Stages,
) -> Column:
    """Time of one offload inside the accelerators if nothing slows its payload down, C1(g).

    ``C1 = max(t + F / r + min(q + Q / r, 8 g / r), 8 g n / r)``, in s, with q as if payload came at
    once: of one core ``latency + (n - 1) I`` for n tasks.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2, where it is the host's time over A.
    """
    at_once = own_rounds_s(
        stage_round_bit=stage_round_bit,
        stage_round_s=stage_round_s,
        stage_capacity_bit_per_s=stage_capacity_bit_per_s,
        stage_common=stage_common,
        stage_alone=stage_common,  # nothing passes by
        workload_granularity_byte=workload_granularity_byte,
        passing_s_per_byte=np.zeros(1),
    )
    return streaming_s(
        rate_bit_per_s=stream_rate_bit_per_s,
        granularity_byte=workload_granularity_byte,
        own_fill_s=own_fill_s,
        common_fill_bit=common_fill_bit,
        rounds_s=at_once + throttled_rounds_s,
        common_rounds_bit=common_rounds_bit,
        passing_s_per_byte=np.zeros(1),
        serial_tasks=serial_tasks,
    )


@objective(
    source="k offloads in flight: k * 8 g / T1",
    rises_with=("interface_in_flight", "workload_granularity_byte", "stream_limit_bit_per_s"),
    falls_with=(
        "transfer_s",
        "own_fill_s",
        "common_fill_bit",
        "rounds_s",
        "common_rounds_bit",
        "passing_s_per_byte",
        "serial_tasks",
    ),
    undeclared={"settled_while": "stages at their own clocks have rounds next to others"},
)
def offload_limit_bit_per_s(
    *,
    interface_in_flight: Column,
    workload_granularity_byte: Column,
    transfer_s: Column,
    own_fill_s: Column,
    common_fill_bit: Column,
    rounds_s: Column,
    common_rounds_bit: Column,
    passing_s_per_byte: Column,
    serial_tasks: Column,
    stream_limit_bit_per_s: Column,
) -> Column:
    """Payload rate of k concurrent offloads at the clocks allowed: k * 8 g / T1.

    ``k * 8 g / (T_oh + C(r_max))``, in bit/s.

    References
    ----------
    Altaf & Wood, ISCA 2017, for k = 1.
    """
    payload = interface_in_flight * BIT_PER_BYTE * workload_granularity_byte
    inside = streaming_s(
        rate_bit_per_s=stream_limit_bit_per_s,
        granularity_byte=workload_granularity_byte,
        own_fill_s=own_fill_s,
        common_fill_bit=common_fill_bit,
        rounds_s=rounds_s,
        common_rounds_bit=common_rounds_bit,
        passing_s_per_byte=passing_s_per_byte,
        serial_tasks=serial_tasks,
    )
    return payload / (transfer_s + inside)


@objective(
    source="k * 8 g / T1 = R solved for the clock",
    rises_with=(
        "throughput_bit_per_s",
        "transfer_s",
        "own_fill_s",
        "common_fill_bit",
        "rounds_s",
        "common_rounds_bit",
        "passing_s_per_byte",
        "serial_tasks",
    ),
    falls_with=("interface_in_flight", "workload_granularity_byte"),
    undeclared={
        "at_most": "in exact arithmetic only: the difference in its divisor cancels",
        "settled_while": "a slow memory counts however offloads are transferred",
    },
)
def offload_stream_bit_per_s(
    *,
    throughput_bit_per_s: Column,
    transfer_s: Column,
    own_fill_s: Column,
    common_fill_bit: Column,
    rounds_s: Column,
    common_rounds_bit: Column,
    passing_s_per_byte: Column,
    serial_tasks: Column,
    interface_in_flight: Column,
    workload_granularity_byte: Column,
) -> Column:
    """Least payload rate of the pipelines at which k offloads deliver the throughput.

    The least r with ``T_oh + C(r) <= k * 8 g / R``, in bit/s: with ``s = k * 8 g / R - T_oh`` the
    larger of ``8 g n / s`` and the lesser of what the two bounds of C take,
    ``max(F / (s - t - q - p g), (F + Q) / (s - t - q - p (g - Q / 8)))`` and
    ``max(F / (s - t - p g), (F + 8 g) / (s - t))``.
    """
    payload = BIT_PER_BYTE * workload_granularity_byte
    passed = passing_s_per_byte * workload_granularity_byte
    before = np.minimum(common_rounds_bit, payload)
    rest = workload_granularity_byte - before / BIT_PER_BYTE
    spare = interface_in_flight * payload / throughput_bit_per_s - transfer_s
    free = spare - own_fill_s
    last = free - rounds_s
    in_rounds = np.maximum(
        _least_rate(common_fill_bit, last - passed),
        _least_rate(common_fill_bit + before, last - passing_s_per_byte * rest),
    )
    streamed = np.maximum(
        _least_rate(common_fill_bit, free - passed),
        _least_rate(common_fill_bit + payload, free),
    )
    serial = _least_rate(payload * serial_tasks, spare)
    return np.maximum(np.minimum(in_rounds, streamed), serial)


def _least_rate(bit: Column, time_s: Column) -> Column:
    """Return the least rate at which a payload passes in a time; infinite where there is none."""
    return np.where(time_s > 0, bit / time_s, np.where((time_s < 0) | (bit > 0), np.inf, 0.0))


NEAR = 1e-9
"""Relative; more than the rounding of a granularity."""


@objective(
    source=LOGCA,
    rises_with=(
        "transfer_s",
        "own_fill_s",
        "common_fill_bit",
        "rounds_s",
        "common_rounds_bit",
        "passing_s_per_byte",
        "serial_tasks",
        "workload_granularity_byte",
    ),
    falls_with=("stream_rate_bit_per_s",),
    # clocked to meet R it is the least of T1 at r = R and k * 8 g / R
    settled_while={"stream_rate_bit_per_s": "clocks_meet"},
    undeclared={
        "rounds_s settled": "stages at their own clocks have rounds next to others that meet R",
        "passing_s_per_byte settled": "what comes late leaves less to wait for in rounds",
        "common_rounds_bit settled": "what settles rounds in random systems bounds their sum",
        "serial_tasks settled": "no random system shows it with common clocks: no proof",
    },
    report=True,
)
def offload_latency_s(
    *,
    transfer_s: Column,
    own_fill_s: Column,
    common_fill_bit: Column,
    rounds_s: Column,
    common_rounds_bit: Column,
    passing_s_per_byte: Column,
    serial_tasks: Column,
    workload_granularity_byte: Column,
    stream_rate_bit_per_s: Column,
) -> Column:
    """Time of one offload, T1(g): never faster than the link or the memory that it passes.

    ``T1 = T_oh + C(r)``, in s.  Without link, memory and dependence that is
    LogCA's ``o + L(g) + C1(g)``.

    References
    ----------
    Altaf & Wood, ISCA 2017, eqs 2 and 8.
    """
    inside = streaming_s(
        rate_bit_per_s=stream_rate_bit_per_s,
        granularity_byte=workload_granularity_byte,
        own_fill_s=own_fill_s,
        common_fill_bit=common_fill_bit,
        rounds_s=rounds_s,
        common_rounds_bit=common_rounds_bit,
        passing_s_per_byte=passing_s_per_byte,
        serial_tasks=serial_tasks,
    )
    return transfer_s + inside


@objective(
    source=LOGCA, rises_with=("host_time_s",), falls_with=("offload_latency_s",), report=True
)
def speedup(*, host_time_s: Column, offload_latency_s: Column) -> Column:
    """How many times faster one offload is than the host, T0 / T1.

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
    undeclared=dict.fromkeys(
        ("rises_with", "falls_with"), "a root is found to rounding, which need not be monotone"
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
    """Granularity from which an offload is no slower than the host, g_1; may not exist.

    ``T0(g_1) = T1(g_1)``, in B.  The accelerators stay clocked as they are, and a link of PCI
    Express carries what it does at the design's granularity: small offloads get less of it.
    T1 is at most the larger of two lines: the streamed one up to where they cross, then that of
    dependent tasks.  Of one stage with independent tasks it has a step for each round (`rounds`),
    whose tops lie on that line: g_1 is where the host reaches the step below it.
    A whole accelerator takes T0 / A for every g, while its payload passes by.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 5; the exact root in place of one Newton step.
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
    passed, interval, capacity = (
        passing_s_per_byte * payload,
        stage_round_s[0],
        stage_capacity_bit_per_s[0],
    )
    own = np.maximum(interval - passed, 0.0)
    own = own + interval * np.maximum(capacity / power_limit_bit_per_s - 1.0, 0.0)
    shared = np.maximum(interval * (capacity / stream_rate_bit_per_s) - passed, 0.0)
    step = np.where(np.greater(stage_common[0], 0), shared, own)
    rounds = np.floor(found / payload)
    late = fixed + fill - kernel_offset_s + rounds * step
    reached = _first_from(rounds * payload, *host, per_byte + passing_s_per_byte, late)
    # no faster than all payload at the rate, where a latency is less than an interval
    reached = np.maximum(reached, first_nonnegative(*host, slope, shortfall))
    stepped = (reached <= found) & (step > 0) & np.less_equal(serial_tasks, 1)
    return np.where(stepped, reached, found)


def _first_from(least: Column, a: Column, b: Column, c: Column, d: Column) -> Column:
    """Return the smallest g from `least` on at which ``a g**b - c g - d`` becomes 0."""
    found = roots(a, b, c, d)
    found = np.where(found >= least[..., np.newaxis] * (1.0 - NEAR), found, np.nan)
    first = np.fmin(found[..., 0], found[..., 1])
    return np.where(least == 0, first_nonnegative(a, b, c, d), first)

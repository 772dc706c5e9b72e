"""The time of an offload in the pipelines, and the rate of k offloads in flight.

In the equations, g is the granularity in bytes, k the offloads in flight, R the throughput, T_oh
the time outside the pipelines, r their payload rate, p the time per byte to
pass link and memory, F the payload that fills pipelines which share one rate, t the time to fill
pipelines that each run at their own clock, n the streams of dependent tasks that share the
pipelines, q and Q the rounds of the latter and of the former (`rounds`), S the streamed payload:

    C(r) = max(t + F / r + min(q + max(p g, p (g - Q / 8) + Q / r), max(p g, S / r)),  8 g n / r)

The first bound is exact for one stage of one design: its last round starts when the rounds before
are over and the rest of the payload is there.  A chain is bounded by the sum over its stages and by
all payload at the slowest rate, and the lesser is taken.  The last term is for a chained
mode: an offload is of one stream then, whose tasks follow each other, so the payload of every
stream that shares the pipelines passes by as well.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Falling, Rising, objective
from dse.objectives.system.fleet import Stages, largest, total
from dse.objectives.system.offload_terms import BIT_PER_BYTE
from dse.objectives.system.sources import LOGCA

_ROUNDING = 1e-12
"""Relative rounding error of a whole number of rounds."""


def rounds_before(granularity_byte: Column, round_bit: Column, end_bit: Column | float) -> Column:
    """Return the number of rounds of whole tasks before the last, n - 1, 0 for an empty fleet."""
    message = BIT_PER_BYTE * granularity_byte + end_bit
    rounds = np.ceil(message / round_bit * (1.0 - _ROUNDING))
    return np.where(np.greater(round_bit, 0), np.maximum(rounds - 1.0, 0.0), 0.0)


def _streamed(
    granularity_byte: Column,
    filled: Column,
    end_bit: Column,
    per_bit: Column | float = 1.0,
    passing: Column | float = 0.0,
) -> Column:
    """Return the payload S of a message at the rate of whole tasks, times `per_bit`.

    ``min(8 g, (8 g + e) filled)``, less the payload that passes by meanwhile, per bit.  8 g for an
    empty fleet, which fills nothing.
    """
    payload = BIT_PER_BYTE * granularity_byte
    part = np.where(np.greater(filled, 0), filled, 1.0) * per_bit
    whole = payload * np.maximum(per_bit - passing, 0.0)
    end = np.where(np.greater(end_bit, 0), end_bit * part, 0.0)
    return np.minimum(whole, payload * np.maximum(part - passing, 0.0) + end)


@objective(
    source="rounds of tasks",
    over_stages="sum",
    over_sizes="mean",
    settled_while={"passing_s_per_byte": "clocks_meet"},
)
def own_rounds_s(
    *,
    stage_round_bit: Falling[Stages],
    stage_round_s: Rising[Stages],
    stage_message_end_bit: Rising[Stages],
    stage_filled: Rising[Stages],
    stage_capacity_bit_per_s: Falling[Stages],
    stage_common: Falling[Stages],
    stage_alone: Falling[Stages],
    workload_granularity_byte: Rising[Column],
    passing_s_per_byte: Falling[Column],
) -> Column:
    """Time for which the last round of stages at their own clocks waits, beyond its payload.

    For one stage ``min((n - 1) max(0, I - p W / 8), S / c - p g)``, in s: payload that
    link and memory bring in p per byte leaves that much less to wait for.  For several
    ``sum_j min((n_j - 1) I_j, S_j / c_j)``: with p a faster link could make the bound longer.
    """

    def waits(*stage: Column) -> Column:
        bit, s, end, filled, capacity, common, alone = stage
        passing = np.where(np.greater(alone, 0), passing_s_per_byte / BIT_PER_BYTE, 0.0)
        rounds = rounds_before(workload_granularity_byte, bit, end)
        streamed = _streamed(workload_granularity_byte, filled, end, 1.0 / capacity, passing)
        waited = np.minimum(rounds * np.maximum(s - passing * bit, 0.0), streamed)
        return np.where(np.greater(common, 0), 0.0, waited)

    rounds_of = (stage_round_bit, stage_round_s, stage_message_end_bit, stage_filled)
    stages = (*rounds_of, stage_capacity_bit_per_s, stage_common, stage_alone)
    return total(map(waits, *stages))


@objective(source="clocks under a power cap", over_stages="sum", over_sizes="mean")
def throttled_rounds_s(
    *,
    stage_round_bit: Falling[Stages],
    stage_round_s: Rising[Stages],
    stage_message_end_bit: Rising[Stages],
    stage_filled: Rising[Stages],
    stage_capacity_bit_per_s: Rising[Stages],
    stage_common: Falling[Stages],
    workload_granularity_byte: Rising[Column],
    power_limit_bit_per_s: Falling[Column | float] = np.inf,
) -> Column:
    """Additional time of rounds because a power cap keeps stages from their clocks.

    ``sum_j min((n_j - 1) I_j, S_j / c_j) max(0, c_j / power limit - 1)`` of the stages at their own
    clocks, in s.
    """

    def longer(*stage: Column) -> Column:
        bit, s, end, filled, capacity, common = stage
        payload = _streamed(workload_granularity_byte, filled, end)
        rounds = rounds_before(workload_granularity_byte, bit, end)
        inverse = 1.0 / power_limit_bit_per_s
        slower = np.minimum(
            rounds * s * np.maximum(capacity * inverse - 1.0, 0.0),
            payload * np.maximum(inverse - 1.0 / capacity, 0.0),
        )
        capped = (common <= 0) & np.less(power_limit_bit_per_s, np.inf)
        return np.where(capped, np.where(rounds > 0, slower, 0.0), 0.0)

    rounds_of = (stage_round_bit, stage_round_s, stage_message_end_bit, stage_filled)
    return total(map(longer, *rounds_of, stage_capacity_bit_per_s, stage_common))


@objective(source="rounds of tasks", over_stages="sum", over_sizes="mean")
def common_rounds_bit(
    *,
    stage_round_bit: Falling[Stages],
    stage_round_s: Rising[Stages],
    stage_message_end_bit: Rising[Stages],
    stage_filled: Rising[Stages],
    stage_capacity_bit_per_s: Rising[Stages],
    stage_common: Rising[Stages],
    workload_granularity_byte: Rising[Column],
) -> Column:
    """Payload that stages at one rate carry from their first to their last round.

    ``Q = sum_j min((n_j - 1) I_j c_j, S_j)`` of the stages at one rate, in bit.  Divided by the
    rate, it is the time.
    """

    def carried(*stage: Column) -> Column:
        bit, s, end, filled, capacity, common = stage
        rounds = rounds_before(workload_granularity_byte, bit, end)
        payload = _streamed(workload_granularity_byte, filled, end)
        most = np.minimum(rounds * s * capacity, payload)
        return np.where(common > 0, most, 0.0)

    rounds_of = (stage_round_bit, stage_round_s, stage_message_end_bit, stage_filled)
    return total(map(carried, *rounds_of, stage_capacity_bit_per_s, stage_common))


@objective(source="rounds of tasks")
def rounds_s(*, own_rounds_s: Rising[Column], throttled_rounds_s: Rising[Column]) -> Column:
    """Time for which the last round of stages at their own clocks waits, under the power cap.

    ``q = own rounds + throttled rounds``, in s.
    """
    return own_rounds_s + throttled_rounds_s


@objective(source="whole tasks", over_stages="largest", over_sizes="mean")
def streamed_bit(
    *,
    stage_filled: Rising[Stages],
    stage_message_end_bit: Rising[Stages],
    workload_granularity_byte: Rising[Column],
) -> Column:
    """Payload that a message streams, S, without the unfilled part of its last task.

    ``max_j min(8 g, (8 g + e_j) filled_j)``, in bit.
    """
    stages = zip(stage_filled, stage_message_end_bit, strict=True)
    return largest(_streamed(workload_granularity_byte, *stage) for stage in stages)


def streaming_s(
    *,
    rate_bit_per_s: Column,
    granularity_byte: Column,
    streamed_bit: Column,
    fill: tuple[Column, Column],
    rounds: tuple[Column, Column],
    passing_s_per_byte: Column,
    serial_tasks: Column,
) -> Column:
    """Return C(r), in s: the time from the first bit in to the last bit out.

    Filling pipelines, and their rounds, takes a time in pipelines at their own clocks, and
    a payload in pipelines that share the rate.
    """
    (own_fill_s, common_fill_bit), (rounds_s, common_rounds_bit) = fill, rounds
    per_bit = 1.0 / rate_bit_per_s
    payload = BIT_PER_BYTE * granularity_byte
    passed = passing_s_per_byte * granularity_byte
    before = np.minimum(common_rounds_bit, payload)
    last = passing_s_per_byte * (granularity_byte - before / BIT_PER_BYTE) + before * per_bit
    late = np.where(common_rounds_bit > 0, np.maximum(passed, last), passed)
    through = np.minimum(rounds_s + late, np.maximum(passed, streamed_bit * per_bit))
    filled = own_fill_s + np.where(common_fill_bit > 0, common_fill_bit * per_bit, 0.0)
    serial = np.maximum(serial_tasks, 1.0)  # 0 for an empty fleet, which takes forever
    return np.maximum(filled + through, per_bit * serial * payload)


@objective(source="pipelines that share one rate", over_stages="sum")
def common_fill_bit(
    *,
    stage_latency_s: Rising[Stages],
    stage_capacity_bit_per_s: Rising[Stages],
    stage_common: Rising[Stages],
) -> Column:
    """Payload that fills the pipelines which share one rate.

    ``F = sum_j latency_j c_j`` of the stages at one rate, in bit.
    """
    stages = zip(stage_latency_s, stage_capacity_bit_per_s, stage_common, strict=True)
    return total(
        np.where(np.greater(common, 0), latency * capacity, 0.0)
        for latency, capacity, common in stages
    )


@objective(source="latency of a task, Battle & Hempstead, section IV-B", over_stages="sum")
def own_latency_s(*, stage_latency_s: Rising[Stages], stage_common: Falling[Stages]) -> Column:
    """Time of one task through the stages that run at their own clocks, as fast as allowed.

    ``sum_j latency_j`` of the stages at their own clocks, in s.

    References
    ----------
    Latency: Battle & Hempstead, sections IV-B and V-A.
    """
    stages = zip(stage_latency_s, stage_common, strict=True)
    return total(np.where(np.greater(common, 0), 0.0, latency) for latency, common in stages)


@objective(source="pipelines at their own clocks")
def own_fill_s(*, own_latency_s: Rising[Column], throttled_s: Rising[Column]) -> Column:
    """Time to fill the pipelines with separate clocks.

    ``t = sum_j latency_j max(1, c_j / power limit)`` of the stages at their own clocks, in s.
    """
    return own_latency_s + throttled_s


@objective(source="clocks under a power cap", over_stages="sum")
def throttled_s(
    *,
    stage_latency_s: Rising[Stages],
    stage_capacity_bit_per_s: Rising[Stages],
    stage_common: Falling[Stages],
    power_limit_bit_per_s: Falling[Column | float] = np.inf,
) -> Column:
    """Additional time of a task because a power cap keeps stages from their clocks.

    ``sum_j latency_j max(0, c_j / power limit - 1)`` of the stages at their own clocks, in s.
    """

    def longer(latency: Column, capacity: Column, common: Column) -> Column:
        share = np.maximum(capacity / power_limit_bit_per_s - 1.0, 0.0)
        capped = (common <= 0) & np.less(power_limit_bit_per_s, np.inf)
        return np.where(capped, np.where(latency > 0, latency * share, 0.0), 0.0)

    return total(map(longer, stage_latency_s, stage_capacity_bit_per_s, stage_common))


@objective(source=LOGCA)
def accelerator_s(
    *,
    own_fill_s: Rising[Column],
    common_fill_bit: Rising[Column],
    throttled_rounds_s: Rising[Column],
    common_rounds_bit: Rising[Column],
    workload_granularity_byte: Rising[Column],
    streamed_bit: Rising[Column],
    stream_rate_bit_per_s: Falling[Column],
    serial_tasks: Rising[Column],
    stage_round_bit: Falling[Stages],
    stage_round_s: Rising[Stages],
    stage_message_end_bit: Rising[Stages],
    stage_filled: Rising[Stages],
    stage_capacity_bit_per_s: Falling[Stages],
    stage_common: Falling[Stages],
) -> Column:
    """Time of one offload inside the accelerators if nothing slows its payload down, C1(g).

    ``C1 = max(t + F / r + min(q + Q / r, S / r), 8 g n / r)``, in s, with q as if payload came at
    once, and S the streamed payload: for one core ``latency + (n - 1) I`` for n tasks.

    References
    ----------
    Altaf & Wood, ISCA 2017, eq. 2, which has the host's time over A.
    """
    at_once = own_rounds_s(
        stage_round_bit=stage_round_bit,
        stage_round_s=stage_round_s,
        stage_message_end_bit=stage_message_end_bit,
        stage_filled=stage_filled,
        stage_capacity_bit_per_s=stage_capacity_bit_per_s,
        stage_common=stage_common,
        stage_alone=stage_common,  # nothing passes by
        workload_granularity_byte=workload_granularity_byte,
        passing_s_per_byte=np.zeros(1),
    )
    return streaming_s(
        rate_bit_per_s=stream_rate_bit_per_s,
        granularity_byte=workload_granularity_byte,
        streamed_bit=streamed_bit,
        fill=(own_fill_s, common_fill_bit),
        rounds=(at_once + throttled_rounds_s, common_rounds_bit),
        passing_s_per_byte=np.zeros(1),
        serial_tasks=serial_tasks,
    )


@objective(source="k offloads in flight: k * 8 g / T1")
def offload_limit_bit_per_s(
    *,
    interface_in_flight: Rising[Column],
    workload_granularity_byte: Rising[Column],
    streamed_bit: Falling[Column],
    transfer_s: Falling[Column],
    own_fill_s: Falling[Column],
    common_fill_bit: Falling[Column],
    rounds_s: Falling[Column],
    common_rounds_bit: Falling[Column],
    passing_s_per_byte: Falling[Column],
    serial_tasks: Falling[Column],
    stream_limit_bit_per_s: Rising[Column],
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
        streamed_bit=streamed_bit,
        fill=(own_fill_s, common_fill_bit),
        rounds=(rounds_s, common_rounds_bit),
        passing_s_per_byte=passing_s_per_byte,
        serial_tasks=serial_tasks,
    )
    return payload / (transfer_s + inside)


@objective(source="k * 8 g / T1 = R solved for the clock")
def offload_stream_bit_per_s(
    *,
    throughput_bit_per_s: Rising[Column],
    streamed_bit: Rising[Column],
    transfer_s: Rising[Column],
    own_fill_s: Rising[Column],
    common_fill_bit: Rising[Column],
    rounds_s: Rising[Column],
    common_rounds_bit: Rising[Column],
    passing_s_per_byte: Rising[Column],
    serial_tasks: Rising[Column],
    interface_in_flight: Falling[Column],
    workload_granularity_byte: Falling[Column],
) -> Column:
    """Least payload rate of the pipelines at which k offloads deliver the throughput.

    The least r with ``T_oh + C(r) <= k * 8 g / R``, in bit/s: with ``s = k * 8 g / R - T_oh`` the
    larger of ``8 g n / s`` and the lesser of the rates for the two bounds of C,
    ``max(F / (s - t - q - p g), (F + Q) / (s - t - q - p (g - Q / 8)))`` and
    ``max(F / (s - t - p g), (F + S) / (s - t))``.
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
        _least_rate(common_fill_bit + streamed_bit, free),
    )
    serial = _least_rate(payload * serial_tasks, spare)
    return np.maximum(np.minimum(in_rounds, streamed), serial)


def _least_rate(bit: Column, time_s: Column) -> Column:
    """Return the least rate for a payload to pass in a time, infinite for no time."""
    return np.where(time_s > 0, bit / time_s, np.where((time_s < 0) | (bit > 0), np.inf, 0.0))

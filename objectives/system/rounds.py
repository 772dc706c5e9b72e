"""How an offload is spread over the instances of a fleet: in rounds, each with its last tasks.

The instances of a stage start tasks together, W of payload in a round, and again after the time I
that one of them is busy with a task before it takes the next: an offload of g bytes takes
``n = ceil(8 g / W)`` rounds, the last of which starts ``(n - 1) I`` after the first.  Its results
are there a latency later, so one core that is not pipelined (latency = I) takes n I for n tasks.

That is exact for fleets of one design.  In a fleet that mixes designs I is that of the slowest, so
that it is an upper bound, as is ``8 g / c`` for its capacity c: the lesser of both is taken.
"""

from __future__ import annotations

import numpy as np

from dse.contract import Column, objective
from dse.objectives.system.fleet import Stages, total
from dse.objectives.system.offload_terms import BIT_PER_BYTE

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

"""The time of an offload inside a fleet against tasks that are handed out one by one."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from dse.objectives.system.offload_rates import own_rounds_s, streaming_s

Core = tuple[float, float]
"""Time from one start to the next, and until the results are there."""


def handed_out(stages: list[list[Core]], tasks: int, gap_s: float) -> float:
    """Return when the last of `tasks` leaves the chain: each takes the core that is free first.

    Task m is there after m gaps.
    """
    there = [(task + 1) * gap_s for task in range(tasks)]
    for cores in stages:
        free = [(0.0, number) for number in range(len(cores))]
        done = []
        for task in range(tasks):
            at, number = heapq.heappop(free)
            start = max(at, there[task])
            interval, latency = cores[number]
            heapq.heappush(free, (start + interval, number))
            done.append(start + latency)
        there = sorted(done)
    return there[-1]


def modelled(stages: list[list[Core]], tasks: int, gap_s: float, bit: float = 128.0) -> float:
    """Return the same of the model: stages at their own clocks, payload behind a link."""

    def column(values: list[float]) -> tuple[np.ndarray, ...]:
        return tuple(np.array([value]) for value in values)

    capacities = [sum(bit / interval for interval, _ in cores) for cores in stages]
    granularity, passing = np.array([tasks * bit / 8]), np.array([8 * gap_s / bit])
    rounds = own_rounds_s(
        stage_round_bit=column([bit * len(cores) for cores in stages]),
        stage_round_s=column([max(interval for interval, _ in cores) for cores in stages]),
        stage_message_end_bit=column([0.0] * len(stages)),
        stage_filled=column([1.0] * len(stages)),
        stage_capacity_bit_per_s=column(capacities),
        stage_common=column([0.0] * len(stages)),
        stage_alone=column([float(len(stages) == 1)] * len(stages)),
        workload_granularity_byte=granularity,
        passing_s_per_byte=passing,
    )
    inside = streaming_s(
        rate_bit_per_s=np.array([min(capacities)]),
        granularity_byte=granularity,
        streamed_bit=8.0 * granularity,
        fill=(np.array([sum(max(one for _, one in cores) for cores in stages)]), np.zeros(1)),
        rounds=(rounds, np.zeros(1)),
        passing_s_per_byte=passing,
        serial_tasks=np.ones(1),
    )
    return float(inside[0])


def fleet(random: np.random.Generator, *, mixed: bool) -> list[Core]:
    """Return cores of one design, or of up to three."""
    found: list[Core] = []
    for _ in range(random.integers(2, 4) if mixed else 1):
        interval = float(random.integers(1, 40)) * 1e-9
        latency = interval * float(random.choice([1.0, 1.0, random.uniform(1.0, 8.0)]))
        found += [(interval, latency)] * int(random.integers(1, 8))
    return found


def cases(seed: int, *, mixed: bool, stages: int = 1) -> list[tuple[list[list[Core]], int, float]]:
    random = np.random.default_rng(seed)
    found = []
    for _ in range(600):
        chain = [fleet(random, mixed=mixed) for _ in range(stages)]
        fastest = min(interval / len(cores) for cores in chain for interval, _ in cores)
        gap = float(random.choice([0.0, random.uniform(0.1, 3.0) * fastest]))
        found.append((chain, int(random.integers(1, 200)), gap))
    return found


def test_one_stage_of_one_design_takes_what_its_tasks_take_one_by_one() -> None:
    for chain, tasks, gap in cases(1, mixed=False):
        right = handed_out(chain, tasks, gap)
        assert modelled(chain, tasks, gap) == pytest.approx(right, rel=1e-9), (chain, tasks, gap)


def test_a_fleet_that_mixes_designs_takes_at_most_two_intervals_less_or_more() -> None:
    """Without a link never less: both bounds are upper ones then."""
    for chain, tasks, gap in cases(2, mixed=True):
        right, found = handed_out(chain, tasks, gap), modelled(chain, tasks, gap)
        slowest = max(interval for interval, _ in chain[0])
        filled = max(latency for _, latency in chain[0])
        assert found <= right + slowest + filled
        assert found >= right - (2 * slowest if gap else 1e-15)


@pytest.mark.parametrize("stages", [2, 3])
def test_a_chain_takes_no_longer_than_told(stages: int) -> None:
    for chain, tasks, gap in cases(stages, mixed=False, stages=stages):
        right, found = handed_out(chain, tasks, gap), modelled(chain, tasks, gap)
        assert found >= right * (1 - 1e-12), (chain, tasks, gap)
        assert found <= right + sum(cores[0][0] for cores in chain)

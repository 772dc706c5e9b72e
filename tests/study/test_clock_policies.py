"""Stages that meet the rate beside stages at their own clocks: which is which, and its effects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.conftest import Write, problem_of

STUDY = """
workload: {rate: 20 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - {core: des, name: first, counts: {u16: 2}%s}
  - {core: des, name: second, counts: {u16: 3}%s}
interface: {device: sparc_t4_engine, in_flight: 1}
objectives: {offload_latency: minimise, power: minimise, clock_hz: minimise}
"""
CAPACITY = 41.29e9  # bit/s of a u16: 645.15625 MHz, a block of 64 bit each cycle
LATENCY_S = 16 / 645.15625e6
OUTSIDE_S = 935 / 3e9  # overhead and latency of the engine, in cycles
PAYLOAD = 8 * 4096
DYNAMIC_W, LEAKAGE_W = 9.05e-3, 1.11e-3  # of a u16


Found = tuple[list[bool | None], np.ndarray]


@pytest.fixture
def made(write: Write) -> Callable[[str, str, str], Found]:
    def found(text: str, first: str, second: str) -> Found:
        problem = problem_of(write(text % (first, second)))
        index = np.zeros((1, len(problem.sizes)), dtype=np.int64)
        tried = {name for axis in problem.space.axes for name in axis.columns}
        common = [None if stage.policy in tried else stage.common for stage in problem.stages]
        return common, problem.evaluate(index).loss[0]

    return found


@pytest.fixture
def policies(made: Callable[[str, str, str], Found]) -> Callable[[str, str], Found]:
    return lambda first, second: made(STUDY, first, second)


MEET, TOP, SWITCHING = ", clock: meet", ", clock: 1", ", idle: clocked"


BOTH = None


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        (MEET, TOP, [True, False]),
        (MEET, "", [True, BOTH]),
        (MEET + SWITCHING, TOP + SWITCHING, [True, False]),
        (TOP, TOP, [False, False]),
        (TOP, TOP + SWITCHING, [False, False]),
        (SWITCHING, "", [BOTH, BOTH]),
        (SWITCHING, TOP, [BOTH, False]),
        (SWITCHING, MEET, [BOTH, True]),
    ],
)
def test_a_clock_is_that_of_its_own_stage(policies, first, second, common) -> None:
    """Whatever the other stage writes: not written, both are tried of one that switches."""
    assert policies(first, second)[0] == common


NO_INTERFACE = STUDY.replace("interface: {device: sparc_t4_engine, in_flight: 1}\n", "").replace(
    "offload_latency: minimise, ", ""
)


@pytest.mark.parametrize(
    ("text", "common"),
    [
        (NO_INTERFACE, [True, True]),  # as slow as the rate allows
        (NO_INTERFACE.replace("rate: 20 Gbit/s, ", ""), [False, True]),  # as the slowest stage
        (STUDY.replace("granularity:", "arrivals: poisson, granularity:"), [False, False]),
        (STUDY.replace("4 KiB", "{4 KiB: 1/2, 64 B: 1/2}"), [False, False]),
        (STUDY.replace("rate: 20 Gbit/s, ", ""), [BOTH, BOTH]),  # an objective reads the clock
        (STUDY.replace(", clock_hz: minimise", ""), [False, BOTH]),
    ],
)
def test_both_are_tried_only_where_power_stands_against_time(made, text, common) -> None:
    assert made(text, "", SWITCHING)[0] == common


@pytest.mark.parametrize("switching", [False, True])
def test_a_stage_at_its_own_clock_fills_in_its_latency_and_switches_at_it(
    policies, switching: bool
) -> None:
    """The first stage meets the rate of offloads that just finish in time."""
    rate, filled = 20e9, LATENCY_S * 2 * CAPACITY
    spare = PAYLOAD / rate - OUTSIDE_S - LATENCY_S
    stream = (filled + PAYLOAD) / spare
    idle = SWITCHING if switching else ""
    latency, power, clock = policies(MEET + idle, TOP + idle)[1]
    assert stream > rate
    assert latency == pytest.approx(PAYLOAD / rate, rel=1e-9)
    # the first stage has nothing to gain from more than it streams, the second runs at its top
    energy = DYNAMIC_W / CAPACITY
    switched = energy * (stream + 3 * CAPACITY) if switching else 2 * energy * rate
    buffers = 2 * PAYLOAD * 20e-12
    assert power == pytest.approx(switched + 5 * LEAKAGE_W + buffers, rel=1e-3)
    assert clock == pytest.approx(645.15625e6)


def test_the_clock_of_the_chain_is_that_of_its_fastest_stage(policies) -> None:
    """Both at the top clock take no more power, as they are gated, and less time."""
    mixed, top = policies(MEET, TOP)[1], policies(TOP, TOP)[1]
    assert mixed[0] > top[0]
    assert mixed[1] == pytest.approx(top[1], rel=1e-12)

"""Stages that meet the rate beside stages at their own clocks: which is which, and its effects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import problem_of

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

Write = Callable[[str], Path]


@pytest.fixture
def policies(write: Write) -> Callable[[str, str], tuple[list[bool], np.ndarray]]:
    def made(first: str, second: str) -> tuple[list[bool], np.ndarray]:
        problem = problem_of(write(STUDY % (first, second)))
        index = np.zeros((1, len(problem.sizes)), dtype=np.int64)
        return [stage.common for stage in problem.stages], problem.evaluate(index).loss[0]

    return made


MEET, TOP, SWITCHING = ", clock: meet", ", clock: 1", ", idle: clocked"


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        (MEET, TOP, [True, False]),
        (MEET, "", [True, True]),
        (MEET + SWITCHING, TOP + SWITCHING, [True, False]),
        (TOP, TOP, [False, False]),
        (TOP, TOP + SWITCHING, [True, True]),
    ],
)
def test_stages_at_the_one_rate_are_those_that_meet_it(policies, first, second, common) -> None:
    """Where none does, all are once any switches while it idles."""
    assert policies(first, second)[0] == common


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

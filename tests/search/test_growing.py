"""Stages of many fleets: the best are put together design by design."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dse.search.exact import fleets, growing
from dse.search.exact.work import limited
from tests.conftest import problem_of
from tests.search.test_compose import front, random_problem, random_study

STUDY = """
workload: {rate: 20 Gbit/s}
stages:
  - {core: des, name: one, fleet: mixed, instances: {from: 0, to: %d}}
  - {core: des, name: two, fleet: mixed, instances: {from: 0, to: 2}}
objectives: {area: minimise, power: minimise, instances: minimise}
"""

OWN_CLOCK = """
workload: {rate: 5 Gbit/s, granularity: 4 KiB, kernel: des}
interface: {device: sparc_t4_engine, wait: sync}
stages:
  - {core: des, name: own, fleet: mixed, instances: {from: 0, to: 2}, clock: 1}
  - {core: fft, name: met, instances: {from: 1, to: 2}, clock: meet}
objectives: {area: minimise, power: minimise}
"""

NO_RATE = """
workload: {granularity: 4 KiB, kernel: des}
interface: {device: sparc_t4_engine, wait: sync}
budget: {power_cap: 5 W}
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 1}, clock: 1}
  - {core: jacobi, fleet: mixed, instances: {from: 0, to: 1}, clock: [0.5, 1]}
objectives: {area: minimise, offload_latency: minimise}
"""

Write = Callable[[str], Path]


def test_fleets_by_the_hundred_million_take_no_more_work_than_those_that_matter(
    write: Write,
) -> None:
    """Up to 30 of each of six designs are 887 503 681 fleets; eight of the slowest suffice."""
    with limited() as work:
        many = front(problem_of(write(STUDY % 30)), "compose")
    few = front(problem_of(write(STUDY % 8)), "compose")
    assert np.array_equal(many.front_loss, few.front_loss)
    assert work.spent < 3_000_000


@pytest.mark.parametrize("seed", range(12))
def test_fronts_of_fleets_put_together_are_those_of_all_designs(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleets, "WHOLE", 1)
    problem = random_problem(seed, tmp_path, random_study)
    every, composed = front(problem, "enumerate"), front(problem, "compose")
    assert np.array_equal(composed.front_index, every.front_index)
    assert np.array_equal(composed.front_loss, every.front_loss)


@pytest.mark.parametrize("text", [OWN_CLOCK, NO_RATE])
def test_traits_that_tell_no_fleets_apart_do_not_hinder(
    text: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a stage at its own clock beside one that meets the rate, nor empty fleets."""
    monkeypatch.setattr(fleets, "WHOLE", 1)
    monkeypatch.setattr(fleets, "MANY", 50)  # too many to be compared whole
    problem = problem_of(write(text))
    grown: list[growing.Growing] = []
    best = growing.Growing.best
    monkeypatch.setattr(
        growing.Growing, "best", lambda own, point: grown.append(own) or best(own, point)
    )
    every, composed = front(problem, "enumerate"), front(problem, "compose")
    assert np.array_equal(composed.front_index, every.front_index)
    assert grown

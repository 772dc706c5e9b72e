"""Stages of many fleets: the best are put together design by design."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dse.search.exact import fleets
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

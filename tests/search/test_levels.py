"""Capacity that is wanted both ways: fronts level by level."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dse.search.exact import closing, fleets, levels
from dse.search.exact.work import limited
from tests.conftest import problem_of
from tests.search.test_chains import offload_study
from tests.search.test_compose import front, random_problem, random_study

FEW, REST = range(4), range(4, 40)

CHAIN = """
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 2}}
  - {core: fft, fleet: mixed, instances: {from: 0, to: 2}}
  - {core: jacobi, fleet: mixed, instances: {from: 0, to: 2}, clock: 1}
objectives: {throughput: maximise, total_power: minimise}
"""


def without_rate(written: Callable[[np.random.Generator], str]) -> Callable[..., str]:
    """Return what draws studies until one demands no rate."""

    def drawn(rng: np.random.Generator) -> str:
        while "  rate: " in (text := written(rng)):
            pass
        return text

    return drawn


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize(
    "studies", [FEW, pytest.param(REST, marks=pytest.mark.slow)], ids=["few", "rest"]
)
def test_fronts_without_a_demanded_rate_are_those_of_all_designs(
    block: int, studies: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "MOST_DESIGNS", 0)  # no scenario is closed before
    if block == 3:  # fleets are put together design by design, however few
        monkeypatch.setattr(fleets, "WHOLE", 1)
    swept, designs = [], levels.LevelSweep.designs
    monkeypatch.setattr(levels.LevelSweep, "designs", lambda own: swept.append(own) or designs(own))
    for seed in studies[block::4]:
        for written in (random_study, offload_study):
            problem = random_problem(seed, tmp_path, without_rate(written))
            if block % 2:  # many portions, and no more of them in a larger space
                monkeypatch.setattr(levels, "PORTION", max(19, problem.size // 200))
            every, composed = front(problem, "enumerate"), front(problem, "compose")
            assert np.array_equal(composed.front_index, every.front_index), seed
            assert np.array_equal(composed.front_loss, every.front_loss), seed
            certificate = composed.certificate
            settled = composed.evaluated + certificate.dominated + certificate.infeasible
            assert settled == problem.size, seed
    assert swept


def test_a_chain_without_a_rate_takes_little_work(write: Callable[[str], Path]) -> None:
    problem = problem_of(write(CHAIN))
    with limited() as work:
        found = front(problem, "compose")
    assert found.certificate.way == "composed"
    assert problem.size == 3**16
    assert work.spent < problem.size / 3

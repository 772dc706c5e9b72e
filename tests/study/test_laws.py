"""Laws of studies: more of a resource never makes a front worse; guards hold of every design."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dse.model import invariants
from dse.model.space import as_index, one_block
from tests.conftest import problem_of
from tests.study.test_written_fields import beaten, feasible_losses, random_study

Write = Callable[[str], Path]
RANDOM = 40
LARGE = 22
"""The seed of a space that takes longer than all others together."""

DEMANDED = "rate:"  # without a demand more bandwidth is more throughput, which takes power

MORE = {
    "host cores": (r"host_cores: 64", "host_cores: 128"),
    "instances": (r"(from: 1, to: \d)", r"\g<1>0"),
    "a faster link": (r"link: 4 GB/s", "link: 32 GB/s"),
    "more lanes": (r"gen4 x8", "gen4 x16"),
    "a shorter overhead": (r"overhead: 20 ns", "overhead: 10 ns"),
    "a shorter latency": (r"latency: 100 ns", "latency: 50 ns"),
}


@pytest.mark.parametrize(
    "seed", [*range(LARGE), pytest.param(LARGE, marks=pytest.mark.slow), *range(LARGE + 1, RANDOM)]
)
def test_more_of_a_resource_never_makes_a_front_worse(seed: int, write: Write) -> None:
    text, _ = random_study(np.random.default_rng(1000 + seed))
    best = feasible_losses(write, text)
    for what, (pattern, more) in MORE.items():
        written = re.sub(pattern, more, text)
        if written == text or DEMANDED not in text:
            continue
        found = feasible_losses(write, written)
        assert not len(best) or (len(found) and beaten(best, found).all()), f"{what}\n{text}"


@pytest.mark.parametrize("seed", range(RANDOM))
def test_every_guard_holds_of_every_design(seed: int, write: Write) -> None:
    text, _ = random_study(np.random.default_rng(2000 + seed))
    problem = problem_of(write(text))
    invariants.check_invariants(problem, as_index(one_block(problem.sizes)))


@pytest.mark.parametrize("seed", range(RANDOM))
def test_energy_per_bit_of_gated_cores_does_not_depend_on_the_load(seed: int, write: Write) -> None:
    text, _ = random_study(np.random.default_rng(3000 + seed))
    text = text.replace("clocked", "gated")
    columns = []
    for written in (text, re.sub(r"rate: [\d.]+ Gbit/s", "rate: 0.1 Gbit/s", text)):
        problem = problem_of(write(written))
        index = as_index(one_block(problem.sizes))
        terms = problem.columns(index, {"dynamic_power_w", "throughput_bit_per_s"})
        columns.append(terms["dynamic_power_w"] / terms["throughput_bit_per_s"])
    if columns[0].shape == columns[1].shape:
        assert columns[0] == pytest.approx(columns[1], rel=1e-9)

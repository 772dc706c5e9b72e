"""Laws of studies: more of a resource never makes a front worse; guards hold of every design."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.errors import DseError
from dse.files import document
from dse.model import invariants
from dse.model.space import as_index, one_block
from dse.study import study
from dse.study.overrides import at_value, sweep_of
from tests.conftest import STUDIES, Write, problem_of
from tests.study.test_written_fields import beaten, feasible_losses, random_study

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


# Whatever stands in a study: it runs, or every fault is told; nothing else ever happens


SHIPPED = [study.read_study(path).data for path in sorted(STUDIES.glob("*.yaml"))]
VALUES: list[Any] = [
    *(None, [], {}, -1, 0, 1e300, 1.5, True, "", "x", 10**30, [[1]], {"a": 1}),
    *("100 Gbit/s", "0 bit/s", "1 W", "least", "meet", "mixed", "law", "u16"),
    *({"from": 1, "to": 3}, {"from": 3}, {"from": 0.1, "to": 1, "points": 3}, [1, 2, "x"]),
    *({"unroll": [1, 2.5]}, {"unroll": {"from": 1, "to": 40}}, {"u16": 2}, ["power <= 1"]),
    *({"budget.platform": ["gtx_titan"]}, {"interface.wait": ["sync"]}, {"area": "maximise"}),
]
KEYS = ["counts", "clock", "parameters", "interface", "budget", "axes", "sweep", "constraints"]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container and key inside plain data."""
    for key in data if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


def mutate(data: st.DataObject) -> None:
    mutated = copy.deepcopy(data.draw(st.sampled_from(SHIPPED)))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(list(places(mutated))))
        if isinstance(container, dict) and data.draw(st.booleans()):
            key = data.draw(st.sampled_from([key, *KEYS]))
        container[key] = copy.deepcopy(data.draw(st.sampled_from(VALUES)))
    with contextlib.suppress(DseError):
        found = document.parse_document(json.dumps(mutated), "study.yaml")
        sweep = sweep_of(found)
        problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
        problem.evaluate(np.zeros((1, len(problem.sizes)), dtype=np.int64))


ANY, MANY = given(data=st.data()), settings(max_examples=2000)
test_a_mutated_study_runs_or_is_told_what_is_wrong = settings(max_examples=300)(ANY(mutate))
test_2000_mutated_studies_run_or_are_told_what_is_wrong = pytest.mark.slow(MANY(ANY(mutate)))

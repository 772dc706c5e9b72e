"""A design has one name: what is printed is read back, and what names nothing is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.errors import StudyError
from dse.model.problem import Problem
from dse.runs.design_names import exact_name, read_design
from tests.conftest import STUDIES

STAGES = ("des_100gbps", "crypto_interface_100gbps", "hash_100gbps")


def problem_of(name: str) -> Problem:
    return dse.load(STUDIES / f"{name}.yaml").problem


@pytest.mark.parametrize("name", [*STAGES, "des_fft_sweep", "platforms_power_bound"])
def test_what_is_printed_of_a_design_names_it_in_full(name: str) -> None:
    problem = problem_of(name)
    rng = np.random.default_rng(0)
    for _ in range(5):
        point = np.array([rng.integers(size) for size in problem.sizes])
        given = read_design(exact_name(problem, point), lambda: problem)
        one = dse.load(STUDIES / f"{name}.yaml", overrides=given).problem
        assert one.space.size == 1
        first = np.zeros((1, len(one.sizes)), dtype=np.int64)
        assert one.counts(first) == problem.counts(point[None, :])
        assert np.array_equal(one.evaluate(first).loss, problem.evaluate(point[None, :]).loss)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1 u8 + 2 u16", {"des.u8": "1", "des.u16": "2"}),
        ("2 des.u16+1 u8, apu", {"des.u8": "1", "des.u16": "2", "interface.device": "apu"}),
        (
            "2 u16 with device apu, in flight 8 and granularity 64 KiB",
            {
                "des.u16": "2",
                "interface.device": "apu",
                "interface.in_flight": "8",
                "workload.granularity": "64 KiB",
            },
        ),
        ("u16, workload.granularity=4 KiB", {"des.design": "u16", "workload.granularity": "4 KiB"}),
        ("the host alone", {"host.alone": "1"}),
    ],
)
def test_a_design_is_read_in_each_form_that_is_printed(written: str, read: dict[str, str]) -> None:
    problem = problem_of("crypto_interface_100gbps")
    assert read_design(written, lambda: problem) == read


def test_every_part_that_names_nothing_is_refused_with_what_it_may_be() -> None:
    problem = problem_of("crypto_interface_100gbps")
    with pytest.raises(StudyError) as caught:
        read_design("1 u9, apus, in flght 8, 2 u16 -> 3 u8", lambda: problem)
    assert str(caught.value).splitlines() == [
        "design: 1 u9; the study has no such design; did you mean 'u8' or 'u4' or 'u2'?",
        "design: apus; the study has no such design or choice; did you mean 'apu'?",
        "design: in flght 8; the study has no such design or choice; did you mean 'in flight 256'?",
        "design: 2 u16 -> 3 u8; it has 2 fleets, and the study 1 stage: des; "
        'join one fleet per stage by " -> "',
    ]

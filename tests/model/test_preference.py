"""Which design of a front is recommended."""

from __future__ import annotations

import pytest

from dse.errors import ExpressionError
from dse.model.preference import prefer
from dse.model.tables import design_names
from dse.runs.runner import Options, solve_study
from dse.study import study

EXPECTED = {
    None: ("3 u16", "least power"),
    "power": ("3 u16", "least power"),
    "area": ("1 u8 + 2 u16", "least area"),
    "power_w": ("3 u16", "least power"),
    "knee": ("1 u8 + 2 u16", "the knee of the front"),
    "leakage_power_w": ("1 u8 + 2 u16", "least leakage_power_w"),
    "-area_m2": ("3 u16", "least -area_m2"),
}


@pytest.fixture(scope="module")
def solved():
    prepared = study.prepare(
        study.read_study("studies/des_100gbps.yaml", [("stages.des.fleet", "mixed")])
    )
    return prepared.problem, solve_study(prepared, Options(), None).outcome.front_index


@pytest.mark.parametrize("written", EXPECTED)
def test_a_preference_puts_one_design_first(solved, written) -> None:
    problem, front = solved
    preference = prefer(problem, written)
    first = front[preference.order(problem, front)[:1]]
    assert (design_names(problem, first)[0], preference.text) == EXPECTED[written]


@pytest.mark.parametrize("written", ["colour", "area_m2 <= 3", "power_w +", "bound"])
def test_nonsense_is_refused(solved, written) -> None:
    with pytest.raises(ExpressionError):
        prefer(solved[0], written)

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
    "leakage_power_w": ("1 u8 + 2 u16", "least leakage power"),
    "-area_m2": ("3 u16", "least -area_m2"),
}


@pytest.fixture(scope="module")
def solved():
    prepared = study.prepare(
        study.read_study("studies/des_100gbps.yaml", [("stages.des.fleet", "mixed")])
    )
    return prepared.problem, solve_study(prepared, Options()).outcome.front_index


@pytest.mark.parametrize("written", EXPECTED)
def test_a_preference_puts_one_design_first(solved, written) -> None:
    problem, front = solved
    preference = prefer(problem, written)
    first = front[preference.order(problem, front)[:1]]
    assert (design_names(problem, first)[0], preference.text) == EXPECTED[written]


WITHIN = {
    ("power", 0.01): ("3 u16", "least area, within 1 % of the least power"),
    ("power", 0.03): ("1 u8 + 2 u16", "least area, within 3 % of the least power"),
    ("area", 0.5): ("3 u16", "least power, within 50 % of the least area"),
    ("-area_m2", 0.2): (
        "1 u8 + 2 u16",
        "least area, then least power, within 20 % of the least -area_m2",
    ),
}


@pytest.mark.parametrize("written", WITHIN)
def test_within_a_tolerance_the_other_objectives_decide(solved, written) -> None:
    problem, front = solved
    preference = prefer(problem, written[0]).within(written[1])
    row = preference.order(problem, front)[:1]
    assert (design_names(problem, front[row])[0], preference.text) == WITHIN[written]


SLACK = """
designs: designs.csv
objectives: {slack: maximise, area: minimise, delay: minimise}
tolerance: 10 %
prefer: slack
"""


@pytest.mark.parametrize(
    ("slacks", "chosen"),
    [
        ((0.25, 0.226, 0.224), "d1"),  # 0.225 is within 10 % of 0.25
        ((-0.10, -0.109, -0.111), "d1"),  # -0.11 is within 10 % of -0.10
        ((0.0, -0.001, -0.002), "d0"),  # a share of nothing is nothing
        ((0.10, 0.0999, 0.0998), "d2"),
    ],
)
def test_a_tolerance_knows_signs_and_senses(slacks, chosen, tmp_path) -> None:
    rows = [f"d{row},{slack},{9 - row},1" for row, slack in enumerate(slacks)]
    (tmp_path / "designs.csv").write_text("\n".join(["name,slack,area,delay", *rows]) + "\n")
    (tmp_path / "study.yaml").write_text(SLACK)
    prepared = study.prepare(study.read_study(tmp_path / "study.yaml"))
    answer = solve_study(prepared, Options())
    row = prepared.preference.order(prepared.problem, answer.outcome.front_index)[:1]
    assert design_names(prepared.problem, answer.outcome.front_index[row]) == [chosen]


@pytest.mark.parametrize("written", ["colour", "area_m2 <= 3", "power_w +", "bound"])
def test_nonsense_is_refused(solved, written) -> None:
    with pytest.raises(ExpressionError):
        prefer(solved[0], written)


def test_a_knee_at_an_end_of_the_front_is_not_called_one(solved) -> None:
    problem, front = solved
    knee = prefer(problem, "knee")
    assert len(front) == 2  # nothing between the ends
    assert knee.design_on(problem, front) == (
        "the design with the least area, as the front has no knee"
    )
    assert knee.design_on(problem, front[:1]) == "the only design of the front"
    assert prefer(problem, "area").design_on(problem, front) == "the design with the least area"

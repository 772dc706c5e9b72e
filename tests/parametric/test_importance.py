"""How far assumptions move the deciding objective of the recommended design."""

from __future__ import annotations

import pytest

import dse
from dse.answers.source import known_fronts
from dse.parametric.importance import WIDTH, importance_facts
from dse.study.assumptions import assumptions_of
from tests.conftest import STUDIES


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("settop_116mbps", {}),
        ("hash_100gbps", {}),
        ("settop_116mbps", {"constraints": "[power <= 135 uW]"}),
    ],
)
def test_a_bar_is_the_change_of_the_objective_with_one_assumption_moved(
    name: str, more: dict[str, str]
) -> None:
    study = dse.load(STUDIES / f"{name}.yaml", overrides=more)
    (known,) = known_fronts(study.document).points
    study, preference = known.study, known.study.preference
    point = preference.first(study.problem, known.front)
    found = importance_facts(study, point, preference)
    assert found is not None
    (column,) = (
        at for at, goal in enumerate(study.problem.goals) if goal.name == found["quantity"]
    )
    nominal = study.problem.evaluate(point).loss[0, column]
    bars = {one["assumption"]: one for one in found["moved"]}
    assert bars
    seen = {entry.name: entry for entry in assumptions_of(study)}
    for path, bar in bars.items():
        for side, factor in enumerate((1 - WIDTH, 1 + WIDTH)):
            at = seen[path].at(factor * seen[path].value).evaluate(point)
            assert bar["change"][side] == pytest.approx(at.loss[0, column] / nominal - 1, abs=1e-9)
            assert bar["feasible"][side] == at.feasible[0]
    sizes = [max(map(abs, bar["change"])) for bar in bars.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert bool(more) == any(not all(bar["feasible"]) for bar in bars.values())

"""Why no row of anybody's table is feasible: conflicts and repairs, of a CSV and of trials."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.errors import DseError

ROWS = [("a", 100, 5, 90), ("b", 200, 9, 50), ("c", 400, 20, 20), ("d", 150, 30, 45)]
RULES = ["power <= 8 mW", "time <= 60 ns", "area <= 1000 um2"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    lines = ["design,area_um2,power_mw,time_ns", *(",".join(map(str, row)) for row in ROWS), ""]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "t.csv"


def test_the_least_conflict_and_the_cheapest_repair_of_a_table(table: Path) -> None:
    found = dse.explain(table, infeasible=True, constraints=RULES)
    assert found.verdict == "infeasible"
    facts = found.to_dict()
    assert facts["conflicts"] == [["power <= 8 mW", "time <= 60 ns"]]
    assert [one["to"] for one in facts["repairs"]] == ["power <= 9 mW", "time <= 90 ns"]
    assert '--constraint "power <= 9 mW"' in str(found)
    assert "--set" not in str(found)
    repaired = dse.explain(table, infeasible=True, constraints=["power <= 9 mW", *RULES[1:]])
    assert str(repaired) == "1 of 4 evaluated designs meet all constraints"


def test_a_study_is_explained_the_same_and_nothing_is_measured(table: Path) -> None:
    text = f"designs: t.csv\nobjectives: {{area: minimise}}\nconstraints: {json.dumps(RULES)}\n"
    study = table.with_name("study.yaml")
    study.write_text(text, encoding="utf-8")
    one = dse.explain(study, infeasible=True)
    other = dse.explain(table, infeasible=True, constraints=RULES)
    assert one.to_dict() == other.to_dict()
    study.write_text(
        text.replace("designs: t.csv", MEASURED).replace("area <= 1000 um2", "area < 3"),
        encoding="utf-8",
    )
    with pytest.raises(DseError, match="only `dse run` measures"):
        dse.explain(study, infeasible=True)


MEASURED = """axes: {area: [1, 2]}
evaluate: {command: ['true'], outputs: {power: mW, time: ns}}"""


def test_trials_of_a_study_of_optuna_are_a_table_that_stays_as_it_is(table: Path) -> None:
    optuna = pytest.importorskip("optuna")
    place = table.with_name("x.db")
    storage = optuna.storages.RDBStorage(f"sqlite:///{place}")
    for name in ("mine", "other"):
        study = optuna.create_study(storage=storage, study_name=name, directions=["minimize"] * 2)
        for _, area, power, time in ROWS:
            values = {"unroll": area // 50, **({"now_and_then": 1} if area > 100 else {})}
            kinds = {one: optuna.distributions.IntDistribution(1, 8) for one in values}
            attributes = {"power_mw": power, "note": [1, 2]}
            study.add_trial(
                optuna.trial.create_trial(
                    params=values, distributions=kinds, values=[area, time], user_attrs=attributes
                )
            )
        study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.FAIL))
    before, rules = place.read_bytes(), ["power <= 8 mW", "value_1 <= 60", "unroll <= 8"]
    found = dse.explain(f"sqlite:///{place}", infeasible=True, constraints=rules, study="mine")
    assert found.to_dict()["conflicts"] == [rules[:2]]
    assert found.to_dict()["repairs"][0]["to"] == "power <= 9 mW"
    assert found.to_dict()["nearest_design"] == "trial 1"
    assert place.read_bytes() == before
    for name, message in ((None, "it has 2 studies: 'mine', 'other'"), ("mein", "'mine'")):
        with pytest.raises(DseError, match=message):
            dse.explain(f"sqlite:///{place}", infeasible=True, constraints=rules, study=name)
    with pytest.raises(DseError, match="Optuna cannot read it"):
        dse.explain(f"sqlite:///{table}", infeasible=True)


@pytest.mark.parametrize(
    ("source", "given", "message"),
    [
        ("no.csv", {}, "no such table"),
        (".", {}, "it cannot be read"),
        ("t.csv", {"constraints": "pwr <= 8 mW"}, "constraints.0: .* did you mean 'power'"),
        ("t.csv", {"study": "mine"}, "only a storage of trials has studies"),
        ("t.csv", {"design": "a"}, "no design is named"),
        ("sqlite:///no.db", {}, "there is no file"),
        ("mysql://host/x", {}, "trials are read from SQLite alone"),
        ("t.csv", {"infeasible": False}, "name one of front.csv, or add infeasible"),
        ("t.csv", {"infeasible": False, "constraints": "a <= 1"}, "add infeasible"),
    ],
)
def test_a_fault_says_what_to_write(
    source: str, given: dict[str, Any], message: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    with pytest.raises(DseError, match=message):
        dse.explain(source, **{"infeasible": True} | given)

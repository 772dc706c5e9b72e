"""What would change it, as part of the answer; and the thresholds that must hold."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import dse
from dse import search
from dse.cli.app import application
from dse.model.preference import prefer
from dse.parametric.breakpoints import Span, rivals_of
from dse.parametric.flips import find_flips
from dse.parametric.question import Question
from dse.study import assumptions, study
from tests.conftest import STUDIES, everything
from tests.parametric.test_flips import MIXED, prepared

SETTOP = STUDIES / "settop_116mbps.yaml"
DES = STUDIES / "des_100gbps.yaml"


# The section --------------------------------------------------------------------------------


def test_the_answer_says_what_would_change_it() -> None:
    """Half to twice unless all is asked for; the intervals are those of `dse flips`."""
    near, full = dse.answer(SETTOP), dse.answer(SETTOP, flips=True)
    found = find_flips(study.prepare(study.read_study(SETTOP)))
    every = {entry.name: entry for entry in found.found}
    assert full.to_dict()["flips"]["assumptions"] == found.to_dict()["assumptions"]
    facts = near.to_dict()["flips"]
    moving = [entry for entry in facts["assumptions"] if entry["least_relative_change"]]
    factors = [entry["least_factor"] for entry in moving]
    assert factors == sorted(factors)
    assert len(moving) == facts["checked"] - facts["change_nothing"] >= facts["shown"] > 0
    assert len(moving) == sum(
        any(change and -0.5 <= change <= 1 for change in map(entry.change, entry.sides))
        for entry in found.found
    )
    for entry in moving:
        known = every[entry["assumption"]]
        assert entry["least_factor"] == pytest.approx(math.exp(known.distance), rel=1e-5)
        assert entry["assumption"] in near.text(all=True)
    assert "What would change it" not in dse.answer(SETTOP, flips=False).text(all=True)


def _savings(entry: dict) -> list[float]:
    sides = [entry[side] for side in ("below", "above") if entry[side]["becomes"]]
    return [math.inf if side["infeasible_beyond"] else side["saving"] for side in sides]


def test_what_is_left_out_is_named() -> None:
    few = {"stages.des.designs": "[u2, u4, u8, u16]"}
    answer = dse.answer(DES, overrides=few)
    facts = answer.to_dict()["flips"]
    moving = [entry for entry in facts["assumptions"] if entry["least_factor"]]
    hardly = [entry for entry in moving if max(_savings(entry)) < 0.01]
    left = [entry for entry in moving if entry not in hardly][facts["shown"] :]
    assert facts["shown"] == 8
    assert len(left) == facts["not_shown"] > 0
    told = " ".join(answer.text(all=True).split())
    assert "Less sensitive: " + ", ".join(e["assumption"] for e in left) in told
    names = ", ".join(entry["assumption"] for entry in hardly)
    assert f"Flips that hardly matter (saving below 1 %): {names}" in told


@pytest.mark.parametrize(
    ("path", "options", "told"),
    [
        ("platforms_power_bound", {"flips": True}, "A sweep has an answer for each value"),
        (
            "settop_116mbps",
            {"flips": True, "overrides": {"search.method": "nsga2", "search.budget": 3}},
            "Flips are unknown, as the front is not proven",
        ),
    ],
)
def test_where_it_does_not_apply_it_says_so(path: str, options: dict, told: str) -> None:
    answer = dse.answer(STUDIES / f"{path}.yaml", **options)
    assert told in " ".join(answer.text(all=True).split())
    assert answer.to_dict()["flips"].keys() == {"reason"}


def test_without_stages_it_works() -> None:
    """Platforms at 1 flop/B: more copies fit from the power budget on that they need."""
    given = {"workload.intensity": "1 flop/B"}
    answer = dse.answer(STUDIES / "platforms_power_bound.yaml", overrides=given)
    entries = {e["assumption"]: e for e in answer.to_dict()["flips"]["assumptions"]}
    budget = entries["platform_power <= 140 W"]
    above = {"constraints": f"[platform_power <= {budget['above']['flips_at_w'] * 1.0001} W]"}
    more = dse.answer(STUDIES / "platforms_power_bound.yaml", overrides=given | above, flips=False)
    copies = "budget.copies"
    assert more.pick.choices[copies] == answer.pick.choices[copies] + 1


def test_a_finished_run_flips_as_its_study_does(tmp_path: Path, capsys) -> None:
    dse.run(SETTOP, out=tmp_path / "run", overrides={"workload.rate": "200 Mbit/s"})
    told = []
    for source in ([str(tmp_path / "run")], [str(SETTOP), "--set", "workload.rate=200 Mbit/s"]):
        application()(["flips", *source, "--only", "u1", "--json"], standalone_mode=False)
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    answer = dse.answer(tmp_path / "run")
    assert (
        answer.to_dict()["flips"]
        == dse.answer(SETTOP, overrides={"workload.rate": "200 Mbit/s"}).to_dict()["flips"]
    )


# Rivals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("composed", [True, False])
def test_every_rival_is_found(composed, write, monkeypatch) -> None:
    """Whatever wins at a random value between two was among the rivals of the nominal answer."""
    monkeypatch.setattr("dse.parametric.breakpoints.ENOUGH", 0 if composed else 10**9)
    found = prepared(MIXED, write, 7)
    question = Question(prefer(found.problem, "power"))
    column = question.column(found.problem)
    assert column is not None
    front = search.run_search(found.problem, search.SearchSettings()).front_index
    incumbents = front[question.preference.order(found.problem, front)[:1]]
    random = np.random.default_rng(7)
    met = 0
    for entry in assumptions.assumptions_of(found):
        for factor in (0.3, 0.9, 1.1, 4.0):
            end = entry.at(entry.value * factor)
            if (incumbents >= np.array(end.sizes)).any():
                continue
            if not end.evaluate(incumbents).feasible.all():
                continue
            worst = np.maximum(*(p.evaluate(incumbents).loss for p in (found.problem, end)))
            span = Span(entry, entry.value, entry.value * factor, worst[0])
            (rows,) = rivals_of([span], column)
            known = {row.tobytes() for row in np.vstack([rows, incumbents])}
            for share in random.uniform(0, 1, 6).tolist():
                designs = everything(entry.at(entry.value * factor**share))
                index, loss = designs.points[designs.feasible], designs.loss[designs.feasible]
                best = index[loss[:, column] == loss[:, column].min()]
                met += len(rows)
                assert any(row.tobytes() in known for row in best), (entry.name, factor, share)
    assert met


def test_a_study_whose_figures_are_all_measured_has_nothing_to_flip() -> None:
    study = {
        "axes": {"u": [1, 2]},
        "evaluate": {"outputs": {"area": "um2", "time": "ns"}},
        "objectives": {"area": "minimise", "time": "minimise"},
    }
    run = dse.run(study, evaluate=lambda u: {"area": u, "time": 3 - u}, plots=False)
    assert dse.flips(run).to_dict()
    assert "u 1" in str(dse.answer(run, all=True))

"""Cheaper levels of what measures: what a study may say, and what a run makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse
from dse.errors import StudyError

QUICK = """\
def quick(u, v):
    return {"area": u * v, "time": 900 / (u * v)}


def rough(u, v):
    return {"area": u + v}
"""
LEVELS: list[dict[str, Any]] = [
    {"function": "quick.py:rough", "outputs": {"area": "um2"}, "cost": "2 %"},
    {"function": "quick.py:quick", "cost": "10 %"},
]
STUDY: dict[str, Any] = {
    "axes": {"u": {"from": 1, "to": 16}, "v": {"from": 1, "to": 16}},
    "evaluate": {"outputs": {"area": "um2", "time": "ns"}, "fidelities": LEVELS},
    "objectives": {"area": "minimise", "time": "minimise"},
    "search": {"budget": 16},
}


def measure(u: float, v: float) -> dict[str, float]:
    return {"area": u * v + 3 * u, "time": 1e3 / (u * v) ** 0.9 + v / 100}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "quick.py").write_text(QUICK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_levels(*levels: dict[str, Any], **more: Any) -> dict[str, Any]:
    return STUDY | {"evaluate": STUDY["evaluate"] | {"fidelities": [*levels]} | more}


def test_the_front_holds_what_the_last_level_measured_alone(place: Path) -> None:
    done: list[tuple[float, float]] = []

    def measured(u: float, v: float) -> dict[str, float]:
        done.append((u, v))
        return measure(u, v)

    result = dse.run(STUDY, evaluate=measured, out=place / "run", plots=False)
    assert len(done) == len({*done}) == 16
    for row in result.front.to_dict("records"):
        own = measure(row["u"], row["v"])
        assert row["area_m2"] == pytest.approx(1e-12 * own["area"])
        assert row["time_s"] == pytest.approx(1e-9 * own["time"])
    cheaper = result.manifest["measured"]["cheaper"]
    assert 16 < cheaper < 16 / 0.02
    (level,) = [note for note in result.manifest["notes"] if note.startswith("level 1")]
    assert "at 2 % of the cost, measured" in level
    status = dse.status(place / "run")
    assert f"{cheaper} measurements of cheaper levels" in status.text()
    assert status.to_dict()["state"]["measured"] == 16
    assert dse.verify(place / "run").holds
    again = dse.run(STUDY, evaluate=measured, out=place / "new", reuse=[place / "run"], plots=False)
    assert len(done) == 16
    assert again.front.equals(result.front)


def test_levels_spend_about_as_much_as_the_designs_that_they_choose(place: Path) -> None:
    """A cost of 1 a design: each level up to 16, and what climbs with a batch on top."""
    study = with_levels(*LEVELS, cost="u / u")
    result = dse.run(study, evaluate=measure, out=place / "run", plots=False)
    spent = result.manifest["measured"]["cost"]
    assert 16 < spent <= 16 + 2 * 16 + 1
    less = study | {"search": {"budget": {"cost": 12}}}
    result = dse.run(less, evaluate=measure, out=place / "less", plots=False)
    assert result.manifest["measured"]["cost"] <= 12 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("study", "fault"),
    [
        (with_levels(LEVELS[1], LEVELS[0]), r"fidelities.1.cost: .*each costs more than the one"),
        (with_levels(LEVELS[1] | {"cost": "100 %"}), "less than 100 %"),
        (with_levels({"function": "quick.py:quick"}), "fidelities.0.cost: .*each costs more"),
        (with_levels({"cost": "1 %"}), "fidelities.0: .*designs are measured by one of"),
        (with_levels(LEVELS[0] | {"outputs": {"power": "mW"}}), "power_w is no output"),
        (with_levels(LEVELS[0] | {"retries": 2}), "retries: this key is not known"),
        (STUDY | {"search": {"method": "tpe"}}, "tpe measures no cheaper level.*gaussian"),
    ],
)
def test_what_is_no_ladder_is_refused(study: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError, match=fault):
        dse.run(study, evaluate=measure, plots=False)


def test_a_check_says_what_each_level_is(place: Path) -> None:
    text = (
        "axes: {u: {from: 1, to: 16}, v: {from: 1, to: 16}}\n"
        'evaluate:\n  command: ["true"]\n  outputs: {area: um2, time: ns}\n'
        '  fidelities: [{command: ["true", "{u}", "{v}"], cost: 5 %}]\n'
        "objectives: {area: minimise, time: minimise}\nsearch: {budget: 30}\n"
    )
    (place / "study.yaml").write_text(text)
    said = dse.load(place / "study.yaml").summary()
    assert "level 1: area [um2], time [ns]; up to about 600 designs" in said
    assert 'level 1 by: arguments ["true", "{u}", "{v}"]' in said


def test_a_level_that_fails_tells_nothing_and_stops_nothing(place: Path) -> None:
    (place / "quick.py").write_text(
        "def quick(u, v):\n"
        "    if u > 8:\n        raise ValueError\n"
        '    return {"area": u * v, "time": 900 / (u * v)}\n'
    )
    study = with_levels(LEVELS[1], stop_at_failures=0)
    study["evaluate"]["retries"] = 0  # another try waits for a second
    result = dse.run(study, evaluate=measure, plots=False)
    assert result.manifest["evaluated"] == 16
    assert np.isfinite(result.front["area_m2"]).all()


def test_a_method_that_uses_no_cheaper_level_measures_none_and_says_so(place: Path) -> None:
    result = dse.run(STUDY, evaluate=measure, method="random", plots=False)
    notes = [note for note in result.manifest["notes"] if note.startswith("level ")]
    assert len(notes) == 2
    assert all(note.endswith("measured no design; this search chose without it") for note in notes)

"""Budgets of time: what is measured for them, and what is said of the rest."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.contract.evaluators import Measurement
from dse.errors import StudyError
from dse.study.measuring import StoredMeasurement, time_measuring
from tests.runs.test_kept import Counted
from tests.runs.test_measuring import figures, study

METHODS = ("exact", "random", "tpe", "nsga2", "gaussian")


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_that_suffices_ends_no_search(method: str) -> None:
    found = dse.run(study(search={"budget": {"time": "9 h"}}), evaluate=figures, method=method)
    assert found.manifest["measured"]["designs"] == 15
    assert found.manifest["exact"]
    assert found.manifest["certificate"]["unfinished"] == []


class Clock:
    """A clock that measuring a design puts forward by so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, each_s: float) -> None:
        self.each_s, self.skipped, self.real = each_s, 0.0, time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: self.real() + self.skipped)
        self.calls = 0

    def __call__(self, unroll: float, clock: float) -> Any:
        self.calls += 1
        self.skipped += self.each_s
        return figures(unroll, clock)


@pytest.mark.parametrize("method", METHODS)
def test_no_design_is_begun_that_would_not_end_in_time(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch, 600.0)
    found = dse.run(study(search={"budget": {"time": "65 min"}}), evaluate=clock, method=method)
    assert clock.calls == found.manifest["measured"]["designs"] == 6
    (why,) = found.manifest["certificate"]["unfinished"]
    said = "the budget of time is used: measuring took 60 min of 65 min, and a design takes up to"
    assert why.startswith(f"{said} 10 min; ")
    assert f"not proven: {said[:40]}" in str(found)


def test_a_run_that_goes_on_counts_the_time_that_is_spent(tmp_path: Path) -> None:
    calls = []

    def slow(unroll: float, clock: float) -> Any:
        calls.append(unroll)
        time.sleep(0.3)
        return figures(unroll, clock)

    asked, run = study(search={"budget": {"time": "0.5 s"}}), tmp_path / "run"
    dse.run(asked, evaluate=slow, out=run, plots=False)
    assert len(calls) == 1
    dse.run(asked, evaluate=slow, out=run, plots=False, resume=True)
    assert len(calls) == 1
    assert dse.status(run).to_dict()["state"]["spent_s"] >= 0.3
    dse.run(asked, evaluate=slow, out=tmp_path / "new", plots=False, reuse=run)
    assert len(calls) == 2  # what another run measured takes no time
    assert dse.status(tmp_path / "new").to_dict()["state"]["measured"] == 2


def test_time_is_that_in_which_something_was_measured() -> None:
    """Of [0, 10], [5, 20], [6, 8] and [30, 40], and a value of another run: 30 seconds."""

    def row(begin: float, end: float, attempts: int = 1) -> StoredMeasurement:
        found = Measurement(values={}, seconds=end - begin, attempts=attempts)
        return StoredMeasurement(identity="", design={}, measurement=found, kept_at=1e9 + end)

    rows = [row(30, 40), row(0, 10), row(5, 20), row(6, 8), row(100, 200, attempts=0)]
    assert time_measuring(rows) == pytest.approx(30.0, abs=1e-6)
    assert time_measuring([]) == 0.0


def test_a_sweep_spends_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 600.0)
    swept = study(search={"budget": {"time": "65 min"}}) | {
        "axes": {"unroll": [1, 2, 4, 8], "clock": "100 MHz"},
        "sweep": {"axes.clock": ["100 MHz", "200 MHz", "400 MHz"]},
    }
    found = dse.run(swept, evaluate=clock)
    assert clock.calls == found.manifest["measured"]["designs"] == 6
    assert len(found.manifest["certificate"]["unfinished"]) == 2


def test_a_sweep_over_an_axis_of_ones_own_tells_what_it_spent_and_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each value of it has designs of its own, of which the budget leaves the last ones out."""
    clock, run = Clock(monkeypatch, 600.0), tmp_path / "run"
    swept = study(search={"budget": {"time": "25 min"}}) | {"sweep": {"unroll": [4, 1.5, 16]}}
    found = dse.run(swept, evaluate=clock, out=run, plots=False)
    assert clock.calls == 2
    assert found.manifest["notes"] == [
        "2 of 3 designs are measured at unroll = 4; results compare these alone, the others are "
        "unknown",
        "no design is measured at unroll = 1.5, 16",
    ]
    assert str(dse.answer(run, flips=False)).count("none is measured") == 2
    state = dse.status(run).to_dict()["state"]
    assert (state["measured"], state["planned"]) == (2, 9)
    verified = dse.verify(run)
    assert not [check for check in verified.checks if not check.holds]
    tried = "2 tried (every design that was measured), 2 feasible, none missing from the front"
    assert verified.checks[-1].text == tried
    some = dse.verify(run, trials=4).checks[-1].text
    assert " tried (random designs and neighbours of the front, if they were measured)" in some


def test_an_interrupt_and_a_budget_keep_what_is_measured_of_a_batch() -> None:
    counted = Counted()
    found = dse.run(study(), evaluate=counted, stop=lambda: len(counted.calls) >= 5)
    assert found.manifest["interrupted"]
    assert found.manifest["evaluated"] == found.manifest["measured"]["designs"] == 5


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (
            study(search={"budget": {"time": "2 hours"}}),
            "search.budget.time: '2 hours'; 'hours' is not a known unit; write the value with its "
            "unit, such as '10 us'",
        ),
        (
            study(search={"budget": {"design": 3}}),
            "search.budget.design: this key is not known here; did you mean 'designs'?",
        ),
    ],
)
def test_faults_say_what_to_write(asked: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        dse.load(asked, evaluate=figures)
    assert fault in str(caught.value)


def test_a_budget_of_what_is_not_measured_is_refused() -> None:
    with pytest.raises(StudyError) as caught:
        dse.load("studies/settop_116mbps.yaml", overrides={"search.budget": {"time": "1 h"}})
    assert (
        "search.budget.time: '1 h'; it limits measuring, and nothing of this study is measured; "
        "remove it; `effort: 60 s` limits a proof, `designs` any search"
    ) in str(caught.value)

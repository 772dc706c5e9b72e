"""Budgets of time and cost: what is measured for them, and what is said of the rest."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dse
from dse.contract.evaluators import Measurement
from dse.errors import MeasurementError, StudyError
from dse.store.rows import StoredMeasurement, time_measuring
from tests.runs.test_kept import Counted
from tests.runs.test_measuring import figures, study

METHODS = ("exact", "random", "tpe", "nsga2", "gaussian")


def paid(each: str, /, **budget: Any) -> dict[str, Any]:
    """Return the study of 15 designs with a cost for each, and what a search may spend."""
    outputs = {"area": "um2", "power": "mW", "delay": "ns"}
    return study(search={"budget": budget}, evaluate={"cost": each, "outputs": outputs})


@pytest.mark.parametrize("method", METHODS)
def test_a_cost_of_axes_is_never_exceeded_and_survives_an_interrupt(
    method: str, tmp_path: Path
) -> None:
    asked, counted = paid("unroll", cost=40), Counted()
    whole = dse.run(asked, evaluate=counted, method=method)
    spent = sum(unroll for unroll, _ in counted.calls)
    assert spent <= 40
    assert whole.manifest["measured"]["cost"] == spent
    assert whole.manifest["measured"]["designs"] == len(counted.calls) < 15
    (why,) = whole.manifest["certificate"]["unfinished"]
    assert why.startswith(f"the budget of cost is used: measuring cost {spent:g} of 40, and the")

    cut = Counted()
    cut.after = 2
    with pytest.raises(KeyboardInterrupt):
        dse.run(asked, evaluate=cut, method=method, out=tmp_path / "run", plots=False)
    rest = Counted()
    found = dse.run(asked, evaluate=rest, method=method, out=tmp_path / "run", resume=True)
    pd.testing.assert_frame_equal(found.front, whole.front)
    assert sorted(cut.calls + rest.calls) == sorted(counted.calls)
    assert found.manifest["measured"]["cost"] == spent
    assert dse.verify(tmp_path / "run").holds
    said = dse.status(tmp_path / "run")
    assert said.to_dict()["state"]["cost"] == spent
    assert f"{spent:g} of 40 spent, {40 - spent:g} left" in str(said)


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_that_suffices_ends_no_search(method: str) -> None:
    found = dse.run(paid("unroll", cost=1e9, time="9 h"), evaluate=figures, method=method)
    assert found.manifest["measured"]["designs"] == 15
    assert found.manifest["exact"]
    assert found.manifest["certificate"]["unfinished"] == []


def test_what_only_outputs_tell_is_expected_to_cost_as_much_as_before() -> None:
    """One design, to see; then no more at once than were counted: 1, 1, 2 and 4 of 1000 um2."""
    counted = Counted()
    found = dse.run(paid("area", cost="9900 um2"), evaluate=counted, method="exact")
    areas = [1000 * unroll + 2 * clock / 1e6 for unroll, clock in counted.calls]
    assert areas == [1200.0, 1400.0, 1800.0, 2200.0, 2400.0]
    assert found.manifest["measured"]["cost"] == pytest.approx(9000e-12)
    (why,) = found.manifest["certificate"]["unfinished"]
    assert why == (
        "the budget of cost is used: measuring cost 9000 um2 of 9900 um2, and the next design may "
        "cost 2400 um2; 0.333 of the designs are settled"
    )


def test_every_attempt_costs_and_what_fails_costs_as_much_as_any_before() -> None:
    asked = paid("area", cost="1 mm2")
    asked["evaluate"]["retries"] = 1
    counted = Counted((1.0, 2e8))
    found = dse.run(
        asked | {"axes": {"unroll": [1], "clock": ["100 MHz", "200 MHz"]}}, evaluate=counted
    )
    attempts = counted.calls.count((1.0, 2e8))
    assert found.manifest["measured"]["cost"] == pytest.approx(1200e-12 * (1 + attempts))


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
        kept_at = datetime.fromtimestamp(1e9 + end, UTC).isoformat()
        return StoredMeasurement(
            number=1, key="", identity="", design={}, measurement=found, again=False,
            kept_at=kept_at,
        )  # fmt: skip

    rows = [row(30, 40), row(0, 10), row(5, 20), row(6, 8), row(100, 200, attempts=0)]
    assert time_measuring(rows) == pytest.approx(30.0, abs=1e-6)
    assert time_measuring([]) == 0.0


def test_values_of_other_runs_cost_nothing(tmp_path: Path) -> None:
    one, counted = tmp_path / "one", Counted()
    asked = paid("unroll", cost=40)
    dse.run(asked, evaluate=counted, out=one, plots=False)
    before = len(counted.calls)
    found = dse.run(asked, evaluate=counted, out=tmp_path / "two", plots=False, reuse=one)
    assert len(counted.calls) > before
    assert found.manifest["measured"]["designs"] == len(counted.calls)
    assert found.manifest["measured"]["cost"] <= 40


def test_a_sweep_spends_one_budget() -> None:
    counted = Counted()
    swept = paid("unroll", cost=40) | {
        "axes": {"unroll": [1, 2, 4, 8], "clock": "100 MHz"},
        "sweep": {"axes.clock": ["100 MHz", "200 MHz", "400 MHz"]},
    }
    found = dse.run(swept, evaluate=counted)
    assert sum(unroll for unroll, _ in counted.calls) <= 40
    assert {clock for _, clock in counted.calls} == {1e8, 2e8, 4e8}
    assert len(found.manifest["certificate"]["unfinished"]) == 1


def test_a_sweep_over_an_axis_of_ones_own_tells_what_it_spent_and_holds(tmp_path: Path) -> None:
    """Each value of it has designs of its own, of which the budget leaves the last ones out."""
    counted, run = Counted(), tmp_path / "run"
    swept = paid("unroll * clock * 1e-8", cost=15) | {"sweep": {"unroll": [4, 1.5, 16]}}
    found = dse.run(swept, evaluate=counted, out=run, plots=False)
    assert counted.calls == [(4, 1e8), (4, 2e8), (1.5, 1e8)]
    assert found.manifest["measured"]["cost"] == 13.5
    alone = "results compare these alone, the others are unknown"
    assert found.manifest["notes"] == [
        f"2 of 3 designs are measured at unroll = 4; {alone}",
        f"1 of 3 designs are measured at unroll = 1.5; {alone}",
        "no design is measured at unroll = 16",
    ]
    assert str(dse.answer(run, flips=False)).count("none is measured") == 1
    state = dse.status(run).to_dict()["state"]
    assert (state["cost"], state["measured"], state["planned"]) == (13.5, 3, 9)
    verified = dse.verify(run)
    assert not [check for check in verified.checks if not check.holds]
    tried = "3 tried (every design that was measured), 3 feasible, none missing from the front"
    assert verified.checks[-1].text == tried
    some = dse.verify(run, trials=4).checks[-1].text
    assert " tried (random designs and neighbours of the front, if they were measured)" in some


def test_an_interrupt_and_a_budget_keep_what_is_measured_of_a_batch() -> None:
    counted = Counted()
    found = dse.run(study(), evaluate=counted, stop=lambda: len(counted.calls) >= 5)
    assert found.manifest["interrupted"]
    assert found.manifest["evaluated"] == found.manifest["measured"]["designs"] == 5


def test_a_budget_for_less_than_one_design_is_an_error() -> None:
    with pytest.raises(MeasurementError) as caught:
        dse.run(paid("unroll + 9", cost=9.5), evaluate=figures, method="exact")
    assert str(caught.value) == (
        "no design is measured: the budget of cost is used: measuring cost 0 of 9.5, and the next "
        "design costs 10; 0 of the designs are settled; raise search.budget"
    )
    with pytest.raises(MeasurementError, match="unroll - 2 is -1, and a cost is a number of 0 or "):
        dse.run(paid("unroll - 2", cost=9), evaluate=figures, method="exact")


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (
            paid("unroll", time="2 hours"),
            "search.budget.time: '2 hours'; 'hours' is not a known unit; write the value with its "
            "unit, such as '10 us'",
        ),
        (
            study(search={"budget": {"cost": 3}}),
            "search.budget.cost: 3; nothing says what it costs to measure a design; add for "
            "instance `evaluate: {cost: minutes}`, of axes and outputs",
        ),
        (
            paid("area", cost=3),
            "search.budget.cost: 3; a value in m2 needs its unit; write the value with its unit, "
            "such as '0.5 mm2'",
        ),
        (
            paid("unroll", cost=0),
            "search.budget.cost: 0; it must be positive; write more than 0",
        ),
        (
            paid("unrol", cost=3),
            "evaluate.cost: 'unrol'; there is no quantity 'unrol'; did you mean 'unroll'?",
        ),
        (
            paid("unroll <= 2", cost=3),
            "evaluate.cost: 'unroll <= 2'; a cost is a number; write an expression without <=",
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


def test_a_check_tells_the_longest_that_measuring_takes(tmp_path: Path) -> None:
    (tmp_path / "synth.sh").write_text("#!/bin/sh\n")
    (tmp_path / "synth.sh").chmod(0o755)
    (tmp_path / "study.yaml").write_text(
        "axes: {a: {from: 1, to: 12}, b: {from: 1, to: 10}}\n"
        "evaluate:\n"
        "  command: [./synth.sh, '{a}', '{b}']\n"
        "  outputs: {area: um2}\n"
        "  timeout: 10 min\n"
        "  retries: 1\n"
        "  workers: 2\n"
        "  cost: a * b\n"
        "objectives: {area: minimise}\n"
        "search: {budget: {time: 4 h, cost: 900}}\n"
    )
    lines = dse.load(tmp_path / "study.yaml").summary().splitlines()
    assert lines[1:3] == [
        "axes: a 12, b 10",
        "measured: area [um2]; up to 120 designs, chosen by gaussian",
    ]
    assert lines[4:7] == [
        "time: at most 120 designs x 10 min x 2 attempts / 2 workers = 20.0 h",
        "budget of time: 4.0 h; no design is begun that would not end within it if it took as "
        "long as the longest before",
        "budget of cost: 900, of a * b for a design",
    ]
    found = dse.load(tmp_path / "study.yaml", overrides={"sweep": "{b: [1, 2]}"})
    lines = found.summary().splitlines()
    assert lines[3].endswith("; up to 12 designs at each value of b, chosen by gaussian")
    assert lines[5].endswith("= 2.0 h at each value of b")

"""Cores of which a search that samples measures the designs that it asks for, and no others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dse
from dse.errors import MeasurementError, NothingFoundError, StudyError
from tests.runs.test_measured_cores import AFTER, POST, RATES, REST, STUDY

OUTPUTS = {
    "area": "um2", "dynamic_power": "uW", "leakage_power": "uW", "clock": "MHz",
    "cycles_per_task": "cycle/task",
}  # fmt: skip
LANES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]
STYLES = ["slim", "wide", "late"]
FAILING = {(8.0, "wide"), (3.0, "slim"), (1.0, "late")}


def figures(lanes: float, style: str) -> dict[str, float]:
    more = {"slim": 0.0, "wide": 50.0, "late": 20.0}[style]
    return {
        "area": 900 * lanes + more, "dynamic_power": 400 * lanes + 3 * more,
        "leakage_power": 3 * lanes, "clock": 500.0 - more, "cycles_per_task": math.ceil(64 / lanes),
    }  # fmt: skip


class Measuring:
    """Measures designs of a core, lists them, and is interrupted after so many."""

    def __init__(self, most: float = math.inf) -> None:
        self.done: list[tuple[float, str]] = []
        self.most = most

    def __call__(self, lanes: float, style: str) -> dict[str, float]:
        if len(self.done) >= self.most:
            raise KeyboardInterrupt
        self.done.append((lanes, style))
        if (lanes, style) in FAILING:
            raise dse.InfeasibleDesign("timing is not met")
        return figures(lanes, style)


def study(method: str = "random", budget: Any = 16, **stage: Any) -> dict[str, Any]:
    mac: dict[str, Any] = {
        "name": "mac",
        "core": {"outputs": OUTPUTS},
        "parameters": {"lanes": LANES, "style": STYLES},
        "values": {"payload": "512 bit"},
        "instances": {"from": 1, "to": 4},
    }
    return {
        "stages": [mac | stage],
        "workload": {"rate": "10 Gbit/s"},
        "objectives": {"area": "minimise", "power": "minimise"},
        "search": {"method": method, "budget": budget, "seed": 3},
    }


def with_table(data: Mapping[str, Any], failing: bool = False) -> dict[str, Any]:
    """Return a study whose core is a table of what a program would have measured."""
    rows = [
        {"design": f"lanes{lanes}_{style}"} | figures(lanes, style)
        for lanes in LANES
        for style in STYLES
        if failing or (lanes, style) not in FAILING
    ]
    suffixes = {"cycle/task": "", "um2": "_um2", "uW": "_uw", "MHz": "_mhz"}
    units = {name: f"{name}{suffixes[unit]}" for name, unit in OUTPUTS.items()}
    (stage,) = data["stages"]
    left = {name: part for name, part in stage.items() if name not in ("core", "parameters")}
    return {**data, "stages": [left | {"table": pd.DataFrame(rows).rename(columns=units)}]}


METHODS = ("random", "tpe", "nsga2", "nsga3", "sms-emoa", "nsga2-optuna", "gaussian")


@pytest.mark.parametrize("method", METHODS)
def test_a_search_that_samples_measures_only_what_it_asks_for(method: str, tmp_path: Path) -> None:
    """Each once; and its designs have the objectives that they have with all in a table."""
    measuring, run = Measuring(), tmp_path / "run"
    found = dse.run(study(method), evaluate=measuring, out=run, plots=False)
    asked, designs = set(measuring.done), len(LANES) * len(STYLES)
    assert len(measuring.done) == len(asked) <= 16 < designs
    failed = len(asked & FAILING)
    assert found.manifest["designs"] == 4 * (designs - failed)
    assert 0 < found.manifest["evaluated"] == len(found.evaluations) <= 16
    assert not found.manifest["exact"]
    assert found.manifest["hypervolume_share_of_exact"] is None
    notes = [note for note in found.manifest["notes"] if note.startswith("mac:")]
    assert len(notes) == failed + 1
    assert notes[-1] == (
        f"mac: {len(asked)} of {designs} designs were measured, those that the search asked for; "
        f"what is said compares these alone, and nothing is known of the others"
    )
    every = dse.run(with_table(study("enumerate", None))).evaluations
    shared = [name for name in found.evaluations if name in every and name != "feasible"]
    names = {f"mac.lanes{lanes:g}_{style}" for lanes, style in asked - FAILING}
    assert names == {name for name in found.evaluations if name.startswith("mac.lanes")}
    both = found.evaluations.merge(every, on=shared, how="left", indicator=True)
    assert set(both["_merge"]) == {"both"}
    assert dse.verify(run).holds
    answer = dse.answer(run).to_dict()["answer"]
    assert answer["evaluated"] == found.manifest["evaluated"]
    told = str(dse.explain(run, dict(_design(found.front.iloc[0]))))
    assert "it is on the front" in told
    assert dse.report(run, out=tmp_path / "page.html").is_file()


def _design(row: Any) -> dict[str, str]:
    return {name: f"{row[name]:g}" for name in row.index if name.startswith("mac.") and row[name]}


def test_the_search_is_that_of_a_table_where_nothing_fails() -> None:
    """Measured or not, the designs and their order are the same, and so is what is found."""
    asked = study("nsga2", 24)
    measured = dse.run(asked, evaluate=figures)
    table = dse.run(with_table(asked, failing=True))
    names = ["area_m2", "power_w"]
    pd.testing.assert_frame_equal(measured.front[names], table.front[names], check_exact=True)
    assert measured.manifest["evaluated"] == table.manifest["evaluated"] == 24
    assert measured.manifest["designs"] == table.manifest["designs"] == 120


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_cut_goes_on_to_the_same_end(method: str, tmp_path: Path) -> None:
    whole, measuring, out = Measuring(), Measuring(), tmp_path / "run"
    expected = dse.run(study(method), evaluate=whole)
    for measuring.most in (1, 4, 5):
        with pytest.raises(KeyboardInterrupt):
            dse.run(study(method), evaluate=measuring, out=out, plots=False, resume=True)
    measuring.most = math.inf
    found = dse.run(study(method), evaluate=measuring, out=out, plots=False, resume=True)
    pd.testing.assert_frame_equal(found.front, expected.front, check_exact=True)
    pd.testing.assert_frame_equal(found.evaluations, expected.evaluations, check_exact=True)
    assert sorted(measuring.done) == sorted(whole.done)
    again = Measuring(most=0)  # all is known, failures too
    same = dse.run(study(method), evaluate=again, out=out, plots=False, resume=True)
    pd.testing.assert_frame_equal(same.front, expected.front, check_exact=True)


def test_a_search_that_is_stopped_tells_what_it_has(tmp_path: Path) -> None:
    measuring = Measuring()
    found = dse.run(
        study("random", 100),
        evaluate=measuring,
        out=tmp_path / "run",
        plots=False,
        stop=lambda: len(measuring.done) >= 5,
    )
    assert found.manifest["interrupted"]
    assert len(measuring.done) == 5
    assert dse.verify(tmp_path / "run").holds
    with pytest.raises(NothingFoundError, match="interrupted before any designs were compared"):
        dse.run(study(), evaluate=Measuring(), stop=lambda: True)


@pytest.mark.parametrize("method", ["random", "exact"])
def test_a_run_that_is_not_finished_tells_what_it_has_so_far(method: str, tmp_path: Path) -> None:
    """Of designs whose cores are measured, all are compared: more than the search asked for."""
    out, measuring = tmp_path / "run", Measuring(most=6)
    with pytest.raises(KeyboardInterrupt):
        dse.run(study(method), evaluate=measuring, out=out, plots=False)
    status = dse.status(out)
    assert status.state == "killed"
    planned = {"random": 16, "exact": 30}[method]
    assert f"6 of at most {planned}, {len({*measuring.done} & FAILING)} of them" in str(status)
    known = sorted(f"lanes{lanes:g}_{style}" for lanes, style in {*measuring.done} - FAILING)
    best = dse.run(with_table(study("enumerate", None, designs=known))).front
    assert len(status.to_dict()["front"]) == len(best)
    assert dse.answer(out).to_dict()["answer"]["evaluated"] == 4 * len(known)
    failing = study("exact", None, parameters={"lanes": [8, 4], "style": ["wide"]})
    with pytest.raises(KeyboardInterrupt):
        dse.run(failing, evaluate=Measuring(most=1), out=tmp_path / "other", plots=False)
    assert "mac: no design is measured that it may use" in str(dse.status(tmp_path / "other"))


def test_no_figure_is_told_of_a_design_that_nobody_measured(tmp_path: Path) -> None:
    """And of one that is measured those are told, of a run as of the figures themselves."""
    measuring, run = Measuring(), tmp_path / "run"
    asked = study("random", 30)
    dse.run(asked, evaluate=measuring, out=run, plots=False)
    every = {(float(lanes), style) for lanes in LANES for style in STYLES}
    lanes, style = sorted(every - {*measuring.done})[0]
    missing, said = f"mac.lanes{lanes:g}_{style}", "only `dse run` measures designs"
    with pytest.raises(MeasurementError, match=f"^{missing}: it has not been measured; {said}$"):
        dse.explain(run, {missing: "1"})
    with pytest.raises(
        MeasurementError, match=f"^mac: no design is measured that it may use; {said}$"
    ):
        dse.evaluate(run, {missing: "1"})
    lanes, style = sorted({*measuring.done} & FAILING)[0]
    failed = f"mac.lanes{lanes:g}_{style}"
    with pytest.raises(MeasurementError, match=f"^{failed}: timing is not met; {said}$"):
        dse.explain(run, {failed: "1"})
    with pytest.raises(MeasurementError, match="the designs of this study are measured, and only"):
        dse.evaluate(dse.load(asked, evaluate=figures), {failed: "1"})
    lanes, style = sorted({*measuring.done} - FAILING)[0]
    named = {f"mac.lanes{lanes:g}_{style}": "2"}
    table = dse.evaluate(with_table(asked), named).to_dict()["terms"]
    assert dse.evaluate(run, named).to_dict()["terms"] == table


def test_methods_that_prove_and_budgets_that_cover_the_space_measure_all() -> None:
    for method, budget in (("exact", None), ("compose", None), ("random", 120)):
        measuring = Measuring()
        found = dse.run(study(method, budget), evaluate=measuring)
        assert len(measuring.done) == 30
        assert found.manifest["exact"]
        assert found.manifest["designs"] == 4 * 27


@pytest.mark.parametrize("method", ["exact", "random"])
def test_only_designs_that_the_stage_may_use_are_measured(method: str) -> None:
    named = ["lanes16_late", "lanes8_wide", "lanes2_slim", "lanes4_slim"]
    measuring = Measuring()
    found = dse.run(study(method, 15, designs=named), evaluate=measuring)
    used = {(16.0, "late"), (8.0, "wide"), (2.0, "slim"), (4.0, "slim")}
    assert set(measuring.done) <= used if method == "random" else {*measuring.done} == used
    assert "mac.lanes8_wide" not in found.evaluations
    with pytest.raises(StudyError, match="no such design; did you mean 'lanes16_late' or"):
        dse.load(study(designs=["lanes16_lat"]), evaluate=measuring)


def test_a_mixed_fleet_measures_the_designs_that_it_has(tmp_path: Path) -> None:
    measuring, mixed = Measuring(), {"fleet": "mixed", "instances": {"from": 0, "to": 1}}
    few = {"parameters": {"lanes": [2, 3, 4, 6], "style": ["slim"]}}
    asked = study("random", 4, **mixed, **few)
    found = dse.run(asked, evaluate=measuring, out=tmp_path / "run", plots=False)
    assert len(measuring.done) == len({*measuring.done}) <= 4
    assert found.manifest["designs"] == 2 ** (4 - ((3.0, "slim") in measuring.done))
    assert dse.verify(tmp_path / "run").holds
    with pytest.raises(StudyError) as caught:
        dse.load(study(fleet="mixed", instances="least"), evaluate=measuring)
    assert "how many instances are needed is not known before designs are measured; give" in str(
        caught.value
    )


def test_of_two_cores_both_are_measured_on_demand(tmp_path: Path) -> None:
    asked = study("random", 10)
    stages = [asked["stages"][0], asked["stages"][0] | {"name": "post"}]
    measuring, run = Measuring(), tmp_path / "run"
    found = dse.run({**asked, "stages": stages}, evaluate=measuring, out=run, plots=False)
    assert 10 < len(measuring.done) <= 20
    notes = [note for note in found.manifest["notes"] if "of 30 designs were measured" in note]
    assert [note.partition(":")[0] for note in notes] == ["mac", "post"]
    assert dse.verify(run).holds
    state = dse.status(run).to_dict()["state"]
    assert (state["measured"], state["planned"]) == (len(measuring.done), 20)


def test_the_values_of_a_sweep_share_what_is_measured(tmp_path: Path) -> None:
    asked = study("nsga2", 12) | {"sweep": {"workload.rate": ["5 Gbit/s", "10 Gbit/s"]}}
    measuring, run = Measuring(), tmp_path / "run"
    found = dse.run(asked, evaluate=measuring, out=run, plots=False)
    assert len(measuring.done) == len({*measuring.done}) <= 24
    assert dse.verify(run).holds
    assert str(dse.answer(run)) == str(dse.answer(found))
    assert dse.status(run).to_dict()["state"]["planned"] == 24


def crashing(lanes: float, style: str) -> dict[str, float]:
    if (lanes, style) in FAILING:
        raise ValueError("no licence")
    return figures(lanes, style)


def test_a_failing_design_is_unknown_or_ends_the_run(tmp_path: Path) -> None:
    """The fleets that nothing is known of are part of the space, and no front is proven."""
    section = {"outputs": OUTPUTS, "on_failure": "abort", "retries": 0}
    first = study("nsga2", 8, parameters={"lanes": [8, 1], "style": ["wide"]}, core=section)
    with pytest.raises(MeasurementError, match=r"style = wide: ValueError: no licence; repair"):
        dse.run(first | {"search": {"method": "nsga2", "budget": 7}}, evaluate=crashing)
    alone = study("random", 3, parameters={"lanes": [8], "style": ["wide"]})
    with pytest.raises(MeasurementError, match="none of 1 design could be measured"):
        dse.run(alone, evaluate=Measuring())
    passing = {"outputs": OUTPUTS, "retries": 0}
    for method in ("exact", "random"):
        asked = study(method, None if method == "exact" else 40, core=passing)
        found = dse.run(asked, evaluate=crashing, out=tmp_path / method, plots=False)
        ledger = found.manifest["ledger"]
        assert ledger["failed"] == 4 * len(FAILING) * (method == "exact") or method == "random"
        assert sum(ledger.values()) == found.manifest["designs"] == 4 * len(LANES) * len(STYLES)
        assert not found.manifest["exact"]
        assert dse.verify(tmp_path / method).holds


def test_where_no_measured_design_is_feasible_nothing_is_said_of_the_others() -> None:
    asked = study("random", 6) | {"constraints": ["area <= 1 um2"]}
    with pytest.raises(dse.errors.InfeasibleError) as caught:
        dse.run(asked, evaluate=Measuring())
    assert "no feasible design among the" in str(caught.value)
    assert not caught.value.facts["exact"]


def test_a_budget_of_time_ends_the_measuring_of_cores() -> None:
    def slow(lanes: float, style: str) -> dict[str, float]:
        import time

        time.sleep(0.05)
        return figures(lanes, style)

    found = dse.run(study("random", {"designs": 100, "time": "0.3 s"}), evaluate=slow)
    (reason,) = found.manifest["certificate"]["unfinished"]
    assert reason.startswith("the budget of time is used: measuring took ")
    with pytest.raises(StudyError, match="or search with a method that samples, for instance nsga"):
        dse.load(study("exact", {"time": "0.3 s"}), evaluate=slow)
    with pytest.raises(MeasurementError, match="exact needs all designs of a core, whatever time"):
        dse.run(study("random", {"time": "0.3 s"}), evaluate=slow, method="exact")
    with pytest.raises(
        StudyError, match="nobody adds up what designs of a core cost; remove it; `designs` l"
    ):
        dse.load(study("random", {"cost": 3}), evaluate=slow)
    priced = study("random", core={"outputs": OUTPUTS, "cost": "lanes"})
    with pytest.raises(StudyError, match=r"stages.0.core.cost: 'lanes'; nobody adds up"):
        dse.load(priced, evaluate=slow)


def test_check_tells_how_many_designs_of_a_core_are_measured_and_when() -> None:
    lines = {
        method: dse.load(study(method, None if method == "exact" else 16), evaluate=figures)
        .summary()
        .splitlines()[1]
        for method in ("exact", "random")
    }
    told = (
        (
            "measured of mac: area [um2], dynamic power [uW], leakage power [uW], clock [MHz], "
            "cycles_per_task [cycle/task]; "
        )
        .replace("c p", "c_p")
        .replace("e p", "e_p")
    )
    assert lines["exact"] == told + (
        "all 30 designs, before the search; a method that samples, for instance nsga2, measures "
        "those that it asks for"
    )
    assert lines["random"] == told + "up to 16 designs, those that random asks for"
    assert (
        "up to 30 designs, those that tpe" in dse.load(study("tpe", 99), evaluate=figures).summary()
    )


@pytest.mark.parametrize(
    "text",
    [STUDY, STUDY.replace("workload:", AFTER), STUDY + RATES],
    ids=["one stage", "two stages", "sweep"],
)
def test_programs_by_two_workers(text: str, write: Callable[..., Path], tmp_path: Path) -> None:
    """The front does not depend on the number of workers."""
    assert REST in text or AFTER in text
    (tmp_path / "post.csv").write_text(POST, encoding="utf-8")
    program = tmp_path / "mac.sh"
    program.write_text(
        "#!/bin/sh\n[ $1 = 8 ] && exit 3\n[ $2 = wide ] && e=50 || e=0\n"
        'echo "area = $((900 * $1 + e)) um2"\necho "dynamic_power = $((400 * $1 + e)) uW"\n'
        'echo "leakage_power = $((3 * $1)) uW"\necho "clock = 500 MHz"\n'
        'echo "cycles_per_task = $((64 / $1))"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    path = write(text + "search: {method: random, budget: 7, seed: 2}\n")
    for count in (1, 2):
        dse.run(path, out=tmp_path / f"by{count}", plots=False, workers=count)
    fronts = {(tmp_path / f"by{count}" / "front.csv").read_bytes() for count in (1, 2)}
    assert len(fronts) == 1
    assert dse.verify(tmp_path / "by2").holds

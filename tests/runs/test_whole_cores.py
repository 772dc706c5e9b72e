"""Cores that are measured whole before the search, by whatever method."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dse
from dse.errors import MeasurementError, StudyError
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


DESIGNS = len(LANES) * len(STYLES)
METHODS = ("random", "tpe", "nsga2", "nsga3", "sms-emoa", "nsga2-optuna", "gaussian")


@pytest.mark.parametrize("method", METHODS)
def test_the_search_is_that_of_a_table_of_what_was_measured(method: str, tmp_path: Path) -> None:
    """The core is measured whole, each design once, and the budget is that of the search."""
    measuring, run = Measuring(), tmp_path / "run"
    found = dse.run(study(method), evaluate=measuring, out=run, plots=False)
    assert len(measuring.done) == len({*measuring.done}) == DESIGNS
    table = dse.run(with_table(study(method)))
    pd.testing.assert_frame_equal(found.front, table.front, check_exact=True)
    pd.testing.assert_frame_equal(found.evaluations, table.evaluations, check_exact=True)
    assert found.manifest["evaluated"] == table.manifest["evaluated"] == 16
    assert found.manifest["designs"] == table.manifest["designs"] == 4 * (DESIGNS - len(FAILING))
    assert dse.verify(run).holds
    assert str(dse.answer(run)) == str(dse.answer(found))


@pytest.mark.parametrize("method", ["exact", "random"])
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


@pytest.mark.parametrize("method", ["random", "exact"])
def test_a_run_that_is_not_finished_tells_what_it_has_so_far(method: str, tmp_path: Path) -> None:
    """Of designs whose cores are measured, all are compared."""
    out, measuring = tmp_path / "run", Measuring(most=6)
    with pytest.raises(KeyboardInterrupt):
        dse.run(study(method), evaluate=measuring, out=out, plots=False)
    status = dse.status(out)
    assert status.state == "killed"
    assert f"6 of at most 30, {len({*measuring.done} & FAILING)} of them" in str(status)
    known = sorted(f"lanes{lanes:g}_{style}" for lanes, style in {*measuring.done} - FAILING)
    best = dse.run(with_table(study("enumerate", None, designs=known))).front
    assert len(status.to_dict()["front"]) == len(best)
    assert dse.answer(out).to_dict()["answer"]["evaluated"] == 4 * len(known)
    failing = study("exact", None, parameters={"lanes": [8, 4], "style": ["wide"]})
    with pytest.raises(KeyboardInterrupt):
        dse.run(failing, evaluate=Measuring(most=1), out=tmp_path / "other", plots=False)
    assert "mac: no design is measured that it may use" in str(dse.status(tmp_path / "other"))


def test_of_a_design_without_figures_is_told_why(tmp_path: Path) -> None:
    """And of one that is measured what a table of the figures says."""
    measuring, run, cut = Measuring(), tmp_path / "run", tmp_path / "cut"
    asked = study("random", 30)
    dse.run(asked, evaluate=measuring, out=run, plots=False)
    said = "mac.lanes3_slim: timing is not met; only `dse run` measures designs"
    with pytest.raises(MeasurementError, match=f"^{said}$"):
        dse.explain(run, {"mac.lanes3_slim": "1"})
    with pytest.raises(MeasurementError, match="the designs of this study are measured, and only"):
        dse.evaluate(dse.load(asked, evaluate=figures), {"mac.lanes3_slim": "1"})
    named = {"mac.lanes8_slim": "2"}
    table = dse.evaluate(with_table(asked), named).to_dict()["terms"]
    assert dse.evaluate(run, named).to_dict()["terms"] == table
    with pytest.raises(KeyboardInterrupt):
        dse.run(asked, evaluate=Measuring(most=5), out=cut, plots=False)
    notes = dse.answer(cut).to_dict()["notes"]
    assert "mac: 5 of 30 designs are measured; results compare these alone" in str(notes)


@pytest.mark.parametrize("method", ["exact", "random"])
def test_only_designs_that_the_stage_may_use_are_measured(method: str) -> None:
    named = ["lanes16_late", "lanes8_wide", "lanes2_slim", "lanes4_slim"]
    measuring = Measuring()
    found = dse.run(study(method, 15, designs=named), evaluate=measuring)
    used = {(16.0, "late"), (8.0, "wide"), (2.0, "slim"), (4.0, "slim")}
    assert {*measuring.done} == used
    assert "mac.lanes8_wide" not in found.evaluations
    with pytest.raises(StudyError, match="no such design; did you mean 'lanes16_late' or"):
        dse.load(study(designs=["lanes16_lat"]), evaluate=measuring)


def test_a_mixed_fleet_measures_the_designs_that_it_has(tmp_path: Path) -> None:
    measuring, mixed = Measuring(), {"fleet": "mixed", "instances": {"from": 0, "to": 1}}
    few = {"parameters": {"lanes": [2, 3, 4, 6], "style": ["slim"]}}
    asked = study("random", 4, **mixed, **few)
    found = dse.run(asked, evaluate=measuring, out=tmp_path / "run", plots=False)
    assert len(measuring.done) == len({*measuring.done}) == 4
    assert found.manifest["designs"] == 2**3
    assert dse.verify(tmp_path / "run").holds
    with pytest.raises(StudyError) as caught:
        dse.load(study(fleet="mixed", instances="least"), evaluate=measuring)
    assert "how many instances are needed is not known before designs are measured; give" in str(
        caught.value
    )


def test_two_cores_of_one_program_share_what_it_measures(tmp_path: Path) -> None:
    asked = study("random", 10)
    stages = [asked["stages"][0], asked["stages"][0] | {"name": "post"}]
    measuring, run = Measuring(), tmp_path / "run"
    dse.run({**asked, "stages": stages}, evaluate=measuring, out=run, plots=False)
    assert len(measuring.done) == DESIGNS
    assert dse.verify(run).holds
    state = dse.status(run).to_dict()["state"]
    assert (state["measured"], state["planned"]) == (DESIGNS, 2 * DESIGNS)


def test_the_values_of_a_sweep_share_what_is_measured(tmp_path: Path) -> None:
    asked = study("nsga2", 12) | {"sweep": {"workload.rate": ["5 Gbit/s", "10 Gbit/s"]}}
    measuring, run = Measuring(), tmp_path / "run"
    found = dse.run(asked, evaluate=measuring, out=run, plots=False)
    assert len(measuring.done) == len({*measuring.done}) == DESIGNS
    assert dse.verify(run).holds
    assert str(dse.answer(run)) == str(dse.answer(found))
    assert dse.status(run).to_dict()["state"]["planned"] == DESIGNS


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


def test_no_budget_limits_the_measuring_of_cores() -> None:
    for method in ("exact", "random"):
        with pytest.raises(StudyError, match="all measured before the search, whatever that takes"):
            dse.load(study(method, {"time": "0.3 s"}), evaluate=figures)
    with pytest.raises(
        StudyError, match="nobody adds up what designs of a core cost; remove it; `designs` l"
    ):
        dse.load(study("random", {"cost": 3}), evaluate=figures)
    priced = study("random", core={"outputs": OUTPUTS, "cost": "lanes"})
    with pytest.raises(StudyError, match=r"stages.0.core.cost: 'lanes'; nobody adds up"):
        dse.load(priced, evaluate=figures)


@pytest.mark.parametrize("method", ["exact", "random"])
def test_check_tells_how_many_designs_of_a_core_are_measured_and_when(method: str) -> None:
    assert dse.load(study(method), evaluate=figures).summary().splitlines()[2] == (
        "measured of mac: area [um2], dynamic_power [uW], leakage_power [uW], clock [MHz], "
        "cycles_per_task [cycle/task]; all 30 designs, before the search"
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

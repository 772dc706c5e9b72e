"""Runs whose designs are measured: fronts, failures, and that nothing else measures."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dse
from dse.errors import DseError, InfeasibleError, MeasurementError, StudyError
from dse.model import measured as measured_columns
from dse.runs.finished import plot_run
from dse.runs.result import Result
from dse.search import archive
from dse.study.measuring import measuring
from tests.conftest import STUDIES

UNROLL, CLOCK_MHZ = (1, 2, 4, 8, 16), (100, 200, 400)
STUDY: dict[str, Any] = {
    "axes": {"unroll": [*UNROLL], "clock": [f"{clock} MHz" for clock in CLOCK_MHZ]},
    "evaluate": {"outputs": {"area": "um2", "power": "mW", "delay": "ns"}, "retries": 0},
    "objectives": {"area": "minimise", "delay": "minimise"},
    "constraints": ["power <= 30 mW"],
}

Values = Mapping[str, float | str]


def figures(unroll: float, clock: float) -> dict[str, float | str]:
    """Return what a tool would say of a design; `clock` in Hz."""
    mhz = clock / 1e6
    delay = 1e3 / (unroll * mhz)
    return {"area": 1000 * unroll + 2 * mhz, "power": f"{10 * unroll * mhz} uW", "delay": delay}


class Counted:
    """A function that counts the designs that it measures."""

    def __init__(self, *failing: tuple[float, float]) -> None:
        self.calls: list[tuple[float, float]] = []
        self.failing = failing

    def __call__(self, unroll: float, clock: float) -> Values:
        self.calls.append((unroll, clock))
        if (unroll, clock) in self.failing:
            raise ValueError(f"no timing at {clock / 1e6:g} MHz")
        return figures(unroll, clock)


def study(**changes: Any) -> dict[str, Any]:
    """Return the study with entries of its sections replaced."""
    return {**STUDY, **changes, "evaluate": STUDY["evaluate"] | changes.get("evaluate", {})}


def values(result: Result) -> pd.DataFrame:
    found = result.front[["unroll", "clock_hz", "area_m2", "delay_s"]]
    return found.sort_values(["unroll", "clock_hz"]).reset_index(drop=True)


def test_the_front_is_that_of_the_same_numbers_in_a_table() -> None:
    rows = [
        {"unroll": u, "clock_hz": c * 1e6, "area_um2": f["area"], "delay_ns": f["delay"]}
        | {"power_uw": float(str(f["power"]).split()[0])}
        for u in UNROLL
        for c in CLOCK_MHZ
        for f in [figures(u, c * 1e6)]
    ]
    table = {name: STUDY[name] for name in ("objectives", "constraints")}
    expected = dse.run(table | {"designs": pd.DataFrame(rows)})
    found = dse.run(study(), evaluate=Counted())
    pd.testing.assert_frame_equal(values(found), values(expected), rtol=1e-12)
    assert found.manifest["exact"]


def styled(a: float, s: str) -> dict[str, float]:
    """Return what is measured of a design in a style; there is none of the slimmest."""
    if (a, s) == (1, "slim"):
        raise dse.InfeasibleDesign("no timing")
    wide = s == "wide"
    return {"area": 100 * a + 50 * wide, "time": 1000 / a / (1 + wide)}


WIDE_BEYOND = (("wide", "a 3"), ("wide", "a 1"))
SLIM_BEYOND = (("no feasible design",), ("slim",))


@pytest.mark.parametrize(("a", "beyond"), [([*range(1, 7)], WIDE_BEYOND), ([2], SLIM_BEYOND)])
def test_flips_are_those_of_what_was_measured(a: list[int], beyond: tuple[Any, Any]) -> None:
    """Wide with 2 takes 250 ns, what is smaller 500 ns; no axis is a number that may be moved."""
    asked = {
        "axes": {"a": a, "s": ["slim", "wide"]},
        "evaluate": {"outputs": {"area": "um2", "time": "ns"}},
        "objectives": {"area": "minimise", "time": "minimise"},
        "constraints": ["time <= 300 ns"],
    }
    (bound,) = dse.flips(dse.run(asked, evaluate=styled)).found
    assert bound.name == "time <= 300 ns"
    assert (bound.low.holds_to, bound.high.holds_to) == pytest.approx((250e-9, 500e-9))
    assert (bound.low.becomes, bound.high.becomes) == beyond


METHODS = ["exact", "enumerate", "random", "tpe", "nsga2", "gaussian"]


@pytest.mark.parametrize("method", METHODS)
def test_each_design_is_measured_once_and_no_other(method: str) -> None:
    counted = Counted()
    budget = 15 if method in ("exact", "enumerate") else 8
    result = dse.run(study(), evaluate=counted, method=method, budget=budget)
    assert len(counted.calls) == len(set(counted.calls)) <= budget
    assert result.manifest["evaluated"] == result.manifest["measured"]["designs"]
    assert result.manifest["measured"]["measured_anew"] == len(counted.calls)


def test_only_a_run_measures(tmp_path: Path) -> None:
    counted = Counted()
    dse.load(study(), evaluate=counted).summary()
    assert counted.calls == []
    result = dse.run(study(), evaluate=counted, method="random", budget=8, out=tmp_path / "run")
    measured = len(counted.calls)
    for source in (result, tmp_path / "run"):
        assert dse.answer(source).to_dict()["answer"]["choices"]["unroll"] in UNROLL
    assert dse.verify(tmp_path / "run").holds
    plot_run(tmp_path / "run", tmp_path / "pictures")
    dse.report(tmp_path / "run")
    dse.flips(tmp_path / "run")
    assert len(counted.calls) == measured
    assert len(measuring().rows(tmp_path / "run")) == measured
    notes = " ".join(result.manifest["notes"])
    assert f"{measured} of 15 designs are measured; results compare these alone" in notes


def test_an_answer_counts_what_was_measured_of_changed_axes() -> None:
    result = dse.run(study(), evaluate=Counted())
    wider = dse.answer(result, overrides={"axes.unroll": f"[{UNROLL[0]}, {UNROLL[1]}, 99]"})
    said = wider.to_dict()["answer"]
    assert (said["designs"], said["evaluated"], said["exact"]) == (9, 6, False)
    with pytest.raises(MeasurementError, match="none of these designs has been measured, and only"):
        dse.answer(result, overrides={"axes.unroll": "[99]"})


def test_an_output_stands_for_the_quantity_of_its_name_in_models() -> None:
    """Cores keep their power; the measured area stands for theirs."""
    text = (STUDIES / "settop_116mbps.yaml").read_text(encoding="utf-8")
    plain = dse.run(text).evaluations
    mixed = f"{text}\naxes: {{floor: [loose, tight]}}\nevaluate: {{outputs: {{area: mm2}}}}\n"
    found = dse.run(mixed, evaluate=lambda floor: {"area": 2 if floor == "loose" else 1})
    table = found.evaluations
    assert set(table["area_m2"]) == {1e-6, 2e-6}
    assert sorted(set(table["power_w"])) == sorted(set(plain["power_w"]))
    assert (found.front["area_m2"] == 1e-6).all()
    assert found.front["power_w"].min() == plain["power_w"].min()


def test_the_names_of_outputs_are_the_users_whatever_models_call_so() -> None:
    """Models have a latency in s/B and an energy in J/bit; nothing here is of a model."""
    asked = {
        "axes": {"a": [1, 2, 3, 4]},
        "evaluate": {"outputs": {"latency": "ns", "energy": "pJ"}},
        "objectives": {"latency": "minimise", "energy": "minimise"},
        "constraints": ["latency <= 900 ns", "energy <= 11 pJ"],
        "prefer": "energy",
    }
    found = dse.run(asked, evaluate=lambda a: {"latency": 1000 / a, "energy": 3 * a})
    assert found.front["a"].tolist() == [3, 2]
    assert found.front["energy_j"].tolist() == pytest.approx([9e-12, 6e-12])
    assert dse.answer(found).to_dict()["answer"]["choices"]["a"] == 2


def test_a_name_of_an_output_and_of_a_model_is_refused_where_it_may_be_either() -> None:
    """Power in mJ is no power of the cores, which this study computes as well."""
    text = (STUDIES / "settop_116mbps.yaml").read_text(encoding="utf-8")
    mixed = f"{text}\naxes: {{floor: [loose, tight]}}\nevaluate: {{outputs: {{power: mJ}}}}\n"
    measure = {"evaluate": lambda floor: {"power": 1.0}}
    with pytest.raises(StudyError, match=r"objectives.power: .*; write power_j or power_w"):
        dse.load(mixed, **measure)
    dse.load(mixed.replace("power: minimise", "power_w: minimise"), **measure)


FAILING = ((1.0, 1e8), (16.0, 4e8))


def test_failures_are_told_with_their_causes(tmp_path: Path) -> None:
    result = dse.run(study(), evaluate=Counted(*FAILING), out=tmp_path / "run")
    said = result.manifest["measured"]
    assert said["failed"] == 2
    assert said["causes"] == {
        "ValueError: no timing at 100 MHz": 1,
        "ValueError: no timing at 400 MHz": 1,
    }
    assert (
        "failed, and nothing is known of them: 1 design: ValueError: no timing at 100 MHz; "
        "unroll = 1, clock = 100 MHz"
    ) in result.manifest["notes"]
    assert len(result.evaluations) == result.manifest["evaluated"] == 13
    assert not result.manifest["exact"]
    notes = " ".join(result.manifest["notes"])
    assert "13 of 15 designs are measured; results compare" in notes
    assert not ((result.front["unroll"] == 1) & (result.front["clock_hz"] == 1e8)).any()
    assert dse.verify(tmp_path / "run").holds


def test_failures_leave_nothing_where_no_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = ["sh", "-c", "echo licence >&2; test {unroll} = 4 && echo area = 1"]
    asked: dict[str, Any] = {"axes": {"unroll": [4, 8]}, "objectives": {"area": "minimise"}}
    asked["evaluate"] = {"command": program, "outputs": {"area": "um2"}, "retries": 0}
    assert "with the message 'licence'" in " ".join(dse.run(asked).manifest["notes"])
    asked["axes"] = {"unroll": [8]}
    with pytest.raises(MeasurementError, match="with the message 'licence'"):
        dse.run(asked)
    assert not [*tmp_path.iterdir()]


def test_the_first_failure_may_end_the_search() -> None:
    counted = Counted(*FAILING)
    with pytest.raises(MeasurementError, match=r"no more were tried .*\n1 design: ValueError"):
        dse.run(study(evaluate={"stop_at_failures": 1}), evaluate=counted)
    assert len(counted.calls) == 1


def test_where_all_fail_the_causes_are_the_error() -> None:
    everything = [(float(unroll), clock * 1e6) for unroll in UNROLL for clock in CLOCK_MHZ]
    with pytest.raises(MeasurementError) as caught:
        dse.run(study(evaluate={"stop_at_failures": 0}), evaluate=Counted(*everything))
    assert str(caught.value).startswith(
        "none of 15 designs could be measured:\n5 designs: ValueError: no timing at 100 MHz; "
    )


def other(unroll: float, frequency: float) -> Values:
    """Call an axis by another name."""
    return {"area": unroll * frequency}


def test_arguments_and_axes_are_called_alike() -> None:
    with pytest.raises(StudyError, match=r"other is called with unroll, clock: .*name its arg"):
        dse.run(study(), evaluate=other)


def test_an_interrupted_search_keeps_what_it_found() -> None:
    counted = Counted()
    many = study(axes=STUDY["axes"] | {"clock": {"from": "100 MHz", "to": "400 MHz", "points": 20}})
    result = dse.run(many, evaluate=counted, method="exact", stop=lambda: len(counted.calls) >= 40)
    assert result.manifest["interrupted"]
    assert 0 < result.manifest["evaluated"] <= len(counted.calls) <= 41
    assert len(counted.calls) - result.manifest["measured"]["measured_anew"] <= 1


@pytest.mark.parametrize("ask", [dse.answer, dse.problem, dse.flips, dse.explain])
def test_a_study_that_was_not_run_is_not_measured_on_the_way(ask: Callable[..., Any]) -> None:
    counted = Counted()
    design = ["unroll=1 clock=100MHz"] if ask is dse.explain else []
    with pytest.raises(MeasurementError, match="only `dse run` measures: run it, and name the fol"):
        ask(dse.load(study(), evaluate=counted), *design)
    assert counted.calls == []


def test_of_a_design_that_was_not_measured_a_run_says_that(tmp_path: Path) -> None:
    method = {"method": "random", "budget": 3, "seed": 1}
    counted = Counted()
    dse.run(study(search=method), evaluate=counted, out=tmp_path / "part")
    told = []
    for unroll in UNROLL:
        for clock in CLOCK_MHZ:
            try:
                dse.explain(tmp_path / "part", f"unroll={unroll} clock={clock}MHz")
            except MeasurementError as error:
                told.append((str(error), f"unroll {unroll}, clock {clock} MHz"))
    assert len(told) == 15 - len(counted.calls)
    for message, design in told:
        assert message == (f"{design}: it has not been measured; only `dse run` measures designs")


def test_a_run_shows_what_was_measured_of_a_design(tmp_path: Path) -> None:
    dse.run(study(), evaluate=Counted((1, 1e8)), out=tmp_path / "run")
    found = dse.explain(tmp_path / "run", "unroll=2 clock=200MHz")
    figures = {term.name: (term.shown, term.meaning) for term in found.terms}
    assert figures["area_m2"] == ("2400 um2", "measured")
    assert figures["power_w"] == ("4 mW", "measured")
    with pytest.raises(MeasurementError, match=r"clock 100 MHz: it has not been measured; only"):
        dse.explain(tmp_path / "run", "clock=100MHz", overrides={"unroll": 99})


def test_of_a_design_that_failed_a_run_says_why(tmp_path: Path) -> None:
    dse.run(study(), evaluate=Counted((1, 1e8)), out=tmp_path / "failed")
    found = dse.explain(tmp_path / "failed", "unroll=1 clock=100MHz")
    assert (found.feasible, found.terms) == (False, ())
    assert found.text() == (
        "unroll 1, clock 100 MHz\nit failed, and nothing is known of it\n"
        "  the design is measured (ValueError: no timing at 100 MHz): violated"
    )


def test_what_nothing_fits_names_its_nearest_design_with_units() -> None:
    with pytest.raises(InfeasibleError, match="nearest design: unroll 1, clock 100 MHz\n"):
        dse.run(study(constraints=["power <= 1 uW"]), evaluate=Counted())


def test_workers_and_a_cluster_exclude_each_other() -> None:
    with pytest.raises(DseError) as told:
        dse.run(study(), evaluate=figures, workers=2, dask="tcp://127.0.0.1:9")
    assert str(told.value) == (
        "workers and dask: a Dask cluster has workers of its own; give --workers to measure on "
        "this machine or --dask to measure on the cluster (`workers` or `dask` in Python), not both"
    )


@pytest.mark.parametrize("budget", [None, 5, 12])
@pytest.mark.parametrize("method", METHODS)
def test_what_a_rule_on_axes_alone_excludes_is_never_measured(
    method: str, budget: int | None, tmp_path: Path
) -> None:
    """9 of the 15 designs keep to it, and power, which is measured, rules out others of them."""
    counted = Counted()
    asked = study(constraints=["power <= 6 mW", "unroll * clock <= '800 MHz'"])
    kept = [(u, c * 1e6) for u in UNROLL for c in CLOCK_MHZ if u * c <= 800]
    if method in ("exact", "enumerate") and budget == 5:
        budget = len(kept)
    result = dse.run(asked, evaluate=counted, method=method, budget=budget, out=tmp_path / "run")
    assert set(counted.calls) <= set(kept)
    assert len(counted.calls) == min(budget or len(kept), len(kept))
    ledger = result.manifest["ledger"]
    assert (ledger["evaluated"], ledger["pruned"]) == (len(counted.calls), 15 - len(kept))
    assert result.manifest["exact"] == (len(counted.calls) == len(kept))
    assert dse.verify(tmp_path / "run").holds


def test_a_check_says_how_many_designs_rules_on_axes_leave() -> None:
    said = dse.load(study(constraints=["unroll * clock <= '800 MHz'"]), evaluate=figures).summary()
    assert "rules on axes alone leave 9 of 15 designs" in said
    assert "up to 9 designs" in said


@pytest.mark.parametrize("counted_before", [True, False])
def test_where_rules_on_axes_exclude_all_designs_nothing_is_measured_and_they_conflict(
    counted_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where designs are too many to count what is excluded: random ones say what they miss."""
    monkeypatch.setattr(measured_columns, "MOST_COUNTED", 100 if counted_before else 0)
    monkeypatch.setattr(archive, "MOST_DRAWN", 10_000)
    counted = Counted()
    with pytest.raises(InfeasibleError, match="no design meets: unroll >= 17") as caught:
        dse.run(study(constraints=["unroll >= 17", "power <= 30 mW"]), evaluate=counted)
    assert "power" not in str(caught.value).partition("no design meets")[2]
    assert counted.calls == []


def test_an_infeasible_space_that_is_measured_is_explained_without_listing_designs() -> None:
    """1.2e13 designs; what is measured of them limits no fleet."""
    text = """
workload: {rate: 100 Gbit/s}
stages: [{core: des, fleet: mixed, instances: {from: 0, to: 99}}]
axes: {unroll: [1, 2, 4, 8], width: [8, 16, 32]}
evaluate: {outputs: {latency: ns}}
objectives: {area: minimise}
constraints: [latency <= 1 ns, power <= 1 mW]
"""
    with pytest.raises(InfeasibleError) as caught:
        dse.run(text, evaluate=lambda unroll, width: {"latency": unroll / width})
    assert "\nno design meets: power <= 1 mW\n" in str(caught.value)


def test_a_method_that_proves_measures_all_unless_a_budget_is_set() -> None:
    """81 designs are more than are measured wholly by default, and more than the default budget."""
    many = study(axes={"unroll": [*range(1, 42)], "clock": ["100 MHz", "200 MHz", "400 MHz"]})
    assert len(dse.run(many, evaluate=figures, method="exact").front)
    with pytest.raises(DseError, match="its budget is 100; raise the budget to 123, give unroll"):
        dse.run(many, evaluate=figures, method="exact", budget=100)

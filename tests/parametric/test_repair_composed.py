"""When bounds prove that nothing fits: the same conflicts and repairs as by trying every design."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings

import dse
from dse import search
from dse.algebra.thresholds import candidates
from dse.errors import InfeasibleError, OutputError, TooLargeError
from dse.files import document
from dse.parametric import breakpoints, infeasible
from dse.parametric.infeasible import fields_of, repairs_of
from dse.reports.text import table_text
from dse.runs import finished
from dse.search import SearchSettings, conflicts
from dse.search.exact import incumbents, prove
from dse.study import study
from tests.conftest import everything
from tests.parametric.test_repair import studies

Write = Callable[[str], Path]

LARGE = """\
# How many of which cores carry 4 Tbit/s through one engine?
workload: {rate: 4000 Gbit/s, granularity: 64 KiB}
stages: [{core: des, fleet: mixed}]
interface: {device: sparc_t4_engine, in_flight: 64, link: 16 B/cycle}
objectives: {area: minimise, power: minimise}
"""

MANY = """\
workload: {rate: 100 Gbit/s}
stages: [{core: des, fleet: mixed}]
objectives: {area: minimise, power: minimise}
constraints: [power <= 20 mW, area <= 1 mm2, instances <= 9]
"""


def prepared(data: dict[str, Any]) -> study.Study:
    return study.prepare(document.parse_document(json.dumps(data), "study.yaml"))


def said(found: study.Study, method: str) -> tuple[list[tuple[str, ...]], dict[str, str]]:
    """Return what conflicts, and what each change that is enough sets."""
    problem, composed = found.problem, method == "compose"
    outcome = search.run_search(problem, SearchSettings(method=method))
    assert outcome.feasible == 0
    assert (outcome.certificate.way == "composed") == composed
    outcome = conflicts.with_conflicts(problem, outcome) if composed else outcome
    repairs = repairs_of(found)[0]
    return outcome.conflicts(), {entry.path: entry.written for entry in repairs}


@settings(max_examples=5, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(data=studies())
def test_composed_and_enumerated_say_the_same(data: dict[str, Any]) -> None:
    found = prepared(data)
    assume(found.problem.size <= 500)
    assume(not everything(found.problem).feasible.any())
    every = said(found, "enumerate")
    with patch.object(prove, "ENOUGH", 0), patch.object(incumbents, "RANDOM", 64):
        composed = said(found, "compose")
    assert composed == every


def changes(facts: dict[str, Any]) -> dict[str, str]:
    return {entry["set"]: entry["to"] for entry in facts["repairs"]}


def test_a_space_too_large_to_enumerate_says_what_would_fit(write: Write) -> None:
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(LARGE))
    facts = caught.value.facts
    assert facts["designs"] == facts["pruned"] > 10**16
    assert facts["exact"]
    assert facts["conflicts"] == [["the throughput reaches workload.rate"]]
    rate, link = facts["repairs"]
    assert (rate["set"], rate["value_bit_per_s"]) == ("workload.rate", 16 * 3e9 * 8)
    assert link["set"] == "interface.link"
    assert link["value_byte_per_cycle"] == pytest.approx(4000e9 / 8 / 3e9, rel=1e-4)
    assert str(caught.value).startswith("no feasible design: all 1.23e+16 pruned by bounds\n")


def test_conflicts_are_told_apart_and_each_is_repaired(write: Write) -> None:
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(MANY))
    facts = caught.value.facts
    rate = "the throughput reaches workload.rate"
    assert facts["conflicts"] == [[rate, "power <= 20 mW"]]
    assert changes(facts)["constraints.0"] == "power <= 25.249 mW"


@pytest.mark.parametrize(
    ("seconds", "stop", "why"),
    [
        (0, None, "no CPU time was left (search.effort, --time)"),
        (60, lambda: True, "it was interrupted"),
    ],
)
def test_changes_are_looked_for_as_long_as_the_study_has_effort(
    seconds: float, stop: search.Stop | None, why: str, write: Write
) -> None:
    found = study.prepare(study.read_study(write(MANY)))
    outcome = search.run_search(found.problem, SearchSettings(method="exact"))
    text, facts = infeasible.explain_infeasible(found, outcome, seconds=seconds, stop=stop)
    assert text.endswith(f"\nnot all changes that may admit a design were tried: {why}")
    assert text.startswith("no feasible design: all 7,983,360 pruned by bounds\n")
    assert facts["repairs"] == facts["untried"] == []


def test_what_is_too_much_work_leaves_a_change_that_is_not_the_least(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One exact search tells that a rate is enough; no other is done in time."""
    found = study.prepare(study.read_study(write(LARGE)))
    outcome = search.run_search(found.problem, SearchSettings(method="exact"))
    asked: list[bool] = []

    def one(problem: Any) -> Any:
        if any(asked):
            raise TooLargeError("too much work")
        design = conflicts.any_design(problem)
        asked.append(design is not None)
        return design

    monkeypatch.setattr(breakpoints, "any_design", one)
    text, facts = infeasible.explain_infeasible(found, outcome, seconds=60)
    rate = facts["repairs"][0]
    assert (rate["set"], rate["least"]) == ("workload.rate", False)
    assert "; less of a change may do" in " ".join(text.split())
    assert "interface.link" in facts["untried"]


@pytest.mark.parametrize(
    ("setting", "path", "written", "unit", "value"),
    [  # 2 offloads of 4 KiB in flight: at 40 Gbit/s each has 1638.4 ns
        ("in_flight: 2", "interface.in_flight", "3", "", 3),
        ("link: 4 GB/s", "interface.link", "5 GB/s", "byte_per_s", 5e9),
        ("host_cores: 0.9", "interface.host_cores", "1.2208", "", 1.2208),
        ("host_cores: 1", "interface.host_cores", "2", "", 2),  # whole, as the study's own
        ("host_cores: 1", "interface.overhead", "819.2 ns", "s", 819.2e-9),
        ("host_cores: 1", "workload.granularity", "5000 B", "byte", 5000),
    ],
)
def test_the_interface_that_limits_is_what_to_change(
    setting: str, path: str, written: str, unit: str, value: float, write: Write
) -> None:
    fields = {"overhead": "1 us", "latency": "0.9 us", "link": "16 GB/s", "in_flight": "64"}
    fields["host_cores"] = "16"
    name, _, text = setting.partition(": ")
    interface = ", ".join(f"{key}: {known}" for key, known in (fields | {name: text}).items())
    study_text = f"""\
workload: {{rate: 40 Gbit/s, granularity: 4 KiB}}
stages: [{{core: des, designs: [u8, u16], fleet: mixed}}]
interface: {{{interface}}}
objectives: {{area: minimise}}
"""
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(study_text))
    found = {entry["set"]: entry for entry in caught.value.facts["repairs"]}
    assert found[path]["to"] == written
    assert found[path][f"value_{unit}" if unit else "value"] == pytest.approx(value, rel=1e-15)


def test_a_latency_in_two_parts_is_no_one_field_to_relax(write: Write) -> None:
    """Setting the field would also remove the part per byte."""
    text = """\
workload: {rate: 40 Gbit/s, granularity: 64 KiB}
stages: [{core: des, designs: [u8, u16], fleet: mixed}]
interface: {device: sandy_bridge, latency: 9 us, in_flight: 1}
objectives: {area: minimise}
"""
    found = study.prepare(study.read_study(write(text)))
    fields = {*fields_of(found).values()}
    assert "interface_latency_s" in fields
    constants = found.problem.space.constants | {"interface_latency_cycles": np.full(1, 9.0)}
    space = replace(found.problem.space, constants=constants)
    both = replace(found.problem, space=space)
    fields = {*fields_of(replace(found, problem=both)).values()}
    assert not any(name.startswith("interface_latency") for name in fields)


def test_a_value_that_is_a_rounding_short_is_told_in_few_digits() -> None:
    assert candidates(127.9999999e9, "rate_bit_per_s", up=False) == [
        "128 Gbit/s",
        "127.99 Gbit/s",
    ]
    assert candidates(127.994e9, "rate_bit_per_s", up=False) == ["127.99 Gbit/s"]


def test_a_folder_of_runs_names_one_of_them(tmp_path: Path) -> None:
    dse.run("studies/settop_116mbps.yaml", out=tmp_path / "runs" / "settop")
    message = f"{str(tmp_path / 'runs')!r} is not the folder of a run: it has no "
    for read, lacks in ((finished.read_run, "manifest.json"), (_drawn, "manifest.json")):
        with pytest.raises(OutputError) as caught:
            read(tmp_path / "runs")
        expected = f"{message}{lacks}; did you mean {tmp_path / 'runs' / 'settop'}?"
        assert str(caught.value) == expected
    with pytest.raises(OutputError, match="nowhere' does not exist; name one that"):
        finished.read_run(tmp_path / "nowhere")


def _drawn(folder: Path) -> None:
    finished.plot_run(folder, folder)


def test_a_table_breaks_no_word_that_fits() -> None:
    rows = [
        ("buffer_leakage_w_per_bit", "20 pW/bit", "given: interface.buffer_leakage", "a b " * 9)
    ]
    table = table_text(rows, ("quantity", "value", "what it is", "source"), width=80)
    assert "interface.buffer_leakage" in table
    assert max(map(len, table.splitlines())) <= 80


def test_conflicts_are_found_from_no_example_at_all(write: Write) -> None:
    text = MANY.replace("mixed}", "mixed, designs: [u8, u16]}").replace("<= 9", "<= 2")
    problem = study.prepare(study.read_study(write(text))).problem
    every = search.run_search(problem, SearchSettings(method="enumerate"))
    rate = "the throughput reaches workload.rate"
    assert every.conflicts() == ((rate, "power <= 20 mW"), (rate, "instances <= 2"))
    forgotten = replace(every, satisfied=frozenset())
    assert conflicts.with_conflicts(problem, forgotten).conflicts() == every.conflicts()

"""When nothing fits: every change that is named works, and a little less does not."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import dse
from dse import search
from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.algebra.thresholds import thresholds_of
from dse.errors import InfeasibleError, OutputError, TooLargeError
from dse.files import document
from dse.parametric import breakpoints, infeasible
from dse.parametric.infeasible import Repair, fields_of, needed_by, repairs_of
from dse.reports.designs import described
from dse.reports.text import table_text
from dse.runs import finished
from dse.search import SearchSettings, conflicts
from dse.search.exact import compose, prove
from dse.study import study
from dse.study.overrides import override
from dse.study.schema import FIELDS
from tests.conftest import STUDIES, everything

Write = Callable[[str], Path]

CHAINED = """\
# Can one stream of CBC reach 100 Gbit/s?
workload: {rate: 100 Gbit/s, chained: true, streams: 1}
stages: [{core: des, instances: {from: 1, to: 48}}]
objectives: {area: minimise, power: minimise}
"""

CHAINED_TEXT = """\
no feasible design
nearest design: 1 u16
  the throughput reaches workload.rate  violated by 97.4 %
no design meets: the throughput reaches workload.rate
any one of these changes makes the study feasible, the smallest first:
  1. workload.rate at most 2.5806 Gbit/s (97.4 % less than 100 Gbit/s): 1 u16 (dependence-bound)
     --set "workload.rate=2.5806 Gbit/s"
  2. workload.streams at least 39 (39 times 1): 3 u16 (dependence-bound)
     --set "workload.streams=39\""""

CAPPED = """\
workload: {rate: 100 Gbit/s}
stages: [{core: des, fleet: mixed, designs: [u8, u16]}]
objectives: {area: minimise, power: minimise}
constraints: [power <= 24 mW]
"""

CAPPED_TEXT = """\
no feasible design
without these bounds the study takes at least 25.25 mW of power (proven)
nearest design: 3 u16
  power <= 24 mW  violated by 5.2 %
no design meets together: the throughput reaches workload.rate and power <= 24 mW
any one of these changes makes the study feasible, the smallest first:
  1. power <= 25.249 mW (5.2 % more than 24 mW): 3 u16
     --set "constraints.0=power <= 25.249 mW"
  2. workload.rate at most 94.305 Gbit/s (5.7 % less than 100 Gbit/s): 3 u16 (compute-bound)
     --set "workload.rate=94.305 Gbit/s\""""


@pytest.mark.parametrize("question", [dse.run, dse.answer])
def test_an_explanation_takes_no_longer_than_its_question_may(question, write: Write) -> None:
    ended = r"(the limit of \S+ s of CPU time was reached|no CPU time was left)"
    cut = f"not (all changes that may admit a design were|every design was) tried: {ended}"
    with pytest.raises(InfeasibleError, match=cut) as caught:
        question(write(CHAINED), time="1 ms")
    assert caught.value.facts["repairs"] == []


def test_a_search_that_tried_nothing_does_not_say_that_nothing_is_feasible(write: Write) -> None:
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(CHAINED), time="1 us")
    assert str(caught.value).startswith(
        "no feasible design was found; not every design was tried: the limit of 1e-06 s of CPU time"
    )
    assert caught.value.facts["unfinished"].startswith("not every design was tried")


def refused(path: Path, **options: Any) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        dse.run(path, **options)
    return caught.value


def prepared(data: dict[str, Any]) -> study.Study:
    return study.prepare(document.parse_document(json.dumps(data), "study.yaml"))


def feasible(found: study.Study, path: str, value: str) -> bool:
    """By evaluating every design of the study with one thing replaced."""
    changed = override(found.document, [(path, json.dumps(value))])
    return bool(everything(study.prepare(changed).problem).feasible.any())


@pytest.mark.parametrize(("text", "expected"), [(CHAINED, CHAINED_TEXT), (CAPPED, CAPPED_TEXT)])
def test_the_text_of(text: str, expected: str, write: Write) -> None:
    assert str(refused(write(text))) == expected


def test_the_facts_are_those_of_the_text(write: Write) -> None:
    facts = refused(write(CAPPED)).facts
    power, rate = facts["repairs"]
    assert (power["set"], power["to"]) == ("constraints.0", "power <= 25.249 mW")
    assert power["value_w"] == pytest.approx(25.249e-3, rel=1e-15)
    assert power["nominal_w"] == 24e-3
    assert rate["value_bit_per_s"] == 94.305e9
    assert facts["no_repair"] == []


def test_the_largest_reachable_rate_is_by_hand_what_dependence_allows() -> None:
    """One stream has one task in flight: payload over latency, of the design that is fastest."""
    found = study.prepare(document.parse_document(CHAINED, "study.yaml"))
    metrics = found.problem.stages[0].designs.metrics
    fastest = (metrics.payload_bit * metrics.clock_hz / metrics.latency_cycles).max()
    rate, streams = repairs_of(found)[0]
    assert rate.value == pytest.approx(fastest, rel=1e-4)
    assert rate.value <= fastest
    assert rate.limit == streams.limit == "dependence"
    assert streams.value == np.ceil(100e9 / fastest)


BOUNDS = [
    "power <= {power} mW",
    "power < {power} mW",
    "{area} um2 > area",
    "power * 2 <= '{power} mW'",
    "power / throughput <= {energy}",
    "area <= {area} um2 and power <= {power} mW",
    "area <= {area} um2 or power <= {power} mW",
    "1 um2 <= area <= {area} um2",
    "{share} <= utilisation",
]


@st.composite
def studies(draw: st.DrawFn) -> dict[str, Any]:
    """A small study that is seldom feasible."""
    rate = draw(st.floats(5, 120))
    stage: dict[str, Any] = {
        "core": "des",
        "designs": draw(st.sampled_from([["u8", "u16"], ["u1", "u4"], ["u16"]])),
        "fleet": draw(st.sampled_from(["single", "mixed"])),
    }
    if draw(st.booleans()):
        stage["instances"] = {"from": 1, "to": draw(st.integers(1, 4))}
    stage["clock"] = draw(st.sampled_from(["meet", 1, [0.5, 0.9]]))
    data: dict[str, Any] = {
        "workload": {"rate": f"{rate!r} Gbit/s", "granularity": "4 KiB"},
        "stages": [stage],
        "objectives": {"area": "minimise", "power": "minimise"},
        "constraints": [],
    }
    for text in draw(st.lists(st.sampled_from(BOUNDS), max_size=2, unique=True)):
        numbers = {
            "power": draw(st.floats(0.05, 30)),
            "area": draw(st.floats(1e3, 3e5)),
            "energy": draw(st.floats(1e-14, 4e-13)),
            "share": draw(st.floats(0.1, 0.9)),
        }
        data["constraints"].append(text.format(**numbers))
    if draw(st.booleans()):
        data["workload"] |= {"chained": True, "streams": draw(st.integers(1, 3))}
    if draw(st.booleans()):
        device = draw(st.sampled_from(["sparc_t4_engine", "sandy_bridge", "apu"]))
        data["interface"] = {"device": device, "host_cores": draw(st.floats(0.01, 4))}
        data["axes"] = {"interface.in_flight": draw(st.sampled_from([[1, 2], [300], [4]]))}
    if draw(st.booleans()):
        data["budget"] = {"power_cap": f"{draw(st.floats(0.05, 20))!r} mW"}
    return data


@settings(max_examples=5)
@given(data=studies())
def test_a_remedy_is_enough_and_a_little_less_of_a_number_is_not(data: dict[str, Any]) -> None:
    is_enough_and_a_little_less_is_not(data)


@pytest.mark.slow
@settings(max_examples=100)
@given(data=studies())
def test_many_remedies_are_enough_and_a_little_less_is_not(data: dict[str, Any]) -> None:
    is_enough_and_a_little_less_is_not(data)


def is_enough_and_a_little_less_is_not(data: dict[str, Any]) -> None:
    found = prepared(data)
    assume(not everything(found.problem).feasible.any())
    repairs, untried = repairs_of(found)
    assert not untried
    for entry in repairs:
        changed = study.prepare(override(found.document, [*entry.to_dict()["overrides"].items()]))
        assert everything(changed.problem).feasible.any(), entry
        for short in np.linspace(0.001, 1.0, 12):
            value = entry.value + short * (entry.nominal - entry.value)
            if short == 0.001:
                value = entry.value * (1 + np.copysign(0.001, entry.nominal - entry.value))
            if not entry.constraint:
                if FIELDS[entry.path].integer:
                    value = np.clip(np.rint(value), *sorted((entry.nominal, entry.value)))
                    if value == entry.value:
                        continue
                text = units.exact_text(value, entry.name)
            else:
                text = _with_number(found, entry, float(value))
            assert not feasible(found, entry.path, text), (entry, text)


def _with_number(found: study.Study, entry: Repair, value: float) -> str:
    """Return the repaired constraint with another number."""
    before = found.problem.constraints[int(entry.path.rpartition(".")[2])]
    after = parse_expression(entry.written, before.names)
    pairs = zip(thresholds_of(before), thresholds_of(after), strict=True)
    changed = next(new for old, new in pairs if old.value != new.value)
    return changed.text(units.exact_text(value, changed.name))


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("24 mW >= power", ["25.249 mW >= power"]),
        ("power < 24 mW", ["power < 25.249 mW"]),
        ("area < 0.1 mm2 and instances <= 9", ["area < 0.1497 mm2 and instances <= 9"]),
        ("instances == 9", ["instances == 8.0"]),
        ("power + '1 mW' <= '20 mW'", ["power + '1 mW' <= 26.249 mW"]),
        ("'120 Gbit/s' * 1 <= throughput", ["100 Gbit/s <= throughput"]),
        (
            "power <= 1 mW or area <= 1 um2",
            ["power <= 25.249 mW or area <= 1 um2", "power <= 1 mW or area <= 0.14969 mm2"],
        ),
        # 3 is also forbidden, so that the bound goes on to 4
        ("instances != 3 and instances < 3", ["instances != 3 and instances < 4.0001"]),
        ("instances != 3 and instances < 3 and area <= 150000 um2", []),  # neither alone
    ],
)
def test_the_bound_of_a_constraint_is_rewritten(
    constraint: str, expected: list[str], write: Write
) -> None:
    facts = refused(write(CAPPED.replace("power <= 24 mW", f'"{constraint}"'))).facts
    changed = [entry for entry in facts["repairs"] if entry["set"] == "constraints.0"]
    assert [entry["to"] for entry in changed] == expected
    if not expected:
        assert constraint in facts["no_repair"]


def test_where_no_one_change_is_enough_each_bound_is_named(write: Write) -> None:
    constraints = "[power <= 24 mW, 'area / throughput <= 1e-18', instances <= 9]"
    error = refused(write(CAPPED), overrides={"constraints": constraints})
    assert error.facts["repairs"] == []
    told = "relaxing one bound alone does not help"
    assert f"{told}: area / throughput <= 1e-18\n{told}: power <= 24 mW" in str(error)


def test_the_largest_rate_is_found_behind_gaps() -> None:
    """A lower rate needs fewer instances, and those may not carry it through the interface."""
    text = """\
workload: {rate: 100 Gbit/s, granularity: 1 KiB}
stages: [{core: des, designs: [u8], instances: least}]
interface: {device: sandy_bridge, in_flight: 1}
objectives: {area: minimise}
"""
    found = study.prepare(document.parse_document(text, "study.yaml"))
    largest = next(r for r in repairs_of(found)[0] if r.path == "workload.rate").value
    grid = np.linspace(1e9, 100e9, 1_000)
    one = np.zeros((1, len(found.problem.sizes)), dtype=np.int64)
    fits = [
        bool(found.problem.evaluate(one, {"workload_rate_bit_per_s": np.array([rate])}).feasible)
        for rate in grid
    ]
    last = np.flatnonzero(fits)[-1]
    assert not all(fits[:last])
    assert grid[last] <= largest < grid[last + 1]


def test_a_rate_that_is_reachable_in_a_window_only_is_the_largest(write: Write) -> None:
    """From 20.7 to 26.1 Gbit/s two u16 fit, and below 13.5 Gbit/s; between these nothing does."""
    text = """
workload: {rate: 94 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16], fleet: mixed, clock: [0.5, 0.9]}]
interface: {device: sandy_bridge, host_cores: 0.375}
axes: {interface.in_flight: [1, 2]}
objectives: {area: minimise, power: minimise}
"""
    found = study.prepare(study.read_study(write(text)))
    repairs = repairs_of(found)[0]
    (rate,) = (entry for entry in repairs if entry.path == "workload.rate")
    assert rate.value == pytest.approx(26.1e9, rel=1e-3)


def test_a_heuristic_that_overlooked_what_fits_says_so(write: Write) -> None:
    text = CAPPED.replace("power <= 24 mW", "power <= 25.249 mW")
    error = refused(write(text), method="random", budget=2, seed=1)
    assert "none of the 2 designs evaluated is feasible, but " in str(error)
    assert error.facts["example"] == "3 u16"


def test_a_power_cap_below_leakage_is_infeasible_behind_an_interface_too() -> None:
    """Nothing runs, so an offload never ends; its host is not busy for ever but not at all."""
    text = """\
workload: {rate: 5 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16], instances: 1}]
interface: {device: sandy_bridge}
budget: {power_cap: 0.01 mW}
objectives: {area: minimise}
"""
    found = study.prepare(document.parse_document(text, "study.yaml"))
    described = found.problem.describe(np.zeros((1, 2), dtype=np.int64))
    assert (described["throughput_bit_per_s"], described["host_cores"]) == (0.0, 0.0)
    assert "budget.power_cap" in {entry.path for entry in repairs_of(found)[0]}


def test_what_a_change_replaces_is_named() -> None:
    """Else what is to be added to a command would be refused there: it sets the field already."""
    fields = {"workload.rate": "100 Gbit/s", "workload.chained": True}
    with pytest.raises(InfeasibleError) as caught:
        dse.run(STUDIES / "settop_116mbps.yaml", overrides=fields)
    text = str(caught.value)
    assert '--set "workload.rate=2.5806 Gbit/s", in place of workload.rate=100 Gbit/s\n' in text
    assert text.endswith('--set "workload.streams=39"')


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
    with patch.object(prove, "ENOUGH", 0), patch.object(compose, "RANDOM", 64):
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


def test_a_folder_of_runs_names_one_of_them(tmp_path: Path) -> None:
    dse.run("studies/settop_116mbps.yaml", out=tmp_path / "runs" / "settop")
    with pytest.raises(OutputError, match=f"did you mean {tmp_path / 'runs' / 'settop'}?"):
        finished.read_run(tmp_path / "runs")


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


DEVICE = """\
workload: {rate: 100 Gbit/s, granularity: 1500 B}
stages: [{core: des, instances: {from: 1, to: 48}}]
interface: {device: ultrasparc_t2}
axes: {interface.in_flight: [1, 16, 256]}
objectives: {total_power: minimise, area: minimise}
"""

OWN = """\
workload: {rate: 5 Gbit/s, granularity: 4 KiB, kernel: des}
stages: [{core: des, designs: [u8], instances: 1}]
interface: {overhead: 100 ns, link: 1 GB/s, transfer: store_and_forward, wait: sync}
objectives: {area: minimise}
"""

FEW = """\
workload: {rate: 100 Gbit/s}
stages: [{core: des, designs: [u4], instances: {from: 1, to: 3}}]
objectives: {area: minimise, power: minimise}
"""

LATE = """\
workload: {rate: 10 Gbit/s, granularity: 64 KiB}
stages: [{core: des, designs: [u8], instances: {from: 1, to: 4}}]
interface: {device: sparc_t4_engine, in_flight: 2}
objectives: {area: minimise, power: minimise}
constraints: [offload_latency <= 2 us]
"""

COMPOSED = """\
workload: {rate: 100 Gbit/s, granularity: 1500 B}
stages: [{core: des, fleet: mixed}, {core: fft, fleet: mixed}]
interface: {device: apu, in_flight: 4}
objectives: {area: minimise, power: minimise}
"""

PLATFORM = """\
workload: {intensity: 0.25 flop/B}
budget: {platform: pandaboard}
objectives: {platform_power: minimise}
constraints: [platform_performance >= 20 Gflop/s]
"""


def offered(error: InfeasibleError) -> list[dict[str, str]]:
    return [entry["overrides"] for entry in error.facts["repairs"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DEVICE, {"workload.rate": "3.84 Gbit/s", "workload.granularity": "39063 B"}),
        (
            OWN,
            {
                "workload.rate": "3.3094 Gbit/s",
                "interface.link": "1.6911 GB/s",
                "interface.in_flight": "2",
            },
        ),
        (FEW, {"workload.rate": "30.96 Gbit/s"}),
        (
            LATE,
            {"constraints.0": "offload_latency <= 6.6845 us", "workload.granularity": "17184 B"},
        ),
        (PLATFORM, {"constraints.0": "platform_performance >= 320 Mop/s"}),
    ],
)
def test_a_remedy_is_offered_and_each_that_is_works_when_it_is_pasted(
    text: str, expected: dict[str, str], write: Write
) -> None:
    path = write(text)
    error = refused(path)
    assert offered(error) == [{path: value} for path, value in expected.items()]
    commands = [line for line in str(error).splitlines() if line.startswith("     --set ")]
    assert len(commands) == len(offered(error))
    for line, overrides in zip(commands, offered(error), strict=True):
        pasted = shlex.split(line)
        assert pasted[::2] == ["--set"] * len(overrides)
        assert pasted[1::2] == [f"{name}={value}" for name, value in overrides.items()]
        assert len(dse.run(path, overrides=pasted[1::2]).front), line


def test_what_a_device_is_cannot_be_changed(write: Write) -> None:
    names = {name for overrides in offered(refused(write(DEVICE))) for name in overrides}
    assert names == {"workload.rate", "workload.granularity"}
    own = DEVICE.replace("ultrasparc_t2", "ultrasparc_t2, host_cores: 200, overhead: 25 us")
    names = {name for overrides in offered(refused(write(own))) for name in overrides}
    assert {"interface.host_cores", "interface.overhead"} <= names


def test_a_change_that_nobody_would_make_is_none(write: Write) -> None:
    """The rate would have to be 347.97 kbit/s, and the host to have thousands of cores."""
    assert "any one of these changes" not in str(refused(write(COMPOSED)))
    few = DEVICE.replace("ultrasparc_t2", "ultrasparc_t2, host_cores: 8")
    assert "interface.host_cores" not in [*chain(*offered(refused(write(few))))]


def test_the_value_of_a_sweep_is_told_with_its_unit(write: Write) -> None:
    text = FEW.replace(
        "workload: {rate: 100 Gbit/s}", "sweep: {workload.rate: [50 Gbit/s, 90 Gbit/s]}"
    )
    assert str(refused(write(text))).startswith(
        "at workload.rate = 50 Gbit/s: no feasible design\n"
    )


LEAST = """\
workload: {rate: 40 Gbit/s, granularity: 1500 B}
stages: [{core: des, designs: [u16], instances: least}]
interface: {overhead: 100 ns, latency: 500 ns, link: 40 GB/s, in_flight: 32}
objectives: {area: minimise, offload_latency: minimise}
constraints: [offload_latency <= 750 ns]
"""


def test_that_more_than_the_least_instances_were_not_tried_is_said(write: Write) -> None:
    """1500 B on one u16 take 291 ns and 24.8 ns of fill, on three 97 ns: 722 ns in all."""
    with pytest.raises(InfeasibleError) as caught:
        dse.answer(write(LEAST), flips=False)
    assert str(caught.value).splitlines()[0] == (
        "no feasible design with the least instances that carry the rate; more were not tried"
    )
    assert len(dse.run(write(LEAST), overrides={"des.instances": "3"}).front)


def test_a_sweep_says_where_the_least_instances_are_too_few(write: Write) -> None:
    text = LEAST + "sweep: {workload.rate: [40 Gbit/s, 100 Gbit/s]}\n"
    (section,) = (one for one in dse.answer(write(text)).sections if one.key == "intervals")
    assert [row[1] for row in section.rows] == [
        "none is feasible with the least instances: give `instances` a range",
        "u16",
    ]


BETWEEN = """\
workload: {rate: 98.506 Gbit/s, granularity: 1500 B, arrivals: poisson}
stages: [{core: des, fleet: mixed, counts: {u1: 1, u2: 1, u8: 1, u16: 2}}]
interface: {device: sparc_t4_engine}
axes: {interface.in_flight: [4, 8]}
objectives: {area: minimise}
constraints: [offload_latency_p99 <= 3 us, area <= 0.2 mm2]
"""


def test_a_value_between_two_of_an_axis_stands_once_against_the_one_short_of_it(write) -> None:
    """Four offloads wait too long, eight take too much area: five are more than four."""
    text = str(refused(write(BETWEEN)))
    assert text.count("interface.in_flight=5") == 1
    assert "interface.in_flight at least 5 (25 % more than 4): 1 u1 + 1 u2" in text


HOST = """\
# Is the host enough?
workload: {rate: 10 Gbit/s, granularity: 16 KiB, kernel: aes_128_gcm_zen5}
stages: [{provides: aes_gcm, node: 7 nm, instances: {from: 1, to: 2}}]
interface: {device: dsa_batch, in_flight: 32, host_cores: 96, host_power: 400 W}
objectives: {area: minimise, total_power: minimise}
constraints: [offload_latency <= 500 ns]
"""


def test_the_host_alone_counts_where_nothing_fits(write: Write) -> None:
    """It takes 103.8 ns and 38.7 ps a byte, any engine more than a microsecond."""
    error = refused(write(HOST))
    assert str(error).splitlines()[1:4] == [
        "without these bounds the study takes at least 737.8 ns of offload latency (proven)",
        "nearest design: the host alone",
        "  offload_latency <= 500 ns  violated by 47.6 %",
    ]
    assert error.facts["repairs"][0]["design"] == "the host alone"
    assert error.facts["repairs"][0]["to"] == "offload_latency <= 737.83 ns"
    both = {"constraints": "[offload_latency <= 500 ns, total_power <= 0.1 W]"}
    (conflict,) = refused(write(HOST), overrides=both).facts["conflicts"]
    assert conflict == ["offload_latency <= 500 ns"]


SLACK = """\
objectives: {area: minimise, power: minimise}
constraints: [wns >= 0 ns, power <= 1 mW]
designs: timed.csv
"""


@pytest.mark.parametrize("bound", ["wns >= 0 ns", "0 ns <= wns"])
def test_a_bound_of_zero_is_missed_in_its_unit(bound: str, write: Write, tmp_path: Path) -> None:
    """Relative to one second 3 ns are nothing: of these, b is nearest."""
    rows = ["a,100,-3,1", "b,200,-0.25,1.2", "c,300,-0.1,4"]
    path = write(SLACK.replace("wns >= 0 ns", bound))
    (path.parent / "timed.csv").write_text("\n".join(["design,area_um2,wns_ns,power_mw", *rows]))
    error = refused(path)
    assert error.facts["nearest_design"] == "b"
    assert f"{bound} violated by 250 ps" in " ".join(str(error).split())
    alone = refused(path, overrides={"constraints": f"[{bound!r}]"})
    assert alone.facts["repairs"][0]["to"] == bound.replace("0 ns", "-100 ps")


TIGHT = """
workload: {rate: 100 Gbit/s}
stages: [{core: des, fleet: mixed, designs: [u4, u8, u16]}]
objectives: {area: minimise, power: minimise}
constraints: ["area <= 0.1 mm2", "20 mW >= power", "utilisation >= 0.97"]
"""


def test_bounds_need_what_all_designs_say(write) -> None:
    path = write(TIGHT)
    problem = study.prepare(study.read_study(path)).problem
    _, best, _ = needed_by(problem)
    every = everything(problem)
    first = len(problem.constraint_names) - len(problem.constraints)
    carry = every.points[(every.violation[:, :first] <= 0).all(axis=1)]
    columns = problem.describe(carry)
    values = [columns[name] for name in ("area_m2", "power_w", "utilisation")]
    assert best == pytest.approx([values[0].min(), values[1].min(), values[2].max()])
    over = [values[0] / 1e-7 - 1, values[1] / 0.02 - 1, 1 - values[2] / 0.97]
    excess = np.maximum(np.column_stack(over), 0)
    nearest = carry[[excess.sum(axis=1).argmin()]]
    with pytest.raises(InfeasibleError) as caught:
        dse.run(path)
    assert caught.value.facts["nearest_design"] == described(problem, nearest)[0]


def test_what_is_needed_comes_first(write) -> None:
    text = TIGHT.replace(', "utilisation >= 0.97"', "")
    with pytest.raises(InfeasibleError) as caught:
        dse.run(write(text))
    said = str(caught.value).splitlines()
    assert said[1].startswith("without these bounds the study takes at least 0.1497 mm2 of area")
    assert said[2].startswith("  each") or "each on its own (proven)" in said[1]
    assert caught.value.facts["needed"] == {
        "area <= 0.1 mm2": pytest.approx(149690e-12, rel=1e-3),
        "20 mW >= power": pytest.approx(25.25e-3, rel=1e-3),
    }

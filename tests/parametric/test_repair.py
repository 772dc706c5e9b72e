"""When nothing fits: every repair that is named works, and a little less does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dse
from dse.algebra import units
from dse.algebra.expression import parse_expression
from dse.algebra.thresholds import thresholds_of
from dse.errors import InfeasibleError
from dse.files import document
from dse.parametric.infeasible import Repair, repairs_of
from dse.study import study
from dse.study.overrides import override
from dse.study.workload_interface_budget import FIELDS
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

"""The answer in one screen: short, in order, at once, and true to what all of it says."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import dse
from dse.answers.design import LITTLE
from dse.answers.source import known_fronts
from tests.conftest import STUDIES

CRYPTO = STUDIES / "crypto_interface_100gbps.yaml"
DES = STUDIES / "des_100gbps.yaml"
SWEEP = STUDIES / "des_fft_sweep.yaml"
LINES, WIDTH = 19, 80  # of a terminal of 24 lines, with the command and the prompt


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("study", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_study_fits_one_screen(study: Path, narrow: None) -> None:
    found = dse.answer(study, all=False, time="2 s")
    lines = found.text().splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    swept = isinstance(found, dse.SweepAnswer)
    assert lines[2 + bool(lines[1])].startswith("The " if swept else "Take ")
    assert lines[-1].endswith("--all.")
    assert repr(found) == found.text()


def test_what_it_tells_is_in_order_and_the_design_comes_first() -> None:
    told: list[str] = []
    found = dse.answer(CRYPTO, all=False, callback=told.append)
    assert "Take 3 u16" in told[0]
    assert not any("Flips with" in part for part in told[:1])
    assert "\n".join(told) == found.text()
    text = found.text()
    order = (
        *("Take 3 u16, SPARC T4 engine", "Least total power 855 mW", "area 0.4721 mm2"),
        *("▸ SPARC T4 engine       3", "  SPARC T4 engine       10", "  Sandy Bridge"),
        *("  UltraSPARC T2", "Bottleneck: "),
        *("Holds for workload.rate from 82.58 Gbit/s to 114.8", "Flips with workload.rate +14.8 %"),
        *("des.u16.clock (synthesis) -13.7 %: infeasible", "217,812 designs, proven", "--all."),
    )
    places = [text.index(part) for part in order]
    assert all(one <= other for one, other in pairwise(places))
    assert {one.axis for one in found.others} == {"interface.device"}  # no other is shown


@pytest.mark.parametrize("study", [DES, CRYPTO], ids=lambda path: path.stem)
def test_a_little_more_buys_what_the_front_has(study: Path) -> None:
    """By hand: of the designs within the least share that has any, the best in one objective."""
    result = dse.run(study)
    found = dse.answer(result, flips=False, all=False)
    facts = found.to_dict()["bought"]
    preferred = "power_w" if study == DES else "total_power_w"
    goals = [goal.name for goal in dse.load(study).problem.goals]
    front = result.front
    least = front[preferred].min()
    own = front[front[preferred] == least].iloc[0]
    for share in LITTLE:
        near = front[front[preferred] <= least * (1 + share)]
        better = [g for g in goals if g != preferred and near[g].min() < own[g]]
        if better:
            break
    assert facts["tolerance"] == share
    bought = facts["with"]["quantities"]
    assert bought[better[0]] == near[better[0]].min()
    assert bought[preferred] <= least * (1 + share)
    assert "\nTrade-off: " in found.text(all=True)


def test_a_sweep_is_told_as_intervals() -> None:
    found = dse.answer(SWEEP, all=False)
    facts = found.to_dict()["intervals"]
    values = list(found.values)
    kinds = [tuple(name.partition(".")[2] for name in pick.counts) for pick in found.picks]
    for entry, after in pairwise(facts):
        assert values.index(after["from"]) == values.index(entry["to"]) + 1
    assert (facts[0]["from"], facts[-1]["to"]) == (values[0], values[-1])
    for entry in facts:
        group = kinds[values.index(entry["from"]) : values.index(entry["to"]) + 1]
        assert len({*group}) == 1
    assert "10 to 102 Gbit/s" in found.text()
    assert "For all about one rate add --set workload.rate=..." in found.text(all=True)


# The roofs over the recommended design, and the design that lifts the lowest


OFFLOADS = """\
# How many cores?
workload: {kernel: des, rate: 10 Gbit/s, granularity: 4 KiB}
stages:
  - core: des
    designs: [u8, u16]
    instances: {from: 1, to: 4}
interface: {device: sparc_t4_engine}
objectives: {area: minimise, total_power: minimise, offload_latency: minimise}
"""
ROOFS = {"compute": "peak", "link": "link_limit", "offload": "offload_limit"}


def roofs_of(answer: Any) -> dict[str, Any]:
    (found,) = answer.to_dict()["roofs"]
    return dict(found)


def test_a_roof_at_another_size_is_that_of_a_study_of_that_size() -> None:
    answer = dse.answer(OFFLOADS, flips=False, all=False)
    found = roofs_of(answer)
    (front,) = known_fronts(dse.load(OFFLOADS).document).points
    point = front.study.preferring(None, None).first(front.study.problem, front.front)
    for size in (4096, 64, 1 << 20):
        study = dse.load(OFFLOADS, overrides={"workload.granularity": f"{size} B"})
        columns = study.problem.describe(point)
        place = found["places"].index(size)
        for label, height in found["heights"].items():
            assert height[place] == pytest.approx(columns[f"{ROOFS[label]}_bit_per_s"][0])
    values = {one["label"]: one["value"] for one in found["limits"]}
    own = found["places"].index(found["at"])
    assert values == {label: height[own] for label, height in found["heights"].items()}
    assert [*values.values()] == sorted(values.values())


def test_what_lifts_the_lowest_roof_is_the_preferred_design_of_the_front_that_does() -> None:
    found = roofs_of(dse.answer(OFFLOADS, flips=False, all=False))
    front = dse.run(OFFLOADS).front
    roofs = front[[f"{name}_bit_per_s" for name in ROOFS.values()]].min(axis=1)
    beyond = front[roofs > found["limits"][0]["value"] * 1.01]
    assert 0 < len(beyond) < len(front)
    least = beyond.sort_values(["total_power_w", "area_m2", "offload_latency_s"]).iloc[0]
    lift = found["lift"]
    assert lift["quantities"]["total_power_w"] == least["total_power_w"]
    assert lift["limit"]["value"] == pytest.approx(roofs[least.name])
    assert lift["height"][found["places"].index(found["at"])] == lift["limit"]["value"]
    assert re.match(r"Lifting the lowest: .* \(.* more, then .*\) for .*more", found["text"])


def test_where_nothing_on_the_front_lifts_the_roof_the_answer_says_so() -> None:
    answer = dse.answer(STUDIES / "settop_116mbps.yaml", flips=False, all=False)
    found = roofs_of(answer)
    assert found["lift"] is None
    assert found["places"] == []  # nothing is offloaded
    said = "The lowest roof, compute: no design of the front lifts it by 1 %; --rate asks for more."
    assert said in answer.text(all=True)
    assert said not in answer.text()

"""The answer in one screen: short, in order, at once, and true to what all of it says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import dse
from dse import contract
from dse.answers.design import LITTLE
from dse.plugins import registry
from tests.conftest import STUDIES, run_dse

CRYPTO = STUDIES / "crypto_interface_100gbps.yaml"
DES = STUDIES / "des_100gbps.yaml"
SWEEP = STUDIES / "des_fft_sweep.yaml"
LINES, WIDTH = 22, 80  # of a terminal of 24 lines, with the command and the prompt


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("study", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_study_fits_one_screen(study: Path, narrow: None) -> None:
    found = dse.answer(study, all=False, time="2 s")
    lines = found.text().splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert lines[-1].startswith("More with --all: ")
    assert repr(found) == found.text()


def test_what_it_tells_is_in_order_and_the_design_comes_first() -> None:
    told: list[str] = []
    found = dse.answer(CRYPTO, all=False, callback=told.append)
    assert "Take 3 u16" in told[0]
    assert not any("Flips with" in part for part in told[:1])
    assert "\n".join(told) == found.text()
    text = found.text()
    order = (
        *("Take 3 u16 with device", "Area 0.4721 mm2, total power 855 mW", "It has the least"),
        *("Bottleneck: ", "Trade-off: ", "The host alone: total power"),
        *("Flips with workload.rate", "Flips with des.u16.clock", "inputs are", "--all"),
    )
    places = [text.index(part) for part in order]
    assert all(one <= other for one, other in pairwise(places))
    assert text.count("Flips with") == 2
    assert not found.others  # not searched, as it is not told


def test_the_command_prints_it_and_all_of_it_when_asked() -> None:
    short = run_dse("answer", str(DES), "--no-flips").stdout
    found = dse.answer(DES, flips=False)
    assert short == found.text() + "\n"
    every = run_dse("answer", str(DES), "--no-flips", "--all").stdout
    assert every == found.text(all=True) + "\n"
    assert "Any other des fleet:" in every
    assert "Any other" not in short


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
    assert "\nTrade-off: " in found.text()


def test_a_tolerance_takes_what_it_says_that_it_would() -> None:
    text = dse.answer(DES, flips=False, all=False).text()
    trade = "Trade-off: 1 u8 + 2 u16 has 14 % less area for 2 % more power"
    assert f'{trade} (--tolerance "5 %").' in text
    assert dse.answer(DES, flips=False, all=False, tolerance="5 %").pick.name == "1 u8 + 2 u16"


def test_figures_that_nobody_published_are_those_of_the_record() -> None:
    record = registry.get(contract.Interface, "sparc_t4_engine")
    count = len(record.assumptions) + len(record.unspecified)
    text = dse.answer(CRYPTO, flips=False, all=False).text()
    assert f"{count} inputs are assumptions, not published." in text
    assert "published" not in dse.answer(DES, flips=False, all=False).text()


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
    assert len(found.text(all=True).splitlines()) > len(values)


def test_between_choices_of_a_sweep_there_is_nothing() -> None:
    found = dse.answer(STUDIES / "des_100gbps_by_synthesis.yaml", flips=False, all=False)
    told = [(entry["from"], entry["design"]) for entry in found.to_dict()["intervals"]]
    least = ("4 u16_quarter", "3 u16_half", "1 u16_half")
    assert told == [*zip(("des_sky130", "des_ihp130", "des_asap7"), least, strict=True)]
    assert " to " not in found.text()

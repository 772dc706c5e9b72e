"""A design out of all proportion names the figures whose units to check; others say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse
from tests.conftest import STUDIES

CORES = """
# How many?
workload: {rate: 100 Gbit/s}
stages: [{name: aes, table: cores.csv, values: {payload: 128 bit}}]
objectives: {area: minimise, power: minimise}
"""
BUFFERS = """
workload: {rate: 10 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u8, u16], instances: [2]}]
interface: {overhead: 100 ns, link: 40 GB/s, in_flight: 8}
objectives: {area: minimise, power: minimise}
"""


def checked(source: object, **fields: str) -> tuple[list[str], list[str]]:
    """Return what is out of proportion, and which fields to check."""
    overrides = {name.replace("__", "."): text for name, text in fields.items()}
    facts = dse.answer(source, overrides=overrides, flips=False, all=False).to_dict()
    told = facts.get("plausible", {"beyond": {}, "check": []})
    return [*told["beyond"]], told["check"]


@pytest.mark.parametrize("fleet", ["single", "mixed"])
def test_a_clock_in_the_wrong_unit_is_named(write, tmp_path: Path, fleet: str) -> None:
    """By the answer and by the run."""
    write("design,area_um2,clock_hz,cycles_per_block,power_mw\ntiny,99,1.2,1,0.01\n", "cores.csv")
    study = write(CORES.replace("100 G", "50 M").replace("128 bit}", f"128 bit}}, fleet: {fleet}"))
    assert checked(study) == (["instances"], ["workload.rate", "aes.tiny.clock"])
    line = "Check the units of workload.rate (50 Mbit/s) and aes.tiny.clock (1.2 Hz): no chip has"
    text = " ".join(dse.answer(study, flips=False, all=False).text().split())
    assert f"{line} 325,521 instances." in text
    note = f"c{line[1:]} 325,521 instances"
    assert note in dse.run(study).manifest["notes"]
    swept = dse.run(
        study, overrides={"sweep.workload.rate": "[1 kbit/s, 50 Mbit/s]"}, out=tmp_path / "run"
    )
    assert f"{note} at workload.rate = 50 Mbit/s" in swept.manifest["notes"]
    assert dse.verify(tmp_path / "run").holds


def test_buffers_in_the_wrong_unit_are_named_and_those_in_the_right_one_are_not() -> None:
    assert checked(BUFFERS) == ([], [])
    beyond, check = checked(BUFFERS, workload__granularity="4 GB")
    assert beyond == ["area_m2"]
    assert {*check} == {"workload.granularity", "interface.in_flight", "interface.buffer_area"}
    assert checked(BUFFERS, des__instances="1000000")[0][0] == "instances"


# A recommended design where the study stops trying is told so; one at a natural end is not


STUDY = """
workload: {rate: 100 Gbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u8, u16], instances: {from: 1, to: 5}, clock: [0.5, 0.9]}]
interface: {overhead: 1 us, link: 100 GB/s}
axes: {interface.in_flight: [16, 64, 256]}
objectives: {total_power: minimise, area: minimise}
"""


def beyond(text: str) -> list[str]:
    notes = dse.answer(text, flips=False).to_dict()["notes"]
    return [note.partition(";")[0] for note in notes if "values tried" in note]


def test_the_end_of_an_axis_is_told() -> None:
    assert beyond(STUDY) == [
        "des.clock = 0.9 is the highest of the 2 values tried",
        "interface.in_flight = 16 is the lowest of the 3 values tried",
    ]
    few = STUDY.replace("to: 5", "to: 3").replace("[16, 64, 256]", "[1, 64, 256]")
    assert beyond(few) == [
        "des.clock = 0.9 is the highest of the 2 values tried",
        "des.instances = 3 is the highest of the 3 values tried",
    ]


# An end of the front that is the answer only because nothing is demanded is told so


JACOBI = STUDIES / "jacobi_bandwidth.yaml"
KNEED = """
# Which of these?
designs: rows.csv
objectives: {power: minimise, speed: maximise}
"""
ROWS = "design,power_mw,speed\nsmall,1,1\nbent,2,10\nlarge,10,12\n"


def others(source: object, **options: object) -> dict[str, str]:
    facts = dse.answer(source, flips=False, all=False, **options).to_dict()
    return {words: other["design"] for words, other in facts.get("undemanded", {}).items()}


def test_the_smallest_engine_is_told_to_be_the_least_of_all() -> None:
    text = " ".join(dse.answer(JACOBI, prefer="power", flips=False, all=False).text().split())
    assert "Nothing is demanded, so the least total power alone decides" in text
    assert "Ask with --prefer throughput or --rate." in text
    assert others(JACOBI, prefer="power") == {"most throughput": "1 n4"}


def test_the_knee_is_offered_where_there_is_one(write) -> None:
    write(ROWS, "rows.csv")
    study = write(KNEED)
    assert others(study) == {"most speed": "large", "knee": "bent"}
    text = dse.answer(study, flips=False, all=False).text()
    assert "Ask with --prefer speed or --prefer knee." in text  # a table has no rate
    assert others(study, prefer="speed") == {}


def test_a_demand_a_bound_or_a_preference_leaves_nothing_to_tell() -> None:
    assert others(JACOBI) == {}  # the study prefers energy
    assert others(JACOBI, prefer="power", rate="20 Gbps") == {}
    bounded = {"constraints": "[throughput >= 20 Gbit/s]"}
    assert others(JACOBI, prefer="power", overrides=bounded) == {}

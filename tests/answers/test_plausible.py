"""A design out of all proportion names the figures whose units to check; others say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import dse

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

"""What a user reads when a study is wrong: file:line:column: path: written; rule; remedy."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dse.errors import DseError, StudyError
from dse.study import study
from tests.conftest import ROOT, Write, faults

GOOD = """\
workload: {rate: 100 Gbit/s, granularity: 4 KiB}
stages:
  - core: des
interface:
  device: sparc_t4_engine
axes:
  interface.in_flight: [1, 2]
objectives: {area: minimise}
constraints: [power <= 30 mW]
"""


def fault_of(write: Write, text: str) -> str:
    """Return the only fault of a study."""
    (fault,) = faults(write(text))
    return fault


SIX = """\
workload: {rate: 100, granularity: 4 KiB}
stages:
  - core: dess
    instances: leest
interface: {device: parsecs}
objectives: {powr: minimise, area: minimise}
constraints: [areaa <= 3 mm2]
prefer: powwer
"""


@pytest.mark.parametrize("rate", ["100", "100 Gbps"])
def test_no_fault_hides_another(rate: str, write: Write) -> None:
    """Neither one of the shape nor one of a plug-in's name."""
    with pytest.raises(StudyError) as caught:
        study.prepare(study.read_study(write(SIX.replace("rate: 100", f"rate: {rate}"))))
    told = str(caught.value).splitlines()
    assert told[-6:] == [
        f"{caught.value.faults[-1].file}:{place}"
        for place in (
            "3:5: stages.0.core: 'dess' is not a known core; "
            "did you mean 'des' or 'des_asap7' or 'des_sky130'?",
            "4:5: stages.0.instances: 'leest' is not a number of instances; "
            "write whole numbers, {from: 1, to: 8}, or `least`",
            "5:13: interface.device: 'parsecs' is not a known interface; did you mean 'sparc_t3'?",
            "6:14: objectives.powr: 'powr'; this quantity is not known; "
            "did you mean 'power' or 'own_power' or 'host_power'?",
            "7:15: constraints.0: 'areaa <= 3 mm2'; there is no quantity 'areaa'; "
            "did you mean 'area_m2' or 'area_lc' or 'area_ge'?",
            "8:1: prefer: 'powwer'; there is no quantity 'powwer'; "
            "did you mean 'power' or 'own_power' or 'host_power'?",
        )
    ]
    assert len(told) == 6 + (rate == "100")


MANY = """\
workload: {rate: 100 GB/s, granularity: 4 KiB}
stages:
  - core: des
    designs: [u1, u17]
    clock: {from: 1, to: 0.5, points: 3}
    instances: {from: 4, to: 1}
  - core: aes
    fleet: mixd
interface: {device: sparc}
axes:
  interface.in_fligth: [1, 2]
  interface.latency: [1 us, 2 W]
objectives: {area: minimise, powr: minimise}
constraints: [area <= 100000, power <= 30 mX, latency]
prefer: energi
tolerance: 3
search: {budget: many, method: annealing}
sweep: {workload.rat: [1, 2]}
extra: 1
"""
"""A fault of each kind: of shape, names, ranges, units, expressions; none follows from another."""


def places_of(write: Write, text: str) -> list[str]:
    """Return the places of the faults of a study."""
    with pytest.raises(StudyError) as caught:
        study.ready(study.read_study(write(text)))
    return [fault.where for fault in caught.value.faults]


def test_faults_of_all_kinds_are_reported_at_once(write: Write) -> None:
    """And mending one shows no other that was there before."""
    found = places_of(write, MANY)
    assert found == [
        "workload.rate",
        *("stages.0.designs.1", "stages.0.clock", "stages.0.instances"),
        *("stages.1.core", "stages.1.fleet"),
        "interface.device",
        *("axes.interface.in_fligth", "axes.interface.latency"),
        "objectives.powr",
        *("constraints.0", "constraints.1", "constraints.2"),
        *("prefer", "tolerance"),
        *("search.budget", "search.method"),
        *("workload.rat", "extra"),
    ]
    mended = MANY.replace("GB/s", "Gbps").replace("mixd", "mixed").replace("many", "9")
    rest = [where for where in found if where not in ("workload.rate", "stages.1.fleet")]
    rest = [where for where in rest if where not in ("search.budget", "extra")]
    assert places_of(write, mended.replace("extra: 1\n", "")) == rest
    mended = mended.replace("sweep: {workload.rat: [1, 2]}\nextra: 1\n", "")
    assert places_of(write, mended) == rest[:-1]


def test_a_missing_or_faulty_part_brings_no_fault_that_follows_from_it(write: Write) -> None:
    text = GOOD.replace("100 Gbit/s", "fast").replace("sparc_t4_engine", "{}")
    text = text.replace("area: minimise", "area: least").replace("[1, 2]", "{from: 1}")
    assert places_of(write, text) == [
        *("workload.rate", "interface.device", "axes.interface.in_flight.to", "objectives.area")
    ]


def test_a_faulty_table_of_cores_hides_no_unknown_quantity(write: Write) -> None:
    write("design,area_um2,clock_mhz,cycles_per_block,power_mw\na,2650,fast,176,0.6\n", "cores.csv")
    text = SIX.replace("rate: 100", "rate: 100 Gbps").replace("parsecs", "sparc_t3")
    text = text.replace("core: dess", "table: cores.csv\n    values: {payload: 128 bit}")
    assert places_of(write, text) == [
        *("clock_mhz", "stages.0.instances", "objectives.powr", "constraints.0", "prefer")
    ]


@pytest.mark.parametrize("path", ["workload.rat", "workload.rate.x", "stages.aes.clock", "x=y"])
def test_an_override_that_leads_nowhere(path: str, write: Write) -> None:
    with pytest.raises(DseError, match=path.partition(".")[0]):
        study.prepare(study.read_study(write(GOOD), [(path, "1")]))


def test_a_pipe_is_no_table(write: Write, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    told = fault_of(write, GOOD.replace("core: des", "table: pipe.csv"))
    assert "it is not a file, but a pipe or a device" in told


def test_thousands_of_unknown_names_take_little_time_and_text(write: Write) -> None:
    names = ", ".join(f"x{number}" for number in range(15_000))
    path = write(GOOD.replace("core: des", f"core: des\n    designs: [{names}]"))
    start = time.process_time()
    with pytest.raises(StudyError) as caught:
        study.prepare(study.read_study(path))
    assert time.process_time() - start < 5.0
    assert len(str(caught.value)) < 10_000
    assert str(caught.value).endswith("... and at least 360 more")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("clock_ghz", "clock_hz", "slow at 0.9 Hz carries 115.2 bit/s; 8.7e+08 of them would be"),
        ("100 Gbit/s", "1e10 Gbit/s", "slow at 900 MHz carries 115.2 Gbit/s; 8.7e+07 of them"),
    ],
)
def test_counts_of_a_mixed_stage_are_refused_before_they_are_listed(
    old: str, new: str, told: str, write: Write, tmp_path: Path
) -> None:
    table = "design,area_um2,clock_ghz,cycles_per_task,payload_bit,power_mw\nslow,1,0.9,1,128,1\n"
    (tmp_path / "t.csv").write_text(table.replace(old, new))
    study_text = GOOD.replace("core: des", "table: t.csv\n    fleet: mixed").replace(old, new)
    start = time.process_time()
    fault = fault_of(write, study_text)
    assert time.process_time() - start < 1.0
    assert f"stages.0.fleet: 'mixed'; {told}" in fault
    assert "is its clock in GHz" in fault


def test_a_name_of_two_quantities_is_no_fault_beside_others(write) -> None:
    text = (ROOT / "studies" / "settop_116mbps.yaml").read_text(encoding="utf-8")
    text = text.replace("116.43 Mbit/s", "116.43 Mbps/s") + "constraints: [area <= 1 mm2]\n"
    assert "'Mbps/s' is not a known unit" in fault_of(write, text)

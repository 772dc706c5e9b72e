"""What else admits a design: clocks, instances, designs left out, devices; each is pasted."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

import dse
from dse.errors import InfeasibleError
from dse.parametric.repairs import attempt
from dse.parametric.repairs.attempt import NUMBER, PART, RUN
from dse.parametric.repairs.remedies import remedies_of
from dse.study import study
from tests.parametric.test_repair import refused

Write = Callable[[str], Path]

MEETING = """\
workload: {rate: 30 Mbit/s, granularity: 1500 B, kernel: des}
stages: [{core: des, clock: meet}]
interface: {device: sparc_t4_engine}
objectives: {area: minimise, power: minimise}
constraints: [speedup >= 1]
"""

SLOW = MEETING.replace("30 M", "10 M").replace("clock: meet", "instances: 1, clock: 0.01")

CHAIN = """\
workload: {rate: 30 Mbit/s, granularity: 4 KiB}
stages: [{core: des, clock: meet}, {core: fft, clock: meet}]
interface: {device: sandy_bridge}
objectives: {area: minimise, power: minimise}
constraints: [offload_latency <= 20 us]
"""

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

FIXED = """\
workload: {rate: 100 Gbit/s}
stages: [{core: des, counts: {u16: 2, u8: 1}, clock: 0.5}]
objectives: {area: minimise, power: minimise}
"""

MIXED = FEW.replace("instances: {from: 1, to: 3}", "fleet: mixed, instances: {from: 0, to: 3}")

SWITCHING = """\
workload: {rate: 10 Gbit/s, granularity: 64 B}
stages: [{core: des, designs: [u16], instances: 4, clock: 1, idle: clocked}]
interface: {overhead: 1 ns, in_flight: 8}
objectives: {area: minimise, power: minimise}
constraints: [power <= 8 mW]
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
        (MEETING, [{"des.clock": "1"}]),
        (SLOW, [{"des.clock": "0.013117"}, {"des.instances": "2"}]),
        (CHAIN, [{"des.clock": "1", "fft.clock": "1"}]),
        (DEVICE, [{"interface.device": "sparc_t4_engine"}, {"workload.granularity": "39063 B"}]),
        (OWN, [{"interface.transfer": "cut_through"}]),
        (FEW, [{"des.instances": "10"}, {"des.designs": "u16"}]),
        (FIXED, [{"des.clock": "0.96881"}, {"des.u16": "5", "des.u8": "1"}]),
        (MIXED, [{"des.instances": "least"}]),
        (SWITCHING, [{"des.idle": "gated"}]),
        (LATE, [{"workload.granularity": "17184 B"}]),
        (COMPOSED, [{"interface.device": "sandy_bridge"}]),
        (PLATFORM, [{"budget.platform": "gtx_680"}]),
    ],
)
def test_a_remedy_is_offered_and_each_that_is_works_when_it_is_pasted(
    text: str, expected: list[dict[str, str]], write: Write
) -> None:
    path = write(text)
    error = refused(path)
    assert all(one in offered(error) for one in expected)
    commands = [line for line in str(error).splitlines() if line.startswith("     --set ")]
    assert len(commands) == len(offered(error))
    for line, overrides in zip(commands, offered(error), strict=True):
        pasted = shlex.split(line)
        assert pasted[::2] == ["--set"] * len(overrides)
        assert pasted[1::2] == [f"{name}={value}" for name, value in overrides.items()]
        assert len(dse.run(path, overrides=pasted[1::2]).front), line


def test_what_a_device_is_cannot_be_changed_but_another_can_be_taken(write: Write) -> None:
    names = {name for overrides in offered(refused(write(DEVICE))) for name in overrides}
    assert names == {"workload.rate", "workload.granularity", "interface.device"}
    own = DEVICE.replace("ultrasparc_t2", "ultrasparc_t2, host_cores: 8, overhead: 25 us")
    names = {name for overrides in offered(refused(write(own))) for name in overrides}
    assert {"interface.host_cores", "interface.overhead"} <= names


def test_the_least_comes_first(write: Write) -> None:
    text = SLOW.replace("0.01}", "0.0135, designs: [u8]}")
    found = study.prepare(study.read_study(write(text)))
    remedies = remedies_of(found, composed=False).repairs
    assert [entry.path for entry in remedies] == [
        "des.clock",  # gives nothing up
        "constraints.0",
        "des.instances",
        "des.designs",
    ]
    assert remedies[1].size < remedies[2].size
    assert [entry.rank for entry in remedies] == [RUN, NUMBER, NUMBER, PART]


def test_a_row_that_is_left_out_may_be_what_fits(write: Write, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(
        "design,area_um2,power_mw,kind\na,9,3,x\nb,8,1,y\nc,7,2,x"
    )
    text = """\
designs: {table: results.csv, parameters: {kind: [x]}}
objectives: {area: minimise}
constraints: [power <= 1.5 mW]
"""
    error = refused(write(text))
    row = {"design": "b", "designs.parameters": "{}"}
    assert "design = b, which the study does not specify: b\n" in str(error)
    assert offered(error)[-1] == row
    front = dse.run(tmp_path / "study.yaml", overrides=row).front
    assert list(front["design"]) == ["b"]


def test_what_is_too_much_work_is_told_and_not_tried(write: Write, tmp_path: Path) -> None:
    rows = "".join(f"r{place},{place + 2},x\n" for place in range(9))
    (tmp_path / "results.csv").write_text(f"design,power_mw,kind\n{rows}s,1,y")
    text = """\
designs: {table: results.csv, only: [r1]}
objectives: {power: minimise}
constraints: [power <= 1.5 mW]
"""
    with patch.object(attempt, "EVALUATIONS", 3):
        error = refused(write(text))
    assert error.facts["untried"] == ["without designs.only"]
    assert "not tried, as that is too much work: without designs.only" in str(error)
    assert "not tried" not in str(refused(write(text)))


def test_a_part_of_less_than_a_thousandth_is_no_per_cent(write: Write) -> None:
    """Per cent would read 100 % less."""
    error = refused(write(COMPOSED))
    assert "347.97 kbit/s (1/287,000 of 100 Gbit/s)" in str(error)


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


@pytest.mark.parametrize(("fleet", "instances"), [("single", "3"), ("mixed", "{from: 0, to: 4}")])
def test_more_than_the_least_instances_come_first_and_are_named_at_once(
    write: Write, fleet: str, instances: str
) -> None:
    """1500 B on one u16 take 291 ns and 24.8 ns of fill, on three 97 ns: 722 ns in all."""
    text = LEAST.replace("instances: least", f"instances: least, fleet: {fleet}")
    with pytest.raises(InfeasibleError) as caught:
        dse.answer(write(text), flips=False)
    first = (
        "no feasible design with the least instances that carry the rate; with more there is one"
    )
    assert str(caught.value).splitlines()[0] == first
    assert next(iter(offered(caught.value))) == {"des.instances": instances}


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
    told = (
        "interface.in_flight at least 5 (25 % more than 4): 1 u1 + 1 u2 + 1 u8 + 2 u16, any lower"
    )
    assert f"{told} value violates offload_latency_p99 <= 3 us" in " ".join(text.split())

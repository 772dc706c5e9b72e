"""What else admits a design: each is pasted, and what belongs to a device is not offered."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

import dse
from dse.errors import InfeasibleError
from tests.parametric.test_repair import refused

Write = Callable[[str], Path]

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

"""A record of whole offloads is an accelerator by itself, and no cores stand behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dse
from dse.errors import StudyError
from dse.study import study

RECORD = """
interface: {name: link, includes: device, overhead: 3 us, latency: 0.2 ns/B}
kernel: {name: link, index: 15 ns/B, offset: 0.4 us}
"""
STUDY = """
workload: {rate: 1 Gbit/s, granularity: 4 KiB, kernel: link.yaml}
interface: {device: link.yaml}
axes: {interface.in_flight: [1, 2, 40]}
objectives: {offload_latency: minimise, host_cores: minimise}
"""


@pytest.fixture
def path(write: Callable[..., Path]) -> Path:
    write(RECORD, "link.yaml")
    return write(STUDY)


def test_its_times_are_those_of_the_record(path: Path) -> None:
    """3 us + 0.2 ns of 4096 B; 2.6 us less than the host up front, 14.8 ns for each byte."""
    found = dse.answer(path, flips=False, overrides={"interface.in_flight": 1}).pick
    pick = found.quantities
    once = 3e-6 + 0.2e-9 * 4096
    assert pick["offload_latency_s"] == pytest.approx(once)
    assert found.advice[0].value == pytest.approx(2.6e-6 / 14.8e-9)
    assert pick["speedup"] == pytest.approx((0.4e-6 + 15e-9 * 4096) / once)
    assert pick["host_cores"] == pytest.approx(1e9 / (8 * 4096) * 3e-6)
    front = dse.run(path, overrides={"workload.rate": "40 Gbit/s"}).front
    assert front["interface.in_flight"].tolist() == [40]  # 8 / 0.2 ns of the link, 5 of 6 slots


def faults(path: Path, **fields: str) -> str:
    with pytest.raises(StudyError) as caught:
        study.prepare(study.read_study(path, [*fields.items()]))
    return str(caught.value)


def test_a_stage_beside_it_is_a_fault_with_the_reason(path: Path) -> None:
    expected = (
        "study.yaml:3:13: interface.device: 'link.yaml'; link holds whole offloads, the device's "
        "computing included: a stage would count it twice"
    )
    assert expected in faults(path, stages="[{core: des}]")
    inline = {"interface": "{includes: device, overhead: 1 us}", "stages": "[{core: des}]"}
    assert "interface.includes" in faults(path, **inline)


def test_an_interface_without_computing_is_no_whole_accelerator(path: Path) -> None:
    assert "a study needs `stages`" in faults(path, interface="{overhead: 1 us}")
    axes = "{interface.device: [link.yaml, dsa]}"
    said = faults(path, interface="null", axes=axes)
    assert "axes.interface.device.1: 'dsa'; dsa holds no computing, unlike others that do" in said
    assert "area" in faults(path, objectives="{area: minimise}")


def test_an_acceleration_needs_the_host_s_time_and_stands_alone(path: Path) -> None:
    alone = {"interface": "{overhead: 1 us, acceleration: 20}"}
    study.prepare(study.read_study(path, [*alone.items()]))
    assert "the stages compute as well" in faults(path, **alone, stages="[{core: des}]")
    unknown = faults(path, **alone, **{"workload.kernel": "null"})
    assert "an acceleration is that over the host, whose time is unknown" in unknown
    both = {"interface": "{device: link.yaml, acceleration: 20}"}
    assert "holds the device's computing already" in faults(path, **both)

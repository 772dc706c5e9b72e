"""Interfaces of one axis are those that they are alone, each in time of its own host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dse.contract import Interface
from dse.plugins import registry
from tests.conftest import everything, problem_of, run_dse

STUDY = """
workload: {rate: 100 Mbit/s, granularity: 4 KiB}
stages: [{core: des, designs: [u16], instances: [2, 4]}]
axes: {interface.device: [DEVICES]}
objectives: {area: minimise, total_power: minimise, offload_latency: minimise, transfer: minimise}
"""


def test_all_shipped_interfaces_stand_in_one_axis(write: Callable[..., Path]):
    names = [*registry.records(Interface)]
    together = everything(problem_of(write(STUDY.replace("DEVICES", ", ".join(names)))))
    loss = together.loss.reshape(2, len(names), -1)
    feasible = (together.violation <= 0).all(axis=1).reshape(2, len(names))
    for row, name in enumerate(names):
        alone = everything(problem_of(write(STUDY.replace("DEVICES", name))))
        assert loss[:, row].tolist() == alone.loss.tolist(), name
        assert feasible[:, row].tolist() == (alone.violation <= 0).all(axis=1).tolist(), name


def test_cycles_without_a_clock_are_refused_where_they_are_named(write: Callable[..., Path]):
    write("interface: {name: mine, overhead: 100 cycles, latency: 1 us}\n", "mine.yaml")
    path = write(STUDY.replace("DEVICES", "dsa_batch, mine.yaml"))
    found = run_dse("check", path.name, cwd=path.parent)
    assert found.returncode == 2
    assert found.stderr.startswith(
        "study.yaml:4:38: axes.interface.device.1: 'mine.yaml'; overhead"
    )
    path = write(
        "interface: {latency: 1 us}\n"
        + STUDY.replace("device", "overhead").replace("DEVICES", "10 cycles")
    )
    found = run_dse("check", path.name, cwd=path.parent)
    assert "overhead is in cycles of a host whose clock is unknown" in found.stderr

"""An answer simulates what it recommends, and recommends nothing that does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import dse
from dse.answers.source import known_fronts
from dse.errors import InfeasibleError
from dse.simulation import feasibility
from dse.simulation.traffic import traffic_of

Write = Callable[[str], Path]
STUDY = """\
workload: {rate: 55 Gbit/s, granularity: {64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}, arrivals: poisson}
stages:
  - {core: des, designs: [u16], instances: {from: 2, to: 6}, clock: 1}
interface: {overhead: 20 ns, latency: 200 ns, link: 50 GB/s, in_flight: 16, host_cores: 8}
objectives: {area: minimise, offload_latency_p99: minimise}
constraints: [offload_latency_p99 <= 335 ns]
"""


def asked(path: Path, *, simulate: bool = True) -> dse.Answer:
    found = dse.answer(path, all=False, flips=False, simulate=simulate)
    assert isinstance(found, dse.Answer)
    return found


def test_a_design_outside_a_constraint_is_not_recommended(write: Write) -> None:
    """5 u16 have 331 ns by the model, and 339 +- 2 ns in a simulation."""
    path = write(STUDY)
    model = asked(path, simulate=False)
    assert model.pick.line == "5 u16 with clock 1"
    assert "simulation" not in model.to_dict()
    found = asked(path)
    assert found.pick.line == "6 u16 with clock 1"
    text = " ".join(found.text().split())
    assert "Not 5 u16 with clock 1, which the model prefers: in a simulation" in text
    assert "which offload_latency_p99 <= 335 ns rules out" in text
    assert "It is the next best of the front, and holds in a simulation." in text
    tried = found.to_dict()["simulation"]["tried"]
    assert [one["fault"] is None for one in tried] == [False, True]
    seen = dse.simulate(path, "des.instances=5", offloads=40_000).to_dict()["quantities"]
    assert seen["offload_latency_p99_s"]["simulated"] > 335e-9
    assert asked(path).to_dict() == found.to_dict()


def test_where_none_holds_there_is_no_answer(write: Write) -> None:
    path = write(STUDY.replace("to: 6", "to: 5"))
    with pytest.raises(InfeasibleError, match="the design does not hold; --no-simulate"):
        asked(path)
    assert asked(path, simulate=False).pick.line == "5 u16 with clock 1"


def test_a_design_that_cannot_carry_its_offloads_is_found_out(write: Write) -> None:
    """Three times as many arrive as the model knows of."""
    solved = known_fronts(write(STUDY)).points[0]
    index = solved.front[:1]
    traffic = traffic_of(solved.study, index)
    assert feasibility._tried(solved.study.problem, index, traffic).load < 0.5
    more = replace(traffic, demand_bit_per_s=4 * traffic.demand_bit_per_s)
    assert "lines grow without end" in feasibility._tried(solved.study.problem, index, more).fault


def test_what_does_not_vary_is_not_simulated(write: Write) -> None:
    steady = STUDY.replace("{64 B: 7/12, 576 B: 4/12, 1500 B: 1/12}", "354 B")
    path = write(steady.replace("poisson", "steady"))
    assert "simulation" not in asked(path).to_dict()
    capped = STUDY.replace(
        "constraints: [offload_latency_p99 <= 335 ns]", "budget: {power_cap: 2 W}"
    )
    found = asked(write(capped))
    assert "Not simulated: a power cap" in found.text(all=True)
    assert "Not simulated" not in found.text()

"""Each plausibility guard bites: a deliberately broken quantity stops the run, by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dse import search
from dse.contract import Guard
from dse.errors import ContractError
from dse.model import invariants
from dse.model.graph import wire
from dse.model.problem import Problem
from dse.plugins import registry
from tests.conftest import Write, problem_of

SETTINGS = {
    # none of these fleets carries 20 Gbit/s with it
    "power_stays_under_the_cap": [("budget.power_cap", "5 mW")],
    # gated power follows the throughput, and has room to
    "throughput_within_limits": [("budget.power_cap", "1 W")],
    # the pipelines are faster than the link
    "offload_within_limits": [("interface.link", "3 GB/s"), ("des.design", "u16")],
    # one slot, of eight host cores
    "waiting_cores_within_slots": [("interface.wait", "sync"), ("interface.in_flight", "1")],
}
STUDY = """\
workload: {rate: 20 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - core: des
    instances: {from: 1, to: 9}
interface: {device: sparc_t4_engine, in_flight: 4}
budget: {power_cap: 40 mW}
objectives: {area: minimise, power: minimise}
"""


def broken(problem: Problem, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Problem:
    """Return the problem with one quantity computed wrongly."""

    quantities = problem.graph.quantities
    function = quantities[name].function

    def wrong(**columns: np.ndarray) -> np.ndarray:
        return change(np.asarray(function(**columns)))

    wrong.__name__ = name
    wrong.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    tampered = dict(quantities) | {name: replace(quantities[name], function=wrong)}
    return replace(problem, graph=wire(tampered, problem.graph.inputs))


def check(problem: Problem) -> None:
    found = search.run_search(problem, search.SearchSettings(), None)
    invariants.check_invariants(problem, found.front_index, found.sample_index)


@pytest.fixture
def problem(write: Write) -> Problem:
    return problem_of(write(STUDY))


CASES = {
    "negative": ("clock_hz", lambda v: -v, "clock_hz is -"),
    "not a number": ("utilisation", lambda v: v * np.nan, "utilisation is nan"),
    "power_is_energy_over_time": ("power_w", lambda v: v * 1.01, "power is energy over time"),
    "power_stays_under_the_cap": (
        "power_limit_bit_per_s",
        lambda v: 0 * v + 1e15,
        "power stays under budget.power_cap",
    ),
    "throughput_within_limits": (
        "throughput_bit_per_s",
        lambda v: v * 10,
        "throughput is at most every limit",
    ),
    "offload_within_limits": (
        "offload_latency_s",
        lambda v: v * 0.6,
        "an offload is no faster than anything",
    ),
    "offload_within_one_core": (
        "offload_latency_s",
        lambda v: v * 1000,
        "an offload takes no longer than its work on one core",
    ),
    "offloads_within_tasks": (
        "throughput_bit_per_s",
        lambda v: v * 1e6,
        "offloads per second are at most the tasks that start",
    ),
    "stations_within_time": ("fleet_load", lambda v: 0 * v + 1.5, "no station is busy for longer"),
    "waiting_cores_within_slots": (
        "offload_cores",
        lambda v: 0 * v + 2,
        "a host core that waits is a slot",
    ),
    "speedup_within_bounds": ("speedup", lambda v: v * 10, "speedup is at most"),
    "energy_times_rate_is_power": (
        "energy_j_per_bit",
        lambda v: v * 3,
        "energy per bit times rate is total power",
    ),
    "total_power_is_its_parts": (
        "total_power_w",
        lambda v: v * 0.5,
        "total power is the sum of its parts",
    ),
    "area grows": ("fleet_area_m2", lambda v: 0 * v + 1e-9, "fleet_area_m2 is 1e-09 and did not"),
    "leakage grows": ("leakage_power_w", lambda v: 0 * v + 1e-4, "leakage_power_w is 0.0001 and"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_broken_quantity_is_refused(case: str, problem: Problem, write: Write) -> None:
    name, change, text = CASES[case]
    if case in SETTINGS:
        problem = problem_of(write(STUDY), *SETTINGS[case])
    with pytest.raises(ContractError, match=f"^implausible: .*{re.escape(text)}") as caught:
        check(broken(problem, name, change))
    assert "design: des.design = " in str(caught.value)


@pytest.mark.parametrize("instances", ["least", "9", "{from: 1, to: 3}"])
@pytest.mark.parametrize("area", [0.0, 1e-9])
def test_growth_is_tried_however_instances_are_chosen(
    instances: str, area: float, write: Write
) -> None:
    problem = problem_of(write(STUDY), ("des.instances", instances))
    with pytest.raises(ContractError, match="did not grow with an instance of des"):
        check(broken(problem, "fleet_area_m2", lambda v: 0 * v + area))


def test_every_guard_is_tried() -> None:
    assert set(registry.records(Guard)) <= set(CASES)

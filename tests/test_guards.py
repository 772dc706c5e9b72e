"""Each plausibility guard bites: a deliberately broken quantity stops the run, by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse import guards, plugins, search
from dse.contract import Guard, Objective
from dse.errors import ContractError
from dse.fleet import STAGE_COLUMNS
from dse.graph import Graph, Step
from dse.problem import Problem
from tests.conftest import problem_of

CAP = "5 mW"  # none of these fleets carries 20 Gbit/s with it
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

    def tampered(step: Step) -> Step:
        if step.name != name or not isinstance(step.plugin, Objective):
            return step
        function = step.plugin.function

        def wrong(**columns: np.ndarray) -> np.ndarray:
            return change(np.asarray(function(**columns)))

        wrong.__name__ = name
        return Step(replace(step.plugin, function=wrong), step.arguments)

    steps = tuple(tampered(step) for step in problem.graph.steps)
    return replace(problem, graph=replace(problem.graph, steps=steps))


def check(problem: Problem) -> None:
    found = search.run(problem, search.SearchSettings(), None)
    guards.check(problem, found.front_index, found.sample_index)


@pytest.fixture
def problem(write: Callable[[str], Path]) -> Problem:
    return problem_of(write(STUDY))


def test_the_models_pass(problem: Problem) -> None:
    check(problem)


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
    "speedup_within_bounds": ("speedup", lambda v: v * 10, "speedup is at most"),
    "area grows": ("fleet_area_m2", lambda v: 0 * v + 1e-9, "fleet_area_m2 is 1e-09 and did not"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_broken_quantity_is_refused(
    case: str, problem: Problem, write: Callable[[str], Path]
) -> None:
    name, change, text = CASES[case]
    if case == "power_stays_under_the_cap":
        problem = problem_of(write(STUDY), ("budget.power_cap", CAP))
    with pytest.raises(ContractError, match=f"^implausible: .*{re.escape(text)}") as caught:
        check(broken(problem, name, change))
    assert "design: des.design = " in str(caught.value)


def test_a_quantity_that_fails_is_named(problem: Problem) -> None:
    def fail(values: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("by a careless author")

    with pytest.raises(ContractError, match=r"^area_m2 fails: ZeroDivisionError: by a careless"):
        check(broken(problem, "area_m2", fail))


def test_leakage_that_does_not_grow_with_instances(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAGE_COLUMNS, "stage_leakage_power_w", lambda fleet: np.array([1e-4]))
    with pytest.raises(ContractError, match=r"leakage_power_w is 0\.0\d+ and did not grow"):
        check(problem)


def test_a_core_without_leakage_figures_is_no_broken_core(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAGE_COLUMNS, "stage_leakage_power_w", lambda fleet: np.zeros(1))
    check(replace(problem, graph=without(problem.graph, "buffer_leakage_power_w")))


def without(graph: Graph, name: str) -> Graph:
    """Return the graph without one quantity, which must be optional to all others."""
    steps = (step for step in graph.steps if step.name != name)
    kept = tuple(
        Step(step.plugin, tuple(wanted for wanted in step.arguments if wanted != name))
        for step in steps
    )
    objectives = tuple(objective for objective in graph.objectives if objective.name != name)
    return replace(graph, steps=kept, objectives=objectives)


def test_every_guard_is_tried() -> None:
    assert set(plugins.records(Guard)) <= set(CASES)

"""Fronts of fleets whose losses are linear in their counts are those of an integer program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from dse.model.problem import Problem
from dse.study import study
from tests.search.test_compose import front, random_designs

MOST = 6
FLEET = f"fleet: mixed, instances: {{from: 0, to: {MOST}}}, clock: 1, idle: clocked"
LINEAR = f"""
workload: {{rate: RATE Gbit/s}}
stages: [{{core: des, name: one, {FLEET}}}, {{core: des, name: two, {FLEET}}}]
objectives: {{area: minimise, power: minimise}}
"""
NEAR = 1e-5
"""Counts of the solver are whole numbers but for 1e-6."""


def least(problem: Problem, weights: np.ndarray, area: np.ndarray, limit: float) -> float:
    """Return the least sum of weights of counts that carry the rate in less area than `limit`."""
    number = [len(stage.designs.names) for stage in problem.stages]
    carried = np.concatenate([stage.designs.bandwidth_bit_per_s for stage in problem.stages])
    rate = float(problem.space.constants["workload_rate_bit_per_s"][0])
    stages = np.repeat(np.eye(len(number)), number, axis=1) * carried / rate
    rules = [LinearConstraint(stages, 1.0), LinearConstraint(area, ub=limit * (1 - NEAR))]
    whole = np.ones(len(weights))
    found = milp(weights, constraints=rules, integrality=whole, bounds=Bounds(0, MOST))
    return float(found.fun) if found.success else np.inf


@pytest.mark.parametrize("seed", range(4))
def test_the_least_area_and_power_are_those_of_an_integer_program(
    seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    (tmp_path / "study.yaml").write_text(LINEAR.replace("RATE", str(rng.integers(20, 100))))
    problem = study.prepare(study.read_study(tmp_path / "study.yaml")).problem
    stages = [replace(s, designs=random_designs(rng, s.designs.names)) for s in problem.stages]
    problem = replace(problem, stages=tuple(stages))
    each = [stage.designs.metrics for stage in stages]
    area = np.concatenate([one.area_m2 for one in each]) * 1e6
    watts = np.concatenate([one.dynamic_power_w + one.leakage_power_w for one in each])
    losses = front(problem, "compose").front_loss * (1e6, 1.0)
    losses = losses[np.argsort(losses[:, 0])]
    assert least(problem, area, area, np.inf) == pytest.approx(losses[0, 0], rel=NEAR)
    for (_, power), limit in zip(losses, [*losses[1:, 0], np.inf], strict=True):
        assert least(problem, watts, area, limit) == pytest.approx(power, rel=NEAR)

"""What a workload gets from a platform: wired columns, missing figures, declared monotonicity."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import numpy as np
import pytest

from dse.contract import PRECISIONS, Objective, Platform
from dse.objectives.roofline.model import EnergyRoofline
from dse.objectives.system import platform_limits
from dse.plugins import registry

PLATFORMS = [*registry.records(Platform).values()]
OBJECTIVES = {
    record.name: record
    for record in vars(platform_limits).values()
    if isinstance(record, Objective)
}
ROOFS = ("memory", "power", "compute")
BUDGET = (
    *("constant_power_w", "usable_power_w", "memory_byte_per_s", "memory_j_per_byte"),
    *("single_op_per_s", "single_j_per_op", "double_op_per_s", "double_j_per_op"),
)


def budget(*records: Platform) -> dict[str, np.ndarray]:
    """One row per platform; NaN where it has no figure."""
    columns = {
        f"budget_{name}": np.array([getattr(record, name) for record in records], dtype=float)
        for name in BUDGET
    }
    usable = columns.pop("budget_usable_power_w")
    return columns | {"budget_power_cap_w": columns["budget_constant_power_w"] + usable}


def evaluate(inputs: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Every quantity, wired by argument names as the engine does."""
    columns = dict(inputs)
    for name, objective in OBJECTIVES.items():
        wanted = inspect.signature(objective.function).parameters
        columns[name] = objective(**{k: v for k, v in columns.items() if k in wanted})
    return {name: np.asarray(columns[name]) for name in OBJECTIVES}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("intensity", [0.0, 0.25, 4.0, 1000.0])
def test_every_quantity_is_the_rooflines(precision: str, intensity: float):
    given = budget(*PLATFORMS) | {
        "budget_precision": float(PRECISIONS.index(precision)),
        "budget_copies": 3.0,
        "budget_cap_divisor": 2.0,
        "workload_intensity_op_per_byte": intensity,
    }
    got = evaluate(given)
    for row, record in enumerate(PLATFORMS):
        if getattr(record, f"{precision}_op_per_s") is None:
            exist = {
                name for name, column in got.items() if not np.isnan(column.take(row, mode="clip"))
            }
            assert exist == {"platform_usable_power_w", "platform_memory_limit_op_per_s"}
            continue
        model = EnergyRoofline.of(record, precision=precision).capped(2.0).times(3.0)
        expected = {
            "platform_performance_op_per_s": model.performance(intensity),
            "platform_memory_byte_per_s": model.bandwidth(intensity),
            "platform_power_w": model.power(intensity),
            "platform_peak_power_w": model.peak_power,
            "platform_regime": model.regime(intensity),
            "platform_memory_limit_op_per_s": intensity / model.time_per_byte,
            "platform_compute_limit_op_per_s": 1 / model.time_per_op,
            "platform_efficiency_op_per_j": model.efficiency(intensity),
            "platform_energy_j_per_byte": model.power(intensity) / model.bandwidth(intensity),
        }
        for name, value in expected.items():
            assert got[name][row] == pytest.approx(value), (name, record.name)
        roofs = [got[f"platform_{name}_limit_op_per_s"][row] for name in ROOFS]
        assert min(roofs) == pytest.approx(model.performance(intensity))


@pytest.mark.parametrize(
    ("name", "nonsense"),
    [
        ("budget_memory_byte_per_s", 0.0),
        ("budget_single_op_per_s", -1.0),
        ("budget_single_op_per_s", np.inf),
        ("budget_power_cap_w", 0.0),
        ("budget_memory_j_per_byte", -1e-12),
        ("budget_copies", 0.0),
        ("workload_intensity_op_per_byte", -1.0),
        ("budget_precision", 0.5),
    ],
)
def test_a_figure_without_sense_is_no_figure_and_spoils_only_its_row(name: str, nonsense: float):
    given = budget(PLATFORMS[0], PLATFORMS[0]) | {"workload_intensity_op_per_byte": 1.0}
    clean = evaluate(given)
    good = given.get(name, {"budget_copies": 1.0, "budget_precision": 0.0}.get(name))
    got = evaluate(given | {name: np.array([nonsense, np.broadcast_to(good, 2)[1]])})
    assert np.isnan(got["platform_efficiency_op_per_j"][0])
    assert got["platform_efficiency_op_per_j"][1] == clean["platform_efficiency_op_per_j"][1]

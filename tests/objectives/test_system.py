"""The quantities of a system say what they are where they are defined."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from dse.algebra import units
from dse.contract import Guard, Objective, Requirement
from dse.objectives.system.power import power_w
from dse.plugins import registry

QUANTITIES = registry.records(Objective)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_states_its_equation_unit_and_reference(name: str) -> None:
    quantity = QUANTITIES[name]
    text = inspect.getdoc(quantity.function) or ""
    about = text.partition("\n")[2].partition("\nReferences\n")[0].partition("\nParameters\n")[0]
    unit = units.label(name)
    assert f", in {unit}" in about.replace("\n", " ") if unit else about.strip()
    papers = re.search(r"IPDPS|ISCA|ASPLOS|Battle", quantity.source)
    assert not papers or "References\n----------\n" in text


def test_a_record_is_called_like_its_function() -> None:
    given = {"base_power_w": np.array([2.0]), "clocked_power_w": np.array([1.0])}
    assert power_w(**given) == power_w.function(**given) == 3.0
    assert (power_w.name, power_w.summary) == ("power_w", "Power of fleet and buffers.")
    with pytest.raises(TypeError, match="clocked_power_w"):
        power_w(base_power_w=given["base_power_w"])


def test_every_record_is_made_beside_its_function() -> None:
    """The function is what the module would define under the same name."""
    for kind in (Objective, Requirement, Guard):
        for plugin in registry.plugins(kind):
            record = registry.get(kind, plugin.name)
            assert plugin.entry_point.value == f"{record.function.__module__}:{record.name}"


FULL = {
    "speedup_within_bounds": (
        {"speedup": 4.0, "acceleration": 5.0, "host_time_s": 8.0, "transfer_s": 2.0},
        {"speedup": 1.01, "host_time_s": 0.99, "transfer_s": 1.01, "acceleration": 0.79},
    ),
    "power_is_energy_over_time": (
        {
            "power_w": 1.0 + 2.0 + 4.0 + 8.0 * 0.5 + 6.0 * 0.25,
            "stage_dynamic_power_w": (8.0, 6.0),
            "stage_capacity_bit_per_s": (4.0, 4.0),
            "stage_leakage_power_w": (1.0, 2.0),
            "stage_clocked": (1.0, 0.0),
            "stage_common": (1.0, 1.0),
            "stream_rate_bit_per_s": 2.0,
            "throughput_bit_per_s": 1.0,
            "buffer_leakage_power_w": 4.0,
        },
        {"power_w": 1.01, "stream_rate_bit_per_s": 1.1, "throughput_bit_per_s": 0.9},
    ),
    "energy_times_rate_is_power": (
        {"energy_j_per_bit": 3.0, "throughput_bit_per_s": 4.0, "total_power_w": 12.0},
        {"energy_j_per_bit": 1.01, "throughput_bit_per_s": 0.99, "total_power_w": 1.01},
    ),
    "total_power_is_its_parts": (
        {
            "total_power_w": 31.0,
            "dynamic_power_w": 1.0,
            "leakage_power_w": 2.0,
            "host_power_w": 4.0,
            "memory_power_w": 8.0,
            "budget_constant_power_w": 16.0,
        },
        dict.fromkeys(("total_power_w", "host_power_w", "budget_constant_power_w"), 0.9),
    ),
    "power_stays_under_the_cap": (
        {
            "power_w": 1.0,
            "memory_power_w": 2.0,
            "budget_constant_power_w": 4.0,
            "budget_power_cap_w": 7.0,
        },
        {"power_w": 1.1, "memory_power_w": 1.1, "budget_power_cap_w": 0.9},
    ),
    "throughput_within_limits": (
        {f"{name}_bit_per_s": 3.0 for name in ("throughput", "peak")}
        | {
            f"{name}_limit_bit_per_s": 3.0
            for name in ("power", "link", "memory", "offload", "dependence")
        },
        {"throughput_bit_per_s": 1.01, "memory_limit_bit_per_s": 0.9, "peak_bit_per_s": 0.9},
    ),
    "offload_within_limits": (
        {
            "offload_latency_s": 2.0,
            "workload_granularity_byte": 3.0,
            "capacity_bit_per_s": 12.0,
            "power_limit_bit_per_s": 12.0,
            "link_limit_bit_per_s": 12.0,
            "memory_limit_bit_per_s": 12.0,
        },
        {"offload_latency_s": 0.9, "capacity_bit_per_s": 0.9, "memory_limit_bit_per_s": 0.9},
    ),
}
"""For each guard, figures that it just lets pass, and factors that each break it."""


def columns(figures: dict[str, object]) -> dict[str, object]:
    return {
        name: tuple(map(np.atleast_1d, one)) if isinstance(one, tuple) else np.array([one])
        for name, one in figures.items()
    }


@pytest.mark.parametrize("name", FULL)
def test_a_guard_lets_pass_what_just_holds_and_nothing_beyond(name: str) -> None:
    guard, (figures, factors) = registry.get(Guard, name), FULL[name]
    slack = guard(**columns(figures))[0]
    assert slack == pytest.approx(0.0, abs=1e-15)
    for changed, factor in factors.items():
        excess = guard(**columns(figures | {changed: figures[changed] * factor}))[0]
        assert 1e-3 < excess < 0.3, changed
    alone = {
        n for n, p in inspect.signature(guard.function).parameters.items() if p.default is p.empty
    }
    few = guard(**columns({n: one for n, one in figures.items() if n in alone}))[0]
    optional = set(figures) - alone
    assert few == pytest.approx(0.0, abs=1e-15) if "limits" in name or not optional else few != 0


def test_guards_of_what_draws_nothing_are_absolute() -> None:
    guard = registry.get(Guard, "energy_times_rate_is_power")
    none = {"energy_j_per_bit": 1.0, "throughput_bit_per_s": 0.25, "total_power_w": 0.0}
    assert guard(**columns(none)) == 0.25

"""The quantities of a chain against numbers worked out one design at a time, without arrays."""

from __future__ import annotations

import numpy as np
import pytest

from dse.contract import TRANSFERS, WAIT_MODES
from tests.objectives.chain_oracle import (
    LABELS,
    QUANTITIES,
    columns_of,
    design,
    evaluated,
    expected,
    host_less_offload_s,
)

inf = np.inf


def test_every_quantity_of_a_chain_is_that_of_the_oracle() -> None:
    seen, checked = set(), set()
    random = np.random.default_rng(7)
    for number in range(400):
        one = design(random)
        right, got = expected(one), evaluated(columns_of(one))
        seen.add(LABELS[int(right["bound"])])
        for name, value in right.items():
            assert np.shape(got[name]) == (1,), name
            assert got[name] == pytest.approx(value, rel=1e-9, abs=0), (number, name)
        checked |= set(right)
    assert seen == set(LABELS)  # each limit had its turn
    # gate equivalents and parts of FPGAs add like areas: tests/study/test_gate_equivalents.py
    of_mixes = {
        name for name, one in QUANTITIES.items() if one.function.__module__.endswith("mixes")
    }
    of_mixes |= {"pcie_cv2", "stored_load"}  # and those in tests/objectives/test_sizes.py
    of_accelerators = {"accelerated_limit_bit_per_s"}  # in tests/objectives/test_acceleration.py
    of_hosts = {"host_slots", "carried_demand_bit_per_s"}  # in tests/runs/test_host_alone.py
    of_hosts |= {"program_speedup"}  # in tests/objectives/test_program.py
    left = set(QUANTITIES) - checked - of_mixes - of_accelerators - of_hosts
    assert left == {"break_even_byte", "area_ge", "area_lc", "block_rams", "multipliers"}


def test_an_offload_pays_from_the_break_even_on() -> None:
    """Of one stage not just below it either: between two rounds an offload may pay before."""
    random, seen = np.random.default_rng(8), {"never": 0, "from": 0, "at once": 0, "below": 0}
    while min(seen.values()) < 20:
        one = design(random)
        one["kernel_offset_s"] *= 100 if random.random() < 0.1 else 1
        for stage in one["stages"]:  # steps are those of messages that fill their tasks
            stage["filled"] = 1.0
        right = expected(one)
        if "stream_rate_bit_per_s" not in right:
            continue
        (first,) = evaluated(columns_of(one))["break_even_byte"]
        if np.isnan(first):
            seen["never"] += 1
            assert host_less_offload_s(one, right, 1e9) < 0
            continue
        seen["from" if first else "at once"] += 1
        independent = all(stage["serial_tasks"] == 1 for stage in one["stages"])
        for factor in (1 + 1e-6, 1.01, 1.3, 3, 100) if independent else (1 + 1e-6,):
            assert host_less_offload_s(one, right, max(1e-3, first) * factor) >= 0
        capped = right["power_limit_bit_per_s"] < right["capacity_bit_per_s"]
        if first and len(one["stages"]) == 1 and independent and not capped:
            seen["below"] += 1
            assert host_less_offload_s(one, right, first * (1 - 1e-6)) < 0


PLAIN = {
    "instances": 3.0,
    "area_m2": 2e-9,
    "peak_bit_per_s": 4e9,
    "capacity_bit_per_s": 4e9,
    "latency_s": 1e-6,
    "leakage_power_w": 1e-3,
    "dynamic_energy_j_per_bit": 1e-12,
    "clocked": 0.0,
    "common": 0.0,
    "clock_hz": 1e9,
    "clock_limit": 1.0,
    "read_byte_per_bit": 0.125,
    "written_byte_per_bit": 0.125,
    "payload_bit": 64.0,
    "filled": 1.0,
    "message_end_bit": 0.0,
    "start_task_per_s": 62.5e6,
    "round_bit": 192.0,
    "round_s": 48e-9,
}


def test_what_a_study_leaves_out_costs_and_limits_nothing() -> None:
    one = {"stages": [PLAIN]}
    got = evaluated(columns_of(one))
    known = {
        "throughput_bit_per_s": 4e9,
        "rate_limit_bit_per_s": 4e9,
        "power_limit_bit_per_s": inf,
        "met_rate_bit_per_s": inf,
        "stream_rate_bit_per_s": 4e9,
        "clock_hz": 1e9,
        "bound": 0.0,
        "area_m2": 2e-9,
        "leakage_power_w": 1e-3,
        "power_w": 5e-3,
        "total_power_w": 5e-3,
        "energy_j_per_bit": 1.25e-12,
        "own_fill_s": 1e-6,
        "common_fill_bit": 0.0,
    }
    for name, value in known.items():
        assert got[name] == pytest.approx(value, rel=1e-12, abs=0), name
    assert "offload_latency_s" not in got


INTERFACE = {
    "workload_granularity_byte": 1000.0,
    "interface_overhead_cycles": 0.0,
    "interface_overhead_s": 1e-6,
    "interface_latency_cycles": 0.0,
    "interface_latency_s": 2e-6,
    "interface_latency_cycles_per_byte": 0.0,
    "interface_latency_s_per_byte": 0.0,
    "interface_link_byte_per_s": 1e9,
    "interface_transfer": float(TRANSFERS.index("cut_through")),
    "interface_in_flight": 1.0,
    "interface_wait": float(WAIT_MODES.index("sync_os")),
}


def test_an_interface_in_seconds_needs_no_clock() -> None:
    one = {"stages": [PLAIN | {"serial_tasks": 1.0}], **INTERFACE}
    got = evaluated(columns_of(one))
    assert got["overhead_s"] == 1e-6
    assert got["transfer_s"] == pytest.approx(3e-6)
    assert got["link_bit_per_s"] == got["link_limit_bit_per_s"] == 8e9
    assert got["passing_s_per_byte"] == 1e-9
    assert got["offload_latency_s"] == pytest.approx(
        5e-6 + 41 * (48e-9 - 24e-9)
    )  # 41 rounds of 192 bit
    assert got["throughput_bit_per_s"] == pytest.approx(8e3 / 5.984e-6)
    assert got["host_cores"] == pytest.approx(1 / 5.984)  # o of every T1


def test_an_empty_fleet_carries_nothing_and_takes_forever() -> None:
    empty = PLAIN | {
        "peak_bit_per_s": 0.0,
        "capacity_bit_per_s": 0.0,
        "serial_tasks": 0.0,
        "latency_s": 0.0,
        "dynamic_energy_j_per_bit": 0.0,
    }
    got = evaluated(columns_of({"stages": [empty], **INTERFACE}))
    assert got["throughput_bit_per_s"] == 0.0
    assert got["offload_latency_s"] == inf
    assert got["host_cores"] == 0.0
    assert got["energy_j_per_bit"] == inf
    assert got["power_limit_bit_per_s"] == inf


@pytest.mark.parametrize("cap", [1.0, 1e-3])
def test_a_stage_without_latency_fills_at_once_whatever_the_power_cap(cap: float) -> None:
    """At a cap of 1 mW, which leakage uses up, its clock stands still."""
    one = {"stages": [PLAIN | {"latency_s": 0.0}], "budget_power_cap_w": cap}
    got = evaluated(columns_of(one))
    assert got["throttled_s"].tolist() == got["own_fill_s"].tolist() == [0.0]
    assert (got["power_limit_bit_per_s"] > 0) == (cap == 1.0)


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("stream_limit_bit_per_s", ["capacity_bit_per_s"], 3.0),
        ("rate_limit_bit_per_s", ["capacity_bit_per_s"], 3.0),
        ("throughput_bit_per_s", ["rate_limit_bit_per_s"], 3.0),
        ("met_rate_bit_per_s", ["throughput_bit_per_s", "clocks_meet"], 3.0),
        ("bound", ["peak_bit_per_s"], 0.0),
        ("total_power_w", ["power_w"], 3.0),
        ("power_w", ["base_power_w", "clocked_power_w"], 6.0),
        ("area_m2", ["fleet_area_m2"], 3.0),
    ],
)
def test_what_is_not_given_neither_limits_nor_costs(name, given, value) -> None:
    assert QUANTITIES[name](**dict.fromkeys(given, np.array([3.0]))) == value

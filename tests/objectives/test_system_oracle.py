"""The quantities of a chain against numbers worked out one design at a time, without arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.objectives.chain_oracle import (
    LABELS,
    QUANTITIES,
    columns_of,
    design,
    evaluated,
    expected,
    host_less_offload_s,
)


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

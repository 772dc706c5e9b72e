"""Fronts behind interfaces are those of all designs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dse.model.space import Index
from dse.search.exact import compose, prove
from tests.search.test_compose import GOALS, accounted, front, random_problem, same_losses

STUDIES = 32


def one_of(rng: np.random.Generator, *some: str) -> str:
    return str(rng.choice(some))


def stage(rng: np.random.Generator, position: int, number: int, clock: str, idle: str) -> list[str]:
    lines = [f"  - core: {one_of(rng, 'des', 'fft', 'jacobi')}", f"    name: s{position}"]
    if rng.random() < 0.8:
        lines += ["    fleet: mixed", f"    instances: {{from: 0, to: {4 // number + 1}}}"]
    else:
        lines.append("    instances: {from: 1, to: 4}")
    if clock in ("fractions", "mixed"):
        clock = one_of(rng, "1", "0.5", "[0.5, 1]", *["meet"] * (clock == "mixed"))
    if clock:
        lines.append(f"    clock: {clock}")
    idle = one_of(rng, "gated", "clocked") if idle == "either" else idle
    return [*lines, f"    idle: {idle}"]


def interface(rng: np.random.Generator) -> list[str]:
    lines = ["interface:", f"  wait: {one_of(rng, 'sync', 'async')}"]
    if rng.random() < 0.4:
        lines.append(f"  link: {one_of(rng, '2 GB/s', '4 GB/s', '32 GB/s')}")
        lines.append(f"  transfer: {one_of(rng, 'cut_through', 'store_and_forward')}")
    if rng.random() < 0.3:
        lines += ["budget:", f"  memory_bandwidth: {rng.integers(1, 9)} GB/s"]
        lines.append("  memory_energy: 100 pJ/B")
        if rng.random() < 0.5:
            lines.append(f"  power_cap: {rng.integers(1, 30)} W")
    elif rng.random() < 0.2:
        lines += ["budget:", f"  power_cap: {rng.integers(1, 30)} W"]
    lines += ["axes:", "  interface.in_flight: [1, 8]"]
    lines.append("  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]")
    if rng.random() < 0.5:
        lines.append("  workload.granularity: [256 B, 4 KiB]")
    return lines


def offload_study(rng: np.random.Generator) -> str:
    """Return a study behind an interface, of a few thousand designs at most."""
    lines = ["workload:", "  granularity: 1 KiB", "  kernel: des"]
    demanded = rng.random() < 0.85
    if demanded:
        lines.append(f"  rate: {rng.integers(1, 16)} Gbit/s")
    if rng.random() < 0.2:
        lines += ["  chained: true", f"  streams: {rng.integers(1, 40)}"]
    number = int(rng.choice([1, 2, 3], p=[0.2, 0.5, 0.3]))
    clock = one_of(rng, "", "1", "fractions", *["meet", "mixed"] * demanded)
    idle = one_of(rng, "gated", "gated", "clocked", "either")
    lines.append("stages:")
    for position in range(number):
        lines += stage(rng, position, number, clock, idle)
    lines += interface(rng)
    others = [name for name in GOALS if name != "offload_latency"]
    chosen = list(rng.choice(others, size=rng.integers(2, 4), replace=False))
    chosen += ["offload_latency"] * (rng.random() < 0.85)
    lines += ["objectives:", *(f"  {name}: {GOALS[name]}" for name in chosen)]
    if rng.random() < 0.2:
        lines += ["constraints:", f"  - {one_of(rng, 'area <= 12 mm2', 'instances <= 6')}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("block", range(2))
def test_fronts_behind_interfaces_are_those_of_all_designs(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block:  # bounds alone would do
        monkeypatch.setattr(compose.Composer, "bounds_first", lambda _, scenarios: scenarios)
    for seed in range(block, STUDIES, 2):
        problem = random_problem(seed, tmp_path, offload_study)
        every, composed = front(problem, "enumerate"), front(problem, "compose")
        assert same_losses(composed, every), seed


def capped(rng: np.random.Generator) -> str:
    """Return such a study with a power cap, which may throttle stages at their own clocks."""
    while "budget:" in (study := offload_study(rng)):
        pass
    return study + f"budget: {{power_cap: {one_of(rng, '1', '3', '8', '20')} W}}\n"


def test_fronts_under_a_power_cap_are_those_of_all_designs(tmp_path: Path) -> None:
    for seed in range(STUDIES):
        problem = random_problem(seed, tmp_path, capped)
        every, composed = front(problem, "enumerate"), front(problem, "compose")
        assert same_losses(composed, every), seed


def test_scenarios_that_take_too_much_work_are_evaluated_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []
    whole = compose.Composer._evaluate_whole

    def watched(self: compose.Composer, scenarios: Index) -> None:
        left.append(len(scenarios))
        whole(self, scenarios)

    for name, value in {"ENOUGH": 1, "FIRST": 60_000, "SHARE": 10**9}.items():
        monkeypatch.setattr(prove, name, value)
    monkeypatch.setattr(compose, "BATCH", 1)
    monkeypatch.setattr(compose, "CALL", 1)
    monkeypatch.setattr(compose.Composer, "bounds_first", lambda _, scenarios: scenarios)
    monkeypatch.setattr(compose.Composer, "_evaluate_whole", watched)
    for seed in range(1, 8):
        problem = random_problem(seed, tmp_path, offload_study)
        every, found = front(problem, "enumerate"), front(problem, "exact")
        assert same_losses(found, every), seed
        assert accounted(found) == problem.whole_size, seed
    assert sum(left) >= 10

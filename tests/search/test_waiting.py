"""Exact fronts of offloads that wait: composed ones are those of all designs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.search.test_compose import front, random_problem, same_losses

GOALS = {
    "area": "minimise",
    "power": "minimise",
    "total_power": "minimise",
    "host_cores": "minimise",
    "wait": "minimise",
    "busiest_load": "minimise",
    "offload_latency_mean": "minimise",
    "offload_latency_p99": "minimise",
    "program_speedup": "maximise",
}
FEW, REST = range(40), range(40, 120)


def waiting_study(rng: np.random.Generator) -> str:
    """Return a study of a few thousand designs at most, whose offloads vary."""
    lines = ["workload:", f"  rate: {rng.integers(1, 60)} Gbit/s"]
    lines += ["  program_share: 40 %", "  program_offloads: 100 kHz"]
    lines += ["  granularity: 1 KiB", f"  arrivals: {rng.choice(['poisson', '{cv2: 4}'])}"]
    if rng.random() < 0.2:
        lines += ["  chained: true", f"  streams: {rng.integers(1, 40)}"]
    lines.append("stages:")
    number = int(rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2]))
    for position in range(number):
        lines += [f"  - core: {rng.choice(['des', 'fft', 'jacobi'])}", f"    name: s{position}"]
        lines += ["    fleet: mixed", f"    instances: {{from: 0, to: {4 // number + 1}}}"]
        if position == 0 or rng.random() < 0.5:
            lines.append(f"    clock: {rng.choice(['1', '[0.5, 1]'])}")
    lines += ["interface:", f"  wait: {rng.choice(['sync', 'sync_os', 'async'])}", "axes:"]
    lines.append("  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]")
    lines.append("  interface.in_flight: [1, 4, 16]")
    if rng.random() < 0.3:
        lines.append("  workload.granularity: [256 B, 4 KiB]")
    chosen = rng.choice([*GOALS], size=rng.integers(2, 5), replace=False)
    lines += ["objectives:", *(f"  {name}: {GOALS[name]}" for name in chosen)]
    if rng.random() < 0.5:
        bound = rng.choice(
            [
                "offload_latency_p99 <= 3 us",
                "wait <= 200 ns",
                "busiest_load <= 0.9",
                "program_speedup >= 1.2",
                "host_cores <= 6",
            ]
        )
        lines += ["constraints:", f"  - {bound}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("studies", [FEW, pytest.param(REST, marks=pytest.mark.slow)])
@pytest.mark.parametrize("block", range(4))
def test_the_composed_front_is_that_of_all_designs(
    block: int, studies: range, tmp_path: Path
) -> None:
    feasible = 0
    for seed in studies[block::4]:
        problem = random_problem(seed, tmp_path, waiting_study)
        every, composed = front(problem, "enumerate"), front(problem, "compose")
        assert same_losses(composed, every), seed
        assert composed.exact, seed
        feasible += len(every.front_index) > 0
    assert feasible > len(studies) / 4 / 3

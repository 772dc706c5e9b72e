"""Laws of the models over shipped and random studies, whatever their numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dse.contract import WAIT_MODES
from tests.conftest import Write, problem_of
from tests.search.test_compose import GOALS, front
from tests.study.test_written_fields import better

RANDOM = 50
STUDIES = Path(__file__).parents[2] / "studies"
LIMITS = (
    "capacity_bit_per_s",
    "power_limit_bit_per_s",
    "link_limit_bit_per_s",
    "memory_limit_bit_per_s",
)


def offloads(rng: np.random.Generator, *, clock: str = "", idle: str = "gated") -> str:
    """Return a random study of one stage, mostly behind an interface."""
    core, counts = str(rng.choice(["des", "fft", "jacobi"])), int(rng.integers(2, 13))
    lines = [
        "workload:",
        f"  rate: {rng.choice([0.5, 2, 5, 10, 20, 40]):g} Gbit/s",
        f"  granularity: {rng.choice([64, 256, 1500, 4096, 65536])} B",
        "  kernel: des",
        "stages:",
        f"  - {{core: {core}, name: s, instances: {{from: 1, to: {counts}}}, idle: {idle}{clock}}}",
    ]
    goals = ["area", "power", "total_power", "energy"]
    if rng.random() < 0.8:
        lines += ["interface:", f"  in_flight: {rng.choice([1, 2, 8])}"]
        lines.append(f"  wait: {rng.choice(['sync', 'async'])}")
        if rng.random() < 0.5:
            lines.append(f"  link: {rng.choice([1, 4, 16])} GB/s")
            lines.append(f"  transfer: {rng.choice(['cut_through', 'store_and_forward'])}")
        lines.append("axes:")
        lines.append("  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]")
        goals += ["offload_latency", "host_cores"]
    if rng.random() < 0.3:
        lines.append(f"budget: {{power_cap: {rng.choice([50, 200, 1000])} mW}}")
    chosen = rng.choice(goals, size=rng.integers(2, 4), replace=False)
    lines += ["objectives:", *(f"  {name}: {GOALS[name]}" for name in chosen)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "study", ["des_100gbps", "crypto_interface_100gbps", "settop_116mbps", "des_fft_sweep"]
)
def test_no_clock_gives_a_better_design_of_a_shipped_study(study: str) -> None:
    path, grid = STUDIES / f"{study}.yaml", f"[{', '.join(f'{k / 50:g}' for k in range(1, 51))}]"
    best = front(problem_of(path), "exact").front_loss
    tried = front(problem_of(path, ("des.clock", grid)), "exact").front_loss
    assert not better(tried, best).any()


@pytest.mark.parametrize("seed", range(RANDOM))
def test_an_offload_is_within_every_limit(seed: int, write: Write) -> None:
    rng = np.random.default_rng(seed)
    clock = str(rng.choice(["", ", clock: meet", ", clock: [0.1, 0.5, 1]"]))
    problem = problem_of(
        write(offloads(rng, clock=clock, idle=str(rng.choice(["gated", "clocked"]))))
    )
    found = problem.describe(np.argwhere(np.ones(problem.sizes)))
    if "offload_latency_s" not in found:
        return
    rate = 8 * found["workload_granularity_byte"] / found["offload_latency_s"]
    for limit in LIMITS:
        assert (rate <= found.get(limit, np.inf) * (1 + 1e-12)).all(), limit


@pytest.mark.parametrize("seed", range(RANDOM))
def test_limiting_busy_cores_to_offloads_in_flight_takes_only_rounding_away(
    seed: int, write: Write
) -> None:
    """R <= k 8 g / T1: neither cores that wait nor those that go on (o <= T1) are more than k."""
    rng = np.random.default_rng(seed)
    clock = str(rng.choice(["", ", clock: meet", ", clock: [0.1, 0.5, 1]"]))
    problem = problem_of(write(offloads(rng, clock=clock, idle="clocked")))
    found = problem.describe(np.argwhere(np.ones(problem.sizes)))
    if "host_cores" not in found:
        return
    waits = np.equal(found["interface_wait"], WAIT_MODES.index("sync"))
    busy = np.where(waits, found["offload_latency_s"], found["overhead_s"])
    per_s = found["throughput_bit_per_s"] / (8 * found["workload_granularity_byte"])
    with np.errstate(invalid="ignore"):  # an empty fleet takes forever over no offloads
        cores = np.where(per_s > 0, per_s * busy, 0.0)
    np.testing.assert_allclose(found["host_cores"], cores, rtol=1e-12)
    assert (found["host_cores"] <= found["interface_in_flight"]).all()


OTHER_UNITS = {
    r"rate: ([\d.]+) Gbit/s": lambda found: f"rate: {float(found[1]) * 1000:g} Mbit/s",
    r"granularity: (\d+) B": lambda found: f"granularity: {int(found[1]) / 1024:.10g} KiB",
    r"link: (\d+) GB/s": lambda found: f"link: {int(found[1]) * 1e6:.10g} kB/s",
    r"power_cap: (\d+) mW": lambda found: f"power_cap: {int(found[1]) * 1000} uW",
}


@pytest.mark.parametrize("seed", range(RANDOM))
def test_other_units_change_nothing(seed: int, write: Write) -> None:
    text = offloads(np.random.default_rng(seed))
    other = text
    for written, again in OTHER_UNITS.items():
        other = re.sub(written, again, other)
    one, two = (front(problem_of(write(some)), "exact") for some in (text, other))
    assert other != text
    assert np.array_equal(one.front_index, two.front_index)
    assert one.front_loss == pytest.approx(two.front_loss, rel=1e-12, abs=0)

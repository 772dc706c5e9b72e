"""Clocks that a study caps: cores that could run faster are rated for the cap, not thrown out."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from tests.conftest import Write, faults, problem_of

TABLE = """\
design,area_um2,clock_mhz,cycles_per_block,power_mw,payload_bit
small,1000,200,64,2,512
big,4000,45,16,3,512
"""
STUDY = """\
workload: {rate: 100 Mbit/s, granularity: 4 KiB}
stages: [{table: t.csv, name: core}]
interface:
  {overhead: 1 us, link: 1 GB/s, in_flight: 1, buffer_area: 1 um2/bit, buffer_leakage: 0 W/bit}
objectives: {area: minimise, power: minimise}
"""


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("constraints", "[clock <= 50 MHz]"),
        ("constraints", "[50 MHz >= clock_hz]"),
        ("constraints", "[2 * clock <= 100 MHz]"),
        ("constraints", "[10 MHz <= clock <= 50 MHz]"),
        ("stages.core.clock", "50 MHz"),
        ("stages.core.clock", "20 ns"),
    ],
)
def test_a_core_that_could_run_faster_runs_at_the_cap(
    write: Write, field: str, written: str
) -> None:
    """2 mW at 200 MHz are 0.5 at 50, at which 400 Mbit/s pass, of which 100 are needed."""
    write(TABLE, "t.csv")
    found = dse.answer(write(STUDY), overrides={field: written}, flips=False)
    assert isinstance(found, dse.Answer)
    assert found.pick.line == "1 small"
    assert found.pick.quantities["area_m2"] == pytest.approx((1000 + 2 * 8 * 4096) * 1e-12)
    assert found.pick.quantities["power_w"] == pytest.approx(0.125e-3)
    assert found.pick.quantities["clock_hz"] == 50e6


def test_a_cap_is_no_assumption_and_no_fraction(write: Write) -> None:
    write(TABLE, "t.csv")
    flips = dse.flips(write(STUDY + "constraints: [clock <= 50 MHz]\n"), only=["core"])
    names = {entry.name for entry in flips.found}
    assert "core.big.clock" in names
    assert "core.small.clock" not in names
    assert faults(write(STUDY), ("stages.core.clock", "50 mW")) == [
        "stages.0.clock: '50 mW' is not a fraction of the top clock; write fractions above 0 and "
        "up to 1, `meet`, or one clock as a cap: `50 MHz`"
    ]


READERS = [
    ("constraints: [clock <= 60 MHz]", "area"),
    ("constraints: [2 * clock <= 300 MHz]", "area"),
    ("constraints: [clock >= 20 MHz]", "power"),
    ("", "clock"),
    ("constraints: [offload_latency <= 1 ms]", "clock"),
]


@pytest.mark.parametrize(("rules", "first"), READERS)
def test_no_written_clock_beats_the_unwritten_one(write: Write, rules: str, first: str) -> None:
    random = np.random.default_rng(5)
    for _ in range(12):
        rows = [
            f"d{row},{random.integers(500, 5000)},{random.integers(20, 400)},"
            f"{random.integers(4, 80)},{random.uniform(0.1, 5):.3f},512"
            for row in range(3)
        ]
        write("\n".join([TABLE.splitlines()[0], *rows, ""]), "t.csv")
        rate = f"{random.uniform(20, 300):.1f} Mbit/s"
        text = STUDY.replace("100 Mbit/s", rate).replace("{area: min", f"{{{first}: min", 1)
        text = text.replace("power: minimise}", "offload_latency: minimise}") + rules + "\n"
        best = [
            np.nanmin(_values(write(text.replace("name: core", f"name: core{clock}"))), axis=0)
            for clock in ("", ", clock: meet", ", clock: 1", ", clock: 0.5", ", clock: 40 MHz")
        ]
        for other in best[1:]:
            assert (best[0] <= other * (1 + 1e-9)).all(), (text, best)


def _values(path: object) -> np.ndarray:
    """Return the objectives of all feasible designs, and a row of infinity."""
    problem = problem_of(path)  # type: ignore[arg-type]
    index = np.array(list(np.ndindex(*problem.sizes)))
    found = problem.evaluate(index)
    return np.vstack([found.loss[found.feasible], np.full((1, len(problem.goals)), np.inf)])

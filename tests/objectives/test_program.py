"""Speedup of a whole program: by hand, as the authors of the model compute it, and in a study."""

from __future__ import annotations

import numpy as np
import pytest

import dse
from dse.contract import WAIT_MODES
from dse.objectives.system.host import program_speedup
from tests.conftest import Write


def speedup(mode: str, share: float = 0.4, offloads: float = 0.01, **more: float) -> float:
    """A program of 1000 s, 40 % of it the kernel, in 10 offloads of 3 s and 10 s of computing."""
    given = {"offload_latency_s": 12.5, "transfer_s": 2.5, "wait_s": 0.5} | more
    columns = {name: np.array([value]) for name, value in given.items()}
    found = program_speedup(
        workload_program_share=np.array([share]),
        workload_program_offloads_hz=np.array([offloads]),
        interface_wait=np.array([float(WAIT_MODES.index(mode))]),
        **columns,
    )
    return float(found[0])


def test_by_hand() -> None:
    # left of 1000 s: 600 kept, 30 for offloads; 100 waited for, or 40 of switching
    assert speedup("sync") == pytest.approx(1000 / 730)
    assert speedup("sync_os", interface_switch_s=2.0) == pytest.approx(1000 / 670)
    assert speedup("async") == pytest.approx(1000 / 630)


def authors(mode: str, c: float, alpha: float, n: float, costs: float, o1: float, a: float):
    """The three equations of the program that Sriraman and Dhanotia published, in cycles."""
    if mode == "sync":
        return 1 / ((1 - alpha) + alpha / a + n / c * costs)
    return 1 / ((1 - alpha) + n / c * (costs + (o1 if mode == "sync_os" else 0.0)))


def test_as_the_authors_compute_it() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        mode = str(rng.choice(WAIT_MODES))
        cycles, alpha, n, factor = 2e9, rng.uniform(), rng.uniform(1, 1e6), rng.uniform(0.5, 50)
        o0, q, latency, o1 = rng.uniform(0, 1e4, 4)
        theirs = authors(mode, cycles, alpha, n, o0 + q + latency, o1, factor)
        computing = alpha * cycles / n / factor
        ours = speedup(
            mode,
            alpha,
            n,  # a window of one second at 2 GHz
            transfer_s=(o0 + latency) / cycles,
            offload_latency_s=(o0 + latency + computing) / cycles,
            wait_s=q / cycles,
            interface_switch_cycles=o1 / 2,
            interface_host_clock_hz=cycles,
        )
        assert ours == pytest.approx(theirs, rel=1e-12)


def test_amdahl_bounds_it_and_never_is_not_the_end_for_the_program() -> None:
    assert speedup("async", 0.4, 0.0) == pytest.approx(1 / 0.6)
    assert speedup("async", 1.0, 0.0) == np.inf
    assert speedup("sync", 0.4, 0.01, wait_s=np.inf) == 0


STUDY = """\
workload: {rate: 1 Gbit/s, granularity: 4 KiB, kernel: {index: 0.1 ns/B}, PROGRAM}
stages: [{core: des, designs: [u16], instances: [1, 2]}]
interface: {overhead: 100 ns, latency: 500 ns, in_flight: 8, host_cores: 4, wait: async}
objectives: {program_speedup: maximise, power: minimise}
constraints: [program_speedup >= 1.05]
"""
PROGRAM = "program_share: 30 %, program_offloads: 100 kHz"


def test_a_study_optimises_bounds_and_tells_it(write: Write) -> None:
    """1 / (0.7 + 1e5 * 600 ns) = 1.316, though the host is faster at every size: 0.1 ns/B."""
    path = write(STUDY.replace("PROGRAM", PROGRAM))
    front = dse.run(path).front
    assert front["program_speedup"].to_list() == pytest.approx([1 / 0.76])
    assert (front["speedup"] < 1).all()
    said = " ".join(dse.answer(path, flips=False).text(all=True).split())
    assert "program speedup" in said.lower()

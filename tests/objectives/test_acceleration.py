"""A published acceleration stands for an accelerator: LogCA as printed, equation by equation."""

from __future__ import annotations

import numpy as np
import pytest

from dse.objectives.logca.model import LogCA
from dse.study import study

STUDY = """
workload:
  rate: 1 kbit/s
  granularity: 4 KiB
  kernel: {index: 16 ns/B, exponent: 1.2, offset: 0.3 us}
interface: {overhead: 2 us, latency: 1 us, acceleration: 20}
objectives: {offload_latency: minimise, host_cores: minimise}
"""


def terms_of(**overrides: str) -> dict[str, float]:
    """Return every quantity of the one design."""
    fields = [(name.replace("__", "."), text) for name, text in overrides.items()]
    problem = study.prepare(study.read_study(STUDY, fields)).problem
    found = problem.describe(np.zeros((1, len(problem.sizes)), dtype=np.int64))
    return {name: float(column[0]) for name, column in found.items()}


@pytest.mark.parametrize("granularity", [64, 2**20])
@pytest.mark.parametrize("exponent", [0.8, 1, 1.2])
@pytest.mark.parametrize(("latency", "per_byte"), [("1 us", 0.0), ("3 ns/B", 3e-9)])
@pytest.mark.parametrize("acceleration", [2, 20, 1000])
def test_time_speedup_and_break_even_are_logca_s(
    granularity: int, exponent: float, latency: str, per_byte: float, acceleration: int
) -> None:
    paper = LogCA(
        latency=per_byte or 1e-6,
        overhead=2e-6,
        index=16e-9,
        acceleration=acceleration,
        exponent=exponent,
        latency_per_byte=bool(per_byte),
        host_offset=0.0,
    )
    terms = terms_of(
        workload__granularity=f"{granularity} B",
        workload__kernel=f"{{index: 16 ns/B, exponent: {exponent}}}",
        interface__latency=latency,
        interface__acceleration=str(acceleration),
    )
    assert terms["offload_latency_s"] == pytest.approx(float(paper.offload_time(granularity)))
    assert terms["speedup"] == pytest.approx(float(paper.speedup(granularity)))
    assert terms["acceleration"] == pytest.approx(acceleration)
    pays = float(paper.break_even())
    assert terms["break_even_byte"] == pytest.approx(pays, nan_ok=True)


def test_one_accelerator_computes_one_offload_after_the_other() -> None:
    """8 g A / T0 with g = 4096 B and T0 = 0.3 us + 16 ns g^1.2; a link is passed meanwhile."""
    host = 0.3e-6 + 16e-9 * 4096**1.2
    terms = terms_of(interface__in_flight="64", workload__rate="1 Gbit/s")
    assert terms["capacity_bit_per_s"] == pytest.approx(8 * 4096 * 20 / host)
    assert terms["fleet_load"] == pytest.approx(1e9 * host / (8 * 4096 * 20))
    slow = terms_of(interface__link="10 MB/s")
    assert slow["offload_latency_s"] == pytest.approx(3e-6 + 4096 / 10e6)

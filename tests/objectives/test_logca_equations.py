"""LogCA's printed equations and implications on numbers of our own: identities of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dse.objectives.catalogue.table5 import logca, rows
from dse.objectives.logca.implications import limits
from dse.objectives.logca.model import LogCA

PER_BYTE = LogCA(latency=2, overhead=100, index=30, acceleration=10, latency_per_byte=True)
FIXED = replace(PER_BYTE, latency_per_byte=False)
EXACT = 1e-9


@pytest.mark.parametrize(
    ("found", "printed"),
    [
        (lambda: limits(FIXED).infinity, 10),  # eq. 3: A
        (lambda: FIXED.speedup(1.0), 30 / (100 + 2 + 30 / 10)),  # eq. 4
        (FIXED.break_even, 10 / 9 * (100 + 2) / 30),  # eq. 5
        (FIXED.half_acceleration, 10 * (100 + 2) / 30),  # eq. 6
        (lambda: limits(PER_BYTE).infinity, 10 * 30 / (10 * 2 + 30)),  # CAL eq. 9
        (lambda: PER_BYTE.speedup(1.0), 10 * 30 / (10 * (100 + 2) + 30)),  # eq. 10
        (PER_BYTE.break_even, 10 * 100 / (30 * 9 - 10 * 2)),  # CAL eq. 11
        (PER_BYTE.half_acceleration, 10 * 100 / (30 - 10 * 2)),  # CAL eq. 12
        (lambda: replace(PER_BYTE, acceleration=np.inf).granularities(10)[0], 100),  # eq. 13
    ],
)
def test_equations_3_to_13(found: Callable[[], float], printed: float) -> None:
    assert float(found()) == pytest.approx(printed, rel=EXACT)


FIXED_ROWS = [key for key, row in rows.items() if row["latency_kind"] == "fixed"]


@pytest.mark.parametrize("key", FIXED_ROWS, ids=" ".join)
def test_equation_7_where_latency_is_fixed(key: tuple[str, str]) -> None:
    model, row = logca(*key), rows[key]
    ratio = (float(row["acceleration"]) - 1) ** (1 / float(row["beta"]))
    assert model.half_acceleration() / model.break_even() == pytest.approx(ratio, rel=EXACT)


@pytest.mark.parametrize(("exponent", "factor"), [(0.5, 4.0), (1.0, 2.0), (2.0, 2**0.5)])
def test_implications_2_and_3_by_example(exponent: float, factor: float) -> None:
    before = replace(FIXED, exponent=exponent)
    more_work, faster = replace(before, index=60), replace(before, acceleration=20)
    assert before.break_even() / more_work.break_even() == pytest.approx(factor, rel=EXACT)
    grown = faster.half_acceleration() / before.half_acceleration()
    assert grown == pytest.approx(factor, rel=EXACT)


def newton_step(d: LogCA) -> float:
    """Step once from g = 1 towards the break-even, as eq. 11 does."""
    gained = d.index * (1 - 1 / d.acceleration)
    step = gained * (d.exponent - 1) + d.fixed - d.host_offset
    return step / (gained * d.exponent - d.per_byte)


@pytest.mark.parametrize(
    ("key", "step", "root"),
    [
        (("apu", "gemm"), -33.1e6, 83.8e3),
        (("apu", "fft"), 1.41e6, 149e3),
        (("discrete_gpu", "gemm"), -66.7e3, 83.6e3),
    ],
)
def test_equation_11_is_one_newton_step(key: tuple[str, str], step: float, root: float) -> None:
    """Below zero or nine times too large where the exponent is not 1."""
    model = logca(*key)
    assert newton_step(model) == pytest.approx(step, rel=0.01)
    assert model.break_even() == pytest.approx(root, rel=0.01)


def test_a_fitted_exponent_does_not_turn_what_bounds_a_kernel() -> None:
    """C / L of AES on the discrete GPU stays below A at any size that can be addressed."""
    aes = logca("discrete_gpu", "aes")
    for exponent in (0.99, 1.0, 1.01, 1.05):
        assert replace(aes, exponent=exponent).bound() == "latency-bound"
    assert aes.bound(1e300) == "compute-bound"  # as section 3.1 names it, for g to infinity


def test_what_bounds_a_kernel_is_what_takes_longer() -> None:
    """C / L * g ** 0.5 passes A = 4 where g is 64: at 0.5 * 64 ** 0.5."""
    kernel = LogCA(
        latency=2, overhead=1, index=1, acceleration=4, exponent=1.5, latency_per_byte=True
    )
    assert kernel.bound([63.0, 65.0]).tolist() == ["latency-bound", "compute-bound"]
    assert kernel.bound(0.0) == "compute-bound"


@pytest.mark.parametrize("device", [PER_BYTE, FIXED])
def test_one_newton_step_is_enough_where_time_is_linear(device: LogCA) -> None:
    """Also with an offset of the host, which lets an offload pay earlier."""
    late = replace(device, host_offset=7.0)
    assert late.break_even() < device.break_even()
    for model in (device, late):
        assert newton_step(model) == pytest.approx(model.break_even(), rel=EXACT)

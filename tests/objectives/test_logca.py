"""LogCA: printed numbers, hand-worked examples and laws, against oracles written apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from scipy.optimize import brentq

from dse.objectives.logca.paper.devices import logca, rows
from dse.objectives.logca.paper.implications import limits, peak
from dse.objectives.logca.paper.model import LogCA
from dse.objectives.logca.paper.regions import THRESHOLD, cutoffs, gains
from dse.objectives.logca.roots import first_nonnegative, roots

GOLDEN = YAML(typ="safe", pure=True).load(
    (Path(__file__).parents[1] / "golden" / "logca_roots.yaml").read_text(encoding="utf-8")
)
DEVICES = {key: logca(*key) for key in rows}
T2 = DEVICES["ultrasparc_t2", "aes"]

exponents = st.one_of(st.just(1.0), st.floats(0.3, 0.95), st.floats(1.05, 3.0))
any_device = st.builds(
    LogCA,
    latency=st.floats(0.01, 1e3),
    overhead=st.floats(1.0, 1e5),
    index=st.floats(0.01, 1e3),
    acceleration=st.one_of(st.floats(0.5, 50.0), st.just(math.inf)),
    exponent=exponents,
    latency_per_byte=st.booleans(),
    host_offset=st.one_of(st.just(0.0), st.floats(0.0, 1e5)),
)


def plain_gain(device: LogCA, x: float) -> float:
    """Host time minus offload time over their sum at exp(x), from the printed equations."""
    d: Any = device
    computing = d.index * math.exp(d.exponent * x)
    moving = d.latency * (math.exp(x) if d.latency_per_byte else 1.0)
    host, offload = d.host_offset + computing, d.overhead + moving + computing / d.acceleration
    return (host - offload) / (host + offload)


@pytest.mark.parametrize(
    "row", GOLDEN["devices"], ids=lambda row: f"{row['device']}-{row['kernel']}"
)
def test_table_5_granularities(row: dict[str, Any]) -> None:
    device = DEVICES[row["device"], row["kernel"]]
    for found, printed in (
        (device.break_even(), row["break_even_byte"]),
        (device.half_acceleration(), row["half_acceleration_byte"]),
    ):
        expected = math.nan if printed == "does not exist" else printed
        assert found == pytest.approx(expected, rel=GOLDEN["tolerance_relative"], nan_ok=True)


def test_speedup_by_hand() -> None:
    device = LogCA(latency=10, overhead=80, index=2, acceleration=4, host_offset=50)
    assert device.host_time(100) == 250
    assert device.offload_time(100) == 80 + 10 + 50
    assert device.speedup(100) == 250 / 140
    per_byte = replace(device, latency_per_byte=True)
    assert per_byte.offload_time([0, 100]).tolist() == [80, 80 + 1000 + 50]


def test_sublinear_kernel_with_latency_per_byte_has_two_roots_one_or_none() -> None:
    device = LogCA(
        latency=1, overhead=4, index=10, acceleration=math.inf, exponent=0.5, latency_per_byte=True
    )
    # 10 sqrt(g) = s (4 + g): with s = 2, sqrt(g) = (5 -+ 3) / 2; the peak 2.5 is at g = 4.
    assert device.granularities(2) == pytest.approx([1, 16], rel=1e-14)
    assert peak(device) == (4.0, 2.5)
    assert device.granularities(2.6).shape == (0,)
    assert replace(device, overhead=10.0).granularities(2).shape == (0,)
    with_offset = replace(device, host_offset=10.0)  # 10 + 10 sqrt(g) = 2 (4 + g)
    assert with_offset.granularities(2) == pytest.approx([(2.5 + 7.25**0.5) ** 2])
    assert with_offset.break_even() == 0
    # Top of (6 + 10 sqrt(g)) / (4 + g + 2 sqrt(g)): 5 g + 6 sqrt(g) = 14.
    slower = replace(device, host_offset=6.0, acceleration=5.0)
    assert peak(slower).granularity == pytest.approx(((79**0.5 - 3) / 5) ** 2, rel=1e-14)


def test_a_root_beyond_every_address_exists_only_when_asked_for() -> None:
    device = DEVICES["discrete_gpu", "aes"]
    assert math.isnan(device.break_even())
    assert device.break_even(largest=math.inf) == pytest.approx(1.347492404e125)
    assert math.isnan(replace(device, exponent=1.0).break_even(largest=math.inf))


@pytest.mark.parametrize("exponent", [0.02, 0.5, 0.999])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_two_roots_that_almost_meet(exponent: float, gap: float) -> None:
    """The sum ``g**b - g`` just below its top, bracketed from there to both sides."""
    top = math.log(exponent) / (1 - exponent)

    def excess(x: float, level: float = 0.0) -> float:
        return math.exp(x) * math.expm1((exponent - 1) * x) - level

    level = excess(top) * (1 - gap)
    expected = [
        math.exp(brentq(excess, *ends, args=(level,), xtol=1e-15, rtol=1e-15))
        for ends in ((-500 if exponent < 0.1 else -50, top), (top, 0))
    ]
    assert roots(1.0, exponent, 1.0, level) == pytest.approx(expected, rel=1e-9)


@given(device=any_device, wanted=st.floats(0.1, 60))
def test_roots_give_the_speedup_and_nothing_else_does(device: LogCA, wanted: float) -> None:
    """Between neighbouring roots the speedup stays on one side: sampled densely in log g."""
    found = device.granularities(wanted)
    assert np.all(np.diff(found) >= 0)
    assert device.speedup(found) == pytest.approx(np.full(found.shape, wanted), rel=1e-9)
    samples = np.exp(np.linspace(-20, math.log(2.0**64), 400))
    reached = device.speedup(samples) >= wanted
    clear = np.abs(device.speedup(samples) / wanted - 1) > 1e-9
    for before, after, change in zip(samples, samples[1:], np.diff(reached), strict=False):
        if change and clear[np.searchsorted(samples, [before, after])].all():
            assert np.sum((found >= before) & (found <= after)) == 1


@given(device=any_device)
def test_break_even_against_brentq(device: LogCA) -> None:
    low, high = -40.0, math.log(2.0**64)
    grid = np.linspace(low, high, 300)
    gains = [plain_gain(device, x) for x in grid]
    first = next((place for place, gain in enumerate(gains) if gain >= 0), None)
    assume(all(abs(gain) > 1e-9 for gain in gains))
    found = device.break_even()
    if first is None:  # a pair of roots may hide between two samples
        assume(math.isnan(found) or peak(device).speedup > 1.01)
    elif first == 0:
        assert found < math.exp(low)
    elif found >= math.exp(grid[first - 1]):
        root = brentq(lambda x: plain_gain(device, x), grid[first - 1], grid[first], xtol=1e-14)
        assert found == pytest.approx(math.exp(root), rel=1e-9)
    else:
        assert abs(plain_gain(device, math.log(found))) < 1e-9


def test_columns_give_the_bits_of_single_rows() -> None:
    random, rows = np.random.default_rng(7), 300
    latency, overhead = 10 ** random.uniform(-2, 3, rows), 10 ** random.uniform(0, 5, rows)
    gained = 10 ** random.uniform(-1, 3, rows) * random.uniform(-1, 0.97, rows)
    exponent = random.choice([0.5, 0.9, 1.0, 1.2, 2.0], rows)
    per_byte = random.random(rows) < 0.7
    fixed = overhead + np.where(per_byte, 0, latency) - random.choice([0.0, 300.0, 3e4], rows)
    columns = gained, exponent, np.where(per_byte, latency, 0), fixed
    for function in (first_nonnegative, roots):
        together = function(*columns)
        alone = [function(*row) for row in zip(*columns, strict=True)]
        assert np.array_equal(together, alone, equal_nan=True), function
    pays = first_nonnegative(*columns)
    assert np.isnan(pays).any()
    assert (pays == 0).any()
    g = np.geomspace(1, 1e8, rows)
    for name in ("speedup", "offload_time"):
        of = getattr(DEVICES["apu", "fft"], name)
        assert np.array_equal(of(g), [of(one) for one in g]), name


@pytest.mark.parametrize(
    ("fixed", "per_byte", "index", "exponent", "offset", "expected"),
    [
        (300, 1, 4, 1, 0, 100.0),  # linear: 300 / (4 - 1), exactly
        (300, 4, 4, 1, 0, math.nan),
        (300, 4, 4, 1, 300, 0.0),  # equal times at every granularity
        (300, 4, 4, 1, 301, 0.0),
        (300, 5, 4, 1, 301, 0.0),  # pays only below one byte, but from 0 on
        (300, 5, 4, 1, 300, math.nan),  # a tie at nothing is no gain
        (0, 6, 3, 2, 0, 2.0),  # 3 g^2 = 6 g
        (0, 6, 3, 0.5, 0, 0.0),
        (math.nan, 1, 4, 1, 0, math.nan),
        *((0, 1, 0, exponent, 0, math.nan) for exponent in (0.5, 1.0, 2.0)),  # what only costs
        *((0, 0, 1, exponent, 0, 0.0) for exponent in (0.5, 1.0, 2.0)),  # and what costs nothing
    ],
)
def test_break_even_edge_cases(
    fixed: float, per_byte: float, index: float, exponent: float, offset: float, expected: float
) -> None:
    found = first_nonnegative(index, exponent, per_byte, fixed - offset)
    assert found == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_limits_by_hand() -> None:
    """Equations 3, 4, 9, 10."""
    fixed = LogCA(latency=10, overhead=20, index=6, acceleration=3)
    assert limits(fixed) == (0.0, 3.0)
    per_byte = replace(fixed, latency_per_byte=True)
    assert limits(per_byte) == (0.0, pytest.approx(3 * 6 / (3 * 10 + 6)))
    assert fixed.speedup(1.0) == per_byte.speedup(1.0) == 6 / 32 < 6 / 30
    assert limits(replace(per_byte, exponent=0.5)).infinity == 0
    assert limits(replace(per_byte, exponent=1.5)).infinity == 3
    assert limits(replace(fixed, host_offset=15.0)).zero == 0.5
    assert per_byte.intensity_bound(7.0) == 0.6
    assert replace(per_byte, exponent=2.0).intensity_bound(7.0) == pytest.approx(4.2)
    assert fixed.intensity_bound(7.0) == math.inf


@given(device=any_device)
def test_speedup_never_exceeds_its_peak_and_tends_to_its_limits(device: LogCA) -> None:
    ends, top = limits(device), peak(device)
    assert np.all(device.speedup(np.geomspace(1e-6, 1e18, 300)) <= top.speedup * (1 + 1e-12))
    assert top.speedup >= max(ends)
    bound = (device.host_offset + device.index) / (device.latency + device.overhead)  # eq 4
    assert device.speedup(1.0) <= bound * (1 + 1e-15)
    if 0 < top.granularity < math.inf:
        assert device.speedup(top.granularity) == pytest.approx(top.speedup)


def test_bound_of_section_3_1() -> None:
    fixed = LogCA(latency=1, overhead=1, index=1, acceleration=2)
    kernels = [replace(fixed, exponent=exponent) for exponent in (0.5, 1.0, 1.5)]
    assert [one.bound() for one in kernels] == ["compute-bound"] * 3
    per_byte = [replace(one, latency_per_byte=True).bound() for one in kernels]
    assert per_byte == ["latency-bound", "latency-bound", "compute-bound"]
    assert T2.bound() == "compute-bound"


@given(device=any_device)
def test_cutoffs_are_where_the_gain_crosses_the_threshold(device: LogCA) -> None:
    samples = np.geomspace(1e-3, 1e15, 60)
    gained = gains(device, samples)
    for name, intervals in cutoffs(device).items():
        inside = np.zeros(samples.shape, dtype=bool)
        for low, high in intervals:
            inside |= (samples >= low) & (samples <= high)
        clear = np.abs(gained[name] / (1 + THRESHOLD) - 1) > 1e-9
        assert np.array_equal(inside[clear], (gained[name] >= 1 + THRESHOLD)[clear]), name


PER_BYTE = LogCA(latency=2, overhead=100, index=30, acceleration=10, latency_per_byte=True)
FIXED = replace(PER_BYTE, latency_per_byte=False)
EXACT = 1e-9


@pytest.mark.parametrize(
    ("found", "printed"),
    [
        (FIXED.break_even, 10 / 9 * (100 + 2) / 30),  # eq. 5
        (FIXED.half_acceleration, 10 * (100 + 2) / 30),  # eq. 6
        (PER_BYTE.break_even, 10 * 100 / (30 * 9 - 10 * 2)),  # CAL eq. 11
        (PER_BYTE.half_acceleration, 10 * 100 / (30 - 10 * 2)),  # CAL eq. 12
        (lambda: replace(PER_BYTE, acceleration=np.inf).granularities(10)[0], 100),  # eq. 13
    ],
)
def test_equations_5_6_and_11_to_13(found: Callable[[], float], printed: float) -> None:
    assert float(found()) == pytest.approx(printed, rel=EXACT)


FIXED_ROWS = [key for key, row in rows.items() if row["latency_kind"] == "fixed"]


@pytest.mark.parametrize("key", FIXED_ROWS, ids=" ".join)
def test_equation_7_where_latency_is_fixed(key: tuple[str, str]) -> None:
    model, row = logca(*key), rows[key]
    ratio = (float(row["acceleration"]) - 1) ** (1 / float(row["beta"]))
    assert model.half_acceleration() / model.break_even() == pytest.approx(ratio, rel=EXACT)


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

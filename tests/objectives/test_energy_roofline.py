"""Laws, hand-worked examples and printed numbers of the energy roofline with a power cap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.contract import Platform
from dse.objectives.roofline.model import REGIMES, EnergyRoofline
from dse.plugins import registry

PLATFORMS = registry.records(Platform)
TABLE = {name: EnergyRoofline.of(platform) for name, platform in PLATFORMS.items()}
PARAMETERS = (
    "time_per_op",
    "time_per_byte",
    "energy_per_op",
    "energy_per_byte",
    "constant_power",
    "power_cap",
)


def roofline(*values: float) -> EnergyRoofline:
    return EnergyRoofline(**dict(zip(PARAMETERS, values, strict=True)))


positive = st.floats(1e-3, 1e3)
models = st.builds(roofline, positive, positive, positive, positive, positive, positive)
intensities = st.floats(1e-4, 1e4)

# --- by hand: pi_flop = 3, pi_mem = 2, B_tau = 2; the cap of 4 lets both run together at 80 % ---

BY_HAND = roofline(1.0, 2.0, 3.0, 4.0, 5.0, 4.0)


@pytest.mark.parametrize(
    ("operations", "traffic", "time", "energy", "regime"),
    [
        (1, 1, 2.0, 17.0, "memory"),  # 2 s to move, 7 J active
        (2, 1, 2.5, 22.5, "cap"),  # 2 s for either, but 10 J at 4 W
        (8, 1, 8.0, 68.0, "compute"),  # 28 J at 4 W would take 7 s
        (0, 3, 6.0, 42.0, "memory"),
        (3, 0, 3.0, 24.0, "compute"),
    ],
)
def test_by_hand(operations: float, traffic: float, time: float, energy: float, regime: str):
    with np.errstate(divide="ignore"):
        intensity = np.divide(operations, traffic)
    assert BY_HAND.time(operations, traffic) == pytest.approx(time)
    assert BY_HAND.energy(operations, traffic) == pytest.approx(energy)
    assert BY_HAND.power(intensity) == pytest.approx(energy / time)
    assert BY_HAND.performance(intensity) == pytest.approx(operations / time)
    assert BY_HAND.bandwidth(intensity) == pytest.approx(traffic / time)
    assert BY_HAND.efficiency(intensity) == pytest.approx(operations / energy)
    assert REGIMES[int(BY_HAND.regime(intensity))] == regime


# --- laws ---


@given(models, intensities)
def test_power_is_energy_over_time_and_equation_7(model: EnergyRoofline, intensity: float):
    power = model.power(intensity)
    assert power == pytest.approx(model.energy(intensity, 1.0) / model.time(intensity, 1.0))
    balance = model.time_balance
    if intensity >= model.upper_balance:
        active = model.op_power + model.memory_power * balance / intensity
    elif intensity <= model.lower_balance:
        active = model.op_power * intensity / balance + model.memory_power
    else:
        active = model.power_cap
    assert power == pytest.approx(model.constant_power + active)
    assert power <= model.peak_power * (1 + 1e-12)


@given(models, intensities)
def test_intensity_forms_are_equations_2_and_4(model: EnergyRoofline, intensity: float):
    energy_balance = model.energy_per_byte / model.energy_per_op
    share = model.op_power / model.power_cap * (1 + energy_balance / intensity)
    time = model.time_per_op * max(1.0, model.time_balance / intensity, share)
    energy = model.energy_per_op * (1 + energy_balance / intensity)
    assert model.performance(intensity) == pytest.approx(1 / time)
    assert model.efficiency(intensity) == pytest.approx(1 / (energy + model.constant_power * time))


@given(models)
def test_the_regime_changes_at_the_balances_and_nowhere_else(model: EnergyRoofline):
    low, middle, high = model.lower_balance, model.time_balance, model.upper_balance
    assert 0.0 <= low <= middle <= high
    if low > 0:
        assert model.regime(low * 0.999) == REGIMES.index("memory")
    if low < middle * 0.99:
        assert model.regime((low + middle) / 2) == REGIMES.index("cap")
    if np.isfinite(high):
        assert model.regime(high * 1.001) == REGIMES.index("compute")
    if middle < high * 0.99:
        edge = high * 0.999 if np.isfinite(high) else 2 * middle
        assert model.regime(edge) == REGIMES.index("cap")


@pytest.mark.parametrize(
    ("energy_per_op", "energy_per_byte", "cap", "low", "high"),
    [
        (3.0, 4.0, np.inf, 2.0, 2.0),  # uncapped
        (3.0, 4.0, 5.0, 2.0, 2.0),  # exactly enough for both
        (3.0, 4.0, 3.0, 2 / 3, np.inf),  # exactly enough for operations alone
        (3.0, 4.0, 2.5, 1 / 3, np.inf),  # too little for operations alone: (5) says 2
        (3.0, 4.0, 2.0, 0.0, np.inf),  # exactly enough for memory alone
        (1.0, 4.0, 1.5, 0.0, 8.0),  # too little for memory alone: (6) says -1
        (0.0, 4.0, 2.0, 2.0, 2.0),  # free operations, memory just fits
        (0.0, 4.0, 1.0, 0.0, 4.0),  # free operations, memory does not
        (3.0, 0.0, 3.0, 2.0, 2.0),  # free traffic, operations just fit
        (3.0, 0.0, 2.0, 4 / 3, np.inf),  # free traffic, operations do not
        (0.0, 0.0, 1.0, 2.0, 2.0),  # nothing to cap
    ],
)
def test_balances_in_every_corner(energy_per_op, energy_per_byte, cap, low, high):
    model = roofline(1.0, 2.0, energy_per_op, energy_per_byte, 0.0, cap)
    assert model.lower_balance == pytest.approx(low)
    assert model.upper_balance == pytest.approx(high)


def test_the_platforms_whose_balances_the_printed_equations_get_wrong():
    without_compute = {name for name, model in TABLE.items() if np.isinf(model.upper_balance)}
    without_memory = {name for name, model in TABLE.items() if model.lower_balance == 0}
    assert without_compute == {"nuc_gpu"}
    assert without_memory == {"nuc_cpu", "apu_cpu"}


@given(models, st.floats(1.0, 16.0), intensities)
def test_what_ifs(model: EnergyRoofline, factor: float, intensity: float):
    throttled, several = model.capped(factor), model.times(factor)
    assert throttled.performance(intensity) <= model.performance(intensity)
    assert model.performance(intensity) <= replace(model, power_cap=np.inf).performance(intensity)
    assert throttled.power(intensity) >= model.constant_power
    assert several.performance(intensity) == pytest.approx(factor * model.performance(intensity))
    assert several.power(intensity) == pytest.approx(factor * model.power(intensity))
    assert several.efficiency(intensity) == pytest.approx(model.efficiency(intensity))
    assert several.peak_power / model.peak_power == pytest.approx(factor)

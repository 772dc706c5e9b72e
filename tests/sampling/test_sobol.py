"""Which assumptions move a design, against what calculus says."""

from __future__ import annotations

import math

import pytest

import dse
from dse.errors import DseError
from tests.conftest import STUDIES, Write

pytest.importorskip("SALib")
DES = STUDIES / "des_100gbps.yaml"
FIXED = {"des.u16": 3} | {f"des.{name}": 0 for name in ("u1", "u1_p2", "u2", "u4", "u8")}


def test_sobol_indices_are_those_of_a_product() -> None:
    """Power = a * rate * dynamic / clock + leakage, with uniform factors from 0.9 to 1.1."""
    power = dse.uncertainty(DES, sobol=True, overrides=FIXED).found.effects["power_w"]
    indices = {effect.name: effect for effect in power}
    dynamic, leakage = 3 * 9.05 * 100 / (3 * 41.29), 3 * 1.11
    square, inverse = 1 + 0.2**2 / 12, math.log(1.1 / 0.9) / 0.2
    of_clock = 1 / (0.9 * 1.1)
    variance = dynamic**2 * (square**2 * of_clock - inverse**2) + leakage**2 * (square - 1)
    alone = {
        "workload.rate": dynamic**2 * inverse**2 * (square - 1),
        "des.u16.dynamic_power": dynamic**2 * inverse**2 * (square - 1),
        "des.u16.clock": dynamic**2 * (of_clock - inverse**2),
        "des.u16.leakage_power": leakage**2 * (square - 1),
    }
    assert set(indices) == set(alone) | {"des.u16.area"}
    for name, part in alone.items():
        assert indices[name].first == pytest.approx(part / variance, abs=0.01)
        assert indices[name].total >= indices[name].first - 0.01
    assert sum(effect.total for effect in power) > sum(effect.first for effect in power)
    assert indices["des.u16.area"].total == pytest.approx(0.0, abs=1e-9)


def test_counts_stay_where_the_demand_would_choose_them(write: Write) -> None:
    """With `least` instances a higher rate needs more of them; the design keeps those it has."""
    path = write(
        "workload: {rate: 82 Gbit/s}\nstages: [{core: des, designs: [u16]}]\n"
        "objectives: {area: minimise, power: minimise}\n"
    )
    effects = dse.uncertainty(path, sobol=True).found.effects
    sizes = {effect.name: effect.total for effect in effects["area_m2"]}
    assert sizes["des.u16.area"] == pytest.approx(1.0, abs=0.01)
    assert sizes["workload.rate"] == pytest.approx(0.0, abs=0.01)


def test_without_salib_the_extra_is_named(without) -> None:
    without("SALib")
    with pytest.raises(DseError, match=r'pip install "accel-dse\[uncertainty\]"'):
        dse.uncertainty(DES, sobol=True, overrides=FIXED)

"""The numbers in constraints: which way is looser, and how they are written."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.algebra import units
from dse.algebra.expression import TOLERANCE, VIOLATED, met_when_equal, parse_expression, settled
from dse.algebra.thresholds import candidates, thresholds_of, written_bound
from dse.objectives.system.requirements import (
    fits_host,
    fits_in_flight,
    has_instances,
    meets_demand,
    spares_power,
)

NAMES = ("power_w", "area_m2", "instances", "bound")
LABELS = {"bound": ("compute", "link")}


def found(text: str):
    return thresholds_of(parse_expression(text, NAMES, LABELS))


BY_HAND = [
    # text, then for each bound: quantity, name, value, looser ways, strict, text with 7 instead
    ("power <= 30 mW", [("power_w", "power_w", 0.03, "up", False, "power <= 7")]),
    ("power < 30 mW", [("power_w", "power_w", 0.03, "up", True, "power < 7")]),
    ("power >= 30 mW", [("power_w", "power_w", 0.03, "down", False, "power >= 7")]),
    ("power > 30 mW", [("power_w", "power_w", 0.03, "down", True, "power > 7")]),
    ("30 mW <= power", [("power_w", "power_w", 0.03, "down", False, "7 <= power")]),
    ("30 mW > power", [("power_w", "power_w", 0.03, "up", True, "7 > power")]),
    ("power == '30 mW'", [("power_w", "power_w", 0.03, "up down", False, "power == 7")]),
    ("instances <= 3", [("instances", "instances", 3.0, "up", False, "instances <= 7")]),
    (
        "2 * power <= 30 mW",
        [("2 * power", "threshold_w", 0.03, "up", False, "2 * power <= 7")],
    ),
    ("power / area <= 5", [("power / area", "", 5.0, "up", False, "power / area <= 7")]),
    (
        "0.1 mm2 <= area < 0.2 mm2",
        [
            ("area_m2", "area_m2", 1e-7, "down", False, "7 <= area < 0.2 mm2"),
            ("area_m2", "area_m2", 2e-7, "up", True, "0.1 mm2 <= area < 7"),
        ],
    ),
    (
        "power <= 1 W and instances >= 2",
        [
            ("power_w", "power_w", 1.0, "up", False, "power <= 7 and instances >= 2"),
            ("instances", "instances", 2.0, "down", False, "power <= 1 W and instances >= 7"),
        ],
    ),
    (
        "max(power, '1 mW') <= '2 W'",
        [("max(power, '1 mW')", "threshold_w", 2.0, "up", False, "max(power, '1 mW') <= 7")],
    ),
    ("power != 3 W", []),
    ("bound == 'link'", []),
    ("power <= power + area / area * power", []),
]


@pytest.mark.parametrize(("text", "wanted"), BY_HAND)
def test_bounds_by_hand(text: str, wanted: list[tuple]) -> None:
    columns = {
        "power_w": np.array([0.7]),
        "area_m2": np.array([3e-7]),
        "instances": np.array([5.0]),
        "bound": np.array([1.0]),
    }
    got = found(text)
    assert len(got) == len(wanted)
    for one, (quantity, name, value, ways, strict, with_7) in zip(got, wanted, strict=True):
        expected = parse_expression(quantity, NAMES).value(columns)
        assert one.quantity.value(columns) == expected
        assert not one.quantity.is_constraint
        assert one.name == name
        assert one.value == pytest.approx(value, rel=1e-15)
        assert (one.up, one.down) == ("up" in ways, "down" in ways)
        assert one.strict == strict
        assert " ".join(one.text("7").split()) == with_7


@pytest.mark.parametrize(
    ("text", "rests"),
    [
        ("power <= 1 W", ["power >= 0"]),
        ("1 W <= power <= 3 W", ["power <= 3 W", "power >= 1 W"]),
        ("power <= 1 W and instances <= 2", ["instances <= 2", "power <= 1 W"]),
        ("power <= 1 W or instances <= 2", ["power >= 0", "power >= 0"]),
        ("(power <= 1 W or area <= 1 m2) and instances <= 2", ["power <= 1 W or area <= 1 m2"]),
    ],
)
def test_the_rest_of_a_constraint_takes_one_bound_as_met(text: str, rests: list[str]) -> None:
    grid = np.array(np.meshgrid([0.5, 2.0, 5.0], [0.5, 2.0], [1.0, 3.0])).reshape(3, -1)
    columns = dict(zip(("power_w", "area_m2", "instances"), grid, strict=True))
    got = found(text)
    for one, rest in zip(got, rests, strict=len(rests) > 1 or len(got) == 1):
        right = parse_expression(rest, NAMES).violation(columns) <= 0
        assert ((one.rest.violation(columns) <= 0) == right).all()


VALUES = st.floats(1e-15, 1e15) | st.floats(-1e6, -1e-6) | st.just(0.0) | st.integers(1, 999)


@given(VALUES, st.sampled_from(["power_w", "area_m2", "instances", "x_s"]), st.booleans())
def test_a_written_bound_is_on_the_right_side_and_near(value, name, up):
    for beyond in (False, True):
        text = written_bound(float(value), name, up=up, beyond=beyond)
        read = units.parse(text, name)
        if beyond:
            assert read > value if up else read < value
        else:
            assert read >= value if up else read <= value
        assert abs(Fraction(read) - Fraction(value)) <= Fraction(3e-4) * abs(Fraction(value)) + (
            Fraction(1, 1000) if not value else 0
        )
    whole = written_bound(float(value), "instances", up=up, whole=True)
    assert float(whole) == (math.ceil(value) if up else math.floor(value))


@pytest.mark.parametrize(
    ("value", "name", "options", "text"),
    [
        (0.03, "power_w", {"up": True}, "30 mW"),
        (0.03, "power_w", {"up": False}, "30 mW"),
        (0.03, "power_w", {"up": True, "beyond": True}, "30.001 mW"),
        (0.03, "power_w", {"up": False, "beyond": True}, "29.999 mW"),
        (0.0312345678, "power_w", {"up": True}, "31.235 mW"),
        (0.0312345678, "power_w", {"up": False}, "31.234 mW"),
        (123456.0, "instances", {"up": True}, "123456"),
        (2.5, "instances", {"up": True, "whole": True}, "3"),
        (2.5, "instances", {"up": False, "whole": True}, "2"),
        (0.0, "power_w", {"up": True}, "0 W"),
        (1e12, "instances", {"up": True}, "1.00001e+12"),
        (1e12, "instances", {"up": False}, "9.99990e+11"),
        (-1e12, "instances", {"up": True}, "-9.99990e+11"),
        (1e9, "instances", {"up": True}, "1.00001e+09"),
        (1e-4, "instances", {"up": True}, "0.0001"),
        (0.5e-4, "instances", {"up": True}, "5.00005e-05"),
    ],
)
def test_bounds_are_written_in_few_digits(value, name, options, text):
    assert written_bound(value, name, **options) == text


def test_the_nicest_number_is_tried_first():
    """A bisection ends a rounding beside the number that was meant."""
    beside = 0.03 * (1 + 1e-9)
    assert candidates(beside, "power_w", up=True) == ["30 mW", "30.001 mW"]
    assert candidates(0.03 * (1 - 1e-9), "power_w", up=False) == ["30 mW", "29.999 mW"]
    assert candidates(0.03, "power_w", up=True) == ["30 mW"]
    assert candidates(0.03, "power_w", up=True, beyond=True) == ["30 mW", "30.001 mW"]
    assert candidates(0.030005, "power_w", up=True) == ["30.005 mW"]
    assert candidates(0.0300054, "power_w", up=True) == ["30.006 mW"]  # 30.005 mW is too far
    assert candidates(3.2, "instances", up=True, whole=True) == ["4"]


def test_sides_within_the_tolerance_are_equal():
    assert met_when_equal(np.array([3.0, 3.0]), np.array([True, False])).tolist() == [0.0, 3.0]
    assert met_when_equal(3.0, True, strict=True) == VIOLATED > 0
    inside, outside = TOLERANCE * 0.999, TOLERANCE * 1.001
    for missed, kept in ((inside, 0.0), (-inside, 0.0), (outside, outside), (-outside, -outside)):
        assert settled(missed) == kept
    assert settled(TOLERANCE) == 0.0
    assert settled(inside, strict=True) == settled(-inside, strict=True) == VIOLATED
    assert VIOLATED < TOLERANCE == 1e-12  # as the documents say


def test_requirements_are_missed_by_a_share_of_their_bound():
    def of(value: float) -> np.ndarray:
        return np.array([value])

    assert has_instances(stage_instances=(of(3.0), of(0.0))) == 1.0
    assert has_instances(stage_instances=(of(1.0), of(2.0))) == 0.0
    assert fits_host(host_cores=of(6.0), interface_host_cores=of(4.0)) == 0.5
    assert fits_in_flight(interface_in_flight=of(6.0), interface_max_in_flight=of(8.0)) == -0.25
    assert meets_demand(throughput_bit_per_s=of(3e9), demand_bit_per_s=of(4e9)) == 0.25
    leaks = {"leakage_power_w": of(3.0), "budget_power_cap_w": of(4.0)}
    assert spares_power(**leaks) == -0.25
    assert spares_power(**leaks, budget_constant_power_w=of(2.0)) == 0.25

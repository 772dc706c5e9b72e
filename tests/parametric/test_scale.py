"""The scale of a number: whatever the signs of its ends, middles lie between and halving ends."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.parametric.scale import LogScale, log_distance

SCALE = LogScale()
ENDS = st.sampled_from([-1e308, -7.5, -1e-300, -5e-324, 0.0, 5e-324, 1e-9, 3.0, 1e308])
NUMBERS = ENDS | st.floats(-1e9, 1e9, allow_nan=False)


@given(NUMBERS, NUMBERS, st.floats(0, 1))
def test_halving_finds_a_threshold_whatever_the_signs(one: float, other: float, share) -> None:
    threshold = one * (1 - share) + other * share
    up = other > one

    def holds(value: float) -> bool:
        assert min(one, other) <= value <= max(one, other)
        return value <= threshold if up else value >= threshold

    inside, outside = SCALE.bisected(one, other, 1e-7, holds)
    assert SCALE.is_close(inside, outside, 1e-7)
    assert inside == one or holds(inside)
    assert outside == other or not holds(outside)


@given(NUMBERS, NUMBERS)
def test_a_grid_goes_from_one_end_to_the_other(start: float, limit: float) -> None:
    values = SCALE.grid(start, limit, 40, 1e-3)
    assert values == sorted(set(values), reverse=limit < start)
    assert start not in values
    assert not values if start == limit else values[-1] == limit
    assert all(min(start, limit) <= value <= max(start, limit) for value in values)


def test_middles_are_geometric_only_between_values_of_one_sign() -> None:
    assert SCALE.middle(2.0, 8.0) == pytest.approx(4.0)
    assert SCALE.middle(-2.0, -8.0) == pytest.approx(-4.0)
    assert SCALE.middle(-2.0, 8.0) == 3.0
    assert log_distance(-1.0, -math.e) == pytest.approx(1.0)
    assert log_distance(-1.0, 1.0) == log_distance(0.0, 1.0) == math.inf

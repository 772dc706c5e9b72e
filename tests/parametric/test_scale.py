"""The scale of a number: whatever the signs of its ends, middles lie between and halving ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dse.parametric.scale import LogScale

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

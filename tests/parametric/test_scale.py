"""The scale of a number: whatever the signs of its ends, values lie between and sections end."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dse.parametric.question import NumberScale, logarithmic_from

ENDS = st.sampled_from([-1e308, -7.5, -1e-300, -5e-324, 0.0, 5e-324, 1e-9, 3.0, 1e308])
NUMBERS = ENDS | st.floats(-1e9, 1e9, allow_nan=False)


@given(NUMBERS, NUMBERS, st.floats(0, 1))
def test_sections_find_a_threshold_whatever_the_signs(one: float, other: float, share) -> None:
    threshold = one * (1 - share) + other * share
    scale, (inside, outside) = NumberScale(logarithmic_from(one, other)), (one, other)
    sign = 1 if other > one else -1
    while not scale.is_close(inside, outside):
        values = scale.values(inside, outside, 65)
        assert (values[0], values[-1]) == (inside, outside)
        assert all((b - a) * sign > 0 for a, b in pairwise(values))
        held = [value for value in values[:-1] if value * sign <= threshold * sign] or values[:1]
        inside, outside = held[-1], values[len(held)]
    assert inside == one or inside * sign <= threshold * sign
    assert outside == other or outside * sign > threshold * sign

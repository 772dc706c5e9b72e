"""Bounds hold for every number that a range may stand for, as computed, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.algebra.enclosure import UFUNCS, Condition, Enclosure

ENDS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-310, 1e300, 3.0]),
    st.floats(-1e3, 1e3),
)
COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
ARITHMETIC = [
    ufunc
    for ufunc in UFUNCS
    if ufunc not in (*COMPARISONS, np.isnan, np.isfinite, np.isinf, np.nextafter)
]


@st.composite
def ranges(draw):
    """Bounds of one column and some numbers between them, the bounds included."""
    low, high = sorted((draw(ENDS), draw(ENDS)))
    others = [draw(ENDS) for _ in range(3)] + [0.0, -0.0, 1.0, -1.0]
    inside = [number for number in others if low <= number <= high]
    return Enclosure(np.array([low]), np.array([high])), np.array([low, high, *inside])


def holds(found: Enclosure, values: np.ndarray) -> None:
    low, high = found.low[0], found.high[0]
    if np.isnan(low) or np.isnan(high):
        return  # unknown is always right
    assert not np.isnan(values).any()
    assert (low <= values).all()
    assert (values <= high).all()


@pytest.mark.parametrize("ufunc", ARITHMETIC, ids=lambda ufunc: ufunc.__name__)
@settings(max_examples=200)
@given(data=st.data())
def test_bounds_of_a_function_hold(ufunc, data) -> None:
    pairs = [data.draw(ranges()) for _ in range(ufunc.nin)]
    with np.errstate(all="ignore"):
        found = ufunc(*(interval for interval, _ in pairs))
        grid = np.meshgrid(*(numbers for _, numbers in pairs))
        holds(found, ufunc(*grid).ravel())


@settings(max_examples=300)
@given(a=ranges(), b=ranges(), yes=ranges(), no=ranges(), which=st.sampled_from(COMPARISONS))
def test_bounds_of_a_choice_hold(a, b, yes, no, which) -> None:
    with np.errstate(all="ignore"):
        found = np.where(which(a[0], b[0]), yes[0], no[0])
        left, right, first, second = np.meshgrid(a[1], b[1], yes[1], no[1])
        holds(found, np.where(which(left, right), first, second).ravel())


@settings(max_examples=300)
@given(
    a=ranges(),
    b=ranges(),
    which=st.sampled_from([(np.less, np.isfinite), (np.equal, np.isinf), (np.greater, np.isnan)]),
)
def test_conditions_join_as_those_of_numbers_do(a, b, which) -> None:
    compare, test = which
    left, right = np.meshgrid(a[1], b[1])
    with np.errstate(all="ignore"):
        for join in (lambda x, y: x & y, lambda x, y: x | y, lambda x, y: x & ~y):
            found = np.where(join(compare(a[0], b[0]), test(a[0])), 1.0, 0.0)
            holds(found, np.where(join(compare(left, right), test(left)), 1.0, 0.0).ravel())


def test_bounds_are_as_tight_as_these_by_hand() -> None:
    x = Enclosure(np.array([1.0, -2.0]), np.array([4.0, 3.0]))
    with np.errstate(all="ignore"):
        cases = [
            (1 - 2 * x, [-7, -5], [-1, 5]),
            (x * x, [1, -6], [16, 9]),
            (6 / x, [1.5, np.nan], [6, np.nan]),
            (np.where(x > 0, x, 5.0), [1, -2], [4, 5]),
            (np.minimum(x, 2.0), [1, -2], [2, 2]),
            (np.abs(x), [1, 0], [4, 3]),
            (x**2.0, [1, 0], [16, 9]),
            (x**3, [1, -8], [64, 27]),
            (x**0.5, [1, np.nan], [2, np.nan]),
            (np.where((x > 0) & (x < 5), x, 7.0), [1, -2], [4, 7]),
            (np.clip(x, -1.0, 2.0), [1, -1], [2, 2]),
        ]
    for found, low, high in cases:
        np.testing.assert_allclose(found.low, low, rtol=1e-13)
        np.testing.assert_allclose(found.high, high, rtol=1e-13)


def test_what_cannot_be_bounded_is_refused() -> None:
    """Else a function that looks at its numbers would be bounded wrongly and silently."""
    x = Enclosure(np.zeros(2), np.ones(2))
    for wrong in (
        lambda: bool(x),
        lambda: bool(x > 0),
        lambda: float(x),
        lambda: np.asarray(x),
        lambda: x % 2,
        lambda: np.sin(x),
        lambda: np.any(x > 0),
        lambda: bool((x > 0) & (x < 1)),
        lambda: np.stack([x, x]),
        lambda: np.broadcast_arrays(x, x),
        lambda: np.add.reduce(x),
        lambda: np.add(x, x, out=np.zeros(2)),
        lambda: max(x, x),
        lambda: np.where(x, 1.0, 2.0),
    ):
        with pytest.raises(TypeError):
            wrong()
    assert isinstance(x > 2, Condition)


def test_an_endless_exponent_says_nothing_of_what_may_have_either_sign() -> None:
    found = np.power(Enclosure(np.array([-1.0, -0.5]), np.array([1.0, 0.5])), np.inf)
    assert np.isnan(found.low).all()
    known = np.power(Enclosure(np.array([0.25]), np.array([0.5])), np.inf)
    assert (known.low.item(), known.high.item()) == (0.0, 0.0)

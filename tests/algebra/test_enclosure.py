"""Bounds hold for every number that a range may stand for, as computed, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from dse.algebra.enclosure import UFUNCS, Condition, Enclosure

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-310, 1e300, 3.0]
COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
ARITHMETIC = [
    ufunc
    for ufunc in UFUNCS
    if ufunc not in (*COMPARISONS, np.isnan, np.isfinite, np.isinf, np.nextafter)
]
ROWS, POINTS = 2000, 40


def drawn(seed: int, count: int) -> list[tuple[Enclosure, np.ndarray]]:
    """Return columns: bounds (rows,) and numbers between them, the bounds included, (rows, n)."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        wild = rng.random((ROWS, 5)) < 0.5
        ends = np.where(wild, rng.choice(SPECIAL, (ROWS, 5)), rng.uniform(-1e3, 1e3, (ROWS, 5)))
        low, high = np.sort(ends[:, :2]).T[:, :, np.newaxis]
        inside = np.hstack([ends, np.broadcast_to([0.0, -0.0, 1.0, -1.0], (ROWS, 4))])
        inside = np.where((low <= inside) & (inside <= high), inside, low)
        picked = rng.integers(inside.shape[1], size=(ROWS, POINTS))
        numbers = np.take_along_axis(inside, picked, axis=1)
        found.append((Enclosure(low[:, 0], high[:, 0]), numbers))
    return found


def holds(found: Enclosure, values: np.ndarray) -> None:
    known = ~(np.isnan(found.low) | np.isnan(found.high))  # unknown is always right
    low, high = found.low[known, np.newaxis], found.high[known, np.newaxis]
    wrong = np.argwhere(~((low <= values[known]) & (values[known] <= high)))
    assert known.any()
    assert not len(wrong), (low[wrong[0, 0]], values[known][tuple(wrong[0])], high[wrong[0, 0]])


@pytest.mark.parametrize("ufunc", ARITHMETIC, ids=lambda ufunc: ufunc.__name__)
def test_bounds_of_a_function_hold(ufunc) -> None:
    columns = drawn(1, ufunc.nin)
    with np.errstate(all="ignore"):
        found = ufunc(*(interval for interval, _ in columns))
        holds(found, ufunc(*(numbers for _, numbers in columns)))


@pytest.mark.parametrize("which", COMPARISONS, ids=lambda ufunc: ufunc.__name__)
def test_bounds_of_a_choice_hold(which) -> None:
    a, b, yes, no = drawn(2, 4)
    with np.errstate(all="ignore"):
        found = np.where(which(a[0], b[0]), yes[0], no[0])
        holds(found, np.where(which(a[1], b[1]), yes[1], no[1]))


@pytest.mark.parametrize(
    ("compare", "test"), [(np.less, np.isfinite), (np.equal, np.isinf), (np.greater, np.isnan)]
)
def test_conditions_join_as_those_of_numbers_do(compare, test) -> None:
    a, b = drawn(3, 2)
    with np.errstate(all="ignore"):
        for join in (lambda x, y: x & y, lambda x, y: x | y, lambda x, y: x & ~y):
            found = np.where(join(compare(a[0], b[0]), test(a[0])), 1.0, 0.0)
            holds(found, np.where(join(compare(a[1], b[1]), test(a[1])), 1.0, 0.0))


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

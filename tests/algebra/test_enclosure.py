"""Bounds hold for every number that a range may stand for, as computed, bit by bit."""

from __future__ import annotations

from itertools import product

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


# No wider than must be: the extremes lie at ends of small whole ranges, of all pairs, or at 0.
inf, nan = np.inf, np.nan
ENDS = [(a, b) for a in range(-2, 4) for b in range(-2, 4) if a <= b]
PAIRS = [*product(ENDS, ENDS)]


def samples(low: float, high: float) -> list[float]:
    """The ends, what lies between them, and 0."""
    return [float(low), float(high), (low + high) / 2, *([0.0] if low <= 0 <= high else [])]


def enclosed(pairs) -> Enclosure:
    low, high = np.array(pairs, dtype=float).T
    return Enclosure(low, high)


ONE = (np.negative, np.positive, np.absolute, np.square, np.sign, np.ceil, np.floor, np.trunc)
TWO = (np.add, np.subtract, np.multiply, np.minimum, np.maximum)


@pytest.mark.parametrize("ufunc", [*ONE, np.rint, np.exp, np.exp2, np.expm1, np.cbrt])
def test_a_function_of_a_range_reaches_both_ends(ufunc) -> None:
    found = ufunc(enclosed(ENDS))
    values = [[ufunc(x) for x in samples(*ends)] for ends in ENDS]
    np.testing.assert_allclose(found.low, [min(row) for row in values], rtol=1e-13)
    np.testing.assert_allclose(found.high, [max(row) for row in values], rtol=1e-13)


@pytest.mark.parametrize("ufunc", [np.sqrt, np.log, np.log2, np.log10, np.log1p])
def test_a_function_of_a_positive_range_reaches_both_ends(ufunc) -> None:
    ends = [(a, b) for a, b in ENDS if a > 0]
    found = ufunc(enclosed(ends))
    np.testing.assert_allclose(found.low, [ufunc(low) for low, _ in ends], rtol=1e-13)
    np.testing.assert_allclose(found.high, [ufunc(high) for _, high in ends], rtol=1e-13)
    with np.errstate(all="ignore"):
        outside = ufunc(Enclosure(np.array([-2.0, 1.0]), np.array([1.0, 1.0])))
    assert np.isnan(outside.low).tolist() == np.isnan(outside.high).tolist() == [True, False]


@pytest.mark.parametrize("ufunc", [*TWO, np.true_divide, np.power])
def test_a_function_of_two_ranges_reaches_both_ends(ufunc) -> None:
    first, second = ([pair[side] for pair in PAIRS] for side in (0, 1))
    with np.errstate(all="ignore"):
        found = ufunc(enclosed(first), enclosed(second))
        grids = [product(samples(*one), samples(*other)) for one, other in PAIRS]
        values = [[float(ufunc(x, y)) for x, y in grid] for grid in grids]
    for row, ((a, b), (c, d)) in enumerate(PAIRS):
        if (ufunc is np.true_divide and c <= 0 <= d) or (ufunc is np.power and a <= 0):
            assert np.isnan(found.low[row])
            assert np.isnan(found.high[row])
        else:
            assert found.low[row] == pytest.approx(min(values[row]), rel=1e-13), ((a, b), (c, d))
            assert found.high[row] == pytest.approx(max(values[row]), rel=1e-13), ((a, b), (c, d))


@pytest.mark.parametrize(
    ("found", "low", "high"),
    [
        (lambda x, y: x + y, nan, nan),
        (lambda x, y: x - x, nan, nan),
        (lambda x, y: x + 1.0, 1, inf),
        (lambda x, y: x * 2.0, 0, inf),
        (lambda x, y: x * y, nan, nan),
        (lambda x, y: x * np.array([0.0]), nan, nan),
        (lambda x, y: np.array([0.0]) * x, nan, nan),
        (lambda x, y: 1.0 / (x + 1.0), 0, 1),
        (lambda x, y: (x + 1.0) / (x + 1.0), nan, nan),
        (lambda x, y: (x + 1.0) / 2.0, 0.5, inf),
        (lambda x, y: np.reciprocal(x + 2.0), 0, 0.5),
        (lambda x, y: (-1.0 - x) / 2.0, -inf, -0.5),
        (lambda x, y: np.array([inf]) + np.array([inf]) + x, inf, inf),
    ],
)
def test_endless_ranges_are_known_as_far_as_they_can_be(found, low, high) -> None:
    x = Enclosure(np.array([0.0]), np.array([inf]))
    with np.errstate(all="ignore"):
        got = found(x, -x)
    np.testing.assert_equal([got.low[0], got.high[0]], [low, high])


@pytest.mark.parametrize("ufunc", COMPARISONS)
def test_a_comparison_holds_or_fails_where_it_does_for_all(ufunc) -> None:
    first, second = ([pair[side] for pair in PAIRS] for side in (0, 1))
    found = ufunc(enclosed(first), enclosed(second))
    for row, (one, other) in enumerate(PAIRS):
        common = {*range(one[0], one[1] + 1)} & {*range(other[0], other[1] + 1)}
        points = [{*samples(*ends), *common} for ends in (one, other)]
        seen = {bool(ufunc(x, y)) for x, y in product(*points)}
        assert (found.holds[row], found.fails[row]) == (seen == {True}, seen == {False})


@pytest.mark.parametrize(
    ("ends", "finite", "infinite", "number"),
    [
        ((1, 2), "holds", "fails", "fails"),
        ((1, inf), "open", "open", "fails"),
        ((-inf, 1), "open", "open", "fails"),
        ((inf, inf), "fails", "holds", "fails"),
        ((-inf, -inf), "fails", "holds", "fails"),
        ((-inf, inf), "open", "open", "fails"),
        ((nan, nan), "open", "open", "open"),
        ((1, nan), "open", "open", "open"),
        ((nan, 1), "open", "open", "open"),
    ],
)
def test_what_is_known_of_being_a_number(ends, finite, infinite, number) -> None:
    x = enclosed([ends])
    for ufunc, wanted in ((np.isfinite, finite), (np.isinf, infinite), (np.isnan, number)):
        found = ufunc(x)
        assert (found.holds[0], found.fails[0]) == (wanted == "holds", wanted == "fails")


STATES = {True: (True, False), False: (False, True), None: (False, False)}
"""Certain, certainly not, and open."""


def condition(*states: bool | None) -> Condition:
    holds, fails = np.array([STATES[state] for state in states]).T
    return Condition(holds, fails)


def test_a_choice_takes_what_is_certain_and_else_both() -> None:
    yes, no = enclosed([(1, 2)] * 3), enclosed([(5, 7)] * 3)
    found = np.where(condition(True, False, None), yes, no)
    assert found.low.tolist() == [1, 5, 1]
    assert found.high.tolist() == [2, 7, 7]
    found = np.where(condition(None), no[:1], yes[:1])
    assert (found.low, found.high) == (1, 7)
    plain = np.where(np.array([True, False, True]), yes, no)
    assert plain.low.tolist() == [1, 5, 1]
    assert plain.high.tolist() == [2, 7, 2]


@pytest.mark.parametrize("exponent", [1, 2, 3, 4])
def test_whole_powers_reach_both_ends(exponent: int) -> None:
    found = enclosed(ENDS) ** float(exponent)
    values = [[x**exponent for x in samples(*ends)] for ends in ENDS]
    np.testing.assert_allclose(found.low, [min(row) for row in values], rtol=1e-13)
    np.testing.assert_allclose(found.high, [max(row) for row in values], rtol=1e-13)
    assert np.isnan((Enclosure(np.array([-inf]), np.array([1.0])) ** float(exponent)).low)

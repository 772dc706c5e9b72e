"""Fronts against oracles written apart."""

from __future__ import annotations

import math
from itertools import combinations

import moocore
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from dse.errors import ContractError
from dse.model import front, volume
from dse.model.front import bend, dominated, nondominated
from dse.model.volume import Volume, hypervolume, reference_point

SMALL = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6)
TIES = arrays(np.float64, SMALL, elements=st.integers(-2, 2).map(float))
WIDE = arrays(np.float64, SMALL, elements=st.floats(-1e300, 1e300))


def dominates(a, b):
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(
        x < y for x, y in zip(a, b, strict=True)
    )


def nondominated_by_definition(loss):
    return [not any(dominates(other, row) for other in loss) for row in loss.tolist()]


@given(TIES | WIDE)
def test_nondominated_is_what_the_definition_says(loss):
    assert nondominated(loss).tolist() == nondominated_by_definition(loss)


@given(TIES, st.randoms())
def test_the_front_does_not_depend_on_the_order_or_the_scale(loss, random):
    order = list(range(len(loss)))
    random.shuffle(order)
    assert (nondominated(loss[order]) == nondominated(loss)[order]).all()
    assert (nondominated(loss * 1e-9) == nondominated(loss)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_every_position_of_a_number_that_is_not_finite_is_refused(bad):
    for row in range(3):
        for column in range(2):
            loss = np.arange(6.0).reshape(3, 2)
            loss[row, column] = bad
            message = f"objective {column} of design {row} is {bad}; only finite losses"
            for function in (nondominated, bend, reference_point):
                with pytest.raises(ContractError, match=message):
                    function(loss)
            with pytest.raises(ContractError, match=message):
                hypervolume(loss, [9.0, 9.0])


def hypervolume_by_inclusion_exclusion(loss, reference):
    total = 0.0
    for size in range(1, len(loss) + 1):
        for rows in combinations(loss, size):
            edges = np.maximum(reference - np.max(rows, axis=0), 0.0)
            total -= (-1) ** size * np.prod(edges)
    return total


@settings(max_examples=60)
@given(TIES)
def test_hypervolume_is_the_volume_of_the_union_of_boxes(loss):
    reference = np.full(loss.shape[1], 1.5)
    expected = hypervolume_by_inclusion_exclusion(loss, reference)
    assert hypervolume(loss, reference).value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    best = np.full(loss.shape[1], -2.0)
    share = hypervolume(loss, reference, ideal=best).value
    assert share == pytest.approx(expected / 3.5 ** len(reference), rel=1e-12, abs=1e-12)
    assert 0.0 <= share <= 1.0 + 1e-12


def test_hypervolume_as_a_share_does_not_underflow():
    tiny = 1e-120
    loss = [[tiny, 2 * tiny, tiny]]
    ideal, reference = [0.0] * 3, [2 * tiny, 4 * tiny, 2 * tiny]
    assert hypervolume(loss, reference).value == 0.0
    assert hypervolume(loss, reference, ideal=ideal).value == 0.125
    with pytest.raises(ContractError, match="ideal point must be better than the reference"):
        hypervolume(loss, reference, ideal=reference)
    with pytest.raises(ContractError, match="a reference point of 2 numbers does not fit 3"):
        hypervolume(loss, reference[:2])


def test_reference_point_by_hand():
    # The first row dominates the others: only the front counts, and its range is 0.
    loss = [[0.0, -5.0, 0.0], [10.0, -5.0, 0.0], [99.0, 99.0, 99.0], [5.0, -5.0, 0.0]]
    assert reference_point(loss[:1] + loss[2:3]).tolist() == [1.0, -4.5, 1.0]
    assert reference_point(loss).tolist() == [1.0, -4.5, 1.0]
    assert reference_point([[0.0, 10.0], [5.0, 0.0]]).tolist() == [5.5, 11.0]
    # 10 % of a range of 2 vanishes beside 1e16.
    assert reference_point([[1e16, 1.0], [1e16 + 2, 0.0]])[0] > 1e16 + 2


@given(TIES | arrays(np.float64, SMALL, elements=st.floats(-1e300, 1e300)))
def test_every_point_of_the_front_counts_up_to_the_reference_point(loss):
    front = loss[nondominated(loss)]
    assert (front < reference_point(loss)).all()


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ([[0.0, 1.0], [0.2, 0.3], [0.5, 0.2], [1.0, 0.0]], 1),
        ([[0.0, 1e9], [200e-9, 0.3e9], [1000e-9, 0.0]], 1),
        ([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], 0),
        ([[0.1, 0.2, 1.0], [1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.3, 0.2]], 3),
        ([[0.3, 0.1, 1.0], [0.1, 0.3, 0.0], [0.3, 0.1, 0.0]], 1),
        ([[0.0, 1.0], [1.0, 0.0], [0.1, 0.2], [0.25, 0.05]], 2),  # 0.1 + 0.2 ties with 0.3
        ([[7.0, 7.0]], 0),
        ([[2.0, 1.0], [1.0, 2.0]], 0),
        ([[5.0, 3.0], [5.0, 3.0]], 0),
        ([[3.0], [3.0]], 0),
    ],
)
def test_knee_by_hand(loss, expected):
    assert np.argmin(bend(loss)) == expected


def test_an_empty_front_has_no_knee_and_no_reference_point():
    for function in (bend, reference_point):
        with pytest.raises(ContractError, match="an empty front has neither"):
            function(np.empty((0, 2)))
    with pytest.raises(ContractError, match="at least one objective, not in the shape"):
        nondominated(np.empty((4, 0)))


@pytest.mark.parametrize("levels", [4, 1000, 10**9])
@pytest.mark.parametrize("tilt", [0.0, -1.0])
def test_many_rows_are_filtered(levels, tilt):
    """Ties, duplicates, both kinds of data."""
    random = np.random.default_rng(levels)
    loss = random.integers(0, levels, (17_000, 3)).astype(float)
    loss[:, 2] += tilt * (loss[:, 0] + loss[:, 1])
    best = {tuple(row) for row in loss.tolist()}
    unique = np.array(sorted(best))
    kept = {tuple(row) for row in unique[moocore.is_nondominated(unique)].tolist()}
    expected = np.array([tuple(row) in kept for row in loss.tolist()])
    assert np.array_equal(nondominated(loss), expected)


@given(st.integers(1, 4), st.data())
def test_what_a_front_dominates_is_what_the_definition_says(objectives, data):
    """Of any rows, which need not be a front, in any order, with equals and ties."""

    def rows(most):
        shape = st.tuples(st.integers(0, most), st.just(objectives))
        return data.draw(arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)))

    loss, front_loss = rows(8), rows(6)
    expected = [any(dominates(by, row) for by in front_loss.tolist()) for row in loss.tolist()]
    assert front.dominated(loss, front_loss).tolist() == expected
    left = [row for row, gone in enumerate(expected) if not gone]
    assert front.nondominated_by(loss, front_loss).tolist() == left
    for by in front_loss:
        alone = [dominates(by.tolist(), row) for row in loss.tolist()]
        assert front.dominated_by_point(loss, by).tolist() == alone


@pytest.mark.parametrize("objectives", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("levels", [3, 12, 10**9])
def test_dominated_is_what_the_definition_says(objectives, levels, monkeypatch):
    """Also by rows that another row of the front dominates, beside equal and endless bounds."""
    monkeypatch.setattr("dse.model.front.MANY", 40)
    monkeypatch.setattr("dse.model.front.SHARE", 1)
    random = np.random.default_rng(levels)
    for count in (1, 40, 300):
        front = random.integers(0, levels, (count, objectives)).astype(float)
        loss = random.integers(0, levels, (200, objectives)).astype(float)
        loss[:50] = front[random.integers(0, count, 50)]
        loss[50:60, 0] = front[:, 0].max() + 1
        loss[60:90, 0], loss[80:110, -1], loss[110:120, 0] = -np.inf, np.inf, np.nan
        no_worse = (front[None] <= loss[:, None]).all(axis=2)
        right = (no_worse & (front[None] < loss[:, None]).any(axis=2)).any(axis=1)
        assert dominated(loss, front).tolist() == right.tolist()


# Hypervolumes that would take too much work are estimated, with an error that is true


def plane(rows: int, objectives: int) -> np.ndarray:
    """Rows none of which dominates another."""
    points = np.random.default_rng(3).random((rows, objectives))
    return points / points.sum(axis=1, keepdims=True)


def test_an_exact_volume_has_no_error():
    for rows, objectives in ((30, 8), (5_000, 3), (5_000, 4)):
        found = hypervolume(plane(rows, objectives), np.ones(objectives))
        assert found.error == 0.0
        assert 0.0 < found.value < 1.0


def test_too_much_work_is_estimated_the_same_every_time():
    points = plane(400, 8)
    found = hypervolume(points, np.ones(8))
    assert found == hypervolume(points, np.ones(8))
    assert 0.0 < found.error < 0.01 * found.value
    best = np.zeros((1, 8))  # one row is the front, which is little work
    assert hypervolume(np.vstack([points, best]), np.ones(8)) == Volume(1.0)


@pytest.mark.parametrize("objectives", [4, 6, 8])
def test_an_estimate_lies_within_its_error_of_the_exact_volume(objectives, monkeypatch):
    points, corner = plane(60, objectives), np.full(objectives, 1.2)
    exact = hypervolume(points, corner).value
    monkeypatch.setattr(volume, "MOST_EXACT_WORK", 0)
    found = hypervolume(points, corner)
    assert 0.0 < found.error < 0.005 * exact
    assert abs(found.value - exact) < 3.5 * found.error


def test_the_stated_error_is_that_of_repeated_estimates(monkeypatch):
    """With few directions the errors of 60 fronts are a standard normal sample, nearly."""
    scores = []
    for seed in range(60):
        points = np.random.default_rng(seed).random((20, 5))
        exact = hypervolume(points, np.ones(5)).value
        with monkeypatch.context() as patch:
            patch.setattr(volume, "MOST_EXACT_WORK", -1)
            patch.setattr(volume, "MOST_DIRECTIONS", 128)
            found = hypervolume(points, np.ones(5))
        scores.append((found.value - exact) / found.error)
    assert 0.6 < math.sqrt(np.mean(np.square(scores))) < 1.6


def test_the_share_of_an_estimate_has_both_errors():
    assert Volume(0.5, 0.01).share_of(Volume(0.5, 0.01)) == Volume(1.0)
    assert Volume(0.25).share_of(Volume(0.5)) == Volume(0.5)
    share = Volume(0.4, 0.03).share_of(Volume(0.5, 0.05))
    assert share == Volume(0.8, pytest.approx(0.1, rel=1e-14))  # hypot(0.03, 0.04) / 0.5

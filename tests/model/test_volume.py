"""Hypervolumes that would take too much work are estimated, with an error that is true."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dse.model import volume
from dse.model.volume import Volume, hypervolume


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

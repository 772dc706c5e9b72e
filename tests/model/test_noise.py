"""Probabilities between noisy means are those of simulated measurements; what they fold."""

from __future__ import annotations

import numpy as np
import pytest

from dse.model.repeats import chance_less, folded


@pytest.mark.parametrize("repeats", [3, 10])
def test_the_better_of_two_is_so_as_often_as_is_said(repeats: int) -> None:
    random, pairs = np.random.default_rng(repeats), 40_000
    true = random.normal(0, 3, (2, pairs))
    seen = true + random.normal(0, 1, (repeats, 2, pairs))
    mean, error = seen.mean(axis=0), seen.std(axis=0, ddof=1) / repeats**0.5
    chance = chance_less(mean[1] - mean[0], error[0], error[1], repeats=repeats)
    right, said = (true[0] < true[1]), chance
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        some = (said >= low) & (said <= high)
        spread = np.sqrt((said[some] * (1 - said[some])).sum()) / some.sum()
        off = right[some].mean() - said[some].mean()
        assert off * np.sign(said[some].mean() - 0.5) > -3 * spread  # never too sure
        assert abs(off) < 3 * spread + (0.03 if repeats == 3 else 0.005)


def test_probabilities_without_noise_or_gap_and_with_one_standard_error() -> None:
    found = chance_less([1.0, -1.0, 0.0, 0.0], 0.0, [0.0, 0.0, 0.0, 1.0], repeats=3)
    assert found.tolist() == [1.0, 0.0, 0.5, 0.5]
    # Student's t with 2 degrees of freedom: F(t) = 1/2 + t / (2 sqrt(2 + t^2))
    assert chance_less(2.0, 1.0, 0.0, repeats=3) == pytest.approx(0.5 + 1 / 6**0.5)
    # and with 4, F(t) = 1/2 + (3/8) s (1 - s^2 / 12), s = t / sqrt(1 + t^2 / 4)
    s = 2**0.5 / 1.5**0.5
    expected = 0.5 + 0.375 * s * (1 - s**2 / 12)
    assert chance_less(2.0, 1.0, 1.0, repeats=3) == pytest.approx(expected)


def test_designs_stand_for_those_that_are_alike_in_every_objective() -> None:
    values = {"area": np.array([1.0, 1.0, 1.0, 9.0]), "time": np.array([5.0, 5.1, 4.9, 5.0])}
    errors = {"time": np.full(4, 0.2)}
    assert folded(values, errors, [2], repeats=3) == {2: 2, 3: 0}
    assert folded(values, {}, [2], repeats=3) == {2: 0, 0: 0, 1: 0, 3: 0}

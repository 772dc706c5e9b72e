"""Parts of a search of expensive designs, each held to its law or to an oracle written apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from dse.search.expensive import process as processes
from dse.search.expensive.features import Features, straight
from dse.search.expensive.process import ModelledLosses, Process, fitted
from dse.search.expensive.search import Chances, _scaled
from tests.search.test_expensive import conditioned, data
from tests.search.test_search import Synthetic


def generator(seed=1):
    return np.random.default_rng(seed)


# Scales ----------------------------------------------------------------------------------------


def test_a_choice_is_a_point_of_a_simplex_and_many_values_are_a_line():
    sizes, ordered = (3, 1, 4, 33, 32), (True, True, False, False, False)
    features = Features(Synthetic(sizes, lambda i: i[:, :1], ordered=ordered))
    (found,) = features.of(np.array([[1, 0, 2, 8, 31]]))
    assert found[:5].tolist() == [0.5, 0.0, 1.0, 0.0, 8 / 32]
    assert found[5:].tolist() == [0.0] * 30 + [1.0]
    alone = Features(Synthetic((1, 1), lambda i: i[:, :1]))
    assert alone.of(np.zeros((3, 2), dtype=int)).tolist() == [[0.0]] * 3


def test_losses_are_straightened_by_logarithms_as_far_as_there_are_any():
    assert straight(np.array([1.0, 9.0]))(np.array([math.e])) == pytest.approx([1.0])
    assert straight(np.array([-1.0, -9.0]))(np.array([-math.e])) == pytest.approx([-1.0])
    both = straight(np.array([-2.0, 0.0, 1.0, 4.0, 4.0]))  # the median size is 3
    assert both(np.array([3.0])) == pytest.approx([math.asinh(1)])
    assert straight(np.zeros(2))(np.array([1.0])) == pytest.approx([math.asinh(1)])


def test_violations_are_numbers_where_they_tell_more_than_yes_or_no():
    number = np.array([-2.0, 0.0, 1.0, 1.0, 8.0, 8.0, np.inf, np.inf])  # the median size is 2
    rows, values = _scaled(number)
    assert rows.tolist() == [True] * 6 + [False] * 2
    assert values == pytest.approx(np.arcsinh(number[:6] / 2))
    rows, values = _scaled(np.array([0.0, 0.5, np.inf]))
    assert (rows.all(), values.tolist()) == (True, [-1.0, 1.0, 1.0])
    assert _scaled(np.array([-1.0, 0.0, 2.0]))[1] == pytest.approx(np.arcsinh([-2 / 3, 0, 4 / 3]))


# The process -----------------------------------------------------------------------------------


def test_the_loss_of_parameters_is_the_posterior_of_the_textbook():
    """Rasmussen and Williams 2006, eqs. 4.17 and 5.8, with a log-normal prior of the lengths."""
    features, values = data(12)

    def oracle(at):
        lengths, s = np.exp(at[:3]), math.exp(at[3])
        r = [
            [math.sqrt(5) * math.dist(a / lengths, b / lengths) for b in features] for a in features
        ]
        kernel = [[s * (1 + x + x * x / 3) * math.exp(-x) for x in row] for row in r]
        noise = (math.exp(at[4]) + 1e-8 * s) * np.eye(12)
        likely = multivariate_normal.logpdf(values, cov=np.array(kernel) + noise)
        return -likely - norm.logpdf(at[:3], math.log(0.7), 1.5).sum()

    one, two = np.array([-0.3, 0.2, 0.9, -0.5, -3.0]), np.array([0.6, -0.9, 0.1, 0.4, -2.0])
    squares = (features[:, None] - features[None]) ** 2
    found = [processes._loss(at, squares, values)[0] for at in (one, two)]
    assert found[0] - found[1] == pytest.approx(oracle(one) - oracle(two), rel=1e-9)


def test_the_gradient_knows_of_the_noise_that_is_always_there():
    """Two designs are one, and all that tells them apart is this noise."""
    features, values = data(12)
    features[1], values[1] = features[0], values[0] + 3e-4
    squares = (features[:, None] - features[None]) ** 2
    at, step = np.array([-0.3, 0.2, 0.9, -0.5, -25.0]), 1e-3
    found = processes._loss(at, squares, values)[1]
    for k in range(5):
        ends = [
            processes._loss(at + way * np.eye(5)[k], squares, values)[0] for way in (step, -step)
        ]
        assert found[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-3, abs=1e-3)


def test_means_are_those_of_the_textbook_however_many_are_asked_for():
    features, values = data()
    process = fitted(features, values)
    others = generator().random((2 * processes.BLOCK + 3, 3))
    at = [0, processes.BLOCK - 1, processes.BLOCK, len(others) - 1]
    kernel = process.between(others[at], features)
    covariance = process.between(features, features) + process.noise * np.eye(25)
    exact = values.mean() + kernel @ np.linalg.solve(covariance, values - values.mean())
    assert process.mean(others)[at] == pytest.approx(exact, rel=1e-6)
    assert process.mean(others[:0]).shape == (0,)


def test_a_design_is_no_distance_from_itself_however_it_is_rounded():
    features = generator().random((50, 7))
    parameters = np.r_[np.full(7, -2.5), math.log(3.0), 0.0]
    process = Process(features, 0.0, parameters, np.eye(50), np.zeros(50))
    assert np.diag(process.between(features, features)) == pytest.approx(3.0, rel=1e-6)


def test_what_never_changes_is_expected_everywhere():
    features, _ = data()
    assert fitted(features, np.full(25, 7.0)).mean(features) == pytest.approx(7.0)


def test_noise_is_at_most_the_share_that_is_asked_for():
    features = data(40)[0]
    values = generator().standard_normal(40)  # nothing but noise
    limited = fitted(features, values, noise=0.02).noise / values.var()
    assert limited == pytest.approx(0.02, rel=1e-3)
    assert fitted(features, values).noise > 0.5 * values.var()


# What is expected --------------------------------------------------------------------------------


def test_a_chance_is_that_of_errors_as_large_as_when_a_design_is_left_out():
    features, values = data()
    rough = 3.0 * generator().standard_normal(25)
    met = -generator().integers(0, 2, 25).astype(float)
    violation = np.stack([values - values.mean(), rough, met], axis=1)
    chances = Chances()
    chances.learn(features, violation)
    asked, expected, errors = data(9, seed=5)[0], np.ones(9), []
    for column in violation[:, :2].T:
        scaled = np.arcsinh(column / np.median(np.abs(column)))
        process = fitted(features, scaled, noise=0.02)
        missed = []
        for row in range(25):
            rest = np.arange(25) != row
            without = conditioned(process, features[rest], scaled[rest])
            without = Process(**{**vars(without), "constant": process.constant})
            missed.append(scaled[row] - without.mean(features[row : row + 1])[0])
        errors.append(max(math.sqrt(np.mean(np.square(missed))), 0.2))
        expected *= norm.cdf(-process.mean(asked) / errors[-1])
    assert min(errors) == 0.2 < max(errors)
    assert chances.of(asked) == pytest.approx(expected, rel=1e-4)
    assert len(chances._parts) == 2  # what every design meets tells nothing


def test_up_to_four_constraints_count_each_and_more_of_them_together():
    features, values = data()
    one = (values - values.mean())[:, None]
    chances = Chances()
    chances.learn(features, one)
    alone = chances.of(features)
    chances.learn(features, np.repeat(one, 4, axis=1))
    assert chances.of(features) == pytest.approx(alone**4, rel=1e-5)
    places = np.linspace(0, 1, 24)[:, None]
    each = np.where(np.arange(24)[:, None] // 4 == np.arange(5), 1.0, -1.0)  # the last are met
    chances.learn(places, each)
    assert (chances.of(places) > 0.5).tolist() == [False] * 20 + [True] * 4


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_model_that_is_far_off_at_times_is_not_trusted_on_either_side(sign):
    features, values = data(40)
    loss = np.exp(values)[:, None]
    off = loss * np.exp(sign * np.where(np.arange(40) % 8 == 0, 4.0, 0.0))[:, None]
    objectives = ModelledLosses()
    objectives.learn(features, loss, off)
    assert objectives.known[0].slope == 0
    objectives.learn(features, loss, loss * 2.0)
    assert objectives.known[0].slope != 0


def test_where_nothing_is_expected_of_a_design_it_is_taken_for_a_typical_one():
    features, values = data()
    loss = np.stack([np.exp(values), 2.0 + values], axis=1)
    wrong = np.exp(3 * generator().standard_normal(25))
    objectives = ModelledLosses()
    objectives.learn(features, loss, np.stack([3 * loss[:, 0], wrong], axis=1))
    assert [one.slope != 0 for one in objectives.known] == [True, False]
    asked = data(4, seed=5)[0]
    prior = np.array([[2.0, 1.0], [8.0, 1.0], [4.0, 1.0], [np.nan, 1.0]])
    found = objectives.mean(asked, np.arange(4)[:, None], lambda index: prior[index[:, 0]])
    means = np.stack([one.process.mean(asked) for one in objectives.known], axis=1)
    typical = np.log([2.0, 8.0, 4.0, 4.0])
    assert found[:, 0] == pytest.approx(means[:, 0] + typical)
    assert found[:, 1] == pytest.approx(means[:, 1])

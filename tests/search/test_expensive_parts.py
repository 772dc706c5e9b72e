"""Parts of a search of expensive designs, each held to its law or to an oracle written apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from dse.search.expensive import process as processes
from dse.search.expensive.features import Features
from dse.search.expensive.process import Process, fitted
from dse.search.expensive.search import Chances
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

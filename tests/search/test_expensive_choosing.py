"""How a search of expensive designs chooses, held to laws and to oracles written apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dse.search.archive import Archive
from dse.search.expensive.choosing import (
    Believer,
    expected_improvement,
    explore,
)
from dse.search.expensive.process import ModelledLosses
from dse.search.expensive.search import improve
from tests.search.test_expensive import conditioned, data, searched, smooth
from tests.search.test_expensive_parts import generator

# What is chosen ----------------------------------------------------------------------------------


def batch(observed, mean, span, count):
    """Return what a batch holds and what it should: each the best, were those before it seen."""
    features, values = data()
    loss = np.stack([np.exp(values), np.exp(features[:, 2] - features[:, 0])], axis=1)
    objectives = ModelledLosses()
    objectives.learn(features, loss)
    pool, chance = data(len(mean), seed=5)[0], generator().uniform(0.2, 1.0, len(mean))
    found = (
        Believer(objectives, pool, mean, span, chance).choose(observed, count, generator()).tolist()
    )
    expected, front = [], observed
    while len(expected) < count:
        seen = np.concatenate([features, pool[expected]])
        known = [conditioned(o.process, seen, np.zeros(len(seen))) for o in objectives.known]
        variance = [one.variance - (one.whitened(pool) ** 2).sum(axis=0) for one in known]
        deviation = np.sqrt(np.stack(variance, axis=1))
        merit = chance * expected_improvement(mean, deviation / span, front, np.full(2, 1.1))
        if not merit.any():
            merit = chance * deviation[:, 0] * deviation[:, 1]
        merit[expected] = -1
        expected.append(int(merit.argmax()))
        front = np.vstack([front, mean[expected[-1]]])
    return found, expected


def test_a_batch_is_chosen_as_if_each_design_of_it_had_been_seen():
    observed = np.array([[0.0, 1.0], [0.3, 0.5], [1.0, 0.0]])
    mean = generator(2).uniform(0.1, 1.0, (30, 2))
    found, expected = batch(observed, mean, np.array([0.5, 2.0]), 6)
    assert found == expected
    assert len({*found}) == 6


def test_where_no_design_is_expected_to_gain_the_least_known_is_tried():
    found, expected = batch(np.full((1, 2), -1e4), np.zeros((12, 2)), np.ones(2), 4)
    assert found == expected
    assert len({*found}) == 4


def test_exploring_goes_where_a_design_is_likely_and_far_from_what_was_seen():
    features, chance = generator().random((60, 3)), generator(2).random(60)
    seen = generator(3).random((4, 3))
    found = explore(features, seen, chance, generator(), 60)
    left, near = [*range(60)], [*seen]
    for row in found.tolist():
        merit = {one: chance[one] * min(math.dist(features[one], p) for p in near) for one in left}
        assert merit[row] == pytest.approx(max(merit.values()), rel=1e-9)
        left.remove(row)
        near.append(features[row])
    assert not left
    assert len(explore(features, seen, chance, generator(), 99)) == 60
    first, second = explore(features, seen[:0], chance, generator(), 2)
    assert first == chance.argmax() != second


# The designs that are compared -------------------------------------------------------------------


# The first designs -------------------------------------------------------------------------------


def test_the_unit_of_a_loss_makes_no_difference_nor_does_its_power():
    designs = []
    for factor, power in ((1.0, 1), (1e6, 1), (1e-9, 2)):
        problem = smooth()
        losses = problem.losses
        problem.losses = lambda i, f=factor, p=power, of=losses: f * of(i) ** p
        designs.append(searched(problem, budget=40)[1].tolist())
    assert designs[0] == designs[1] == designs[2]


def test_batches_are_no_larger_than_asked_for():
    class Counting(Archive):
        def evaluate(self, index):
            counts.append(len(index))
            return super().evaluate(index)

    counts = []
    archive = Counting(smooth(), total=22)
    improve(archive, seed=1, population=4, candidates=500)
    assert counts == [4, 4, 3, 4, 4, 3]  # half of them first

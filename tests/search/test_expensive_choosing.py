"""How a search of expensive designs chooses, held to laws and to oracles written apart."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from dse.search.archive import Archive
from dse.search.expensive import search as loop
from dse.search.expensive.choosing import (
    Believer,
    _best,
    _fewer,
    boxes,
    expected_improvement,
    explore,
    goals,
    shortlist,
)
from dse.search.expensive.features import Features
from dse.search.expensive.pool import Drawn, Whole, _neighbours
from dse.search.expensive.process import ModelledLosses
from dse.search.expensive.search import _first, _Seen, improve
from tests.search.test_expensive import conditioned, data, searched, smooth
from tests.search.test_expensive_parts import generator
from tests.search.test_search import Synthetic, everything, oracle_front

# What is chosen ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objectives", "most"), [(2, 1_000), (3, 200), (4, 24), (5, 12), (6, 8), (9, 8)]
)
def test_of_a_long_front_so_many_points_count_from_end_to_end(objectives, most):
    front = generator().random((most + 7, objectives))
    kept = _fewer(front)
    assert len(np.unique(kept, axis=0)) == len(kept) == most
    assert (kept[[0, -1]] == front[[0, -1]]).all()
    assert _fewer(front[:most]).tolist() == front[:most].tolist()


def test_what_is_open_has_no_low_end():
    front = generator().random((9, 3))
    low, high = boxes(front, np.ones(3)).transpose(1, 0, 2)
    assert (low.min(axis=0) == -np.inf).all()
    assert (high.max(axis=0) == 1.0).all()


def test_goals_are_those_of_fronts_that_span_some_of_what_is_feasible():
    observed = np.array([[0.0, 8.5], [0.5, 8.0], [9.0, 9.0], [10.0, 18.0]])
    far = np.array([[-1.0, -1.0]])
    assert goals(observed, far, np.array([0.2]))[0].tolist() == [0.0, 8.0]  # above 0.2 is likely
    low, span = goals(observed, np.array([[-1.0, 9.5]]), np.array([0.3]))
    assert (low.tolist(), span.tolist()) == ([-1.0, 8.0], [1.5, 1.5])
    low, span = goals(observed, np.zeros((0, 2)), np.zeros(0))
    assert low.tolist() == [0.0, 8.0]
    assert span == pytest.approx([10.0, 10.0])  # 0.5 is too little of 10
    assert (goals(observed[:1], far[:0], np.zeros(0))[1] > 0).all()  # of one design, too


def test_what_is_best_is_not_decided_by_rounding_or_by_order():
    random = generator()

    def taken(*merit):
        return {_best(np.array(merit), random) for _ in range(40)}

    assert taken(1.0, 1.0 + 3e-10) == {0, 1}
    assert taken(1.0, 1.0 + 3e-9) == {1}
    assert taken(1e-12, 2e-12, -1.0) == {1}
    assert taken(-1.0, 0.0) == {1}
    assert taken(0.0, 0.0, -1.0) == {0, 1}


def test_a_knob_that_makes_no_difference_is_not_pushed_to_its_ends():
    """The posterior is widest there, and the best are at its ends; any place is as good."""
    random = generator()
    seen, grid = random.random((30, 2)), np.linspace(0, 1, 11)
    loss = np.stack([np.exp(3 * seen[:, 0]), np.exp(-np.sin(3 * seen[:, 0]))], axis=1)
    objectives = ModelledLosses()
    objectives.learn(seen, loss, np.full((30, 2), np.nan))
    assert [one.process.idle.tolist() for one in objectives.known] == [[False, True]] * 2
    pool = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    mean = np.stack([one.process.mean(pool) for one in objectives.known], axis=1)
    believer = Believer(objectives, pool, mean, np.ones(2), np.ones(len(pool)))
    front = objectives.straightened(loss)
    places = [pool[believer.choose(front, 1, random)[0], 1] for _ in range(60)]
    assert np.isin(places, [0.0, 1.0]).mean() < 0.4  # 2 of 11 by chance
    assert len({*places}) > 6


def batch(observed, mean, span, count):
    """Return what a batch holds and what it should: each the best, were those before it seen."""
    features, values = data()
    loss = np.stack([np.exp(values), np.exp(features[:, 2] - features[:, 0])], axis=1)
    objectives = ModelledLosses()
    objectives.learn(features, loss, np.full((25, 2), np.nan))
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


def test_the_likeliest_of_many_are_always_compared():
    features, chance = generator().random((4_001, 2)), np.full(4_001, 1e-9)
    likely = np.arange(7, 4_000, 400)
    chance[likely] = 1.0
    found = explore(features, features[:1], chance, generator(), len(likely))
    assert sorted(found.tolist()) == likely.tolist()
    mean = np.full((4_001, 2), 0.5)
    best = likely + 1
    mean[best] = 0.0
    rows = shortlist(mean, chance, generator()).tolist()
    assert {*likely.tolist(), *best.tolist()} <= {*rows}
    assert rows == sorted({*rows})
    assert 1_500 <= len(rows) < 4_000
    assert shortlist(mean[1:], chance[1:], generator()).tolist() == [*range(4_000)]


def test_of_many_designs_the_likelier_ones_are_worth_more():
    mean, chance = np.full((5_000, 2), 0.45), np.full(5_000, 0.1)
    mean[:400], chance[:400] = 0.9, 1.0  # the likeliest are no good
    mean[400:420], chance[400:420] = 0.5, 0.9
    assert {*range(400, 420)} <= {*shortlist(mean, chance, generator()).tolist()}


# The designs that are compared -------------------------------------------------------------------


def test_a_whole_space_gives_the_nearest_designs_and_forgets_those_seen():
    axes = smooth(sizes=(4, 3, 3))
    index, features = everything(axes.sizes), Features(axes)
    pool = Whole(generator().permutation(index), features)
    assert pool.index.tolist() == index.tolist()
    wanted = np.array([[3, 1, 0], [3, 1, 0], [0, 0, 1]])
    found = pool.nearest(wanted, 9)
    assert found[[0, 2]].tolist() == wanted[[0, 2]].tolist()
    distance = ((features.of(index) - features.of(wanted[:1])) ** 2).sum(axis=1)
    second = ((features.of(found[1:2]) - features.of(wanted[:1])) ** 2).sum()
    assert second == np.sort(distance)[1]
    assert len(pool.nearest(wanted, 2)) == 2
    assert len(np.unique(pool.nearest(np.repeat(wanted[:1], 5, axis=0), 9), axis=0)) == 5
    assert len(np.unique(pool.nearest(np.concatenate([index, index]), 99), axis=0)) == 36
    seen = index[[0, 5, 9]]
    for count in (2, 3):
        left = pool.refresh(seen[:count], seen[:0], generator())
        assert {*map(tuple, left.tolist())} == {*map(tuple, index.tolist())} - {
            *map(tuple, seen[:count].tolist())
        }
        assert pool.features.tolist() == features.of(left).tolist()


def near_to(front, sizes, ordered, count, seed=1):
    axes = Synthetic(sizes, lambda i: i[:, :1], ordered=ordered)
    return _neighbours(axes, np.array([front]), generator(seed), count)


def test_neighbours_differ_on_one_axis_or_two_near_or_anywhere():
    front = np.array([500, 500, 500, 500])
    moved = near_to(front, (1_001,) * 4, (True, True, True, False), 4_000) - front
    changed = (moved != 0).sum(axis=1)
    assert changed.max() == 2
    two = (changed == 2).sum() / (changed > 0).sum()
    assert 0.25 < two < 0.5
    alone = moved[changed == 1]
    for axis in range(4):
        steps = alone[alone[:, axis] != 0, axis]
        assert steps.min() < -400
        assert steps.max() > 400
        near = {*range(-4, 5)} & {*steps.tolist()}
        assert ({-2, -1, 1, 2} <= near) == (axis < 3)  # of a choice none is nearer
        assert near <= {-4, -3, -2, -1, 1, 2, 3, 4}


def test_neighbours_reach_the_ends_of_an_axis_and_stay_inside():
    for place, end in ((1, 0), (998, 999)):
        found = near_to([place], (1_000,), (True,), 40)[:, 0]
        assert end in found
        assert 0 <= found.min() <= found.max() <= 999
        assert {*found[abs(found - place) <= 3].tolist()} <= {*range(place - 2, place + 3)}
    assert near_to([1], (3,), (False,), 60)[:, 0].tolist() == [0, 1, 2]


def test_of_a_large_space_new_designs_are_drawn_at_most_half_of_them_near_the_front():
    problem = Synthetic((50,) * 4, lambda i: i[:, :1] + 1.0)
    archive = Archive(problem, total=100)
    pool = Drawn(archive, Features(problem), 200, generator())
    assert 190 < len(pool.index) <= 200
    wanted = np.array([[3, 3, 3, 3], [1, 1, 1, 1], [3, 3, 3, 3], [2, 2, 2, 2]])
    assert pool.nearest(wanted, 9).tolist() == [[3] * 4, [1] * 4, [2] * 4]
    assert pool.nearest(wanted, 2).tolist() == [[3] * 4, [1] * 4]
    front = np.full((1, 4), 25)
    near = _neighbours(archive, front, generator(2), 100)
    archive.evaluate(near[:40])
    found = pool.refresh(near[:40], front, generator(2))
    assert 190 < len(found) <= 200
    assert not archive.seen(found).any()
    assert ((found != 25).sum(axis=1) <= 2).sum() == len(near[~archive.seen(near)])


# The first designs -------------------------------------------------------------------------------


def test_a_design_counts_as_feasible_if_all_is_met_and_nothing_failed():
    violation = np.array([[0.0, -1.0], [-1.0, 0.5], [0.5, 0.5], [-1.0, -1.0], [-1.0, -1.0]])
    loss = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, np.nan], [np.inf, 2.0]])
    seen = _Seen(np.zeros((5, 1), dtype=int), loss, violation)
    assert seen.feasible.tolist() == [True, False, False, False, False]
    assert seen.finite.tolist() == [True, True, True, False, False]


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


def test_a_space_is_enumerated_up_to_the_number_of_candidates(monkeypatch):
    drawn = []
    monkeypatch.setattr(loop, "Drawn", lambda *a: drawn.append(a) or Drawn(*a))
    for candidates in (500, 499):
        improve(Archive(smooth(), total=6), seed=1, population=4, candidates=candidates)
        assert len(drawn) == 500 - candidates


def beginning(room, *, expected=None):
    """Return the first designs, what is expected of a design being its losses or nothing."""

    class Door(Archive):
        def expected(self, index):
            return super().expected(index) if expected is None else expected(index)

    problem = smooth()
    search = Door(problem, total=room)
    pool = Whole(everything(problem.sizes), Features(problem))
    return _first(search, pool, generator()).tolist()


def test_a_search_begins_with_the_expected_front_then_the_ends_then_between():
    problem = smooth()
    front, loss = oracle_front(problem)
    order = front[np.argsort(loss[:, 0])].tolist()

    def expected(index):
        found = problem.losses(index)
        found[(index == order[0]).all(axis=1), 1] = np.nan  # of one design not all is expected
        return found

    rows = beginning(60, expected=expected)
    assert rows[0] == order[1]
    assert rows[7] == order[-1]
    places = [order.index(row) for row in rows[:8]]
    steps = [b - a for a, b in pairwise(places)]
    assert max(steps) - min(steps) <= 1 <= min(steps)
    short = beginning(60, expected=lambda i: (i - [[3, 4, 1]]) ** 2.0 + 1)
    assert short[0] == [3, 4, 1]
    ends = beginning(60)
    assert short[1:3] == ends[:2]  # what is short is not filled up
    assert ends[0][:2] == [0, 0]
    assert ends[1][:2] == [9, 9]
    assert rows[8:10] == ends[:2]
    assert len(ends) == len(rows) - 8 == 12


@pytest.mark.parametrize(("room", "count"), [(3, 3), (4, 4), (7, 4), (9, 4), (11, 5), (16, 8)])
def test_the_first_designs_are_at_most_half_of_all(room, count):
    assert len(beginning(room)) == count

"""Cheaper levels of a search of expensive designs: what is learnt of them, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from dse.contract import Index, Matrix
from dse.search.archive import Archive
from dse.search.expensive.choosing import together
from dse.search.expensive.features import Features, straight
from dse.search.expensive.levels import LEAST, LevelModel, Levels
from dse.search.expensive.pool import Whole
from dse.search.expensive.process import ModelledLosses, _slope
from dse.search.expensive.search import improve
from tests.search.test_expensive import everything, found_after, smooth


class Rung:
    """A cheaper level that lists what it measured."""

    def __init__(self, cost_share: float, law) -> None:
        self.cost_share, self.law = cost_share, law
        self.done: list[list[int]] = []

    def losses(self, index: Index) -> Matrix:
        self.done += index.tolist()
        return self.law(index)


def searched(problem, *rungs: Rung, budget: int = 40, seed: int = 1):
    class Door(Archive):
        levels = rungs

    archive = Door(problem, total=budget)
    improve(archive, seed=seed, population=4, candidates=10_000)
    return np.array(problem.seen)


def skewed(problem):
    """Return a law that is another power of the true losses."""
    return lambda index: 5 * problem.losses(index) ** 0.7


@pytest.mark.slow
def test_a_level_of_another_power_finds_the_front_with_fewer_evaluations():
    plain, helped = smooth(), smooth()
    without, _ = found_after(plain, searched(plain, budget=60))
    rung = Rung(0.1, skewed(helped))
    found, count = found_after(helped, searched(helped, rung, budget=60))
    middle = count // 2
    assert found[middle] <= without[middle] / 1.5


def test_each_design_climbs_and_a_level_costs_about_as_much_as_the_evaluations():
    problem = smooth()
    low, high = Rung(0.02, skewed(problem)), Rung(0.2, skewed(problem))
    evaluated = searched(problem, low, high, budget=32).tolist()
    lows, highs = {*map(tuple, low.done)}, {*map(tuple, high.done)}
    assert {*map(tuple, evaluated)} <= highs <= lows
    assert len(low.done) == len(lows)  # none twice
    assert len(high.done) == len(highs)
    extra = len(evaluated)  # what is evaluated climbs whatever it costs
    for rung in (low, high):
        assert len(rung.done) <= 32 / rung.cost_share + extra


def test_before_any_evaluation_a_level_costs_no_more_than_those_that_follow():
    problem, rung = smooth(), Rung(0.5, lambda index: np.exp(np.c_[index[:, 0], -index[:, 0]]))
    features = Features(problem)
    archive = Archive(problem, total=20)
    archive.__class__ = type("Door", (Archive,), {"levels": (rung,)})
    every = everything(problem.sizes)
    best = Levels(archive, features).begin(
        Whole(every, features), every[:50], 4, np.random.default_rng(1)
    )
    assert len(best) == 4
    assert 4 < len(rung.done) <= 4 / 0.5


def test_what_a_level_measured_is_known_and_the_rest_has_a_variance():
    problem = smooth()
    every = everything(problem.sizes)
    nothing = np.full((len(every), problem.objective_count), np.nan)
    model = LevelModel(
        Rung(0.1, skewed(problem)), Features(problem), None, lambda i: nothing[: len(i)], 2
    )
    assert np.isnan(model.expected(every)).all()
    some = np.random.default_rng(1).permutation(every)[:30]
    model.measure(some)
    assert model.expected(some) == pytest.approx(skewed(problem)(some))
    assert not model.variance(some).any()
    others = every[~model.knows(every)]
    assert (model.variance(others) > 0).all()
    error = np.log(model.expected(others) / skewed(problem)(others))
    assert np.sqrt((error**2).mean()) < 0.3


def test_a_level_that_lacks_an_objective_tells_of_the_others():
    problem = smooth()

    def half(index):
        found = skewed(problem)(index)
        found[:, 1] = np.nan
        return found

    every = everything(problem.sizes)
    nothing = np.full((len(every), 2), np.nan)
    model = LevelModel(Rung(0.1, half), Features(problem), None, lambda i: nothing[: len(i)], 2)
    model.measure(every[::50][:20])
    assert np.isfinite(model.expected(every)[:, 0]).all()
    assert np.isnan(model.expected(every)[:, 1]).all()
    assert len(searched(problem, Rung(0.1, half), budget=24)) == 24


def test_a_level_that_fails_everywhere_costs_little_and_changes_no_end():
    problem = smooth()
    rung = Rung(0.5, lambda index: np.full((len(index), 2), np.nan))
    assert len(searched(problem, rung, budget=20)) == 20
    assert len(rung.done) >= LEAST


def test_the_first_designs_add_the_most_volume_and_ties_lie_far_apart():
    """Of the line x + y = 1 the middle, then both ends; each is there at eleven places."""
    x = np.repeat([0.0, 0.5, 1.0], 11)
    place = np.tile(np.linspace(0, 1, 11), 3)
    rows = together(np.exp(np.c_[x, 1 - x]), place[:, None], 6, np.random.default_rng(1))
    assert x[rows[:3]].tolist() in ([0.5, 0.0, 1.0], [0.5, 1.0, 0.0])
    assert abs(place[rows[1]] - place[rows[0]]) >= 0.5
    assert len({*rows}) == 6


def test_few_designs_that_a_level_thinks_alike_turn_no_slope():
    low = np.array([0.0, 0.1, 0.2, 0.3])
    assert 0.5 < _slope(low, 6 * low[::-1], measured=True) < 1
    assert _slope(low, 6 * low[::-1], measured=False) < -3
    assert _slope(10 * low, 5 + 20 * low, measured=True) == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_slope_over_a_cheaper_level_is_that_of_its_law(power):
    random = np.random.default_rng(1)
    features = random.random((40, 2))
    low = np.exp(3 * features[:, :1] + features[:, 1:])
    learnt = ModelledLosses(measured=True)
    learnt.learn(features, 7 * low**power * np.exp(0.01 * np.sin(9 * features[:, :1])), low)
    assert learnt.known[0].slope == pytest.approx(power, abs=0.05)


def test_losses_return_from_their_scale():
    for loss in (np.array([1.0, 9.0]), np.array([-4.0, -0.5]), np.array([-2.0, 0.0, 5.0])):
        scale = straight(loss)
        assert scale.inverse(scale(loss)) == pytest.approx(loss)

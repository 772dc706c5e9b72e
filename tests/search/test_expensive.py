"""Expensive designs: a Gaussian process and the hypervolume it expects, held to their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal, norm

from dse.contract import Method
from dse.model.volume import hypervolume
from dse.plugins import registry
from dse.search import run_method
from dse.search.archive import Archive
from dse.search.expensive import process as processes
from dse.search.expensive.process import Features, Process, fitted
from dse.search.expensive.search import (
    Candidates,
    Learner,
    between,
    boxes,
    counted,
    expected_improvement,
    explore,
    extremes,
    goals,
    improve,
    straight,
)
from tests.search.test_search import Synthetic, everything, oracle_front


def searched(problem, *, budget, seed=1, population=4, **options):
    """Search with the method; return the archive and, in their order, the designs."""
    archive = Archive(problem, total=budget)
    method = registry.get(Method, "gaussian")
    run_method(method, archive, seed=seed, population=population, options=options)
    return archive, np.array(problem.seen[: archive.evaluated])


# What a design is expected to add ------------------------------------------------------------


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
def test_the_expected_improvement_is_the_mean_over_draws(objectives):
    random = np.random.default_rng(objectives)
    front, reference = random.random((9, objectives)), np.full(objectives, 1.1)
    mean, deviation = random.random((4, objectives)), random.uniform(0.1, 0.5, (4, objectives))
    found = expected_improvement(mean, deviation, front, reference)
    before = hypervolume(front, reference).value
    for row in range(4):
        drawn = mean[row] + deviation[row] * random.standard_normal((2_000, objectives))
        after = [hypervolume(np.vstack([front, one]), reference).value for one in drawn]
        error = np.std(after) / math.sqrt(len(after))
        assert found[row] == pytest.approx(np.mean(after) - before, abs=4 * error)


def test_one_objective_is_the_textbooks_expected_improvement():
    # Jones, Schonlau and Welch 1998, eq. 15: best 1, mean 1, deviation 1 adds phi(0) = 0.39894
    found = expected_improvement(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.full(1, 9.0))
    assert found[0] == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-12)


@given(st.integers(1, 4), st.integers(0, 12), st.integers(0, 10_000))
def test_boxes_are_disjoint_and_hold_what_a_front_leaves_open(objectives, points, seed):
    random = np.random.default_rng(seed)
    front = random.integers(0, 6, (points, objectives)) / 5  # ties, and points at the reference
    reference = np.full(objectives, 1.0)
    low, high = boxes(front, reference).transpose(1, 0, 2)
    size = np.prod(np.maximum(high - np.maximum(low, 0.0), 0.0), axis=1)
    left = 1.0 - hypervolume(front, reference).value if points else 1.0
    assert size.sum() == pytest.approx(left, abs=1e-9)
    for y in random.random((20, objectives)):
        inside = ((low < y) & (y < high)).all(axis=1).sum()
        assert inside == (not (front <= y).all(axis=1).any())


def test_the_reference_point_lies_beyond_what_is_predicted_too():
    observed, chance = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0.9, 0.1])
    low, span = goals(observed, np.array([[0.0, 5.0], [-9.0, 9.0]]), chance)
    assert (low.tolist(), span.tolist()) == ([0.0, 1.0], [2.0, 4.0])  # the unlikely one is out


# The process ---------------------------------------------------------------------------------


def data(count=25, seed=3):
    random = np.random.default_rng(seed)
    features = random.random((count, 3))
    return features, np.sin(5 * features[:, 0]) + features[:, 1] ** 2 + 0.1 * random.random(count)


def conditioned(process, features, values):
    """Condition on other observations with the same parameters: the textbook's inverse."""
    noise = process.noise * np.eye(len(features))
    covariance = process.between(features, features) + noise
    factor = np.linalg.cholesky(covariance)
    weights = np.linalg.solve(covariance, values - process.constant)
    return Process(features, process.constant, process.parameters, factor, weights)


def test_leaving_out_by_the_formula_is_leaving_out():
    features, values = data()
    process = fitted(features, values)
    for row in range(len(values)):
        others = np.arange(len(values)) != row
        without = conditioned(process, features[others], values[others])
        missed = values[row] - without.mean(features[row : row + 1])[0]
        assert process.leave_one_out()[row] == pytest.approx(missed, rel=1e-5, abs=1e-8)


def test_a_process_learns_a_function_and_which_features_count():
    features, values = data(60)
    process = fitted(features, values)
    others, truth = data(200, seed=4)
    assert np.std(process.mean(others) - truth) < 0.2 * np.std(truth)
    lengths = np.exp(process.parameters[:3])
    assert lengths[2] > 3 * lengths[:2].max()  # the third does nothing


# Chances and the first designs -----------------------------------------------------------------


@pytest.mark.parametrize("loss", [[1e-9, 5.0], [-3.0, -0.1], [-2.0, 0.0, 4.0], [0.0, 0.0]])
def test_a_loss_is_straightened_in_its_order(loss):
    found = straight(np.array(loss))
    assert np.isfinite(found).all()
    assert (np.sign(np.diff(found)) == np.sign(np.diff(loss))).all()


def test_the_first_designs_hold_the_ends_of_every_axis():
    axes = Synthetic((5, 1, 3, 4), lambda i: i[:, :1], ordered=(True, True, False, True))
    rows = extremes(axes, np.random.default_rng(1))
    assert rows[:, [0, 1, 3]].tolist() == [[0, 0, 0], [4, 0, 3], [4, 0, 0], [0, 0, 3]]
    assert set(rows[:, 2].tolist()) == {0, 1, 2}
    middle = between(axes, np.random.default_rng(1), 5)
    assert np.sort(middle[:, 0]).tolist() == [0, 1, 2, 3, 4]
    assert np.sort(middle[:, 2]).tolist() == [0, 0, 1, 2, 2]


def test_chances_follow_violations_and_failures():
    features = np.linspace(0, 1, 30)[:, None]
    number = (features - 0.5) * 3
    broken = np.where(features > 0.8, np.inf, -1.0)
    violation = np.concatenate([number, broken, -np.ones((30, 1))], axis=1)
    asked = np.array([[0.1], [0.45], [0.6], [0.95]])
    found = Learner().chances(features, violation, asked)
    assert found[0] > 0.9
    assert found[1] > found[2] > found[3]
    assert found[3] < 0.01
    yes_or_no = Learner().chances(features, np.where(number <= 0, -1.0, np.inf), features)
    assert np.array_equal(yes_or_no > 0.5, number[:, 0] <= 0)


# The search ----------------------------------------------------------------------------------


def smooth(**changes):
    """500 designs, two objectives whose front has 20 of them or so."""

    def losses(index):
        x, y, kind = index[:, 0] / 9, index[:, 1] / 9, index[:, 2]
        area = (1 + 3 * x) * (1 + y) * (1 + 0.1 * kind)
        return np.stack([area, (1 + 0.3 * (kind - 2) ** 2) / (1 + 5 * x + 2 * x * y)], axis=1)

    given = {"sizes": (10, 10, 5), "losses": losses, "ordered": (True, True, False)}
    return Synthetic(**(given | changes))


def found_after(problem, designs):
    """Return after how many evaluations each design of the true front was found."""
    front = {tuple(row) for row in oracle_front(problem)[0].tolist()}
    places = [at + 1 for at, row in enumerate(map(tuple, designs.tolist())) if row in front]
    return places, len(front)


def test_the_whole_front_of_a_known_space():
    problem = smooth()
    archive, designs = searched(problem, budget=90)
    places, count = found_after(problem, designs)
    assert len(places) == count
    assert len({tuple(row) for row in designs.tolist()}) == archive.evaluated == 90


def test_one_objective_that_may_be_negative():
    problem = Synthetic(
        (40, 40), lambda i: ((i - [[31, 7]]) ** 2).sum(axis=1, keepdims=True) - 50.0
    )
    _, designs = searched(problem, budget=40)
    assert [31, 7] in designs.tolist()


@pytest.mark.parametrize("seed", [4, 6])
def test_rare_validity(seed):
    """Two designs of a hundred are valid, and nothing says how far the others are from it."""
    problem = smooth(
        sizes=(20, 20, 5),
        violations=lambda i: np.where(np.hypot(i[:, 0] - 14, i[:, 1] - 5) < 1.9, -1.0, 1.0)[
            :, None
        ],
        constraint_names=("works",),
    )
    index = everything(problem.sizes)
    valid = problem.evaluate(index).feasible
    assert valid.mean() < 0.025
    problem.seen.clear()
    _, designs = searched(problem, budget=150, seed=seed)
    works = problem.violations(designs)[:, 0] < 0
    assert not works[:20].any()
    first = int(works.argmax())
    assert works[first + 1 :].mean() > 5 * valid.mean()  # what was found is used
    assert len(found_after(problem, designs)[0]) == len(oracle_front(problem)[0])


def test_failures_are_data_not_designs_to_come_back_to():
    def losses(index):
        found = smooth().losses(index)
        found[index[:, 1] > 4] = np.inf
        return found

    def violations(index):
        return np.where(index[:, 1:2] > 4, np.inf, -1.0)

    problem = smooth(losses=losses, violations=violations, constraint_names=("evaluated",))
    _, designs = searched(problem, budget=60)
    failed = designs[:, 1] > 4
    assert failed[:16].sum() > 4
    assert failed[20:40].sum() <= 2  # half of them at random


def test_a_space_too_large_to_enumerate():
    centre = np.array([11, 30, 3, 44, 20, 8])

    def losses(index):
        away = ((index - centre) ** 2).sum(axis=1)
        return np.stack([10 + away, 10 + ((index - centre - 3) ** 2).sum(axis=1)], axis=1)

    problem = Synthetic((50,) * 6, losses)
    archive, designs = searched(problem, budget=80, candidates=1_000)
    assert len({tuple(row) for row in designs.tolist()}) == 80
    drawn = np.random.default_rng(1).integers(0, 50, (4_000, 6))
    best = losses(drawn).sum(axis=1).min()
    assert archive.front[1].sum(axis=1).min() < 0.5 * best


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
    _, gradient = processes._loss(one, squares, values)
    differences = approx_fprime(one, lambda at: processes._loss(at, squares, values)[0], 1e-6)
    assert gradient == pytest.approx(differences, rel=1e-4, abs=1e-4)


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
    assert Learner().chances(features, violation, asked) == pytest.approx(expected, rel=1e-4)


# What is chosen ----------------------------------------------------------------------------------


def batch(observed, mean, span, count):
    """Return what a batch holds and what it should: each the best, were those before it seen."""
    features, values = data()
    known = [fitted(features, one) for one in (values, features[:, 2] - features[:, 0])]
    pool, chance = data(len(mean), seed=5)[0], generator().uniform(0.2, 1.0, len(mean))
    some = Candidates(known, pool, mean, span, chance)
    found = some.choose(observed, count, generator()).tolist()
    expected, front = [], observed
    while len(expected) < count:
        seen = np.concatenate([features, pool[expected]])
        then = [conditioned(one, seen, np.zeros(len(seen))) for one in known]
        variance = [one.variance - (one.whitened(pool) ** 2).sum(axis=0) for one in then]
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
        def evaluate_new(self, points):
            counts.append(len(points))
            return super().evaluate_new(points)

    counts = []
    archive = Counting(smooth(), total=22)
    improve(archive, seed=1, population=4, candidates=500)
    assert counts == [4, 4, 3, 4, 4, 3]  # half of them first


@pytest.mark.parametrize(("objectives", "most"), [(2, 1_000), (3, 200), (4, 24), (6, 8)])
def test_of_a_long_front_so_many_points_count_from_end_to_end(objectives, most):
    front = generator().random((most + 7, objectives))
    front[:, -1] = 1 - front[:, 0]  # no point dominates another
    front = front[np.argsort(front[:, 0])]
    kept, whole = (counted(some, np.full(objectives, 2.0)) for some in (front, front[:most]))
    assert len(np.unique(kept, axis=0)) == len(kept) == most
    assert (kept[[0, -1]] == front[[0, -1]]).all()
    assert whole.tolist() == front[:most].tolist()

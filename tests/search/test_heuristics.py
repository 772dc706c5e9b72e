"""Heuristics on what can neither be enumerated nor composed: fine axes and black boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse import search
from dse.algebra.expression import parse_expression
from dse.contract import Method, Objective
from dse.errors import StudyError
from dse.model.evaluation import Goal
from dse.model.front import nondominated
from dse.model.graph import wire
from dse.model.problem import Problem
from dse.model.space import Axis, Numbers, Space
from dse.model.volume import hypervolume, reference_point
from dse.plugins import registry
from dse.runs import runner
from dse.search import SearchSettings
from dse.search.heuristic.pymoo import _MixedCrossover, _MixedMutation
from dse.search.heuristic.scales import Scales
from tests.conftest import problem_of

METHODS = registry.names(Method)
PROVING = tuple(name for name in METHODS if registry.get(Method, name).proves)

STUDY = """\
# How large should an offload be, at any clock?
workload:
  rate: 10 Gbit/s
stages:
  - core: des
    designs: [u8, u16]
    instances: {{from: 1, to: 8}}
    clock: {clock}
interface:
  device: sparc_t4_engine
axes:
  workload.granularity: {granularity}
  interface.host_clock: {host_clock}
objectives:
  area: minimise
  offload_latency: minimise
"""


@pytest.fixture
def asked(write):
    """Return a function that writes the study with some of its fields replaced."""

    def to_file(**fields):
        points = {"clock": "1", "granularity": "64 B", "host_clock": "3 GHz"}
        return write(STUDY.format(**(points | fields)))

    return to_file


def test_a_range_from_the_larger_value_is_a_fault(asked):
    with pytest.raises(StudyError) as caught:
        problem_of(asked(host_clock="{from: 4 GHz, to: 1 GHz, points: 3}"))
    rule = "the range from 4 GHz to 1 GHz is empty; write the smaller value at `from`"
    assert rule in str(caught.value)


# --- operators ------------------------------------------------------------------------------

MIXED = st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=1, max_size=6)


def mixed(axes):
    """Return a problem whose axes have these sizes, and an order or none."""
    found = [
        Axis(f"a{place}", {f"x{place}": np.arange(size) + 1.0}, Numbers(np.arange(size)), **more)
        for place, (size, ordered) in enumerate(axes)
        for more in [{"ordered": ordered, "unit_name": f"x{place}", "log": ordered and place > 0}]
    ]
    return Problem(Space(tuple(found)), (), wire({}, ()), ())


@given(axes=MIXED, seed=st.integers(0, 99))
def test_children_are_designs_and_choices_come_from_a_parent(axes, seed):
    problem, random = mixed(axes), np.random.default_rng(seed)
    scales = Scales(problem)
    parents = random.integers(0, problem.sizes, (2, 30, len(axes)))
    ordered = np.array(problem.ordered)
    np.testing.assert_array_equal(
        scales.nearest(scales.coordinates(parents)), parents[:, :, ordered]
    )
    children = _MixedCrossover(scales)._do(None, parents, random_state=random)
    mutants = _MixedMutation(problem.sizes, scales)._do(None, parents[0], random_state=random)
    for designs in (children, mutants):
        assert ((designs >= 0) & (designs < problem.sizes)).all()
    np.testing.assert_array_equal(
        np.sort(children, axis=0)[:, :, ~ordered], np.sort(parents, axis=0)[:, :, ~ordered]
    )
    alike = np.stack([parents[0]] * 2)
    np.testing.assert_array_equal(
        _MixedCrossover(scales)._do(None, alike, random_state=random), alike
    )


def test_a_mutation_never_stays_where_it_was_on_a_short_axis():
    """Polynomial steps are shorter than half of a fifth: the next value is taken all the same."""
    problem = mixed([(5, True)])
    start = np.arange(5)[:, np.newaxis].repeat(200, axis=0)
    mutation = _MixedMutation(problem.sizes, Scales(problem))
    after = mutation._do(None, start, random_state=np.random.default_rng(0))
    assert (after != start).all()


# --- black boxes ----------------------------------------------------------------------------


def rugged():
    """Return a problem of a real, a whole and a named axis whose objectives fold and jump."""

    def folds(*, real, whole, kind):
        return np.sin(9 * real) * (1 + kind) + np.abs(whole - 13) / 8 + 3

    def jumps(*, real, kind, whole):
        return np.floor(5 * real) % 3 + (kind * 7 + whole) % 5 + real**2

    quantities = {f.__name__: Objective(function=f, source="test") for f in (folds, jumps)}
    axes = (
        Axis("real", {"real": np.geomspace(0.01, 3, 64)}, Numbers(np.arange(64)), "real", log=True),
        Axis("whole", {"whole": np.arange(30.0)}, Numbers(np.arange(30)), "whole"),
        Axis("kind", {"kind": np.arange(4.0)}, ("a", "b", "c", "d"), ordered=False),
    )
    goals = (Goal("folds"), Goal("jumps", maximise=True))
    return Problem(Space(axes), (), wire(quantities, {"real", "whole", "kind"}), goals)


@pytest.mark.parametrize("method", METHODS)
def test_a_black_box_is_searched_by_every_method(method):
    """No monotonicity is declared, and none is there."""
    problem = rugged()
    every = np.stack(np.meshgrid(*map(np.arange, problem.sizes), indexing="ij"), -1).reshape(-1, 3)
    loss = problem.evaluate(every).loss
    best = loss[nondominated(loss)]
    spent = {"tpe": 150, "gaussian": 100, **dict.fromkeys(PROVING)}
    budget = spent.get(method, 1_000)
    found = search.run_search(problem, SearchSettings(method=method, budget=budget, seed=1))
    if method in PROVING:
        np.testing.assert_array_equal(np.unique(found.front_loss, axis=0), np.unique(best, axis=0))
    ends = np.stack([best.min(axis=0), found.front_loss.min(axis=0)])
    assert (np.diff(ends, axis=0) <= 0.15 * np.ptp(loss, axis=0)).all()


# --- how complete a front is ----------------------------------------------------------------


def smooth(a, b, c, limit):
    """Return a problem with two objectives and a constraint that intervals can bound."""

    def first(*, x, y, kind):
        return x * y + kind - 3

    def second(*, x, y, kind):
        return np.where(x > a, b / (1 + x), c + y) + np.maximum(y, x) / 8 - kind / 4

    quantities = {
        f.__name__: Objective(function=f, source="test", signed=True) for f in (first, second)
    }
    axes = tuple(
        Axis(name, {name: np.arange(size) + 0.5}, Numbers(np.arange(size)), name, **more)
        for name, size, more in (("x", 19, {}), ("y", 12, {}), ("kind", 3, {"ordered": False}))
    )
    inputs = {"x", "y", "kind"}
    rule = parse_expression(f"x + y >= {limit}", inputs)
    goals = (Goal("first"), Goal("second"))
    graph = wire(quantities, inputs)
    return Problem(Space(axes), (), graph, goals, (rule,))


@settings(max_examples=30)
@given(
    numbers=st.tuples(*[st.integers(1, 9)] * 3, st.integers(0, 25)),
    chosen=st.integers(1, 60),
    most=st.sampled_from([4, 30, 20_000]),
)
def test_a_proven_share_is_at_most_the_true_one_and_reaches_it(numbers, chosen, most):
    problem = smooth(*numbers)
    best = search.run_search(problem, SearchSettings()).front_loss
    some = search.run_search(problem, SearchSettings(method="random", budget=chosen)).front_loss
    if not len(some):
        return
    reference = reference_point(some)
    ideal = np.minimum(best.min(axis=0), some.min(axis=0))
    whole = hypervolume(best, reference, ideal=ideal)
    true = hypervolume(some, reference, ideal=ideal).share_of(whole).value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "OPEN_CELLS", most)
        least = runner.share_at_least(problem, some, reference)
    if most == 20_000:
        assert least is not None
        assert least.value == pytest.approx(true, rel=1e-9)
    else:
        assert least is None or 0 <= least.value <= true * (1 + 1e-9)

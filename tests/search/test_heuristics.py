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
from dse.model.volume import Volume, hypervolume, reference_point
from dse.plugins import registry
from dse.runs import runner
from dse.runs.runner import ENUMERABLE
from dse.search import SearchSettings
from dse.search.heuristic.pymoo import _MixedCrossover, _MixedMutation
from dse.search.heuristic.scales import Scales
from tests.conftest import STUDIES, problem_of, solved

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


@pytest.mark.parametrize("grid", ["linear", "log"])
def test_points_are_even_on_their_scale_from_end_to_end(asked, grid):
    host_clock = f"{{from: 1 GHz, to: 4 GHz, points: 4097, grid: {grid}}}"
    axes = problem_of(asked(host_clock=host_clock)).space.axes
    axis = next(axis for axis in axes if axis.name == "interface.host_clock")
    values = axis.columns[axis.unit_name]
    assert (axis.size, values[0], values[-1]) == (4097, 1e9, 4e9)
    steps = np.diff(np.log(values) if grid == "log" else values)
    np.testing.assert_allclose(steps, steps.mean(), rtol=1e-5)
    np.testing.assert_allclose(axis.coordinates, np.linspace(0, 1, axis.size), atol=1e-9)
    assert axis.labels[2048] == ("2000000000" if grid == "log" else "2500000000")


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


def test_mutations_are_as_long_on_the_scale_wherever_they_start():
    """Along 1 .. 10 000 on a logarithmic scale, a step is a factor, not a difference."""
    problem = mixed([(1, True), (10_000, True)])
    mutation = _MixedMutation(problem.sizes, Scales(problem))
    factors = []
    for position in (99, 4_999):
        start = np.tile([0, position], (8_000, 1))
        after = mutation._do(None, start, random_state=np.random.default_rng(1))[:, 1]
        moved = after[after != position]
        factors.append(np.median(np.abs(np.log((moved + 1) / (position + 1)))))
    assert factors[0] == pytest.approx(factors[1], rel=0.25)
    assert factors[0] < np.log(10)


def test_a_mutation_never_stays_where_it_was_on_a_short_axis():
    """Polynomial steps are shorter than half of a fifth: the next value is taken all the same."""
    problem = mixed([(5, True)])
    start = np.arange(5)[:, np.newaxis].repeat(200, axis=0)
    mutation = _MixedMutation(problem.sizes, Scales(problem))
    after = mutation._do(None, start, random_state=np.random.default_rng(0))
    assert (after != start).all()


# --- black boxes ----------------------------------------------------------------------------


def one_axis(size, function):
    """Return a problem of one axis 0 .. size - 1 and one objective without declarations."""

    def cost(*, x):
        return function(x)

    objective = Objective(function=cost, source="test")
    axis = Axis("x", {"x": np.arange(float(size))}, Numbers(np.arange(size)), "x")
    return Problem(Space((axis,)), (), wire({"cost": objective}, {"x"}), (Goal("cost"),))


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


@pytest.mark.parametrize("method", ["nsga2", "tpe"])
def test_an_optimum_of_a_fine_axis_is_met_closely(method):
    """The least of (log x - log 20)^2 on 1 .. 1000, a million values."""
    problem = one_axis(2**20 + 1, lambda x: (np.log(1000) * x / 2**20 - np.log(20)) ** 2)
    outcome = search.run_search(problem, SearchSettings(method=method, budget=300, seed=2))
    assert outcome.front_loss.min() < 1e-4


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


def test_of_a_function_without_bounds_nothing_is_proven_but_design_by_design(monkeypatch):
    problem = rugged()  # has a sine and a remainder
    loss = search.run_search(problem, SearchSettings(method="random", budget=100)).front_loss
    reference = reference_point(loss)
    assert problem.size < runner.OPEN_CELLS
    assert runner.share_at_least(problem, loss, reference).value <= 1.0
    monkeypatch.setattr(runner, "OPEN_CELLS", problem.size // 2)
    assert runner.share_at_least(problem, loss, reference) is None


def test_a_front_of_a_space_too_large_to_enumerate_can_be_proven_whole():
    """Six designs, up to 20 of each: 86 million fleets."""
    counts = ("des.instances", "{from: 0, to: 20}")
    (answer,) = solved(STUDIES / "des_100gbps.yaml", counts, method="nsga2", budget=6_000).answers
    assert answer.study.problem.size == 21**6 > ENUMERABLE
    assert answer.quality.share is None
    assert answer.quality.at_least == Volume(1.0)

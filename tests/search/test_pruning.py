"""Ruling out designs by bounds changes nothing but the time: front, counts, sample, faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.algebra.enclosure import UFUNCS
from dse.algebra.expression import parse_expression
from dse.contract import Objective
from dse.errors import ContractError
from dse.model.evaluation import Goal
from dse.model.graph import wire
from dse.model.problem import Problem
from dse.model.space import Axis, Boxes, Space, as_index, one_block
from dse.search import archive, sample
from dse.search.archive import Archive
from dse.search.exact import enumeration
from dse.search.sample import hashes
from tests.conftest import STUDIES, problem_of

NEVER = 10**18


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    monkeypatch.setattr(enumeration, "CELLS", (4, 16, 64))
    monkeypatch.setattr(enumeration, "FEWEST_ENUMERATED", 3)
    monkeypatch.setattr(enumeration, "SEEDS", 16)
    monkeypatch.setattr(archive, "FEASIBLE_SAMPLE", 300)
    monkeypatch.setattr(archive, "INFEASIBLE_SAMPLE", 40)


def both(problem, chunk=997):
    """The archive of a plain and of a bounded enumeration."""
    kept = []
    for whole in (NEVER, 0):
        kept.append(Archive(problem, total=problem.size))
        enumeration.enumerate_all(kept[-1], chunk=chunk, whole=whole)
    return kept


def same(plain, bounded) -> None:
    first, second = plain.outcome(), bounded.outcome()
    for name in ("front_index", "front_loss", "sample_index"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.evaluated == plain.problem.size
    assert second.evaluated + sum(decided(bounded)) == plain.problem.size
    assert first.exact
    assert second.exact
    assert first.feasible == first.feasible_in_space == second.feasible_in_space
    assert second.feasible == first.feasible - bounded.closed[True] <= second.evaluated
    assert first.conflicts() == second.conflicts()


def decided(kept) -> tuple[int, int]:
    """How many designs bounds found infeasible, and dominated."""
    return kept.closed[False], kept.closed[True]


@pytest.mark.parametrize(
    ("name", "overrides", "arguments"),
    [
        ("crypto_interface_100gbps", {}, {"infeasible", "dominated"}),
        ("des_100gbps", {"workload.rate": "17 Gbit/s"}, {"dominated"}),
        ("jacobi_bandwidth", {}, set()),
        ("crypto_interface_100gbps", {"workload.streams": "20", "workload.chained": "true"}, set()),
    ],
)
def test_a_shipped_study_has_the_same_answer(name, overrides, arguments) -> None:
    problem = problem_of(STUDIES / f"{name}.yaml", *overrides.items())
    plain, bounded = both(problem, chunk=4_000)
    same(plain, bounded)
    infeasible, dominated = decided(bounded)
    assert bool(infeasible) >= ("infeasible" in arguments)
    assert bool(dominated) >= ("dominated" in arguments)
    assert decided(plain) == (0, 0)


def made_of(functions, sizes, limits=()):
    """A problem of plain functions of axes `a`, `b` and `c`, and of constraints on them."""
    axes = [
        Axis(name, {name: np.linspace(0.0, 3.0, size)}, ("",) * size, name)
        for name, size in zip("abc", sizes, strict=True)
    ]
    quantities = {f.__name__: Objective(function=f, source="", signed=True) for f in functions}
    names = [*quantities, "a", "b", "c"]
    return Problem(
        Space(tuple(axes)),
        (),
        wire(quantities, "abc"),
        tuple(Goal(name, maximise=name == "z") for name in quantities),
        tuple(parse_expression(text, names) for text in limits),
    )


def x(*, a, b, c):
    return a + np.where(b > 1.5, c * b, np.abs(b - 1.0))


def y(*, a, b):
    return np.minimum(a * (b - 2.0), 1.0 / (b + 0.1)) - a


def z(*, x, c):
    return np.maximum(x - c, -c * c)


LIMITS = (
    *("x <= 4", "x < 4", "x >= 1", "x > 1", "4 > x", "a + b > 1", "a == 1.5", "a != 1.5"),
    *("x <= b", "x < b", "x != b", "a * b <= c", "a ** 2 + b ** 2 < 4", "max(a, b) > 1"),
    *("2 <= x <= 5 or b < 1", "abs(a - b) < 1 and c > 0.5", "sqrt(a) + ceil(b) <= 3"),
)
"""Comparisons of every kind, with numbers and of two quantities."""


@pytest.mark.parametrize("limit", LIMITS)
def test_every_kind_of_comparison_rules_out_cells(limit) -> None:
    """And none of them rules out a design that meets it."""
    problem = made_of((x, y), (41, 40, 12), [limit])
    plain, bounded = both(problem)
    same(plain, bounded)
    infeasible, _ = decided(bounded)
    assert infeasible > 0.3 * (plain.evaluated - plain.feasible) > 0 or "!=" in limit


@pytest.mark.parametrize("ufunc", [np.subtract, np.true_divide, np.multiply, np.absolute])
def test_a_wrong_enclosure_is_noticed(ufunc, monkeypatch) -> None:
    """What these tests are worth: ends that are too narrow change the front."""
    right = UFUNCS[ufunc]

    def narrow(*pairs):
        return right(*((high, high) for _, high in pairs))

    monkeypatch.setitem(UFUNCS, ufunc, narrow)  # type: ignore[arg-type]
    wrong = []
    for limit in LIMITS:
        try:
            same(*both(made_of((x, y), (41, 40, 12), [limit])))
        except AssertionError:
            wrong.append(limit)
    assert wrong


@settings(max_examples=25)
@given(
    sizes=st.tuples(st.integers(1, 23), st.integers(1, 17), st.integers(1, 12)),
    functions=st.sampled_from([(x,), (x, y), (y, x), (x, y, z), (x, z)]),
    limits=st.lists(
        st.sampled_from([*LIMITS, "y / x < 9", "a < 0"]),
        max_size=2,
    ),
    chunk=st.integers(1, 2_000),
)
def test_random_problems_have_the_same_answer(sizes, functions, limits, chunk) -> None:
    limits = [text for text in limits if "y" not in text or y in functions]
    same(*both(made_of(functions, sizes, limits), chunk))


def test_most_of_a_study_is_never_evaluated() -> None:
    _, bounded = both(problem_of(STUDIES / "crypto_interface_100gbps.yaml"), chunk=20_000)
    assert sum(decided(bounded)) > 0.8 * bounded.problem.size


def test_bounds_hold_for_the_designs_of_every_cell() -> None:
    problem = problem_of(STUDIES / "crypto_interface_100gbps.yaml")
    for level in enumeration._levels(problem)[:-1]:
        cells = as_index(one_block(level.sizes))[:: 1 + problem.size // 20_000]
        bounds = level.bounds(cells)
        for row, cell in enumerate(cells[:200]):
            for part in enumeration._parts(problem.sizes, level.steps, cell[np.newaxis], 10**6):
                found = problem.evaluate(part)
                assert not (found.violation < bounds.violation_low[row]).any()
                assert not (found.violation > bounds.violation_high[row]).any()
                loss = found.loss[found.feasible]
                assert not (loss < bounds.loss_low[row]).any()
                assert not (loss > bounds.loss_high[row]).any()


def broken(*, a, b):
    return a + b + np.sqrt(2.99 - a)  # no number for the largest a


def endless(*, a, b):
    return b + np.exp(a * 236.9)  # overflows for the largest a


@pytest.mark.parametrize(("model", "value"), [(broken, "nan"), (endless, "inf")])
def test_a_model_that_breaks_is_refused_all_the_same(model, value) -> None:
    """A loss that is no number must not be hidden by designs that dominate its cell."""
    problem = made_of((model,), (200, 8, 8))
    for whole in (NEVER, 0):
        with pytest.raises(ContractError, match=f"{model.__name__} is {value} for the design"):
            enumeration.enumerate_all(Archive(problem, total=problem.size), whole=whole)


def test_a_function_that_cannot_be_bounded_is_evaluated_everywhere() -> None:
    def unbounded(*, a, b, c):
        return np.asarray(a) * np.sin(b) + c

    plain, bounded = both(made_of((unbounded,), (9, 9, 9)))
    same(plain, bounded)
    assert not sum(decided(bounded))


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple),
    data=st.data(),
)
def test_boxes_are_the_designs_of_their_cells(sizes, data) -> None:
    steps = [data.draw(st.integers(1, size)) for size in sizes]
    coarse = tuple(-(-size // step) for size, step in zip(sizes, steps, strict=True))
    cells = as_index(one_block(coarse))
    parts = list(enumeration._parts(sizes, steps, cells, data.draw(st.integers(1, 99))))
    rows = [tuple(row) for part in parts for row in as_index(part).tolist()]
    assert sorted(rows) == [tuple(row) for row in np.ndindex(*sizes)]
    for part in parts:
        assert isinstance(part, Boxes)
        np.testing.assert_array_equal(hashes(part, len(sizes)), hashes(as_index(part), len(sizes)))


def test_a_sample_off_the_list_is_the_sample_of_all_designs(monkeypatch) -> None:
    problem = made_of((x, y), (50, 40, 30), ["x <= 4"])
    monkeypatch.setattr(sample, "WORTH_LISTING", 100)
    _, listed = both(problem)
    assert listed._samples[1].complete
    monkeypatch.setattr(sample, "WORTH_LISTING", NEVER)
    added, _ = both(problem)
    assert not added._samples[1].complete
    same(added, listed)

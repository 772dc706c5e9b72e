"""Bounds of cells hold for each of their designs, and decide most of what they can."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.algebra.enclosure import UFUNCS
from dse.algebra.expression import parse_expression
from dse.contract import Objective
from dse.model.cells import Cells
from dse.model.evaluation import Goal
from dse.model.graph import wire
from dse.model.problem import Problem
from dse.model.space import Axis, Space, as_index, one_block
from tests.conftest import STUDIES, problem_of


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


def hold(problem, steps, most=200):
    """Hold bounds of up to `most` cells against their designs; return which are infeasible."""
    level = Cells(problem, tuple(steps))
    cells = as_index(one_block(level.sizes))
    cells = cells[:: 1 + len(cells) // most]
    least, missed = level.bounds(cells)
    inside = np.indices(steps).reshape(len(steps), -1).T
    for row, cell in enumerate(cells):
        designs = cell * steps + inside
        found = problem.evaluate(designs[(designs < problem.sizes).all(axis=1)])
        assert not (found.violation < missed[row]).any()
        loss = found.loss[found.feasible]
        assert not (loss < least[row]).any()
    return (missed > 0).any(axis=1)


@pytest.mark.parametrize("limit", LIMITS)
def test_every_kind_of_comparison_rules_out_cells(limit) -> None:
    problem = made_of((x, y), (41, 40, 12), [limit])
    infeasible = hold(problem, (4, 4, 2), most=2_000)
    assert infeasible.any() or "!=" in limit


@pytest.mark.parametrize("ufunc", [np.subtract, np.true_divide, np.multiply, np.absolute])
def test_a_wrong_enclosure_is_noticed(ufunc, monkeypatch) -> None:
    """Ends that are too narrow do not hold."""
    right = UFUNCS[ufunc]

    def narrow(*pairs):
        return right(*((high, high) for _, high in pairs))

    monkeypatch.setitem(UFUNCS, ufunc, narrow)  # type: ignore[arg-type]
    problem = made_of((x, y), (41, 40, 12), LIMITS[:1])
    with pytest.raises(AssertionError):
        hold(problem, (4, 4, 2))


@settings(max_examples=25)
@given(
    sizes=st.tuples(st.integers(1, 23), st.integers(1, 17), st.integers(1, 12)),
    functions=st.sampled_from([(x,), (x, y), (y, x), (x, y, z), (x, z)]),
    limits=st.lists(st.sampled_from([*LIMITS, "y / x < 9", "a < 0"]), max_size=2),
    data=st.data(),
)
def test_bounds_hold_for_random_problems(sizes, functions, limits, data) -> None:
    limits = [text for text in limits if "y" not in text or y in functions]
    steps = [data.draw(st.integers(1, size)) for size in sizes]
    hold(made_of(functions, sizes, limits), steps, most=100)


def test_bounds_hold_for_the_designs_of_a_shipped_study() -> None:
    problem = problem_of(STUDIES / "crypto_interface_100gbps.yaml")
    for width in (2, 4, 8):
        axes = zip(problem.sizes, problem.ordered, strict=True)
        hold(problem, [min(width, size) if ordered else 1 for size, ordered in axes], most=60)


def test_a_function_that_cannot_be_bounded_decides_nothing() -> None:
    def unbounded(*, a, b, c):
        return np.asarray(a) * np.sin(b) + c

    problem = made_of((unbounded,), (9, 9, 9))
    least, _ = Cells(problem, (3, 3, 3)).bounds(as_index(one_block((3, 3, 3))))
    assert np.isnan(least).all()

"""Bounds of sets of designs: they hold for every design of a set, and are as tight as by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dse.algebra.enclosure import Enclosure, ends
from dse.algebra.expression import parse_expression
from dse.contract import Objective, Requirement
from dse.model.bounds import MARGIN, Bounds, enclosure, largest_violation
from dse.model.evaluation import Goal
from dse.model.graph import Step, wire
from dse.model.problem import Problem
from dse.model.space import Axis, Space

inf, nan = np.inf, np.nan


def between(low, high) -> Enclosure:
    return Enclosure(np.array(low, dtype=float), np.array(high, dtype=float))


def bounds_of(step: Step, **columns) -> tuple[list[float], list[float]]:
    with np.errstate(all="ignore"):
        low, high = ends(enclosure(step, columns))
    return low.tolist(), high.tolist()


def step_of(function, kind=Objective, **declared) -> Step:
    said = {"rule": "it holds"} if kind is not Objective else {"source": ""}
    arguments = function.__code__.co_varnames[: function.__code__.co_kwonlyargcount]
    return Step(kind(function, **said, **declared), arguments)


def rate(*, a, b, c):
    return np.sin(a / 4) + 1 / (1 + b) + c  # numpy's sine cannot be enclosed


def test_declared_directions_take_the_ends_in_turn() -> None:
    step = step_of(rate, rises_with=("a", "c"), falls_with=("b",))
    a, b = between([1, 0], [2, 3]), between([3, 1], [4, 2])
    low, high = bounds_of(step, a=a, b=b, c=np.array([5.0, 6.0]))
    assert low == [np.sin(0.25) + 1 / 5 + 5, 0 + 1 / 3 + 6]
    assert high == [np.sin(0.5) + 1 / 4 + 5, np.sin(0.75) + 1 / 2 + 6]


def test_stages_are_opened_one_by_one() -> None:
    def both(*, stage_x):
        first, second = stage_x
        return np.sin(first / 4) + second

    stages = (between([0, 1], [1, 2]), np.array([5.0, 6.0]))
    got = bounds_of(step_of(both, rises_with=("stage_x",)), stage_x=stages)
    assert got == ([5, np.sin(0.25) + 6], [np.sin(0.25) + 5, np.sin(0.5) + 6])


def sine(*, a):
    return np.sin(a)


@pytest.mark.parametrize(
    ("kind", "declared", "low"),
    [(Objective, {}, 0), (Objective, {"signed": True}, -inf), (Requirement, {}, -inf)],
)
def test_what_cannot_be_enclosed_may_be_anything(kind, declared, low) -> None:
    """Though not negative, unless it is signed."""
    step = step_of(sine, kind, **declared)
    assert bounds_of(step, a=between([1, 1], [2, 2])) == ([low], [inf])
    assert largest_violation(step, {"a": between([1], [2])}).tolist() == [inf]


def quotient(*, a, b):
    return a / b


@pytest.mark.parametrize(("signed", "least"), [(False, 0), (True, -inf)])
def test_only_what_is_not_known_is_open(signed, least) -> None:
    step = step_of(quotient, signed=signed)
    got = bounds_of(step, a=between([1, 1], [2, 2]), b=between([-1, 4], [1, 8]))
    assert got == ([least, 1 / 8], [inf, 1 / 2])
    exact = bounds_of(step, a=np.array([0.0, 1.0]), b=np.array([0.0, 4.0]))
    assert exact == ([least, 1 / 4], [inf, 1 / 4])
    assert bounds_of(step, a=np.array([3.0]), b=np.array([4.0])) == ([0.75], [0.75])
    assert isinstance(enclosure(step, {"a": np.ones(1), "b": np.ones(1)}), np.ndarray)


# --- of whole problems -----------------------------------------------------------------------


def reach(*, a, b):
    return np.minimum(a + b, 4.0)


def cost(*, a, reach, c):
    return a * 2.0 + c * reach


def merit(*, a, c):
    return 1.0 - c + a


def meets(*, reach, demand):
    return 1.0 - reach / demand


QUANTITIES = {
    "reach": Objective(
        reach, source="", rises_with=("a", "b"), at_most=("stage_capacity_bit_per_s",)
    ),
    "cost": Objective(cost, source="", rises_with=("a", "c", "reach")),
    "merit": Objective(merit, source="", signed=True, rises_with=("a",), falls_with=("c",)),
}
DEMAND = Requirement(
    meets,
    rule="it meets the demand",
    falls_with=("reach",),
    rises_with=("demand",),
    quantity="reach",
    at_least="demand",
    implies={"elsewhere": "demand"},
)


def problem(demand: float = 2.0, *limits: str) -> Problem:
    values = np.arange(5.0)
    axes = tuple(Axis(name, {name: values}, ("",) * 5, name) for name in "abc")
    space = Space(axes, {"demand": np.array([demand])})
    names = [*QUANTITIES, "a", "b", "c"]
    return Problem(
        space,
        (),
        wire(QUANTITIES, ["a", "b", "c", "demand"]),
        (Goal("cost", maximise=False), Goal("merit", maximise=True)),
        tuple(parse_expression(text, names) for text in limits),
        (DEMAND,),
    )


def boxes(count: int, seed: int = 0):
    """Random boxes of the space: their lowest and highest design."""
    corners = np.random.default_rng(seed).integers(0, 5, (2, count, 3))
    return corners.min(axis=0), corners.max(axis=0)


def columns_of(low: np.ndarray, high: np.ndarray, demand: float) -> dict:
    columns = {
        name: Enclosure(low[:, axis].astype(float), high[:, axis].astype(float))
        for axis, name in enumerate("abc")
    }
    return columns | {"demand": np.array([demand])}


@pytest.mark.parametrize("demand", [1.0, 3.0])
def test_no_design_of_a_set_is_better_than_its_bounds(demand: float) -> None:
    """Losses are those of feasible designs; violations those of every design."""
    asked = problem(demand, "merit <= 4", "cost >= 1")
    low, high = boxes(300)
    loss, violation = Bounds(asked).best(columns_of(low, high, demand), len(low))
    assert violation.shape == (300, 3)
    for row in range(len(low)):
        sides = [range(first, last + 1) for first, last in zip(low[row], high[row], strict=True)]
        found = asked.evaluate(np.array(list(product(*sides))))
        assert (found.loss[found.feasible] >= loss[row]).all()
        assert (found.violation >= violation[row]).all()


def test_bounds_are_as_tight_as_by_hand() -> None:
    columns = {
        "a": between([1, 0, 0], [2, 4, 0]),
        "b": between([0, 0, 2], [2, 4, 2]),
        "c": between([1, 2, 3], [3, 4, 3]),
        "demand": np.array([2.0]),
    }
    asked = problem(2.0, "merit <= 4", "cost <= 8")
    loss, violation = Bounds(asked).best(columns, 3)
    # reach is 2 at least, as demanded; cost = 2 a + c reach, and merit = 1 - c + a
    cheapest, best = np.array([2 + 2, 0 + 4, 0 + 6]), np.array([2.0, 3.0, -2.0])
    np.testing.assert_allclose(loss[:2, 0], cheapest[:2] * (1 - MARGIN), rtol=1e-11)
    np.testing.assert_allclose(loss[:2, 1], -best[:2] * (1 + MARGIN), rtol=1e-11)
    assert loss[2].tolist() == [6.0, 2.0]  # one value only needs no margin
    assert (loss[:2, 0] < cheapest[:2]).all()
    assert MARGIN == 1e-9
    met = [1 - 4 / 2, 1 - 4 / 2, 0.0]
    least_merit = np.array([-1.0, -3.0, -2.0]) / 4 - 1
    right = np.stack([met, least_merit, cheapest / 8 - 1], axis=1) - MARGIN
    np.testing.assert_allclose(violation, right, rtol=1e-11)


def test_the_demand_raises_what_it_names_unless_not_demanded() -> None:
    bounds = Bounds(problem(2.0))
    columns = columns_of(np.array([[0, 1, 0]]), np.array([[4, 2, 1]]), 2.0)
    found = bounds.enclosed(columns)
    assert ends(found["reach"]) == (2.0, 4.0)
    free = bounds.enclosed(columns, demanded=False)
    assert ends(free["reach"]) == (1.0, 4.0)
    # what is given already is raised where it is open, and left as it is where it is known
    given = bounds.enclosed(columns | {"reach": between([1.0], [3.0])})
    assert ends(given["reach"]) == (2.0, 3.0)
    assert ends(given["cost"])[0] == 0.0
    known = bounds.enclosed(columns | {"reach": np.array([1.0])})
    assert known["reach"] == 1.0
    rows = columns_of(np.array([[0, 0, 0], [3, 0, 0]]), np.array([[4, 4, 4], [4, 4, 4]]), 2.0)
    assert ends(bounds.enclosed(rows)["reach"])[0].tolist() == [2.0, 3.0]
    open_demand = columns | {"demand": between([2.0], [3.0])}
    assert ends(bounds.enclosed(open_demand)["reach"])[0] == 2.0

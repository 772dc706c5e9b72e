"""The least change that admits a design, by composed searches: where designs are too many to try.

Each search proves that a value admits no design, or finds a design; the value at which that one
just fits is the next to beat.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from dse.algebra.expression import Expression
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import TooLargeError
from dse.infeasible.conflicts import any_design, fixed
from dse.infeasible.loosen import Field, closest, rungs
from dse.model.problem import Constraint, Problem

TOLERANCE = 1e-7
"""A value is the nearest when one nearer by this share admits nothing."""

RUNGS = 24
"""Values of a field that are tried outwards until one admits a design."""

ANYTHING = 1e300
"""A bound that everything finite meets."""

Admitted = Callable[[float, float], float | None]
"""Takes a value that admits nothing and one beyond it: the nearest value found between them."""


def nearest_composed(problem: Problem, field: Field) -> float | None:
    """Return the value of `field` nearest to today's that admits a design; None without one.

    Values ever further from today's are tried; between two of them a field that first admits a
    design and then none again may be passed by.
    """

    def admitted(near: float, far: float) -> float | None:
        design = any_design(fixed(problem, field.columns(far)))
        if design is None:
            return None
        missed = problem.evaluate(design, field.columns(near)).violation > 0
        found, _, _ = closest(problem, field, design, missed, np.full(1, near), far)
        return far if found is None else found

    def middle(near: float, far: float) -> float:
        return float(field.between(np.full(1, near), np.full(1, far))[0])

    near = field.tightest(problem)
    if near is None:
        return None
    with suppress(TooLargeError):
        for far in rungs(problem, field, near, RUNGS):
            value = admitted(near, far)
            if value is not None:
                short = _Short(lambda value: field.moved(value, -TOLERANCE), middle)
                return short.of_all(near, value, admitted)
            near = far
    return None


def bound_values_composed(
    problem: Problem, named: Mapping[int, Sequence[ConstraintThreshold]]
) -> dict[tuple[int, int], float]:
    """Return for bound j of constraint k, under (k, j), the value that admits a design."""
    found = {}
    first = len(problem.constraint_names) - len(problem.constraints)
    for place, entries in named.items():
        for number, bound in enumerate(entries):
            sides = [up for up, loose in ((True, bound.up), (False, bound.down)) if loose]
            with suppress(TooLargeError):
                values = [_bound_value(problem, place - first, bound, up=up) for up in sides]
                known = [value for value in values if value is not None]
                if known:
                    found[place, number] = min(known, key=lambda v, b=bound: abs(v - b.value))  # type: ignore[misc]
    return found


def _bound_value(
    problem: Problem, place: int, bound: ConstraintThreshold, *, up: bool
) -> float | None:
    sign = 1.0 if up else -1.0

    def admitted(near: float, far: float) -> float | None:
        rules = list(problem.constraints)
        rules[place] = _between(bound, near, far, up=up)
        design = any_design(replace(problem, constraints=tuple(rules)))
        return None if design is None else float(bound.quantity.value(problem.describe(design))[0])

    value = admitted(bound.value, sign * ANYTHING)
    if value is None or not math.isfinite(value):
        return None
    short = _Short(lambda value: value - sign * TOLERANCE * abs(value), lambda a, b: (a + b) / 2)
    return short.of_all(bound.value, value, admitted)


def _between(bound: ConstraintThreshold, near: float, far: float, *, up: bool) -> Constraint:
    """Return the constraint with its bound anywhere between two numbers."""
    sides = (ast.GtE(), ast.LtE()) if up else (ast.LtE(), ast.GtE())
    parts: list[ast.expr] = [
        ast.Compare(bound.quantity.tree, [side], [ast.Constant(float(number))])
        for side, number in zip(sides, (near, far), strict=True)
    ]
    tree = ast.BoolOp(ast.And(), [bound.rest.tree, *parts])
    names = bound.rest.names | bound.quantity.names
    return Constraint(bound.source, Expression(bound.source, names, True, tree))


@dataclass(frozen=True)
class _Short:
    """How to come nearer: just short of a value, and between two of them."""

    just: Callable[[float], float]
    middle: Callable[[float, float], float]

    def of_all(self, near: float, far: float, admitted: Admitted) -> float:
        """Return the nearest value; `near` admits nothing, `far` does."""
        while True:
            target = self.just(far)
            if not _inside(target, near, far):
                return far
            value = admitted(near, target)
            if value is None:
                return far
            far = value
            target = self.middle(near, far)
            if not _inside(target, near, far):
                return far
            value = admitted(near, target)
            near, far = (target, far) if value is None else (near, value)


def _inside(value: float, near: float, far: float) -> bool:
    return min(near, far) < value < max(near, far)

"""The least change that admits a design, by composed searches: where designs are too many to try.

Each search proves that a value admits no design, or finds a design; the value at which that one
just fits is the next to improve on.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.algebra.thresholds import ConstraintThreshold
from dse.errors import TooLargeError
from dse.model.evaluation import Constraint
from dse.model.problem import Problem
from dse.parametric.attempt import changed_study
from dse.parametric.conflicts import any_design
from dse.parametric.loosen import Field, closest, rungs
from dse.search.exact.work import EffortError
from dse.study.study import Study

TOLERANCE = 1e-7
"""A value is the nearest when one nearer by this share admits nothing."""

RUNGS = 24
"""Values of a field that are tried outwards until one admits a design."""

ANYTHING = 1e300
"""A threshold that everything finite meets."""

Admitted = Callable[[float, float], float | None]
"""Takes a value that admits nothing and one beyond it: the nearest value found between them."""


def nearest_composed(infeasible: Study, field: Field) -> tuple[float, bool] | None:
    """Return the value of `field` nearest to the nominal one that admits a design, or None.

    And whether none nearer does.  Values ever further away are tried, each with the designs that
    the study has then; between two of them a field that first admits a design and then none again
    may be skipped.

    Raises
    ------
    TooLargeError
        None was found in the time that one field may take.
    """

    def admitted(near: float, far: float) -> float | None:
        text = f"{far:.0f}" if field.unit.integer else units.exact_text(far, field.column)
        changed = changed_study(infeasible, field.overrides(text))
        if changed is None:
            return None
        problem = changed.problem
        design = any_design(problem)
        if design is None:
            return None
        violated = problem.evaluate(design, field.columns(near)).violation > 0
        found, _, _ = closest(problem, field, design, violated, np.full(1, near), far)
        return far if found is None else found

    def middle(near: float, far: float) -> float:
        return float(field.between(np.full(1, near), np.full(1, far))[0])

    problem = infeasible.problem
    near = field.tightest(problem)
    if near is None:
        return None
    unsure: TooLargeError | None = None
    for far in rungs(problem, field, near, RUNGS):
        try:
            value = admitted(near, far)
        except EffortError:
            raise
        except TooLargeError as error:  # a value further out may tell
            unsure = error
            continue
        if value is not None:
            found, least = _nearest(
                near, value, admitted, lambda value: field.moved(value, -TOLERANCE), middle
            )
            return found, least and unsure is None
        near = far
    if unsure is not None:
        raise unsure
    return None


def threshold_values_composed(
    problem: Problem, named: Mapping[int, Sequence[ConstraintThreshold]]
) -> dict[tuple[int, int], float]:
    """Return for threshold j of constraint k, under (k, j), the value that admits a design."""
    found = {}
    first = len(problem.constraint_names) - len(problem.constraints)
    for rule, thresholds in named.items():
        for number, threshold in enumerate(thresholds):
            sides = [(True, threshold.up), (False, threshold.down)]
            with suppress(TooLargeError):
                values = [
                    _threshold_value(problem, rule - first, threshold, up=up)
                    for up, loose in sides
                    if loose
                ]
                near = {
                    abs(value - threshold.value): value for value in values if value is not None
                }
                if near:
                    found[rule, number] = near[min(near)]
    return found


def _threshold_value(
    problem: Problem, number: int, threshold: ConstraintThreshold, *, up: bool
) -> float | None:
    sign = 1.0 if up else -1.0
    quantity = threshold.quantity

    def admitted(near: float, far: float) -> float | None:
        rules = list(problem.constraints)
        rules[number] = _between(threshold, near, far, up=up)
        design = any_design(replace(problem, constraints=tuple(rules)))
        return None if design is None else float(quantity.value(problem.describe(design))[0])

    value = admitted(threshold.value, sign * ANYTHING)
    if value is None or not math.isfinite(value):
        return None
    return _nearest(
        threshold.value,
        value,
        admitted,
        lambda value: value - sign * TOLERANCE * abs(value),
        lambda near, far: (near + far) / 2,
    )[0]


def _between(threshold: ConstraintThreshold, near: float, far: float, *, up: bool) -> Constraint:
    """Return the constraint with its threshold anywhere between two numbers."""
    sides = (ast.GtE(), ast.LtE()) if up else (ast.LtE(), ast.GtE())
    parts: list[ast.expr] = [
        ast.Compare(threshold.quantity.tree, [side], [ast.Constant(float(number))])
        for side, number in zip(sides, (near, far), strict=True)
    ]
    tree = ast.BoolOp(ast.And(), [threshold.rest.tree, *parts])
    names = threshold.rest.names | threshold.quantity.names
    return Constraint(threshold.source, Expression(threshold.source, names, True, tree))


def _nearest(
    near: float,
    far: float,
    admitted: Admitted,
    short_of: Callable[[float], float],
    middle: Callable[[float, float], float],
) -> tuple[float, bool]:
    """Return the value nearest to `near`, which admits nothing, that admits a design; `far` does.

    And whether none nearer does: False where that takes too long to tell.  `short_of` returns a
    value just short of one, `middle` one between two.
    """
    with suppress(TooLargeError):
        while True:
            target = short_of(far)
            if not min(near, far) < target < max(near, far):
                return far, True
            value = admitted(near, target)
            if value is None:
                return far, True
            far = value
            target = middle(near, far)
            if not min(near, far) < target < max(near, far):
                return far, True
            value = admitted(near, target)
            near, far = (target, far) if value is None else (near, value)
    return far, False

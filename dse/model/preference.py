"""Which design of a front is the answer: one order, used wherever designs are recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.algebra.expression import parse_expression as parse_expression
from dse.model import tables
from dse.model.front import bend
from dse.model.problem import Problem
from dse.model.space import Index

KNEE = "knee"
SHORT = {"power": "w", "area": "m2"}
"""Words for the objective with this unit; without such an objective they are expressions."""


@dataclass(frozen=True)
class Preference:
    """What makes one design of a front better than another.

    Attributes
    ----------
    text
        What is preferred, in words.
    expression
        What is minimised; None for the knee.
    maximise
        True when the expression is an objective that the study maximises.
    """

    text: str
    expression: Expression | None
    maximise: bool = False

    @property
    def is_quantity(self) -> bool:
        """Whether one value per design decides, whatever else is on the front."""
        return self.expression is not None

    @property
    def quantity(self) -> str | None:
        """The quantity that decides; None for the knee and for other expressions."""
        if self.expression is None or len(self.expression.names) != 1:
            return None
        (name,) = self.expression.names
        return name if self.expression.text in (name, units.stem(name)) else None

    def merit(self, problem: Problem, index: Index) -> NDArray[np.float64]:
        """Return what the preference minimises for the designs `index` of a front, (n,)."""
        if self.expression is None:
            return bend(problem.evaluate(index).loss)
        value = self.expression.value(problem.describe(index))
        value = np.broadcast_to(-value if self.maximise else value, (len(index),))
        return np.where(np.isnan(value), np.inf, value)

    def order(self, problem: Problem, index: Index) -> NDArray[np.intp]:
        """Return the rows of a front, best first; ties in the order in which fronts are written."""
        loss = problem.evaluate(index).loss
        written = tables.sort_order(problem, index, loss)
        merit = self.merit(problem, index[written])
        order: NDArray[np.intp] = written[np.argsort(merit, kind="stable")]
        return order


def prefer(problem: Problem, written: str | None = None) -> Preference:
    """Return the preference that a word or an expression stands for.

    Parameters
    ----------
    problem
        The study's problem.
    written
        ``power`` or ``area`` (the study's objective in watts or square metres), ``knee``, the
        name of an objective, or an arithmetic expression to minimise.  None: power when it is
        an objective, otherwise the first objective.

    Raises
    ------
    ExpressionError
        When it is no arithmetic expression over the study's quantities.
    """
    if written == KNEE:
        return Preference("the knee of the front", None)
    names = [goal.name for goal in problem.goals]
    if written is None:
        chosen = _in_unit(names, SHORT["power"]) or names[0]
    else:
        chosen = _in_unit(names, SHORT.get(written, "")) or written
    known = [quantity.name for quantity in problem.quantities if not quantity.labels]
    expression = parse_expression(chosen, known)
    if expression.is_constraint:
        expression.value({})  # tells that arithmetic is needed
    for goal in problem.goals:
        if {goal.name} == expression.names and chosen in (goal.name, units.stem(goal.name)):
            word = "most" if goal.maximise else "least"
            return Preference(f"{word} {_words(goal.name)}", expression, goal.maximise)
    return Preference(f"least {chosen}", expression)


def _in_unit(names: list[str], unit: str) -> str | None:
    return next((name for name in names if unit and units.suffix(name) == unit), None)


def _words(name: str) -> str:
    return units.stem(name).replace("_", " ")

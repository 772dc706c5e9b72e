"""Preference among the designs of a front: the only order of recommended designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.algebra.expression import parse_expression as parse_expression
from dse.contract import Matrix
from dse.errors import ExpressionError
from dse.model import tables
from dse.model.evaluation import KNEE, Goal
from dse.model.front import bend
from dse.model.problem import Problem
from dse.model.space import Index

_SHORT: Mapping[str, tuple[str, ...]] = {"power": ("w",), "area": ("m2", "ge", "lc")}
"""Words for the first objective in one of these units.  Without one, they are expressions."""


@dataclass(frozen=True)
class Preference:
    """An order of the designs of a front.

    Attributes
    ----------
    best
        Property of the best design, in words: ``least power``.
    expression
        Minimised expression, or None for the knee.
    maximise
        True if the expression is an objective that the study maximises.
    tolerance
        Designs within this share of the best are as good as it.  Among them the other objectives
        decide, in the order of the study.
    others
        Wanted values of the other objectives, in words: ``least area``.
    """

    best: str
    expression: Expression | None
    maximise: bool = False
    tolerance: float = 0.0
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the whole rule in words."""
        if not self.tolerance:
            return self.best
        return f"{', then '.join(self.others)}, within {self.tolerance_text} of the {self.best}"

    @property
    def tolerance_text(self) -> str:
        """Return the tolerance in per cent."""
        return f"{100 * self.tolerance:g} %"

    @property
    def design(self) -> str:
        """Return the preferred design in words: ``the design with the least power``."""
        return self.text if self.expression is None else f"the design with the {self.text}"

    @property
    def is_quantity(self) -> bool:
        """Return whether one value per design is compared, independent of other designs."""
        return self.expression is not None

    @property
    def quantity(self) -> str | None:
        """Return the compared quantity, or None for the knee and for other expressions."""
        if self.expression is None or len(self.expression.names) != 1:
            return None
        (name,) = self.expression.names
        return name if self.expression.text in (name, units.stem(name)) else None

    def within(self, tolerance: float) -> Preference:
        """Return the same preference with another tolerance, a share of the best.

        The knee has none, nor has a study without another objective to decide.
        """
        if tolerance and self.expression is None:
            rule = "the knee weighs all objectives and leaves nothing to a tolerance"
            raise ExpressionError(rule, "prefer an objective, or leave the tolerance out: 0 %")
        if tolerance and not self.others:
            rule = "within a tolerance the other objectives decide, and this study has no other"
            raise ExpressionError(rule, "add an objective, or leave the tolerance out: 0 %")
        return replace(self, tolerance=tolerance)

    def column(self, problem: Problem) -> int | None:
        """Return the position of the compared loss, or None if it is no single objective."""
        names = [goal.name for goal in problem.goals]
        return names.index(self.quantity) if self.quantity in names else None

    def merit(
        self, problem: Problem, index: Index, loss: Matrix | None = None
    ) -> NDArray[np.float64]:
        """Return the minimised value of the designs `index` of a front, (n,).

        Their losses (n, m) are evaluated unless they are given.
        """
        column = self.column(problem)
        if column is None and self.expression is not None:
            columns = problem.columns(index, self.expression.names)
            value = self.expression.value(columns)
            return finite(np.broadcast_to(value, (len(index),)))
        losses = problem.evaluate(index).loss if loss is None else loss
        return bend(losses) if column is None else finite(losses[:, column])

    def design_on(self, problem: Problem, front: Index) -> str:
        """Return the preferred design of a front (n, d), n >= 1, in words.

        A knee that is best in an objective is an extreme, and is not called a knee.
        """
        if self.expression is not None:
            return self.design
        if len(front) == 1:
            return "the only design of the front"
        loss = problem.evaluate(front).loss
        chosen = loss[self.order(problem, front)[0]]
        ends = (chosen == loss.min(axis=0)) & (loss.min(axis=0) < loss.max(axis=0))
        if not ends.any():
            return self.design
        extreme = wanted(problem.goals[int(ends.argmax())])
        return f"the design with the {extreme}, as the front has no knee"

    def keys(self, problem: Problem, merit: Matrix, loss: Matrix) -> tuple[Matrix, ...]:
        """Return the values that decide, the most important first.  Less is better.

        The merit (..., n) is infinite for designs that must not be chosen.  Losses are (..., n, m).
        """
        losses = [loss[..., column] for column in range(loss.shape[-1])]
        if not self.tolerance:
            return (merit, *losses)
        least = merit.min(axis=-1, keepdims=True)
        near = (merit <= least + self.tolerance * np.abs(least)) | (merit == least)
        compared = self.column(problem)
        others = [values for column, values in enumerate(losses) if column != compared]
        return (np.where(near, -np.inf, merit), *others, merit)

    def order(self, problem: Problem, index: Index) -> NDArray[np.intp]:
        """Return the rows of a front, best first.  Ties are in the order of written fronts."""
        if len(index) < 2:
            return np.arange(len(index))
        loss = problem.evaluate(index).loss
        written = tables.sort_order(problem, index, loss)
        keys = self.keys(problem, self.merit(problem, index, loss)[written], loss[written])
        order: NDArray[np.intp] = written[np.lexsort(keys[::-1])]
        return order

    def first(self, problem: Problem, front: Index) -> Index:
        """Return the best design of a front (n, d), as its one row, or no row if it is empty."""
        return front[self.order(problem, front)[:1]]


def finite(value: Matrix) -> Matrix:
    """Return minimised values with NaN replaced by infinity."""
    return np.where(np.isnan(value), np.inf, value)


def prefer(problem: Problem, written: str | None = None) -> Preference:
    """Return the preference for a word or an expression.

    Parameters
    ----------
    problem
        The study's problem.
    written
        ``power`` or ``area`` (the study's objective in watts, in square metres, in GE or in LC),
        ``knee``, the name of an objective, the word that only one of them ends with, or an
        arithmetic expression to minimise.  None: power if it is an objective, otherwise the
        first objective.

    Raises
    ------
    ExpressionError
        It is no arithmetic expression over the study's quantities.
    """
    if written == KNEE:
        return Preference("the knee of the front", None)
    chosen = _chosen([goal.name for goal in problem.goals], written)
    known = [quantity.name for quantity in problem.quantities if not quantity.labels]
    expression = parse_expression(chosen, known)
    if expression.is_constraint:
        expression.value({})  # raises the error that arithmetic is needed
    found = Preference(f"least {chosen}", expression)
    name = found.quantity
    goal = next((goal for goal in problem.goals if goal.name == name), None)
    if goal is not None:
        found = replace(found, best=wanted(goal), maximise=goal.maximise)
    elif name is not None:
        found = replace(found, best=f"least {_words(name)}")
    others = tuple(wanted(goal) for goal in problem.goals if goal.name != name)
    return replace(found, others=others)


def _chosen(names: Sequence[str], written: str | None) -> str:
    """Return the objective that a word means among their `names`, or an expression as written."""
    if written is None:
        return _in_unit(names, _SHORT["power"]) or names[0]
    return _in_unit(names, _SHORT.get(written, ())) or _ending(names, written) or written


def _in_unit(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next((name for name in names if units.suffix(name) in wanted), None)


def _ending(names: Sequence[str], word: str) -> str | None:
    """Return the only name that ends with a word that is no name: ``latency`` of an offload."""
    stems = {units.stem(name) or name: name for name in names}
    found = [name for stem, name in stems.items() if stem.endswith(f"_{word}")]
    return found[0] if len(found) == 1 and not {word} & {*stems, *names} else None


def wanted(goal: Goal) -> str:
    """Return the wanted value of an objective, in words: ``least area``."""
    return f"{'most' if goal.maximise else 'least'} {_words(goal.name)}"


def _words(name: str) -> str:
    return units.stem(name).replace("_", " ")

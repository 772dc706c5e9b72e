"""Why nothing fits: the designs that miss least, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.answers.design import Pick, bounded, pick
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import blocks
from dse.runs.runner import ENUMERABLE
from dse.search import Outcome
from dse.search.exact.enumeration import CHUNK

TIE = 1e-9
"""Two misses this close, as a share, are the same miss."""


@dataclass(frozen=True)
class Shortfall:
    """A design that misses one constraint, and no design misses it by less.

    Attributes
    ----------
    rule
        The constraint.
    violation
        By how much it is missed, relative to its bound.
    design
        The design.
    quantity, value, bound
        What is bounded, what the design has of it, and the bound; the quantity is empty and
        the numbers None for a constraint that does not bound one quantity.
    at_least
        Whether the bound is a lower one.
    """

    rule: str
    violation: float
    design: Pick
    quantity: str = ""
    value: float | None = None
    bound: float | None = None
    at_least: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the miss as plain data, for JSON."""
        return {
            "rule": self.rule,
            "violation": self.violation,
            "quantity": self.quantity,
            "value": self.value,
            "allowed": self.bound,
        } | self.design.plain()


def shortfalls(
    problem: Problem, outcome: Outcome, preference: Preference
) -> tuple[tuple[Shortfall, ...], bool]:
    """Return the least misses of a problem without a feasible design.

    Per constraint the least miss of a design that meets all others.  Where every design misses
    several: those of the design that does what is demanded and misses the rest by the least, else
    of the nearest design.

    Returns
    -------
    The misses, and whether one design has them all.
    """
    enumerable = problem.size <= ENUMERABLE
    if enumerable and (single := _single_misses(problem, preference)):
        return single, False
    point = _demanded(problem) if enumerable else None
    if point is None:
        point = outcome.nearest_index
    if point is None:
        return (), False
    violation = problem.evaluate(point[np.newaxis]).violation[0].tolist()
    missed = [(rule, by) for rule, by in enumerate(violation) if by > 0]
    return tuple(_miss(problem, preference, rule, point, by) for rule, by in missed), True


def _demanded(problem: Problem) -> NDArray[np.int64] | None:
    """Return the design that meets every lower bound and misses the rest by the least."""
    rules = [bounded(problem, text) for text in problem.constraint_names]
    lower = [place for place, rule in enumerate(rules) if rule is not None and rule.at_least]
    least, point = (np.inf, np.inf), None
    for block in blocks(problem.sizes, CHUNK):
        violation = problem.evaluate(block).violation
        rows = np.flatnonzero((violation[:, lower] <= 0).all(axis=1))
        if not len(rows):
            continue
        missed = np.maximum(violation[rows], 0.0)
        worst, total = missed.max(axis=1), missed.sum(axis=1)
        row = int(np.lexsort((total, worst))[0])
        if (worst[row], total[row]) < least:
            least, point = (worst[row], total[row]), block.rows(rows[row : row + 1])[0]
    return point


def _single_misses(problem: Problem, preference: Preference) -> tuple[Shortfall, ...]:
    """Return, per constraint, the least miss of a design that meets all others.

    Lower bounds come last: the design that does what is asked, at whatever cost, says more.
    """
    best: dict[int, tuple[float, tuple[float, ...], NDArray[np.int64]]] = {}
    for block in blocks(problem.sizes, CHUNK):
        evaluation = problem.evaluate(block)
        missed = evaluation.violation > 0
        single = missed.sum(axis=1) == 1
        for rule in range(missed.shape[1]):
            rows = np.flatnonzero(single & missed[:, rule])
            if not len(rows):
                continue
            violation = evaluation.violation[rows, rule]
            least = float(violation.min())
            if rule in best and least > best[rule][0] * (1 + TIE):
                continue
            tied = rows[violation <= least * (1 + TIE)]
            merit = _merit(problem, preference, block.rows(tied), evaluation.loss[tied])
            row = np.lexsort(merit.T[::-1])[0]
            key = tuple(merit[row].tolist())
            if rule not in best or least < best[rule][0] * (1 - TIE) or key < best[rule][1]:
                best[rule] = (least, key, block.rows(tied[row : row + 1])[0])
    found = [
        _miss(problem, preference, rule, point, least) for rule, (least, _, point) in best.items()
    ]
    return tuple(sorted(found, key=lambda miss: (miss.at_least, miss.violation)))


def _merit(
    problem: Problem, preference: Preference, index: NDArray[np.int64], loss: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what decides between equal misses, (n, k): the preference, then the losses."""
    loss = np.where(np.isnan(loss), np.inf, loss)
    if not preference.is_quantity:
        return loss
    return np.column_stack([preference.merit(problem, index), loss])


def _miss(
    problem: Problem, preference: Preference, rule: int, point: NDArray[np.int64], violation: float
) -> Shortfall:
    text = problem.constraint_names[rule]
    design = pick(problem, point, preference.quantity)
    columns = problem.describe(point[np.newaxis])
    requirement = bounded(problem, text)
    if requirement is not None:
        bound = float(columns[requirement.at_most or requirement.at_least][0])
        value = float(columns[requirement.quantity][0])
        lower = bool(requirement.at_least)
        return Shortfall(text, violation, design, requirement.quantity, value, bound, lower)
    names = next((r.expression.names for r in problem.constraints if r.text == text), frozenset())
    if len(names) == 1:
        (name,) = names
        return Shortfall(text, violation, design, name, float(columns[name][0]))
    return Shortfall(text, violation, design)

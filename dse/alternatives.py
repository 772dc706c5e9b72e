"""What any other choice would cost: the best design with one choice made otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import runner
from dse.picks import Pick, bounded, pick
from dse.preference import Preference
from dse.problem import Problem
from dse.runner import ENUMERABLE, Options
from dse.search.exact import CHUNK
from dse.space import Axis, Space, blocks
from dse.study import Study

TIE = 1e-9
"""Two misses this close, as a share, are the same miss."""


@dataclass(frozen=True)
class Miss:
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


@dataclass(frozen=True)
class Alternative:
    """The best design with one choice made otherwise.

    Attributes
    ----------
    axis, choice
        What is chosen, and how: ``interface.device`` and ``apu``.
    design
        The best such design, None when none is feasible.
    merit
        What the preference minimises for it; None when it is no single quantity, or infeasible.
    misses
        When nothing is feasible: the least misses of one constraint alone, or of several that
        are missed together.
    together
        Whether the misses come together.
    """

    axis: str
    choice: str
    design: Pick | None
    merit: float | None = None
    misses: tuple[Miss, ...] = ()
    together: bool = False

    @property
    def closest(self) -> Pick | None:
        """The design, or the one that comes closest to being feasible."""
        return self.design or (self.misses[0].design if self.misses else None)


Cut = Mapping[int, Sequence[int]]
"""Positions of an axis -> the positions of the values that stay."""


def restrict(problem: Problem, cut: Cut) -> Problem:
    """Return a problem with only some values of some axes."""
    axes = tuple(
        _part(axis, cut[place]) if place in cut else axis
        for place, axis in enumerate(problem.space.axes)
    )
    return replace(problem, space=Space(axes, problem.space.constants))


def _part(axis: Axis, kept: Sequence[int]) -> Axis:
    columns = {name: values[list(kept)] for name, values in axis.columns.items()}
    return replace(axis, columns=columns, labels=tuple(axis.labels[place] for place in kept))


def alternatives(
    study: Study, options: Options, preference: Preference, answer: Pick
) -> tuple[Alternative, ...]:
    """Return the best design for every other choice by name, and with or without each design."""
    found = []
    for axis, choice, cut in _cuts(study.problem, answer):
        other = _best(replace(study, problem=restrict(study.problem, cut)), options, preference)
        if not _same(other.design, answer):
            found.append(replace(other, axis=axis, choice=choice))
    return tuple(found)


def _same(one: Pick | None, other: Pick) -> bool:
    return one is not None and (one.counts, one.choices) == (other.counts, other.choices)


def _cuts(problem: Problem, answer: Pick) -> Iterator[tuple[str, str, Cut]]:
    """Yield every other way to make one choice: axis, choice, and what stays of the space."""
    axes = problem.space.axes
    for place, axis in enumerate(axes):
        if not axis.ordered and axis.size > 1:
            for position, label in enumerate(axis.labels):
                if not _chosen(axis, label, answer):
                    yield axis.name, label, {place: [position]}
    for stage in problem.stages:
        names = [f"{stage.name}.{design}" for design in stage.designs.names]
        places = {axis.name: place for place, axis in enumerate(axes) if axis.name in names}
        if not stage.mixed or len(places) < 2:
            continue
        none = {name: _zero(axes[place]) for name, place in places.items()}
        for name, place in places.items():
            design = name.removeprefix(f"{stage.name}.")
            if none[name]:
                yield stage.name, f"without {design}", {place: none[name]}
            others = {places[other]: none[other] for other in places if other != name}
            if all(others.values()):
                yield stage.name, f"only {design}", others


def _chosen(axis: Axis, label: str, answer: Pick) -> bool:
    stage, _, _ = axis.name.partition(".")
    return answer.choices.get(axis.name) == label or f"{stage}.{label}" in answer.counts


def _zero(axis: Axis) -> list[int]:
    return np.flatnonzero(axis.columns[axis.unit_name] == 0).tolist()


def _best(study: Study, options: Options, preference: Preference) -> Alternative:
    problem = study.problem
    outcome = runner.solve(study, options, None).outcome
    if len(outcome.front_index):
        front = outcome.front_index
        point = front[preference.order(problem, front)[0]]
        merit = None
        if preference.is_quantity:
            merit = float(preference.merit(problem, point[np.newaxis])[0])
        return Alternative("", "", pick(problem, point, preference.quantity), merit)
    misses = _single_misses(problem, preference) if problem.size <= ENUMERABLE else ()
    if misses or outcome.nearest_index is None or outcome.nearest_violation is None:
        return Alternative("", "", None, misses=misses)
    nearest, violation = outcome.nearest_index, outcome.nearest_violation
    rules = [place for place, by in enumerate(violation) if by > 0]
    together = tuple(
        _miss(problem, preference, place, nearest, float(violation[place])) for place in rules
    )
    return Alternative("", "", None, misses=together, together=True)


def _single_misses(problem: Problem, preference: Preference) -> tuple[Miss, ...]:
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
) -> Miss:
    text = problem.constraint_names[rule]
    design = pick(problem, point, preference.quantity)
    columns = problem.describe(point[np.newaxis])
    requirement = bounded(problem, text)
    if requirement is not None:
        bound = float(columns[requirement.at_most or requirement.at_least][0])
        value = float(columns[requirement.quantity][0])
        lower = bool(requirement.at_least)
        return Miss(text, violation, design, requirement.quantity, value, bound, lower)
    names = next((r.expression.names for r in problem.constraints if r.text == text), frozenset())
    if len(names) == 1:
        (name,) = names
        return Miss(text, violation, design, name, float(columns[name][0]))
    return Miss(text, violation, design)

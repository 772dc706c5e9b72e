"""What doing without accelerators would take, beside the design that is recommended."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from dse.algebra import units
from dse.algebra.expression import Expression
from dse.answers.design import Pick, amount
from dse.contract import Objective
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.words import change, in_words, listed, relative_change

SAME = 1e-12
"""Relative; less than this is no difference."""


@dataclass(frozen=True, kw_only=True)
class Without:
    """What it takes to do without accelerators what a design does.

    Attributes
    ----------
    quantity, words
        What is needed, and what does the work: ``the host alone``.
    needs, available
        How much of it, and how much there is; None where nobody says.
    costs
        Quantities of the study as they are then, as far as they are known.
    demanded
        Whether the study demands a rate; otherwise it is that of the design.
    violated, unknown
        Constraints of the study that are violated then, and those of which nothing can be said.
    better
        Whether it can be done, meets every constraint, and is preferred to the design.
    """

    quantity: str
    words: str
    needs: float
    available: float | None
    costs: Mapping[str, float]
    demanded: bool
    violated: tuple[str, ...]
    unknown: tuple[str, ...]
    better: bool

    @property
    def enough(self) -> bool:
        """Whether there is known to be as much as is needed."""
        return self.available is not None and self.needs <= self.available * (1.0 + SAME)

    def text(self, pick: Pick, told: str | None) -> str:
        """Return what it takes, whether that can be done, and how it compares in `told`."""
        name = amount(self.needs, self.quantity).replace(" alone", "")
        of = f" of {units.show(self.available, self.quantity)}" if self.available else ""
        start = "would need" if self.demanded else "would need for as much"
        text = f"{self.words[0].upper()}{self.words[1:]} {start} {name}{of}"
        known = [name for name in self.costs if name in pick.quantities]
        shown = told if told in known else next(iter(known), None)
        text += f", with {self._cost(shown, pick)}" if shown else ""
        if self.available is None:
            return f"{text}; how many there are is unknown."
        if not self.enough:
            return f"{text}: it cannot."
        if self.violated:
            return f"{text}: it violates {listed(self.violated)}."
        if self.unknown:
            return f"{text}; whether it meets {listed(self.unknown)} is unknown."
        return f"{text}: stay on it." if self.better else f"{text}."

    def differences(self, pick: Pick) -> dict[str, float]:
        """Return by which share of a design's quantities the costs differ."""
        shares = {
            name: relative_change(value, pick.quantities[name])
            for name, value in self.costs.items()
            if name in pick.quantities
        }
        return {name: share for name, share in shares.items() if share is not None}

    def _cost(self, name: str, pick: Pick) -> str:
        value = self.costs[name]
        shown = f"{in_words(name)} {units.show(value, name)}"
        return f"{shown} ({change(value, pick.quantities[name])})"


def without_accelerators(
    problem: Problem, point: Index, preference: Preference
) -> Iterator[Without]:
    """Yield what it takes to do without accelerators what the design at `point`, (1, d), does."""
    columns = problem.describe(point)
    for quantity in problem.quantities:
        if quantity.instead is not None and not math.isnan(columns[quantity.name][0]):
            yield _without(problem, columns, quantity, preference)


def _without(
    problem: Problem,
    columns: Mapping[str, np.ndarray],
    quantity: Objective,
    preference: Preference,
) -> Without:
    about = quantity.instead
    if about is None:
        raise ValueError(f"{quantity.name} tells nothing of doing without accelerators")
    costs = {
        name: columns[other]
        for name, other in about.costs.items()
        if name in columns and other in columns and not math.isnan(columns[other][0])
    }
    set_by_study = {*problem.space.constants}.union(*(a.columns for a in problem.space.axes))
    known = {*costs, *set_by_study}
    then = {**columns, **costs}
    rules = [(rule.text, rule.expression) for rule in problem.constraints]
    unknown = tuple(text for text, rule in rules if not rule.names <= known)
    met = [(text, rule) for text, rule in rules if text not in unknown]
    violated = tuple(text for text, rule in met if rule.violation(then)[0] > 0)
    there = float(columns[about.available][0]) if about.available in columns else math.inf
    demanded = any(rule.at_least in columns for rule in problem.bound_requirements if rule.at_least)
    found = Without(
        quantity=quantity.name,
        words=about.words,
        needs=float(columns[quantity.name][0]),
        available=there if math.isfinite(there) else None,
        costs={name: float(value[0]) for name, value in costs.items()},
        demanded=demanded,
        violated=violated,
        unknown=unknown,
        better=False,
    )
    able = demanded and found.enough and not violated and not unknown
    better = able and _preferred(preference.expression, then, columns, known)
    return Without(**{**asdict(found), "better": better and not preference.maximise})


def _preferred(
    expression: Expression | None,
    then: Mapping[str, np.ndarray],
    now: Mapping[str, np.ndarray],
    known: set[str],
) -> bool:
    """Tell whether what is minimised is known to be less than it is now."""
    if expression is None or not expression.names <= known:
        return False
    one, other = float(expression.value(then)[0]), float(expression.value(now)[0])
    return one < other - SAME * abs(other)


def without_section(found: list[Without], pick: Pick, told: str | None) -> Section:
    """Return what it takes to do without accelerators."""
    lines = tuple(entry.text(pick, told) for entry in found)
    facts = [
        asdict(entry) | {"enough": entry.enough, "differences": entry.differences(pick)}
        for entry in found
    ]
    return Section("instead", "Without accelerators", lines, facts=facts)

"""What a tolerance trades: what is bought by giving up a little of what is preferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.answers.design import Pick, pick
from dse.model.evaluation import Goal
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import difference, parts
from dse.reports.sections import Section
from dse.reports.text import change, in_words, listed, percent

LITTLE = (0.01, 0.02, 0.05, 0.1)
"""Tolerances that an answer tries, until one takes another design."""


@dataclass(frozen=True)
class Trade:
    """What a tolerance bought and what it cost.

    Attributes
    ----------
    taken, best
        The design taken, and the one that would be taken without a tolerance.
    preference, goals
        The rule, and the objectives.
    """

    taken: Pick
    best: Pick
    preference: Preference
    goals: Sequence[Goal]

    @property
    def is_none(self) -> bool:
        """Whether both are the same design."""
        one, other = self.taken, self.best
        return (one.counts, one.choices) == (other.counts, other.choices)

    @property
    def text(self) -> str:
        """The trade in words."""
        strict = self.preference.within(0).design
        if self.is_none:
            return f"It is {strict} too: the tolerance changes nothing."
        return f"Compared with {strict}, {self.best.line}: {self.price}."

    @property
    def price(self) -> str:
        """What is gained and what that costs: ``14 % less area for 2 % more power``."""
        gains, costs = self.differences(better=True), self.differences(better=False)
        return f"{listed(gains) or 'nothing better'} for {listed(costs) or 'nothing'}"

    def differences(self, *, better: bool) -> list[str]:
        """Return what is better, or worse, in the order of the objectives, the preferred last."""
        senses = {goal.name: goal.maximise for goal in self.goals}
        name = self.preference.quantity
        if name is not None:
            senses[name] = senses.pop(name, self.preference.maximise)
        found = []
        for name, maximise in senses.items():
            new, old = self.taken.quantities[name], self.best.quantities[name]
            if new != old and ((new > old) == maximise) == better:
                found.append(f"{change(new, old, digits=2)} {in_words(name)}".strip())
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        names = [goal.name for goal in self.goals]
        return {
            "tolerance": self.preference.tolerance,
            "without": self.best.to_dict(),
            "differences": self.best.differences(self.taken, names),
        }


def bought_section(problem: Problem, front: Index, chosen: Pick, preference: Preference) -> Section:
    """Return what giving up a little of what is preferred would buy.

    The least share of `LITTLE` within which a design of the front is better than the one `chosen`
    in another objective, and of these the one that is best in the first such objective.  What is
    first of the others a tolerance buys by the same rule.
    """
    name = preference.quantity
    if name is None or preference.tolerance or not preference.others:
        return Section("bought", brief=())
    best = preference.first(problem, front)
    merit, loss = preference.merit(problem, front), problem.evaluate(front).loss
    columns = [column for column, goal in enumerate(problem.goals) if goal.name != name]
    for tolerance in LITTLE:
        near = preference.within(tolerance)
        rows = np.flatnonzero(merit <= merit.min() + tolerance * abs(merit.min()))
        for first in columns:
            others = [first, *(column for column in columns if column != first)]
            keys = (merit[rows], *(loss[rows, column] for column in reversed(others)))
            other = front[rows[np.lexsort(keys)[:1]]]
            trade = Trade(pick(problem, other[0], name), chosen, near, problem.goals)
            if trade.differences(better=True) and trade.differences(better=False):
                new, old = (parts(problem, design)[0] for design in (other, best))
                option = f' (--tolerance "{near.tolerance_text}")' if first == columns[0] else ""
                line = f"Trade-off: {difference(new, old)} has {trade.price}{option}."
                facts = trade.to_dict() | {"with": trade.taken.to_dict()}
                return Section("bought", lines=(line,), facts=facts, brief=(line,))
    if len(front) == 1:
        return Section("bought", brief=())
    line = f"No other design of the front is within {percent(LITTLE[-1])} of the {preference.best}."
    return Section("bought", lines=(line,), brief=(line,))

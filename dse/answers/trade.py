"""What a tolerance trades: how the design taken differs from the one that is best without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dse.answers.design import Pick
from dse.model.preference import Preference
from dse.model.problem import Goal
from dse.reports.words import change, in_words, listed


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
        gains, costs = self._differences(better=True), self._differences(better=False)
        bought = f"{listed(gains) or 'nothing better'} for {listed(costs) or 'nothing'}"
        return f"Compared with {strict}, {self.best.line}: {bought}."

    def _differences(self, *, better: bool) -> list[str]:
        """Return what is better, or worse, in the order of the objectives, the preferred last."""
        senses = {goal.name: goal.maximise for goal in self.goals}
        name = self.preference.quantity
        if name is not None:
            senses[name] = senses.pop(name, self.preference.maximise)
        found = []
        for name, maximise in senses.items():
            new, old = self.taken.quantities[name], self.best.quantities[name]
            if new != old and ((new > old) == maximise) == better:
                found.append(f"{change(new, old)} {in_words(name)}".strip())
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        names = [goal.name for goal in self.goals]
        return {
            "tolerance": self.preference.tolerance,
            "without": self.best.to_dict(),
            "differences": self.best.differences(self.taken, names),
        }

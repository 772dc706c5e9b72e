"""Everything that would admit a design, the least first, and what was too much work to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dse.parametric.attempt import Attempts, admitted
from dse.parametric.budgets import Needed
from dse.parametric.change import NUMBER, Repair
from dse.parametric.choices import choices_of
from dse.parametric.repair import as_yaml, repairs_of
from dse.parametric.running import running_of
from dse.reports.words import listed
from dse.study.study import Study

BOTH = 1e6
"""Size of a change of two bounds, beyond all that one number needs, besides their excess."""


@dataclass(frozen=True)
class Remedies:
    """Repairs of a study, the least first, and changes that were not tried."""

    repairs: tuple[Repair, ...] = ()
    untried: tuple[str, ...] = ()

    @property
    def relaxed(self) -> frozenset[str]:
        """The constraints and requirements that a repair relaxes."""
        return frozenset(rule for found in self.repairs for rule in found.constraints)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "repairs": [found.to_dict() for found in self.repairs],
            "untried": list(self.untried),
        }


def remedies_of(infeasible: Study, need: Needed | None, *, composed: bool) -> Remedies:
    """Return the remedies of a study that no design meets.

    First how the cores run and work is handed over, which gives up nothing that is asked for; then
    numbers, the smallest change first, and two bounds together; then other designs of the study's
    own, and last other devices and platforms of the catalogue.
    """
    attempts = Attempts(infeasible, composed=composed)
    found = [
        *repairs_of(attempts),
        *_pairs(attempts, need),
        *running_of(attempts),
        *choices_of(attempts),
    ]
    ordered = tuple(sorted(found, key=lambda repair: repair.order))
    return Remedies(ordered, tuple(dict.fromkeys(attempts.untried)))


def _pairs(attempts: Attempts, need: Needed | None) -> Iterator[Repair]:
    """Yield the least changes of two bounds together: larger than all of one number."""
    rules = attempts.infeasible.problem.constraints
    for excess, changes in () if need is None else need.pairs():
        overrides = tuple((f"constraints.{place}", as_yaml(text)) for place, text in changes)
        solved = attempts.solve(*overrides)
        if solved is not None:
            written = listed([text for _, text in changes])
            yield Repair(
                overrides=overrides,
                constraints=tuple(rules[place].text for place, _ in changes),
                written=written,
                what=f"{written} together",
                rank=NUMBER,
                size=BOTH + excess,
                **admitted(solved),
            )

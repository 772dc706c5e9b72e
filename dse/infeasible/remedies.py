"""Everything that would admit a design, the least first, and what was too much work to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dse.infeasible.attempt import Attempts
from dse.infeasible.change import Repair
from dse.infeasible.choices import choices_of
from dse.infeasible.repair import repairs_of
from dse.infeasible.running import running_of
from dse.study.study import Study


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


def remedies_of(infeasible: Study, *, composed: bool) -> Remedies:
    """Return the remedies of a study that no design meets.

    First how the cores run and work is handed over, which gives up nothing that is asked for; then
    numbers, the smallest change first; then other designs, devices and platforms.
    """
    attempts = Attempts(infeasible)
    found = [
        *repairs_of(infeasible, composed=composed),
        *running_of(attempts, composed=composed),
        *choices_of(attempts),
    ]
    ordered = tuple(sorted(found, key=lambda repair: repair.order))
    return Remedies(ordered, tuple(dict.fromkeys(attempts.untried)))

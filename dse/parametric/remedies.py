"""Everything that would admit a design, the least first, and what was too much work to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dse.parametric.attempt import Attempts, admitted
from dse.parametric.budgets import Needed
from dse.parametric.change import BoundsRepair, Repair
from dse.parametric.choices import choices_of
from dse.parametric.repair import as_yaml, repairs_of
from dse.parametric.running import running_of
from dse.reports.words import listed
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
    """Yield the least changes of two bounds together."""
    for excess, changes in () if need is None else need.pairs():
        solved = attempts.solve(*((path, as_yaml(text)) for path, text in changes))
        if solved is not None:
            yield BoundsRepair(
                overrides=tuple((path, as_yaml(text)) for path, text in changes),
                constraints=tuple(
                    attempts.infeasible.problem.constraints[int(path.partition(".")[2])].text
                    for path, _ in changes
                ),
                written=listed([text for _, text in changes]),
                excess=excess,
                **admitted(solved),
            )

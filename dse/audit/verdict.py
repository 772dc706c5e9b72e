"""Results of checking a run again: checks, designs that the front lacks, the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.model.evaluation import Ledger
from dse.reports.text import Printable, paragraph, plural

HOLDS, FAILS, FOUND = "holds", "FAILS", "found"

WRITTEN = ("files", "manifest")
"""Checks that the run is as its program left it."""

OTHER_MODELS = (
    "Its checksums match, so the version that wrote it had other models, unless these were forged: "
    "run the study again and compare with `dse diff`."
)

MOST_SHOWN = 3
"""Most finds, and most errors of a check, that are written out."""


@dataclass(frozen=True)
class Check:
    """One check, with its verdict and its observation.

    A verdict is ``holds``, ``FAILS``, or ``found`` for designs better than a heuristic's.
    """

    name: str
    verdict: str
    text: str

    @property
    def holds(self) -> bool:
        """Return whether it is compatible with the run."""
        return self.verdict != FAILS


@dataclass(frozen=True)
class Find:
    """A feasible design that a front lacks, after the swept value if there is one.

    Its `relation` to the front is ``dominates`` or ``incomparable``.  `row` is the row of front.csv
    that it dominates, counted from 1.
    """

    design: str
    objectives: Mapping[str, float]
    relation: str
    row: int | None

    @property
    def text(self) -> str:
        """Return the find in words."""
        values = ", ".join(units.show(value, name) for name, value in self.objectives.items())
        said = {
            "dominates": f"dominates row {self.row}",
            "incomparable": "is dominated by no row",
        }
        return f"{self.design} ({values}) {said[self.relation]}"


@dataclass(frozen=True, repr=False)
class Verification(Printable):
    """Results of checking a run.

    Attributes
    ----------
    folder, ledger
        The run, and its account of the knowledge of its designs.
    checks
        In the order of their execution.
    tried, feasible
        Designs compared with the front, and the number of feasible ones among them.
    found, finds
        Number of feasible designs that the front lacks, and the nondominated ones among them.
    """

    folder: Path
    ledger: Ledger
    checks: tuple[Check, ...]
    tried: int = 0
    feasible: int = 0
    found: int = 0
    finds: tuple[Find, ...] = ()

    @property
    def exact(self) -> bool:
        """Return whether the run claims that its front is exact."""
        return self.ledger.exact

    @property
    def holds(self) -> bool:
        """Return whether no check refutes the run."""
        return all(check.holds for check in self.checks)

    def text(self, *, all: bool = True) -> str:
        """Return one line per check, without `all` of those that do not hold, and the verdict."""
        kept = [check for check in self.checks if all or check.verdict != HOLDS]
        shown = [f"{check.verdict}  {check.name}: {check.text}" for check in kept]
        shown += [f"       {find.text}" for find in self.finds[:MOST_SHOWN]]
        lines = [paragraph(line, "       ") for line in shown]
        if not self.holds:
            failed = sum(not check.holds for check in self.checks)
            lines.append(f"{self.folder} is refuted: {plural(failed, 'check')} failed")
            if {check.name for check in self.checks if check.verdict == HOLDS} >= {*WRITTEN}:
                lines.append(paragraph(OTHER_MODELS))
            return "\n".join(lines)
        better = ", and it can be improved" if self.found else ""
        counted = f" ({plural(len(self.checks), 'check')})" if not all else ""
        lines.append(f"Verified: {self.folder} is {self.ledger.front}{better}{counted}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        facts = {"folder": str(self.folder), "holds": self.holds, "exact": self.exact}
        return asdict(self) | facts


def check_of(name: str, wrong: list[str], right: str) -> Check:
    """Return a check that fails with all that is wrong, the first of many written out."""
    more = f"; and {len(wrong) - MOST_SHOWN} more" if len(wrong) > MOST_SHOWN else ""
    return Check(
        name, FAILS if wrong else HOLDS, "; ".join(wrong[:MOST_SHOWN]) + more if wrong else right
    )

"""Every claim of the papers behind the plug-ins, compared with our models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dse.api.arguments import public
from dse.contract.papers import CONTRADICTION, Claim, ClaimValue
from dse.errors import UnknownPluginError, nearest
from dse.papers.study_runner import StudyRunner
from dse.papers.verdicts import BOUND, VERDICTS, CheckedClaim, check_claim
from dse.plugins import registry
from dse.reports.text import Printable, plural, table_text


@dataclass(frozen=True, repr=False)
class Reproduction(Printable):
    """Claims of papers, compared with our models."""

    rows: tuple[CheckedClaim, ...]

    @property
    def contradictions(self) -> tuple[CheckedClaim, ...]:
        """Return the contradictions found inside the papers, one for each."""
        return tuple(row for row in self._findings if row.verdict == CONTRADICTION)

    @property
    def _findings(self) -> tuple[CheckedClaim, ...]:
        """Return the claims that are no part of another."""
        return tuple(row for row in self.rows if not row.claim.refers_to)

    def counts(self) -> dict[str, int]:
        """Return how many findings have each verdict."""
        verdicts = [row.verdict for row in self._findings]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    def text(self, *, width: int | None = None) -> str:
        """Return a table of all claims, the reasons of their verdicts, and the counts."""
        reasons = dict.fromkeys(reason for row in self.rows if (reason := _why(row)))
        numbers = {reason: f" [{number}]" for number, reason in enumerate(reasons, start=1)}
        cells = [(*_cells(row), row.verdict + numbers.get(_why(row), "")) for row in self.rows]
        notes = [(number.strip(), reason) for reason, number in numbers.items()]
        headers = ("paper", "where", "statement", "printed", "ours", "verdict")
        parts = [table_text(cells, headers, width=width)]
        parts += [table_text(notes, ("", "why"), width=width)] if notes else []
        return "\n\n".join([*parts, self.summary()])

    def summary(self) -> str:
        """Return the counts in words."""
        counted = ", ".join(f"{verdict}: {n}" for verdict, n in self.counts().items())
        parts = len(self.rows) - len(self._findings)
        found = plural(len(self.contradictions), "contradiction")
        return f"{found} inside the papers, each with its place\n{counted}; parts of these: {parts}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "contradictions": len(self.contradictions),
            "counts": self.counts(),
            "parts_of_others": len(self.rows) - len(self._findings),
            "claims": [_plain(row) for row in self.rows],
        }


@public
def reproduce(*papers: str) -> Reproduction:
    """Check each number and statement of the papers against our models.

    >>> print(dse.reproduce("roofline"))

    Parameters
    ----------
    papers : PAPER...
        Papers to check (default: all).

    Raises
    ------
    dse.errors.UnknownPluginError
        Naming a paper without claims.
    dse.errors.ContractError
        A claim fails to compute: with its file and line.
    """
    laboratory = StudyRunner()
    chosen = select_claims(registry.records(Claim).values(), papers)
    return Reproduction(tuple(check_claim(claim, laboratory) for claim in chosen))


def select_claims(claims: Iterable[Claim], papers: Sequence[str]) -> list[Claim]:
    """Return the claims of some papers, or of all, in the order of their papers' names.

    Raises
    ------
    UnknownPluginError
        A paper has no claims.  The error names the nearest that has some.
    """
    found = sorted(claims, key=lambda claim: claim.paper)
    known = {claim.paper for claim in found}
    for paper in papers:
        if paper not in known:
            rule = f"{paper!r} is not a paper with claims to check"
            raise UnknownPluginError(rule, nearest(paper, known))
    return [claim for claim in found if not papers or claim.paper in papers]


def _cells(row: CheckedClaim) -> tuple[str, ...]:
    claim = row.claim
    answer = row.answer
    ours = "" if answer.ours is None else _shown(answer.ours, claim.unit)
    if answer.within:
        low, high = (_shown(end, "") for end in answer.within)
        ours += f" ({low} to {high})"
    for reading in row.readings:
        given = "nothing" if reading.ours is None else _shown(reading.ours, claim.unit)
        ours += f"{'; ' if ours else ''}{reading.words}: {given}"
    printed = _shown(claim.printed, claim.unit)
    return (claim.paper, claim.where, claim.statement, printed, ours)


def _why(row: CheckedClaim) -> str:
    """Return the reason of a row, its opponent, and the row that it is part of."""
    claim = row.claim
    against = f"against {claim.against}" if claim.against else ""
    part = f"part of {claim.refers_to}" if claim.refers_to else ""
    return "; ".join(filter(None, (against, claim.reason, part)))


def _shown(value: ClaimValue, unit: str) -> str:
    """Return a value with its unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"{value} {unit}" if unit and BOUND.fullmatch(value) else value
    digits = f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.5g}"
    return f"{digits} {unit}".rstrip()


def _plain(row: CheckedClaim) -> dict[str, Any]:
    """Return a row without the functions of its claim, which only the engine calls."""
    outcome = ("name", "paper", "where", "statement", "printed", "unit")
    judged = ("against", "refers_to", "reason", "inputs")
    claim = {name: getattr(row.claim, name) for name in (*outcome, *judged)}
    ours = {"ours": row.answer.ours, "ours_within": row.answer.within}
    ours |= {"relative_error": row.relative_error, "verdict": row.verdict}
    return claim | ours | {"readings": [asdict(reading) for reading in row.readings]}

"""Every claim of the papers behind the plug-ins beside what our models give."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dse.contract.papers import Claim, Laboratory
from dse.errors import ContractError, UnknownPluginError, nearest
from dse.plugins import registry
from dse.reports.text import Printable, table_text
from dse.reproduction import claim_pages
from dse.reproduction.study_runner import StudyRunner
from dse.reproduction.verdicts import CheckedClaim, check_claim


@dataclass(frozen=True, repr=False)
class Reproduction(Printable):
    """Claims of papers beside what our models give."""

    rows: tuple[CheckedClaim, ...]

    @property
    def contradictions(self) -> tuple[CheckedClaim, ...]:
        """The contradictions found inside the papers, one for each."""
        return claim_pages.contradictions(self.rows)

    def text(self, *, width: int | None = None) -> str:
        """Return the contradictions, what agrees by section, and how to see the rest."""
        parts = []
        if found := claim_pages.sides(self.rows):
            headers = ("where", "what is printed", "against", "why")
            parts.append(table_text(found, headers, width=width))
        headers = ("where", "agree", "within rounding", "for instance")
        parts.append(table_text(claim_pages.agreements(self.rows), headers, width=width))
        rest = "--all lists every claim with its reason, --json as data"
        return "\n\n".join([*parts, f"{self.summary()}\n{rest}"])

    def full_text(self, *, width: int | None = None) -> str:
        """Return a table per paper of all its claims, its numbered reasons below it."""
        parts = []
        for paper, own in claim_pages.by_paper(self.rows).items():
            reasons = filter(None, dict.fromkeys(map(claim_pages.why, own)))
            numbers = {reason: number for number, reason in enumerate(reasons, start=1)}
            headers = ("where", "what it says", "printed", "ours", "error", "verdict")
            cells = [_cells(row, numbers) for row in own]
            notes = [(f"[{number}]", reason) for reason, number in numbers.items()]
            parts += [paper, table_text(cells, headers, width=width)]
            parts += [table_text(notes, ("", "why"), width=width)] if notes else []
        return "\n\n".join([*parts, self.summary()])

    def pages(self, front: Path) -> dict[Path, str]:
        """Return two pages by their files: for a reader, and every claim beside it."""
        rest = front.with_name(f"{front.stem}_all{front.suffix}")
        return {
            front: claim_pages.front_page(self.rows, rest.name),
            rest: claim_pages.full_page(self.rows),
        }

    def summary(self) -> str:
        """Return the counts in words."""
        found = claim_pages.contradictions_text(self.rows)
        return f"{found}\n{claim_pages.counts_text(self.rows)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "contradictions": len(self.contradictions),
            "counts": claim_pages.counts(self.rows),
            "parts_of_others": len(self.rows) - sum(claim_pages.counts(self.rows).values()),
            "claims": [_plain(row) for row in self.rows],
        }


def check_papers(papers: Sequence[str] = ()) -> Reproduction:
    """Return every claim of some papers, or of all, with our answer and the verdict.

    Raises
    ------
    UnknownPluginError
        Naming a paper without claims.
    ContractError
        Claims fail to compute, or have a verdict that does not fit what is computed: each with
        its file and line.
    """
    claims = registry.records(Claim).values()
    return check_claims(select_claims(claims, papers), StudyRunner())


def check_claims(claims: Iterable[Claim], laboratory: Laboratory) -> Reproduction:
    """Return claims with our answers and verdicts; see `check_papers`."""
    rows, faults = [], []
    for claim in claims:
        try:
            rows.append(check_claim(claim, laboratory))
        except ContractError as fault:
            faults.append(str(fault))
    if faults:
        raise ContractError("\n".join(faults))
    return Reproduction(tuple(rows))


def select_claims(claims: Iterable[Claim], papers: Sequence[str]) -> list[Claim]:
    """Return the claims of some papers, or of all; in the order of their papers' names.

    Raises
    ------
    UnknownPluginError
        Naming a paper without claims, and the nearest that has some.
    """
    found = sorted(claims, key=lambda claim: claim.paper)
    check_known(papers, {claim.paper for claim in found})
    return [claim for claim in found if not papers or claim.paper in papers]


def check_known(papers: Sequence[str], known: Collection[str]) -> None:
    """Refuse a paper without claims; see `select_claims`."""
    for paper in papers:
        if paper not in known:
            rule = f"{paper!r} is not a paper with claims to check"
            raise UnknownPluginError(rule, nearest(paper, known))


def _cells(row: CheckedClaim, numbers: Mapping[str, int]) -> tuple[str, ...]:
    claim, reason = row.claim, claim_pages.why(row)
    number = f" [{numbers[reason]}]" if reason else ""
    printed = claim_pages.shown(claim.printed, claim.unit)
    answer = (claim_pages.ours_shown(row), claim_pages.error_shown(row))
    return (claim.where, claim.statement, printed, *answer, f"{row.verdict}{number}")


def _plain(row: CheckedClaim) -> dict[str, Any]:
    """Return a row without what only the engine calls: the answers behind it."""
    outcome = ("name", "paper", "where", "statement", "printed", "unit")
    judged = ("against", "refers_to", "reason", "inputs")
    claim = {name: getattr(row.claim, name) for name in (*outcome, *judged)}
    ours = {name: getattr(row, name) for name in ("ours", "ours_within", "relative_error")}
    readings = [asdict(reading) for reading in row.readings]
    return claim | ours | {"verdict": row.verdict, "readings": readings}

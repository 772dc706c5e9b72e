"""What papers find of their hardware beside what hardware of our own gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from dse.contract.papers import Claim, SynthesisClaims, Tables
from dse.plugins import registry
from dse.reports.text import Printable, plural, table_text
from dse.reproduction import claim_pages
from dse.reproduction.reproduce import check_known
from dse.reproduction.study_runner import StudyRunner
from dse.reproduction.verdicts import AGREES, WITHIN, ClaimReading, read_claim


@dataclass(frozen=True)
class SynthesisedClaim:
    """A claim, and what each library gives."""

    claim: Claim
    readings: tuple[ClaimReading, ...]


@dataclass(frozen=True, repr=False)
class Synthesis(Printable):
    """Claims of papers beside what hardware of our own gives in each library."""

    rows: tuple[SynthesisedClaim, ...]

    @property
    def libraries(self) -> tuple[str, ...]:
        """Names of the libraries, in the order of the claims."""
        return tuple(dict.fromkeys(one.words for row in self.rows for one in row.readings))

    def text(self, *, width: int | None = None) -> str:
        """Return the paper's figure and each library's beside it, and in how many they agree."""
        headers = ("where", "what it says", "paper", *self.libraries, "agrees in")
        table = table_text([self._cells(row) for row in self.rows], headers, width=width)
        return f"{table}\n\n{self.summary()}"

    def _cells(self, row: SynthesisedClaim) -> tuple[str, ...]:
        claim, of = row.claim, {one.words: one.ours for one in row.readings}
        found = [of.get(name) for name in self.libraries]
        shown = ["" if one is None else claim_pages.shown(one, claim.unit) for one in found]
        held = [one.words for one in row.readings if _held(one)]
        agreed = "all" if len(held) == len(row.readings) else ", ".join(held) or "none"
        printed = claim_pages.shown(claim.printed, claim.unit)
        return (claim.where, claim.statement, printed, *shown, agreed)

    def summary(self) -> str:
        """Return in words how many claims agree, by library."""
        counts = {
            name: sum(_held(one) for row in self.rows for one in row.readings if one.words == name)
            for name in self.libraries
        }
        by_library = ", ".join(f"{count} in {name}" for name, count in counts.items())
        return f"of {plural(len(self.rows), 'statement')} hold as printed: {by_library}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        names = ("name", "paper", "where", "statement", "printed", "unit")
        return {
            "claims": [
                {name: getattr(row.claim, name) for name in names}
                | {"libraries": {one.words: _plain(one) for one in row.readings}}
                for row in self.rows
            ]
        }


def _held(one: ClaimReading) -> bool:
    return one.agreement in (AGREES, WITHIN)


def _plain(one: ClaimReading) -> dict[str, Any]:
    found = asdict(one)
    del found["words"]
    return found


def chosen_papers(papers: Sequence[str] = ()) -> list[SynthesisClaims]:
    """Return what some papers, or all, ask of hardware.

    Raises
    ------
    UnknownPluginError
        Naming a paper without such claims.
    """
    known = registry.records(SynthesisClaims)
    check_known(papers, known)
    return [known[name] for name in sorted(papers or known)]


def check_by_synthesis(
    papers: Sequence[SynthesisClaims], tables: Mapping[str, Tables] = MappingProxyType({})
) -> Synthesis:
    """Return what papers, of `chosen_papers`, find of their hardware beside what ours gives.

    `tables` are those of their cores, by paper; where there are none, those that are shipped.

    Raises
    ------
    ContractError
        A claim fails to compute, with its file and line.
    """
    laboratory = StudyRunner()
    return Synthesis(
        tuple(
            SynthesisedClaim(claim, read_claim(claim, laboratory))
            for paper in papers
            for claim in paper.claims(tables.get(paper.name, paper.shipped))
        )
    )

"""Every claim of the papers behind the plug-ins beside what our models give."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dse.contract.papers import Claim, ClaimValue, Laboratory
from dse.errors import FOREIGN, ContractError, UnknownPluginError, nearest
from dse.plugins import registry
from dse.reports.text import table_text
from dse.reproduction.study_runner import StudyRunner

Verdict = Literal["agrees", "disagrees", "cannot be checked"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "disagrees", "cannot be checked")

_BOUND = re.compile(r"(<=|>=|<|>) *(\S+)")
_HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, kw_only=True)
class CheckedClaim:
    """A claim, our answer, and whether they agree.

    Attributes
    ----------
    name, paper, where, statement, printed, unit, reason, inputs
        As in `dse.contract.papers.Claim`.
    ours
        Our answer in the unit of the claim; None when it cannot be checked.
    relative_error
        (ours - printed) / printed; None unless both are numbers.
    verdict
        One of `VERDICTS`.
    """

    name: str
    paper: str
    where: str
    statement: str
    printed: ClaimValue
    unit: str
    ours: ClaimValue | None
    relative_error: float | None
    verdict: Verdict
    reason: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Reproduction:
    """Claims of papers beside what our models give."""

    rows: tuple[CheckedClaim, ...]

    def text(self, *, width: int | None = None) -> str:
        """Return a table per paper, its numbered reasons below it, then the counts."""
        parts = []
        for paper, own in _by_paper(self.rows).items():
            reasons = list(dict.fromkeys(row.reason for row in own if _explained(row)))
            numbers = {reason: number for number, reason in enumerate(reasons, start=1)}
            cells = [
                (row.where, row.statement, *_values(row), _marked(row, numbers)) for row in own
            ]
            headers = ("where", "what it says", "printed", "ours", "error", "agrees")
            notes = [(f"[{number}]", reason) for reason, number in numbers.items()]
            parts += [paper, table_text(cells, headers, width=width)]
            parts += [table_text(notes, ("", "why"), width=width)] if notes else []
        return "\n\n".join([*parts, counts_text(self.rows)])

    def __repr__(self) -> str:
        """Return the text that the command line prints."""
        return self.text()

    def markdown(self) -> str:
        """Return a page: a table per paper, with the counts of each and of all."""
        parts = ["# Claims of the papers beside our models", f"{counts_text(self.rows)}."]
        parts.append("An error is (ours - printed) / printed. Written by `dse reproduce --out`.")
        header = ("Where", "What it says", "Printed", "Ours", "Error", "Verdict", "Why", "Inputs")
        for paper, own in _by_paper(self.rows).items():
            lines = [header, ("---",) * len(header), *map(_cells, own)]
            table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
            parts += [f"## {_escaped(paper)}", f"{counts_text(own)}.", table]
        return "\n\n".join(parts) + "\n"

    def summary(self) -> str:
        """Return the counts in words."""
        return counts_text(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {"counts": counts(self.rows), "claims": [asdict(row) for row in self.rows]}


def check_papers(papers: Sequence[str] = ()) -> Reproduction:
    """Return every claim of some papers, or of all, beside our answer.

    Raises
    ------
    UnknownPluginError
        Naming a paper without claims.
    ContractError
        A claim fails to compute.
    """
    registered: Mapping[str, Claim] = registry.records(Claim)
    laboratory = StudyRunner()
    chosen = select_claims(registered.values(), papers)
    return Reproduction(tuple(check_claim(claim, laboratory) for claim in chosen))


def select_claims(claims: Iterable[Claim], papers: Sequence[str]) -> list[Claim]:
    """Return the claims of some papers, or of all; in the order of their papers' names.

    Raises
    ------
    UnknownPluginError
        Naming a paper without claims, and the nearest that has some.
    """
    found = sorted(claims, key=lambda claim: claim.paper)
    known = {claim.paper for claim in found}
    for paper in papers:
        if paper not in known:
            rule = f"{paper!r} is not a paper with claims to check"
            raise UnknownPluginError(rule, nearest(paper, known))
    return [claim for claim in found if not papers or claim.paper in papers]


def check_claim(claim: Claim, laboratory: Laboratory) -> CheckedClaim:
    """Return a claim beside our answer.

    Numbers agree within the tolerance, a printed bound such as ``< 0.5`` when our number is
    within it, anything else when it is equal.

    Raises
    ------
    ContractError
        The claim fails to compute, or answers with something it cannot be compared with.
    """
    ours = _ours(claim, laboratory)
    numbers = _number(claim.printed) and _number(ours)
    return CheckedClaim(
        name=claim.name,
        paper=claim.paper,
        where=claim.where,
        statement=claim.statement,
        printed=claim.printed,
        unit=claim.unit,
        ours=ours,
        relative_error=_error(claim, ours) if numbers else None,
        verdict=_verdict(claim, ours),
        reason=claim.reason,
        inputs=claim.inputs,
    )


def _ours(claim: Claim, laboratory: Laboratory) -> ClaimValue | None:
    if claim.ours is None:
        return None
    try:
        ours = claim.ours(laboratory)
    except FOREIGN as error:  # whatever a foreign model raises
        raise ContractError(
            f"claim {claim.name!r} cannot be computed: {type(error).__name__}: {error}; "
            "repair its `ours`, or set it to None and say why it cannot be checked"
        ) from error
    ours = ours.item() if isinstance(ours, np.generic) else ours
    if not isinstance(ours, float | int | str) or ours in (math.inf, -math.inf) or ours != ours:
        raise ContractError(
            f"claim {claim.name!r} answers {ours!r}; it must be a finite number, True, False or "
            "a text such as 'does not exist'"
        )
    if isinstance(ours, bool) != isinstance(claim.printed, bool):
        raise ContractError(
            f"claim {claim.name!r} prints {claim.printed!r} and answers {ours!r}; "
            "only a statement is answered by True or False"
        )
    return ours


def _verdict(claim: Claim, ours: ClaimValue | None) -> Verdict:
    if ours is None:
        return "cannot be checked"
    bound = _BOUND.fullmatch(claim.printed) if isinstance(claim.printed, str) else None
    if bound and _number(ours):
        agrees = bool(_HOLDS[bound[1]](ours, float(bound[2])))
    elif _number(claim.printed) and _number(ours):
        agrees = abs(_error(claim, ours)) <= claim.tolerance
    else:
        agrees = ours == claim.printed
    return "agrees" if agrees else "disagrees"


def _number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _error(claim: Claim, ours: Any) -> float:
    printed: Any = claim.printed
    if ours == printed:
        return 0.0
    return float((ours - printed) / abs(printed)) if printed else math.copysign(math.inf, ours)


def counts(rows: Iterable[CheckedClaim]) -> dict[Verdict, int]:
    """Return how many rows have each verdict."""
    verdicts = [row.verdict for row in rows]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def counts_text(rows: Sequence[CheckedClaim]) -> str:
    """Return the counts in words."""
    agree, disagree, unchecked = counts(rows).values()
    word = "claim" if len(rows) == 1 else "claims"
    return f"{len(rows)} {word}: {agree} agree, {disagree} disagree, {unchecked} cannot be checked"


def _by_paper(rows: Sequence[CheckedClaim]) -> dict[str, list[CheckedClaim]]:
    papers = dict.fromkeys(row.paper for row in rows)
    return {paper: [row for row in rows if row.paper == paper] for paper in papers}


def _explained(row: CheckedClaim) -> bool:
    return bool(row.reason) and row.verdict != "agrees"


def _marked(row: CheckedClaim, numbers: Mapping[str, int]) -> str:
    word = {"agrees": "yes", "disagrees": "no"}.get(row.verdict, "-")
    return f"{word} [{numbers[row.reason]}]" if _explained(row) else word


def _cells(row: CheckedClaim) -> tuple[str, ...]:
    verdict = row.verdict if row.verdict == "agrees" else f"**{row.verdict}**"
    before = map(_escaped, (row.where, row.statement, *_values(row)))
    return (*before, verdict, _escaped(row.reason), _escaped("; ".join(row.inputs)))


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\|<>*_`\[\]#])", r"\\\1", " ".join(text.split()))


def _values(row: CheckedClaim) -> tuple[str, str, str]:
    """Return printed value, ours and relative error as text."""
    error = row.relative_error
    return (
        _shown(row.printed, row.unit),
        "" if row.ours is None else _shown(row.ours, row.unit),
        "" if error is None else _percent(100 * error),
    )


def _percent(error: float) -> str:
    if abs(error) < 1e-5:
        return "0 %"
    return f"{error:+.0f} %" if 100 <= abs(error) < 1e6 else f"{error:+.2g} %"


def _shown(value: ClaimValue, unit: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"{value} {unit}" if unit and _BOUND.fullmatch(value) else value
    digits = f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.5g}"
    return f"{digits} {unit}".rstrip()

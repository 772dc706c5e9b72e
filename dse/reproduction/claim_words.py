"""Checked claims in words: values, what a contradiction is between, what agrees by section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dse.contract.papers import CONTRADICTION, READING, TREND, ClaimValue
from dse.reproduction.verdicts import (
    AGREES,
    BOUND,
    UNCHECKED,
    VERDICTS,
    WITHIN,
    CheckedClaim,
    ClaimReading,
    is_number,
)

Rows = Sequence[CheckedClaim]

_COUNTED = {
    AGREES: ("agrees", "agree"),
    WITHIN: ("agrees within its rounding", "agree within their rounding"),
    TREND: ("is a trend", "are trends"),
    READING: ("depends on the reading", "depend on the reading"),
    UNCHECKED: ("cannot be checked", "cannot be checked"),
}


def counts(rows: Iterable[CheckedClaim]) -> dict[str, int]:
    """Return how many findings have each verdict; a claim that refers to another is part of it."""
    verdicts = [row.verdict for row in rows if not row.refers_to]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def contradictions_text(rows: Rows) -> str:
    """Return the number of contradictions in words."""
    number = counts(rows)[CONTRADICTION]
    papers = "paper" if len({row.paper for row in rows}) == 1 else "papers"
    if not number:
        return f"no contradictions found inside the {papers}"
    word = "contradiction" if number == 1 else "contradictions"
    return f"{number} {word} inside the {papers}, each with its place"


def counts_text(rows: Rows) -> str:
    """Return how many claims have the other verdicts, in words."""
    found = counts(rows)
    parts = [
        f"{found[verdict]} {words[found[verdict] != 1]}" for verdict, words in _COUNTED.items()
    ]
    rest = sum(bool(row.refers_to) for row in rows)
    told = f"; {rest} more {'is' if rest == 1 else 'are'} part of one of these" if rest else ""
    return ", ".join(parts) + told


def by_paper(rows: Rows) -> dict[str, list[CheckedClaim]]:
    """Return the rows of each paper."""
    papers = dict.fromkeys(row.paper for row in rows)
    return {paper: [row for row in rows if row.paper == paper] for paper in papers}


def contradictions(rows: Rows) -> list[tuple[str, str, str, str]]:
    """Return by root: where, what is printed there, what is printed against it, what follows."""
    parts = [row.refers_to for row in rows]
    found = []
    for row in rows:
        if row.verdict != CONTRADICTION or row.refers_to:
            continue
        more = parts.count(row.name)
        told = {0: "", 1: " (1 more claim)"}.get(more, f" ({more} more claims)")
        printed = f"{row.statement}: {shown(row.printed, row.unit)}"
        against = f"{row.against}, hence {ours_shown(row)}"
        found.append((f"{row.paper}, {row.where}", printed, against, row.reason + told))
    return found


def agreements(rows: Rows) -> list[tuple[str, str, str, str]]:
    """Return by section: where, how many agree, how many within rounding, one for instance."""
    sections: dict[str, list[CheckedClaim]] = {}
    for row in rows:
        if row.verdict in (AGREES, WITHIN):
            section = row.where.replace(";", ",").partition(",")[0]
            sections.setdefault(section, []).append(row)
    found = []
    for section, own in sorted(sections.items()):
        row = next((row for row in own if is_number(row.printed)), own[0])
        within = sum(row.verdict == WITHIN for row in own)
        instance = f"{row.statement}: {shown(row.printed, row.unit)}"
        if is_number(row.printed):
            instance += f", ours {ours_shown(row)}"
        found.append((section, str(len(own) - within), str(within or ""), instance))
    return found


def ours_shown(row: CheckedClaim) -> str:
    """Return our answer in words: with its range, or what each reading gives."""
    if row.readings:
        return "; ".join(_reading_shown(reading, row.unit) for reading in row.readings)
    if row.ours is None:
        return ""
    answer = shown(row.ours, row.unit)
    if row.ours_within is None:
        return answer
    low, high = (shown(end, "") for end in row.ours_within)
    return answer if low == high else f"{answer} ({low} to {high})"


def _reading_shown(reading: ClaimReading, unit: str) -> str:
    if reading.ours is None:
        return f"{reading.words}: nothing to compare"
    agrees = "" if isinstance(reading.ours, bool) or not reading.agreement else reading.agreement
    answer = shown(reading.ours, unit)
    return f"{reading.words}: {answer}" + (f", {agrees}" if agrees else "")


def why(row: CheckedClaim) -> str:
    """Return the reason of a row, what it is against, and the row that it is part of."""
    against = f"against {row.against}" if row.against else ""
    part = f"part of {row.refers_to}" if row.refers_to else ""
    return "; ".join(filter(None, (against, row.reason, part)))


def error_shown(row: CheckedClaim) -> str:
    """Return the relative error as text."""
    if row.relative_error is None:
        return ""
    error = 100 * row.relative_error
    if abs(error) < 1e-5:
        return "0 %"
    return f"{error:+.0f} %" if 100 <= abs(error) < 1e6 else f"{error:+.2g} %"


def shown(value: ClaimValue, unit: str) -> str:
    """Return a value with its unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"{value} {unit}" if unit and BOUND.fullmatch(value) else value
    digits = f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.5g}"
    return f"{digits} {unit}".rstrip()


def explanations(rows: Rows) -> Mapping[str, int]:
    """Return the reasons of rows that need one, numbered in their order."""
    reasons = dict.fromkeys(why(row) for row in rows if why(row))
    return {reason: number for number, reason in enumerate(reasons, start=1)}

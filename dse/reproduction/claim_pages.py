"""Checked claims in words: what contradicts, what agrees by section, and pages of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dse.contract.papers import CONTRADICTION, READING, RESIDUAL, ClaimValue
from dse.reports.text import plural
from dse.reproduction.verdicts import (
    AGREES,
    BOUND,
    UNCHECKED,
    VERDICTS,
    WITHIN,
    CheckedClaim,
    ClaimReading,
    is_numeric,
)

Rows = Sequence[CheckedClaim]

_COUNTED = {
    AGREES: ("agrees", "agree"),
    WITHIN: ("agrees within the inputs' rounding", "agree within the inputs' rounding"),
    RESIDUAL: ("is the residual of a fit", "are residuals of a fit"),
    READING: ("depends on a reading", "depend on a reading"),
    UNCHECKED: ("cannot be checked", "cannot be checked"),
}
_TITLE = "# Claims of the papers and our models"
_LEGEND = """\
- **contradicts itself**: two printed things cannot both hold, whatever the rounding and however
  they are read; what follows from one of them stands next to the other.
- **agrees**: what follows from the printed inputs rounds to what is printed.
- **agrees within the inputs' rounding**: it does for some values that the inputs may have had
  before they were rounded; the range of ours is given.
- **residual of a fit**: how far a fit is off what was fitted, no judgement.
- **depends on a reading**: what is printed can be read in several ways, of which not all agree; a
  threshold in a reading, such as a tenth, is ours.
- **cannot be checked**: what it rests on is not printed."""


def counts(rows: Rows) -> dict[str, int]:
    """Return how many findings have each verdict; a claim that refers to another is part of it."""
    verdicts = [row.verdict for row in rows if not row.claim.refers_to]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def contradictions_text(rows: Rows) -> str:
    """Return the number of contradictions in words."""
    number = len(contradictions(rows))
    papers = "paper" if len(by_paper(rows)) == 1 else "papers"
    if not number:
        return f"no contradictions found inside the {papers}"
    return f"{plural(number, 'contradiction')} inside the {papers}, each with its place"


def counts_text(rows: Rows) -> str:
    """Return how many claims have the other verdicts, in words."""
    found = counts(rows)
    parts = [
        f"{found[verdict]} {words[found[verdict] != 1]}" for verdict, words in _COUNTED.items()
    ]
    rest = len(rows) - sum(found.values())
    others = f"; {rest} more {'is' if rest == 1 else 'are'} part of one of these" if rest else ""
    return ", ".join(parts) + others


def by_paper(rows: Rows) -> dict[str, list[CheckedClaim]]:
    """Return the rows of each paper."""
    papers = dict.fromkeys(row.claim.paper for row in rows)
    return {paper: [row for row in rows if row.claim.paper == paper] for paper in papers}


def contradictions(rows: Rows) -> tuple[CheckedClaim, ...]:
    """Return the contradictions inside the papers, one for each."""
    return tuple(row for row in rows if row.verdict == CONTRADICTION and not row.claim.refers_to)


def sides(rows: Rows) -> list[tuple[str, str, str, str]]:
    """Return by contradiction: where, what is printed there, what against it, and why."""
    parts = [row.claim.refers_to for row in rows]
    found = []
    for row in contradictions(rows):
        claim = row.claim
        more = parts.count(claim.name)
        others = f" ({plural(more, 'more claim')})" if more else ""
        against = f"{claim.against}, hence {ours_shown(row)}"
        found.append(
            (f"{claim.paper}, {claim.where}", _printed(row), against, claim.reason + others)
        )
    return found


def agreements(rows: Rows) -> list[tuple[str, str, str, str]]:
    """Return by section: where, how many agree, how many within rounding, one for instance."""
    sections: dict[str, list[CheckedClaim]] = {}
    for row in rows:
        if row.verdict in (AGREES, WITHIN):
            section = row.claim.where.replace(";", ",").partition(",")[0]
            sections.setdefault(f"{row.claim.paper}, {section}", []).append(row)
    found = []
    for section, own in sorted(sections.items()):
        row = next((row for row in own if is_numeric(row.claim.printed)), own[0])
        within = sum(row.verdict == WITHIN for row in own)
        ours = f", ours {ours_shown(row)}" if is_numeric(row.claim.printed) else ""
        found.append((section, str(len(own) - within), str(within or ""), _printed(row) + ours))
    return found


def _printed(row: CheckedClaim) -> str:
    """Return what a paper says in words, with what it prints."""
    return f"{row.claim.statement}: {shown(row.claim.printed, row.claim.unit)}"


def ours_shown(row: CheckedClaim) -> str:
    """Return our answer in words: with its range, or what each reading gives."""
    if row.readings:
        return "; ".join(_reading_shown(reading, row.claim.unit) for reading in row.readings)
    if row.ours is None:
        return ""
    answer = shown(row.ours, row.claim.unit)
    if row.ours_within is None:
        return answer
    low, high = (shown(end, "") for end in row.ours_within)
    return answer if low == high else f"{answer} ({low} to {high})"


def _reading_shown(reading: ClaimReading, unit: str) -> str:
    if reading.ours is None:
        return f"{reading.words}: nothing to compare"
    agrees = "" if isinstance(reading.ours, bool) or not reading.agreement else reading.agreement
    return f"{reading.words}: {shown(reading.ours, unit)}" + (f", {agrees}" if agrees else "")


def why(row: CheckedClaim) -> str:
    """Return the reason of a row, what it is against, and the row that it is part of."""
    claim = row.claim
    against = f"against {claim.against}" if claim.against else ""
    part = f"part of {claim.refers_to}" if claim.refers_to else ""
    return "; ".join(filter(None, (against, claim.reason, part)))


def error_shown(row: CheckedClaim) -> str:
    """Return the relative error as text."""
    if row.relative_error is None:
        return ""
    error = 100 * row.relative_error
    if abs(error) < 1e-5:
        return "0 %"
    return f"{error:+.0f} %" if 99.5 <= abs(error) < 1e6 else f"{error:+.2g} %"


def shown(value: ClaimValue, unit: str) -> str:
    """Return a value with its unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"{value} {unit}" if unit and BOUND.fullmatch(value) else value
    digits = f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.5g}"
    return f"{digits} {unit}".rstrip()


def front_page(rows: Rows, rest: str) -> str:
    """Return the contradictions and, by section, what agrees; `rest` links to every claim."""
    parts = [
        *_head(rows, _TITLE),
        f"[Every claim]({rest}), with its verdict and the reason. Written by "
        "`dse reproduce --out`; `dse reproduce --all` prints the same.",
    ]
    if found := sides(rows):
        header = ("Where", "What is printed", "Against", "Why")
        parts += ["## Contradictions inside the papers", _table(header, found)]
    header = ("Where", "Agree", "Within rounding", "For instance")
    parts += ["## What agrees", _table(header, agreements(rows))]
    return "\n\n".join([*parts, "## The verdicts", _LEGEND]) + "\n"


def full_page(rows: Rows) -> str:
    """Return every claim, by paper."""
    parts = [
        *_head(rows, f"{_TITLE}: all"),
        "An error is (ours - printed) / printed; a range in brackets is what rounding of the "
        "inputs leaves open. Written by `dse reproduce --out`.",
        _LEGEND,
    ]
    values = ("Printed", "Ours", "Error", "Verdict")
    header = ("Name", "Where", "What it says", *values, "Why", "Inputs")
    for paper, own in by_paper(rows).items():
        parts += [f"## {_escaped(paper)}", _table(header, map(_cells, own))]
    return "\n\n".join(parts) + "\n"


def _head(rows: Rows, title: str) -> list[str]:
    """Return the title of a page, what was found in words, and which papers these are."""
    found = contradictions_text(rows)
    sources = {paper: own[0].claim.source for paper, own in by_paper(rows).items()}
    papers = (f"- {_escaped(paper)}: {_escaped(source)}" for paper, source in sources.items())
    return [title, f"**{found[0].upper()}{found[1:]}.** {counts_text(rows)}.", "\n".join(papers)]


def _cells(row: CheckedClaim) -> tuple[str, ...]:
    claim = row.claim
    values = (shown(claim.printed, claim.unit), ours_shown(row), error_shown(row), row.verdict)
    inputs = "; ".join(claim.inputs)
    return (claim.name, claim.where, claim.statement, *values, why(row), inputs)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *(list(map(_escaped, row)) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\|<>*_`\[\]#])", r"\\\1", " ".join(text.split()))

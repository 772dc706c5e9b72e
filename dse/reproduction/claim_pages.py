"""Two pages of Markdown: what a reader wants of the papers' claims, and every claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dse.reproduction.claim_words import (
    Rows,
    agreements,
    by_paper,
    contradictions,
    contradictions_text,
    counts_text,
    error_shown,
    ours_shown,
    shown,
    why,
)
from dse.reproduction.verdicts import CheckedClaim

_TITLE = "# Claims of the papers beside our models"
_LEGEND = """\
- **agrees**: what follows from the printed inputs rounds to what is printed.
- **agrees within its rounding**: it does for some values that the inputs may have had before they
  were rounded; the range of ours is told.
- **contradicts itself**: two printed things cannot both hold, whatever the rounding.
- **trend**: a fit, or 'about'; how far we are off is told, and no judgement made.
- **depends on the reading**: what is printed can be read in several ways, of which not all agree.
- **cannot be checked**: what it rests on is not printed."""


def front_page(rows: Rows, rest: str) -> str:
    """Return the contradictions and, by section, what agrees; `rest` links to every claim."""
    found = contradictions_text(rows)
    parts = [
        _TITLE,
        f"**{found[0].upper() + found[1:]}.** {counts_text(rows)}.",
        f"[Every claim]({rest}), with its verdict and the reason. Written by "
        "`dse reproduce --out`; `dse reproduce --all` prints the same.",
    ]
    roots = contradictions(rows)
    if roots:
        header = ("Where", "What is printed", "Against", "What follows")
        parts += ["## Contradictions inside the papers", _table(header, roots)]
    parts += ["## What agrees"]
    for paper, own in by_paper(rows).items():
        header = ("Where", "Agree", "Within rounding", "For instance")
        parts += [f"### {_escaped(paper)}", _table(header, agreements(own))]
    parts += ["## The verdicts", _LEGEND]
    return "\n\n".join(parts) + "\n"


def full_page(rows: Rows) -> str:
    """Return every claim, by paper."""
    found = contradictions_text(rows)
    parts = [_TITLE + ": all", f"{found[0].upper() + found[1:]}. {counts_text(rows)}."]
    parts += [
        "An error is (ours - printed) / printed; a range in brackets is what rounding of the "
        "inputs leaves open. Written by `dse reproduce --out`.",
        _LEGEND,
    ]
    header = (
        "Name",
        "Where",
        "What it says",
        "Printed",
        "Ours",
        "Error",
        "Verdict",
        "Why",
        "Inputs",
    )
    for paper, own in by_paper(rows).items():
        parts += [f"## {_escaped(paper)}", _table(header, map(_cells, own))]
    return "\n\n".join(parts) + "\n"


def _cells(row: CheckedClaim) -> tuple[str, ...]:
    values = (shown(row.printed, row.unit), ours_shown(row), error_shown(row))
    inputs = "; ".join(row.inputs)
    return (row.name, row.where, row.statement, *values, row.verdict, why(row), inputs)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *(list(map(_escaped, row)) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\|<>*_`\[\]#])", r"\\\1", " ".join(text.split()))

"""The cards of the gallery: each study with its picture, question, answer and report."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import dse

STUDIES = Path(__file__).parents[2] / "studies"
_SECTION = re.compile(r"^## (\w+)\n\n(.+)\n\n!\[\w+\]\((gallery/\w+\.png)\)\n", re.MULTILINE)
"""A section of docs/gallery.md on a study: its name, question and picture."""
_CARD = """\
<a class="card" href="gallery/{name}.html">
<img src="{picture}" alt="Front of {name}"><b>{question}</b><span>{answer}</span></a>
"""


def reports() -> Iterator[tuple[str, bytes, str]]:
    """Yield the name of each study, its report, and its answer in a sentence."""
    with tempfile.TemporaryDirectory() as place:
        for study in sorted(STUDIES.glob("*.yaml")):
            found = dse.run(study, out=Path(place) / study.stem, plots=False)
            page = dse.report(found)
            yield study.stem, page.read_bytes(), answer_of(found)


def answer_of(found: dse.Result) -> str:
    """Return the recommended design of a run and its objectives in a sentence."""
    view = found.shown
    if view.recommended is None:
        return f"A front at each of {len(found.run.answers)} values."
    return f"{view.recommended.design}. {view.worth}"


def with_cards(page: str, answers: Mapping[str, str]) -> str:
    """Return the page of the gallery with the section of each study as a card."""
    sections = {found[1]: found for found in _SECTION.finditer(page) if found[1] in answers}
    first, last = (edge(found.span() for found in sections.values()) for edge in (min, max))
    cards = "".join(
        _CARD.format(
            name=name,
            picture=found[3],
            question=html.escape(found[2]),
            answer=html.escape(answers[name]),
        )
        for name, found in sections.items()
    )
    head = "Each card has the answer of this version, and opens the report of its study.\n"
    return f'{page[: first[0]]}{head}\n<div class="cards">\n{cards}</div>\n\n{page[last[1] :]}'

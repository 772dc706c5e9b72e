"""The pages on the papers' claims and figures, written and drawn when the site is built."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import dse
from dse.papers.figures import draw_figures, select_figures


def pages() -> Iterator[tuple[str, str | bytes]]:
    """Yield both pages, and each picture of the figures."""
    found = dse.reproduce().text(width=160)
    yield "reproduce.md", f"# Claims of the papers and our models\n\n```text\n{found}\n```\n"
    parts = ["# Figures of the papers, drawn again\n"]
    chosen = select_figures()
    for one in chosen:
        picture = f"![{one.name}](figures/{one.name}.png)"
        parts.append(f"## {one.name}\n\n{picture}\n\n{one.caption}\n")
    yield "figures.md", "\n".join(parts)
    with tempfile.TemporaryDirectory() as place:
        for path in draw_figures(chosen, Path(place)):
            if path.suffix == ".png":
                yield f"figures/{path.name}", path.read_bytes()

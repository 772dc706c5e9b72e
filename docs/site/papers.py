"""The pages on the papers' claims and figures, written and drawn when the site is built."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import dse
from dse.reproduction.figures import draw_figures


def pages() -> Iterator[tuple[str, str | bytes]]:
    """Yield each page, and each picture of the figures, as `dse reproduce` and `dse figure` do."""
    for page, text in dse.reproduce().pages(Path("reproduce.md")).items():
        yield page.name, text
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for path in draw_figures("all", folder / "figures", folder / "figures.md"):
            name = path.relative_to(folder).as_posix()
            yield name, path.read_bytes() if path.suffix == ".png" else path.read_text("utf-8")

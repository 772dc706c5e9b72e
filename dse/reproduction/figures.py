"""`dse figure`: figures of the papers, drawn again, and a gallery of them."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from dse import workers
from dse.contract.papers import Figure, Panel
from dse.errors import ContractError, OutputError, UnknownPluginError, nearest
from dse.files.json import write_text
from dse.plugins import registry
from dse.reproduction.study_runner import StudyRunner

ALL = "all"
FOLDER = Path("figures")
BOTH, PAGE = ("png", "svg"), ("png",)
"""Formats of figures by themselves and of those of a gallery."""


def draw_figures(name: str, out: Path | None, gallery: Path | None, *, jobs: int = 1) -> list[Path]:
    """Draw one figure, or all of them, and return the paths; optionally write a gallery.

    Up to `jobs` processes draw.

    Raises
    ------
    UnknownPluginError
        No figure has this name.
    OutputError
        A file cannot be written.
    """
    chosen = select_figures(name)
    folder = out or FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        formats = BOTH if gallery is None else PAGE
        names = [one.name for one in chosen]
        with workers.shared(partial(_drawn, folder, formats), names, jobs) as drawn:
            paths = [path for some in drawn for path in some]
    except OSError as error:
        raise OutputError(f"figures cannot be written: {error}; choose another --out") from error
    if gallery is not None:
        write_text(gallery, page(chosen, folder, gallery.parent))
        paths.append(gallery)
    return paths


def select_figures(name: str) -> tuple[Figure, ...]:
    """Return the figure called `name`, or all of them, by paper and number."""
    known = registry.records(Figure)
    if name == ALL:
        return tuple(known[key] for key in sorted(known, key=_order))
    if name not in known:
        raise UnknownPluginError(f"{name!r} is not a known figure", nearest(name, (*known, ALL)))
    return (known[name],)


def _order(name: str) -> tuple[str, int, str]:
    paper, _, number = name.rpartition("-")
    return paper, int(number) if number.isdecimal() else 0, name


def _drawn(folder: Path, formats: Sequence[str], one: str) -> list[Path]:
    """Draw a figure, by its name, into a folder and return the paths of the files."""
    from dse.reproduction import sheets  # matplotlib, only now

    (figure,) = select_figures(one)
    panels = checked(figure, figure.draw(StudyRunner()))
    return sheets.draw_sheet(one, panels, folder, formats, figure.source)


def checked(one: Figure, panels: Sequence[Panel]) -> Sequence[Panel]:
    """Return the panels of a figure if every series is finite, and as long in x as in y.

    Raises
    ------
    ContractError
        Naming figure, panel and series.
    """
    if not panels:
        raise ContractError(f"figure {one.name!r} has no panels; return at least one")
    for panel in panels:
        for series in panel.series:
            where = f"figure {one.name!r}, panel {panel.title!r}, series {series.label!r}"
            if not 0 < len(series.x) == len(series.y):
                raise ContractError(
                    f"{where}: {len(series.x)} x and {len(series.y)} y; both need equally many, "
                    "and at least one"
                )
            numbers = (series.y,) if series.style == "bars" else (series.x, series.y)
            if not all(np.isfinite(np.asarray(part, dtype=np.float64)).all() for part in numbers):
                raise ContractError(f"{where}: a value is not finite; leave such points out")
    return panels


def page(figures: Sequence[Figure], folder: Path, beside: Path) -> str:
    """Return a gallery in Markdown that lies in the folder `beside`."""
    relative = Path(os.path.relpath(folder, beside)).as_posix()
    parts = [
        "# Figures of the papers, drawn again\n",
        "Each picture comes from the models of this project; `dse figure all` draws them all.\n",
    ]
    for one in figures:
        parts += [
            f"## {one.name}\n",
            f"![{one.name}]({relative}/{one.name}.png)\n",
            textwrap.fill(one.caption, 100) + "\n",
            f"After: {one.source}. Command: `dse figure {one.name}`\n",
        ]
    return "\n".join(parts)

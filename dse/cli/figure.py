"""``dse figure``: figures of the papers, drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import Jobs, app, tell


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="Name of a figure (see `dse list figures`), or all.")],
    out: Annotated[Path | None, typer.Option(help="Output folder (default: figures/).")] = None,
    gallery: Annotated[
        Path | None, typer.Option(help="Write a Markdown page of the figures too (PNG only).")
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Redraw a figure of a source paper from the models."""
    from dse.reports.progress import bar
    from dse.reproduction.figures import draw_figures
    from dse.workers import cores

    with bar("figures", "drawing"):
        paths = draw_figures(name, out, gallery, jobs=jobs or cores())
    for path in paths:
        tell(str(path))

"""``dse figure``: figures of the papers, drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import Jobs, app, tell


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure that `dse list figures` shows, or all.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; figures/.")] = None,
    gallery: Annotated[
        Path | None, typer.Option(help="Write a Markdown page of them too; PNG only.")
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Draw a figure of one of the source papers again, from our models."""
    from dse.reproduction.figures import draw_figures
    from dse.workers import cores

    for path in draw_figures(name, out, gallery, jobs=jobs or cores()):
        tell(str(path))

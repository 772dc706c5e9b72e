"""``dse plot``: the pictures of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import RunFolder, app, tell


@app.command()
def plot(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option(help="Output folder (default: that of the run).")
    ] = None,
) -> None:
    """Draw the pictures of a finished run."""
    from dse.reports.progress import bar
    from dse.runs.finished import plot_run
    from dse.runs.unfinished import readable

    with bar("pictures", "drawing"), readable(run) as found:
        pictures = plot_run(found, out or run)
    for picture in pictures:
        tell(str(picture))

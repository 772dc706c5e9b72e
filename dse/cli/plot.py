"""``dse plot``: the pictures of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import RunFolder, app, tell


@app.command()
def plot(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; the run's.")] = None,
) -> None:
    """Draw the pictures of a finished run again."""
    from dse.runs import result

    for picture in result.plot(run, out or run):
        tell(str(picture))

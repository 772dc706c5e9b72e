"""Commands that hold finished runs against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, app

RunFolder = Annotated[Path, typer.Argument(help="Folder that `dse run` wrote.")]


@app.command()
def diff(run_a: RunFolder, run_b: RunFolder, json: AsJson = False) -> None:
    """Compare two runs: designs gained, lost and moved, and which change did it."""
    from dse.audit import diff_told

    diff_told.command(run_a, run_b, as_json=json)

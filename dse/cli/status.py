"""``dse status``: how far a run is."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, RunFolder, app, show, tell

CLEAR = "\x1b[H\x1b[2J"
"""Clears a terminal, and goes to its first line."""


@app.command()
def status(
    run: RunFolder,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again until the run ends, or Ctrl-C.")
    ] = False,
    every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="With --watch: seconds from one time to the next.", min=0.1
        ),
    ] = 2.0,
    rows: Annotated[
        int, typer.Option(help="Most designs, and causes of failures, to show.", min=1)
    ] = 5,
    salvage: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Copy what can be read of damaged measurements."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Show how far a run is: measured, running, failed, best so far."""
    from dse.api import runs

    if salvage is not None:
        from dse.reports.words import plural
        from dse.store.opening import salvage as save

        salvage.mkdir(parents=True, exist_ok=True)
        count = save(run, salvage)
        tell(f"copied to {salvage}: {plural(count, 'measurement')} of {run}")
        tell(f"use them in another run: dse run STUDY --reuse {salvage}")
        return
    while True:
        found = runs.status(run, rows=rows)
        if watch and sys.stdout.isatty():
            print(CLEAR, end="")
        show(found, as_json=json)
        if not watch or found.state != "running":
            return
        time.sleep(every)

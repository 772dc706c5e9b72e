"""``dse verify``: a finished run checked again, independently of its search."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import REFUTED, AsJson, RunFolder, app, show


@app.command()
def verify(
    run: RunFolder,
    trials: Annotated[
        int, typer.Option(help="Number of random designs to hold against the front.")
    ] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Seed of the random designs.")] = 0,
    json: AsJson = False,
) -> None:
    """Check a run independently of its search; try to beat it."""
    from dse.api import audits
    from dse.reports.progress import bar

    with bar("designs") as progress:
        found = audits.verify(run, trials=trials, seed=seed, progress=progress)
    show(found, as_json=json)
    if not found.holds:
        raise typer.Exit(REFUTED)

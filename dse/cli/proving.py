"""Commands that hold a finished run to what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, app

RunFolder = Annotated[Path, typer.Argument(help="Folder that `dse run` wrote.", show_default=False)]

REFUTED = 1
"""Exit status when a run is not what it says."""


@app.command()
def verify(
    run: RunFolder,
    trials: Annotated[
        int, typer.Option(min=1, help="Random designs to hold against the front.")
    ] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random designs.")] = 0,
    json: AsJson = False,
) -> None:
    """Check a finished run again, independently of its search, and try to beat its front."""
    from dse.cli import commands

    if not commands.verify(run, trials, seed, as_json=json):
        raise typer.Exit(REFUTED)


@app.command()
def explain(
    run: RunFolder,
    design: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUE", help='A design, as in front.csv: --design "des.u16=2 des.u8=1".'
        ),
    ],
    json: AsJson = False,
) -> None:
    """Say why a design is on the front of a run, or what it violates or is dominated by."""
    from dse.cli import commands

    if not commands.explain(run, design, as_json=json):
        raise typer.Exit(REFUTED)

"""Commands about what changes the answer to a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Setting, app

StudyOrRun = Annotated[Path, typer.Argument(help="Study file, or the folder of a run.")]
Prefer = Annotated[
    str | None,
    typer.Option(help="power, area, knee, an objective, or an expression to minimise."),
]


@app.command()
def flips(
    study: StudyOrRun,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An assumption, or part of its dotted name."),
    ] = None,
    prefer: Prefer = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a picture and JSON.")] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Say for every assumption how far it may move before the answer changes."""
    from dse.cli import flip_commands

    flip_commands.flips(study, only or [], prefer, out, set_ or [], as_json=json)


@app.command()
def sweep(
    study: StudyOrRun,
    range_: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME=FROM..TO",
            help="An assumption and its range: rate=1..240Gbps; that of the study's sweep.",
            show_default=False,
        ),
    ] = None,
    prefer: Prefer = None,
    front: Annotated[
        bool, typer.Option("--front", help="Follow every design of the front, not the answer.")
    ] = False,
    counts: Annotated[
        bool, typer.Option("--counts", help="Tell designs apart by `least` instances too.")
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS", help="Tell designs apart by this alone: --by device."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for crossovers.csv, pictures and JSON.")
    ] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Say which design holds which interval of a number, with exact crossovers."""
    from dse.cli import flip_commands

    flip_commands.sweep(
        study,
        range_,
        prefer,
        out,
        set_ or [],
        front=front,
        counts=counts,
        by=by or [],
        as_json=json,
    )

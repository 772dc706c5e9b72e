"""``dse flips``: how far each assumption may move before the answer changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import (
    AsJson,
    Budget,
    Prefer,
    Setting,
    StudyOrRun,
    Tolerance,
    app,
    say,
    show,
)


@app.command()
def flips(
    study: StudyOrRun,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An assumption, or part of its dotted name."),
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a picture and JSON.")] = None,
    budget: Budget = "60 s",
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Say for every assumption how far it may move before the answer changes."""
    from dse.api import answers

    found = answers.flips(
        study,
        only=only or [],
        prefer=prefer,
        tolerance=tolerance,
        overrides=set_,
        time_budget=budget,
        progress=_assumption,
    )
    say("")
    show(found, as_json=json)
    if out is not None:
        from dse.stability import plots

        plots.save_flips(found, out)


def _assumption(name: str, number: int, total: int) -> None:
    say(f"{number} of {total} assumptions, now {name}")

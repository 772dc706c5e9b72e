"""``dse flips``: how far each assumption may move before the answer changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import (
    AsJson,
    Memory,
    Prefer,
    Setting,
    StudyOrRun,
    Time,
    Tolerance,
    app,
    show,
)


@app.command()
def flips(
    study: StudyOrRun,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only assumptions of this dotted name, or whose name has it between dots.",
        ),
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    out: Annotated[Path | None, typer.Option(help="Output folder for a picture and JSON.")] = None,
    time: Time = None,
    memory: Memory = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Find how far each assumption may move until the answer flips."""
    from dse.api import changes
    from dse.reports.progress import bar

    with bar("assumptions", "searching") as shown:
        found = changes.flips(
            study,
            only=only or [],
            prefer=prefer,
            tolerance=tolerance,
            overrides=set_,
            time=time,
            memory=memory,
            progress=lambda name, number, total: shown(number, total, name),
        )
    show(found, as_json=json)
    if out is not None:
        from dse.parametric import plots

        plots.save_flips(found, out)

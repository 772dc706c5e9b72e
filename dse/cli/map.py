"""``dse map``: which answer is best where, over two numbers."""

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

Range = Annotated[str, typer.Argument(metavar="NAME=FROM..TO", help="Assumption and range.")]


@app.command("map")
def decision_map(
    study: StudyOrRun,
    first: Range,
    second: Range,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Tell designs apart by minimum instance counts too.")
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS", help="Tell designs apart by this choice alone: --by device."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder for map.csv, a picture and JSON.")
    ] = None,
    time: Time = None,
    memory: Memory = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Find which answer is best where, over two numbers."""
    from dse.api import changes
    from dse.reports.progress import bar

    with bar("rows", "searching") as shown:
        found = changes.decision_map(
            study,
            first,
            second,
            prefer=prefer,
            tolerance=tolerance,
            counts=counts,
            by=by or [],
            overrides=set_,
            time=time,
            memory=memory,
            progress=shown,
        )
    show(found, as_json=json)
    if out is not None:
        from dse.parametric import map_plot

        map_plot.save_map(found, out)

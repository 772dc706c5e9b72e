"""``dse sweep``: which design holds which interval of a number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Memory, Prefer, Setting, StudyOrRun, Time, Tolerance, app, show


@app.command()
def sweep(
    study: StudyOrRun,
    range_: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME=FROM..TO",
            help="Assumption and range: rate=1..240Gbps (default: the sweep of the study).",
            show_default=False,
        ),
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    front: Annotated[
        bool, typer.Option("--front", help="Follow every design of the front, not only the answer.")
    ] = False,
    counts: Annotated[
        bool, typer.Option("--counts", help="Tell designs apart by minimum instance counts too.")
    ] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS", help="Tell designs apart by this choice alone: --by device."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder for crossovers.csv, pictures and JSON.")
    ] = None,
    time: Time = None,
    memory: Memory = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Find which design is best in which interval of a number."""
    from dse.api import changes
    from dse.reports.progress import bar

    with bar("parts of the range", "searching") as shown:
        found = changes.sweep(
            study,
            range_,
            prefer=prefer,
            tolerance=tolerance,
            front=front,
            counts=counts,
            by=by or [],
            overrides=set_,
            time=time,
            memory=memory,
            progress=lambda share: shown(round(100 * share), 100),
        )
    show(found, as_json=json)
    if out is not None:
        from dse.parametric import plots

        plots.save_crossovers(found, out)

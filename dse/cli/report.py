"""``dse report``: finished runs as one web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import Memory, Prefer, Time, Tolerance, app, tell


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Folders of runs, as `dse run` wrote them.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Page to write (default: report.html in the first folder)."
        ),
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    flips: Annotated[
        bool, typer.Option("--flips", help="Include flip points: what would change the answer.")
    ] = False,
    time: Time = None,
    memory: Memory = None,
    cloud: Annotated[
        int, typer.Option(min=0, help="Most feasible designs to draw, over all runs.")
    ] = 100_000,
) -> None:
    """Write one or more runs as one web page that works offline."""
    from dse.api import reports
    from dse.reports.progress import bar

    with bar("assumptions", "reading the runs") as shown:
        page = reports.report(
            *runs,
            out=out,
            prefer=prefer,
            tolerance=tolerance,
            flips=flips,
            time=time,
            memory=memory,
            cloud=cloud,
            progress=shown,
        )
    tell(str(page))

"""``dse report``: finished runs as one web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import FlipsBudget, Prefer, Tolerance, app, tell


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders that `dse run` wrote.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page; report.html in the first run's folder."),
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    flips: Annotated[
        bool, typer.Option("--flips", help="Show what would change the answer too.")
    ] = False,
    flips_budget: FlipsBudget = None,
    cloud: Annotated[
        int, typer.Option(min=0, help="Most feasible designs drawn, of all runs together.")
    ] = 100_000,
) -> None:
    """Write runs as one web page, which needs no network: front, answer, certificate."""
    from dse.api import reports
    from dse.reports.progress import LateBar

    shown = LateBar("assumptions")
    try:
        page = reports.report(
            *runs,
            out=out,
            prefer=prefer,
            tolerance=tolerance,
            flips=flips,
            flips_budget=flips_budget,
            cloud=cloud,
            progress=shown,
        )
    finally:
        shown.close()
    tell(str(page))

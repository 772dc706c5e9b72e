"""``dse sensitivity``: which assumptions move the objectives of the recommended design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Prefer, Setting, StudyOrRun, Tolerance, app, show


@app.command()
def sensitivity(
    study: StudyOrRun,
    method: Annotated[str, typer.Option(help="Sensitivity analysis: sobol or morris.")] = "sobol",
    width: Annotated[str, typer.Option(help="Range of each assumption, to either side.")] = "10 %",
    samples: Annotated[
        int | None, typer.Option(help="Number of base samples (sobol) or trajectories (morris).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a tornado and JSON.")] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Rank assumptions by how much they move the objectives."""
    from dse.api import answers
    from dse.reports.progress import bar

    with bar("samples", "searching, then sampling"):
        found = answers.sensitivity(
            study,
            method=method,
            width=width,
            samples=samples,
            seed=seed,
            prefer=prefer,
            tolerance=tolerance,
            overrides=set_,
        )
    show(found, as_json=json)
    if out is not None:
        from dse.uncertainty import plots

        plots.save_sensitivity(found, out)

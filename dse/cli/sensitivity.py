"""``dse sensitivity``: which assumptions move the objectives of the recommended design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Prefer, Setting, StudyOrRun, Tolerance, app, show


@app.command()
def sensitivity(
    study: StudyOrRun,
    method: Annotated[str, typer.Option(help="sobol or morris.")] = "sobol",
    width: Annotated[
        str, typer.Option(help="How far each assumption moves, to either side.")
    ] = "10 %",
    samples: Annotated[
        int | None, typer.Option(help="Base samples (sobol) or trajectories (morris).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a tornado and JSON.")] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Say which assumptions move the objectives of the recommended design, and how much."""
    from dse.api import answers

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

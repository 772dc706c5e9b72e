"""``dse simulate``: one design as discrete events, beside what the model says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Prefer, Setting, StudyOrRun, Tolerance, app, show


@app.command()
def simulate(
    study: StudyOrRun,
    design: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Choices of the design (default: the recommended one)."
        ),
    ] = None,
    offloads: Annotated[
        int | None, typer.Option(help="Number of offloads (default: until waits are known to 5 %).")
    ] = None,
    events: Annotated[int | None, typer.Option(help="Most events (default: 50 million).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the arrivals and sizes.")] = 0,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    out: Annotated[Path | None, typer.Option(help="Output folder for a picture and JSON.")] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Simulate one design by discrete events, beside the model."""
    from dse.api import simulation
    from dse.reports.progress import bar

    with bar("offloads") as progress:
        found = simulation.simulate(
            study,
            design,
            offloads=offloads,
            events=events,
            seed=seed,
            prefer=prefer,
            tolerance=tolerance,
            overrides=set_,
            progress=progress,
        )
    show(found, as_json=json)
    if out is not None:
        from dse.simulation import plots

        plots.save_simulation(found, out)

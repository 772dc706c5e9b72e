"""Commands that read, run and evaluate a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Setting, StudyFile, app
from dse.errors import InfeasibleError


@app.command()
def run(
    study: StudyFile,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; a fresh one under runs/.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="Search method; `dse list methods`.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the search.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Most designs to evaluate.")] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Search a study and write its front, evaluations, manifest and pictures."""
    from dse.cli import commands

    commands.run(study, out, method, seed, budget, set_ or [], as_json=json)


@app.command()
def check(study: StudyFile, set_: Setting = None) -> None:
    """Read a study and report every fault, without running it."""
    from dse.cli import commands

    commands.check(study, set_ or [])


@app.command()
def evaluate(study: StudyFile, set_: Setting = None, json: AsJson = False) -> None:
    """Evaluate one design, with every term of its model written out."""
    from dse.cli import commands

    if not commands.evaluate(study, set_ or [], as_json=json):
        raise typer.Exit(InfeasibleError.exit_code)


@app.command()
def plot(
    run: Annotated[Path, typer.Argument(help="Folder that `dse run` wrote.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; the run's.")] = None,
) -> None:
    """Draw the pictures of a finished run again."""
    from dse.cli import commands

    commands.plot(run, out)

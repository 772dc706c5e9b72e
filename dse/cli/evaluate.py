"""``dse evaluate``: one design with every term of its model."""

from __future__ import annotations

import typer

from dse.cli.app import AsJson, Setting, StudyOrRun, app, show
from dse.errors import InfeasibleError


@app.command()
def evaluate(study: StudyOrRun, set_: Setting = None, json: AsJson = False) -> None:
    """Evaluate one design and show every term of its model."""
    from dse.api import studies

    found = studies.evaluate(study, overrides=set_)
    show(found, as_json=json)
    if not found.feasible:
        raise typer.Exit(InfeasibleError.exit_code)

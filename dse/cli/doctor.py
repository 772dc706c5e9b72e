"""``dse doctor``: what is installed, what can be added, and what is broken."""

from __future__ import annotations

import typer

from dse.cli.app import AsJson, app, show


@app.command()
def doctor(json: AsJson = False) -> None:
    """Check the installation: versions, plug-ins, extras.

    The exit status is 1 where something is broken.
    """
    from dse.installation.doctor import diagnose

    found = diagnose()
    show(found, as_json=json)
    if found.findings:
        raise typer.Exit(1)

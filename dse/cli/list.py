"""``dse list``: what a study can name, and the studies that come with the program."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import AsJson, app, show_json


@app.command(name="list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="cores, functions, interfaces, kernels, platforms, objectives, methods, figures "
            "or studies (default: all).",
            show_default=False,
        ),
    ] = None,
    provides: Annotated[
        str | None,
        typer.Option(help="Only cores and kernels that provide this function.", show_default=False),
    ] = None,
    json: AsJson = False,
) -> None:
    """List what studies can name, and studies to start from."""
    from dse.installation import inventory

    if json:
        show_json(inventory.listed_facts(kind, provides))
    else:
        inventory.list_(kind, provides)

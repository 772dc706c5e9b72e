"""``dse list``: what a study can name, and the studies that come with the program."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import app


@app.command(name="list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="cores, interfaces, kernels, platforms, objectives, methods, figures or studies; "
            "all."
        ),
    ] = None,
) -> None:
    """List what a study can name, with sources, and studies to start from."""
    from dse.installation import inventory

    inventory.list_(kind)

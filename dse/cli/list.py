"""``dse list``: what a study can name."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import app


@app.command(name="list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="cores, interfaces, kernels, platforms, objectives, methods or figures; all."
        ),
    ] = None,
) -> None:
    """List what a study can name, with sources; also the records in ./records."""
    from dse.installation import inventory

    inventory.list_(kind)

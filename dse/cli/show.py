"""``dse show``: everything that is known of one name."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import app


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name that `dse list` shows, or a record file.")],
) -> None:
    """Show one core, interface, kernel, platform, objective or method in full."""
    from dse.installation import details

    details.show_name(name)

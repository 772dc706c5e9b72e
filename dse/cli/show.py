"""``dse show``: everything that is known of one name."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import app


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(help="Name of a catalogue entry (see `dse list`), or a record file.")
    ],
) -> None:
    """Show all that is known of a core, interface, objective."""
    from dse.installation import details

    details.show_name(name)

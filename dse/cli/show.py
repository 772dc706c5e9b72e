"""``dse show``: everything that is known of one name."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import AsJson, app, show_json


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(help="Name of a catalogue entry (see `dse list`), or a record file.")
    ],
    json: AsJson = False,
) -> None:
    """Show all that is known of a core, interface, objective."""
    from dse.installation import details

    if json:
        show_json(details.details_of(name))
    else:
        details.show_name(name)

"""``dse reproduce``: the papers' numbers and statements beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, app, show, tell


@app.command()
def reproduce(
    paper: Annotated[
        list[str] | None,
        typer.Argument(help="Papers to check; all of them.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write a page instead.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Check each number and statement of the papers against our models."""
    from dse.api import papers

    found = papers.reproduce(*(paper or []))
    if out is not None:
        from dse.files.folder import write_text

        write_text(out, found.markdown())
    if out is None or json:
        show(found, as_json=json)
    else:
        tell(f"{found.summary()}\nwritten to {out}")

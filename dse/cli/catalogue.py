"""Commands about what comes with the program: its catalogue, its sources, its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, app


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


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name that `dse list` shows, or a record file.")],
) -> None:
    """Show one core, interface, kernel, platform, objective or method in full."""
    from dse.installation import inventory

    inventory.show(name)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure that `dse list figures` shows, or all.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; figures/.")] = None,
    gallery: Annotated[
        Path | None, typer.Option(help="Write a Markdown page of them too; PNG only.")
    ] = None,
) -> None:
    """Draw a figure of one of the source papers again, from our models."""
    from dse.reproduction import figures

    figures.figure(name, out, gallery)


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
    from dse.reproduction import reproduce

    reproduce.command(paper or [], as_json=json, out=out)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a study, for editors."""
    from dse.cli import commands

    commands.schema()

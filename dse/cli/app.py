"""The application that the command modules add to, and the arguments that they share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="dse",
    help="Which accelerator core, how many, behind which interface: fronts instead of guesses.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

StudyFile = Annotated[Path, typer.Argument(help="Study file (YAML).", show_default=False)]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help='Replace a field: --set "workload.rate=73 Gbps".'
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"dse {version('accel-dse')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Which accelerator core, how many, behind which interface: fronts instead of guesses."""

"""Commands that fit records to a user's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, app

fit = typer.Typer(
    name="fit",
    help="Fit a record that studies can use to data of your own.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(fit)

Record = Annotated[
    Path | None,
    typer.Option("--out", metavar="RECORD.yaml", help="Record to write; records/ITS NAME.yaml."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a record that is there.")]


@fit.callback()
def _fit() -> None:
    """Fit a record that studies can use to data of your own."""


@fit.command()
def core(
    table: Annotated[Path, typer.Argument(metavar="TABLE.csv", help="A row per design.")],
    out: Record = None,
    over: Annotated[
        list[str] | None, typer.Option(help="Column that is a parameter; once or twice.")
    ] = None,
    form: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUANTITY=FORM",
            help="A form that is not chosen but given: constant, affine, square, power or "
            "exponential.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help='As in a stage with a table: --set "values.payload=64 bit".',
        ),
    ] = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit laws of area, power and rate over one or two parameters to a table of designs."""
    from dse.cli import fit_files

    fit_files.core(table, out, over or [], form or [], set_ or [], force=force, as_json=json)


@fit.command()
def platform(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA.csv", help="A row per run: work, traffic, time and energy, with units."
        ),
    ],
    out: Record = None,
    precision: Annotated[
        str, typer.Option(help="Precision of the operations: single or double.")
    ] = "single",
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit the energy roofline of a platform to measured runs."""
    from dse.cli import fit_files

    fit_files.platform(data, out, precision, force=force, as_json=json)

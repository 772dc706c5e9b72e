"""Commands that fit records to a user's own data."""

from __future__ import annotations

import typer

from dse.cli.app import app

fit = typer.Typer(
    name="fit",
    help="Fit a record that studies can use to data of your own.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(fit)


@fit.callback()
def _fit() -> None:
    """Fit a record that studies can use to data of your own."""

"""``dse new``: starters: a package with a core, an objective or a method, or a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import Commands, app, tell

new = typer.Typer(
    name="new",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(new)

Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the package (default: one called NAME)."),
]


@new.callback()
def _new() -> None:
    """Write a starter: a study, or a package with a plug-in."""


@new.command()
def core(
    name: Annotated[str, typer.Argument(help="Name of the core in studies, such as aes.")],
    out: Out = None,
) -> None:
    """Write a package with a core: record, test and study."""
    from dse.installation import scaffold

    _tell_package(scaffold.new_core(name, out))


@new.command()
def objective(
    name: Annotated[str, typer.Argument(help="Name with its unit, such as silicon_energy_j.")],
    out: Out = None,
) -> None:
    """Write a package with an objective: record, test and study."""
    from dse.installation import scaffold

    _tell_package(scaffold.new_objective(name, out))


@new.command()
def method(
    name: Annotated[str, typer.Argument(help="Name of the method in studies, such as hill-climb.")],
    out: Out = None,
) -> None:
    """Write a package with a search method: record, test and study."""
    from dse.installation import scaffold

    _tell_package(scaffold.new_method(name, out))


@new.command()
def study(
    name: Annotated[
        Path | None,
        typer.Argument(help="File to write (default: study.yaml, or the name of --from)."),
    ] = None,
    from_: Annotated[
        str,
        typer.Option("--from", metavar="STUDY", help="Study to copy (see `dse list studies`)."),
    ] = "",
) -> None:
    """Write a study to start from: a commented one, or a copy."""
    from dse.installation import scaffold

    target, *records = scaffold.new_study(name or Path(from_ or "study"), from_)
    for record in records:
        tell(f"{record} is written, which the study reads")
    tell(f"{target} is written; try: dse run {_quoted(target)}")


def _tell_package(folder: Path) -> None:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        tell(str(path))
    tell("\nIts figures are EXAMPLES, and marked as such; README.md says what to replace. Try:")
    tell(f"  python -m pip install --editable {_quoted(folder)}")
    tell(f"  python -m pytest {_quoted(folder)}")
    tell(f"  dse run {_quoted(folder / 'study.yaml')}")


def _quoted(path: Path) -> str:
    """Return a path for a shell; with ``./``, or pip would look for a distribution's name."""
    text = str(path) if path.is_absolute() else f"./{path}"
    return f'"{text}"' if " " in text else text

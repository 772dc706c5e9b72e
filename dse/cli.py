"""The command line: arguments in, text and exit status out; no logic of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dse.errors import DseError, InfeasibleError

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


@app.command()
def run(
    study: StudyFile,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; a fresh one under runs/.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="Search method; `dse list methods`.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the search.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Most designs to evaluate.")] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Search a study and write its front, evaluations, manifest and pictures."""
    from dse import commands

    commands.run(study, out, method, seed, budget, set_ or [], as_json=json)


@app.command()
def check(study: StudyFile, set_: Setting = None) -> None:
    """Read a study and report every fault, without running it."""
    from dse import commands

    commands.check(study, set_ or [])


@app.command(name="list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="cores, interfaces, kernels, platforms, objectives, methods or figures; all."
        ),
    ] = None,
) -> None:
    """List what a study can name, with sources."""
    from dse import inventory

    inventory.list_(kind)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A name that `dse list` shows.")]) -> None:
    """Show one core, interface, kernel, platform, objective or method in full."""
    from dse import inventory

    inventory.show(name)


@app.command()
def evaluate(study: StudyFile, set_: Setting = None, json: AsJson = False) -> None:
    """Evaluate one design, with every term of its model written out."""
    from dse import commands

    if not commands.evaluate(study, set_ or [], as_json=json):
        raise typer.Exit(InfeasibleError.exit_code)


@app.command()
def plot(
    run: Annotated[Path, typer.Argument(help="Folder that `dse run` wrote.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; the run's.")] = None,
) -> None:
    """Draw the pictures of a finished run again."""
    from dse import commands

    commands.plot(run, out)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure that `dse list figures` shows, or all.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the pictures; figures/.")] = None,
    gallery: Annotated[
        Path | None, typer.Option(help="Write a Markdown page of them too; PNG only.")
    ] = None,
) -> None:
    """Draw a figure of one of the source papers again, from our models."""
    from dse import figures

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
    from dse import reproduce

    reproduce.command(paper or [], as_json=json, out=out)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a study, for editors."""
    from dse import commands

    commands.schema()


def main() -> None:
    """Run the command line; errors of the user end with a message and an exit status."""
    try:
        app()
    except DseError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)

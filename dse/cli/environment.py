"""Commands on papers, on the installation, and on studies to start from."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from dse.api.arguments import Names, texts
from dse.cli.options import Call, command, imported, show, show_json, write
from dse.reports.progress import bar


@command()
def papers(names: Names = (), *, out: str | Path | None = None, json: bool = False) -> None:
    """Check the claims of the source papers, or draw their figures.

    Parameters
    ----------
    names : PAPER|FIGURE...
        Papers whose claims are checked (default: all), or figures to draw (see
        `dse list figures`).
    out
        Draw the named figures into this folder (default: figures/ for a figure).
    """
    chosen = texts(names)
    wanted = imported("dse.papers.figures:select_figures")(chosen, drawn=out is not None)
    if not wanted:
        with bar("claims", "checking claims"):
            found = imported("dse.papers.reproduce:reproduce")(*chosen)
        show(found, json)
        return
    with bar("figures", "drawing"):
        draw = imported("dse.papers.figures:draw_figures")
        drawn = draw(wanted, Path("figures" if out is None else out))
    if json:
        show_json({"files": [str(path) for path in drawn]})
    else:
        write("\n".join(map(str, drawn)))


@command()
def list_(name: str | None = None, *, provides: str | None = None, json: bool = False) -> None:
    """List the names for studies, or the details of one name.

    Parameters
    ----------
    name : KIND|NAME
        cores, functions, interfaces, kernels, platforms, objectives, methods, generators, figures
        or studies (default: the number of each), or a name (see `dse list`), or the file of
        a record.
    provides
        Only cores and kernels that provide this function (see `dse list functions`).
    """
    if json:
        show_json(imported("dse.installation.details:known_facts")(name, provides))
    else:
        imported("dse.installation.details:show_known")(name, provides)
        sys.stdout.flush()  # here an output without a reader, or a full one, ends the command


@command("dse.installation.doctor:diagnose")
def doctor(call: Call, *, json: bool = False) -> None:
    """Check the installation: versions, plug-ins, extras.

    The exit status is 1 if something is broken.
    """
    found = call()
    show(found, json)
    if found.facts["findings"]:
        raise typer.Exit(1)


@command(name="new study")
def new_study(name: str | Path | None = None, *, from_: str = "") -> None:
    """Write a study to start from: a commented one, or a copy.

    Parameters
    ----------
    name
        File to write (default: study.yaml, or the name of --from).
    from_ : STUDY
        Study to copy (see `dse list studies`).
    """
    written = imported("dse.installation.inventory:new_study")
    target, *others = written(Path(name or from_ or "study"), from_)
    for other in others:
        reader = "editors read" if other.suffix == ".json" else "the study reads"
        write(f"{other} is written, which {reader}")
    write(f"{target} is written; try: dse run {_quoted(target)}")


def _quoted(path: Path) -> str:
    """Return a path for a shell, with ``./``."""
    text = str(path) if path.is_absolute() else f"./{path}"
    return f'"{text}"' if " " in text else text

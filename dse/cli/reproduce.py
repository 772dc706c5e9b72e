"""``dse reproduce``: the papers' numbers and statements beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Jobs, app, show, tell


@app.command()
def reproduce(
    paper: Annotated[
        list[str] | None,
        typer.Argument(help="Papers to check (default: all).", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every claim with its verdict and reason.")
    ] = False,
    by_synthesis: Annotated[
        bool,
        typer.Option("--by-synthesis", help="Ask our own hardware in three cell libraries."),
    ] = False,
    library: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="LIB", help="By synthesis: ask it in this one, mapped now; several make one."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Write Markdown pages FILE.md and FILE_all.md."),
    ] = None,
    jobs: Jobs = None,
    json: AsJson = False,
) -> None:
    """Check the claims of the source papers against the models."""
    from dse.api import papers
    from dse.reports.progress import bar
    from dse.workers import cores

    if by_synthesis:
        if out is not None or everything:
            raise typer.BadParameter("--by-synthesis goes with neither --all nor --out")
        with bar("designs", "reading descriptions and library") as progress:
            asked = papers.reproduce_by_synthesis(
                *(paper or []), library=library or (), jobs=jobs or cores(), progress=progress
            )
        show(asked, as_json=json)
        return
    if library:
        raise typer.BadParameter("--library goes with --by-synthesis")
    with bar("claims", "checking claims"):
        found = papers.reproduce(*(paper or []), jobs=jobs or cores())
    if out is not None:
        from dse.files.folder import write_text

        for page, text in found.pages(out).items():
            write_text(page, text)
    if json:
        show(found, as_json=True)
    elif out is not None:
        tell(f"{found.summary()}\nwritten to {' and '.join(map(str, found.pages(out)))}")
    else:
        tell(found.full_text() if everything else found.text())

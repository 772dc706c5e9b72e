"""``dse explain``: why a design is on the front of a run, or not."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import REFUTED, AsJson, RunFolder, app, show


@app.command()
def explain(
    run: RunFolder,
    design: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUE",
            help='Choices of the design, as in front.csv: --design "des.u16=2 des.u8=1".',
        ),
    ],
    json: AsJson = False,
) -> None:
    """Explain why a design is on the front, or why it is not."""
    from dse.api import audits
    from dse.reports.progress import bar

    with bar("designs", "evaluating"):
        found = audits.explain(run, design)
    show(found, as_json=json)
    if found.verdict == "refutation":
        raise typer.Exit(REFUTED)

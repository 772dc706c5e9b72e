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
            metavar="NAME=VALUE", help='A design, as in front.csv: --design "des.u16=2 des.u8=1".'
        ),
    ],
    json: AsJson = False,
) -> None:
    """Say why a design is on the front of a run, or what it violates or is dominated by."""
    from dse.api import audits

    found = audits.explain(run, design)
    show(found, as_json=json)
    if found.verdict == "refutation":
        raise typer.Exit(REFUTED)

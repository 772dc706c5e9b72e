"""Commands that answer a study's question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dse.cli.app import AsJson, Setting, app


@app.command()
def answer(
    study: Annotated[Path, typer.Argument(help="Study file, or the folder of a run.")],
    rate: Annotated[
        str | None, typer.Option(help='Demanded rate, such as "100 Gbps"; the study\'s.')
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(help="power, area, knee, an objective, or an expression to minimise."),
    ] = None,
    flips: Annotated[
        bool | None,
        typer.Option(
            "--flips/--no-flips",
            help="All that would change the answer, or nothing of it; what is near.",
            show_default=False,
        ),
    ] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Answer a study: which design, why, what limits it, what any other choice would cost."""
    from dse import answers

    answers.command(study, rate, prefer, set_ or [], flips=flips, as_json=json)

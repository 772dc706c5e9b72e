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
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, help="Draw what is uncertain so often, and say how sure the answer is."
        ),
    ] = None,
    uncertainty: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=PERCENT",
            help='How sure a figure or field is: --uncertainty "area=10 %".',
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
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
    from dse.answers import answers
    from dse.uncertainty import sampling

    sampled = sampling.asked(samples, uncertainty or [], seed)
    answers.command(study, rate, prefer, set_ or [], sampled, flips=flips, as_json=json)


@app.command()
def sensitivity(
    study: Annotated[Path, typer.Argument(help="Study file, or the folder of a run.")],
    method: Annotated[str, typer.Option(help="sobol or morris.")] = "sobol",
    range_: Annotated[
        str, typer.Option("--range", help="How far each assumption moves, to either side.")
    ] = "10 %",
    samples: Annotated[
        int | None, typer.Option(min=2, help="Base samples (sobol) or trajectories (morris).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 0,
    prefer: Annotated[
        str | None,
        typer.Option(help="power, area, knee, an objective, or an expression to minimise."),
    ] = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Say which assumptions move the objectives of the recommended design, and how much."""
    from dse.uncertainty import sensitivity_text

    sensitivity_text.command(study, method, range_, samples, seed, prefer, set_ or [], as_json=json)

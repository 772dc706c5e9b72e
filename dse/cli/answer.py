"""``dse answer``: which design, why, and what any other choice would cost."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import (
    AsJson,
    FlipsBudget,
    Jobs,
    Parts,
    Prefer,
    Setting,
    StudyOrRun,
    Tolerance,
    app,
    show_json,
)
from dse.errors import InfeasibleError


@app.command()
def answer(
    study: StudyOrRun,
    rate: Annotated[
        str | None, typer.Option(help='Demanded rate, such as "100 Gbps"; the study\'s.')
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Draw what is uncertain so often, and say how sure the answer is."),
    ] = None,
    uncertainty: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=PERCENT",
            help='How sure a figure or field is: --uncertainty "area=10 %".',
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    all_: Annotated[
        bool, typer.Option("--all", help="Tell everything, not only what fits one screen.")
    ] = False,
    flips: Annotated[
        bool | None,
        typer.Option(
            "--flips/--no-flips",
            help="All that would change the answer, or nothing of it; what is near.",
            show_default=False,
        ),
    ] = None,
    flips_budget: FlipsBudget = None,
    jobs: Jobs = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Answer a study: which design, why, what limits it, what any other choice would cost."""
    from dse.api import answers
    from dse.reports.progress import LateBar
    from dse.workers import cores

    shown = LateBar("assumptions")
    parts = Parts(shown.close, apart=all_)
    try:
        found = answers.answer(
            study,
            rate=rate,
            prefer=prefer,
            tolerance=tolerance,
            overrides=set_,
            all=all_ or json,
            flips=flips,
            samples=samples,
            uncertainty=uncertainty or [],
            seed=seed,
            flips_budget=flips_budget,
            jobs=jobs or cores(),
            told=None if json else parts.tell,
            progress=shown,
        )
    except InfeasibleError as error:
        if json:
            show_json(error.facts)
        raise
    finally:
        shown.close()
    if json:
        show_json(found.to_dict())

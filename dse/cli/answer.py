"""``dse answer``: which design, why, and what any other choice would cost."""

from __future__ import annotations

from typing import Annotated

import typer

from dse.cli.app import (
    AsJson,
    Jobs,
    Memory,
    Parts,
    Prefer,
    Setting,
    StudyOrRun,
    Time,
    Tolerance,
    app,
    show_json,
)
from dse.errors import InfeasibleError


@app.command()
def answer(
    study: StudyOrRun,
    rate: Annotated[
        str | None, typer.Option(help='Demanded rate: "100 Gbps" (default: that of the study).')
    ] = None,
    prefer: Prefer = None,
    tolerance: Tolerance = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Number of Monte Carlo samples, which say how robust the answer is."),
    ] = None,
    uncertainty: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=PERCENT",
            help='Relative standard uncertainty: --uncertainty "area=10 %".',
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    all_: Annotated[
        bool, typer.Option("--all", help="Show everything, not only what fits one screen.")
    ] = False,
    flips: Annotated[
        bool | None,
        typer.Option(
            "--flips/--no-flips",
            help="Show every flip point, or none (default: the nearest).",
            show_default=False,
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help='Show which values of each choice stay so near the best: "5 %".',
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate/--no-simulate",
            help="Simulate the design where arrivals or sizes vary (default), or not.",
            show_default=False,
        ),
    ] = True,
    time: Time = None,
    memory: Memory = None,
    jobs: Jobs = None,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Recommend a design: why, what limits it, what others cost."""
    from dse.api import answers
    from dse.reports.progress import LateBar
    from dse.workers import cores

    shown = LateBar("assumptions")
    shown.doing("searching")
    parts = Parts(shown.close, lambda: shown.doing("looking further"), apart=all_)
    try:
        found = answers.answer(
            study,
            rate=rate,
            prefer=prefer,
            tolerance=tolerance,
            overrides=set_,
            all=all_ or json,
            flips=flips,
            within=within,
            simulate=simulate,
            samples=samples,
            uncertainty=uncertainty or [],
            seed=seed,
            time=time,
            memory=memory,
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

"""``dse run``: search a study, write its folder, print the front."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dse.cli.app import FAILING, AsJson, Jobs, Setting, StudyFile, app, show_json, tell, warn
from dse.cli.interrupts import INTERRUPT
from dse.errors import GONE, ArgumentError, InfeasibleError, OutputError
from dse.files.position import visible

if TYPE_CHECKING:
    from dse.runs.result import Result

RUNS = Path("runs")


def _refused(parameter: typer.CallbackParam, written: str | None) -> None:
    """Refuse an option of earlier versions."""
    if written is not None:
        raise ArgumentError(f"--{parameter.name}: {GONE[str(parameter.name)]}")


@app.command()
def run(
    study: StudyFile,
    out: Annotated[
        Path | None, typer.Option(help="Output folder (default: a new one under runs/).")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Search method (see `dse list methods`).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the search.")] = None,
    budget: Annotated[int | None, typer.Option(help="Most designs to evaluate.")] = None,
    rows: Annotated[
        int, typer.Option(help="Most designs of the front to print (front.csv has all).", min=1)
    ] = 15,
    plots: Annotated[
        bool, typer.Option("--plots/--no-plots", help="Draw pictures (`dse plot` can do so later).")
    ] = True,
    report: Annotated[
        bool, typer.Option("--report", help="Write report.html too, a web page that works offline.")
    ] = False,
    jobs: Jobs = None,
    workers: Annotated[
        int | None, typer.Option(help="Designs measured at once (`evaluate.workers`).", min=1)
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Scheduler of a Dask cluster that measures, tcp://HOST:8786.")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(hidden=True, expose_value=False, callback=_refused),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the run in --out: nothing is measured twice."),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove the measurements in --out, and begin again.")
    ] = False,
    reuse: Annotated[
        list[Path] | None,
        typer.Option(metavar="RUN", help="Use what another run measured, where it holds."),
    ] = None,
    measure_again: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="With --resume: measure again what `failed`, a kind of it, or what is `measured`.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with status 4 where designs failed by accident.")
    ] = False,
    set_: Setting = None,
    json: AsJson = False,
) -> None:
    """Find the Pareto front of a study and write it to a folder."""
    from dse.api import studies
    from dse.reports.progress import LateBar
    from dse.workers import cores

    folder, progress = out or _fresh(study.stem), LateBar("designs")
    progress.doing("reading the study")
    found: list[Result] = []

    def told(result: Result) -> None:
        progress.close()
        found.append(result)
        if not json:
            with INTERRUPT.read_or_not():
                tell(f"{result.text(rows=rows)}\n")
        progress.doing(f"writing {folder}")

    if resume:
        _tell_programs(study, set_)
    try:
        with INTERRUPT.asked() as stop:
            result = studies.run(
                study,
                out=folder,
                method=method,
                seed=seed,
                budget=budget,
                overrides=set_,
                plots=plots,
                jobs=jobs or cores(),
                workers=workers,
                dask=dask,
                resume=resume,
                fresh=fresh,
                reuse=reuse or (),
                measure_again=measure_again or (),
                progress=progress,
                stop=stop,
                told=told,
            )
        if report:
            from dse.api.reports import report as write_page

            write_page(folder)
    except InfeasibleError as error:
        if json:
            show_json(error.facts)
        if out is not None and plots:
            _draw_missed(studies.load(study, overrides=set_).question, error, out)
        if report:
            from dse.api.reports import report_infeasible

            report_infeasible(studies.load(study, overrides=set_), error, folder)
        raise
    except OutputError:  # what was found is told all the same
        if json and found:
            show_json({"folder": None} | found[0].to_dict())
        raise
    finally:
        progress.close()
    for warning in result.warnings:
        warn(warning)
    if json:
        show_json({"folder": str(folder)} | result.to_dict())
    else:
        marked = ", marked as interrupted" if result.run.interrupted else ""
        tell(f"written to {folder}{marked}" + ("" if plots else f"; dse plot {folder} draws it"))
        if result.run.interrupted and result.resume:
            tell(f"go on with: {result.again if result.run.failing else result.resume}")
    if result.run.ledger.failed:
        _warn_of_failures(result)
        if strict or result.run.failing:
            raise typer.Exit(FAILING)


def _tell_programs(study: Path, pairs: list[str] | None) -> None:
    """Say what a study is about to run: whoever wrote it, it is a program."""
    from dse.api.sources import document_of
    from dse.runs.measurements import programs_of

    for program in programs_of(document_of(study, pairs)):
        print(
            visible(f"this study runs a program, in {study.parent.absolute()}: {program}"),
            file=sys.stderr,
        )


def _warn_of_failures(result: Result) -> None:
    """Say in a line that nothing is known of designs that failed, and how to change that."""
    from dse.model.ledger import remedy_of
    from dse.reports.words import plural

    ledger, remedy = result.run.ledger, remedy_of(result.manifest)
    what = (
        f"the front is {ledger.but}" if ledger.but else f"{plural(ledger.failed, 'design')} failed"
    )
    warn(f"{result.run.failing or what}{f'; {remedy}' if remedy else ''}")


def _draw_missed(question: str, error: InfeasibleError, out: Path) -> None:
    """Leave a picture of what is missed in the folder that was named for the run."""
    from dse.parametric.missed import save_missed
    from dse.runs.result import MISSED, PAGE

    try:
        save_missed(question, error.facts, out, MISSED, (PAGE,))
    except OutputError as fault:  # what is missed is told all the same
        warn(f"{', '.join(MISSED)} are not written: {fault}")


def _fresh(stem: str) -> Path:
    """Return a folder under ``runs/`` that does not exist yet."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (f"{stem}-{stamp}" + (f"-{number}" if number else "") for number in range(1000))
    return next(RUNS / name for name in names if not (RUNS / name).exists())

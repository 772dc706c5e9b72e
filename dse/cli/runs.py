"""Commands that make and show runs, with the arguments of functions in `dse.api` as options."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dse.cli import INTERRUPT
from dse.cli.options import (
    Call,
    command,
    imported,
    say,
    show,
    show_json,
    spelled,
    warn,
    write,
)
from dse.errors import (
    ArgumentError,
    DseError,
    InfeasibleError,
    OutputError,
    faults_of,
    plural,
    visible,
)
from dse.reports.progress import LateBar, bar

if TYPE_CHECKING:
    from dse.runs.result import Result

FAILING = 4
"""Exit status: designs failed by accident, and the run stopped of it or is to be strict."""

RUNS = Path("runs")

EVERY_S = 2.0
"""Interval of updates with --watch."""

CLEAR = "\x1b[H\x1b[2J"
"""Clears a terminal, and goes to its first line."""


@command("dse.api.studies:load")
def check(
    call: Call, study: str | Path | None = None, *, schema: bool = False, json: bool = False
) -> None:
    """Read a study and report every error, without running it.

    Parameters
    ----------
    study
        Study file (YAML).
    schema
        Print the JSON Schema of studies instead, for editors.
    """
    if schema:
        show_json(imported("dse.study.schema:json_schema")())
        return
    if study is None:
        raise ArgumentError("study: none is given; name a study file, or write --schema")
    try:
        found = call(study=study)
        imported("dse.search:check_search")(found.problem, found.settings)
    except DseError as error:
        if json:
            show_json({"study": str(study), "faults": [*faults_of(error)]})
        raise
    if json:
        show_json({"study": str(study), "faults": [], "summary": found.summary()})
    else:
        lines = f"{study}: {found.summary()}".splitlines()
        paragraph = imported("dse.reports.text:paragraph")
        write("\n".join(paragraph(line, indent="  ") for line in lines))


@command("dse.api.runs:run")
def run(
    call: Call,
    *,
    out: str | Path | None = None,
    report: bool = False,
    strict: bool = False,
    json: bool = False,
) -> None:
    """Find the Pareto front of a study and write it to a folder.

    Parameters
    ----------
    out
        Output folder (default: a new one under runs/).
    report
        Write report.html too, a web page that works offline.
    strict
        End with status 4 if designs failed by accident.
    """
    folder, progress = Path(out or _fresh(call.given["study"].stem)), LateBar("designs")
    progress.doing("reading the study")
    found: list[Result] = []

    def first(result: Result) -> None:
        progress.close()
        found.append(result)
        if not json:
            with INTERRUPT.read_or_not():
                write(result.text())
        progress.doing(f"writing {folder}")

    _name_programs(call)
    try:
        with _infeasible(call, folder, json=json, report=report):
            with INTERRUPT.deferred() as stop:
                result = call(out=folder, progress=progress, stop=stop, callback=first)
            if report:
                imported("dse.api.pages:write_page")(folder)
    except OutputError:  # the results are printed all the same
        if json and found:
            show_json({"folder": None} | found[0].to_dict())
        raise
    finally:
        progress.close()
    _show_run(result, folder, plots=call.given["plots"], json=json)
    if result.run.ledger.failed:
        _warn_of_failures(result)
        if strict or result.run.failing:
            raise typer.Exit(FAILING)


def _fresh(stem: str) -> Path:
    """Return a folder under ``runs/`` that does not exist yet."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (f"{stem}-{stamp}" + (f"-{number}" if number else "") for number in range(1000))
    return next(RUNS / name for name in names if not (RUNS / name).exists())


def _name_programs(call: Call) -> None:
    """Print the program that a resumed study is about to run."""
    if not call.given["resume"]:
        return
    study = call.given["study"]
    document = imported("dse.api.studies:document_of")(study, call.given.get("overrides"))
    for program in imported("dse.runs.measurements:programs_of")(document):
        where = study.parent.absolute()
        print(visible(f"this study runs a program, in {where}: {program}"), file=sys.stderr)


@contextmanager
def _infeasible(call: Call, folder: Path, *, json: bool, report: bool) -> Iterator[None]:
    """Print the missed constraints if no design is feasible, and write their page."""
    try:
        yield
    except InfeasibleError as error:
        if json:
            show_json(error.facts)
        if report:
            load, given = imported("dse.api.studies:load"), call.given
            study = load(given["study"], overrides=given.get("overrides"))
            imported("dse.api.pages:report_infeasible")(study, error, folder)
        raise


def _show_run(result: Result, folder: Path, *, plots: bool, json: bool) -> None:
    for warning in result.warnings:
        warn(warning)
    if json:
        show_json({"folder": str(folder)} | result.to_dict())
        return
    marked = ", marked as interrupted" if result.run.interrupted else ""
    drawn = "" if plots else f"; draw it: {spelled()} report {folder} --pictures"
    say(f"written to {folder}{marked}{drawn}; what could change this: {spelled()} answer {folder}")
    if result.run.interrupted and result.resume and not result.run.failing:
        write(f"go on with: {result.resume}")


def _warn_of_failures(result: Result) -> None:
    """Print a line on failed designs, of which nothing is known, and how to retry them."""
    ledger, folder = result.run.ledger, result.folder
    what = (
        f"the front is {ledger.but}" if ledger.but else f"{plural(ledger.failed, 'design')} failed"
    )
    again = f"; {imported('dse.runs.measurements:retry_text')(folder)}" if folder else ""
    warn(f"{result.run.failing or what}{again}")


@command("dse.api.runs:status")
def status(call: Call, *, watch: bool = False, json: bool = False) -> None:
    """Show the progress of a run: measured, failed, best so far.

    Parameters
    ----------
    watch
        Show it again and again until the run ends, or Ctrl-C.
    """
    while True:
        found = call()
        if watch and sys.stdout.isatty():
            print(CLEAR, end="")
        show(found, json)
        if not watch or found.state != "running":
            return
        time.sleep(EVERY_S)


@command("dse.api.pages:report", "dse.api.pages:pictures", "dse.api.pages:slide")
def report(call: Call, run: str | Path, *, pictures: bool = False, slide: bool = False) -> None:
    """Write a run as a web page that works offline.

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.
    pictures
        Draw the plots of the run again instead, into its folder or the --out folder.
    slide
        Draw one picture for a slide instead: question, answer, margins, and the front (with
        --flips the decision map).
    """
    if pictures or slide:
        what = "slide" if slide else "pictures"
        drawn = call.of(what, f"--{what} draws the plots and makes no page")
        with bar("pictures", "drawing"):
            write("\n".join(map(str, drawn(run=run))))
        return
    with bar("assumptions", "reading the run") as progress:
        page = call.of("report")(run=run, progress=progress)
    write(str(page))


@command("dse.serve.serving:serve")
def serve(call: Call) -> None:
    """Serve a page of a study or run to browsers on this machine."""
    call(callback=lambda address: write(f"{address}  (Ctrl-C ends it)"))


@command()
def mcp() -> None:
    """Serve answers about studies of this folder to an agent (MCP)."""
    imported("dse.serve.agents:agent_server")().run("stdio")

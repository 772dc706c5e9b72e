"""Running a study, and runs as arguments of public functions: folders and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from dse.api.arguments import PLAIN_KINDS, Count, Kind, Paths, Seed, assigned, paths, public
from dse.api.studies import A_STUDY, Overrides, StudySource, document_of, override_pairs
from dse.errors import OutputError
from dse.files.document import Assignments, Document, no_such
from dse.files.json import reason
from dse.runs.finished import Finished, read_run
from dse.runs.result import Result, run_place
from dse.runs.runner import Options, Run, run_study
from dse.runs.status import Status, status_of
from dse.search import Progress, Stop
from dse.search.settings import budget_of
from dse.study.overrides import override
from dse.study.study import Study, read_study

PLAIN_KINDS[str, Path, Result] = Kind(
    "the folder of a run, or a Result that was saved",
    lambda value: isinstance(value, str | Path | Result),
    Path,
)
Source = Annotated[
    str | Path | Mapping[str, Any] | Study | Result | Finished,
    Kind(
        f"{A_STUDY}, a Result or its folder",
        lambda value: isinstance(value, str | Path | Mapping | Study | Result | Finished),
        Path,
        metavar="STUDY",
    ),
]

DesignChoices = Annotated[
    Assignments, assigned("'1 u8 + 2 u16', 'des.u8=1 des.u16=2', or a dict of these", "DESIGN")
]


def study_of(source: Source, overrides: Overrides | None = None) -> Document:
    """Return the document of a study, of a `Result`, or of the run in a folder."""
    found = known(source)
    if isinstance(found, Path) and found.is_dir():
        found = read_run(found).document
    if isinstance(found, Path):
        return document_of(found, overrides)
    document = found if isinstance(found, Document) else found.document
    return override(document, override_pairs(overrides))


def known(source: Source) -> Path | Document | Run | Finished:
    """Return a path, an opened run, the document of a study, or the run of a `Result`.

    Raises
    ------
    StudyError
        Nothing is at the path.
    OutputError
        The path cannot be read.
    """
    if isinstance(source, Study):
        return source.document
    if isinstance(source, Mapping) or (isinstance(source, str) and "\n" in source):
        return read_study(source)
    if isinstance(source, Finished):
        return source
    if not isinstance(source, str | Path):
        return source.run
    path = Path(source)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise no_such(path, "file or folder of a run", "*.y*ml", "*/manifest.json") from None
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {reason(error)}") from None
    return path


def folder_of(run: str | Path | Result) -> Path:
    """Return the folder of a run.

    Raises
    ------
    OutputError
        A `Result` was not saved.
    """
    if isinstance(run, str | Path):
        return Path(run)
    if run.folder is None:
        raise OutputError("this result was not saved; save it first: result.save(folder)")
    return run.folder


@public
def run(
    study: StudySource,
    *,
    out: str | Path | None = None,
    method: str | None = None,
    seed: Seed | None = None,
    budget: Count | None = None,
    overrides: Overrides | None = None,
    plots: bool = True,
    evaluate: Callable[..., Mapping[str, float | str]] | None = None,
    workers: Count | None = None,
    dask: str | None = None,
    resume: bool = False,
    reuse: Paths = (),
    time: str | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
    callback: Callable[[Result], object] | None = None,
) -> Result:
    """Run a study and return its front, evaluations and manifest.

    >>> dse.run("studies/settop_116mbps.yaml").front  # a pandas DataFrame

    Parameters
    ----------
    study, overrides, evaluate
        As in `load`.
    out
        Output folder.  Nothing is kept if it is None, not even the output of failed measurements.
    method
        Search method (see `dse list methods`).
    seed
        Seed of the search.
    budget
        Most designs to evaluate.
    plots
        Draw pictures (`dse report --pictures` can do so later).
    workers
        Designs measured at once (default: `evaluate.workers`).
    dask
        Scheduler of a Dask cluster that measures, tcp://HOST:8786.  It measures as many designs
        at once as it has threads.
    resume
        Go on with the run in the output folder: nothing is measured twice.  Without it,
        measurements there are an error.  A study whose designs are not measured is run again.
    reuse : RUN
        Use the measurements of another run that still hold, and repeat its failed ones.
    time : TIME
        Most CPU time: "10 min" (default: search.effort).
    progress
        Called with the number of designs done and the number planned.
    stop
        Called before each batch of designs: once it returns True, the search ends, and the front
        so far is the result, with ``interrupted`` in its manifest.
    callback
        Called with the result before anything is written.

    Returns
    -------
    Result
        With the data frames `front` and `evaluations` and the dictionary `manifest`.  Ctrl-C
        raises `KeyboardInterrupt` as in any function, and leaves `out` as it was.

    Raises
    ------
    dse.errors.StudyError
        The study has errors: all of them at once.
    dse.errors.InfeasibleError
        No design meets every constraint.
    dse.errors.MeasurementError
        Every measurement failed, or one did and the study ends the search then.
    dse.errors.NothingFoundError
        It was stopped before it found a feasible design.
    dse.errors.OutputError
        The folder cannot be written: before the search, or after it with the name of a
        temporary folder in which the run is kept.  It has measurements, and
        `resume` is not given, or the study is not the one to resume.
    dse.errors.StoreError
        Measurements cannot be kept or read.  The note of an error that ends a run with
        measurements has the command to go on.
    """
    limits = budget_of(time)
    document = document_of(study, overrides, evaluate)
    options = Options(
        method=method,
        seed=seed,
        budget=budget,
        workers=workers,
        dask=dask,
        effort_s=limits.seconds if time else None,
        measures=True,
        resume=resume,
        reuse=paths(reuse),
    )
    with run_place(out, document, options) as (place, measurements):
        with measurements as (document, options, command):
            done = run_study(document, options, progress, stop=stop)
            if not done.feasible:
                from dse.parametric.infeasible import require_any_feasible  # rarely needed

                require_any_feasible(done, stop, limits)
        result = Result(done)
        result.resume = command
        if callback is not None:
            callback(result)
        if place is not None:
            result.fill(place, plots=plots)
    return result


@public
def status(run: str | Path | Result) -> Status:
    """Return the progress of a run: measured, running and failed designs, and the best so far.

    >>> print(dse.status("runs/synth"))

    Parameters
    ----------
    run
        Folder of a run, as `dse run` wrote it.  The run may go on meanwhile.

    Raises
    ------
    dse.errors.OutputError
        It is not the folder of a run.
    dse.errors.StoreError
        Its measurements cannot be read.
    """
    return status_of(folder_of(run))

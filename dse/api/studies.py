"""Loading a study, running it, and looking at the run and at one of its designs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dse.api.arguments import (
    Count,
    Paths,
    Seed,
    document_of,
    folder_of,
    paths,
    public,
)

if TYPE_CHECKING:
    from dse.api.arguments import Overrides, StudySource
    from dse.runs.result import Result
    from dse.runs.status import Status
    from dse.search import Progress, Stop
    from dse.search.open_problem import OpenProblem
    from dse.study.study import Study


@public
def load(
    study: StudySource,
    *,
    overrides: Overrides | None = None,
    evaluate: Callable[..., Mapping[str, float | str]] | None = None,
) -> Study:
    """Read a study and check it.

    >>> study = dse.load("studies/settop_116mbps.yaml")
    >>> faster = study.with_(rate="1 Gbit/s")

    Parameters
    ----------
    study
        Study file (YAML).  In a program also its text (more than one line), or a dict.
    overrides
        Replace a field: "workload.rate=73 Gbps".  Or several: ``{"workload.rate": "73 Gbps"}``.
    evaluate
        As in `run`, without measuring.

    Returns
    -------
    Study
        Ready to run.  A study with a sweep is at its first value.

    Raises
    ------
    dse.errors.StudyError
        The study has errors: all of them at once.
    """
    from dse.study import study as studies

    return studies.ready(document_of(study, overrides, evaluate))


@public
def problem(study: StudySource, *, overrides: Overrides | None = None) -> OpenProblem:
    """Return a study as an optimiser sees it: rows of indices in, losses and violations out.

    >>> problem = dse.problem("studies/settop_116mbps.yaml")
    >>> problem.evaluate(np.zeros((1, len(problem.sizes)), dtype=np.int64)).loss

    Parameters
    ----------
    study, overrides
        As in `load`.

    Returns
    -------
    OpenProblem
        ``sizes`` has the number of values of each axis, and a design is a row of positions on them.
        Other rows raise `dse.errors.ArgumentError`.  Its `to_pymoo` is a problem of pymoo,
        its `optuna` an objective for Optuna.

    Raises
    ------
    dse.errors.StudyError
        The study has errors: all of them at once.
    """
    from dse.runs.measurements import require_nothing_measured
    from dse.search.open_problem import opened

    prepared = load(study, overrides=overrides)
    require_nothing_measured(prepared)
    return opened(prepared.problem)


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
    fresh: bool = False,
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
    study, overrides
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
    evaluate
        Measures a design, for a study with an ``evaluate`` section without a command: a function
        of keyword arguments named as its axes (numbers in SI, choices as texts) that returns a
        dict of its outputs (numbers in the units of the section, or texts with their own).
    workers
        Designs measured at once (default: `evaluate.workers`).
    dask
        Scheduler of a Dask cluster that measures, tcp://HOST:8786.  It measures as many designs
        at once as it has threads.
    resume
        Go on with the run in the output folder: nothing is measured twice.  A study whose
        designs are not measured is run again.
    fresh
        Remove the measurements in the output folder, and begin again.  Without this and `resume`,
        they are an error.
    reuse : RUN
        Use the measurements of another run that still hold, and repeat its failed ones.
    time
        As in `answer`.
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
        temporary folder in which the run is kept.  It has measurements, and neither
        `resume` nor `fresh` is given, or the study is not the one to resume.
    dse.errors.StoreError
        Measurements cannot be kept or read.  The note of an error that ends a run with
        measurements has the command to go on.
    """
    from dse.runs.result import Result, run_place
    from dse.runs.runner import run_study
    from dse.runs.solved import Options
    from dse.search.settings import budget_of

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
        fresh=fresh,
        reuse=paths(reuse),
    )
    with run_place(out, document, options) as kept:
        with kept.measuring as (document, options):
            done = run_study(document, options, kept.recorded(progress, document), stop=stop)
            if not done.feasible:
                from dse.parametric.infeasible import require_any_feasible  # rarely needed

                require_any_feasible(done, stop, limits)
        result = Result(done)
        result.resume = kept.command
        if callback is not None:
            callback(result)
        if kept.place is not None:
            result.fill(kept.place, plots=plots)
            result.warnings = (*kept.notes, *result.warnings)
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
    from dse.runs.status import status_of

    return status_of(folder_of(run))

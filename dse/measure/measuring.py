"""Measurement of designs for a search, and the parts of measuring that other packages use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, runtime_checkable

from dse import search
from dse.algebra.units import duration
from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import BudgetError, MeasurementError
from dse.measure.attempts import Cluster, FailingError, Terms, Threads, Workers, measured
from dse.measure.evaluate import measured_quantities, measuring_lines, with_axes
from dse.measure.store import carry, kept_run, rows_in, stored_run
from dse.model.measured import Design, MeasurementSetup
from dse.model.problem import Problem
from dse.reports.text import plural
from dse.runs.measurements import ONLY_RUNS, causes_of, causes_text
from dse.search import SearchSettings
from dse.search.exact.work import StopError
from dse.study.measuring import Measuring, Working
from dse.study.schema import EvaluateSection


@runtime_checkable
class Narrator(Protocol):
    """A `Progress` that shows the present work in words."""

    def tell(self, now: str) -> None:
        """Show the present work."""


@contextmanager
def let_measure(
    problem: Problem,
    section: EvaluateSection | None,
    working: Working | None,
    settings: SearchSettings,
) -> Iterator[None]:
    """Open the measurements of a search, except for a finished run.

    Raises
    ------
    MeasurementError
        The study measures, and `working` is None.  Or all requested designs failed.
    """
    if problem.measured is None:
        yield
        return
    setup = problem.measured.setup
    if isinstance(setup.evaluator, RecordedEvaluator) or section is None:
        yield
    elif working is None:
        raise MeasurementError(ONLY_RUNS)
    else:
        with _opened(setup, section, working, search.planned(problem, settings)):
            yield
    if setup.failures and not setup.ledger.evaluated:
        early = working is not None and working.spending.failing != ""
        found = (causes_of(setup.seen.values(), failed=failed) for failed in (True, False))
        causes = (line for each in found for line in causes_text(each, setup.unit_names))
        count = plural(len(setup.seen), "design")
        stopped = ", and no more were tried (evaluate.stop_at_failures)" if early else ""
        raise MeasurementError("\n".join([f"none of {count} could be measured{stopped}:", *causes]))


@contextmanager
def _opened(
    setup: MeasurementSetup, section: EvaluateSection, working: Working, planned: int
) -> Iterator[None]:
    options = working.options
    crew: Workers
    if options.dask is not None:
        crew = Cluster(setup.evaluator, options.dask)
    else:
        crew = Threads(setup.evaluator, options.workers or section.workers)
    with _working_folder(options.folder) as folder, crew as workers:
        terms = Terms(
            retries=section.retries,
            folder=folder,
            keep=options.folder is not None,
            stop=working.stop or (lambda: False),
            may_begin=working.spending.may_begin,
        )
        ask = partial(_measured, setup, section, working, workers, terms, planned)
        with setup.measuring(ask, working.spending):
            yield


@contextmanager
def _working_folder(kept: Path | None) -> Iterator[Path]:
    if kept is None:
        temporary = TemporaryDirectory(prefix="dse-measuring-", ignore_cleanup_errors=True)
        with temporary as name:
            yield Path(name)
        return
    kept.mkdir(exist_ok=True)
    try:
        yield kept
    finally:
        with suppress(OSError):  # unless it holds folders of failed designs
            kept.rmdir()


def _measured(
    setup: MeasurementSetup,
    section: EvaluateSection,
    working: Working,
    workers: Workers,
    terms: Terms,
    planned: int,
    designs: Sequence[Design],
) -> Iterator[tuple[int, Measurement]]:
    """Yield the position and measurement of each design, and report the progress.

    Raises
    ------
    StopError, FailingError, BudgetError
        Before all of them are measured.
    """
    spending, progress, done = working.spending, working.progress, 0
    before, failed = len(setup.seen), len(setup.failures)
    _stop_if(spending.failing)
    found = measured(setup.evaluator, designs, workers, terms)
    with spending.measuring():
        for done, (position, measurement) in enumerate(found, 1):
            failed += measurement.failed
            spending.took(measurement)
            spending.met(measurement, section.stop_at_failures)
            if progress is not None:
                progress(before + done, planned)
            if isinstance(progress, Narrator):
                left = min(len(designs) - done, workers.size)
                progress.tell(f"{left} running, {failed} failed")
            yield position, measurement
            _stop_if(spending.failing)
    if terms.stop():
        raise StopError("it was interrupted")
    if done < len(designs):
        raise BudgetError(
            f"the budget of time is used: measuring took {duration(spending.elapsed_s)} of "
            f"{duration(spending.time_s)}, and a design takes up to {duration(spending.longest_s)}"
        )


def _stop_if(failing: str) -> None:
    if failing:
        raise FailingError(failing)


WING = Measuring(
    quantities=measured_quantities,
    pool_axes=with_axes,
    lines=measuring_lines,
    measures=let_measure,
    keeps=kept_run,
    carry=carry,
    rows=rows_in,
    stored=stored_run,
)

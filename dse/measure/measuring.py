"""Measurement of designs for a search, with its workers, folder and limits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, runtime_checkable

from dse import search
from dse.algebra.units import duration
from dse.contract.evaluators import Measurement, RecordedEvaluator
from dse.errors import BudgetError, MeasurementError
from dse.measure import attempts
from dse.measure.attempts import Running, Terms, Workers
from dse.measure.dask import Cluster
from dse.model.measured import Design, MeasurementSetup
from dse.model.problem import Problem
from dse.reports.text import plural
from dse.runs.limits import WATCH_PERIOD_S
from dse.runs.measurements import ONLY_RUNS, causes_text
from dse.runs.record import begin_manifest
from dse.search import FAILING, SearchSettings
from dse.search.exact.work import StopError
from dse.study.measuring import Working
from dse.study.schema import EvaluateSection


class FailingError(StopError):
    """Too many designs failed."""

    way = FAILING


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
        causes = (line for each in (True, False) for line in causes_text(setup, failed=each))
        count = plural(len(setup.seen), "design")
        stopped = ", and no more were tried (evaluate.stop_at_failures)" if early else ""
        raise MeasurementError("\n".join([f"none of {count} could be measured{stopped}:", *causes]))


@contextmanager
def _opened(
    setup: MeasurementSetup, said: EvaluateSection, working: Working, planned: int
) -> Iterator[None]:
    options, evaluator = working.options, setup.evaluator
    crew: Workers
    if options.dask is None:
        crew = attempts.workers_for(evaluator, options.workers or said.workers)
    else:
        crew = Cluster(evaluator, options.dask)
    with _working_folder(options.folder) as folder, crew as workers:
        ask = _Measuring(setup, workers, said, folder, working, planned)
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


@dataclass
class _Measuring:
    """Measurement of designs with reports of its progress, see `dse.model.measured.Ask`."""

    setup: MeasurementSetup
    workers: Workers
    section: EvaluateSection
    folder: Path
    working: Working
    planned: int
    since: float = field(default_factory=time.time)
    shown: list[float] | None = None
    written: float = 0.0

    def __call__(self, designs: Sequence[Design]) -> Iterator[tuple[int, Measurement]]:
        """Yield the position and measurement of each design.

        Raises
        ------
        StopError, FailingError, BudgetError
            Before all of them are measured.
        """
        self._stop_if_failing()
        spending, done = self.working.spending, 0
        before, failed = len(self.setup.seen), len(self.setup.failures)
        stop = self.working.stop or (lambda: False)
        terms = Terms(
            retries=self.section.retries,
            folder=self.folder,
            keep=self.working.options.folder is not None,
            stop=stop,
            may_begin=spending.may_begin,
            watch=self._watch,
        )
        found = attempts.measured(self.setup.evaluator, designs, self.workers, terms)
        with spending.measuring():
            for done, (position, measurement) in enumerate(found, 1):
                failed += measurement.failed
                spending.took(measurement)
                spending.met(measurement, self.section.stop_at_failures)
                self._show(before + done, len(designs) - done, failed)
                yield position, measurement
                self._stop_if_failing()
        if stop():
            raise StopError("it was interrupted")
        if done < len(designs):
            raise BudgetError(
                f"the budget of time is used: measuring took {duration(spending.elapsed_s)} of "
                f"{duration(spending.time_s)}, and a design takes up to "
                f"{duration(spending.longest_s)}"
            )

    def _watch(self, running: Mapping[int, Running]) -> None:
        """Write the attempts in progress to the record of the run."""
        now, begun = time.monotonic(), [since for _, since in running.values()]
        path = self.working.options.record
        if path is None or self.shown == begun or now - self.written < WATCH_PERIOD_S:
            return
        self.shown, self.written = begun, now
        begin_manifest(
            path,
            since=self.since,
            workers=self.workers.size,
            unit_names=dict(self.setup.unit_names),
            running=[{"design": dict(one), "since": since} for one, since in running.values()],
        )

    def _stop_if_failing(self) -> None:
        if self.working.spending.failing:
            raise FailingError(self.working.spending.failing)

    def _show(self, done: int, left: int, failed: int) -> None:
        progress = self.working.progress
        if progress is not None:
            progress(done, self.planned)
        if isinstance(progress, Narrator):
            progress.tell(f"{min(left, self.workers.size)} running, {failed} failed")

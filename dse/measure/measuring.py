"""Letting a search measure designs: by how many workers, in which folder, until when."""

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
from dse.measure.attempts import FOLDERS_KEPT, Workers
from dse.measure.dask import Cluster
from dse.model.measured import Bench, Design
from dse.model.problem import Problem
from dse.reports.text import plural
from dse.runs.limits import WATCH_PERIOD_S
from dse.runs.measurements import ONLY_RUNS, causes_text
from dse.runs.run_files import begin_manifest
from dse.search import FAILING, SearchSettings
from dse.search.exact.work import StopError
from dse.study.measuring import Working
from dse.study.schema import EvaluateSection


class FailingError(StopError):
    """So many designs failed that measuring more of them would be in vain."""

    way = FAILING


@runtime_checkable
class Narrator(Protocol):
    """A `Progress` that shows in words what is done now."""

    def tell(self, now: str) -> None:
        """Show what is done now."""


@contextmanager
def let_measure(
    problem: Problem,
    section: EvaluateSection | None,
    working: Working | None,
    settings: SearchSettings,
) -> Iterator[None]:
    """Let a search measure designs inside.

    Of a run that is over, what it measured is all that is known.

    Raises
    ------
    MeasurementError
        The study measures, and nothing may be measured: `working` is None.  Or all that was
        requested failed.
    """
    if problem.measured is None:
        yield
        return
    bench = problem.measured.bench
    if isinstance(bench.evaluator, RecordedEvaluator) or section is None:
        yield
    elif working is None:
        raise MeasurementError(ONLY_RUNS)
    else:
        with _opened(bench, section, working, search.planned(problem, settings)):
            yield
    if bench.failures:
        require_measurements(bench, working is not None and working.spending.failing != "")


@contextmanager
def _opened(bench: Bench, said: EvaluateSection, working: Working, planned: int) -> Iterator[None]:
    """Let a bench measure."""
    options, evaluator = working.options, bench.evaluator
    crew: Workers
    if options.dask is None:
        crew = attempts.workers_for(evaluator, options.workers or said.workers)
    else:
        crew = Cluster(evaluator, options.dask)
    with _working_folder(options.folder) as folder, crew as workers:
        ask = _Asking(bench, workers, said, folder, working, planned)
        with bench.measuring(ask, working.spending):
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
        with suppress(OSError):  # unless it holds folders of designs that failed
            kept.rmdir()


@dataclass
class _Asking:
    """Measures designs, and shows how far it is, also in the record of a run; see `Ask`."""

    bench: Bench
    workers: Workers
    said: EvaluateSection
    folder: Path
    working: Working
    planned: int
    since: float = field(default_factory=time.time)
    shown: list[float] | None = None
    written: float = 0.0

    def __call__(self, designs: Sequence[Design]) -> Iterator[tuple[int, Measurement]]:
        """Yield what comes of designs.

        Raises
        ------
        StopError, FailingError, BudgetError
            Before all of them are measured.
        """
        self._stop_if_failing()
        spending, done = self.working.spending, 0
        stop, before = self.working.stop or (lambda: False), len(self.bench.seen)
        failed, kept = len(self.bench.failures), self.working.options.folder is not None
        found = attempts.measured(
            self.bench.evaluator,
            designs,
            workers=self.workers,
            retries=self.said.retries,
            folder=self.folder,
            stop=stop,
            may_begin=spending.may_begin,
            watch=self._watch,
            most_kept=FOLDERS_KEPT - sum(1 for _ in self.folder.iterdir()) if kept else 0,
        )
        with spending.measuring():
            for done, (position, measurement) in enumerate(found, 1):
                failed += measurement.failed
                spending.took(measurement)
                spending.met(measurement, self.said.stop_at_failures)
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

    def _watch(self, running: Mapping[int, tuple[Design, float]]) -> None:
        """Write to the record which attempts run, each with its design and when it began."""
        now, begun = time.monotonic(), [since for _, since in running.values()]
        path = self.working.options.record
        if path is None or self.shown == begun or now - self.written < WATCH_PERIOD_S:
            return
        self.shown, self.written = begun, now
        begin_manifest(
            path,
            since=self.since,
            workers=self.workers.size,
            unit_names=dict(self.bench.unit_names),
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
            running = min(left, self.workers.size)
            progress.tell(f"{running} running, {failed} failed")


def require_measurements(bench: Bench, failing: bool) -> None:
    """Raise `MeasurementError` where no design that was requested has values.

    `failing`: no others were requested for that.
    """
    if bench.seen and not bench.ledger.evaluated:
        lines = "\n".join(
            line for each in (True, False) for line in causes_text(bench, failed=each)
        )
        count = plural(len(bench.seen), "design")
        stopped = ", and no more were tried (evaluate.stop_at_failures)" if failing else ""
        raise MeasurementError(f"none of {count} could be measured{stopped}:\n{lines}")

"""Designs measured by several workers, each as often as necessary, and the wing as one record."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, Self
from uuid import uuid4

from dse import search
from dse.algebra.units import duration
from dse.contract.evaluators import Evaluator, Measurement, RecordedEvaluator, Value, key
from dse.errors import FOREIGN, BudgetError, DseError, MeasurementError, OutputError, extra_module
from dse.measure.evaluate import measured_quantities, measuring_lines, with_axes
from dse.measure.evaluators import FunctionEvaluator
from dse.measure.store import carry, kept_run, rows_in, stored_run
from dse.model.measured import Design, MeasurementSetup
from dse.model.problem import Problem
from dse.reports.text import plural
from dse.runs.measurements import ONLY_RUNS, causes_of, causes_text
from dse.search import FAILING, SearchSettings
from dse.search.exact.work import StopError
from dse.study.measuring import Measuring, Working
from dse.study.schema import EvaluateSection
from dse.workers.programs import STOP_PERIOD_S, SUPERVISOR_PATIENCE_S

REPEATED = ("exit", "signal", "timeout", "output", "worker")
"""Kinds of failure that are tried again, as a licence or a disk may return.  The memory does not
grow."""

SCHEDULER_PATIENCE_S = 30.0
"""Longest time to reach a scheduler, and to get a result from it."""

_DIED = "its worker died, or the machine that it ran on"

Ended = Sequence[tuple[int, Measurement]]
"""Numbers and measurements of ended attempts."""


@dataclass(frozen=True)
class Attempt:
    """One measurement of a design, in a folder that may be kept after a failure."""

    number: int
    design: Mapping[str, Value]
    folder: Path
    keep: bool


class FailingError(StopError):
    """Too many designs failed."""

    way = FAILING


def attempted(evaluator: Evaluator, attempt: Attempt, stop: Callable[[], bool]) -> Measurement:
    """Measure a design once in a new folder, and delete that unless it is kept.

    A folder that cannot be made or written is an `OutputError`.
    """
    begin = time.monotonic()
    try:
        shutil.rmtree(attempt.folder, ignore_errors=True)  # of an earlier attempt or run
        attempt.folder.mkdir(parents=True)
        found = evaluator.measure(attempt.design, attempt.folder, stop)
    except OSError as error:
        raise OutputError(f"{attempt.folder} cannot be used: {error.strerror or error}") from error
    except MemoryError:
        found = failed("memory", "there was too little memory")
    except DseError:
        raise
    except FOREIGN as error:
        found = failed("worker", f"the evaluator failed: {type(error).__name__}: {error}")
    found = replace(found, seconds=time.monotonic() - begin)
    if attempt.keep and found.failed and attempt.folder.exists():
        return replace(found, folder=str(attempt.folder))
    shutil.rmtree(attempt.folder, ignore_errors=True)
    return found


def failed(kind: str, cause: str) -> Measurement:
    """Return a measurement that failed."""
    return Measurement(values={}, kind=kind, cause=cause)


class Threads(AbstractContextManager["Threads"]):
    """A thread for each attempt, which waits for a program or calls a function.

    One function at once is called in the thread of the caller, where an interrupt ends it.
    """

    def __init__(self, evaluator: Evaluator, size: int) -> None:
        """Begin without a thread."""
        self.evaluator, self.size = evaluator, size
        self.in_turn = size == 1 and isinstance(evaluator, FunctionEvaluator)
        self._forget()

    def _forget(self) -> None:
        self.running: dict[int, Thread] = {}
        self.done: SimpleQueue[tuple[int, Measurement | BaseException]] = SimpleQueue()
        self.stop = Event()

    def __exit__(self, *_: object) -> None:
        """End all attempts."""
        self.drop()

    def begin(self, attempt: Attempt) -> None:
        """Start a thread, or measure at once."""
        done, stop = self.done, self.stop.is_set

        def measure() -> None:
            try:
                done.put((attempt.number, attempted(self.evaluator, attempt, stop)))
            except BaseException as error:
                done.put((attempt.number, error))

        if self.in_turn:
            measure()
            return
        self.running[attempt.number] = Thread(target=measure, daemon=True)
        self.running[attempt.number].start()

    def ended(self, wait_s: float) -> Ended:
        """Return the first ended attempt."""
        try:
            number, found = self.done.get(timeout=wait_s)
        except Empty:
            return []
        self.running.pop(number, None)
        if isinstance(found, BaseException):
            raise found
        return [(number, found)]

    def drop(self) -> None:
        """End all programs, and wait for their ends.  A function cannot be ended."""
        self.stop.set()
        for thread in self.running.values():
            thread.join(2 * SUPERVISOR_PATIENCE_S)
        self._forget()


class Cluster:
    """The workers of a Dask scheduler on machines of the user, one attempt at once for each thread.

    The cluster keeps nothing.  A scheduler repeats the task of a dead worker several times without
    counting.  So each attempt leaves a mark at the scheduler before it measures, and one that finds
    a mark reports the death of the worker instead of dying of the same cause.  A run whose
    scheduler is gone ends, and is resumed with another one.
    """

    def __init__(
        self, evaluator: Evaluator, address: str, *, patience_s: float = SCHEDULER_PATIENCE_S
    ) -> None:
        """Begin without a connection."""
        self.library = extra_module("distributed", "--dask", "distributed", "dask")
        self.evaluator, self.address, self.patience_s = evaluator, address, patience_s
        self.heard: SimpleQueue[Any] = SimpleQueue()
        self.running: dict[str, tuple[Attempt, Any]] = {}

    def __enter__(self) -> Self:
        """Reach the scheduler, or raise `DseError`."""
        try:
            self.client = self.library.Client(
                self.address, timeout=self.patience_s, set_as_default=False, name="dse"
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise self._gone(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster."""
        self.drop()
        with suppress(Exception):  # it may be gone
            self.client.close(timeout=1.0)

    @property
    def size(self) -> int:
        """Return the number of threads of its workers."""
        with suppress(Exception):  # the scheduler may go at any moment
            return sum(self.client.nthreads().values())
        return 0

    def begin(self, attempt: Attempt) -> None:
        """Give an attempt to the scheduler."""
        task = f"dse-{attempt.number}-{uuid4().hex}"
        future = self.client.submit(_measure, self.evaluator, attempt, task, key=task, pure=False)
        self.running[task] = attempt, future
        future.add_done_callback(self.heard.put)

    def ended(self, wait_s: float) -> Ended:
        """Return the first ended attempt, or raise `DseError` without a scheduler."""
        if self.client.status != "running":
            raise self._gone("it ended")
        with suppress(Empty):
            future = self.heard.get(timeout=wait_s)
            if future.key in self.running and future.status in ("cancelled", "lost"):
                raise self._gone("it was started anew")  # only `drop` cancels, and forgets
            if future.key in self.running and self.client.status == "running":
                attempt, _ = self.running.pop(future.key)
                return [(attempt.number, self._result(future))]
        return []

    def drop(self) -> None:
        """Cancel all attempts, whose programs end within seconds."""
        futures = [future for _, future in self.running.values()]
        self.running.clear()
        with suppress(Exception):  # the scheduler may be gone
            self.client.cancel(futures)

    def _result(self, future: Any) -> Measurement:
        """Return the measurement of an attempt."""
        if future.status == "finished":
            with suppress(Exception):  # the worker that holds it may be gone
                found: Measurement = future.result(timeout=self.patience_s)
                return found
        error = future.exception() if future.status == "error" else None
        if error is None or isinstance(error, self.library.KilledWorker):
            return failed("worker", _DIED)
        if isinstance(error, DseError):
            raise error
        return failed("worker", f"the worker could not measure: {type(error).__name__}: {error}")

    def _gone(self, reason: str) -> DseError:
        rule = f"no Dask scheduler answers at {self.address}: {reason}"
        return DseError(f"{rule}; what was measured until now is kept")


Workers = Threads | Cluster
"""Threads or machines that carry out `size` attempts at once, until they `drop` them."""


def _measure(evaluator: Evaluator, attempt: Attempt, task: str) -> Measurement:
    """Measure in a worker of the cluster, until the scheduler cancels it."""
    import distributed

    client = distributed.get_client()
    if client.get_events(task):
        return failed("worker", _DIED)
    client.log_event(task, "begun")
    tasks = distributed.get_worker().state.tasks

    def stop() -> bool:
        known = tasks.get(task)
        return known is None or known.state == "cancelled"

    return attempted(evaluator, attempt, stop)


def measured(
    evaluator: Evaluator,
    designs: Sequence[Mapping[str, Value]],
    crew: Workers,
    working: Working,
    folder: Path,
    retries: int,
) -> Iterator[tuple[int, Measurement]]:
    """Yield position and measurement of each design, as they end.

    Each has a working folder in `folder`, named after its `key`, which stays after a failure in
    the folder of a run.  A failed design is tried again, at most `retries` times, after those that
    wait for their first attempt.  Its measurement is the last one, with the number of attempts and
    the time of all.  An evaluator that cannot be started at all is a `DseError`, as every design
    would fail in the same way.

    Once `working.stop`, polled at 10 Hz, is True, attempts are ended, and only measurements that
    have just succeeded are returned.  Once its time is spent, no attempt begins, and those in
    progress come to their end.
    """
    stop, may_begin = working.stop or (lambda: False), working.spending.may_begin
    keep = working.options.folder is not None
    waiting, running = deque(range(len(designs))), set[int]()
    before: dict[int, Measurement] = {}
    try:
        while (waiting or running) and not stop():
            while waiting and len(running) < crew.size and may_begin():
                number = waiting.popleft()
                running.add(number)
                place = folder / key(evaluator.identity, designs[number])[:16]
                crew.begin(Attempt(number, designs[number], place, keep))
            if not running and not may_begin():
                return
            for number, found in crew.ended(STOP_PERIOD_S):
                if stop() and found.failed:
                    continue  # the stop may be the cause
                running.remove(number)
                total = _total(before.get(number), found)
                if total.kind in REPEATED and total.attempts <= retries:
                    before[number] = total
                    waiting.append(number)
                else:
                    yield number, total
    finally:
        crew.drop()


def _total(before: Measurement | None, found: Measurement) -> Measurement:
    """Return a measurement with the attempts and the time of those before it."""
    if found.kind == "start":
        raise DseError(f"{found.cause}; nothing can be measured")
    if before is None:
        return found
    attempts, seconds = before.attempts + found.attempts, before.seconds + found.seconds
    return replace(found, attempts=attempts, seconds=seconds)


@contextmanager
def let_measure(
    problem: Problem,
    section: EvaluateSection | None,
    working: Working | None,
    settings: SearchSettings,
) -> Iterator[None]:
    """Open the measurements of a search, except for a finished run.

    It is a `MeasurementError` to measure without `working`, or if all requested designs failed.
    """
    setup = problem.measured.setup if problem.measured else None
    if setup is None or isinstance(setup.evaluator, RecordedEvaluator) or section is None:
        yield
    elif working is None:
        raise MeasurementError(ONLY_RUNS)
    else:
        with _opened(setup, section, working, search.planned(problem, settings)):
            yield
    if setup is not None and setup.failures and not setup.ledger.evaluated:
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
    crew: Workers = Threads(setup.evaluator, options.workers or section.workers)
    if options.dask is not None:
        crew = Cluster(setup.evaluator, options.dask)
    with _working_folder(options.folder) as folder, crew as workers:
        ask = partial(_measured, setup, section, working, workers, folder, planned)
        with setup.measuring(ask, working.spending):
            yield


@contextmanager
def _working_folder(kept: Path | None) -> Iterator[Path]:
    if kept is None:
        with TemporaryDirectory(prefix="dse-measuring-", ignore_cleanup_errors=True) as name:
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
    folder: Path,
    planned: int,
    designs: Sequence[Design],
) -> Iterator[tuple[int, Measurement]]:
    """Yield the position and measurement of each design, and report the progress."""
    spending, progress, done = working.spending, working.progress, 0
    before, failed = len(setup.seen), len(setup.failures)
    if spending.failing:
        raise FailingError(spending.failing)
    found = measured(setup.evaluator, designs, workers, working, folder, section.retries)
    with spending.measuring():
        for done, (position, measurement) in enumerate(found, 1):
            failed += measurement.failed
            spending.took(measurement)
            spending.met(measurement, section.stop_at_failures)
            if progress is not None:
                progress(before + done, planned)
            if tell := getattr(progress, "tell", None):  # it shows the present work in words
                tell(f"{min(len(designs) - done, workers.size)} running, {failed} failed")
            yield position, measurement
            if spending.failing:
                raise FailingError(spending.failing)
    if working.stop is not None and working.stop():
        raise StopError("it was interrupted")
    if done < len(designs):
        raise BudgetError(
            f"the budget of time is used: measuring took {duration(spending.elapsed_s)} of "
            f"{duration(spending.time_s)}, and a design takes up to {duration(spending.longest_s)}"
        )


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

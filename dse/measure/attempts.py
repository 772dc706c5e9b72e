"""Designs measured by several workers, each as often as necessary."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol

from dse.contract.evaluators import Evaluator, Measurement, Value, key
from dse.errors import FOREIGN, DseError, OutputError
from dse.measure.evaluators import FunctionEvaluator
from dse.search import FAILING
from dse.search.exact.work import StopError
from dse.workers.programs import STOP_PERIOD_S, SUPERVISOR_PATIENCE_S

REPEATED = ("exit", "signal", "timeout", "output", "worker")
"""Kinds of failure that are tried again, as a licence or a disk may return.  The memory does not
grow."""

Ended = Sequence[tuple[int, Measurement]]
"""Numbers and measurements of ended attempts."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One measurement of a design, in a folder that may be kept after a failure."""

    number: int
    design: Mapping[str, Value]
    folder: Path
    keep: bool


class FailingError(StopError):
    """Too many designs failed."""

    way = FAILING


class Workers(AbstractContextManager["Workers"], Protocol):
    """Threads or machines that carry out attempts."""

    @property
    def size(self) -> int:
        """Return the number of attempts that they carry out at once."""

    def begin(self, attempt: Attempt) -> None:
        """Begin an attempt."""

    def ended(self, wait_s: float) -> Ended:
        """Return the ended attempts, after some time if there is none yet."""

    def drop(self) -> None:
        """End all attempts."""


def attempted(evaluator: Evaluator, attempt: Attempt, stop: Callable[[], bool]) -> Measurement:
    """Measure a design once in a new folder, and delete that unless it is kept.

    Raises
    ------
    OutputError
        The folder cannot be made or written.
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
        arguments = attempt, self.done, self.stop.is_set
        if self.in_turn:
            self._measure(*arguments)
            return
        thread = Thread(target=self._measure, args=arguments, daemon=True)
        self.running[attempt.number] = thread
        thread.start()

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

    def _measure(
        self,
        attempt: Attempt,
        done: SimpleQueue[tuple[int, Measurement | BaseException]],
        stop: Callable[[], bool],
    ) -> None:
        try:
            done.put((attempt.number, attempted(self.evaluator, attempt, stop)))
        except BaseException as error:
            done.put((attempt.number, error))


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Conditions of measurements.

    Attributes
    ----------
    retries
        Most attempts after a failed one.
    folder
        Parent of the working folders, which are named after the `key` of their design.
    keep
        Whether working folders of failed designs stay.
    stop
        Polled at 10 Hz.  Once it is True, attempts are ended, and only measurements that have
        just succeeded are returned.
    may_begin
        Once it is False, no attempt begins, and those in progress come to their end.
    """

    retries: int
    folder: Path
    keep: bool = True
    stop: Callable[[], bool] = lambda: False
    may_begin: Callable[[], bool] = lambda: True


def measured(
    evaluator: Evaluator,
    designs: Sequence[Mapping[str, Value]],
    workers: int | Workers,
    terms: Terms,
) -> Iterator[tuple[int, Measurement]]:
    """Yield position and measurement of each design, as they end.

    A failed design is tried again after those that wait for their first attempt.  Its measurement
    is the last one, with the number of attempts and the time of all.

    Raises
    ------
    DseError
        The evaluator cannot be started at all, so that every design would fail in the same way.
    OutputError
        Working folders cannot be written.
    """
    waiting, running = deque(range(len(designs))), set[int]()
    before: dict[int, Measurement] = {}
    own = Threads(evaluator, workers) if isinstance(workers, int) else nullcontext(workers)
    with own as crew:
        try:
            while (waiting or running) and not terms.stop():
                while waiting and len(running) < crew.size and terms.may_begin():
                    number = waiting.popleft()
                    running.add(number)
                    crew.begin(_attempt(evaluator, number, designs[number], terms))
                if not running and not terms.may_begin():
                    return
                for number, found in crew.ended(STOP_PERIOD_S):
                    if terms.stop() and found.failed:
                        continue  # the stop may be the cause
                    running.remove(number)
                    total = _total(before.get(number), found)
                    if total.kind in REPEATED and total.attempts <= terms.retries:
                        before[number] = total
                        waiting.append(number)
                    else:
                        yield number, total
        finally:
            crew.drop()


def _attempt(
    evaluator: Evaluator, number: int, design: Mapping[str, Value], terms: Terms
) -> Attempt:
    folder = terms.folder / key(evaluator.identity, design)[:16]
    return Attempt(number=number, design=design, folder=folder, keep=terms.keep)


def _total(before: Measurement | None, found: Measurement) -> Measurement:
    """Return a measurement with the attempts and the time of those before it."""
    if found.kind == "start":
        raise DseError(f"{found.cause}; nothing can be measured")
    if before is None:
        return found
    attempts, seconds = before.attempts + found.attempts, before.seconds + found.seconds
    return replace(found, attempts=attempts, seconds=seconds)

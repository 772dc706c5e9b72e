"""Designs measured by several workers, each as often as necessary."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappop, heappush
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from pickle import PicklingError
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol, runtime_checkable

from dse.contract.evaluators import Evaluator, Measurement, Value, key
from dse.errors import FOREIGN, DseError, OutputError
from dse.workers import follow_the_program
from dse.workers.programs import STOP_PERIOD_S, how_it_ended

FOLDERS_KEPT = 100
"""Most working folders of failed designs that a call keeps."""

RETRY_WAIT_S = 60.0
"""Longest time before a design is tried again."""

WORKER_PATIENCE_S, WORKER_LAST_S = 60.0, 1.0
"""Longest time for the imports of a new process, and for its end after its last word."""

REPEATED = ("exit", "signal", "timeout", "output", "worker")
"""Kinds of failure that are tried again, as a licence or a disk may return.  The memory does not
grow."""

Running = tuple[Mapping[str, Value], float]
"""A design in progress, and the beginning of its attempt in seconds since the epoch."""

Ended = Sequence[tuple[int, Measurement | None]]
"""Numbers and measurements of ended attempts.  An attempt that was lost with its worker is
None, whatever the design."""


@runtime_checkable
class MeasuresOutside(Evaluator, Protocol):
    """An evaluator that starts processes and can end them."""

    def measure_until(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once, and end as soon as `stop` is True."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One measurement of a design, in a folder that may be kept after a failure."""

    number: int
    design: Mapping[str, Value]
    folder: Path
    keep: bool


class UnusableProgramError(DseError):
    """The evaluator cannot be started, for any design."""


class Workers(AbstractContextManager["Workers"], Protocol):
    """Threads, processes or machines that carry out attempts."""

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
    try:
        shutil.rmtree(attempt.folder, ignore_errors=True)  # of an earlier attempt or run
        attempt.folder.mkdir(parents=True)
        if isinstance(evaluator, MeasuresOutside):
            found = evaluator.measure_until(attempt.design, attempt.folder, stop)
        else:
            found = evaluator.measure(attempt.design, attempt.folder)
    except OSError as error:
        raise OutputError(f"{attempt.folder} cannot be used: {error.strerror or error}") from error
    except MemoryError:
        found = failed("memory", "there was too little memory")
    except DseError:
        raise
    except FOREIGN as error:
        found = failed("worker", f"the evaluator failed: {type(error).__name__}: {error}")
    return tidied(found, attempt)


def failed(kind: str, cause: str) -> Measurement:
    """Return a measurement that failed."""
    return Measurement(values={}, kind=kind, cause=cause)


def tidied(found: Measurement, attempt: Attempt) -> Measurement:
    """Return a measurement after deletion of its folder, unless that is kept."""
    if attempt.keep and found.failed:
        return replace(found, folder=str(attempt.folder)) if attempt.folder.exists() else found
    shutil.rmtree(attempt.folder, ignore_errors=True)
    return found


class InProcess(contextlib.AbstractContextManager["InProcess"]):
    """Measurement in the process and thread of the caller."""

    size = 1

    def __init__(self, evaluator: Evaluator) -> None:
        """Begin without an attempt."""
        self.evaluator = evaluator
        self.given: list[Attempt] = []

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def begin(self, attempt: Attempt) -> None:
        """Keep an attempt until it is requested."""
        self.given.append(attempt)

    def ended(self, wait_s: float) -> Ended:
        """Measure, or wait without an attempt."""
        if not self.given:
            time.sleep(wait_s)
            return []
        attempt, begin = self.given.pop(), time.monotonic()
        found = attempted(self.evaluator, attempt, lambda: False)
        return [(attempt.number, replace(found, seconds=time.monotonic() - begin))]

    def drop(self) -> None:
        """Forget the attempts."""
        self.given.clear()


Measures = Callable[[Attempt, Callable[[], bool]], Measurement]
"""Carries out an attempt, and ends it as soon as the function it gets returns True."""


class Threads(contextlib.AbstractContextManager["Threads"]):
    """A thread for each attempt, which waits for another process."""

    def __init__(self, measure: Measures, size: int) -> None:
        """Begin without a thread."""
        self.measure, self.size = measure, size
        self.running: dict[int, Thread] = {}
        self.done: SimpleQueue[tuple[int, Measurement | BaseException]] = SimpleQueue()
        self.stop = Event()

    def __exit__(self, *_: object) -> None:
        """End all attempts."""
        self.drop()

    def begin(self, attempt: Attempt) -> None:
        """Start a thread."""
        thread = Thread(target=self._measure, args=(attempt,), daemon=True)
        self.running[attempt.number] = thread
        thread.start()

    def ended(self, wait_s: float) -> Ended:
        """Return the first ended attempt."""
        try:
            number, found = self.done.get(timeout=wait_s)
        except Empty:
            return []
        self.running.pop(number).join()
        if isinstance(found, BaseException):
            raise found
        return [(number, found)]

    def drop(self) -> None:
        """End all processes, and wait for their ends."""
        self.stop.set()
        for thread in self.running.values():
            thread.join()
        self.running, self.done, self.stop = {}, SimpleQueue(), Event()

    def _measure(self, attempt: Attempt) -> None:
        try:
            self.done.put((attempt.number, self.measure(attempt, self.stop.is_set)))
        except BaseException as error:
            self.done.put((attempt.number, error))


def separately(evaluator: Evaluator, attempt: Attempt, stop: Callable[[], bool]) -> Measurement:
    """Measure a design once in a new process, whose children end with it.

    An `UnusableProgramError` is raised if it does not start.
    """
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, evaluator, attempt), daemon=True)
    try:
        process.start()
    except (TypeError, AttributeError, ValueError, PicklingError) as error:
        here.close()
        rule = f"what measures cannot be sent to another process: {error}"
        remedy = "define it at the top of a module, or use one worker"
        raise UnusableProgramError(f"{rule}; {remedy}") from error
    finally:
        there.close()
    begin, ready = time.monotonic(), False
    try:
        if _came(here, lambda: stop() or time.monotonic() > begin + WORKER_PATIENCE_S):
            ready, begin = here.recv(), time.monotonic()
        elif not stop():
            raise _unready(f"it was not ready after {WORKER_PATIENCE_S:g} s")
        stopped = failed("worker", "it was stopped")
        found = here.recv() if ready and _came(here, stop) else tidied(stopped, attempt)
    except (EOFError, OSError):
        process.join(WORKER_LAST_S)
        how = how_it_ended(-signal.SIGKILL if process.exitcode is None else process.exitcode)
        if not ready:
            raise _unready(how) from None
        found = tidied(failed("worker", f"its worker died: {how}"), attempt)
    finally:
        _end(process, here)
    if isinstance(found, Exception):
        raise found
    return replace(found, seconds=time.monotonic() - begin)


def _came(connection: Connection, stop: Callable[[], bool]) -> bool:
    """Return whether a connection has something to receive, or ended, before a stop."""
    while not connection.poll(STOP_PERIOD_S):
        if stop():
            return False
    return True


def _end(process: SpawnProcess, connection: Connection) -> None:
    """End a process and the processes in its session."""
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()
    connection.close()


def _unready(how: str) -> UnusableProgramError:
    rule = f"a worker process could not be started: {how}"
    return UnusableProgramError(
        f"{rule}; its module has to import by itself, what it runs stands below "
        "'if __name__ == \"__main__\":', and standard error has the details"
    )


def _serve(connection: Connection, evaluator: Evaluator, attempt: Attempt) -> None:
    """Measure a design in a new process, after a report that it is ready."""
    os.setsid()
    follow_the_program()
    connection.send(True)
    try:
        found: Measurement | Exception = attempted(evaluator, attempt, lambda: False)
    except DseError as error:
        found = DseError(str(error))  # some errors cannot be pickled
    connection.send(found)


def workers_for(evaluator: Evaluator, count: int) -> Workers:
    """Return workers on this machine, as a context for any number of calls of `measured`.

    A design that kills the process in which a function measures it kills this one if there is one
    worker, and with several one attempt.
    """
    if isinstance(evaluator, MeasuresOutside):
        return Threads(partial(attempted, evaluator), count)
    return InProcess(evaluator) if count == 1 else Threads(partial(separately, evaluator), count)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Conditions of measurements.

    Attributes
    ----------
    retries
        Most attempts after a failed one.
    folder
        Parent of the working folders, which are named after the `key` of their design.
    stop
        Polled at 10 Hz.  Once it is True, attempts are ended, and only measurements that have
        just succeeded are returned.
    may_begin
        Once it is False, no attempt begins, and those in progress come to their end.
    watch
        Called at 10 Hz with the attempts in progress, by the position of their designs.
    most_kept
        Most working folders of failed designs to keep.
    """

    retries: int
    folder: Path
    stop: Callable[[], bool] = lambda: False
    may_begin: Callable[[], bool] = lambda: True
    watch: Callable[[Mapping[int, Running]], None] = lambda running: None
    most_kept: int = FOLDERS_KEPT


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
    UnusableProgramError
        The evaluator cannot be started at all.
    OutputError
        Working folders cannot be written.
    """
    batch = _Batch(evaluator.identity, designs, terms)
    own = workers_for(evaluator, workers) if isinstance(workers, int) else nullcontext(workers)
    with own as crew:
        try:
            while (batch.waiting or batch.running) and not terms.stop():
                if terms.may_begin():
                    batch.give_out(crew)
                elif not batch.running:
                    return
                terms.watch(batch.running)
                for number, found in crew.ended(STOP_PERIOD_S):
                    if terms.stop() and (found is None or found.failed):
                        continue  # the stop may be the cause
                    if last := batch.take(number, found):
                        yield number, last
        finally:
            crew.drop()


class _Batch:
    """Designs that wait for an attempt, and the attempts so far."""

    def __init__(self, identity: str, designs: Sequence[Mapping[str, Value]], terms: Terms) -> None:
        self.identity, self.designs, self.terms = identity, designs, terms
        self.room = terms.most_kept
        self.waiting = [(0.0, number) for number in range(len(designs))]  # a heap, by time
        self.attempts, self.lost = [0] * len(designs), [0] * len(designs)
        self.spent_s = [0.0] * len(designs)
        self.running: dict[int, Running] = {}

    def give_out(self, workers: Workers) -> None:
        """Begin as many attempts as workers have room for and as are due."""
        while (
            self.waiting
            and len(self.running) < workers.size
            and self.waiting[0][0] <= time.monotonic()
        ):
            _, number = heappop(self.waiting)
            design = self.designs[number]
            place = self.terms.folder / key(self.identity, design)[:16]
            self.running[number] = design, time.time()
            workers.begin(Attempt(number=number, design=design, folder=place, keep=self.room > 0))

    def take(self, number: int, found: Measurement | None) -> Measurement | None:
        """Return the measurement of a design, or None if it is tried again."""
        del self.running[number]
        self.attempts[number] += found.attempts if found else 1
        if found is None:
            self.lost[number] += 1
            heappush(self.waiting, (time.monotonic(), number))
            return None
        self.spent_s[number] += found.seconds
        attempts = self.attempts[number]
        if again(found, attempts - self.lost[number], self.terms.retries):
            heappush(self.waiting, (time.monotonic() + before_next_s(attempts), number))
            return None
        self.room -= bool(found.failed and found.folder)
        return replace(found, attempts=attempts, seconds=self.spent_s[number])


def again(found: Measurement, attempts: int, retries: int) -> bool:
    """Return whether a design with some attempts is tried once more.

    Raises
    ------
    UnusableProgramError
        The program cannot be started, so that every design would fail in the same way.
    """
    if found.kind == "start":
        raise UnusableProgramError(f"{found.cause}; nothing can be measured")
    return found.kind in REPEATED and attempts <= retries


def before_next_s(attempts: int) -> float:
    """Return the time before the next attempt: 1 s, doubled after each, a minute at most.

    Examples
    --------
    >>> [before_next_s(attempts) for attempts in (1, 2, 3, 10)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(RETRY_WAIT_S, 2.0 ** min(attempts - 1, 30)))

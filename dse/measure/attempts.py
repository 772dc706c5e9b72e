"""Designs measured by several workers, each as often as it takes, in this process or in threads."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
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
"""Working folders of failed designs that a call keeps; a few more where several fail at once."""

RETRY_WAIT_S = 60.0
"""The longest time before a design is tried again."""

WORKER_PATIENCE_S, WORKER_LAST_S = 60.0, 1.0
"""So long a new worker may take to import what it measures with, and one that is silent to end."""


@runtime_checkable
class MeasuresOutside(Evaluator, Protocol):
    """An evaluator whose work is done by processes that it starts and can end."""

    def measure_until(
        self, design: Mapping[str, Value], folder: Path, stop: Callable[[], bool]
    ) -> Measurement:
        """Measure one design once, or end that as soon as `stop` is True."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A design to be measured once, with the folder that it is measured in."""

    number: int
    design: Mapping[str, Value]
    folder: Path
    keep: bool


def attempted(evaluator: Evaluator, attempt: Attempt, stop: Callable[[], bool]) -> Measurement:
    """Measure a design once in a folder made for it, and take that away unless it is kept.

    Raises
    ------
    OutputError
        The folder cannot be made or written, so that nothing could be measured.
    """
    try:
        shutil.rmtree(attempt.folder, ignore_errors=True)  # of an attempt before, or a run
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
    """Return a measurement with its folder, which is deleted unless it is to be kept."""
    if attempt.keep and found.failed:
        return replace(found, folder=str(attempt.folder)) if attempt.folder.exists() else found
    shutil.rmtree(attempt.folder, ignore_errors=True)
    return found


class UnusableProgramError(DseError):
    """What measures cannot be started, for no design."""


class InProcess(contextlib.AbstractContextManager["InProcess"]):
    """Measures in the process and thread that asks."""

    size = 1

    def __init__(self, evaluator: Evaluator) -> None:
        """Keep what measures."""
        self.evaluator = evaluator
        self.given: list[Attempt] = []

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""

    def begin(self, attempt: Attempt) -> None:
        """Keep an attempt until it is requested."""
        self.given.append(attempt)

    def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement | None]]:
        """Measure, or wait where there is nothing to measure."""
        if not self.given:
            time.sleep(wait_s)
            return []
        attempt, begin = self.given.pop(), time.monotonic()
        found = attempted(self.evaluator, attempt, lambda: False)
        return [(attempt.number, replace(found, seconds=time.monotonic() - begin))]

    def drop(self) -> None:
        """Forget what was given."""
        self.given.clear()


class Threads(contextlib.AbstractContextManager["Threads"]):
    """A thread per attempt; the work is done by the processes that the evaluator starts."""

    def __init__(self, evaluator: MeasuresOutside, size: int) -> None:
        """Keep what measures, and how many at once."""
        self.evaluator, self.size = evaluator, size
        self.running: dict[int, Thread] = {}
        self.done: SimpleQueue[tuple[int, Measurement | BaseException]] = SimpleQueue()
        self.stop = Event()

    def __exit__(self, *_: object) -> None:
        """End what runs."""
        self.drop()

    def begin(self, attempt: Attempt) -> None:
        """Start a thread."""
        thread = Thread(target=self._measure, args=(attempt,), daemon=True)
        self.running[attempt.number] = thread
        thread.start()

    def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement | None]]:
        """Return what has ended; wait for the first."""
        try:
            number, found = self.done.get(timeout=wait_s)
        except Empty:
            return []
        self.running.pop(number).join()
        if isinstance(found, BaseException):
            raise found
        return [(number, found)]

    def drop(self) -> None:
        """End all programs, and wait until they have."""
        self.stop.set()
        for thread in self.running.values():
            thread.join()
        self.running, self.done, self.stop = {}, SimpleQueue(), Event()

    def _measure(self, attempt: Attempt) -> None:
        try:
            self.done.put((attempt.number, attempted(self.evaluator, attempt, self.stop.is_set)))
        except BaseException as error:
            self.done.put((attempt.number, error))


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    attempt: Attempt | None = None
    ready: bool = False
    end: float = 0.0
    began: float = 0.0


class Spawned(contextlib.AbstractContextManager["Spawned"]):
    """Processes that start afresh, import what the evaluator needs, and measure in turn."""

    def __init__(self, evaluator: Evaluator, size: int) -> None:
        """Keep what measures, and how many at once."""
        self.evaluator, self.size = evaluator, size
        self.workers: list[_Worker] = []

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        for worker in self.workers:
            _end(worker)
        self.workers = []

    def begin(self, attempt: Attempt) -> None:
        """Give an attempt to a worker that has none, which may have to be started."""
        worker = next((worker for worker in self.workers if worker.attempt is None), None)
        if worker is None:
            worker = self._start()
            self.workers.append(worker)
        worker.attempt = attempt
        if worker.ready:
            self._send(worker)

    def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement | None]]:
        """Return what has ended; wait for the first."""
        busy = {worker.connection: worker for worker in self.workers if worker.attempt}
        if not busy:
            time.sleep(wait_s)
            return []
        ready = wait(list(busy), wait_s)  # a connection ends with its worker
        found = [self._received(worker) for one, worker in busy.items() if one in ready]
        for worker in busy.values():
            if not worker.ready and time.monotonic() > worker.end:
                self._dismiss(worker)
                raise UnusableProgramError(
                    _unready(f"it was not ready after {WORKER_PATIENCE_S:g} s")
                )
        return [each for each in found if each]

    def drop(self) -> None:
        """End the processes that are at work."""
        for worker in [worker for worker in self.workers if worker.attempt]:
            self._dismiss(worker)

    def _start(self) -> _Worker:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, self.evaluator), daemon=True)
        try:
            process.start()
        except (TypeError, AttributeError, ValueError, PicklingError) as error:
            here.close()
            rule = f"what measures cannot be sent to another process: {error}"
            remedy = "define it at the top of a module, or use one worker"
            raise UnusableProgramError(f"{rule}; {remedy}") from error
        finally:
            there.close()
        return _Worker(process, here, end=time.monotonic() + WORKER_PATIENCE_S)

    def _send(self, worker: _Worker) -> None:
        worker.began = time.monotonic()
        try:
            worker.connection.send(worker.attempt)
        except OSError:
            return  # it has died, which the connection tells in turn

    def _received(self, worker: _Worker) -> tuple[int, Measurement] | None:
        """Return the measurement that a worker tells, or that it has died."""
        attempt = worker.attempt
        if attempt is None:
            return None
        try:
            found = worker.connection.recv()
        except (EOFError, OSError):
            status = self._dismiss(worker, WORKER_LAST_S)
            if not worker.ready:
                raise UnusableProgramError(_unready(how_it_ended(status))) from None
            lost = failed("worker", f"its worker died: {how_it_ended(status)}")
            seconds = time.monotonic() - worker.began
            return attempt.number, replace(tidied(lost, attempt), seconds=seconds)
        if found is None:
            worker.ready = True
            self._send(worker)
            return None
        worker.attempt = None
        if isinstance(found, Exception):
            raise found
        return attempt.number, replace(found, seconds=time.monotonic() - worker.began)

    def _dismiss(self, worker: _Worker, patience_s: float = 0.0) -> int:
        self.workers.remove(worker)
        return _end(worker, patience_s)


def _end(worker: _Worker, patience_s: float = 0.0) -> int:
    """End a worker and what it has started in its session; return how it ended."""
    process = worker.process
    process.join(patience_s)
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()
    worker.connection.close()
    return process.exitcode or 0


def _unready(how: str) -> str:
    rule = f"a worker process could not be started: {how}"
    return (
        f"{rule}; its module has to import by itself, what it runs stands below "
        "'if __name__ == \"__main__\":', and standard error has the details"
    )


def _serve(connection: Connection, evaluator: Evaluator) -> None:
    """Be a worker: tell that it is ready, then measure what is sent until nothing is."""
    os.setsid()
    follow_the_program()
    connection.send(None)
    while True:
        try:
            attempt = connection.recv()
        except EOFError:
            return
        try:
            found: Measurement | Exception = attempted(evaluator, attempt, lambda: False)
        except DseError as error:
            found = DseError(str(error))  # not every one can be sent
        connection.send(found)


REPEATED = ("exit", "signal", "timeout", "output", "worker")
"""Kinds of failure that are tried again: another time a licence or a disk may be there.

Too little memory is not, for the limit is the same another time."""


Running = tuple[Mapping[str, Value], float]
"""A design that is measured, and since when, in seconds since the epoch."""


class Workers(AbstractContextManager["Workers"], Protocol):
    """Who does the attempts: nobody else knows whether threads, processes or machines."""

    @property
    def size(self) -> int:
        """How many attempts are worth giving out at once."""

    def begin(self, attempt: Attempt) -> None:
        """Give out an attempt."""

    def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement | None]]:
        """Return number and measurement of those that ended; wait some time for the first.

        None stands for an attempt that was lost with those who did it, whatever the design.
        """

    def drop(self) -> None:
        """End all attempts that were given out, and forget them."""


def workers_for(evaluator: Evaluator, count: int) -> Workers:
    """Return workers that serve any number of calls of `measured`, to be used in a ``with``.

    Threads where the evaluator starts processes itself (`MeasuresOutside`); else this process
    for one worker, and processes of their own for more.  A design that ends the process which
    measures it ends this one in the second case, and one worker in the third.
    """
    if isinstance(evaluator, MeasuresOutside):
        return Threads(evaluator, count)
    return InProcess(evaluator) if count == 1 else Spawned(evaluator, count)


def measured(
    evaluator: Evaluator,
    designs: Sequence[Mapping[str, Value]],
    *,
    workers: int | Workers,
    retries: int,
    folder: Path,
    stop: Callable[[], bool],
    may_begin: Callable[[], bool] = lambda: True,
    watch: Callable[[Mapping[int, Running]], None] | None = None,
    most_kept: int = FOLDERS_KEPT,
) -> Iterator[tuple[int, Measurement]]:
    """Yield position and measurement of each design, as they end.

    A design that fails is tried again, after those that wait for their first attempt; its
    measurement is the last one, with the number of attempts and the time of all.  Once `stop` is
    True, which is polled every 0.1 s, what runs is ended, and there are no more but those that have
    just ended well.  Once `may_begin` is False, what runs comes to its end, and nothing is begun or
    tried again.

    Parameters
    ----------
    workers
        How many measure at once, or those of `workers_for`, who stay for the next call.
    retries
        How often a design is tried again at most.
    folder
        Where each design gets a working folder, named after its `key`.
    watch
        Called with the attempts that run, by the position of their designs, ten times a second.
    most_kept
        How many working folders of failed designs are kept.

    Raises
    ------
    UnusableProgramError
        What measures cannot be started at all.
    OutputError
        Working folders cannot be written.
    """
    places = [folder / key(evaluator.identity, design)[:16] for design in designs]
    batch = _Batch(designs, places, retries, most_kept)
    own = workers_for(evaluator, workers) if isinstance(workers, int) else nullcontext(workers)
    with own as crew:
        try:
            while (batch.waiting or batch.running) and not stop():
                if may_begin():
                    batch.give_out(crew)
                elif not batch.running:
                    return
                if watch is not None:
                    watch(batch.running)
                for number, found in crew.ended(STOP_PERIOD_S):
                    if stop() and (found is None or found.failed):
                        continue  # it may be the stop that it failed of
                    if last := batch.take(number, found):
                        yield number, last
        finally:
            crew.drop()


class _Batch:
    """Designs that wait for an attempt, and what the attempts before have taken."""

    def __init__(
        self,
        designs: Sequence[Mapping[str, Value]],
        places: Sequence[Path],
        retries: int,
        most_kept: int,
    ) -> None:
        self.designs, self.places = designs, places
        self.retries, self.room = retries, most_kept
        self.waiting = [(0.0, number) for number in range(len(designs))]  # a heap, by time
        self.attempts, self.lost = [0] * len(designs), [0] * len(designs)
        self.spent_s = [0.0] * len(designs)
        self.running: dict[int, Running] = {}

    def give_out(self, workers: Workers) -> None:
        """Give out as many attempts as workers have room for and as are due."""
        while (
            self.waiting
            and len(self.running) < workers.size
            and self.waiting[0][0] <= time.monotonic()
        ):
            _, number = heappop(self.waiting)
            place = self.places[number]
            design = self.designs[number]
            self.running[number] = design, time.time()
            workers.begin(Attempt(number=number, design=design, folder=place, keep=self.room > 0))

    def take(self, number: int, found: Measurement | None) -> Measurement | None:
        """Return what came of a design, or None where it has to wait for another attempt."""
        del self.running[number]
        self.attempts[number] += found.attempts if found else 1
        if found is None:
            self.lost[number] += 1
            heappush(self.waiting, (time.monotonic(), number))
            return None
        self.spent_s[number] += found.seconds
        attempts = self.attempts[number]
        if again(found, attempts - self.lost[number], self.retries):
            heappush(self.waiting, (time.monotonic() + before_next_s(attempts), number))
            return None
        self.room -= bool(found.failed and found.folder)
        return replace(found, attempts=attempts, seconds=self.spent_s[number])


def again(found: Measurement, attempts: int, retries: int) -> bool:
    """Return whether a measurement that was tried some times is tried once more.

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

    There is no chance in it: the same failures are tried again after the same times.

    Examples
    --------
    >>> [before_next_s(attempts) for attempts in (1, 2, 3, 10)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(RETRY_WAIT_S, 2.0 ** min(attempts - 1, 30)))

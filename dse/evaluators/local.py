"""Workers of this machine: the process that asks, threads, and processes that may be lost.

Processes are for Python that may hang, take all memory or end its process.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from pickle import PicklingError
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol, runtime_checkable

from dse.contract.evaluators import Evaluator, Measurement, Value
from dse.errors import FOREIGN, DseError, OutputError
from dse.evaluators.limits import WORKER_LAST_S, WORKER_PATIENCE_S
from dse.evaluators.processes import how_it_ended
from dse.workers import follow_the_program


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

"""Workers that are processes: for Python that may hang, take all memory or end its process."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pickle import PicklingError
from typing import Self

from dse.contract.evaluators import Evaluator, Measurement
from dse.errors import DseError
from dse.evaluators.attempts import Attempt, UnusableProgramError, attempted, failed, tidied
from dse.evaluators.processes import how_it_ended
from dse.workers import follow_the_program

PATIENCE_S = 60.0
"""So long a new worker may take to import what it measures with."""

LAST_S = 1.0
"""So long a worker that says nothing more may take to end."""


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    attempt: Attempt | None = None
    ready: bool = False
    end: float = 0.0
    began: float = 0.0


class Spawned:
    """Processes that start afresh, import what the evaluator needs, and measure in turn."""

    def __init__(
        self,
        evaluator: Evaluator,
        size: int,
        *,
        timeout_s: float | None = None,
        memory_byte: int | None = None,
    ) -> None:
        """Keep what measures, how many at once, and the limits of each."""
        self.evaluator, self.size = evaluator, size
        self.timeout_s, self.memory_byte = timeout_s, memory_byte
        self.workers: list[_Worker] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

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
        told = wait(list(busy), wait_s)  # a connection ends with its worker
        found = [self._heard(worker) for one, worker in busy.items() if one in told]
        late = [worker for worker in busy.values() if worker.attempt and self._is_late(worker)]
        return [each for each in [*found, *map(self._too_late, late)] if each]

    def drop(self) -> None:
        """End the processes that are at work."""
        for worker in [worker for worker in self.workers if worker.attempt]:
            self._dismiss(worker)

    def _start(self) -> _Worker:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(
            target=_serve, args=(there, self.evaluator, self.memory_byte), daemon=True
        )
        try:
            process.start()
        except (TypeError, AttributeError, ValueError, PicklingError) as error:
            here.close()
            raise _unsendable(error) from error
        finally:
            there.close()
        return _Worker(process, here, end=time.monotonic() + PATIENCE_S)

    def _send(self, worker: _Worker) -> None:
        worker.began = time.monotonic()
        worker.end = worker.began + self.timeout_s if self.timeout_s is not None else 0.0
        try:
            worker.connection.send(worker.attempt)
        except OSError:
            return  # it has died, which the connection tells in turn

    def _heard(self, worker: _Worker) -> tuple[int, Measurement] | None:
        """Return the measurement that a worker tells, or that it has died."""
        attempt = worker.attempt
        if attempt is None:
            return None
        try:
            found = worker.connection.recv()
        except (EOFError, OSError):
            status = self._dismiss(worker, LAST_S)
            if not worker.ready:
                raise UnusableProgramError(_unready(how_it_ended(status))) from None
            cause = f"its worker died: {how_it_ended(status)}"
            return self._over(worker, attempt, failed("worker", cause))
        if found is None:
            worker.ready = True
            self._send(worker)
            return None
        worker.attempt = None
        if isinstance(found, Exception):
            raise found
        return attempt.number, replace(found, seconds=time.monotonic() - worker.began)

    def _is_late(self, worker: _Worker) -> bool:
        return bool(worker.end) and time.monotonic() > worker.end

    def _too_late(self, worker: _Worker) -> tuple[int, Measurement] | None:
        """End a worker whose time is over."""
        attempt = worker.attempt
        self._dismiss(worker)
        if not worker.ready:
            raise UnusableProgramError(_unready(f"it was not ready after {PATIENCE_S:g} s"))
        cause = f"it took longer than {self.timeout_s:g} s"
        return self._over(worker, attempt, failed("timeout", cause)) if attempt else None

    def _over(
        self, worker: _Worker, attempt: Attempt, found: Measurement
    ) -> tuple[int, Measurement]:
        seconds = time.monotonic() - worker.began
        return attempt.number, replace(tidied(found, attempt), seconds=seconds)

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


def _unsendable(error: Exception) -> DseError:
    rule = f"what measures cannot be sent to another process: {error}"
    return UnusableProgramError(f"{rule}; define it at the top of a module, or use one worker")


def _unready(how: str) -> str:
    rule = f"a worker process could not be started: {how}"
    return (
        f"{rule}; its module has to import by itself, what it runs stands below "
        "'if __name__ == \"__main__\":', and standard error tells more"
    )


def _serve(connection: Connection, evaluator: Evaluator, memory_byte: int | None) -> None:
    """Be a worker: tell that it is ready, then measure what is sent until nothing is."""
    os.setsid()
    follow_the_program()
    if memory_byte is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_byte, memory_byte))
    connection.send(None)
    while True:
        try:
            attempt = connection.recv()
        except EOFError:
            return
        try:
            told: Measurement | Exception = attempted(evaluator, attempt, lambda: False)
        except DseError as error:
            told = DseError(str(error))  # not every one can be sent
        connection.send(told)

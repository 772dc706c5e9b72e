"""Workers of a Dask cluster on machines of the user.

The cluster keeps nothing.  A scheduler repeats the task of a dead worker several times without
counting.  So each attempt leaves a mark at the scheduler before it measures, and one that finds a
mark reports the death of the worker instead of dying of the same cause.  Attempts that are lost
with a scheduler are given out again when there is a new one at its address.
"""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Self
from uuid import uuid4

from dse.contract.evaluators import Evaluator, Measurement
from dse.errors import DseError, MissingLibraryError
from dse.measure.attempts import Attempt, Ended, attempted, failed

SCHEDULER_PATIENCE_S, SCHEDULER_ATTEMPT_S = 30.0, 1.0
"""Longest time without a scheduler, and of one attempt to reach it."""

_DIED = "its worker died, or the machine that it ran on"


class Cluster:
    """The workers of a scheduler, with one attempt at once for each thread."""

    def __init__(
        self, evaluator: Evaluator, address: str, *, patience_s: float = SCHEDULER_PATIENCE_S
    ) -> None:
        """Begin without a connection."""
        try:
            import distributed
        except ImportError as error:
            raise MissingLibraryError("--dask", "distributed", "dask") from error
        self.library: Any = distributed
        self.evaluator, self.address, self.patience_s = evaluator, address, patience_s
        self.client: Any = None
        self.heard: SimpleQueue[Any] = SimpleQueue()
        self.running: dict[str, tuple[Attempt, Any]] = {}
        self.gone_at = time.monotonic()

    def __enter__(self) -> Self:
        """Reach the scheduler, or raise `DseError`."""
        self.gone_at = time.monotonic()
        while not self._connected():
            self._connect()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster."""
        self.drop()
        self._leave()

    @property
    def size(self) -> int:
        """Return the number of threads of its workers, 0 without a scheduler."""
        with suppress(Exception):  # the scheduler may go at any moment
            if self._connected():
                return sum(self.client.nthreads().values())
        return 0

    def begin(self, attempt: Attempt) -> None:
        """Give an attempt to the scheduler."""
        task = f"dse-{attempt.number}-{uuid4().hex}"
        future = self.client.submit(_measure, self.evaluator, attempt, task, key=task, pure=False)
        self.running[task] = attempt, future
        future.add_done_callback(self.heard.put)

    def ended(self, wait_s: float) -> Ended:
        """Return the first ended attempt, or all that were lost with the scheduler."""
        if not self._connected():
            lost = [(attempt.number, None) for attempt, _ in self.running.values()]
            self.running.clear()
            self._connect()
            return lost
        with suppress(Empty):
            future = self.heard.get(timeout=wait_s)
            if future.key in self.running:
                attempt, _ = self.running.pop(future.key)
                return [(attempt.number, self._result(future))]
        return []

    def drop(self) -> None:
        """Cancel all attempts, whose programs end within seconds."""
        futures = [future for _, future in self.running.values()]
        self.running.clear()
        with suppress(Exception):  # the scheduler may be gone
            self.client.cancel(futures)

    def _result(self, future: Any) -> Measurement | None:
        """Return the measurement of an attempt, or None if it was lost with the scheduler."""
        if future.status == "finished":
            with suppress(Exception):  # with the scheduler, or the worker that holds it
                found: Measurement = future.result(timeout=self.patience_s)
                return found
        if future.status != "error":
            return None
        error = future.exception()
        if isinstance(error, self.library.KilledWorker):
            return failed("worker", _DIED)
        if isinstance(error, DseError):
            raise error
        return failed("worker", f"the worker could not measure: {type(error).__name__}: {error}")

    def _connected(self) -> bool:
        return self.client is not None and self.client.status == "running"

    def _connect(self) -> None:
        """Try once to reach the scheduler."""
        if self.client is not None:
            self._leave()
            self.gone_at = time.monotonic()
        try:
            self.client = self.library.Client(
                self.address, timeout=SCHEDULER_ATTEMPT_S, set_as_default=False, name="dse"
            )
        except (OSError, TimeoutError, ValueError) as error:
            if time.monotonic() - self.gone_at > self.patience_s or isinstance(error, ValueError):
                rule = f"no Dask scheduler answers at {self.address}: {error}"
                raise DseError(f"{rule}; what was measured until now is kept") from error
            time.sleep(0.1)

    def _leave(self) -> None:
        client, self.client = self.client, None
        with suppress(Exception):  # it may be gone
            client.close(timeout=SCHEDULER_ATTEMPT_S)


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

"""Workers of a Dask cluster on machines of the user.

The cluster keeps nothing.  A scheduler repeats the task of a dead worker several times without
counting.  So each attempt leaves a mark at the scheduler before it measures, and one that finds a
mark reports the death of the worker instead of dying of the same cause.  A run whose scheduler is
gone ends, and is resumed with another one.
"""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Self
from uuid import uuid4

from dse.contract.evaluators import Evaluator, Measurement
from dse.errors import DseError, extra_module
from dse.measure.attempts import Attempt, Ended, attempted, failed

SCHEDULER_PATIENCE_S = 30.0
"""Longest time to reach a scheduler, and to get a result from it."""

_DIED = "its worker died, or the machine that it ran on"


class Cluster:
    """The workers of a scheduler, with one attempt at once for each thread."""

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

"""Workers of a Dask cluster: machines of the user's own, with a scheduler of the user's own.

The cluster keeps nothing: what is measured is kept by who asks, as it arrives.  A scheduler gives
what a worker had when it died to the next one by itself, several times, and counts nothing; so
each attempt leaves its mark at the scheduler before it measures, and one that finds a mark tells
that the worker before has died, instead of dying of the same.  What was given out when a
scheduler goes is given out again once there is one at its address.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Self
from uuid import uuid4

from dse.contract.evaluators import Evaluator, Measurement
from dse.errors import DseError, MissingLibraryError
from dse.measure.attempts import Attempt, attempted, failed

SCHEDULER_PATIENCE_S, SCHEDULER_ATTEMPT_S = 30.0, 1.0
"""So long a scheduler is waited for, at first and whenever it is gone, and in one attempt."""

_DIED = "its worker died, or the machine that it ran on"


class Cluster:
    """The workers behind the scheduler at an address: one attempt at once for each thread."""

    def __init__(
        self, evaluator: Evaluator, address: str, *, patience_s: float = SCHEDULER_PATIENCE_S
    ) -> None:
        """Keep what measures, and whom to ask."""
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
        """Ask for the scheduler.

        Raises
        ------
        DseError
            There is none at the address.
        """
        self.gone_at = time.monotonic()
        while not self._connected():
            self._connect()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster to others."""
        self.drop()
        self._leave()

    @property
    def size(self) -> int:
        """How many threads its workers have; none where there is no scheduler."""
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

    def ended(self, wait_s: float) -> Sequence[tuple[int, Measurement | None]]:
        """Return what has ended; wait for the first."""
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
        """Cancel what was given out: programs that run for it are ended within seconds."""
        futures = [future for _, future in self.running.values()]
        self.running.clear()
        with suppress(Exception):  # the scheduler may be gone
            self.client.cancel(futures)

    def _result(self, future: Any) -> Measurement | None:
        """Return what came of an attempt; None if it was lost with the scheduler."""
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
    """Measure in a worker of the cluster, until the scheduler wants that no more."""
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

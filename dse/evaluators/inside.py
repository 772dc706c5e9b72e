"""Workers that need no process of their own: this one, or threads that wait for programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Self

from dse.contract.evaluators import Evaluator, Measurement
from dse.evaluators.attempts import Attempt, MeasuresOutside, attempted


class Inside:
    """Measures in the process and thread that asks."""

    size = 1

    def __init__(self, evaluator: Evaluator) -> None:
        """Keep what measures."""
        self.evaluator = evaluator
        self.given: list[Attempt] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""

    def begin(self, attempt: Attempt) -> None:
        """Keep an attempt until it is asked for."""
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


class Threads:
    """A thread per attempt; the work is done by the processes that the evaluator starts."""

    def __init__(self, evaluator: MeasuresOutside, size: int) -> None:
        """Keep what measures, and how many at once."""
        self.evaluator, self.size = evaluator, size
        self.running: dict[int, Thread] = {}
        self.done: SimpleQueue[tuple[int, Measurement | BaseException]] = SimpleQueue()
        self.stop = Event()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

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

"""Designs measured by several workers, each as often as it takes, in this process or in threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from heapq import heappop, heappush
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol, Self

from dse.contract.evaluators import Evaluator, Measurement, Value, key
from dse.evaluators.attempts import Attempt, Keep, MeasuresOutside, again, attempted, before_next_s
from dse.evaluators.processes import LOOK_S

MOST_KEPT = 100
"""Working folders of failed designs that a call keeps; a few more where several fail at once."""


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


def workers_for(
    evaluator: Evaluator,
    count: int,
    *,
    timeout_s: float | None = None,
    memory_byte: int | None = None,
) -> Workers:
    """Return workers that serve any number of calls of `measured`, to be used in a ``with``.

    Threads where the evaluator starts processes itself (`MeasuresOutside`); else this process
    for one worker without limits, and processes of their own for more.  A design that ends the
    process which measures it ends this one in the second case, and one worker in the third.

    Parameters
    ----------
    evaluator, count
        What measures, and how many of it at once.
    timeout_s, memory_byte
        Limits of time for an attempt and of memory for a worker that is a process (address
        space, ``RLIMIT_AS``); an evaluator that `MeasuresOutside` has its own.
    """
    if isinstance(evaluator, MeasuresOutside):
        return Threads(evaluator, count)
    if count == 1 and timeout_s is None and memory_byte is None:
        return Inside(evaluator)
    from dse.evaluators.spawned import Spawned  # processes take long to import

    return Spawned(evaluator, count, timeout_s=timeout_s, memory_byte=memory_byte)


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
    backoff_s: float = 1.0,
    keep: Keep = "failed",
    most_kept: int = MOST_KEPT,
) -> Iterator[tuple[int, Measurement]]:
    """Yield position and measurement of each design, as they end.

    A design that fails is tried again, after those that wait for their first attempt; its
    measurement is the last one, with the number of attempts and the time of all.  Once `stop` is
    True, which is asked every 0.1 s, what runs is ended, and there are no more but those that have
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
    backoff_s
        Time before the second attempt; see `before_next_s`.
    keep, most_kept
        Whose working folders are kept, and how many of failed designs.

    Raises
    ------
    UnusableProgramError
        What measures cannot be started at all.
    OutputError
        Working folders cannot be written.
    """
    places = [folder / key(evaluator.identity, design)[:16] for design in designs]
    batch = _Batch(designs, places, retries, backoff_s, keep, most_kept)
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
                for number, found in crew.ended(LOOK_S):
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
        backoff_s: float,
        keep: Keep,
        most_kept: int,
    ) -> None:
        self.designs, self.places = designs, places
        self.retries, self.backoff_s = retries, backoff_s
        self.keep, self.room = keep, most_kept
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
            keep: Keep = "none" if self.keep == "failed" and self.room <= 0 else self.keep
            place = self.places[number]
            design = self.designs[number]
            self.running[number] = design, time.time()
            workers.begin(Attempt(number=number, design=design, folder=place, keep=keep))

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
            heappush(
                self.waiting, (time.monotonic() + before_next_s(attempts, self.backoff_s), number)
            )
            return None
        self.room -= bool(found.failed and found.folder)
        return replace(found, attempts=attempts, seconds=self.spent_s[number])


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

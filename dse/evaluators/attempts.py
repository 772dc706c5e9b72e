"""Designs measured by several workers, each as often as it takes, in this process or in threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from heapq import heappop, heappush
from pathlib import Path
from typing import Protocol

from dse.contract.evaluators import Evaluator, Measurement, Value, key
from dse.evaluators.limits import FOLDERS_KEPT, RETRY_WAIT_S, STOP_PERIOD_S
from dse.evaluators.local import (
    Attempt,
    InProcess,
    MeasuresOutside,
    Spawned,
    Threads,
    UnusableProgramError,
)

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

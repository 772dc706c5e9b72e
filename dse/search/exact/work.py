"""How much work a proof may take: counted where it is done, and limited there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse.errors import TooLargeError
from dse.search.outcome import INTERRUPTED

ROW = 12
"""What it takes to bound a partial design or a cell, counted in designs that are evaluated."""

FILTER, SORT = 4, 40
"""What it takes to compare one of many fleets or chains with the others, likewise: where another
is as good, and where none is."""

COMPARED, SORTED = 100, 700
"""Pairs of losses that are compared in the time in which a design is evaluated: those of many with
those of a front, and those of many with each other's front."""

_FEW = 1_000
"""Losses of a front, of up to three, with which others are compared as fast as with more."""

CALL = 10_000
"""What any evaluation or bound takes besides, likewise."""

LOOK = 100_000
"""Work after which time and memory are examined again."""

BOUND_BYTE = 2_048
"""What the bounds of a partial design or a cell take."""

HELD = 0.9
"""Part of the memory that may be taken from which on nothing more is begun."""

COPIES = 8
"""As much memory as may be taken holds so many times what is worked on at once."""

_RESIDENT = Path("/proc/self/statm")
_PAGE_BYTE = 4096


class TooMuchWorkError(TooLargeError):
    """What was to be done takes more work than another way to do it."""


class NotComposedError(TooLargeError):
    """The bounds leave too many partial designs."""


class EffortError(TooLargeError):
    """The time or the memory that a proof may take is used up."""


class StopError(EffortError):
    """The search is to stop, and to give what it has found, with a certificate of this way."""

    way = INTERRUPTED


Stop = Callable[[], bool]
"""Called before each batch of designs: whether the search is to stop."""


@dataclass
class Work:
    """What may be done and was done.

    Attributes
    ----------
    designs
        The most work, counted in designs that are evaluated together.
    seconds, byte
        The most CPU time, and memory beyond what is in use now.
    stop
        Whether it is to end before, None when nobody says so.
    spent
        Work done so far, counted likewise.
    ended
        Why no more time or memory is taken, in words; "" while it may be.
    """

    designs: float = math.inf
    seconds: float = math.inf
    byte: float = math.inf
    stop: Stop | None = None
    spent: int = 0
    ended: str = ""
    _start_s: float = field(default_factory=lambda: time.process_time())
    _next: int = 0
    _start_byte: int = field(default_factory=lambda: _resident_byte())

    def spend(self, designs: int) -> None:
        """Count work; raise an error when it is more than may be done."""
        self.spent += designs
        if self.stop is not None and self.stop():
            self.ended = "it was interrupted"
            raise StopError(self.ended)
        if self.spent > self.designs:
            raise TooMuchWorkError("composition takes more work than enumeration is expected to")
        if self.spent < self._next:
            return
        self._next = self.spent + LOOK
        if time.process_time() - self._start_s > self.seconds:
            reached = f"the limit of {self.seconds:.3g} s of CPU time was reached"
            found = reached if self.seconds > 0 else "no CPU time was left"
            self.ended = f"{found} (search.effort, --time)"
        elif _resident_byte() - self._start_byte > HELD * self.byte:
            self.ended = (
                f"the limit of {self.byte / 2**20:g} MiB of memory, beyond what was in use at the "
                "start, was reached (search.memory)"
            )
        else:
            return
        self._next = self.spent  # from now on whatever is begun ends at once
        raise EffortError(self.ended)


_WORKS: ContextVar[tuple[Work, ...]] = ContextVar("_WORKS", default=())


@contextmanager
def limited(
    *,
    designs: float = math.inf,
    seconds: float = math.inf,
    byte: float = math.inf,
    stop: Stop | None = None,
) -> Iterator[Work]:
    """Limit the work that is done inside, also by limits around this one; see `Work`."""
    work = Work(designs, seconds, byte, stop)
    token = _WORKS.set((*_WORKS.get(), work))
    try:
        yield work
    finally:
        _WORKS.reset(token)


def spend(designs: int) -> None:
    """Count work: as much as it takes to evaluate so many designs together.

    Raises
    ------
    TooMuchWorkError, EffortError
        When a limit is reached, or the search is to stop.
    """
    for work in _WORKS.get():
        work.spend(designs)


def left_s() -> float:
    """Return the CPU time that is left within every limit, not less than 0."""
    now = time.process_time()
    left = [work._start_s + work.seconds - now for work in _WORKS.get()]
    return max(0.0, min(left, default=math.inf))


def most_byte() -> float:
    """Return the memory that may be taken within every limit."""
    return min((work.byte for work in _WORKS.get()), default=math.inf)


def fitting(rows: int, byte: int) -> int:
    """Return how many rows of so many bytes are worked on at once, `rows` where memory allows."""
    return int(max(1, min(rows, most_byte() / (COPIES * byte))))


def spend_comparing(rows: int, front: NDArray[np.float64]) -> None:
    """Count what it takes to tell which of so many rows a front (f, m) dominates."""
    count, losses = front.shape
    spend(rows * (count if losses > 3 else min(count, _FEW)) // COMPARED)


def _resident_byte() -> int:
    """Return the memory in use, 0 where the system does not tell."""
    with suppress(OSError):
        return int(_RESIDENT.read_text().split()[1]) * _PAGE_BYTE
    return 0

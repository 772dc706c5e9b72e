"""The work of a proof: its count, and its limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from dse.errors import TooLargeError
from dse.search.outcome import INTERRUPTED

ROW = 12
"""Work to bound a partial design or a cell, in evaluated designs."""

FILTER, SORT = 4, 10
"""Work to compare a fleet with many others, in evaluated designs: a replaceable one, and others."""

COMPARED, SORTED = 100, 700
"""Pairs of losses for the work of a design: many losses with a front, and with each other."""

CALL = 10_000
"""Fixed work of an evaluation or a bound, in evaluated designs."""

LOOK = 100_000
"""Work between two checks of time and memory."""

CHUNK = 65_536
"""Designs evaluated at once, within the memory."""

BOUND_BYTE = 2_048
"""Memory for the bounds of a partial design."""

HELD = 0.9
"""Share of the memory limit above which nothing more begins."""

COPIES = 10
"""Ratio of the memory limit to the memory of the rows processed at once."""

_RESIDENT = Path("/proc/self/statm")
_PAGE_BYTE = 4096


class TooMuchWorkError(TooLargeError):
    """Another way to the same result is less work."""


class NotComposedError(TooLargeError):
    """The bounds leave too many partial designs."""


class EffortError(TooLargeError):
    """The time or the memory of a proof is used up."""


class StopError(EffortError):
    """The search is to stop, and to return its front so far, with a certificate of this way."""

    way = INTERRUPTED


Stop = Callable[[], bool]
"""Returns, before each batch of designs, whether the search is to stop."""


@dataclass
class Work:
    """The limits of work, the work so far, and the cause of its end.

    `designs` and `spent` are work in evaluated designs, `seconds` CPU time, and `byte` memory
    beyond the memory in use now.  `stop` returns whether to end early.
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
        """Count work, and raise an error beyond a limit."""
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
        self._next = self.spent  # the next work ends at once
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
    """Limit the work inside, also by the limits around this one (`Work`)."""
    work = Work(designs, seconds, byte, stop)
    token = _WORKS.set((*_WORKS.get(), work))
    try:
        yield work
    finally:
        _WORKS.reset(token)


def spend(designs: int) -> None:
    """Count the work of evaluating so many designs together, and raise an error at a limit."""
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
    """Return the number of rows of so many bytes to process at once, `rows` if memory allows."""
    return int(max(1, min(rows, most_byte() / (COPIES * byte))))


def _resident_byte() -> int:
    """Return the memory in use, or 0 if unknown."""
    with suppress(OSError):
        return int(_RESIDENT.read_text().split()[1]) * _PAGE_BYTE
    return 0

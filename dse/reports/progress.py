"""Progress on a terminal: the number done, the time taken, and the estimated time left.

A line on stderr, drawn by a separate thread, so that it also shows activity between counts.
Nothing is shown if stderr is no terminal, or for work that ends within half a second.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dse.algebra.units import duration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DELAY_S = 0.5
PERIOD_S = 0.25

LESS = ("now", "front", "took", "left")
"""Parts of the line that a narrow terminal does without, the first of them first."""

WINDOW = 40
"""Number of counts for the recent speed.  The time left is by the slower of it and the mean."""

_quiet = threading.Event()


def quieten() -> None:
    """Show no progress in this process."""
    _quiet.set()


def is_quiet() -> bool:
    """Return whether only results and errors are wanted."""
    return _quiet.is_set()


class LateBar:
    """A line that comes after half a second, and is gone before anything else is printed."""

    def __init__(self, what: str = "designs", doing: str = "reading the study") -> None:
        """Begin: `doing` is shown until the first step, then the number of `what` that are done."""
        self._what = what
        self._front: Callable[[], NDArray[np.float64]] | None = None
        self._total: int | None = None
        self._lock = threading.Lock()
        self._end: threading.Event | None = None
        self._begin(doing)

    def __call__(self, done: int, total: int, now: str = "") -> None:
        """Show the number done, and the current item."""
        if self._total is None:
            self._begin(self._what)
        self._now = now
        self._done, self._total = done, total
        self._awake()

    def tell(self, now: str) -> None:
        """Show the current item in words, beside the count."""
        self._now = now

    def doing(self, text: str) -> None:
        """Show the current work, which cannot be counted."""
        self._begin(text)
        self._awake()

    def watch(self, front: Callable[[], NDArray[np.float64]]) -> None:
        """Show the size of the current front beside the count, from its losses (n, m)."""
        self._front = front

    def close(self) -> None:
        """Take the line away until the next step."""
        if self._end is not None:
            self._end.set()
            with self._lock:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            self._end = None

    def _begin(self, text: str) -> None:
        self._text, self._done, self._total, self._now = text, 0, None, ""
        self._since = time.monotonic()
        self._late: deque[tuple[float, int]] = deque([(self._since, 0)], maxlen=WINDOW)

    def _awake(self) -> None:
        """Draw from now on, if it is not done already."""
        if self._end is None and sys.stderr.isatty() and not is_quiet():
            self._end = threading.Event()
            threading.Thread(target=self._draw, args=(self._end,), daemon=True).start()

    def _draw(self, end: threading.Event) -> None:
        wait = DELAY_S
        while not end.wait(wait):
            wait = PERIOD_S
            width = shutil.get_terminal_size().columns - 1
            with self._lock:
                if not end.is_set():
                    sys.stderr.write(f"\r\x1b[K{self.line(width)}")
                    sys.stderr.flush()

    def line(self, width: int = 1000) -> str:
        """Return the line that is shown now: the parts that fit, uncut."""
        now = time.monotonic()
        took, done, total = now - self._since, self._done, self._total
        if total is None:
            return f"{self._text} ... {duration(took)}"
        self._late.append((now, done))
        before, already = self._late[0]
        speed = min(done / took, (done - already) / (now - before)) if now > before else 0.0
        front = len(self._front()) if self._front is not None else 0
        left = (
            f"about {duration((total - done) / speed)} left" if speed > 0.0 and took > 1.0 else ""
        )
        state = f"now {self._now}" if self._now else ""
        parts = {
            "count": f"{done:,} of {total:,} {self._text}",
            "front": f"front of {front:,}" if front else "",
            "took": duration(took),
            "left": left,
            "now": state,
        }
        for name in ("", *LESS):
            parts.pop(name, None)
            line = f"{done / max(total, 1):4.0%}  {', '.join(filter(None, parts.values()))}"
            if len(line) <= width:
                return line
        return f"{done / max(total, 1):4.0%}"


@contextmanager
def bar(what: str, doing: str = "reading the study") -> Iterator[LateBar]:
    """Show the work inside, and the number of `what` once they are counted."""
    shown = LateBar(what)
    shown.doing(doing)
    try:
        yield shown
    finally:
        shown.close()

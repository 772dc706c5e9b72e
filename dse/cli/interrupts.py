"""Ctrl-C and SIGTERM: the first ends what is done in an orderly way, the second at once.

A command ends with status 128 + the number of the signal, as if it had died of it; so it does where
nobody reads what it prints any more (SIGPIPE).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """The signals of this process.

    Attributes
    ----------
    number
        Of the signal that came, 0 before.
    """

    def __init__(self) -> None:
        """Begin without one."""
        self.number = 0
        self._waits = False

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Raise `KeyboardInterrupt` inside at the first signal, and die of the second."""
        self.number = 0
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.getsignal(each) for each in SIGNALS}
        for each, handler in before.items():
            if handler is not signal.SIG_IGN:  # nohup and its kind
                signal.signal(each, self._come)
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, signal.SIG_DFL if handler is None else handler)

    @contextmanager
    def deferred(self) -> Iterator[Callable[[], bool]]:
        """Yield a function that returns whether a signal came; none raises anything inside."""
        self._waits = True
        try:
            yield lambda: self.number != 0
        finally:
            self._waits = False

    @contextmanager
    def read_or_not(self) -> Iterator[None]:
        """Print inside: that nobody reads it any more ends the command only when it is done."""
        try:
            yield
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is lost
            self.number = signal.SIGPIPE

    def _come(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        after = ": the best so far follows; interrupt again to end at once" if self._waits else ""
        os.write(2, f"\ninterrupted{after}\n".encode())  # a stream may be in use right now
        if not self._waits:
            raise KeyboardInterrupt


INTERRUPT = Interrupt()
"""Signals belong to the process, and there is one."""

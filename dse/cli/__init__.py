"""The command line: options made from public functions, text and exit status out, no logic.

May import everything.  The work of commands is in `dse.api` and below.  The first Ctrl-C or SIGTERM
ends the work in an orderly way, the second at once: a command ends with status 128 + the number of
the signal, as if the signal had killed it, and likewise if its output has no reader (SIGPIPE).
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from dse.errors import DseError, quoted

__all__ = ["main"]

RARELY = 200_000
"""New objects until Python looks for circles of them: imports make many objects and no circles."""


def main() -> None:
    """Run the command line, in which errors of the user end with a message and an exit status."""
    with INTERRUPT.caught():
        try:
            _main()
        except (SystemExit, KeyboardInterrupt) as ended:
            if isinstance(ended.__context__, BrokenPipeError):
                INTERRUPT.number = signal.SIGPIPE
            if not INTERRUPT.number:
                raise
    if INTERRUPT.number:
        sys.exit(128 + INTERRUPT.number)


def _main() -> None:
    gc.set_threshold(RARELY, *gc.get_threshold()[1:])
    # no plug-ins of pydantic are needed, which it would search in all installed packages
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from dse.cli.app import application  # much is imported here: see `RARELY`
    from dse.cli.options import complain, write_in_any_encoding

    write_in_any_encoding()
    try:
        application(*_command())()
    except DseError as error:
        sys.stdout.flush()
        for line in (str(error), *getattr(error, "__notes__", ())):
            complain(line)
        sys.exit(error.exit_code)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            complain(f"{quoted(error.filename)}: {error.strerror}; give a shorter name")
            sys.exit(2)
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest is lost
        complain(f"the output cannot be written: {error.strerror}")
        sys.exit(1)
    finally:
        gc.freeze()  # objects that end with the process need no further collection


def _command() -> list[str]:
    """Return the first word of the command line, ``--help`` without one, or nothing for shells."""
    words = [word for word in sys.argv[1:] if word not in ("-q", "--quiet")]
    return [] if "_DSE_COMPLETE" in os.environ else words[:1] or ["--help"]


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
        """Yield a function that returns whether a signal came.  No signal raises inside."""
        self._waits = True
        try:
            yield lambda: self.number != 0
        finally:
            self._waits = False

    @contextmanager
    def read_or_not(self) -> Iterator[None]:
        """Print inside, and if the output has no reader any more, end the command afterwards."""
        try:
            yield
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest is lost
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

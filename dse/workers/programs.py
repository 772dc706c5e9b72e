"""One door to other programs: each under a supervisor, which ends all that it has started."""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.workers import supervisor

STOP_PERIOD_S = 0.1
"""Period of the check whether to stop."""

SUPERVISOR_PATIENCE_S = 10.0
"""Time for which a supervisor is awaited beyond its limit."""

OUTPUT_BYTE, ERROR_BYTE = 1_000_000, 4_000
"""Bytes that are read of the output of a design, and kept of the end of standard error."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The end of a program.

    Attributes
    ----------
    status
        Its exit status, negative for the signal that ended it. None if it never started or its
        supervisor was ended.
    why
        ``""`` if it ended by itself, else "timeout", "memory" or "stopped".
    unstarted, lasting
        The reason why it could not be started, and whether it holds for every design.
    cut
        Whether its standard output is longer than the kept part.
    said
        The end of its standard error.
    """

    status: int | None = None
    why: str = ""
    unstarted: str = ""
    lasting: bool = False
    cut: bool = False
    said: str = ""


def supervised(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout_s: float | None,
    stop: Callable[[], bool],
    memory_byte: int | None = None,
) -> Ended:
    """Run a program to its end, to the end of its time, or until `stop` returns true.

    Each of its processes may use `memory_byte`, by default the memory of the machine, and its time
    on every core.  At the end of its time it and everything that it has started get SIGTERM, and a
    second later SIGKILL.  The same happens when this process ends in any way.
    """
    task = {
        "arguments": list(arguments),
        "environment": dict(environment),
        "folder": str(folder),
        "timeout_s": timeout_s,
        "cpu_s": None if timeout_s is None else math.ceil(timeout_s * (os.cpu_count() or 1)) + 1,
        "memory_byte": machine_byte() if memory_byte is None else memory_byte,
        "most_output": OUTPUT_BYTE,
        "most_error": ERROR_BYTE,
    }
    try:
        process = _supervisor()
    except OSError as error:
        return Ended(unstarted=error.strerror or str(error))
    text = b""
    try:
        text = _answer(process, json.dumps(task).encode() + b"\n", timeout_s, stop)
    finally:
        _let_go(process)
    return Ended(**json.loads(text)) if text else Ended()


def machine_byte() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _supervisor() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  a list, no shell, our own program
        [sys.executable, "-I", "-S", supervisor.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _answer(
    process: subprocess.Popen[bytes], line: bytes, timeout_s: float | None, stop: Callable[[], bool]
) -> bytes:
    """Return the line that a supervisor prints, or nothing if it ends or no longer answers."""
    if process.stdin is None or process.stdout is None:
        return b""
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        return b""
    end = None if timeout_s is None else time.monotonic() + timeout_s + SUPERVISOR_PATIENCE_S
    text, ended = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(STOP_PERIOD_S):
                chunk = os.read(process.stdout.fileno(), 1 << 16)
                text += chunk
                if not chunk:
                    return b""
                if text.endswith(b"\n"):
                    return text
            if not ended and stop():
                ended, end = True, time.monotonic() + SUPERVISOR_PATIENCE_S
                process.stdin.close()
            if end is not None and time.monotonic() > end:
                process.kill()
                return b""


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the input of a supervisor, so that it ends all, and wait for it."""
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # it has ended, and a task was not yet read
            process.stdin.close()
    try:
        process.wait(SUPERVISOR_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def how_it_ended(status: int) -> str:
    """Return the end of a program in words.

    Examples
    --------
    >>> how_it_ended(3), how_it_ended(-11)
    ('it returned 3', 'it was ended by SIGSEGV (Segmentation fault)')
    """
    if status >= 0:
        return f"it returned {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    described = signal.strsignal(-status)
    return f"it was ended by {name}" + (f" ({described})" if described else "")

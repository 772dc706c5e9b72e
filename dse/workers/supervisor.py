"""A small program that runs another one, and ends with it or with its caller.

``python -I -S supervisor.py`` reads a line of JSON from its standard input: `arguments`,
`environment`, `folder`, `timeout_s` and `cpu_s` (null: none), `memory_byte`, `most_output` and
`most_error` in bytes.  It runs the program in the folder, in a separate session, keeps the
beginning of its standard output and the end of its standard error in files there, and prints one
line of JSON about its end.  It ends the program and its process group when the time is over, when
the program is over, and when its standard input ends, as it does when its caller ends in any way.
A process that leaves the group stays.  It imports only the standard library, so that it starts
fast.
"""

import contextlib
import ctypes
import errno
import json
import math
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

GRACE_S = 1.0
"""Time between SIGTERM and SIGKILL."""

OUTPUT, ERROR = "standard_output", "standard_error"
"""Files in the working folder with the output of the program."""

_MISSING = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.ELOOP, errno.EPERM)
"""Errors of programs that cannot be started, now or later."""

_NEAR = 0.8
"""Share of its limit of memory above which the failure of a program has this cause."""

SAYS_SO = re.compile(r"MemoryError|bad_alloc|[Oo]ut of memory|[Cc]annot allocate memory")
"""Messages of programs that get no more memory."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Watched:
    """The program, its output, and the processes that it started."""

    def __init__(self, task: dict[str, Any]) -> None:
        """Start the program."""
        self.most_output, self.most_error = task["most_output"], task["most_error"]
        self.output, self.error = bytearray(), bytearray()
        self.cut = False
        self.status: int | None = None
        self.program = subprocess.Popen(  # noqa: S603  a list, no shell, the user's own program
            task["arguments"],
            env=task["environment"],
            cwd=task["folder"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=partial(_begin, os.getpid(), task),  # there are no threads here
        )

    def keep(self, stream: int, chunk: bytes) -> None:
        """Keep the beginning of standard output (1) and the end of standard error (2)."""
        if stream == 1:
            room = self.most_output - len(self.output)
            self.output += chunk[:room]
            self.cut = self.cut or len(chunk) > room
        else:
            self.error += chunk
            del self.error[: -self.most_error]

    def reap(self) -> None:
        """Take leave of the program if it has ended."""
        self.status = self.program.poll()

    def signal_all(self, number: int) -> None:
        """Send a signal to the program and its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.program.pid, number)

    def end_all(self) -> None:
        """End the program and its process group."""
        self.signal_all(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.program.wait(GRACE_S)
        self.reap()


def _begin(parent: int, task: dict[str, Any]) -> None:
    """Limit the program and its child processes, and let it end with its supervisor."""
    limits = {resource.RLIMIT_DATA: task["memory_byte"], resource.RLIMIT_CPU: task["cpu_s"]}
    for each, most in limits.items():
        hard = resource.getrlimit(each)[1]
        if most is not None and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(each, (most, hard))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before the signal was set
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _watch(watched: Watched, timeout_s: float | None, wakeup: int) -> str:
    """Wait for the end, and return ``""``, or why the program was ended: "timeout", "stopped"."""
    streams = {
        watched.program.stdout.fileno(): 1,  # type: ignore[union-attr]
        watched.program.stderr.fileno(): 2,  # type: ignore[union-attr]
        sys.stdin.fileno(): 0,
        wakeup: 3,
    }
    why, end = "", math.inf if timeout_s is None else time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        for handle in streams:
            selector.register(handle, selectors.EVENT_READ)
        while watched.status is None:
            wait = None if end == math.inf else max(0.0, end - time.monotonic())
            ready = [key.fd for key, _ in selector.select(wait)]
            stopping = [_stops(watched, selector, one, streams[one]) for one in ready]
            if any(stopping) and not why:
                why, end = "stopped", _term(watched)
            watched.reap()
            if watched.status is None and time.monotonic() >= end:
                if why:
                    break
                why, end = "timeout", _term(watched)
    return why


def _stops(watched: Watched, selector: selectors.BaseSelector, handle: int, stream: int) -> bool:
    """Read what a handle has, keep output, and return whether it asks for the end."""
    chunk = os.read(handle, 1 << 16)
    if stream in (1, 2):
        watched.keep(stream, chunk)
    if not chunk:
        selector.unregister(handle)
        return stream == 0
    return stream == 3 and bytes([signal.SIGTERM]) in chunk


def _term(watched: Watched) -> float:
    """Send SIGTERM to everything, and return the end of the time that it has."""
    watched.signal_all(signal.SIGTERM)
    return time.monotonic() + GRACE_S


def _rest(watched: Watched) -> None:
    """Read the rest of the pipes, which no process writes into any more, and close them."""
    for stream, pipe in ((1, watched.program.stdout), (2, watched.program.stderr)):
        handle = pipe.fileno()  # type: ignore[union-attr]
        os.set_blocking(handle, False)
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(handle, 1 << 16):
                watched.keep(stream, chunk)
        pipe.close()  # type: ignore[union-attr]


def _run(task: dict[str, Any], wakeup: int) -> dict[str, Any]:
    """Run a program, and return how it ended."""
    try:
        watched = Watched(task)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        lasting = getattr(error, "errno", None) in _MISSING or isinstance(error, ValueError)
        return {"unstarted": getattr(error, "strerror", None) or str(error), "lasting": lasting}
    why = _watch(watched, task["timeout_s"], wakeup)
    watched.end_all()
    _rest(watched)
    folder = Path(task["folder"])
    with contextlib.suppress(OSError):  # a full disk, or a folder that the program deleted
        (folder / OUTPUT).write_bytes(watched.output)
        (folder / ERROR).write_bytes(watched.error)
    said = bytes(watched.error).decode(errors="replace")
    peak_byte = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if watched.status and not why:
        near = peak_byte > _NEAR * task["memory_byte"] or SAYS_SO.search(said)
        why = "timeout" if watched.status == -signal.SIGXCPU else "memory" if near else ""
    return {
        "why": why,
        "status": watched.status,
        "cut": watched.cut,
        "said": said,
    }


def _line() -> bytes:
    """Return the next line of standard input without reading ahead, or nothing at its end."""
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(sys.stdin.fileno(), 1 << 16)
        if not chunk:
            return b""
        line += chunk
    return line


def _serve() -> None:
    """Run the program of the line that comes, which SIGTERM ends."""
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if line := _line():
        signal.signal(signal.SIGTERM, lambda *_: None)  # it ends the program, which is reported
        print(json.dumps(_run(json.loads(line), reader)), flush=True)


if __name__ == "__main__":
    _serve()

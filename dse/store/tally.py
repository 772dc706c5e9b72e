"""How many measurements were written to a store: a line in a file beside it.

SQLite takes what follows a damaged place in its write-ahead log for a transaction that was never
finished, and opens without it; and a log that is lost, or another store's, is no error to it.  So
whoever keeps rows writes here, after they are on disk, how many were written, those that were
measured again and those that are to be, too; a store that counts fewer has lost some.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on Windows: the last of several writers may count too few
    fcntl = None  # type: ignore[assignment]

_LINE = re.compile(
    rb"(?P<told>store (?P<store>[0-9a-f]{32}) holds (?P<count> *\d+)), (?P<sum>\w+)\n"
)


@dataclass(frozen=True)
class Tally:
    """What a store has to have been told at least."""

    store: str
    count: int

    def line(self) -> bytes:
        """Return the file's content, always of the same length."""
        told = f"store {self.store} holds {self.count:12d}".encode()
        return told + b", " + _digest(told) + b"\n"


def tally_in(handle: int) -> Tally | None:
    """Return the tally in an open file, None where nothing is told yet.

    Raises
    ------
    ValueError
        It is damaged.
    """
    content = os.pread(handle, 4096, 0)
    if not content:
        return None
    match = _LINE.fullmatch(content)
    if match is None or _digest(match["told"]) != match["sum"]:
        raise ValueError("it is damaged")
    return Tally(match["store"].decode(), int(match["count"]))


def raise_tally(handle: int, tally: Tally) -> None:
    """Write a tally, on disk before this returns, unless the file tells of more already.

    Raises
    ------
    ValueError
        It tells of another store, or is damaged.
    """
    before = tally_in(handle)
    if before and before.store != tally.store:
        raise ValueError("it tells of another store")
    if before is None or before.count < tally.count:
        line = tally.line()
        if os.pwrite(handle, line, 0) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[int]:
    """Open a file, made where there is none, and keep others out; `shared`: only who writes."""
    mode = os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT
    handle = os.open(path, mode | os.O_CLOEXEC, 0o666)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _digest(told: bytes) -> bytes:
    return hashlib.sha256(told).hexdigest()[:16].encode()

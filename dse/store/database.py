"""SQLite: connections that are safe, a schema, a tally beside it, and errors in words."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dse.errors import StoreError
from dse.store.rows import COLUMNS

try:
    import fcntl
except ImportError:  # no such locks on Windows: the last of several writers may count too few
    fcntl = None  # type: ignore[assignment]

APPLICATION = 0x44534531
"""Marks an SQLite file as a store (``DSE1`` in ASCII)."""

WRITER_WAIT_S = 60.0
"""So long a process waits for another that writes."""

VERSION = 2
"""Of the schema; 1 did not count changes, and is read all the same."""

_LINE = re.compile(
    rb"(?P<counted>store (?P<store>[0-9a-f]{32}) holds (?P<count> *\d+)), (?P<sum>\w+)\n"
)
"""How many rows were written, in a line of a file beside the database, the tally.

SQLite takes what follows a damaged place in its write-ahead log for a transaction that was never
finished, and opens without it; a log that is lost, or another store's, is no error to it.  So who
keeps rows writes here, after they are on disk, how many were written, those measured again and
those that are to be, too; a store that counts fewer has lost some.
"""


_TEXT = "TEXT NOT NULL"
TABLES = {
    "store": {"id": _TEXT},
    "evaluations": COLUMNS,
    "runs": {"number": "INTEGER PRIMARY KEY", "facts": _TEXT, "checksum": _TEXT},
}

SCHEMA = {
    name: f"CREATE TABLE {name} ({', '.join(map(' '.join, columns.items()))})"
    for name, columns in TABLES.items()
}

REPAIR = (
    "put back a copy of it, or keep what can be read of it for another run: "
    "dse status {} --salvage NEW"
)


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a store that may be written; the file is made where there is none."""
    return _connected(path, "mode=rwc")


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that changes nothing that was kept.

    A store that was killed is recovered where it may be written, as SQLite has it.  Where it may
    not be, it must have been closed: there is no log to read, and none is made.
    """
    if _may_be_written(path):
        connection = _connected(path, "mode=rw")
    elif _size(path.with_name(f"{path.name}-wal")):
        raise StoreError(
            f"{path} was not closed by the program that wrote it, and cannot be read in a folder "
            f"that may not be written; copy its folder to one that may"
        )
    else:
        connection = _connected(path, "mode=ro&immutable=1")
    connection.execute("PRAGMA query_only = ON")
    return connection


def connect_to_nothing(name: str) -> sqlite3.Connection:
    """Return a connection to an empty store that is not on disk."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection, name)
    return connection


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    place = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(place, uri=True, timeout=WRITER_WAIT_S, isolation_level=None)
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _may_be_written(path: Path) -> bool:
    files = (path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm"))
    there = [path.parent, *(file for file in files if file.exists())]
    return all(os.access(file, os.W_OK) for file in there)


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def is_new(connection: sqlite3.Connection) -> bool:
    """Tell whether nothing was ever written."""
    (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return count == 0 and _pragma(connection, "application_id") == 0


def create(connection: sqlite3.Connection, name: str) -> None:
    """Make the tables of a store, all or none of them."""
    with transaction(connection):
        for statement in SCHEMA.values():
            connection.execute(statement)
        connection.execute("INSERT INTO store VALUES (?)", (name,))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def write_safely(connection: sqlite3.Connection, path: Path) -> None:
    """Let each transaction be on disk when it ends, and readers and writers not wait for another.

    https://www.sqlite.org/wal.html, and "FULL" of https://www.sqlite.org/pragma.html
    """
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreError(
            f"{path} cannot have a write-ahead log on this file system; "
            f"name a folder on a local disk"
        )
    connection.execute("PRAGMA synchronous = FULL")


def check(connection: sqlite3.Connection, path: Path) -> str:
    """Return the name of a store that is whole, but for the rows' checksums.

    Raises
    ------
    StoreError
        It is none, is damaged, or was written by a later version.
    """
    if _pragma(connection, "application_id") != APPLICATION:
        raise StoreError(
            f"{path} is a database, but not one of measurements; name another folder, or move it "
            f"away"
        )
    version = _pragma(connection, "user_version")
    if version > VERSION:
        raise StoreError(
            f"{path} has version {version} of the schema, and this program knows {VERSION}; "
            f"use the program that wrote it, or a later one"
        )
    tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    if version not in (1, VERSION) or dict(tables) != SCHEMA or len(tables) != len(SCHEMA):
        raise damaged(path, "its tables are not those of a store")
    (found, *_) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, found.replace("\n", " "))
    names = connection.execute("SELECT id FROM store").fetchall()
    if len(names) != 1:
        raise damaged(path, "it has no name")
    return str(names[0][0]).partition(" ")[0]


def changes_in(connection: sqlite3.Connection) -> int:
    """Return how many rows were written, again or for the first time, less those that are gone.

    Behind the name of a store stands how many were, and how many there were then; where that does
    not, no row was ever written again.
    """
    (said,) = connection.execute("SELECT id FROM store").fetchone()
    rows = count_rows(connection)
    written, there = map(int, str(said).split(" ")[1:] or (rows, rows))
    return written - max(there - rows, 0)


def count_rows(connection: sqlite3.Connection) -> int:
    """Return how many rows there are: their numbers have no gaps."""
    (count,) = connection.execute("SELECT coalesce(max(number), 0) FROM evaluations").fetchone()
    return int(count)


def count_changes(connection: sqlite3.Connection, name: str, before: int, more: int) -> int:
    """Write, within a transaction, that `more` rows were written; return how many now are."""
    said = f"{name} {before + more} {count_rows(connection)}"
    connection.execute("UPDATE store SET id = ?", (said,))
    connection.execute(f"PRAGMA user_version = {VERSION}")
    return before + more


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all that is done in a block, or nothing; on disk when the block ends."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a failed COMMIT may have rolled back
            connection.execute("ROLLBACK")
        raise


def damaged(path: Path, found: object) -> StoreError:
    """Return the error of a store that is not as it was written."""
    return StoreError(f"{path} is damaged: {found}; {REPAIR.format(path.parent)}")


GO_ON = "go on with --resume (`resume` in Python)"
"""How a run goes on, from either side."""

_REASONS = {
    "FULL": f"cannot be written: the disk is full; free some space and {GO_ON}",
    "IOERR": f"cannot be read or written: the disk fails; check it, and {GO_ON}",
    "BUSY": f"has been held by another process for {WRITER_WAIT_S:g} s; end that one, "
    "and try again",
    "LOCKED": "is held by another process; end that one, and try again",
    "READONLY": "may not be written; name another folder, or change its permissions",
    "PERM": "may not be written; name another folder, or change its permissions",
    "CANTOPEN": "cannot be opened; the file has to be readable, and its folder writable",
    "NOTADB": "is not a database; name another folder, or move it away",
}
"""What SQLite's codes say of a store; any other says that it is damaged."""


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say within a block into an error with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").split("_")[0]
        reason = _REASONS.get(code)
        raise StoreError(f"{path} {reason}") if reason else damaged(path, error) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"{path} cannot be used: {reason}; name another folder, or repair this one and {GO_ON}"
        ) from error
    except (ValueError, MemoryError) as error:
        raise damaged(path, error or "it asks for too much memory") from error


@dataclass(frozen=True)
class Tally:
    """How many rows a store had written at least."""

    store: str
    count: int

    def line(self) -> bytes:
        """Return the file's content, always of the same length."""
        counted = f"store {self.store} holds {self.count:12d}".encode()
        return counted + b", " + _digest(counted) + b"\n"


def tally_in(handle: int) -> Tally | None:
    """Return the tally in an open file, None where nothing is counted yet.

    Raises
    ------
    ValueError
        It is damaged.
    """
    content = os.pread(handle, 4096, 0)
    if not content:
        return None
    match = _LINE.fullmatch(content)
    if match is None or _digest(match["counted"]) != match["sum"]:
        raise ValueError("it is damaged")
    return Tally(match["store"].decode(), int(match["count"]))


def raise_tally(handle: int, tally: Tally) -> None:
    """Write a tally, on disk before this returns, unless the file counts more already.

    Raises
    ------
    ValueError
        It is of another store, or is damaged.
    """
    before = tally_in(handle)
    if before and before.store != tally.store:
        raise ValueError("it belongs to another store")
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


def _digest(counted: bytes) -> bytes:
    return hashlib.sha256(counted).hexdigest()[:16].encode()

"""A store of measurements in the folder of a run: one table of SQLite with a checksum a row."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from dse.contract.evaluators import Measurement, Ranges, Value, key
from dse.errors import StoreError
from dse.files.whole_folders import flush
from dse.study.measuring import STORE, STORE_FILES, StoredMeasurement

APPLICATION = 0x44534531
"""Marks an SQLite file as a store (``DSE1`` in ASCII)."""

VERSION = 5
"""Of the schema."""

SCHEMA = (
    "CREATE TABLE evaluations (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
    "content TEXT NOT NULL, checksum TEXT NOT NULL)"
)
"""Measurements have the numbers from 1 on without gaps, and row 0 says what the run is.  Content is
JSON in ASCII, which has any text: also a NUL, and bytes that are no UTF-8 and came as lone
surrogates."""

WRITER_WAIT_S = 60.0
"""So long a process waits for another that writes."""

MOUNTS = Path("/proc/self/mountinfo")

NETWORK = frozenset(
    [
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "virtiofs"),
        *("fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone"),
        *("fuse.s3fs", "fuse.sshfs"),
    ]
)
"""Types of file systems that several machines can write to at a time, as Linux calls them."""

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


def open_store(folder: Path) -> Store:
    """Return the store in the folder of a run, to be written; made where there is none.

    All of it is read and checked: some 20 microseconds a row.

    Raises
    ------
    StoreError
        The store is damaged, is none, is another version's, cannot be written, or is on a network
        file system.
    """
    path = folder / STORE
    _require_files(folder)
    with _errors_of(path):
        kind = network_type(folder)
        if kind:
            raise StoreError(
                f"{path} would be on a network file system ({kind}), where locks and flushes "
                f"cannot be relied on; name a folder on a local disk"
            )
        if not path.exists():
            _make(path)
        store = _opened(path, "mode=rw")
        try:
            # each transaction is on disk when it ends, and nobody waits for another who reads:
            # https://www.sqlite.org/wal.html, and "FULL" of https://www.sqlite.org/pragma.html
            (mode,) = store.connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":
                raise StoreError(
                    f"{path} cannot have a write-ahead log on this file system; "
                    f"name a folder on a local disk"
                )
            store.connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            store.close()
            raise
    return store


def open_to_read(folder: Path) -> Store:
    """Return the store in a folder, to be read only; another process may write to it.

    One that was killed is recovered where it may be written, as SQLite has it.  Where it may not
    be, it must have been closed: there is no log to read, and none is made.

    Raises
    ------
    StoreError
        There is none, it is damaged, is another version's, or was killed where it may not be
        written.
    """
    path = folder / STORE
    _require_files(folder)
    if not path.is_file():
        raise StoreError(f"{folder} has no {STORE}; name the folder of a run that measures designs")
    with _errors_of(path):
        log = path.with_name(f"{STORE}-wal")
        written = all(os.access(each, os.W_OK) for each in (folder, path))
        if not written and log.exists() and log.stat().st_size:
            raise StoreError(
                f"{path} was not closed by the program that wrote it, and cannot be read in a "
                f"folder that may not be written; copy its folder to one that may"
            )
        store = _opened(path, "mode=rw" if written else "mode=ro&immutable=1")
        store.connection.execute("PRAGMA query_only = ON")
    return store


def _require_files(folder: Path) -> None:
    """Raise `StoreError` where a store has a pipe, a device or a folder in place of a file."""
    for name in STORE_FILES:
        path = folder / name
        if os.path.lexists(path) and not path.is_file():
            raise StoreError(f"{path} is not a file; remove it, or name another folder")


def _make(path: Path) -> None:
    """Make a store with its tables, or none."""
    new = path.with_name(f"{STORE}-new")
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    new.replace(path)
    flush(path.parent)


def _opened(path: Path, mode: str) -> Store:
    """Return a store of which every page and row was read."""
    place = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(place, uri=True, timeout=WRITER_WAIT_S, isolation_level=None)
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
        _check(path, connection)
        return Store(path, connection)
    except BaseException:
        connection.close()
        raise


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Raise `StoreError` for a database that is no store, another version's, or not whole."""
    application, version, found = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version", "integrity_check(1)")
    )
    if application != APPLICATION:
        raise StoreError(
            f"{path} is no store of measurements; name another folder, or move it away"
        )
    if version != VERSION:
        raise StoreError(
            f"{path} has version {version} of the schema, and this program knows {VERSION}; "
            f"use the program that wrote it, or begin again with --fresh (`fresh` in Python)"
        )
    if found != "ok":
        raise _damaged(path, found.replace("\n", " "))
    if connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall() != [
        (SCHEMA,)
    ]:
        raise _damaged(path, "its tables are not those of a store")


def network_type(folder: Path, mounts: Path = MOUNTS) -> str:
    """Return the type of the network file system that a folder is on, empty where it is on none.

    `mounts` lists what is mounted, as proc(5) says of ``/proc/pid/mountinfo``; where there is no
    such file (no Linux) nothing is known, and the text is empty.
    """
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place, found, longest = Path(os.path.realpath(folder)), "", -1
    for line in lines:
        fields, _, tail = line.partition(" - ")
        # spaces and the like are octal numbers
        at = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields.split()[4]))
        if len(at.parts) >= longest and place.is_relative_to(at):
            found, longest = tail.split()[0], len(at.parts)  # the last of equals hides the others
    return found if found in NETWORK else ""


def _damaged(path: Path, found: object) -> StoreError:
    return StoreError(
        f"{path} is damaged: {found}; put back a copy of it, or begin again with --fresh (`fresh` "
        f"in Python)"
    )


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say within a block into an error with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").split("_")[0]
        reason = _REASONS.get(code)
        raise StoreError(f"{path} {reason}") if reason else _damaged(path, error) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"{path} cannot be used: {reason}; name another folder, or repair this one and {GO_ON}"
        ) from error
    except (ValueError, MemoryError) as error:
        raise _damaged(path, error or "it asks for too much memory") from error


class Store:
    """Measurements on disk; see `open_store`.

    Attributes
    ----------
    path
        The database.
    connection
        To the database.
    found
        By `dse.contract.evaluators.key`, in the order in which they came: what was kept when the
        store was opened, and through it since.
    facts
        What the run is that measured last, as plain data; None before it has begun.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Read everything.

        Raises
        ------
        StoreError
            A row does not have its checksum, or one is missing.
        """
        self.path, self.connection = path, connection
        self.found: dict[str, StoredMeasurement] = {}
        self.facts: dict[str, Any] | None = None
        for cells in connection.execute("SELECT * FROM evaluations ORDER BY number"):
            number = len(self.found) + 1
            if cells[0] not in (0, number):
                raise _damaged(path, f"row {number} is missing")
            try:
                if cells[0] == 0:
                    self.facts = dict(json.loads(_content(cells)))
                else:
                    row = read_cells(cells)
                    self.found[row.key] = row
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise _damaged(path, f"row {cells[0]}: {error}") from error

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the store; of its files the database stays."""
        self.connection.close()

    def __len__(self) -> int:
        """Return how many measurements there are."""
        return len(self.found)

    def keep(
        self,
        identity: str,
        found: Mapping[str, Measurement],
        designs: Mapping[str, Mapping[str, Value]],
    ) -> None:
        """Keep what an evaluator measured; on disk when this returns, all of it or nothing.

        What is kept already stays.

        Raises
        ------
        StoreError
            The disk is full or refuses; the store is then closed, for a page of it may be in
            the memory of the system only.  What was kept before stays.
        """
        new = [name for name in found if name not in self.found]
        rows = [
            StoredMeasurement(
                number=number,
                key=name,
                identity=identity,
                design=designs[name],
                measurement=found[name],
                kept_at=datetime.now(UTC).isoformat(),
            )
            for number, name in enumerate(new, len(self) + 1)
        ]
        self._write("INSERT", [stored_cells(row) for row in rows])
        self.found |= {row.key: row for row in rows}

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Keep what the run is, as plain data: its study, settings, seed, versions."""
        self._write("INSERT OR REPLACE", [_sealed(0, "", json.dumps(facts, allow_nan=False))])
        self.facts = dict(facts)

    def copy_to(self, folder: Path) -> None:
        """Write what is kept to another folder, which has no store; on disk when this returns."""
        target = folder / STORE
        with _errors_of(target), closing(sqlite3.connect(target)) as copy:
            self.connection.backup(copy)
        flush(target)
        flush(folder)

    def _write(self, how: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write all of some rows, or nothing; on disk when this returns."""
        try:
            with _errors_of(self.path):
                self.connection.execute("BEGIN IMMEDIATE")
                try:
                    self.connection.executemany(f"{how} INTO evaluations VALUES (?, ?, ?, ?)", rows)
                    self.connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):  # a failed COMMIT may have rolled back
                        self.connection.execute("ROLLBACK")
                    raise
        except StoreError:
            self.close()
            raise


def stored_cells(row: StoredMeasurement) -> tuple[Any, ...]:
    """Return the cells of a measurement: number, key, content, checksum."""
    found = asdict(row.measurement)
    found["values"] = {name: float(value) for name, value in row.measurement.values.items()}
    design = {k: v if isinstance(v, str) else float(v) for k, v in row.design.items()}
    named = {"identity": row.identity, "design": design, "kept_at": row.kept_at}
    return _sealed(row.number, row.key, json.dumps(named | {"measurement": found}))


def read_cells(cells: Sequence[Any]) -> StoredMeasurement:
    """Return the measurement that cells hold.

    Raises
    ------
    ValueError
        They do not have their checksum, or their key is not that of their design.
    """
    entries = json.loads(_content(cells))
    found = Measurement(**entries.pop("measurement"))
    row = StoredMeasurement(number=cells[0], key=cells[1], measurement=found, **entries)
    if key(row.identity, row.design) != row.key:
        raise ValueError("its key is not that of its design")
    return row


def _sealed(*cells: Any) -> tuple[Any, ...]:
    """Return cells with their checksum: SHA-256 as 64 hexadecimal digits."""
    return (*cells, hashlib.sha256(json.dumps(cells).encode()).hexdigest())


def _content(cells: Sequence[Any]) -> str:
    number, name, content, _ = cells
    if _sealed(number, name, content) != tuple(cells):
        raise ValueError("it does not have its checksum")
    return str(content)


class StoreShelf:
    """Measurements of one evaluator; a `dse.contract.evaluators.Shelf`.

    What `reused` stores have is copied to the own one when it is requested, so that a run has all
    that it counts with, after no attempt of its own.  Failures are not: they may have been those
    of another day or machine.  Nor are values outside the `ranges` of this run.  What was
    requested stays known when the stores are closed.
    """

    def __init__(
        self,
        store: Store,
        identity: str,
        reused: Sequence[Store] = (),
        ranges: Ranges | None = None,
    ) -> None:
        """Keep where to look."""
        self.store, self.identity = store, identity
        self.reused, self.ranges = reused, ranges or {}

    def known(self, keys: Sequence[str]) -> dict[str, Measurement]:
        """Return those of the measurements that are kept."""
        own = self.store.found
        for other in self.reused:
            rows = [other.found[name] for name in keys if name in other.found and name not in own]
            held = {row.key: row for row in rows if self._holds(row.measurement)}
            if held:
                taken = {one: replace(row.measurement, attempts=0) for one, row in held.items()}
                self.keep(taken, {one: row.design for one, row in held.items()})
        return {name: own[name].measurement for name in keys if name in own}

    def _holds(self, found: Measurement) -> bool:
        values = found.values
        inside = (low <= values[name] <= high for name, (low, high) in self.ranges.items())
        return found.has_values and all(inside)

    def keep(
        self, found: Mapping[str, Measurement], designs: Mapping[str, Mapping[str, Value]]
    ) -> None:
        """Keep measurements and the designs that they are of; on disk before this returns."""
        self.store.keep(self.identity, found, designs)

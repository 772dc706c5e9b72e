"""Opening a store: what is there is read and checked as a whole, or refused with a remedy.

Of one that is damaged, `salvage` reads what can still be read.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from dse.errors import StoreError
from dse.files.whole_folders import flush
from dse.store import database
from dse.store.database import Tally, locked, raise_tally, tally_in
from dse.store.rows import STORE, STORE_FILES, TALLY, StoredMeasurement, read_cells
from dse.store.store import Store, require_files

ROW_BYTE = 128
"""A row takes more than this: its key and its checksum have 64 letters each."""

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


def open_store(folder: Path) -> Store:
    """Return the store in the folder of a run, to be written; made where there is none.

    All of it is read and checked: some 20 microseconds a row.

    Raises
    ------
    StoreError
        The store is damaged, has lost rows, is none, is a later version's, cannot be written,
        or is on a network file system.
    """
    path = folder / STORE
    require_files(folder)
    with database.errors_of(path):
        kind = network_type(folder)
        if kind:
            raise StoreError(
                f"{path} would be on a network file system ({kind}), where locks and flushes "
                f"cannot be relied on; name a folder on a local disk"
            )
        with locked(folder / TALLY) as handle:
            tally = _tally(folder / TALLY, handle)
            if not path.exists() or not path.stat().st_size:  # SQLite would remove its log
                _require_nothing_lost(path, tally, 0)
            connection = database.connect(path)
            try:
                if database.is_new(connection):
                    _require_nothing_lost(path, tally, 0)
                    database.write_safely(connection, path)
                    database.create(connection, tally.store if tally else uuid.uuid4().hex)
                    flush(folder)
                store, count = _checked(path, connection, tally)
                database.write_safely(connection, path)
                raise_tally(handle, Tally(store.name, count))
            except BaseException:
                connection.close()
                raise
    return store


def open_to_read(folder: Path) -> Store:
    """Return the store in a folder, to be read only; another process may write to it.

    Raises
    ------
    StoreError
        There is none, it is damaged or has lost rows, is a later version's, or was killed where
        it may not be written.
    """
    path, tally = folder / STORE, None
    require_files(folder)
    if not path.is_file():
        raise StoreError(f"{folder} has no {STORE}; name the folder of a run that measures designs")
    with database.errors_of(path):
        begun = (folder / TALLY).exists()  # before anything else
        if begun:
            with locked(folder / TALLY, shared=True) as handle:
                tally = _tally(folder / TALLY, handle)
        connection = database.connect_to_read(path)
        try:
            if begun and database.is_new(connection):  # who made it was killed before its tables
                connection.close()
                connection = database.connect_to_nothing(tally.store if tally else uuid.uuid4().hex)
            store, _ = _checked(path, connection, tally)
        except BaseException:
            connection.close()
            raise
    return store


def _checked(path: Path, connection: sqlite3.Connection, tally: Tally | None) -> tuple[Store, int]:
    """Return a store of which every row was read, and how often rows were written."""
    name = database.check(connection, path)
    if tally and tally.store != name:
        raise database.damaged(path, f"{TALLY} next to it belongs to another store")
    count = sum(1 for _ in Store(path, connection, name).rows())
    changes = database.changes_in(connection)
    _require_nothing_lost(path, tally, changes)
    unproven = (
        f"{path.with_name(TALLY)} is gone, and with it the proof that no measurement is missing; "
        f"found: {count}"
    )
    store = Store(path, connection, name, [unproven] if tally is None and count else ())
    store.descriptions()
    return store, changes


def _require_nothing_lost(path: Path, tally: Tally | None, count: int) -> None:
    if tally and count < tally.count:
        raise StoreError(
            f"{path} has {count} of the {tally.count} measurements that were kept: it, or "
            f"{path.name}-wal, is not the one that was written; put back a copy of both, or "
            f"remove {TALLY} to go on with what there is"
        )


def _tally(path: Path, handle: int) -> Tally | None:
    try:
        return tally_in(handle)
    except ValueError as error:
        raise StoreError(
            f"{path}: {error}, so that nobody knows whether all measurements are there; put back "
            f"a copy of it, or remove it to go on with those that are"
        ) from error


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


def salvage(folder: Path, target: Path) -> int:
    """Keep what can still be read of a damaged store in a new one, and return how much it is.

    Each row is requested by itself and counts if it has its checksum; those that SQLite cannot
    reach are omitted, and so is what the runs were.  The damaged store stays as it is.

    Raises
    ------
    StoreError
        The new store cannot be written, or there is one already.
    """
    if (target / STORE).exists():
        raise StoreError(f"{target} has a store already; name another folder")
    require_files(folder)
    with database.errors_of(target / STORE), tempfile.TemporaryDirectory(dir=target) as copy:
        for name in STORE_FILES:
            if (folder / name).exists():
                shutil.copy(folder / name, copy)
        rows = [*_readable(Path(copy))]
    with open_store(target) as store:
        for identity, group in groupby(rows, key=lambda row: row.identity):
            some = {row.key: row for row in group}
            found = {name: row.measurement for name, row in some.items()}
            store.keep(identity, found, {name: row.design for name, row in some.items()})
        return len(store)


def _readable(folder: Path) -> Iterator[StoredMeasurement]:
    most = sum(path.stat().st_size for path in folder.iterdir()) // ROW_BYTE
    try:
        connection = database.connect_to_read(folder / STORE)
    except sqlite3.Error:
        return
    try:
        for number in range(1, most + 1):
            try:
                query = "SELECT * FROM evaluations WHERE number = ?"
                cells = connection.execute(query, (number,)).fetchone()
                if cells:
                    yield read_cells(cells)
            except (sqlite3.Error, ValueError, TypeError, MemoryError):
                continue  # this row cannot be read, or is not as it was written
    finally:
        connection.close()

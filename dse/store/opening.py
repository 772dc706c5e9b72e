"""Opening a store: what is there is read and checked as a whole, or refused with a remedy."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

from dse.errors import StoreError
from dse.files.working import flush
from dse.store import database
from dse.store.disks import network_type
from dse.store.store import STORE, TALLY, Store, require_files
from dse.store.tally import Tally, locked, raise_tally, tally_in


def open_store(folder: Path, *, anywhere: bool = False) -> Store:
    """Return the store in a folder, to be written; made where there is none.

    All of it is read and checked: some 20 microseconds a row.

    Parameters
    ----------
    folder
        Of a run; it must exist.
    anywhere
        Take a network file system, too; a note of the store then says what can happen.

    Raises
    ------
    StoreError
        The store is damaged, has lost rows, is none, is a later version's, cannot be written,
        or is on a network file system.
    """
    path, notes = folder / STORE, []
    require_files(folder)
    with database.told(path):
        kind = network_type(folder)
        if kind and not anywhere:
            raise StoreError(
                f"{path} would be on a network file system ({kind}), where locks and flushes "
                f"cannot be relied on; name a folder on a local disk"
            )
        if kind:
            notes.append(
                f"{path} is on a network file system ({kind}): only one machine may use it"
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
                store, count = _checked(path, connection, tally, notes)
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
    with database.told(path):
        if (folder / TALLY).exists():
            with locked(folder / TALLY, shared=True) as handle:
                tally = _tally(folder / TALLY, handle)
        connection = database.connect_to_read(path)
        try:
            store, _ = _checked(path, connection, tally, [])
        except BaseException:
            connection.close()
            raise
    return store


def _checked(
    path: Path, connection: sqlite3.Connection, tally: Tally | None, notes: list[str]
) -> tuple[Store, int]:
    """Return a store of which every row was read, and how often rows were written."""
    name = database.check(connection, path)
    if tally and tally.store != name:
        raise database.damaged(path, f"{TALLY} beside it belongs to another store")
    count = sum(1 for _ in Store(path, connection, name).rows())
    changes = database.changes_in(connection)
    _require_nothing_lost(path, tally, changes)
    if tally is None and count:
        notes.append(
            f"{path.with_name(TALLY)} is gone, and with it the proof that no measurement is "
            f"missing; found: {count}"
        )
    store = Store(path, connection, name, notes)
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

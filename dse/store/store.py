"""A store of measurements in the folder of a run: opened, checked, kept to, read, copied."""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dse.contract.evaluators import Measurement, Value, key
from dse.errors import ContractError, StoreError
from dse.store import database
from dse.store.disks import network_type
from dse.store.rows import COLUMNS, StoredMeasurement, checksum, read_cells, stored_cells
from dse.store.tally import Tally, locked, raise_tally, tally_in

STORE = "evaluations.sqlite"
TALLY = "evaluations.tally"
STORE_FILES = (STORE, f"{STORE}-wal", f"{STORE}-shm", f"{STORE}-journal", TALLY)
"""What a store has in the folder of a run; the middle three while it is open, or was killed."""

AT_ONCE = 500
"""Rows that are read, or asked for, by one statement."""

_INSERT = f"INSERT OR REPLACE INTO evaluations VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


class Store:
    """Measurements on disk, by `dse.contract.evaluators.key`; made by `open_store`.

    Attributes
    ----------
    path
        The database.
    notes
        What was found when it was opened, for the user.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, name: str, notes: Iterable[str] = ()
    ) -> None:
        """Keep an open connection to a store that is checked."""
        self.path, self.notes = path, tuple(notes)
        self._connection, self._name = connection, name

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the store; of its files the database and the tally stay."""
        self._connection.close()

    def __len__(self) -> int:
        """Return the number of rows."""
        with database.told(self.path):
            return _count(self._connection)

    def rows(self, after: int = 0) -> Iterator[StoredMeasurement]:
        """Yield what is kept, in the order in which it came, from behind number `after` on.

        Raises
        ------
        StoreError
            A row does not have its checksum, or one is missing.
        """
        while True:
            with database.told(self.path):
                found = self._connection.execute(
                    "SELECT * FROM evaluations WHERE number > ? ORDER BY number LIMIT ?",
                    (after, AT_ONCE),
                ).fetchall()
            for cells in found:
                after += 1
                if cells[0] != after:
                    raise database.damaged(self.path, f"row {after} is missing")
                yield self._read(cells)
            if not found:
                return

    def find(self, keys: Sequence[str]) -> dict[str, StoredMeasurement]:
        """Return what is kept of some keys and is not to be measured again."""
        stored = {row.key: row for row in self._having(keys)}
        return {name: stored[name] for name in keys if name in stored and not stored[name].again}

    def _having(self, keys: Sequence[str]) -> Iterator[StoredMeasurement]:
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            places = ", ".join("?" * len(some))
            with database.told(self.path):
                found = self._connection.execute(
                    f"SELECT * FROM evaluations WHERE key IN ({places})",  # noqa: S608
                    some,
                ).fetchall()
            yield from map(self._read, found)

    def _read(self, cells: Sequence[Any]) -> StoredMeasurement:
        try:
            return read_cells(cells)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise database.damaged(self.path, f"row {cells[0]}: {error}") from error

    def keep(
        self,
        identity: str,
        found: Mapping[str, Measurement],
        designs: Mapping[str, Mapping[str, Value]],
    ) -> None:
        """Keep what an evaluator measured; on disk when this returns, all of it or nothing.

        What is kept already stays, unless it is to be measured again.

        Raises
        ------
        ContractError
            A key is not that of its design.
        StoreError
            The disk is full or refuses; the store is then closed, for a page of it may be in
            the memory of the system only.  What was kept before stays.
        """
        for name in found:
            if name != key(identity, designs[name]):
                raise ContractError(f"{name} is not the key of {dict(designs[name])}; use `key`")
        with self._writing():
            last = _count(self._connection)
            stored = {row.key: row for row in self._having([*found])}
            rows = []
            for name, measurement in found.items():
                before = stored.get(name)
                if before and not before.again:
                    continue
                last += before is None
                row = StoredMeasurement(
                    number=before.number if before else last,
                    key=name,
                    identity=identity,
                    design=designs[name],
                    measurement=measurement,
                    again=False,
                    kept_at=datetime.now(UTC).isoformat(),
                )
                rows.append(stored_cells(row))
            self._connection.executemany(_INSERT, rows)
        self._count_up(last)

    def measure_again(self, kinds: Collection[str] = ()) -> int:
        """Let failures be measured again, all or those of some kinds; return how many they are."""
        with self._writing():
            rows = [row for row in self.rows() if row.measurement.failed and not row.again]
            rows = [row for row in rows if not kinds or row.measurement.kind in kinds]
            cells = [stored_cells(replace(row, again=True)) for row in rows]
            self._connection.executemany(_INSERT, cells)
        return len(cells)

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Keep what a run is, as plain data: its study, settings, seed, versions."""
        text = json.dumps(facts, allow_nan=False)
        with self._writing():
            (last,) = self._connection.execute("SELECT count(*) FROM runs").fetchone()
            cells = (last + 1, text)
            row = (*cells, checksum(cells))
            self._connection.execute("INSERT INTO runs VALUES (?, ?, ?)", row)

    def descriptions(self) -> list[dict[str, Any]]:
        """Return what the runs were that measured for this store, the last one last."""
        with database.told(self.path):
            found = self._connection.execute("SELECT * FROM runs ORDER BY number").fetchall()
        for number, cells in enumerate(found, 1):
            if cells[0] != number or checksum(cells[:-1]) != cells[-1]:
                raise database.damaged(self.path, f"description {number} has another checksum")
        return [json.loads(text) for _, text, _ in found]

    def copy_to(self, folder: Path) -> None:
        """Write what is kept to another folder, which has no store; on disk when this returns."""
        target = folder / STORE
        with database.told(target):
            if any((folder / name).exists() for name in STORE_FILES):
                raise StoreError(f"{folder} has a store already; name another folder")
            copy = database.connect(target)
            try:
                database.write_safely(copy, target)
                self._connection.backup(copy)
                tally = Tally(self._name, _count(copy))
            finally:
                copy.close()
            with locked(folder / TALLY) as handle:
                raise_tally(handle, tally)
            _on_disk(target)
            _on_disk(folder)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with database.told(self.path), database.transaction(self._connection):
                yield
        except StoreError:
            self.close()
            raise

    def _count_up(self, count: int) -> None:
        tally = self.path.with_name(TALLY)
        try:
            with database.told(tally), locked(tally) as handle:
                raise_tally(handle, Tally(self._name, count))
        except StoreError:
            self.close()
            raise


def open_store(folder: Path, *, anywhere: bool = False) -> Store:
    """Return the store in a folder, to be written; made where there is none.

    All of it is read and checked: some 25 microseconds a row.

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
                    _on_disk(folder)
                store, count = _checked(path, connection, tally, notes)
                database.write_safely(connection, path)
                raise_tally(handle, Tally(store._name, count))
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
    """Return a store of which every row was read, and how many they are."""
    name = database.check(connection, path)
    if tally and tally.store != name:
        raise database.damaged(path, f"{TALLY} beside it belongs to another store")
    count = sum(1 for _ in Store(path, connection, name).rows())
    _require_nothing_lost(path, tally, count)
    if tally is None and count:
        notes.append(f"{path.with_name(TALLY)} is gone: the {count} measurements there are all")
    store = Store(path, connection, name, notes)
    store.descriptions()
    return store, count


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


def _count(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT coalesce(max(number), 0) FROM evaluations").fetchone()
    return int(count)


def _on_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

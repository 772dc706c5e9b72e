"""A store of measurements in the folder of a run: kept to, read, copied, and looked up."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from dse.contract.evaluators import FAILURES, Measurement, Ranges, Value, key
from dse.errors import ContractError, StoreError
from dse.files.whole_folders import flush
from dse.store import database
from dse.store.database import Tally, locked, raise_tally
from dse.store.rows import (
    COLUMNS,
    STORE,
    STORE_FILES,
    TALLY,
    StoredMeasurement,
    checksum,
    read_cells,
    stored_cells,
)


def require_files(folder: Path) -> None:
    """Raise `StoreError` where a store has a pipe, a device or a folder in place of a file."""
    for name in STORE_FILES:
        path = folder / name
        if os.path.lexists(path) and not path.is_file():
            raise StoreError(f"{path} is not a file; remove it, or name another folder")


ROWS_AT_ONCE = 500
"""Rows that are read, or requested, by one statement."""

_INSERT = f"INSERT OR REPLACE INTO evaluations VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


class Store:
    """Measurements on disk, by `dse.contract.evaluators.key`; opened by `dse.store.opening`.

    Attributes
    ----------
    path
        The database.
    name
        Of this store; its tally has it, too.
    notes
        What was found when it was opened, for the user.
    differing
        What was measured again and has other values, or none: as it was, and as it is.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, name: str, notes: Iterable[str] = ()
    ) -> None:
        """Keep an open connection to a store that is checked."""
        self.path, self.notes = path, tuple(notes)
        self.name, self._connection = name, connection
        self._file = path.stat().st_ino
        self.differing: list[tuple[StoredMeasurement, Measurement]] = []

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the store; of its files the database and the tally stay."""
        self._connection.close()

    def __len__(self) -> int:
        """Return the number of rows."""
        with database.errors_of(self.path):
            return database.count_rows(self._connection)

    def rows(self, after: int = 0) -> Iterator[StoredMeasurement]:
        """Yield what is kept, in the order in which it came, from behind number `after` on.

        Raises
        ------
        StoreError
            A row does not have its checksum, or one is missing.
        """
        while True:
            with database.errors_of(self.path):
                found = self._connection.execute(
                    "SELECT * FROM evaluations WHERE number > ? ORDER BY number LIMIT ?",
                    (after, ROWS_AT_ONCE),
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
        for start in range(0, len(keys), ROWS_AT_ONCE):
            some = keys[start : start + ROWS_AT_ONCE]
            places = ", ".join("?" * len(some))
            with database.errors_of(self.path):
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
        with self._writing() as rows:
            last = database.count_rows(self._connection)
            stored = {row.key: row for row in self._having([*found])}
            for name, measurement in found.items():
                old = stored.get(name)
                if old and not old.again:
                    continue
                last += old is None
                if (
                    old
                    and old.measurement.has_values
                    and old.measurement.values != measurement.values
                ):
                    self.differing.append((old, measurement))
                row = StoredMeasurement(
                    number=old.number if old else last,
                    key=name,
                    identity=identity,
                    design=designs[name],
                    measurement=measurement,
                    again=False,
                    kept_at=datetime.now(UTC).isoformat(),
                )
                rows.append(row)

    def measure_again(self, kinds: Collection[str] = FAILURES) -> int:
        """Let designs be measured again of these kinds, ``""`` for values; return how many."""
        with self._writing() as rows:
            kept = [row for row in self.rows() if not row.again and row.measurement.kind in kinds]
            rows += [replace(row, again=True) for row in kept]
        return len(rows)

    @property
    def removed(self) -> bool:
        """Whether the file was removed since it was opened; what is kept is then there until the
        store is closed.
        """
        with suppress(FileNotFoundError):
            return self.path.stat().st_ino != self._file
        return True

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
        with database.errors_of(self.path):
            found = self._connection.execute("SELECT * FROM runs ORDER BY number").fetchall()
        for number, cells in enumerate(found, 1):
            if cells[0] != number or checksum(cells[:-1]) != cells[-1]:
                raise database.damaged(self.path, f"description {number} has another checksum")
        return [json.loads(text) for _, text, _ in found]

    def copy_to(self, folder: Path) -> None:
        """Write what is kept to another folder, which has no store; on disk when this returns."""
        target = folder / STORE
        with database.errors_of(target):
            if any((folder / name).exists() for name in STORE_FILES):
                raise StoreError(f"{folder} has a store already; name another folder")
            copy = database.connect(target)
            try:
                database.write_safely(copy, target)
                self._connection.backup(copy)
                tally = Tally(self.name, database.changes_in(copy))
            finally:
                copy.close()
            with locked(folder / TALLY) as handle:
                raise_tally(handle, tally)
            flush(target)
            flush(folder)

    @contextmanager
    def _writing(self) -> Iterator[list[StoredMeasurement]]:
        """Yield a list of rows, which are written when the block ends, and then counted."""
        rows: list[StoredMeasurement] = []
        tally = self.path.with_name(TALLY)
        try:
            with database.errors_of(self.path), database.transaction(self._connection):
                yield rows
                if not rows:
                    return
                before = database.changes_in(self._connection)
                self._connection.executemany(_INSERT, map(stored_cells, rows))
                changes = database.count_changes(self._connection, self.name, before, len(rows))
            with database.errors_of(tally), locked(tally) as handle:
                raise_tally(handle, Tally(self.name, changes))
        except StoreError:
            self.close()
            raise


@dataclass(frozen=True)
class StoreShelf:
    """Measurements of one evaluator; a `dse.contract.evaluators.Shelf`.

    What `reused` stores have is copied to the own one when it is requested, so that a run has all
    that it counts with, after no attempt of its own.  Failures are not: they may have been those
    of another day or machine.  Nor are values outside the `ranges` of this run.
    """

    store: Store
    identity: str
    reused: tuple[Store, ...] = ()
    ranges: Ranges = field(default_factory=dict)

    def known(self, keys: Sequence[str]) -> dict[str, Measurement]:
        """Return those of the measurements that are kept."""
        found = {name: row.measurement for name, row in self.store.find(keys).items()}
        for other in self.reused:
            left = [name for name in keys if name not in found]
            rows = {
                name: row for name, row in other.find(left).items() if self._holds(row.measurement)
            }
            if rows:
                taken = {name: replace(row.measurement, attempts=0) for name, row in rows.items()}
                self.keep(taken, {name: row.design for name, row in rows.items()})
                found |= taken
        return {name: found[name] for name in keys if name in found}

    def _holds(self, found: Measurement) -> bool:
        """Tell whether what another run measured holds in this one."""
        values = found.values
        inside = (low <= values[name] <= high for name, (low, high) in self.ranges.items())
        return found.has_values and all(inside)

    def keep(
        self, found: Mapping[str, Measurement], designs: Mapping[str, Mapping[str, Value]]
    ) -> None:
        """Keep measurements and the designs that they are of; on disk before this returns."""
        self.store.keep(self.identity, found, designs)

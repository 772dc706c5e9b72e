"""What can still be read of a store that is damaged."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from dse.errors import StoreError
from dse.store import database
from dse.store.opening import open_store
from dse.store.rows import StoredMeasurement, read_cells
from dse.store.store import STORE, STORE_FILES, require_files

LEAST_BYTE = 128
"""A row takes more than this: its key and its checksum have 64 letters each."""


def salvage(folder: Path, target: Path) -> int:
    """Keep what can still be read of a damaged store in a new one, and return how much it is.

    Each row is asked for by itself and counts if it has its checksum; those that SQLite cannot
    reach are left out, and so is what the runs were.  The damaged store stays as it is.

    Raises
    ------
    StoreError
        The new store cannot be written, or there is one already.
    """
    if (target / STORE).exists():
        raise StoreError(f"{target} has a store already; name another folder")
    require_files(folder)
    with database.told(target / STORE), tempfile.TemporaryDirectory(dir=target) as copy:
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
    most = sum(path.stat().st_size for path in folder.iterdir()) // LEAST_BYTE
    try:
        connection = database.connect_to_read(folder / STORE)
    except sqlite3.Error:
        return
    try:
        for number in range(1, most + 1):
            try:
                asked = "SELECT * FROM evaluations WHERE number = ?"
                cells = connection.execute(asked, (number,)).fetchone()
                if cells:
                    yield read_cells(cells)
            except (sqlite3.Error, ValueError, TypeError, MemoryError):
                continue  # this row cannot be read, or is not as it was written
    finally:
        connection.close()

"""One measurement as a row of the store: text that reads back as the same bits, and a checksum."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from dse.contract.evaluators import Measurement, Value, key

STORE = "evaluations.sqlite"
STORE_FILES = (STORE, *(f"{STORE}-{end}" for end in ("wal", "shm", "journal", "new")))
"""What a store has in the folder of a run; all but the first while it is open, or was killed."""

COLUMNS = {
    "number": "INTEGER PRIMARY KEY",
    "key": "TEXT NOT NULL UNIQUE",
    "identity": "TEXT NOT NULL",
    "design": "TEXT NOT NULL",
    "measurement": "TEXT NOT NULL",
    "kept_at": "TEXT NOT NULL",
    "checksum": "TEXT NOT NULL",
}
"""Of a row, in this order.  `number` counts from 1 without gaps.  Identity, design and measurement
are JSON in ASCII, which has any text: also a NUL, and bytes that are no UTF-8 and came as lone
surrogates."""

Cells = Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class StoredMeasurement:
    """A measurement and what it is of.

    Attributes
    ----------
    number
        The how-manieth it is in its store, from 1.
    key, identity, design
        See `dse.contract.evaluators.key`.
    measurement
        What came of it.
    kept_at
        When, in UTC and ISO 8601.
    """

    number: int
    key: str
    identity: str
    design: Mapping[str, Value]
    measurement: Measurement
    kept_at: str


def stored_cells(stored: StoredMeasurement) -> tuple[Any, ...]:
    """Return the cells of a row, in the order of `COLUMNS`."""
    found = asdict(stored.measurement)
    found["values"] = {name: float(value) for name, value in stored.measurement.values.items()}
    design = {k: v if isinstance(v, str) else float(v) for k, v in stored.design.items()}
    texts = (json.dumps(one) for one in (stored.identity, design, found))
    cells = (stored.number, stored.key, *texts, stored.kept_at)
    return (*cells, checksum(cells))


def read_cells(cells: Cells) -> StoredMeasurement:
    """Return what a row says.

    Raises
    ------
    ValueError
        It does not have its checksum, or its key is not that of its design.
    """
    if checksum(cells[:-1]) != cells[-1]:
        raise ValueError("it does not have its checksum")
    number, name, *texts, kept_at, _ = cells
    identity, design, found = map(json.loads, texts)
    if key(identity, design) != name:
        raise ValueError("its key is not that of its design")
    return StoredMeasurement(
        number=number,
        key=name,
        identity=identity,
        design=design,
        measurement=Measurement(**found),
        kept_at=kept_at,
    )


def time_measuring(rows: Iterable[StoredMeasurement]) -> float:
    """Return the time in seconds during which at least one of some measurements ran.

    From when each was kept and how long it took; waiting between two attempts counts as running,
    and values of other runs do not count.
    """
    ends = [
        (datetime.fromisoformat(row.kept_at).timestamp(), row.measurement.seconds)
        for row in rows
        if row.measurement.attempts
    ]
    total, until = 0.0, -math.inf
    for begin, end in sorted((end - seconds, end) for end, seconds in ends):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def checksum(cells: Cells) -> str:
    """Return SHA-256 of cells: 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps([*cells]).encode()).hexdigest()

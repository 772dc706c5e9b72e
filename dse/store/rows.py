"""One measurement as a row of the store: text that reads back as the same bits, and a checksum."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dse.contract.evaluators import Measurement, Value, key

STORE = "evaluations.sqlite"
TALLY = "evaluations.tally"
STORE_FILES = (STORE, f"{STORE}-wal", f"{STORE}-shm", f"{STORE}-journal", TALLY)
"""What a store has in the folder of a run; the middle three while it is open, or was killed."""


DONE, FAILED, AGAIN = "done", "failed", "again"
"""States of a row: there are values; there are none; it is to be measured again, in any case."""

COLUMNS = {
    "number": "INTEGER PRIMARY KEY",
    "key": "TEXT NOT NULL UNIQUE",
    "identity": "TEXT NOT NULL",
    "design": "TEXT NOT NULL",
    "state": "TEXT NOT NULL",
    "outputs": "TEXT NOT NULL",
    "kind": "TEXT NOT NULL",
    "cause": "TEXT NOT NULL",
    "attempts": "INTEGER NOT NULL",
    "seconds": "TEXT NOT NULL",
    "said": "TEXT NOT NULL",
    "folder": "TEXT NOT NULL",
    "kept_at": "TEXT NOT NULL",
    "checksum": "TEXT NOT NULL",
}
"""Of a row, in this order.  `number` counts from 1 without gaps.  All but `number`, `key`, `state`,
`kind`, `attempts`, `kept_at` and `checksum` are JSON in ASCII, which has any text: also a NUL, and
bytes that are no UTF-8 and came as lone surrogates."""

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
    again
        Whether it is to be measured again.
    kept_at
        When, in UTC and ISO 8601.
    """

    number: int
    key: str
    identity: str
    design: Mapping[str, Value]
    measurement: Measurement
    again: bool
    kept_at: str


def stored_cells(stored: StoredMeasurement) -> tuple[Any, ...]:
    """Return the cells of a row, in the order of `COLUMNS`."""
    found = stored.measurement
    state = AGAIN if stored.again else DONE if found.has_values else FAILED
    cells = (
        stored.number,
        stored.key,
        _json(stored.identity),
        _json({k: v if isinstance(v, str) else float(v) for k, v in stored.design.items()}),
        state,
        _json({name: _written(value) for name, value in found.values.items()}),
        found.kind,
        _json(found.cause),
        int(found.attempts),
        _json(_written(found.seconds)),
        _json(found.said),
        _json(found.folder),
        stored.kept_at,
    )
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
    named = dict(zip(COLUMNS, cells, strict=True))
    identity, design = json.loads(named["identity"]), json.loads(named["design"])
    if key(identity, design) != named["key"]:
        raise ValueError("its key is not that of its design")
    found = Measurement(
        values={name: float(value) for name, value in json.loads(named["outputs"]).items()},
        cause=json.loads(named["cause"]),
        kind=named["kind"],
        attempts=named["attempts"],
        seconds=float(json.loads(named["seconds"])),
        said=json.loads(named["said"]),
        folder=json.loads(named["folder"]),
    )
    return StoredMeasurement(
        number=named["number"],
        key=named["key"],
        identity=identity,
        design=design,
        measurement=found,
        again=named["state"] == AGAIN,
        kept_at=named["kept_at"],
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
    return hashlib.sha256(_json([*cells]).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _written(value: float) -> float | str:
    """Return a number as JSON has it: as the shortest text that reads back as the same bits."""
    return float(value) if math.isfinite(value) else str(float(value))

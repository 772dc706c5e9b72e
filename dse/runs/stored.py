"""The tables of a run on disk: front.csv and evaluations.parquet.  The only user of pyarrow."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import OutputError
from dse.files.csv import as_written, inert
from dse.model.tables import Table

FRONT = "front.csv"
EVALUATIONS = "evaluations.parquet"


def write_front(table: Table, folder: Path) -> None:
    """Write a table as front.csv: numbers as short as they read back, what is missing empty."""
    columns = [map(_cell, values.tolist()) for values in table.values()]
    with (folder / FRONT).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(inert, table))
        writer.writerows(zip(*columns, strict=True))


def write_evaluations(table: Table, folder: Path) -> None:
    """Write a table as evaluations.parquet; what is missing is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [_arrow(values) for values in table.values()]
    pq.write_table(pa.Table.from_arrays(columns, names=[*table]), folder / EVALUATIONS)


def read_evaluations(run: Path) -> Table:
    """Return evaluations.parquet of the run in folder `run`.

    Raises
    ------
    OutputError
        When it cannot be read.
    """
    try:
        return _evaluations(run)
    except (OSError, ValueError) as error:
        raise OutputError(f"{run / EVALUATIONS} cannot be read: {error}") from error


def read_tables(run: Path) -> tuple[Table, Table]:
    """Return front.csv and evaluations.parquet of the run in folder `run`.

    Raises
    ------
    OSError, ValueError, KeyError
        One of them cannot be read, or they do not belong together.
    """
    with (run / FRONT).open(encoding="utf-8", newline="") as stream:
        headers, *rows = csv.reader(stream)
    evaluations = _evaluations(run)
    cells = zip(*rows, strict=True) if rows else [()] * len(headers)
    columns = zip(map(as_written, headers), cells, strict=True)
    return {name: _column(column, evaluations[name]) for name, column in columns}, evaluations


def _evaluations(run: Path) -> Table:
    import pyarrow.parquet as pq

    found = pq.read_table(run / EVALUATIONS)
    return {name: found[name].to_numpy() for name in found.column_names}


def _arrow(values: NDArray[Any]) -> Any:
    """Return a column as an array of pyarrow, made of its buffers.

    The usual `pyarrow.array` imports pandas, which takes longer than all else that a run does.
    """
    import pyarrow as pa

    if values.dtype == object:
        there = np.array([isinstance(value, str) for value in values], dtype=bool)
        texts = [value.encode() if isinstance(value, str) else b"" for value in values]
        starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        kind, parts = pa.large_string(), [starts, b"".join(texts)]
    elif values.dtype == bool:
        there, kind, parts = values | True, pa.bool_(), [_bits(values)]
    else:
        there, kind = values == values, pa.from_numpy_dtype(values.dtype)
        parts = [np.ascontiguousarray(values)]
    buffers = [pa.py_buffer(part) for part in (_bits(there), *parts)]
    return pa.Array.from_buffers(kind, len(values), buffers)


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")


def _cell(value: Any) -> Any:
    """Return what stands in a cell for a value."""
    return inert(value) if isinstance(value, str) else "" if value != value else value


def _column(cells: tuple[str, ...], like: NDArray[Any]) -> NDArray[Any]:
    """Return the cells of a column as numbers or texts, as another column is."""
    if like.dtype.kind in "fi":
        return np.array([float(cell or "nan") for cell in cells]).astype(like.dtype)
    return np.array([as_written(cell) for cell in cells], dtype=object)

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

    columns = {name: pa.array(values, from_pandas=True) for name, values in table.items()}
    pq.write_table(pa.table(columns), folder / EVALUATIONS)


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


def _cell(value: Any) -> Any:
    """Return what stands in a cell for a value."""
    return inert(value) if isinstance(value, str) else "" if value != value else value


def _column(cells: tuple[str, ...], like: NDArray[Any]) -> NDArray[Any]:
    """Return the cells of a column as numbers or texts, as another column is."""
    if like.dtype.kind in "fi":
        return np.array([float(cell or "nan") for cell in cells]).astype(like.dtype)
    return np.array([as_written(cell) for cell in cells], dtype=object)

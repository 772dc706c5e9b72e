"""The tables of a run on disk: front.csv, and evaluations.parquet if pyarrow is installed."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import OutputError, extra_module
from dse.files.csv import as_written, inert
from dse.model import tables
from dse.model.space import Index
from dse.model.tables import Table
from dse.study.overrides import Sweep
from dse.study.study import Study

FRONT = "front.csv"
EVALUATIONS = "evaluations.parquet"

FEASIBLE = "feasible"
"""Column of the evaluations."""

ROW_BYTE, FILE_BYTE = 1 << 16, 1 << 30
"""Longest row of evaluations, and most bytes of a file, unpacked: a row has some 100 numbers of up
to 24 bytes."""

Row = dict[str, str]
"""A line of front.csv: column -> text."""


def has_parquet() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def run_table(parts: Sequence[tuple[Study, Index, Table]], sweep: Sweep | None) -> Table:
    """Return designs of a study at each value of its sweep, with further columns of each part."""
    found = []
    for number, (study, index, more) in enumerate(parts):
        swept: Table = {}
        if sweep is not None:
            value = sweep.values[number]
            kind = object if isinstance(value, str) else float
            swept[sweep.header] = np.full(len(index), value, dtype=kind)
        if len(index):
            found.append(swept | tables.design_table(study.problem, index) | swept | more)
    return tables.join(found)


def write_front(table: Table, folder: Path) -> None:
    """Write a table as front.csv, with the shortest exact numbers and empty missing cells."""
    columns = [map(_cell, values.tolist()) for values in table.values()]
    with (folder / FRONT).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(inert, table))
        writer.writerows(zip(*columns, strict=True))


def _cell(value: Any) -> Any:
    """Return the cell of a value."""
    return inert(value) if isinstance(value, str) else "" if value != value else value


def read_front(run: Path) -> tuple[Row, ...]:
    """Return the rows of front.csv, without the marks of inert cells.

    A row of another length stays as it is, with None among its keys or values.
    """
    with (run / FRONT).open(encoding="utf-8", newline="") as stream:
        try:
            return tuple(map(_as_written, csv.DictReader(stream)))
        except csv.Error as error:
            raise ValueError(f"{FRONT} is not whole: {error}") from error


def _as_written(row: dict[Any, Any]) -> Row:
    if None in row or None in row.values():
        return row
    return {as_written(name): as_written(cell) for name, cell in row.items()}


def write_evaluations(table: Table, folder: Path) -> None:
    """Write a table as evaluations.parquet, without pyarrow not."""
    if has_parquet():
        import pyarrow.parquet

        columns = [_arrow(pyarrow, values) for values in table.values()]
        found = pyarrow.Table.from_arrays(columns, names=[*table])
        pyarrow.parquet.write_table(found, folder / EVALUATIONS)


def read_evaluations(run: Path, rows: int, columns: Collection[str] | None = None) -> Table:
    """Return the evaluations of the run in a folder, with so many `rows` by its manifest.

    Of `columns`, if given, those that are there are read.

    Raises
    ------
    OutputError
        They cannot be read, or are longer than so many rows may be.
    MissingLibraryError
        Pyarrow is not installed.
    """
    path = run / EVALUATIONS
    if not rows and not path.exists():
        return {}
    parquet = extra_module("pyarrow.parquet", f"{path}", "pyarrow", "parquet")
    most = min((rows + 1) * ROW_BYTE, FILE_BYTE)
    try:
        with parquet.ParquetFile(path) as file:
            if 8 * file.metadata.num_rows * file.metadata.num_columns > most:
                raise ValueError(f"it unpacks to more than {most:,} bytes")
            there = [name for name in file.schema_arrow.names if columns is None or name in columns]
            found = file.read(there)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read: {error}") from error
    return {name: _values(found[name]) for name in found.column_names}


def shown_columns(study: Study, sweep: Sweep | None) -> set[str]:
    """Return the columns of evaluations that pictures and pages show: choices and objectives."""
    problem = study.problem
    axes = {tables.axis_column(axis) for axis in problem.space.axes}
    others = {tables.category(problem), sweep.header if sweep else None} - {None}
    return {FEASIBLE, "instances", *axes, *(goal.name for goal in problem.goals), *map(str, others)}


def _arrow(pa: Any, values: NDArray[Any]) -> Any:
    """Return a column as an array of pyarrow without `pyarrow.array`, which imports pandas."""
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


def _values(column: Any) -> NDArray[Any]:
    """Return a column of pyarrow without its `to_numpy`, which imports pandas."""
    return np.array(column.to_pylist(), dtype=column.type.to_pandas_dtype())


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")


def feasible_rows(evaluations: Table) -> Table:
    """Return the evaluated designs that are feasible."""
    if FEASIBLE not in evaluations:
        return {}
    return {name: values[evaluations[FEASIBLE]] for name, values in evaluations.items()}

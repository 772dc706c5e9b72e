"""The tables of a run on disk: front.csv and evaluations.parquet.  The only user of pyarrow.

Where pyarrow is not installed, evaluations are written as compressed CSV; what a run has is read.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from gzip import GzipFile
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from dse.errors import MissingLibraryError, OutputError
from dse.files.csv import as_written, inert
from dse.model.tables import Table
from dse.runs.limits import EVALUATIONS_BYTE, ROW_BYTE

FRONT = "front.csv"
EVALUATIONS = "evaluations.parquet"
EVALUATIONS_CSV = "evaluations.csv.gz"


def has_parquet() -> bool:
    """Tell whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def evaluations_file(run: Path) -> Path:
    """Return the file in the folder `run` that has its evaluations."""
    plain = run / EVALUATIONS_CSV
    return plain if plain.exists() else run / EVALUATIONS


def write_front(table: Table, folder: Path) -> None:
    """Write a table as front.csv: numbers as short as they read back, what is missing empty."""
    _write_csv(table, folder / FRONT)


def write_evaluations(table: Table, folder: Path) -> None:
    """Write a table as evaluations.parquet, or as evaluations.csv.gz; what is missing is null."""
    if not has_parquet():
        _write_csv(table, folder / EVALUATIONS_CSV)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [_arrow(values) for values in table.values()]
    pq.write_table(pa.Table.from_arrays(columns, names=[*table]), folder / EVALUATIONS)


def read_evaluations(run: Path, rows: object) -> Table:
    """Return the evaluations of the run in folder `run`, which is to have kept so many `rows`.

    Raises
    ------
    OutputError
        When they cannot be read, or are longer than so many rows may be.
    MissingLibraryError
        When they are written as Parquet, and pyarrow is not installed.
    """
    try:
        return _evaluations(run, rows)
    except (OSError, ValueError) as error:
        raise OutputError(f"{evaluations_file(run)} cannot be read: {error}") from error


def read_tables(run: Path, rows: object) -> tuple[Table, Table]:
    """Return front.csv and the evaluations of the run in folder `run`, as `read_evaluations`.

    Raises
    ------
    OSError, ValueError, KeyError
        One of them cannot be read, or they do not belong together.
    MissingLibraryError
        See `read_evaluations`.
    """
    front, evaluations = _read_csv(run / FRONT), _evaluations(run, rows)
    return {name: _column(cells, evaluations[name]) for name, cells in front.items()}, evaluations


def _evaluations(run: Path, rows: object) -> Table:
    path = evaluations_file(run)
    most = (
        min((max(rows, 0) + 1) * ROW_BYTE, EVALUATIONS_BYTE)
        if isinstance(rows, int)
        else EVALUATIONS_BYTE
    )
    if path.name == EVALUATIONS_CSV:
        return {name: _guessed(cells) for name, cells in _read_csv(path, most).items()}
    if not has_parquet():
        raise MissingLibraryError(f"{path}", "pyarrow", "parquet")
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        _require(8 * file.metadata.num_rows * file.metadata.num_columns <= most, most)
        found = file.read()
    return {name: found[name].to_numpy() for name in found.column_names}


@contextmanager
def _opened(path: Path, mode: Literal["r", "w"], most: int = EVALUATIONS_BYTE) -> Iterator[TextIO]:
    """Yield a CSV file as text, compressed where its name says so; same text, same bytes.

    What is compressed is read up to a length of `most`.
    """
    with ExitStack() as stack:
        raw: Any = stack.enter_context(path.open(f"{mode}b"))
        if path.suffix == ".gz":
            raw = stack.enter_context(GzipFile("", f"{mode}b", 1, raw, mtime=0))
        if path.suffix == ".gz" and mode == "r":
            raw = BytesIO(raw.read(most + 1))
            _require(len(raw.getbuffer()) <= most, most)
        yield stack.enter_context(TextIOWrapper(raw, encoding="utf-8", newline=""))


def _write_csv(table: Table, path: Path) -> None:
    columns = [map(_cell, values.tolist()) for values in table.values()]
    with _opened(path, "w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(inert, table))
        writer.writerows(zip(*columns, strict=True))


def _require(short: bool, most: int) -> None:
    if not short:
        raise ValueError(f"it unpacks to more than {most:,} bytes, longer than its rows may be")


def _read_csv(path: Path, most: int = EVALUATIONS_BYTE) -> dict[str, Sequence[str]]:
    try:
        with _opened(path, "r", most) as stream:
            headers, *rows = csv.reader(stream)
    except (EOFError, zlib.error, csv.Error) as error:
        raise ValueError(f"{path.name} is not whole: {error}") from error
    cells = zip(*rows, strict=True) if rows else [()] * len(headers)
    return dict(zip(map(as_written, headers), cells, strict=True))


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


def _guessed(cells: Sequence[str]) -> NDArray[Any]:
    """Return the cells of a column as the numbers or flags that would be written like that.

    What is not written so is text, such as a name of ``01``; a text that looks like a number is
    written again as it was.
    """
    if cells and {*cells} <= {"True", "False"}:
        return np.array([cell == "True" for cell in cells])
    for kind in (int, float):
        try:
            values = [kind(cell or "nan") for cell in cells]
        except ValueError:
            continue
        if all(
            _cell(value) == "" or str(value) == cell
            for value, cell in zip(values, cells, strict=True)
        ):
            return np.array(values, dtype=np.int64 if kind is int else float)
    return np.array([as_written(cell) or None for cell in cells], dtype=object)


def _column(cells: Sequence[str], like: NDArray[Any]) -> NDArray[Any]:
    """Return the cells of a column as numbers or texts, as another column is."""
    if like.dtype.kind in "fi":
        return np.array([float(cell or "nan") for cell in cells]).astype(like.dtype)
    return np.array([as_written(cell) for cell in cells], dtype=object)

"""A run on disk: front.csv, evaluations.parquet and the manifest, which has checksums of them.

Without pyarrow, evaluations are compressed CSV.  Checksums of all files and of the entries of the
manifest reveal accidents and edits.  They are no signature: with new checksums, only changes that
contradict study and front are found.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from gzip import GzipFile
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from dse.errors import MissingLibraryError, OutputError
from dse.files.csv import as_written, inert
from dse.files.json import jsonable, read_bytes, read_json, write_text
from dse.model.tables import EQUALS, Table
from dse.runs.limits import EVALUATIONS_BYTE, ROW_BYTE

FRONT = "front.csv"
EVALUATIONS = "evaluations.parquet"
EVALUATIONS_CSV = "evaluations.csv.gz"


def has_parquet() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def evaluations_file(run: Path) -> Path:
    """Return the file of the evaluations in the folder of a run."""
    plain = run / EVALUATIONS_CSV
    return plain if plain.exists() else run / EVALUATIONS


def write_front(table: Table, folder: Path) -> None:
    """Write a table as front.csv, with the shortest exact numbers and empty missing cells."""
    _write_csv(table, folder / FRONT)


def write_evaluations(table: Table, folder: Path) -> None:
    """Write a table as evaluations.parquet or evaluations.csv.gz."""
    if not has_parquet():
        _write_csv(table, folder / EVALUATIONS_CSV)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [_arrow(values) for values in table.values()]
    pq.write_table(pa.Table.from_arrays(columns, names=[*table]), folder / EVALUATIONS)


def read_evaluations(run: Path, rows: object) -> Table:
    """Return the evaluations of the run in a folder, with so many `rows` by its manifest.

    Raises
    ------
    OutputError
        They cannot be read, or are longer than so many rows may be.
    MissingLibraryError
        They are Parquet, and pyarrow is not installed.
    """
    try:
        return _evaluations(run, rows)
    except (OSError, ValueError) as error:
        raise OutputError(f"{evaluations_file(run)} cannot be read: {error}") from error


def read_tables(run: Path, rows: object) -> tuple[Table, Table]:
    """Return front.csv and the evaluations of a run, as `read_evaluations`.

    Raises
    ------
    OSError, ValueError, KeyError
        One of them cannot be read, or they do not belong together.
    """
    front, evaluations = _read_csv(run / FRONT), _evaluations(run, rows)
    known = {
        name: _column(cells, evaluations[name]) for name, cells in front.items() if name != EQUALS
    }
    counted = {EQUALS: _guessed(front[EQUALS])} if EQUALS in front else {}
    return known | counted, evaluations


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
    """Yield a CSV file as text, compressed by its name, up to a length of `most`.

    Equal texts have equal bytes.
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
    """Return a column as an array of pyarrow without `pyarrow.array`, which imports pandas."""
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
    """Return the cell of a value."""
    return inert(value) if isinstance(value, str) else "" if value != value else value


def _guessed(cells: Sequence[str]) -> NDArray[Any]:
    """Return a column as the numbers or flags with these exact texts, otherwise as texts."""
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
    """Return a column as numbers or texts, like another column."""
    if like.dtype.kind in "fi":
        return np.array([float(cell or "nan") for cell in cells]).astype(like.dtype)
    return np.array([as_written(cell) for cell in cells], dtype=object)


CHECKSUMS = "checksums"
"""The entry of a manifest with those of ``files`` and ``entries`` by name, ``sizes`` of files in
bytes, and ``both``, the checksum of these."""

FORMAT = 3
"""Format of the folder of a run."""

MANIFEST = "manifest.json"
"""The record of a run.  In its hidden folder it names the process that writes, and at the end it is
completed with the results."""

RUNNING = "running"


def begin_manifest(path: Path, **facts: Any) -> None:
    """Write the record of a run that begins, or nothing on a full disk."""
    who = {"state": RUNNING, "process": os.getpid(), "host": platform.node(), "since": time.time()}
    with suppress(OutputError):  # the next file on a full disk reports it
        write_text(path, json.dumps(who | facts))


def begun_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the record of a run that is written in a hidden folder, if there is one."""
    try:
        found = read_json(folder / MANIFEST)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("state") == RUNNING else {}


def with_checksums(manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a manifest with the checksums of its entries and of the other files in `folder`."""
    plain = {name: value for name, value in manifest.items() if name != CHECKSUMS}
    files = {name: read_bytes(folder / name) for name in _names(folder)}
    sums = {
        "files": {name: _hash(content) for name, content in files.items()},
        "sizes": {name: len(content) for name, content in files.items()},
        "entries": {name: _digest(value) for name, value in plain.items()},
    }
    return plain | {CHECKSUMS: sums | {"both": _digest(sums)}}


def files_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checksums of the files that a run wrote, by name."""
    return _of_kind(manifest, "files")


def changed_files(
    manifest: Mapping[str, Any], folder: Path, but: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the changed files of a run by their checksums, except those with some ends."""
    sizes = _of_kind(manifest, "sizes")
    for name, sum_ in _of_kind(manifest, "files").items():
        path = folder / name
        if name.endswith(but):
            continue
        if not path.is_file():
            yield f"{name} is missing"
            continue
        length = path.stat().st_size
        if length > EVALUATIONS_BYTE:
            yield f"{name} has {length:,} bytes, more than the {EVALUATIONS_BYTE:,} of a run"
        elif length != sizes.get(name, length) or _hash(read_bytes(path)) != sum_:
            yield f"{name} is not the file that the run wrote"


def changed_entries(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changed entries of a manifest by their checksums."""
    recorded = _of_kind(manifest, "entries")
    sums = {kind: _of_kind(manifest, kind) for kind in ("files", "sizes", "entries")}
    if CHECKSUMS not in manifest:
        yield f"{CHECKSUMS} are missing from the manifest"
        return
    if manifest[CHECKSUMS] != sums | {"both": _digest(sums)}:
        yield f"{CHECKSUMS} of the manifest are not what the run wrote"
    for name, sum_ in recorded.items():
        if name not in manifest:
            yield f"{name} is missing from the manifest"
        elif _digest(manifest[name]) != sum_:
            yield f"{name} of the manifest is not what the run wrote"
    for name in manifest:
        if name not in recorded and name != CHECKSUMS:
            yield f"{name} of the manifest was not written by the run"


def _of_kind(manifest: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the checksums of one kind, if there are any."""
    whole = manifest.get(CHECKSUMS)
    found = whole.get(key) if isinstance(whole, dict) else None
    return found if isinstance(found, dict) else {}


def _names(folder: Path) -> list[str]:
    """Return the files of a run without its manifest, sorted."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted({path.relative_to(folder).as_posix() for path in files} - {MANIFEST})


def _digest(value: Any) -> str:
    """Return the checksum of plain data, independent of the order of keys."""
    text = json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"))
    return _hash(text.encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

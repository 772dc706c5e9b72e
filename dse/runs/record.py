"""The files of a run: its record, manifest.json, with the one door to it, and its two tables.

Checksums of all files and of the entries reveal accidents and edits.  They are no signature: with
new checksums, only changes that contradict study and front are found.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dse.errors import OutputError, extra_module
from dse.files.csv import as_written, inert
from dse.files.inputs import INPUTS
from dse.files.json import jsonable, read_bytes, read_json, write_text
from dse.files.whole_folders import under_way, waiting_for
from dse.model import tables
from dse.model.space import Index
from dse.model.tables import Table
from dse.runs.manifest import FEASIBLE, FORMAT
from dse.study.measuring import MEASURING, STORE
from dse.study.overrides import Sweep
from dse.study.study import Study

FRONT = "front.csv"
EVALUATIONS = "evaluations.parquet"

ROW_BYTE, FILE_BYTE = 1 << 16, 1 << 30
"""Longest row of evaluations, and most bytes of a file, unpacked: a row has some 100 numbers of up
to 24 bytes."""

Row = dict[str, str]
"""A line of front.csv: column -> text."""

MANIFEST = "manifest.json"
"""The record of a run.  In its hidden folder it names the process that writes, and at the end it is
completed with the results."""

CHECKSUMS = "checksums"
"""The entry of a manifest with the checksums of all others.  ``files`` lists them by file."""

READ = (FRONT, EVALUATIONS)
"""Files of a run that commands read, besides its manifest, the copies of tables, and the store,
whose rows have checksums."""

DRAWN = (".png", ".svg", ".html")
"""Ends of the names of files that no command reads."""

_Whole: TypeAlias = Annotated[int, Field(gt=-(1 << 1023), lt=1 << 1023)]
"""A whole number that is also a float."""
_Count: TypeAlias = Annotated[_Whole, Field(ge=0)]
_Number: TypeAlias = float | _Whole | Literal["inf", "-inf"] | None
"""A number in JSON: NaN is null, and an infinity is text."""
_Ends: TypeAlias = Annotated[list[float | _Whole], Field(min_length=2, max_length=2)]
_Sha256: TypeAlias = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
_Ledger: TypeAlias = dict[Literal["evaluated", "infeasible", "failed", "unknown", "pruned"], _Count]
_Copy: TypeAlias = Annotated[str, Field(pattern=rf"\A{INPUTS}/[^/\\\x00]+\z")]


class _Entries(BaseModel):
    """Entries of JSON of exact types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class _Begun(_Entries):
    """The entries of a run from its first second until it ends: the process that writes it."""

    state: Literal["running"]
    process: int
    host: str
    since: float
    study_file: str


class _Copied(_Entries):
    """The copy of a file that a study names."""

    copy_: _Copy = Field(alias="copy")
    sha256: _Sha256


class _Written(_Entries):
    """A file of the run."""

    bytes_: _Count = Field(alias="bytes")
    sha256: _Sha256


class _Recommended(_Entries):
    """The recommended design, and its row of front.csv."""

    row: Annotated[int, Field(ge=1, lt=1 << 62)]
    design: str
    rule: str
    ranges: dict[str, _Ends] = {}
    omitted: dict[str, list[str]] = {}


class _FrontEntries(_Entries):
    """The entries of one front."""

    front: _Count
    exact: bool
    reference_point: dict[str, _Number]
    hypervolume: _Number
    hypervolume_error: _Number
    hypervolume_share_of_exact: _Number
    hypervolume_share_at_least: _Number
    hypervolume_share_error: _Number
    recommended: _Recommended | None


class _Point(_FrontEntries):
    """The entries of one value of a sweep."""

    value: str | float | _Whole | bool


class _Certificate(_Entries):
    """The account of the designs of a space."""

    way: list[str]
    reason: list[str]
    unfinished: list[str]
    designs: _Count
    evaluated: _Count
    pruned_as_dominated: _Count
    pruned_as_infeasible: _Count
    pruned_by: dict[str, _Count]
    evaluated_as_reference: _Count
    floats: str


class _Measured(_Entries):
    """The account of measurements, of which the first `stored` rows of the store are this run's."""

    identity: str
    stored: _Count
    designs: _Count
    measured_anew: _Count
    infeasible: _Count
    failed: _Count
    causes: dict[str, _Count]


class _Manifest(_Entries):
    """The entries of every manifest of a run that has ended."""

    format: int
    question: str
    study: str
    study_file: str
    study_sha256: _Sha256
    overrides: dict[str, Any]
    inputs: dict[str, _Copied]
    objectives: dict[str, Literal["minimise", "maximise"]] = Field(min_length=1)
    constraints: list[str]
    designs: _Count
    versions: dict[str, str]
    method: str
    options: dict[str, Any] = {}
    seed: _Count
    evaluated: _Count
    feasible: _Count
    failed: _Count
    failure: str
    feasible_in_space: _Count | None
    interrupted: bool
    exact: bool
    ledger: _Ledger = Field(min_length=5)
    unmet: list[str] = []
    growth: dict[Literal["evaluations", "share"], list[_Number]] = {}
    certificate: _Certificate
    wall_s: float | _Whole
    evaluations_stored: _Count
    front: _Count
    notes: list[str]
    measured: _Measured | None = None
    sources: list[dict[str, str | list[str]]]
    files: dict[str, _Written]
    checksums: dict[str, _Sha256]


class _PlainManifest(_Manifest, _FrontEntries):
    """The manifest of a run without a sweep."""


class _SweptManifest(_Manifest):
    """The manifest of a run with a sweep, with a point for each value."""

    sweep: str
    points: list[_Point] = Field(min_length=1)


_RULES = {"missing": "is missing", "extra_forbidden": "is no entry that a run writes"}


def _require_entries(found: Any) -> None:
    """Raise `ValueError` for an entry of a manifest of another type."""
    if not isinstance(found, dict):
        raise ValueError("its manifest holds no entries")
    try:
        (_SweptManifest if "sweep" in found else _PlainManifest).model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path, rule = ".".join(map(str, first["loc"])), _RULES.get(first["type"])
        line = f"{path} {rule}" if rule else f"{path}: {first['msg']}"
        raise ValueError(f"{MANIFEST}: {line}") from error


def begin_manifest(path: Path, study_file: str) -> None:
    """Write the record of a run that begins, or nothing on a full disk."""
    who = {"process": os.getpid(), "host": platform.node(), "since": time.time()}
    with suppress(OutputError):  # the next file on a full disk reports it
        write_text(path, json.dumps({"state": "running", **who, "study_file": study_file}))


def begun_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the record of a run that is written in a hidden folder, if there is one."""
    with suppress(OSError, ValueError):
        return _Begun.model_validate(read_json(folder / MANIFEST)).model_dump()
    return {}


def with_checksums(manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a manifest with the checksums of its entries and of the other files in `folder`."""
    contents = {
        path.relative_to(folder).as_posix(): read_bytes(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.relative_to(folder).parts[0].startswith((MANIFEST, STORE, MEASURING))
    }
    files = {name: {"bytes": len(text), "sha256": _hash(text)} for name, text in contents.items()}
    plain = {name: value for name, value in manifest.items() if name != CHECKSUMS}
    plain["files"] = files
    return plain | {CHECKSUMS: {name: _digest(value) for name, value in plain.items()}}


def changed_files(
    manifest: Mapping[str, Any], folder: Path, but: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the changed files of a run by their checksums, except those with some ends."""
    for name, said in manifest["files"].items():
        path = folder / name
        if name.endswith(but):
            continue
        if not path.is_file():
            yield f"{name} is missing"
        elif (length := path.stat().st_size) > FILE_BYTE:
            yield f"{name} has {length:,} bytes, more than the {FILE_BYTE:,} of a run"
        elif length != said["bytes"] or _hash(read_bytes(path)) != said["sha256"]:
            yield f"{name} is not the file that the run wrote"
    for name in READ:
        if name not in manifest["files"] and (folder / name).exists():
            yield f"{name} was not written by the run"


def changed_entries(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changed entries of a manifest by their checksums."""
    recorded = manifest[CHECKSUMS]
    for name in dict.fromkeys([*recorded, *manifest]):
        if name == CHECKSUMS:
            continue
        if name not in manifest:
            yield f"{name} is missing from the manifest"
        elif name not in recorded:
            yield f"{name} of the manifest was not written by the run"
        elif _digest(manifest[name]) != recorded[name]:
            yield f"{name} of the manifest is not what the run wrote"


def _digest(value: Any) -> str:
    """Return the checksum of plain data, independent of the order of keys."""
    text = json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"))
    return _hash(text.encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_manifest(folder: Path, *, changed: bool = False) -> dict[str, Any]:
    """Return the manifest of the run in a folder: the one door to folders of runs.

    A folder is data: no pipe or device is read, and no file longer than the run wrote it.  It is an
    `OutputError` if it is no run, or has changed since: with `changed`, the caller reports changes.
    """
    try:
        found = read_json(folder / MANIFEST)
        _require_format(found, folder)
        _require_entries(found)
        for path in (folder / name for name in READ):
            if os.path.lexists(path) and not path.is_file():
                raise ValueError(f"{path.name} is not a file")
            if path.exists() and path.stat().st_size > FILE_BYTE:
                raise ValueError(f"{path.name} has more than {FILE_BYTE:,} bytes")
    except (OSError, ValueError) as error:
        raise not_a_run(folder, error) from error
    if not changed:
        wrong = [*changed_entries(found), *changed_files(found, folder, but=DRAWN)]
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise OutputError(
                f"{folder} was changed since it was run: {wrong[0]}{more}; run the study again, or "
                f"see all with: dse verify {folder}"
            )
        chosen = (one["recommended"] for one in found.get("points", [found]))
        row = max((one["row"] for one in chosen if one is not None), default=0)
        if row > found["front"]:
            rule = f"recommended.row is {row}, and the front has {found['front']} rows"
            raise not_a_run(folder, ValueError(f"{MANIFEST}: {rule}"))
    return dict(found)


def _require_format(found: Any, folder: Path) -> None:
    """Raise `OutputError` for a manifest of another version."""
    written = found.get("format", 1) if isinstance(found, dict) else FORMAT
    if isinstance(written, int) and written != FORMAT:
        age, update = ("a later", "update dse, or ") if written > FORMAT else ("an earlier", "")
        raise OutputError(
            f"{folder} was written by {age} version of dse (format {written}; this one reads "
            f"{FORMAT}); {update}run its study again"
        )


def not_a_run(folder: Path, error: Exception) -> OutputError:
    """Return the error for a folder that is no run, with the place of one nearby."""
    goes_on = (under_way(folder) or (folder, False))[1] and not folder.exists()
    if goes_on or ((folder / STORE).is_file() and not (folder / MANIFEST).exists()):
        return OutputError(
            f"{str(folder)!r} is a run that is not finished; dse status {folder} says how far it is"
        )
    reason, remedy = f"is not the folder of a run ({error})", "name one that `dse run` wrote"
    if not folder.exists():
        reason = "does not exist"
    elif not folder.is_dir():
        reason = "is a file; it is not the folder of a run"
    elif isinstance(error, FileNotFoundError) and error.filename:
        reason = f"is not the folder of a run: it has no {Path(error.filename).name}"
    with suppress(OSError):
        for path in sorted(folder.glob(f"[!.]*/{MANIFEST}"))[:1]:
            remedy = f"did you mean {path.parent}?"
    for left in waiting_for(folder)[:1]:
        remedy = f"a run that was killed left it whole: {left}"
    return OutputError(f"{str(folder)!r} {reason}; {remedy}")


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
    It is an `OutputError` if they cannot be read, or are longer than so many rows may be.
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
    goals = (goal.name for goal in problem.goals)
    return {FEASIBLE, "instances", *axes, *goals, *map(str, others)}


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

"""Measurements in the folder of a run: a table of SQLite with a checksum a row, row 0 the run."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from dse import search
from dse.contract.evaluators import Measurement, Ranges, RecordedEvaluator, Value
from dse.errors import InfeasibleError, OutputError, StoreError, StudyError, shortened, visible
from dse.files.document import EVALUATE, IN_MEMORY, Document
from dse.files.json import jsonable
from dse.files.whole_folders import WorkingFolder, flush
from dse.files.yaml import flow_yaml
from dse.reports.text import plural
from dse.runs.measurements import retry_text
from dse.runs.record import MANIFEST
from dse.runs.runner import inputs_of, points_of
from dse.study import study
from dse.study.goals import Options
from dse.study.measuring import (
    MEASURING,
    STORE,
    STORE_FILES,
    RunRecord,
    RunSearch,
    StoredMeasurement,
    StoredRun,
    time_measuring,
)
from dse.study.overrides import Sweep, sweep_of

APPLICATION = 0x44534531
"""Mark of an SQLite file that is a store (``DSE1`` in ASCII)."""

VERSION = 6
"""Version of the schema."""

SCHEMA = (
    "CREATE TABLE evaluations (number INTEGER PRIMARY KEY, content TEXT NOT NULL, "
    "checksum TEXT NOT NULL)"
)
"""Measurements are numbered from 1 without gaps, and row 0 is the record of the run.  Content is
JSON, in which a lone surrogate is a question mark."""

_MOST_BYTE = 1 << 32
"""Largest file of a store: some million measurements."""

WRITER_WAIT_S = 60.0
"""Longest time to wait for another process that writes."""

COPY = "put back a copy of it, or remove it and begin again"

_ROWS: tuple[TypeAdapter[Any], ...] = (TypeAdapter(StoredMeasurement), TypeAdapter(RunRecord))
"""Types of the rows from 1 on, and of row 0."""


def open_store(folder: Path) -> Store:
    """Return the store in the folder of a run for writing, a new one if there is none.

    All of it is read and checked: some 20 microseconds a row.  It is a `StoreError` if the store is
    damaged, of another program or version, cannot be written, or is on a network file system.
    """
    path = folder / STORE
    _require_files(folder)
    with _errors_of(path):
        if is_remote(folder):
            raise StoreError(
                f"{path} would be on a network file system, where locks and flushes cannot be "
                f"relied on; name a folder on a local disk"
            )
        if not path.exists():
            _make(path)
        # each transaction is on disk when it ends, and readers delay no one:
        # https://www.sqlite.org/wal.html, and "FULL" of https://www.sqlite.org/pragma.html
        return _opened(path, "mode=rw", "journal_mode = WAL", "synchronous = FULL")


def open_to_read(folder: Path) -> Store:
    """Return the store in a folder for reading, even while another process writes to it.

    SQLite recovers a store after a kill if it may be written.  Otherwise it must have been closed,
    without a log.  It is a `StoreError` if there is none, it is damaged or of another version.
    """
    path = folder / STORE
    _require_files(folder)
    if not path.is_file():
        raise StoreError(f"{folder} has no {STORE}; name the folder of a run that measures designs")
    with _errors_of(path):
        log = path.with_name(f"{STORE}-wal")
        written = all(os.access(each, os.W_OK) for each in (folder, path))
        if not written and log.exists() and log.stat().st_size:
            raise StoreError(
                f"{path} was not closed by the program that wrote it, and cannot be read in a "
                f"folder that may not be written; copy its folder to one that may"
            )
        mode = "mode=rw" if written else "mode=ro&immutable=1"
        return _opened(path, mode, "query_only = ON")


def is_remote(folder: Path) -> bool:
    """Return whether a folder is on a network file system, as far as `df` knows."""
    command = ["df", "--local", "--", str(folder.absolute())]
    with suppress(OSError):
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return "no file systems processed" in done.stderr
    return False


def _require_files(folder: Path) -> None:
    """Raise an error for a pipe, a device or a folder in place of a file, or one too long."""
    for name in STORE_FILES:
        path = folder / name
        if os.path.lexists(path) and not path.is_file():
            raise StoreError(f"{path} is not a file; remove it, or name another folder")
        if path.exists() and path.stat().st_size > _MOST_BYTE:
            raise _damaged(path, f"it has more than {_MOST_BYTE:,} bytes")


def _make(path: Path) -> None:
    """Make a store with its table, or none."""
    new = path.with_name(f"{STORE}-new")
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    new.replace(path)
    flush(path.parent)


def _opened(path: Path, mode: str, *settings: str) -> Store:
    """Return a store, with settings of SQLite after a check of every page and row."""
    place = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(place, uri=True, timeout=WRITER_WAIT_S, isolation_level=None)
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}")
        _check(path, connection)
        store = Store(path, connection)
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
        return store
    except BaseException:
        connection.close()
        raise


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Raise an error if a database is no store, of another version, or incomplete."""
    application, version, found = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version", "integrity_check(1)")
    )
    if application != APPLICATION:
        raise StoreError(
            f"{path} is no store of measurements; name another folder, or move it away"
        )
    if version != VERSION:
        raise StoreError(
            f"{path} has version {version} of the schema, and this program knows {VERSION}; "
            f"use the program that wrote it, or remove it and begin again"
        )
    tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
    if found != "ok" or tables != [(SCHEMA,)]:
        raise _damaged(path, found if found != "ok" else "its tables are not those of a store")


def _damaged(path: Path, found: object) -> StoreError:
    reason = " ".join(str(found).split())
    return StoreError(f"{path} is damaged: {reason}; {COPY}")


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the system into errors with a remedy."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        full = "full" in reason or "space" in reason
        remedy = "free some space" if full else "name another folder, or repair this one"
        remedy += " and go on with --resume (`resume` in Python)"
        raise StoreError(f"{path} cannot be used: {reason}; {remedy}") from error
    except (sqlite3.Error, ValueError, MemoryError) as error:
        raise _damaged(path, error or "it asks for too much memory") from error


class Store(AbstractContextManager["Store"]):
    """Measurements on disk, as a context that closes them.

    They are `found` by `dse.contract.evaluators.key`, in their order.  The `record` of the run is
    None before it begins.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Read everything, or raise `StoreError` for a row that is missing or wrong."""
        self.path, self.connection = path, connection
        self.found: dict[str, StoredMeasurement] = {}
        self.record: RunRecord | None = None
        for cells in connection.execute("SELECT * FROM evaluations ORDER BY number"):
            number = len(self.found) + 1
            if cells[0] not in (0, number):
                raise _damaged(path, f"row {number} is missing")
            try:
                row = read_cells(cells)
                if isinstance(row, RunRecord):
                    self.record = row
                else:
                    self.found[row.key] = row
            except (ValueError, TypeError, RecursionError) as error:
                raise _damaged(path, f"row {cells[0]}: {error}") from error

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the store, and leave only the database of its files."""
        self.connection.close()

    def __len__(self) -> int:
        """Return the number of measurements."""
        return len(self.found)

    def keep(self, rows: Iterable[StoredMeasurement]) -> None:
        """Store all new measurements, or none, on disk before this returns.

        If the disk refuses, the store is closed, as one of its pages may be in the memory of the
        system only.  Earlier rows stay.
        """
        new = {row.key: row for row in rows if row.key not in self.found}
        numbered = enumerate(new.values(), len(self) + 1)
        self._write("INSERT", [stored_cells(number, row) for number, row in numbered])
        self.found |= new

    def describe(self, record: RunRecord) -> None:
        """Store the record of the run."""
        self._write("INSERT OR REPLACE", [stored_cells(0, record)])
        self.record = record

    def copy_to(self, folder: Path) -> None:
        """Copy the store to a folder without one, on disk before this returns."""
        target = folder / STORE
        with _errors_of(target), closing(sqlite3.connect(target)) as copy:
            self.connection.backup(copy)
        flush(target)
        flush(folder)

    def _write(self, how: str, rows: Sequence[Sequence[Any]]) -> None:
        try:
            with _errors_of(self.path), self.connection as connection:  # all of it, or nothing
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(f"{how} INTO evaluations VALUES (?, ?, ?)", rows)
        except StoreError:
            self.close()
            raise


def stored_cells(number: int, row: StoredMeasurement | RunRecord) -> tuple[int, str, str]:
    """Return the cells of a row: number, content, and their SHA-256 as 64 hexadecimal digits."""
    text = json.dumps(asdict(row), ensure_ascii=False).encode(errors="replace").decode()
    return number, text, hashlib.sha256(f"{number} {text}".encode()).hexdigest()


def read_cells(cells: Sequence[Any]) -> StoredMeasurement | RunRecord:
    """Return the measurement in some cells, or the record of the run in those of row 0.

    It is a `ValueError` if the checksum is wrong, or the content is no such row.
    """
    number, text, checksum = cells
    if hashlib.sha256(f"{number} {text}".encode()).hexdigest() != checksum:
        raise ValueError("it does not have its checksum")
    found: StoredMeasurement | RunRecord = _ROWS[number == 0].validate_python(json.loads(text))
    return found


@dataclass
class StoreCache:
    """Measurements of one evaluator, as a `dse.contract.evaluators.MeasurementCache`.

    Values of other runs, `lent`, are copied to `store` when they are requested, with 0 attempts.
    Values outside the `ranges` of this run are not.
    """

    store: Store
    lent: Mapping[str, StoredMeasurement]
    identity: str
    ranges: Ranges = field(default_factory=dict)

    def known(self, keys: Sequence[str]) -> dict[str, Measurement]:
        """Return the stored measurements among these keys."""
        own = self.store.found
        lent = [self.lent[name] for name in keys if name in self.lent and name not in own]
        held = [row for row in lent if self._holds(row.measurement)]
        pairs = [(row.design, replace(row.measurement, attempts=0)) for row in held]
        if pairs:
            self.store.keep(stored_rows(self.identity, pairs))
        return {name: own[name].measurement for name in keys if name in own}

    def _holds(self, found: Measurement) -> bool:
        inside = (low <= found.values[name] <= high for name, (low, high) in self.ranges.items())
        return found.has_values and all(inside)

    def keep(
        self, found: Mapping[str, Measurement], designs: Mapping[str, Mapping[str, Value]]
    ) -> None:
        """Store measurements and their designs, on disk before this returns."""
        self.store.keep(stored_rows(self.identity, ((designs[n], found[n]) for n in found)))


def stored_rows(
    identity: str, found: Iterable[tuple[Mapping[str, Value], Measurement]]
) -> Iterator[StoredMeasurement]:
    """Yield designs with their measurements by an evaluator as rows of this moment."""
    now = time.time()
    for design, one in found:
        yield StoredMeasurement(identity=identity, design=design, measurement=one, kept_at=now)


_SAME = ("study", "search", "identity", "inputs")
"""Entries of the record that a resumed run shares with the earlier one."""


def rows_in(folder: Path) -> Sequence[StoredMeasurement]:
    """Return the measurements in the folder of a run, none without a store."""
    if not os.path.lexists(folder / STORE):
        return ()
    with open_to_read(folder) as store:
        return tuple(store.found.values())


def run_record(document: Document, options: Options) -> RunRecord:
    """Return the record of a run."""
    sweep = sweep_of(document)
    prepared = study.prepare(points_of(document, sweep)[0])
    measured, settings = prepared.problem.measured, options.apply(prepared.settings)
    if measured is None:
        raise TypeError("a run of models keeps no record before its end")
    search.check_search(prepared.problem, settings)  # before a folder is made
    data = {name: part for name, part in document.data.items() if name != "search"}
    if isinstance(data.get(EVALUATE), dict):  # their number makes no difference
        data[EVALUATE] = {n: each for n, each in data[EVALUATE].items() if n != "workers"}
    found = RunRecord(
        study=data,
        search=RunSearch(**{one.name: getattr(settings, one.name) for one in fields(RunSearch)}),
        identity=measured.setup.evaluator.identity,
        inputs={name: entry.sha256 for name, entry in inputs_of([prepared]).items()},
        question=prepared.question,
        text=document.text,
        file=document.file if document.file == IN_MEMORY else os.path.abspath(document.file),
        overrides=[(path, str(value)) for path, value in document.overrides],
        planned=_planned(prepared, settings, sweep),
        unit_names=dict(measured.setup.unit_names),
        arguments=[*_arguments(options)],
    )
    plain = json.loads(json.dumps(jsonable(asdict(found))))
    return cast(RunRecord, _ROWS[1].validate_python(plain))  # as it is read back


def _planned(prepared: study.Study, settings: search.SearchSettings, sweep: Sweep | None) -> int:
    """Return the most designs that are measured, at all values of a sweep."""
    problem, measured = prepared.problem, prepared.problem.measured
    size = measured.size(problem.space) if measured else 0
    each = min(search.planned(problem, settings), size)
    if sweep is None or measured is None:
        return each
    own = {problem.space.axes[place].name for place in measured.axes}
    different = sweep.path.removeprefix("axes.") in own  # each value has other designs
    return each * len(sweep.values) if different else min(each * len(sweep.values), size)


def _arguments(options: Options) -> Iterator[str]:
    for name in ("method", "seed", "budget", "workers", "dask"):
        if (value := getattr(options, name)) is not None:
            yield from (f"--{name}", str(value))
    for folder in options.reuse:
        yield from ("--reuse", os.path.abspath(folder))


def resume_command(record: RunRecord, folder: Path) -> str:
    """Return the command that resumes a run, or the call if a function of Python measures."""
    section = record.study.get(EVALUATE)
    named = isinstance(section, dict) and {"command", "function"} & section.keys()
    if record.file == IN_MEMORY or not named:
        return f"dse.run(..., out={str(folder)!r}, resume=True), otherwise called as before"
    file = os.path.relpath(record.file)
    overrides = [f"--set={path}={value}" for path, value in record.overrides]
    known = record.file if file.startswith("..") else file
    command = ["dse", "run", known, *overrides, *record.arguments, "--out", str(folder)]
    return shlex.join([*command, "--resume"])


@contextmanager
def kept_run(
    place: WorkingFolder, document: Document, options: Options
) -> Iterator[tuple[Document, Options, str]]:
    """Yield a study whose measurements are kept, its options, and the command that resumes it.

    The note of an error that ends it has the command.  It is an `OutputError` if the folder has
    measurements, and `options` does not resume, or the study is another one.
    """
    record, folder = run_record(document, options), place.place
    resume = resume_command(record, place.target)
    if not options.resume and (count := len(rows_in(folder))):
        state = "a" if (folder / MANIFEST).is_file() else "an unfinished"
        raise OutputError(
            f"{place.target} holds {plural(count, 'measurement')} of {state} run; go on with it: "
            f"{resume}; or name another --out, or remove the folder (`out` in Python)"
        )
    lent: dict[str, StoredMeasurement] = {}
    for other in reversed(options.reuse):  # what failed there is tried again
        with open_to_read(other) as store:
            lent |= {n: row for n, row in store.found.items() if row.measurement.has_values}
    made = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with open_store(folder) as store:
            _require_same(store, record, place.target)
            spent_s = time_measuring(store.found.values())
            inside = replace(options, folder=folder / MEASURING, spent_s=spent_s)
            try:
                yield replace(document, caches=partial(StoreCache, store, lent)), inside, resume
            except BaseException as error:
                _note_how_to_go_on(error, folder, resume)
                raise
    finally:
        _remove_if_empty(folder, made)


def _require_same(store: Store, record: RunRecord, folder: Path) -> None:
    """Store the record of a run, or raise `OutputError` with each changed field of another run."""
    new = asdict(record)
    old = asdict(store.record) if store.record and len(store) else new
    changed = [line for name in _SAME for line in _changes(name, old[name], new[name])]
    if not changed:
        store.describe(record)
        return
    held, reuse, named = plural(len(store), "measurement"), "", ""
    means = f"what measures has changed, so that its {held} no longer hold: all is measured again"
    if old["identity"] == new["identity"]:
        reuse, named = f"--reuse {shlex.quote(str(folder))} ", "`reuse` and "
        means = f"what measures is the same, so that its {held} hold"
    lines = "\n".join(f"  {line}" for line in changed)
    raise OutputError(
        f"{folder} holds a run that was started otherwise; what changed:\n{lines}\n{means}; undo "
        f"the changes, or run the changed study in a folder of its own: {reuse}--out NEW "
        f"({named}`out` in Python)"
    )


def _changes(path: str, before: Any, after: Any) -> Iterator[str]:
    """Yield a line ``search.budget: 100 -> 200`` for each changed field of plain data."""
    if path == "identity" and isinstance(before, str):
        before, after = json.loads(before), json.loads(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            yield from _changes(f"{path}.{name}".lstrip("."), before.get(name), after.get(name))
        return
    texts = ["not set" if one is None else flow_yaml(one) for one in (before, after)]
    if texts[0] != texts[1]:
        yield f"{path}: " + " -> ".join(visible(shortened(text)) for text in texts)


def _note_how_to_go_on(error: BaseException, folder: Path, command: str) -> None:
    if isinstance(error, InfeasibleError | StudyError):
        return
    kept, in_vain = "what was measured is", getattr(error, "way", "") == search.FAILING
    with suppress(StoreError):  # after an error of the disk
        if not (rows := rows_in(folder)):
            return
        kept = f"{plural(len(rows), 'measurement')} {'is' if len(rows) == 1 else 'are'}"
        in_vain |= all(row.measurement.failed for row in rows)  # so it would end again
    error.add_note(f"{kept} kept; {retry_text(folder) if in_vain else f'go on with: {command}'}")


def _remove_if_empty(folder: Path, made: Sequence[Path]) -> None:
    """Remove a store without measurements, and the folders that were made for it."""
    with suppress(OSError, StoreError):
        if not rows_in(folder):
            for name in STORE_FILES:
                (folder / name).unlink(missing_ok=True)
            shutil.rmtree(folder / MEASURING, ignore_errors=True)
            for each in made:
                each.rmdir()


def carry(run: Path | None, recorded: RecordedEvaluator, fresh: Path) -> int:
    """Copy the measurements in the folder of a run, or else `recorded` ones, to a new folder.

    Returns their number.
    """
    if run is not None and (run / STORE).is_file():
        with open_to_read(run) as store:
            store.copy_to(fresh)
            count = len(store)
        if (run / MEASURING).is_dir():
            shutil.copytree(run / MEASURING, fresh / MEASURING, ignore=_odd, symlinks=True)
        return count
    with open_store(fresh) as store:
        store.keep(stored_rows(recorded.identity, recorded.found))
        return len(store)


def _odd(folder: str, names: list[str]) -> list[str]:
    """Return the sockets and pipes among the names in a folder, which are not copied."""
    paths = {name: os.path.join(folder, name) for name in names}
    return [n for n, path in paths.items() if not (os.path.isfile(path) or os.path.isdir(path))]


def stored_run(folder: Path) -> StoredRun | None:
    """Return the store of a run, which may go on meanwhile, or None without a record."""
    with open_to_read(folder) as store:
        if store.record is None:
            return None
        command = resume_command(store.record, folder)
        return StoredRun(folder, store.record, tuple(store.found.values()), command)

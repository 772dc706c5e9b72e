"""Finished runs read from disk: the study, and its front as designs of that study."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import OutputError
from dse.files import document, inputs
from dse.files.csv import as_written
from dse.files.document import Document
from dse.files.json import read_json
from dse.files.whole_folders import under_way, waiting_for
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import NOWHERE, Index
from dse.reports.front_view import FrontView
from dse.runs import run_files
from dse.runs.limits import BOUND_TOLERANCE, EVALUATIONS_BYTE
from dse.runs.manifest import feasible_rows, view_of
from dse.runs.measurements import MEASUREMENTS, with_measurements
from dse.runs.run_files import EVALUATIONS, EVALUATIONS_CSV, FORMAT, FRONT, MANIFEST
from dse.runs.solved import Run
from dse.runs.typed_entries import contradictions, manifest_type, wrong_entries
from dse.study import study
from dse.study.measuring import STORE
from dse.study.overrides import Sweep, at_value, override, sweep_of
from dse.study.study import Study

Row = Mapping[str, str]
"""A line of front.csv: column -> text."""

READ = (FRONT, EVALUATIONS, EVALUATIONS_CSV, MEASUREMENTS)
"""Files of a run that commands read, besides its manifest and the copies of tables."""

DRAWN = (".png", ".svg", ".html")
"""Ends of the names of files that no command reads."""


@dataclass(frozen=True)
class Finished:
    """A finished run: its study with overrides, its sweep or None, and the rows of its front."""

    folder: Path
    manifest: Mapping[str, Any]
    document: Document
    sweep: Sweep | None
    rows: tuple[Row, ...]

    @property
    def choices(self) -> range:
        """Return the positions of the values of its sweep, one without a sweep."""
        return range(1 if self.sweep is None else len(self.sweep.values))

    def document_at(self, choice: int) -> Document:
        """Return the study at one value of the sweep."""
        return self.document if self.sweep is None else at_value(self.document, self.sweep, choice)

    def where(self, choice: int) -> str:
        """Return one value of the sweep as an assignment, or an empty text."""
        return "" if self.sweep is None else f"{self.sweep.path} = {self.sweep.written[choice]}"

    def row_numbers(self, choice: int) -> list[int]:
        """Return the numbers of the rows, from 0, of the front at one value of the sweep."""
        if self.sweep is None:
            return list(range(len(self.rows)))
        column, value = self.sweep.header, self.sweep.values[choice]
        return [
            number for number, row in enumerate(self.rows) if stands_for(row.get(column), value)
        ]

    def front_at(self, choice: int) -> tuple[Study, Index]:
        """Return the study and its front at one value of the sweep."""
        prepared = study.prepare(self.document_at(choice))
        rows = tuple(self.rows[number] for number in self.row_numbers(choice))
        return prepared, find_designs(prepared.problem, rows)

    def points(self) -> list[tuple[Study, Index]]:
        """Return the study and its front at each value of the sweep."""
        return [self.front_at(choice) for choice in self.choices]


def stands_for(written: str | None, value: Any) -> bool:
    """Return whether a text is a value, for numbers within `BOUND_TOLERANCE`."""
    if isinstance(value, str):
        return written == value
    try:
        number = float(written or "nan")
    except ValueError:
        return False
    missing = math.isnan(value) and math.isnan(number)
    return missing or math.isclose(number, value, rel_tol=BOUND_TOLERANCE, abs_tol=0.0)


def read_run(folder: Path, *, changed: bool = False) -> Finished:
    """Return the run in a folder, after the checks of `read_manifest`.

    Raises
    ------
    OutputError
        It is not the folder of a run, or its files do not belong together.
    StudyError
        The study in its manifest has errors, for instance because plug-ins have changed.
    """
    manifest = read_manifest(folder, changed=changed)
    try:
        with (folder / FRONT).open(encoding="utf-8", newline="") as stream:
            rows = tuple(map(_as_written, csv.DictReader(stream)))
        text, file = manifest["study"], manifest["study_file"]
        overrides = tuple((path, str(value)) for path, value in manifest["overrides"].items())
        parsed = inputs.restored(document.parse_document(text, file), manifest["inputs"], folder)
    except (OSError, ValueError) as error:
        raise not_a_run(folder, error) from error
    found = with_measurements(override(parsed, overrides), folder)
    return Finished(folder, manifest, found, sweep_of(found), rows)


def study_or_run(
    source: Path | Document | Run, overrides: Sequence[tuple[str, str]] = ()
) -> Document | Finished | Run:
    """Return a run, or a study to search, from a study, its file, a run, or its folder.

    With overrides it is a study.  An override of the swept field ends the sweep.
    """
    found: Document | Finished | Run
    if isinstance(source, Path):
        found = read_run(source) if source.is_dir() else document.read_document(source)
    else:
        found = source
    if not overrides:
        return found
    base = found if isinstance(found, Document) else found.document
    swept, base = base.section("sweep"), override(base, overrides)
    if any(path in swept for path, _ in overrides):
        return document.override_value(base, "sweep", "{}")
    return base


def read_manifest(folder: Path, *, changed: bool = False) -> dict[str, Any]:
    """Return the manifest of the run in a folder: the one door to folders of runs.

    A folder is data: no pipe or device is read, and no file longer than the run wrote it.  With
    `changed`, the caller reports changes.

    Raises
    ------
    OutputError
        It is not the folder of a run, or has changed since.
    """
    try:
        found = read_json(folder / MANIFEST)
        for name in READ:
            _require_readable(folder / name)
    except (OSError, ValueError) as error:
        raise not_a_run(folder, error) from error
    if not isinstance(found, dict):
        raise not_a_run(folder, TypeError("its manifest holds no entries"))
    if isinstance(written := found.get("format", 1), int) and written != FORMAT:
        age, update = ("later", "update dse, or ") if written > FORMAT else ("earlier", "")
        raise OutputError(
            f"{folder} was written by {'a' if update else 'an'} {age} version of dse (format "
            f"{written}; this one reads {FORMAT}); {update}run its study again"
        )
    wrong = [] if changed else [*_changed(found, folder)]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise OutputError(
            f"{folder} was changed since it was run: {wrong[0]}{more}; run the study again, or see "
            f"all with: dse verify {folder}"
        )
    lines = [*wrong_entries(manifest_type(found), found)] or (
        [] if changed else [*contradictions(found)]
    )
    if lines:
        raise not_a_run(folder, ValueError(f"{MANIFEST}: {lines[0]}"))
    return found


def _require_readable(path: Path) -> None:
    """Raise `ValueError` for a pipe, a device, or a file longer than any of a run."""
    if os.path.lexists(path) and not path.is_file():
        raise ValueError(f"{path.name} is not a file")
    if path.exists() and path.stat().st_size > EVALUATIONS_BYTE:
        raise ValueError(f"{path.name} has more than {EVALUATIONS_BYTE:,} bytes")


def _changed(manifest: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield the changes of a manifest, and of the files that commands read."""
    yield from run_files.changed_entries(manifest)
    yield from run_files.changed_files(manifest, folder, but=DRAWN)
    recorded = run_files.files_of(manifest)
    yield from (
        f"{name} was not written by the run"
        for name in READ
        if name not in recorded and (folder / name).exists()
    )


def not_a_run(folder: Path, error: Exception) -> OutputError:
    """Return the error for a folder that is no run, with the place of one nearby."""
    goes_on = (under_way(folder) or (folder, False))[1] and not folder.exists()
    if goes_on or ((folder / STORE).is_file() and not (folder / MANIFEST).exists()):
        return OutputError(
            f"{str(folder)!r} is a run that is not finished; dse status {folder} says how far it is"
        )
    missing = error.filename if isinstance(error, FileNotFoundError) else None
    if not folder.exists():
        reason = "does not exist"
    elif not folder.is_dir():
        reason = "is a file; it is not the folder of a run"
    elif missing:
        reason = f"is not the folder of a run: it has no {Path(missing).name}"
    else:
        reason = f"is not the folder of a run ({error})"
    inside, shown = _runs_inside(folder), repr(str(folder))
    if left := waiting_for(folder):
        return OutputError(f"{shown} {reason}; a run that was killed left it whole: {left[0]}")
    if not inside:
        return OutputError(f"{shown} {reason}; name one that `dse run` wrote")
    others = f" ({len(inside) - 1} more are there)" if len(inside) > 1 else ""
    return OutputError(f"{shown} {reason}; did you mean {inside[0]}{others}?")


def _runs_inside(folder: Path) -> list[Path]:
    """Return the folders of runs in a folder, sorted by name."""
    try:
        return sorted(path.parent for path in folder.glob("[!.]*/manifest.json"))
    except OSError:
        return []


def find_designs(
    problem: Problem,
    rows: tuple[Row, ...],
    *,
    numbers: Sequence[int] | NDArray[np.intp] | None = None,
    table: str = "the front",
) -> Index:
    """Return the designs (n, d) of the rows of a table.

    Messages have the name of the `table`, and the `numbers` of rows, from 1 by default.

    Raises
    ------
    OutputError
        A row is no design of the problem.
    """
    index = np.zeros((len(rows), len(problem.sizes)), dtype=np.int64)
    taken = range(len(problem.sizes)) if problem.alone is None else problem.alone.places
    for column, axis in enumerate(problem.space.axes):
        values = tables.axis_values(axis).tolist()
        known = {value: choice for choice, value in enumerate(values)}
        text = tables.axis_text(problem, axis)
        for number, row in enumerate(rows):
            if row.get(tables.HOST_COLUMN) == "1" and column not in taken:
                index[number, column] = NOWHERE
                continue
            try:
                index[number, column] = _choice(text(row), known)
            except (KeyError, ValueError) as error:
                shown = number + 1 if numbers is None else numbers[number]
                raise OutputError(
                    f"row {shown} of {table} is no design of its study: {axis.name}: {error}"
                ) from error
    return index


def _choice(written: str, known: Mapping[Any, int]) -> int:
    """Return the position of a written value of an axis."""
    value = written if isinstance(next(iter(known)), str) else float(written)
    if value not in known:
        raise ValueError(f"{written!r} is not among its values")
    return known[value]


def _as_written(row: Mapping[str | None, Any]) -> Row:
    """Return a row without the marks of inert cells, except one of another length."""
    if None in row or None in row.values():
        return dict(row)  # type: ignore[arg-type]
    return {as_written(str(name)): as_written(cell) for name, cell in row.items()}


def plot_run(run: Path, folder: Path) -> tuple[Path, ...]:
    """Draw the pictures of the run in folder `run` again, into `folder`."""
    view = read_view(run)
    from dse.reports import drawing, plots  # matplotlib, only now

    return drawing.draw_into(folder, lambda fresh: plots.draw_front(view, fresh))


def read_view(run: Path) -> FrontView:
    """Return the front of the run in a folder, with the feasible designs around it."""
    manifest = read_manifest(run)
    try:
        front, evaluations = run_files.read_tables(run, manifest["evaluations_stored"])
        found = view_of(front, feasible_rows(evaluations), manifest)
        named = (found.sweep, *found.axes, *dict(found.objectives), found.category)
        for name in filter(None, named):
            if name not in front:
                raise ValueError(f"{FRONT} has no column {name}, which {MANIFEST} names")
        return found
    except (OSError, ValueError, KeyError) as error:
        raise not_a_run(run, error) from error

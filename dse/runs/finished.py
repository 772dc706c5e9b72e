"""Runs on disk, read back: the study as it was run, and its front as designs of that study."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dse.errors import OutputError
from dse.files import document
from dse.files.document import Document
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import Index
from dse.study import inputs, study
from dse.study.study import Study, Sweep

Row = Mapping[str, str]
"""A line of front.csv: column -> text."""


@dataclass(frozen=True)
class Finished:
    """A finished run.

    Attributes
    ----------
    folder
        Where it lies.
    manifest
        Its manifest.json.
    document
        The study with the overrides of the command line.
    sweep
        Its sweep, None when it has none.
    rows
        Its front, one row per design.
    """

    folder: Path
    manifest: Mapping[str, Any]
    document: Document
    sweep: Sweep | None
    rows: tuple[Row, ...]

    def points(self) -> list[tuple[Study, Index]]:
        """Return the study and its front, for every value of the sweep (or the one study)."""
        if self.sweep is None:
            prepared = study.prepare(self.document)
            return [(prepared, find_designs(prepared.problem, self.rows))]
        found = []
        for position in range(len(self.sweep.values)):
            prepared = study.prepare(study.at(self.document, self.sweep, position))
            found.append((prepared, find_designs(prepared.problem, self.rows_at(position))))
        return found

    def rows_at(self, position: int) -> tuple[Row, ...]:
        """Return the rows of one value of the sweep; all of them without a sweep."""
        if self.sweep is None:
            return self.rows
        column, value = str(self.manifest["sweep"]), self.sweep.values[position]
        return tuple(row for row in self.rows if _same(row[column], value))


def read_run(folder: Path) -> Finished:
    """Return the run in `folder`.

    Raises
    ------
    OutputError
        When it is not the folder of a run, or its files do not belong together.
    StudyError
        When the study in its manifest has faults, because plug-ins have changed for instance.
    """
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        with (folder / "front.csv").open(encoding="utf-8", newline="") as stream:
            rows = tuple(csv.DictReader(stream))
        text, file = manifest["study"], manifest["study_file"]
        overrides = tuple(manifest["overrides"].items())
        parsed = inputs.restored(
            document.parse_document(text, file), manifest.get("inputs", {}), folder
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise not_a_run(folder, error) from error
    found = study.override(parsed, overrides)
    return Finished(folder, manifest, found, study.sweep_of(found), rows)


def not_a_run(folder: Path, error: Exception) -> OutputError:
    """Return what to say of a folder that is read as a run and is none, and where one may be."""
    missing = error.filename if isinstance(error, FileNotFoundError) else None
    if not folder.exists():
        reason = "does not exist"
    elif not folder.is_dir():
        reason = "is a file; it is not the folder of a run"
    elif missing:
        reason = f"is not the folder of a run: it has no {Path(missing).name}"
    else:
        reason = f"is not the folder of a run ({error})"
    inside = _runs_inside(folder)
    if not inside:
        return OutputError(f"{folder} {reason}; name one that `dse run` wrote")
    others = f" ({len(inside) - 1} more are there)" if len(inside) > 1 else ""
    return OutputError(f"{folder} {reason}; did you mean {inside[0]}{others}?")


def _runs_inside(folder: Path) -> list[Path]:
    """Return the folders of runs in a folder, sorted by name."""
    try:
        return sorted(path.parent for path in folder.glob("*/manifest.json"))
    except OSError:
        return []


def find_designs(problem: Problem, rows: tuple[Row, ...]) -> Index:
    """Return the designs (n, d) of `problem` that rows of a table stand for.

    Raises
    ------
    OutputError
        When a row is no design of the problem; the message names row and column.
    """
    index = np.zeros((len(rows), len(problem.sizes)), dtype=np.int64)
    for place, axis in enumerate(problem.space.axes):
        values = tables.axis_values(axis).tolist()
        known = {value: position for position, value in enumerate(values)}
        for number, row in enumerate(rows):
            try:
                written = tables.axis_text(problem, axis, row)
                index[number, place] = _position(written, known)
            except (KeyError, ValueError) as error:
                raise OutputError(
                    f"row {number + 1} of the front is no design of its study: {axis.name}: {error}"
                ) from error
    return index


def _position(written: str, known: Mapping[Any, int]) -> int:
    """Return where a value stands among those of an axis."""
    value = written if isinstance(next(iter(known)), str) else float(written)
    if value not in known:
        raise ValueError(f"{written!r} is not among its values")
    return known[value]


def _same(written: str, value: Any) -> bool:
    return written == value if isinstance(value, str) else float(written) == value

"""Finished runs read from disk: the study, and its front as designs of that study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import OutputError
from dse.files import document, inputs
from dse.files.document import Document
from dse.model import tables
from dse.model.problem import Problem
from dse.model.space import NOWHERE, Index
from dse.model.tables import EQUALS, Table
from dse.reports.front_view import FrontView
from dse.runs import record
from dse.runs.manifest import view_of
from dse.runs.record import Row, not_a_run
from dse.runs.runner import Run
from dse.study import study
from dse.study.measuring import STORE, measuring, recorded_in
from dse.study.overrides import Sweep, at_value, override, sweep_of
from dse.study.study import Study

BOUND_TOLERANCE = 1e-9
"""Relative tolerance of written numbers."""


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
        return [n for n, row in enumerate(self.rows) if stands_for(row.get(column), value)]

    def front_at(self, choice: int) -> tuple[Study, Index]:
        """Return the study and its front at one value of the sweep."""
        prepared = study.prepare(self.document_at(choice))
        rows = tuple(self.rows[number] for number in self.row_numbers(choice))
        return prepared, find_designs(prepared.problem, rows)

    def points(self) -> list[tuple[Study, Index]]:
        """Return the study and its front at each value of the sweep, prepared only once."""
        return self._points

    @cached_property
    def _points(self) -> list[tuple[Study, Index]]:
        return [self.front_at(choice) for choice in self.choices]

    def view(self, points: Sequence[tuple[Study, Index]]) -> FrontView:
        """Return its front, the `points`, with the feasible designs around it.

        Tables that cannot be read, or do not belong together, are an `OutputError`.
        """
        order = [number for choice in self.choices for number in self.row_numbers(choice)]
        if order != list(range(len(self.rows))):
            rule = "front.csv is not in the order of the sweep"
            raise not_a_run(self.folder, ValueError(rule))
        stored = self.manifest["evaluations_stored"]
        shown = record.shown_columns(points[0][0], self.sweep)
        known = record.read_evaluations(self.folder, stored, shown)
        try:
            parts: list[tuple[Study, Index, Table]] = []
            for choice, point in enumerate(points):
                rows = [self.rows[number] for number in self.row_numbers(choice)]
                counts = np.array([float(row.get(EQUALS) or 1) for row in rows])  # or a heuristic
                parts.append((*point, {EQUALS: counts} if rows and EQUALS in rows[0] else {}))
            front = record.run_table(parts, self.sweep)
            return view_of(self.document, self.sweep, points, front, known, self.manifest)
        except (ValueError, KeyError) as error:
            raise not_a_run(self.folder, error) from error


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

    It is an `OutputError` if its files do not belong together, and a `StudyError` if its study has
    errors, for instance because plug-ins have changed.
    """
    manifest = record.read_manifest(folder, changed=changed)
    try:
        rows = record.read_front(folder)
        parsed = document.parse_document(manifest["study"], manifest["study_file"])
        parsed = inputs.restored(parsed, manifest["inputs"], folder)
    except (OSError, ValueError) as error:
        raise not_a_run(folder, error) from error
    found = override(parsed, [(path, str(value)) for path, value in manifest["overrides"].items()])
    if found.measures:
        facts = manifest.get("measured") or {"identity": "", "stored": 0}
        known = measuring().rows(folder)[: facts["stored"]]
        if len(known) < facts["stored"]:
            raise not_a_run(folder, ValueError(f"{STORE} lacks measurements"))
        found = replace(found, recorded=recorded_in(known, facts["identity"]))
    return Finished(folder, manifest, found, sweep_of(found), rows)


def study_or_run(
    source: Path | Document | Run | Finished, overrides: Sequence[tuple[str, str]] = ()
) -> Document | Finished | Run:
    """Return a run, or a study to search, from a study, its file, a run, or its folder.

    With overrides it is a study.  An override of the swept field ends the sweep.
    """
    found: Document | Finished | Run | Path = source
    if isinstance(found, Path):
        found = read_run(found) if found.is_dir() else document.read_document(found)
    if not overrides:
        return found
    base = found if isinstance(found, Document) else found.document
    swept, base = base.section("sweep"), override(base, overrides)
    if any(path in swept for path, _ in overrides):
        return document.override_value(base, "sweep", "{}")
    return base


def find_designs(
    problem: Problem,
    rows: Sequence[Row],
    *,
    numbers: Sequence[int] | NDArray[np.intp] | None = None,
    table: str = "the front",
) -> Index:
    """Return the designs (n, d) of the rows of a table, or raise `OutputError` for another row.

    Messages have the name of the `table`, and the `numbers` of rows, from 1 by default.
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


def plot_run(run: Path, folder: Path) -> tuple[Path, ...]:
    """Draw the pictures of the run in folder `run` again, into `folder`."""
    found = read_run(run)
    view = found.view(found.points())
    from dse.reports import drawing, plots  # matplotlib, only now

    return drawing.draw_into(folder, lambda fresh: plots.draw_front(view, fresh))

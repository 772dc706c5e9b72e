"""The evaluations that a run keeps, each held against the study and its models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dse.audit.checks import Points, WrittenFront
from dse.audit.verdict import Check, check_of
from dse.errors import OutputError
from dse.model import tables
from dse.model.space import Index
from dse.model.tables import Table
from dse.reports.text import plural
from dse.runs import finished
from dse.runs.finished import Finished
from dse.runs.limits import TOLERANCE
from dse.runs.run_files import evaluations_file, read_evaluations

FEASIBLE = "feasible"

Rows = NDArray[np.intp]


def check_evaluations(run: Finished, every: Points) -> Check:
    """Check that every row is a design of the study, once, with the numbers of the model."""
    name = "evaluations"
    try:
        table = read_evaluations(run.folder, run.manifest.get("evaluations_stored"))
        wrong = list(_wrong(run, every, table))
    except OutputError as error:
        return check_of(name, [str(error)], "")
    rows = plural(_length(table), "row")
    right = (
        f"{rows} of {evaluations_file(run.folder).name} as the model has them, each a design, once"
    )
    return check_of(name, wrong, right)


def _length(table: Table) -> int:
    return len(next(iter(table.values()), ()))


def _wrong(run: Finished, every: Points, table: Table) -> Iterator[str]:
    said, file = run.manifest.get("evaluations_stored"), evaluations_file(run.folder).name
    if said != _length(table):
        shown = plural(_length(table), "row")
        yield f"{file} has {shown}, and evaluations_stored of the manifest is {said}"
    placed: list[Rows] = []
    for choice, point in zip(run.choices, every, strict=True):
        rows = _rows_of(run, choice, table)
        placed.append(rows)
        yield from _wrong_part(run, point, rows, {n: values[rows] for n, values in table.items()})
    together = np.concatenate(placed)
    if len(together) != _length(table):
        yield f"{file} has rows of values that are not in the sweep"
    elif (np.diff(together) < 0).any():
        yield f"{file} has rows that do not stand in the order of the sweep"


def _rows_of(run: Finished, choice: int, table: Table) -> Rows:
    """Return which rows belong to one value of the sweep."""
    if run.sweep is None:
        return np.arange(_length(table))
    column, value = run.sweep.header, run.sweep.values[choice]
    if column not in table:
        raise OutputError(f"{evaluations_file(run.folder).name} lacks the column {column}")
    return np.flatnonzero(_same(table[column], np.full(_length(table), value)))


def _wrong_part(run: Finished, point: WrittenFront, rows: Rows, part: Table) -> Iterator[str]:
    """Yield what is wrong with the evaluations at one value of the sweep."""
    file = evaluations_file(run.folder).name
    index = _designs(point, rows, part, file)
    for row in np.flatnonzero(~_rising(index)):
        yield f"row {rows[row + 1] + 1} of {file} is a design again, or out of order"
    expected = tables.design_table(point.problem, index)
    expected[FEASIBLE] = point.problem.evaluate(index).feasible
    lacking = [name for name in expected if name not in part]
    yield from (f"{file} lacks the column {name}" for name in lacking)
    for name, written in part.items():
        if run.sweep is not None and name == run.sweep.header:
            continue  # it tells which rows are of this value
        empty = np.full(len(index), tables.absent(name))  # a column of other values of the sweep
        for row in np.flatnonzero(~_same(written, expected.get(name, empty))):
            model = f", the model says {expected[name][row]}" if name in expected else ""
            place = f"row {rows[row] + 1} of {file}, {name}"
            yield f"{place}: {written[row]!s} is written{model}"


def _designs(point: WrittenFront, rows: Rows, part: Table, file: str) -> Index:
    """Return the designs (n, d) that rows stand for."""
    names = [*tables.chosen_columns(point.problem, point.index[:0])]
    texts = {name: [str(value) for value in part[name].tolist()] for name in names if name in part}
    cells = zip(*texts.values(), strict=True)
    found = tuple(dict(zip(texts, row, strict=True)) for row in cells)
    if not found:
        return point.index[:0]
    return finished.find_designs(point.problem, found, numbers=rows + 1, table=file)


def _rising(index: Index) -> NDArray[np.bool_]:
    """Return which rows (n - 1,) are followed by a later design."""
    steps = np.sign(np.diff(index, axis=0))
    first = np.argmax(steps != 0, axis=1) if steps.size else np.zeros(len(steps), dtype=np.intp)
    rising: NDArray[np.bool_] = steps[np.arange(len(steps)), first] > 0
    return rising


def _same(written: NDArray[np.generic], expected: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return which values are the same, numbers within `TOLERANCE`, missing ones as NaN."""
    if written.dtype.kind in "fiub" and expected.dtype.kind in "fiub":
        with np.errstate(invalid="ignore"):
            same = np.isclose(written, expected, rtol=TOLERANCE, atol=0.0, equal_nan=True)
        return np.asarray(same)
    pairs = zip(written.tolist(), expected.tolist(), strict=True)
    return np.array([a == b or (_is_empty(a) and _is_empty(b)) for a, b in pairs], dtype=bool)


def _is_empty(value: object) -> bool:
    return value is None or value != value

"""Checking a finished run again, independently of the search that made it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import challenge, finished, study, tables, units
from dse.errors import OutputError
from dse.finished import Finished, Row
from dse.problem import Problem
from dse.search import Progress
from dse.space import Index

TRIALS = 1_000_000
"""Random designs held against a front unless told otherwise."""

TOLERANCE = 1e-9
"""Relative difference between a number in front.csv and the model's that is forgiven."""

MOST_FOUND = 20
"""Most designs that are written out of all that beat a front."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, whether it holds, and what was seen."""

    name: str
    holds: bool
    text: str


@dataclass(frozen=True)
class Find:
    """A feasible design that a front lacks.

    Attributes
    ----------
    design
        Its axes, after the swept value where there is one.
    objectives
        What it is worth, in SI.
    relation
        ``dominates``, ``incomparable`` or ``equals``, to the front.
    row
        The row of front.csv that it dominates or equals, counted from 1; None otherwise.
    """

    design: str
    objectives: Mapping[str, float]
    relation: str
    row: int | None

    @property
    def text(self) -> str:
        """The find in words."""
        values = ", ".join(units.show(value, name) for name, value in self.objectives.items())
        said = {
            "dominates": f"dominates row {self.row}",
            "equals": f"equals row {self.row} and is not on the front",
            "incomparable": "is covered by no row",
        }
        return f"{self.design} ({values}) {said[self.relation]}"


@dataclass(frozen=True)
class Verified:
    """What checking a run found.

    Attributes
    ----------
    folder, exact
        The run, and whether it says that its front is exact.
    checks
        In the order in which they were made.
    tried, feasible
        Designs held against the front, and how many of them are feasible.
    found, finds
        How many feasible designs the front lacks, and the first of them.
    """

    folder: Path
    exact: bool
    checks: tuple[Check, ...]
    tried: int = 0
    feasible: int = 0
    found: int = 0
    finds: tuple[Find, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def text(self) -> str:
        """Return one line per check, and the verdict."""
        lines = [
            f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.text}"
            for check in self.checks
        ]
        lines += [f"       {find.text}" for find in self.finds]
        if not self.holds:
            failed = sum(not check.holds for check in self.checks)
            return "\n".join([*lines, f"{self.folder} is refuted: {failed} checks fail"])
        kind = "exact front" if self.exact else "heuristic front"
        better = " and can be improved" if self.found else ""
        return "\n".join([*lines, f"{self.folder} is what it says, a {kind}{better}"])

    def plain(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "folder": str(self.folder),
            "holds": self.holds,
            "exact": self.exact,
            "checks": [vars(check) for check in self.checks],
            "tried": self.tried,
            "feasible": self.feasible,
            "found": self.found,
            "finds": [vars(find) for find in self.finds],
        }


@dataclass(frozen=True)
class Point:
    """The front of one value of a sweep, or of the one study.

    Attributes
    ----------
    where
        The swept value as an assignment, empty without a sweep.
    problem
        The study.
    numbers
        (n,) which rows of front.csv are its front, from 0.
    index, loss, feasible
        Those designs, evaluated again.
    """

    where: str
    problem: Problem
    numbers: NDArray[np.int64]
    index: Index
    loss: NDArray[np.float64]
    feasible: NDArray[np.bool_]

    def text(self, design: NDArray[np.int64]) -> str:
        """Return a design as assignments."""
        return ", ".join(filter(None, [self.where, self.problem.point_text(design)]))


def verify(
    folder: Path, *, trials: int = TRIALS, seed: int = 0, progress: Progress | None = None
) -> Verified:
    """Check the run in `folder` again.

    Parameters
    ----------
    trials
        Random designs to hold against the front; the values of a sweep share them.
    seed
        The same seed tries the same designs.
    progress
        Called with the number of random designs tried and the number planned.

    Raises
    ------
    OutputError
        When it is not the folder of a run.
    StudyError
        When the study in its manifest has faults.
    """
    run = finished.read(folder)
    exact = bool(run.manifest.get("exact"))
    try:
        points = tuple(_points(run))
    except OutputError as error:
        return Verified(folder, exact, (_check("designs", [str(error)], ""),))
    checks = [
        _study(run, points),
        _accounting(run, points),
        _designs(run, points),
        _numbers(run, points),
        _feasible(points),
        _mutual(points),
    ]
    return _challenged(Verified(folder, exact, tuple(checks)), run, points, trials, seed, progress)


def _points(run: Finished) -> Iterator[Point]:
    if run.sweep is None:
        yield _point("", study.prepare(run.document).problem, run.rows, range(len(run.rows)))
        return
    column = str(run.manifest["sweep"])
    for position, (value, written) in enumerate(
        zip(run.sweep.values, run.sweep.written, strict=True)
    ):
        prepared = study.prepare(study.at(run.document, run.sweep, position))
        numbers = [
            number for number, row in enumerate(run.rows) if _same(row.get(column, ""), value)
        ]
        where = f"{run.sweep.path} = {written}"
        yield _point(where, prepared.problem, run.rows, numbers)


def _point(where: str, problem: Problem, rows: tuple[Row, ...], numbers: Any) -> Point:
    try:
        index = finished.find(problem, tuple(rows[number] for number in numbers))
    except OutputError as error:
        raise OutputError(f"{where}: {error}" if where else str(error)) from error
    evaluation = problem.evaluate(index)
    return Point(
        where,
        problem,
        np.array(numbers, dtype=np.int64),
        index,
        evaluation.loss,
        evaluation.feasible,
    )


def _check(name: str, wrong: list[str], right: str) -> Check:
    """Return a check that fails with all that is wrong, the first of many written out."""
    more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return Check(name, not wrong, "; ".join(wrong[:3]) + more if wrong else right)


def _study(run: Finished, points: tuple[Point, ...]) -> Check:
    """Check that the manifest tells of the study whose text it holds."""
    manifest, first = run.manifest, points[0].problem
    digest = hashlib.sha256(str(manifest["study"]).encode()).hexdigest()
    says = {
        "study_sha256": digest,
        "objectives": {goal.name: goal.sense for goal in first.goals},
        "constraints": list(first.constraint_names),
    }
    wrong = [
        f"{key} of the manifest is not that of its study"
        for key, value in says.items()
        if manifest.get(key) != value
    ]
    return _check("study", wrong, f"the manifest's text, sha256 {digest[:12]}")


def _accounting(run: Finished, points: tuple[Point, ...]) -> Check:
    """Check that the counts of the manifest add up, and are those of its study and rows."""
    manifest = run.manifest
    certificate = manifest.get("certificate")
    if not isinstance(certificate, dict):
        return _check("accounting", ["the manifest has no certificate; run the study again"], "")
    counts: dict[str, Any] = {**certificate, **{f"manifest {k}": v for k, v in manifest.items()}}
    evaluated, designs = counts.get("evaluated", 0), sum(point.problem.size for point in points)
    dominated = counts.get("given_up_as_dominated", 0)
    infeasible = counts.get("given_up_as_infeasible", 0)
    accounted = evaluated + dominated + infeasible
    shown = (
        f"{evaluated:,} evaluated + {dominated:,} given up as dominated "
        f"+ {infeasible:,} given up as infeasible"
    )
    expected = {
        "designs": designs,
        "manifest designs": points[0].problem.size,
        "manifest evaluated": evaluated,
        "manifest front": len(run.rows),
        "ties": sum(len(p.loss) - len(np.unique(p.loss, axis=0)) for p in points),
    }
    wrong = [
        f"{key.removeprefix('manifest ')} is {counts.get(key)}, and should be {value}"
        for key, value in expected.items()
        if counts.get(key) != value
    ]
    if not len(run.rows) <= counts.get("manifest feasible", -1) <= accounted:
        wrong.append(f"feasible is {counts.get('manifest feasible')}, which cannot be")
    if run.manifest.get("exact") and accounted != designs:
        wrong.append(f"{shown} = {accounted:,}, of {designs:,} designs")
    if min(evaluated, dominated, infeasible) < 0 or accounted > designs:
        wrong.append(f"{shown} cannot be of {designs:,} designs")
    sign = "=" if accounted == designs else "of"
    return _check("accounting", wrong, f"{shown} {sign} {designs:,} designs")


def _designs(run: Finished, points: tuple[Point, ...]) -> Check:
    """Check that every row is a design, and none is there twice."""
    wrong = []
    placed = np.concatenate([point.numbers for point in points])
    for number in sorted(set(range(len(run.rows))) - set(placed.tolist())):
        wrong.append(f"row {number + 1} has a value that is not in the sweep")
    for point in points:
        _, first, at = np.unique(point.index, axis=0, return_index=True, return_inverse=True)
        for row, original in enumerate(first[at.ravel()]):
            if row != original:
                pair = point.numbers[[row, original]] + 1
                wrong.append(f"row {pair[0]} is the design of row {pair[1]} again")
    return _check("designs", wrong, f"{len(run.rows):,} rows, each a design of the study, once")


def _numbers(run: Finished, points: tuple[Point, ...]) -> Check:
    """Check every column of every row against the model."""
    wrong, columns = [], list(run.rows[0]) if run.rows else []
    for point in points:
        expected = tables.table(point.problem, point.index)
        rows = [run.rows[number] for number in point.numbers]
        lacking = [name for name in expected if rows and name not in columns]
        wrong += [f"front.csv lacks the column {name}" for name in lacking]
        for name in columns:
            if name in expected:
                values = expected[name]
            elif name == run.manifest.get("sweep"):
                continue
            else:  # a column of other values of the sweep
                values = np.full(len(rows), 0.0 if "." in name else np.nan)
            for number, row, value in zip(point.numbers, rows, values, strict=True):
                if not _same(row[name], value):
                    said = f"{row[name]!r} is written, the model says {value}"
                    wrong.append(f"row {number + 1}, {name}: {said}")
    right = f"{len(columns)} columns of {len(run.rows):,} rows as the model has them"
    return _check("numbers", wrong, f"{right}, within {TOLERANCE:g}, relative")


def _same(written: str | None, value: Any) -> bool:
    """Tell whether the text of a table stands for a value."""
    if isinstance(value, str):
        return written == value
    try:
        number = float(written or "nan")
    except ValueError:
        return False
    if np.isnan(value) or np.isnan(number) or np.isinf(value):
        return bool(np.isnan(value) and np.isnan(number)) or number == value
    return bool(abs(number - value) <= TOLERANCE * abs(value))


def _feasible(points: tuple[Point, ...]) -> Check:
    wrong = []
    for point in points:
        for row in np.flatnonzero(~point.feasible):
            violation = point.problem.evaluate(point.index[[row]]).violation[0]
            names = np.array(point.problem.constraint_names, dtype=object)[~(violation <= 0)]
            wrong.append(f"row {point.numbers[row] + 1} violates {' and '.join(names)}")
    count = len(points[0].problem.constraint_names)
    return _check("feasible", wrong, f"every row meets all {count} constraints")


def _mutual(points: tuple[Point, ...]) -> Check:
    wrong = [
        f"row {point.numbers[by] + 1} dominates row {point.numbers[row] + 1}"
        for point in points
        for row, by in challenge.dominated_rows(point.loss)
    ]
    return _check("non-dominated", wrong, "no row dominates another, each compared with each")


def _challenged(
    verified: Verified,
    run: Finished,
    points: tuple[Point, ...],
    trials: int,
    seed: int,
    progress: Progress | None,
) -> Verified:
    """Return what was checked and the attempt to beat the front."""
    share = max(1, trials // len(points))
    tried = feasible = found = 0
    finds: list[Find] = []
    for position, point in enumerate(points):
        random = np.random.default_rng([seed, position])
        on_front = {row.tobytes() for row in point.index}
        for designs in challenge.designs(point.problem, point.index, share, random):
            evaluation = point.problem.evaluate(designs)
            good = np.flatnonzero(evaluation.feasible)
            tried, feasible = tried + len(designs), feasible + len(good)
            lacking = _lacking(point, designs[good], evaluation.loss[good], on_front, verified)
            found += len(lacking)
            finds += lacking[: MOST_FOUND - len(finds)]
            if progress is not None:
                progress(min(tried, trials), trials)
    whole = all(point.problem.size <= share for point in points)
    checks = (*verified.checks, _unbeaten(verified.exact, whole, tried, feasible, found))
    return Verified(
        verified.folder, verified.exact, checks, tried, feasible, found, tuple(finds)
    )


def _lacking(
    point: Point,
    designs: Index,
    loss: NDArray[np.float64],
    on_front: set[bytes],
    verified: Verified,
) -> list[Find]:
    """Return the feasible designs that the front of a point lacks.

    An exact front holds every design that is worth what a design on it is worth.
    """
    covers = challenge.covering(loss, point.loss)
    lacking = []
    missing = covers < 0
    if verified.exact and len(point.loss):
        missing |= (loss == point.loss[covers]).all(axis=1)
    for row in np.flatnonzero(missing):
        if designs[row].tobytes() in on_front:
            continue
        lacking.append(_find(point, designs[row], loss[row], int(covers[row])))
    return lacking


def _find(point: Point, design: NDArray[np.int64], loss: NDArray[np.float64], cover: int) -> Find:
    beaten = np.flatnonzero((point.loss >= loss).all(axis=1)) if len(point.loss) else []
    relation = "equals" if cover >= 0 else "dominates" if len(beaten) else "incomparable"
    row = cover if cover >= 0 else int(beaten[0]) if len(beaten) else None
    objectives = {
        goal.name: float(-value if goal.maximise else value)
        for goal, value in zip(point.problem.goals, loss, strict=True)
    }
    number = None if row is None else int(point.numbers[row]) + 1
    return Find(point.text(design), objectives, relation, number)


def _unbeaten(exact: bool, whole: bool, tried: int, feasible: int, found: int) -> Check:
    which = "every design" if whole else "random designs and neighbours of the front"
    text = f"{tried:,} tried ({which}), {feasible:,} feasible, "
    if not found:
        return Check("unbeaten", True, f"{text}none that the front lacks")
    lacks = f"{found:,} that the front lacks"
    if exact:
        return Check("unbeaten", False, f"{text}{lacks}, which refutes that it is exact")
    return Check("unbeaten", True, f"{text}{lacks}: improvements on a heuristic's front")

"""Checking a finished run again, independently of the search that made it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dse.audit import challenge
from dse.audit.verdict import FAILS, FOUND, HOLDS, Check, Find, Verification, check_of
from dse.errors import DseError, OutputError, shortened
from dse.files.json import jsonable
from dse.model import tables
from dse.model.evaluation import LEDGER, ledger_of
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.tables import Table
from dse.reports.designs import objective_values
from dse.reports.text import listed, plural, rule_text
from dse.runs import finished, record
from dse.runs.design_names import exact_name
from dse.runs.finished import BOUND_TOLERANCE, Finished, stands_for
from dse.runs.manifest import FEASIBLE, FrontOfPart, front_facts, study_facts
from dse.runs.record import EVALUATIONS, FRONT, read_evaluations
from dse.runs.runner import measure_front
from dse.search import Progress
from dse.study import study
from dse.study.study import Study

ACCOUNTS = ("evaluated", "pruned_as_dominated", "pruned_as_infeasible")
"""Counts of designs in a certificate."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class WrittenFront:
    """The front of one value of a sweep (`where`, as an assignment), or of the one study.

    `numbers` are its rows of front.csv, counted from 0, and `table` their cells as text.  `index`,
    `loss` and `feasible` are its designs, evaluated again.
    """

    where: str
    study: Study
    numbers: Rows
    table: Table
    index: Index
    loss: NDArray[np.float64]
    feasible: NDArray[np.bool_]

    @property
    def problem(self) -> Problem:
        """Return the problem of the study."""
        return self.study.problem


class NoDesignError(OutputError):
    """A row of front.csv that is no design of its study."""


Points = tuple[WrittenFront, ...]


def written_fronts(run: Finished) -> Iterator[WrittenFront]:
    """Yield the front of a run at every value of its sweep, evaluated again.

    Raises
    ------
    NoDesignError
        A row of front.csv is no design of the study.
    """
    for number, row in enumerate(run.rows, start=1):
        if None in row or None in row.values():
            raise NoDesignError(f"row {number} of the front has more or fewer cells than columns")
    for choice in run.choices:
        prepared, numbers = study.prepare(run.document_at(choice)), run.row_numbers(choice)
        where, rows = run.where(choice), tuple(run.rows[number] for number in numbers)
        try:
            index = finished.find_designs(prepared.problem, rows)
        except OutputError as error:
            raise NoDesignError(f"{where}: {error}" if where else str(error)) from error
        names = run.rows[0] if run.rows else ()
        table = {name: np.array([row[name] for row in rows], dtype=object) for name in names}
        found, places = prepared.problem.evaluate(index), np.array(numbers, dtype=np.intp)
        yield WrittenFront(where, prepared, places, table, index, found.loss, found.feasible)


def check_accounting(run: Finished, every: Points) -> Check:
    """Check that the counts of the manifest add up, and agree with its study and rows."""
    certificate = run.manifest["certificate"]
    designs = sum(point.problem.whole_size for point in every)
    evaluated, *pruned = (certificate[name] for name in ACCOUNTS)
    accounted, exact = evaluated + sum(pruned), run.manifest["exact"]
    shown = (
        f"{evaluated:,} evaluated + {pruned[0]:,} pruned as dominated "
        f"+ {pruned[1]:,} pruned as infeasible"
    )
    wrong = [*_wrong_counts(run, designs, accounted)]
    if exact != (accounted == designs) or accounted > designs:
        claim = "exact" if exact else "not exact"
        wrong.append(f"{shown} is {accounted:,} of {designs:,} designs, and the front {claim}")
    if not wrong and not _is_right_ledger(run, every, designs):
        wrong.append(f"{LEDGER} of the manifest contradicts its counts")
    return check_of("accounting", wrong, f"{shown} {'=' if exact else 'of'} {designs:,} designs")


def _wrong_counts(run: Finished, designs: int, accounted: int) -> Iterator[str]:
    """Yield the counts of the manifest that differ from its study, rows and other counts."""
    said, certificate = run.manifest, run.manifest["certificate"]
    evaluated, dominated, infeasible = (certificate[name] for name in ACCOUNTS)
    feasible, known = said["feasible"], said["feasible_in_space"]
    right = feasible + dominated if known is not None and accounted == designs else None
    counts = (
        ("certificate.designs", certificate["designs"], designs),
        ("evaluated", said["evaluated"], evaluated),
        ("certificate.pruned_by", sum(certificate["pruned_by"].values()), dominated + infeasible),
        ("feasible_in_space", known, right),
    )
    for name, count, expected in counts:
        yield from _differences(name, count, expected)
    if not len(run.rows) <= feasible <= evaluated:
        yield f"{feasible:,} feasible is less than the front or more than were evaluated"


def _is_right_ledger(run: Finished, every: Points, designs: int) -> bool:
    """Return whether the ledger of the manifest agrees with its right counts."""
    said, certificate = ledger_of(run.manifest), run.manifest["certificate"]
    evaluated, *pruned = (certificate[name] for name in ACCOUNTS)
    failed = sum(_failed(point.problem) for point in every)
    right = said.failed == failed if said.settled else said.failed <= failed
    right &= said.exact == run.manifest["exact"]
    right &= (said.known, said.pruned) == (evaluated, sum(pruned))
    whole = said.known + said.failed + said.unknown + said.pruned
    return right and whole == designs


def _failed(problem: Problem) -> int:
    """Return the number of failed designs of a problem, known from its measurements."""
    if problem.measured is None:
        return 0
    each = problem.size // problem.measured.size(problem.space)
    return each * problem.measured.setup.ledger.failed


def check_designs(run: Finished, every: Points) -> Check:
    """Check that every row is a design, and no design is there twice."""
    placed = np.concatenate([point.numbers for point in every])
    lost = np.setdiff1d(np.arange(len(run.rows)), placed)
    wrong = [f"row {number + 1} has a value that is not in the sweep" for number in lost]
    for point in every:
        _, first, at = np.unique(point.index, axis=0, return_index=True, return_inverse=True)
        for row, original in enumerate(first[at.ravel()]):
            if row != original:
                pair = point.numbers[[row, original]] + 1
                wrong.append(f"row {pair[0]} is the design of row {pair[1]} again")
    return check_of(
        "designs", wrong, f"{plural(len(run.rows), 'row')}, each a design of the study, once"
    )


def check_numbers(run: Finished, every: Points) -> Check:
    """Check every column of every row against the model."""
    wrong = [
        text
        for point in every
        for text in _wrong_cells(
            run, FRONT, point.numbers, point.table, tables.design_table(point.problem, point.index)
        )
    ]
    right = f"{len(every[0].table)} columns of {plural(len(run.rows), 'row')} as the model has them"
    return check_of("numbers", wrong, f"{right}, within {BOUND_TOLERANCE:g}, relative")


def _wrong_cells(
    run: Finished, file: str, rows: Rows, part: Table, expected: Table
) -> Iterator[str]:
    """Yield the columns that rows of a file lack, and the cells that the model has otherwise."""
    if len(rows):
        yield from (f"{file} lacks the column {name}" for name in expected if name not in part)
    own = {tables.EQUALS, run.sweep.header} if run.sweep else {tables.EQUALS}  # not of the model
    for name in part.keys() - (own - expected.keys()):
        empty = np.full(len(rows), tables.absent(name))  # a column of other values of the sweep
        values = expected.get(name, empty)
        for row in np.flatnonzero(~_same(part[name], values)):
            said = f"{part[name][row]!s} is written, the model gives {values[row]}"
            yield f"row {rows[row] + 1} of {file}, {name}: {said}"


def _same(written: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are the same, numbers within `BOUND_TOLERANCE`, missing ones as NaN."""
    if written.dtype.kind in "fiub" and expected.dtype.kind in "fiub":
        with np.errstate(invalid="ignore"):
            same = np.isclose(written, expected, rtol=BOUND_TOLERANCE, atol=0.0, equal_nan=True)
        return np.asarray(same)
    pairs = zip(written.tolist(), expected.tolist(), strict=True)
    return np.array([_is_cell(a, b) for a, b in pairs], dtype=bool)


def _is_cell(written: Any, value: Any) -> bool:
    """Return whether a cell, maybe a text, is a value."""
    missing = (written is None or written != written) and (value is None or value != value)
    return missing or written == value or (isinstance(written, str) and stands_for(written, value))


def check_feasible(every: Points) -> Check:
    """Check that every row meets every constraint."""
    wrong = []
    for point in every:
        for row in np.flatnonzero(~point.feasible):
            violation = point.problem.evaluate(point.index[[row]]).violation[0]
            names = np.array(point.problem.constraint_names, dtype=object)[~(violation <= 0)]
            wrong.append(
                f"row {point.numbers[row] + 1} violates {listed([*map(rule_text, names)])}"
            )
    count = plural(len(every[0].problem.constraint_names), "constraint")
    return check_of("feasible", wrong, f"every row meets {count}")


def check_mutual(every: Points) -> Check:
    """Check that no row dominates another one."""
    wrong = [
        f"row {point.numbers[by] + 1} dominates row {point.numbers[row] + 1}"
        for point in every
        for row, by in challenge.dominated_rows(point.loss)
    ]
    return check_of("non-dominated", wrong, "no row dominates another, each compared with each")


def check_evaluations(run: Finished, every: Points) -> Check:
    """Check that every row is a design of the study, once, with the numbers of the model."""
    try:
        if not (table := read_evaluations(run.folder, run.manifest["evaluations_stored"])):
            return check_of("evaluations", [], "none is kept")
        wrong = [*_wrong_evaluations(run, every, table)]
    except OutputError as error:
        return check_of("evaluations", [str(error)], "")
    rows = plural(_length(table), "row")
    right = f"{rows} of {EVALUATIONS} as the model has them, each a design, once"
    return check_of("evaluations", wrong, right)


def _length(table: Table) -> int:
    return len(next(iter(table.values()), ()))


def _wrong_evaluations(run: Finished, every: Points, table: Table) -> Iterator[str]:
    said, count, file = run.manifest["evaluations_stored"], _length(table), EVALUATIONS
    if said != count:
        shown = plural(count, "row")
        yield f"{file} has {shown}, and evaluations_stored of the manifest is {said}"
    placed: list[Rows] = [np.arange(count)]
    if run.sweep is not None:
        if run.sweep.header not in table:
            raise OutputError(f"{file} lacks the column {run.sweep.header}")
        values = (np.full(count, value) for value in run.sweep.values)
        swept = table[run.sweep.header]
        placed = [np.flatnonzero(_same(swept, value)) for value in values]
    for point, rows in zip(every, placed, strict=True):
        part = {name: values[rows] for name, values in table.items()}
        index = _designs(point, rows, part, file)
        for row in np.flatnonzero(~_rising(index)):
            yield f"row {rows[row + 1] + 1} of {file} is a design again, or out of order"
        expected = tables.design_table(point.problem, index)
        expected[FEASIBLE] = point.problem.evaluate(index).feasible
        yield from _wrong_cells(run, file, rows, part, expected)
    together = np.concatenate(placed)
    if len(together) != count:
        yield f"{file} has rows of values that are not in the sweep"
    elif (np.diff(together) < 0).any():
        yield f"{file} has rows that are not in the order of the sweep"


def _designs(point: WrittenFront, rows: Rows, part: Table, file: str) -> Index:
    """Return the designs (n, d) of rows."""
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


MOST_FOUND = 20
"""Most designs that are kept of the best that a front lacks."""

EVERY, SOME = "every design", "random designs and neighbours of the front"
EVERY_MEASURED, SOME_MEASURED = "every design that was measured", f"{SOME}, if they were measured"
"""Designs that were tried."""


def verify_run(folder: Path, *, trials: int, progress: Progress | None = None) -> Verification:
    """Check the run in `folder` again, with parameters and errors as in `dse.verify`."""
    manifest = record.read_manifest(folder, changed=True)
    ledger = ledger_of(manifest)
    files, entries = record.changed_files(manifest, folder), record.changed_entries(manifest)
    written = (
        check_of("files", [*files], "each is unchanged since the run, by its checksum"),
        check_of("manifest", [*entries], "each entry is unchanged since the run, by its checksum"),
    )
    try:
        run = finished.read_run(folder, changed=True)
        points = tuple(written_fronts(run))
    except NoDesignError as error:
        return Verification(folder, ledger, (*written, check_of("designs", [str(error)], "")))
    except DseError as error:
        if all(check.holds for check in written):
            raise
        return Verification(folder, ledger, (*written, check_of("study", [str(error)], "")))
    facts, said = study_facts(run.document, [one.study for one in points]), run.manifest
    text = f"the manifest's text, sha256 {said['study_sha256'][:12]}"
    found = (
        *written,
        _compared("study", run, facts, text),
        check_accounting(run, points),
        check_designs(run, points),
        check_numbers(run, points),
        check_feasible(points),
        check_mutual(points),
        check_summary(run, points),
        check_evaluations(run, points),
    )
    return _challenged(Verification(folder, ledger, found), run, points, trials, progress)


class _Tried(NamedTuple):
    """Designs tried against one front: their number, feasible, lacking, the best of these.

    `wrong` are rows of the front whose number of equal designs is another.
    """

    tried: int
    feasible: int
    found: int
    wrong: int
    finds: list[Find]


def _challenged(
    verified: Verification, run: Finished, points: Points, trials: int, progress: Progress | None
) -> Verification:
    """Return the checks and the attempt to find designs that the front lacks."""
    share, done = max(1, trials // len(points)), 0

    def step(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(min(done, trials), trials)

    each = [_try(point, share, number, step) for number, point in enumerate(points)]
    tried, feasible, found, wrong = map(sum, zip(*(one[:4] for one in each), strict=True))
    which, known = _which(points, share), run.manifest["feasible_in_space"]
    text, verdict = f"{tried:,} tried ({which}), {feasible:,} feasible, ", FAILS
    if wrong:
        text += f"and {tables.EQUALS} of {plural(wrong, 'row')} is wrong"
    elif which == EVERY and known not in (None, feasible):
        text += f"and feasible_in_space of the manifest is {known}"
    elif not found:
        text, verdict = f"{text}none missing from the front", HOLDS
    elif verified.ledger.settled:
        text += f"{found:,} missing from the front, which refutes that it is exact"
    else:
        text += f"{found:,} missing from the front: improvements on a front that is not proven"
        verdict = FOUND
    checks = (*verified.checks, Check("challenge", verdict, text))
    finds = tuple(find for one in each for find in one.finds)[:MOST_FOUND]
    return replace(
        verified, checks=checks, tried=tried, feasible=feasible, found=found, finds=finds
    )


def _try(point: WrittenFront, share: int, number: int, step: Callable[[int], None]) -> _Tried:
    """Compare so many designs with a front."""
    tried = feasible = found = wrong = 0
    random, known = np.random.default_rng([0, number]), {row.tobytes() for row in point.index}
    index, loss = point.index[:0], point.loss[:0]
    equals = np.zeros(len(point.loss), dtype=np.int64)
    for rivals in challenge.rival_designs(point.problem, point.index, share, random):
        designs = rivals[point.problem.known(rivals)]
        evaluation = point.problem.evaluate(designs)
        good, losses = designs[evaluation.feasible], evaluation.loss[evaluation.feasible]
        tried, feasible = tried + len(designs), feasible + len(good)
        equals += _equal_counts(losses, point.loss)
        if lacking := _lacking(point, good, losses, known):
            found += len(lacking)
            index = np.concatenate([index, good[lacking]])
            loss = np.concatenate([loss, losses[lacking]])
            kept = nondominated(loss)
            index, loss = index[kept], loss[kept]
        step(len(designs))
    said = point.table.get(tables.EQUALS)
    if said is not None and said.any() and point.problem.size <= share:
        wrong = int((~_same(said, equals)).sum())  # 2.0 beside empty cells of a heuristic
    finds = [_find(point, *pair) for pair in zip(index, loss, strict=True)]
    return _Tried(tried, feasible, found, wrong, finds)


def _equal_counts(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each row of a front (k, m) the number of designs with its objective values."""
    row = challenge.weakly_dominating(loss, front)
    as_good, row = loss[row >= 0], row[row >= 0]
    return np.bincount(row[(as_good == front[row]).all(axis=1)], minlength=len(front))


def _which(points: Points, share: int) -> str:
    """Return the description of the tried designs if each front has so many trials."""
    whole = all(point.problem.size <= share for point in points)
    limits = [(one.problem.measured, one.problem.beforehand) for one in points]
    known = [(one.setup.seen, most.most) for one, most in limits if one and most]
    if any(len(seen) < most for seen, most in known):
        return EVERY_MEASURED if whole else SOME_MEASURED
    return EVERY if whole else SOME


def _lacking(
    point: WrittenFront,
    designs: Index,
    loss: NDArray[np.float64],
    known: set[bytes],
) -> list[int]:
    """Return the indices of feasible designs that a front lacks.

    A front need not hold every design of equal objective values: another may be in its place, with
    values that were rounded differently.  Designs that are `known` already are omitted, and the
    returned ones become known.
    """
    missing = challenge.weakly_dominating(challenge.at_most(loss), point.loss) < 0
    found = []
    for row in np.flatnonzero(missing):
        key = designs[row].tobytes()
        if key not in known:
            known.add(key)
            found.append(int(row))
    return found


def _find(point: WrittenFront, design: NDArray[np.int64], loss: NDArray[np.float64]) -> Find:
    dominated = np.flatnonzero((point.loss >= loss).all(axis=1))
    relation = "dominates" if len(dominated) else "incomparable"
    text = ", ".join(filter(None, [point.where, exact_name(point.problem, design)]))
    row = int(point.numbers[dominated[0]]) + 1 if len(dominated) else None
    return Find(text, objective_values(point.problem, loss), relation, row)


def check_summary(run: Finished, every: Points) -> Check:
    """Check the manifest's account of the front: its quality, notes, and the recommended design."""
    parts = [_measured(point, run, place) for place, point in enumerate(every)]
    facts = front_facts(run.sweep, parts, run.manifest)
    error = max(part.quality.hypervolume.error for part in parts)
    volume = f"hypervolume (estimated, ± {error:.2g})" if error else "hypervolume"
    right = f"{volume}, reference point, recommended design, notes and names follow from the front"
    return _compared("summary", run, facts, right)


def _measured(point: WrittenFront, run: Finished, place: int) -> FrontOfPart:
    """Return a front in the form of a manifest.  Another check reports infeasible designs."""
    index, loss = point.index[point.feasible], point.loss[point.feasible]
    points = run.manifest.get("points", [run.manifest])
    said = points[place] if place < len(points) else {}
    share = said.get("hypervolume_share_of_exact")
    compare = not run.manifest["certificate"]["unfinished"] or share is not None
    exact = said.get("exact", False)
    quality = measure_front(point.problem, loss, exact=exact, compare=compare)
    return FrontOfPart(point.study, index, quality, exact)


def _compared(name: str, run: Finished, facts: Mapping[str, Any], right: str) -> Check:
    """Return a check that the manifest has some facts."""
    said = {key: run.manifest[key] for key in facts if key in run.manifest}
    return check_of(name, list(_differences("", said, jsonable(dict(facts)))), right)


def _differences(name: str, said: Any, right: Any) -> Iterator[str]:
    """Yield the differences of plain data."""
    if isinstance(said, dict | list) and type(said) is type(right):
        old, new = (dict(enumerate(one)) if isinstance(one, list) else one for one in (said, right))
        for key in dict.fromkeys([*new, *old]):
            path = f"{name}.{key}".lstrip(".")
            if key not in old:
                yield f"{path} is missing from the manifest"
            elif key in new:
                yield from _differences(path, old[key], new[key])
            else:
                yield f"{path} of the manifest does not belong there"
    elif not _is_same(said, right):
        yield f"{name} of the manifest is {_shown(said)}, and should be {_shown(right)}"


def _is_same(said: Any, right: Any) -> bool:
    """Return whether two plain values are the same, numbers within `BOUND_TOLERANCE`."""
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in (said, right)):
        return type(said) is type(right) and bool(said == right)
    return math.isclose(said, right, rel_tol=BOUND_TOLERANCE, abs_tol=0.0)


def _shown(value: Any) -> str:
    return f"{value:,}" if type(value) is int else shortened(str(value))

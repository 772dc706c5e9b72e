"""Checking a finished run again, independently of the search that made it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.audit import challenge
from dse.audit.verdict import FAILS, FOUND, HOLDS, Check, Find, Verification, check_of
from dse.errors import DseError, OutputError, shortened
from dse.files.json import jsonable
from dse.model import tables
from dse.model.evaluation import LEDGER, Ledger, ledger_of
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.tables import Table
from dse.reports.designs import objective_values
from dse.reports.text import listed, plural, rule_text
from dse.runs import finished, record
from dse.runs.design_names import exact_name
from dse.runs.finished import Finished, stands_for
from dse.runs.limits import BOUND_TOLERANCE
from dse.runs.manifest import front_facts, study_facts
from dse.runs.notes import FrontOfPart
from dse.runs.runner import measure_front
from dse.runs.tables import EVALUATIONS, FEASIBLE, read_evaluations
from dse.search import Progress
from dse.study import study
from dse.study.study import Study

ACCOUNTS = ("evaluated", "pruned_as_dominated", "pruned_as_infeasible")
"""Counts of designs in a certificate."""


@dataclass(frozen=True)
class WrittenFront:
    """The front of one value of a sweep (`where`, as an assignment), or of the one study.

    `numbers` are its rows of front.csv, counted from 0.  `index`, `loss` and `feasible` are its
    designs, evaluated again, and `equals` the written number of designs that share each vector.
    """

    where: str
    study: Study
    numbers: NDArray[np.int64]
    index: Index
    loss: NDArray[np.float64]
    feasible: NDArray[np.bool_]
    equals: NDArray[np.object_]

    @property
    def problem(self) -> Problem:
        """Return the problem of the study."""
        return self.study.problem


Rows = NDArray[np.intp]


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
        found, places = prepared.problem.evaluate(index), np.array(numbers, dtype=np.int64)
        equals = np.array([row.get(tables.EQUALS, "") for row in rows], dtype=object)
        yield WrittenFront(where, prepared, places, index, found.loss, found.feasible, equals)


def check_accounting(run: Finished, every: Points) -> Check:
    """Check that the counts of the manifest add up, and agree with its study and rows."""
    certificate = run.manifest["certificate"]
    designs = sum(point.problem.whole_size for point in every)
    evaluated, *pruned = (certificate[name] for name in ACCOUNTS)
    accounted = evaluated + sum(pruned)
    shown = (
        f"{evaluated:,} evaluated + {pruned[0]:,} pruned as dominated "
        f"+ {pruned[1]:,} pruned as infeasible"
    )
    wrong = _miscounted(run, certificate, every)
    exact = run.manifest["exact"]
    if exact != (accounted == designs) or accounted > designs:
        claim = "exact" if exact else "not exact"
        wrong.append(f"{shown} is {accounted:,} of {designs:,} designs, and the front {claim}")
    if (by := sum(certificate["pruned_by"].values())) != sum(pruned):
        wrong.append(f"certificate.pruned_by is {by:,} in all, and should be {sum(pruned):,}")
    wrong += _wrong_feasible(run, evaluated, pruned[0], accounted == designs)
    wrong = wrong or _wrong_ledger(run, evaluated, sum(pruned), every)
    return check_of("accounting", wrong, f"{shown} {'=' if exact else 'of'} {designs:,} designs")


def _wrong_ledger(run: Finished, evaluated: int, pruned: int, every: Points) -> list[str]:
    """Return the errors of the ledger of the manifest."""
    said, designs = ledger_of(run.manifest), sum(point.problem.whole_size for point in every)
    failed = sum(_failed(point.problem) for point in every)
    right = said.failed == failed if said.settled else said.failed <= failed
    open_ended = any(point.problem.continuous for point in every)
    right &= said.exact == run.manifest["exact"]
    whole = said.known + said.failed + said.unknown + said.pruned
    right &= (said.known, said.pruned) == (evaluated, pruned) and (open_ended or whole == designs)
    return [] if right else [f"{LEDGER} of the manifest contradicts its counts"]


def _failed(problem: Problem) -> int:
    """Return the number of failed designs of a problem, known from its measurements."""
    if problem.measured is None:
        return 0
    each = problem.size // problem.measured.size(problem.space)
    return each * problem.measured.setup.ledger.failed


def _miscounted(run: Finished, certificate: Mapping[str, Any], every: Points) -> list[str]:
    """Return the counts of the manifest that differ from its study and rows."""
    counts = [
        ("certificate.designs", certificate, sum(point.problem.whole_size for point in every)),
        ("evaluated", run.manifest, certificate["evaluated"]),
    ]
    return [
        f"{name} of the manifest is {said:,}, and should be {right:,}"
        for name, holder, right in counts
        if (said := holder[name.rpartition(".")[2]]) != right
    ]


def _wrong_feasible(run: Finished, evaluated: int, dominated: int, every: bool) -> list[str]:
    """Return errors in the counts of feasible designs, of the evaluated ones and of all."""
    feasible, known = run.manifest["feasible"], run.manifest["feasible_in_space"]
    if not len(run.rows) <= feasible <= evaluated:
        return [f"{feasible:,} feasible is less than the front or more than were evaluated"]
    if known is None or (known == feasible + dominated and every):
        return []
    right = f"{feasible:,} feasible + {dominated:,} pruned as dominated"
    return [f"feasible_in_space of the manifest is {known:,}, and should be {right}"]


def check_designs(run: Finished, every: Points) -> Check:
    """Check that every row is a design, and no design is there twice."""
    wrong = []
    placed = np.concatenate([point.numbers for point in every])
    for number in sorted(set(range(len(run.rows))) - set(placed.tolist())):
        wrong.append(f"row {number + 1} has a value that is not in the sweep")
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
    wrong, columns = [], list(run.rows[0]) if run.rows else []
    for point in every:
        expected = tables.design_table(point.problem, point.index)
        rows = [run.rows[number] for number in point.numbers]
        lacking = [name for name in expected if rows and name not in columns]
        wrong += [f"front.csv lacks the column {name}" for name in lacking]
        for name in columns:
            swept = run.sweep is not None and name == run.sweep.header
            if name not in expected and (swept or name == tables.EQUALS):  # not of the model
                continue
            empty = np.full(len(rows), tables.absent(name))  # a column of other values of the sweep
            values = expected.get(name, empty)
            for number, row, value in zip(point.numbers, rows, values, strict=True):
                if not stands_for(row[name], value):
                    said = f"{row[name]!r} is written, the model gives {value}"
                    wrong.append(f"row {number + 1}, {name}: {said}")
    right = f"{len(columns)} columns of {plural(len(run.rows), 'row')} as the model has them"
    return check_of("numbers", wrong, f"{right}, within {BOUND_TOLERANCE:g}, relative")


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
        wrong = list(_wrong(run, every, table))
    except OutputError as error:
        return check_of("evaluations", [str(error)], "")
    rows = plural(_length(table), "row")
    right = f"{rows} of {EVALUATIONS} as the model has them, each a design, once"
    return check_of("evaluations", wrong, right)


def _length(table: Table) -> int:
    return len(next(iter(table.values()), ()))


def _wrong(run: Finished, every: Points, table: Table) -> Iterator[str]:
    said, file = run.manifest["evaluations_stored"], EVALUATIONS
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
        yield f"{file} has rows that are not in the order of the sweep"


def _rows_of(run: Finished, choice: int, table: Table) -> Rows:
    """Return which rows belong to one value of the sweep."""
    if run.sweep is None:
        return np.arange(_length(table))
    column, value = run.sweep.header, run.sweep.values[choice]
    if column not in table:
        raise OutputError(f"{EVALUATIONS} lacks the column {column}")
    return np.flatnonzero(_same(table[column], np.full(_length(table), value)))


def _wrong_part(run: Finished, point: WrittenFront, rows: Rows, part: Table) -> Iterator[str]:
    """Yield the errors of the evaluations at one value of the sweep."""
    file = EVALUATIONS
    index = _designs(point, rows, part, file)
    for row in np.flatnonzero(~_rising(index)):
        yield f"row {rows[row + 1] + 1} of {file} is a design again, or out of order"
    expected = tables.design_table(point.problem, index)
    expected[FEASIBLE] = point.problem.evaluate(index).feasible
    lacking = [name for name in expected if name not in part]
    yield from (f"{file} lacks the column {name}" for name in lacking)
    for name, written in part.items():
        if run.sweep is not None and name == run.sweep.header:
            continue  # it has the value of the sweep of each row
        empty = np.full(len(index), tables.absent(name))  # a column of other values of the sweep
        for row in np.flatnonzero(~_same(written, expected.get(name, empty))):
            model = f", the model gives {expected[name][row]}" if name in expected else ""
            place = f"row {rows[row] + 1} of {file}, {name}"
            yield f"{place}: {written[row]!s} is written{model}"


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


def _same(written: NDArray[np.generic], expected: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return which values are the same, numbers within `BOUND_TOLERANCE`, missing ones as NaN."""
    if written.dtype.kind in "fiub" and expected.dtype.kind in "fiub":
        with np.errstate(invalid="ignore"):
            same = np.isclose(written, expected, rtol=BOUND_TOLERANCE, atol=0.0, equal_nan=True)
        return np.asarray(same)
    pairs = zip(written.tolist(), expected.tolist(), strict=True)
    return np.array([a == b or (_is_empty(a) and _is_empty(b)) for a, b in pairs], dtype=bool)


def _is_empty(value: object) -> bool:
    return value is None or value != value


MOST_FOUND = 20
"""Most designs that are kept of the best that a front lacks."""

EVERY, SOME = "every design", "random designs and neighbours of the front"
EVERY_MEASURED, SOME_MEASURED = "every design that was measured", f"{SOME}, if they were measured"
"""Designs that were tried."""

Designs = tuple[Index, NDArray[np.float64]]
"""Designs (n, d) and their losses (n, m)."""


def verify_run(
    folder: Path, *, trials: int, seed: int = 0, progress: Progress | None = None
) -> Verification:
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
    known = run.manifest["feasible_in_space"]
    verified = Verification(folder, ledger, found)
    return _challenged(verified, points, trials, seed, known, progress)


def _challenged(
    verified: Verification,
    points: tuple[WrittenFront, ...],
    trials: int,
    seed: int,
    known: int | None,
    progress: Progress | None,
) -> Verification:
    """Return the checks and the attempt to find designs that the front lacks."""
    share = max(1, trials // len(points))
    tried = feasible = found = wrong = 0
    finds: list[Find] = []
    for number, point in enumerate(points):
        random = np.random.default_rng([seed, number])
        printed, best = {row.tobytes() for row in point.index}, (point.index[:0], point.loss[:0])
        equals = np.zeros(len(point.loss), dtype=np.int64)
        for rivals in challenge.rival_designs(point.problem, point.index, share, random):
            designs = rivals[point.problem.known(rivals)]
            evaluation = point.problem.evaluate(designs)
            good = np.flatnonzero(evaluation.feasible)
            tried, feasible = tried + len(designs), feasible + len(good)
            lacking = good[_lacking(point, designs[good], evaluation.loss[good], printed)]
            found += len(lacking)
            equals += _equal_counts(evaluation.loss[good], point.loss)
            best = _best(best, (designs[lacking], evaluation.loss[lacking]))
            if progress is not None:
                progress(min(tried, trials), trials)
        finds += [_find(point, *pair) for pair in zip(*best, strict=True)]
        if point.equals.any() and point.problem.size <= share:
            wrong += int((equals.astype(str) != point.equals).sum())
    which = _which([point.problem for point in points], share)
    check = _challenge(verified.ledger, which, tried, feasible, found, known, wrong)
    return replace(
        verified,
        checks=(*verified.checks, check),
        tried=tried,
        feasible=feasible,
        found=found,
        finds=tuple(finds[:MOST_FOUND]),
    )


def _equal_counts(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each row of a front (k, m) the number of designs with its objective values."""
    row = challenge.weakly_dominating(loss, front)
    as_good, row = loss[row >= 0], row[row >= 0]
    return np.bincount(row[(as_good == front[row]).all(axis=1)], minlength=len(front))


def _which(problems: Sequence[Problem], share: int) -> str:
    """Return the description of the tried designs if each problem has so many trials."""
    whole = all(problem.size <= share for problem in problems)
    limits = [(one.measured, one.beforehand) for one in problems]
    known = [(one.setup.seen, most.most) for one, most in limits if one and most]
    if any(len(seen) < most for seen, most in known):
        return EVERY_MEASURED if whole else SOME_MEASURED
    return EVERY if whole else SOME


def _best(before: Designs, more: Designs) -> Designs:
    """Return the nondominated designs of both, for showing."""
    if not len(more[0]):
        return before
    index, loss = (np.concatenate(parts) for parts in zip(before, more, strict=True))
    kept = nondominated(loss)
    return index[kept], loss[kept]


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


def _challenge(
    ledger: Ledger, which: str, tried: int, feasible: int, found: int, known: int | None, wrong: int
) -> Check:
    text = f"{tried:,} tried ({which}), {feasible:,} feasible, "
    if wrong:
        return Check(
            "challenge", FAILS, f"{text}and {tables.EQUALS} of {plural(wrong, 'row')} is wrong"
        )
    if which == EVERY and known not in (None, feasible):
        return Check("challenge", FAILS, f"{text}and feasible_in_space of the manifest is {known}")
    if not found:
        return Check("challenge", HOLDS, f"{text}none missing from the front")
    missing = f"{text}{found:,} missing from the front"
    if ledger.settled:
        return Check("challenge", FAILS, f"{missing}, which refutes that it is exact")
    return Check("challenge", FOUND, f"{missing}: improvements on a front that is not proven")


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
    if isinstance(said, dict) and isinstance(right, dict):
        for key in dict.fromkeys([*right, *said]):
            path = f"{name}.{key}".lstrip(".")
            if key not in said:
                yield f"{path} is missing from the manifest"
            elif key in right:
                yield from _differences(path, said[key], right[key])
            else:
                yield f"{path} of the manifest does not belong there"
    elif isinstance(said, list) and isinstance(right, list):
        yield from _different_lists(name, said, right)
    elif not _is_same(said, right):
        yield f"{name} of the manifest is {_shown(said)}, and should be {_shown(right)}"


def _different_lists(name: str, said: list[Any], right: list[Any]) -> Iterator[str]:
    if len(said) == len(right):
        for place, pair in enumerate(zip(said, right, strict=True)):
            yield from _differences(f"{name}.{place}", *pair)
        return
    yield f"{name} of the manifest has {len(said):,} entries, and should have {len(right):,}"
    for entry in right:
        if isinstance(entry, str) and entry not in said:
            yield f"{name} of the manifest lacks {_shown(entry)!r}"


def _is_same(said: Any, right: Any) -> bool:
    """Return whether two plain values are the same, numbers within `BOUND_TOLERANCE`."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return bool(said == right)
    if not isinstance(right, int | float):
        return False
    return math.isclose(said, right, rel_tol=BOUND_TOLERANCE, abs_tol=0.0)


def _shown(value: Any) -> str:
    return f"{value:,}" if type(value) is int else shortened(str(value))

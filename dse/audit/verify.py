"""Checking a finished run again, independently of the search that made it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.audit import challenge, checks
from dse.audit.checks import Points, WrittenFront
from dse.audit.verdict import FAILS, FOUND, HOLDS, Check, Find, Verification, check_of
from dse.errors import DseError, shortened
from dse.files.json import jsonable
from dse.model.evaluation import Ledger, ledger_of
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import objective_values
from dse.runs import finished, run_files
from dse.runs.design_names import exact_name
from dse.runs.finished import Finished
from dse.runs.limits import TOLERANCE
from dse.runs.manifest import UNMET, front_facts, study_facts
from dse.runs.notes import Counts, FrontOfPart
from dse.runs.runner import measure_front
from dse.search import Progress
from dse.study.reader import MISSING, lookup

MOST_FOUND = 20
"""Most designs that are kept of the best that a front lacks."""

EVERY, SOME = "every design", "random designs and neighbours of the front"
EVERY_MEASURED, SOME_MEASURED = "every design that was measured", f"{SOME}, if they were measured"
"""What was tried."""

Designs = tuple[Index, NDArray[np.float64]]
"""Designs (n, d) and their losses (n, m)."""


def verify_run(
    folder: Path, *, trials: int, seed: int = 0, progress: Progress | None = None
) -> Verification:
    """Check the run in `folder` again; parameters and errors as in `dse.verify`."""
    manifest = finished.read_manifest(folder, changed=True)
    ledger = ledger_of(manifest)
    files, entries = run_files.changed_files(manifest, folder), run_files.changed_entries(manifest)
    written = (
        check_of("files", [*files], "each is the one that the run wrote, by its checksum"),
        check_of("manifest", [*entries], "each entry is what the run wrote, by its checksum"),
    )
    try:
        run = finished.read_run(folder, changed=True)
        points = tuple(checks.points(run))
    except checks.NoDesignError as error:
        return Verification(folder, ledger, (*written, check_of("designs", [str(error)], "")))
    except DseError as error:
        if all(check.holds for check in written):
            raise
        return Verification(folder, ledger, (*written, check_of("study", [str(error)], "")))
    facts, said = study_facts(run.document, [one.study for one in points]), run.manifest
    text = f"the manifest's text, sha256 {str(said.get('study_sha256'))[:12]}"
    found = (
        *written,
        _compared("study", run, facts, text),
        checks.check_accounting(run, points),
        checks.check_designs(run, points),
        checks.check_numbers(run, points),
        checks.check_feasible(points),
        checks.check_mutual(points),
        check_summary(run, points),
        checks.check_evaluations(run, points),
    )
    known = run.manifest.get("feasible_in_space")
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
    """Return what was checked and the attempt to find designs that the front lacks."""
    share = max(1, trials // len(points))
    tried = feasible = found = 0
    finds: list[Find] = []
    for number, point in enumerate(points):
        random = np.random.default_rng([seed, number])
        printed = {row.tobytes() for row in point.index}
        best = (point.index[:0], point.loss[:0])
        for rivals in challenge.rival_designs(point.problem, point.index, share, random):
            designs = rivals[point.problem.known(rivals)]
            evaluation = point.problem.evaluate(designs)
            good = np.flatnonzero(evaluation.feasible)
            tried, feasible = tried + len(designs), feasible + len(good)
            lacking = good[_lacking(point, designs[good], evaluation.loss[good], printed, verified)]
            found += len(lacking)
            best = _best(best, (designs[lacking], evaluation.loss[lacking]))
            if progress is not None:
                progress(min(tried, trials), trials)
        finds += [_find(point, *pair) for pair in zip(*best, strict=True)]
    which = _which([point.problem for point in points], share)
    return replace(
        verified,
        checks=(
            *verified.checks,
            _challenge(verified.ledger, which, tried, feasible, found, known),
        ),
        tried=tried,
        feasible=feasible,
        found=found,
        finds=tuple(finds[:MOST_FOUND]),
    )


def _which(problems: Sequence[Problem], share: int) -> str:
    """Return what is tried where each problem has so many trials."""
    whole = all(problem.size <= share for problem in problems)
    limits = [(one.measured, one.beforehand) for one in problems]
    known = [(one.bench.seen, most.most) for one, most in limits if one and most]
    if any(len(seen) < most for seen, most in known):
        return EVERY_MEASURED if whole else SOME_MEASURED
    return EVERY if whole else SOME


def _best(before: Designs, more: Designs) -> Designs:
    """Return the designs of both that none of them dominates, for showing."""
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
    verified: Verification,
) -> list[int]:
    """Return which of some feasible designs a front lacks.

    A front that lacks no design but those that failed holds every design with the objective values
    of a design on it.  Those that are `known` already are omitted; those that are returned become
    known.
    """
    dominating = challenge.weakly_dominating(loss, point.loss)
    missing = dominating < 0
    if verified.ledger.settled and len(point.loss):
        missing |= (loss == point.loss[dominating]).all(axis=1)
    found = []
    for row in np.flatnonzero(missing):
        key = designs[row].tobytes()
        if key not in known:
            known.add(key)
            found.append(int(row))
    return found


def _find(point: WrittenFront, design: NDArray[np.int64], loss: NDArray[np.float64]) -> Find:
    equal = np.flatnonzero((point.loss == loss).all(axis=1))
    dominated = np.flatnonzero((point.loss >= loss).all(axis=1))
    relation = "equals" if len(equal) else "dominates" if len(dominated) else "incomparable"
    text = ", ".join(filter(None, [point.where, exact_name(point.problem, design)]))
    row = int(point.numbers[dominated[0]]) + 1 if len(dominated) else None
    return Find(text, objective_values(point.problem, loss), relation, row)


def _challenge(
    ledger: Ledger, which: str, tried: int, feasible: int, found: int, known: int | None
) -> Check:
    text = f"{tried:,} tried ({which}), {feasible:,} feasible, "
    if which == EVERY and known not in (None, feasible):
        return Check("challenge", FAILS, f"{text}and feasible_in_space of the manifest is {known}")
    if not found:
        return Check("challenge", HOLDS, f"{text}none missing from the front")
    missing = f"{text}{found:,} missing from the front"
    if ledger.settled:
        return Check("challenge", FAILS, f"{missing}, which refutes that it is exact")
    return Check("challenge", FOUND, f"{missing}: improvements on a front that is not proven")


def check_summary(run: Finished, every: Points) -> Check:
    """Check what the manifest says of the front: how good it is, notes, what is recommended."""
    evaluated, failed = (_whole(run.manifest.get(name)) for name in ("evaluated", "failed"))
    interrupted = run.manifest.get("interrupted") is True
    failure = str(run.manifest.get("failure", ""))
    unmet = run.manifest.get(UNMET)
    unmet = [str(text) for text in unmet] if isinstance(unmet, list) else ()
    counts = Counts(evaluated, failed, failure, interrupted, unmet)
    parts = [_measured(point, run, place) for place, point in enumerate(every)]
    facts = front_facts(run.document, run.sweep, parts, counts)
    error = max(part.quality.hypervolume.error for part in parts)
    volume = f"hypervolume (estimated, ± {error:.2g})" if error else "hypervolume"
    right = f"{volume}, reference point, recommended design, notes and names follow from the front"
    return _compared("summary", run, facts, right)


def _whole(said: object) -> int:
    return said if isinstance(said, int) else 0


def _measured(point: WrittenFront, run: Finished, place: int) -> FrontOfPart:
    """Return a front as a manifest is made of it; another check reports what is infeasible."""
    index, loss = point.index[point.feasible], point.loss[point.feasible]
    said = lookup(run.manifest, () if run.sweep is None else ("points", place))
    said = said if isinstance(said, dict) else {}
    unfinished = lookup(run.manifest, ("certificate", "unfinished"))
    compare = unfinished in (MISSING, []) or said.get("hypervolume_share_of_exact") is not None
    exact = bool(said.get("exact"))
    quality = measure_front(point.problem, loss, exact=exact, compare=compare)
    return FrontOfPart(point.study, index, quality, exact)


def _compared(name: str, run: Finished, facts: Mapping[str, Any], right: str) -> Check:
    """Return whether the manifest has some facts."""
    said = {key: run.manifest[key] for key in facts if key in run.manifest}
    return check_of(name, list(_differences("", said, jsonable(dict(facts)))), right)


def _differences(name: str, said: Any, right: Any) -> Iterator[str]:
    """Yield where plain data differs."""
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
    """Whether two plain values are the same, numbers within `TOLERANCE`."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return bool(said == right)
    if not isinstance(right, int | float):
        return False
    return math.isclose(said, right, rel_tol=TOLERANCE, abs_tol=0.0)


def _shown(value: Any) -> str:
    return f"{value:,}" if type(value) is int else shortened(str(value))

"""Checking a finished run again, independently of the search that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dse import challenge, checks, chosen, finished
from dse.checks import Point
from dse.errors import OutputError
from dse.search import Progress
from dse.space import Index
from dse.verified import Check, Find, Verified, check

TRIALS = 1_000_000
"""Random designs held against a front unless told otherwise."""

MOST_FOUND = 20
"""Most designs that are kept of all that beat a front."""


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
        points = tuple(checks.points(run))
    except OutputError as error:
        return Verified(folder, exact, (check("designs", [str(error)], ""),))
    found = (
        checks.check_study(run, points),
        checks.check_accounting(run, points),
        checks.check_designs(run, points),
        checks.check_numbers(run, points),
        checks.check_feasible(points),
        checks.check_mutual(points),
    )
    return _challenged(Verified(folder, exact, found), points, trials, seed, progress)


def _challenged(
    verified: Verified,
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
        known = {row.tobytes() for row in point.index}
        for designs in challenge.designs(point.problem, point.index, share, random):
            evaluation = point.problem.evaluate(designs)
            good = np.flatnonzero(evaluation.feasible)
            tried, feasible = tried + len(designs), feasible + len(good)
            loss = evaluation.loss[good]
            for row, cover in _lacking(point, designs[good], loss, known, exact=verified.exact):
                found += 1
                if len(finds) < MOST_FOUND:
                    finds.append(_find(point, designs[good[row]], loss[row], cover))
            if progress is not None:
                progress(min(tried, trials), trials)
    whole = all(point.problem.size <= share for point in points)
    all_checks = (*verified.checks, _unbeaten(verified.exact, whole, tried, feasible, found))
    return replace(
        verified,
        checks=all_checks,
        tried=tried,
        feasible=feasible,
        found=found,
        finds=tuple(finds),
    )


def _lacking(
    point: Point, designs: Index, loss: NDArray[np.float64], known: set[bytes], *, exact: bool
) -> Iterator[tuple[int, int]]:
    """Yield the rows of feasible `designs` that a front lacks, and what covers each or -1.

    An exact front holds every design that is worth what a design on it is worth.  Those that
    are `known` already are left out; those that are yielded become known.
    """
    covers = challenge.covering(loss, point.loss)
    missing = covers < 0
    if exact and len(point.loss):
        missing |= (loss == point.loss[covers]).all(axis=1)
    for row in np.flatnonzero(missing):
        key = designs[row].tobytes()
        if key not in known:
            known.add(key)
            yield int(row), int(covers[row])


def _find(point: Point, design: NDArray[np.int64], loss: NDArray[np.float64], cover: int) -> Find:
    beaten = np.flatnonzero((point.loss >= loss).all(axis=1))
    relation = "equals" if cover >= 0 else "dominates" if len(beaten) else "incomparable"
    row = cover if cover >= 0 else int(beaten[0]) if len(beaten) else None
    text = ", ".join(filter(None, [point.where, chosen.text(point.problem, design)]))
    number = None if row is None else int(point.numbers[row]) + 1
    return Find(text, chosen.worth(point.problem, loss), relation, number)


def _unbeaten(exact: bool, whole: bool, tried: int, feasible: int, found: int) -> Check:
    which = "every design" if whole else "random designs and neighbours of the front"
    text = f"{tried:,} tried ({which}), {feasible:,} feasible, "
    if not found:
        return Check("unbeaten", True, f"{text}none that the front lacks")
    lacks = f"{found:,} that the front lacks"
    if exact:
        return Check("unbeaten", False, f"{text}{lacks}, which refutes that it is exact")
    return Check("unbeaten", True, f"{text}{lacks}: improvements on a heuristic's front")

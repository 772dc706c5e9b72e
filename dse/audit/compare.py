"""Comparing two finished runs: which designs moved, and which change did it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from dse.audit.attribution import SAME, FrontOfStudy, Identity, StudiesBetween
from dse.audit.changes import Change
from dse.audit.diff import ComparedFronts, Moved, RunComparison
from dse.errors import DseError
from dse.model import tables
from dse.model.front import hypervolume, reference_point
from dse.reports.designs import objective_values
from dse.reports.words import plural
from dse.runs import finished
from dse.runs.finished import Finished
from dse.study import study


class DifferentError(DseError):
    """Two runs that cannot be compared."""


def compare_runs(first: Path, second: Path) -> RunComparison:
    """Compare the runs in two folders.

    Raises
    ------
    OutputError
        When one is not the folder of a run.
    DifferentError
        When they have other objectives, or sweep other fields or no common value.
    """
    runs = finished.read_run(first), finished.read_run(second)
    pairs, alone = _pairs(*runs)
    _check_goals(*runs)
    goals = tuple(study.prepare(runs[0].document_at(pairs[0][0])).problem.goals)
    points = []
    found: tuple[Change, ...] = ()
    for choices in pairs:
        first_side, second_side = map(_side, runs, choices)
        between = StudiesBetween(first_side, second_side)
        found = found or between.changes
        sweep = runs[0].sweep
        points.append(_point(between, sweep.values[choices[0]] if sweep else None))
    before, after = (run.manifest.get("versions", {}) for run in runs)
    versions = {
        name: (str(before.get(name, "none")), str(after.get(name, "none")))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }
    swept = str(runs[0].manifest["sweep"]) if runs[0].sweep else ""
    notes = (*_heuristics(runs), *alone)
    return RunComparison((first, second), goals, found, versions, swept, tuple(points), notes)


def _pairs(first: Finished, second: Finished) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the indices of the sweeps' common values, and what is left out, in words."""
    paths = [run.sweep.path if run.sweep else None for run in (first, second)]
    if paths[0] != paths[1]:
        shown = " and ".join(path or "nothing" for path in paths)
        raise DifferentError(f"the runs sweep different fields: {shown}; sweep the same field")
    if first.sweep is None or second.sweep is None:
        return [(0, 0)], []
    others = {value: choice for choice, value in enumerate(second.sweep.values)}
    values = enumerate(first.sweep.values)
    pairs = [(choice, others[value]) for choice, value in values if value in others]
    if not pairs:
        raise DifferentError(
            f"the runs have no value of {paths[0]} in common; sweep some of the same values"
        )
    left = [len(run.sweep.values) - len(pairs) for run in (first, second) if run.sweep]
    notes = [
        f"{plural(count, 'value')} of {paths[0]} only in the {which} run"
        for count, which in zip(left, ("first", "second"), strict=True)
        if count
    ]
    return pairs, notes


def _check_goals(first: Finished, second: Finished) -> None:
    objectives = [dict(run.manifest["objectives"]) for run in (first, second)]
    if objectives[0] != objectives[1]:
        shown = " and ".join(
            ", ".join(f"{sense} {name}" for name, sense in goals.items()) for goals in objectives
        )
        raise DifferentError(
            f"the runs have different objectives: {shown}; fronts of different objectives "
            "cannot be compared, run both studies with the same ones"
        )


def _heuristics(runs: tuple[Finished, Finished]) -> Iterator[str]:
    for run in runs:
        if not run.manifest.get("exact"):
            yield f"the front of {run.folder} is a heuristic's ({run.manifest.get('method')})"


def _side(run: Finished, choice: int) -> FrontOfStudy:
    rows = [run.rows[number] for number in run.row_numbers(choice)]
    return FrontOfStudy(run.document_at(choice), *run.front_at(choice), rows)


def _point(between: StudiesBetween, value: float | str | None) -> ComparedFronts:
    """Return what differs between two fronts."""
    first, second = between.first, between.second
    before, after = between.placed(first), between.placed(second)
    old = {known: first.numbers(row) for known, row in before.items()}
    new = {known: second.numbers(row) for known, row in after.items()}
    names = _names(first, before) | _names(second, after)
    both = [known for known in before if known in after]
    reference, volumes = _volumes(first, second)
    return ComparedFronts(
        value=value,
        designs=(len(before), len(after), len(both)),
        gained=tuple(
            Moved(names[known], None, new[known], between.cause(known))
            for known in after
            if known not in before
        ),
        lost=tuple(
            Moved(names[known], old[known], None, between.cause(known))
            for known in before
            if known not in after
        ),
        moved=tuple(
            Moved(names[known], old[known], new[known], between.cause_of_move(before[known]))
            for known in both
            if not _same(old[known], new[known])
        ),
        reference=reference,
        volumes=volumes,
    )


def _names(side: FrontOfStudy, placed: Mapping[Identity, int]) -> dict[Identity, str]:
    shown = tables.described(side.prepared.problem, side.index)
    return {known: shown[row] for known, row in placed.items()}


def _volumes(
    first: FrontOfStudy, second: FrontOfStudy
) -> tuple[dict[str, float], tuple[float, float]]:
    losses = np.concatenate([first.loss, second.loss])
    if not len(losses):
        return {}, (math.nan, math.nan)
    fronts = [side.loss for side in (first, second) if len(side.rows)]
    corner = np.max([reference_point(loss) for loss in fronts], axis=0)
    ideal = losses.min(axis=0)
    old, new = (
        hypervolume(side.loss, corner, ideal=ideal) if len(side.rows) else 0.0
        for side in (first, second)
    )
    return objective_values(first.prepared.problem, corner), (old, new)


def _same(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    return all(
        math.isclose(value, after[name], rel_tol=SAME, abs_tol=0.0)
        for name, value in before.items()
    )

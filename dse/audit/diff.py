"""Two finished runs side by side: which designs moved, which change did it, how good they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dse.algebra import units
from dse.audit.attribution import SAME, Cause, FrontOfStudy, StudiesBetween
from dse.audit.changes import Change
from dse.errors import DseError
from dse.model.evaluation import Goal, ledger_of
from dse.model.volume import NOTHING, Volume, hypervolume, reference_point
from dse.reports.designs import described, objective_values
from dse.reports.text import Printable, in_words, plural, table_text, with_error
from dse.runs import finished
from dse.runs.finished import Finished
from dse.study import study

MOST_ROWS = 15
"""Most designs of one kind in the text; the JSON holds all."""


@dataclass(frozen=True)
class Moved:
    """A design that is gained, lost, or has other numbers; numbers are None where it is not."""

    design: str
    before: Mapping[str, float] | None
    after: Mapping[str, float] | None
    cause: Cause

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        cause = {
            name: [change.to_dict() for change in changes]
            for name, changes in vars(self.cause).items()
        }
        return vars(self) | {"cause": cause}


@dataclass(frozen=True)
class ComparedFronts:
    """Two fronts of one study, or of one value of a sweep.

    Attributes
    ----------
    value
        Of the swept field, in SI or a name; None without a sweep.
    designs
        Designs on the first front, on the second, and on both.
    differences
        Designs on one front only, and on both with other numbers.
    reference, volumes
        The point up to which both hypervolumes count, by objective, and these as shares of the
        box between it and the best values of both fronts; NaN where both are empty.
    """

    value: float | str | None
    designs: tuple[int, int, int]
    differences: tuple[Moved, ...]
    reference: Mapping[str, float]
    volumes: tuple[Volume, Volume]

    @property
    def gained(self) -> tuple[Moved, ...]:
        """Designs on the second front only."""
        return tuple(entry for entry in self.differences if entry.before is None)

    @property
    def lost(self) -> tuple[Moved, ...]:
        """Designs on the first front only."""
        return tuple(entry for entry in self.differences if entry.after is None)

    @property
    def moved(self) -> tuple[Moved, ...]:
        """Designs on both fronts with other numbers."""
        return tuple(entry for entry in self.differences if entry.before and entry.after)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        before, after, both = self.designs
        first, second = self.volumes
        return {
            "value": self.value,
            "designs": {"first": before, "second": after, "both": both},
            "gained": [moved.to_dict() for moved in self.gained],
            "lost": [moved.to_dict() for moved in self.lost],
            "moved": [moved.to_dict() for moved in self.moved],
            "reference_point": dict(self.reference),
            "hypervolume": {
                "first": first.value,
                "first_error": first.error,
                "second": second.value,
                "second_error": second.error,
                "change": second.value - first.value,
            },
        }


@dataclass(frozen=True, repr=False)
class RunComparison(Printable):
    """Two runs side by side; `sweep` is the column of the swept field, empty without one."""

    folders: tuple[Path, Path]
    goals: tuple[Goal, ...]
    changes: tuple[Change, ...]
    versions: Mapping[str, tuple[str, str]]
    sweep: str
    points: tuple[ComparedFronts, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return a comparison as text; the changes have numbers, by which causes refer to them."""
        parts = [" -> ".join(str(folder) for folder in self.folders), "\n".join(_changes(self))]
        differing = [point for point in self.points if point.differences]
        shown = differing if self.sweep else self.points
        parts += ["\n".join(_point(self, point)) for point in shown]
        if self.sweep:
            equal = len(self.points) - len(differing)
            parts.append(
                f"equal fronts at {equal} of {len(self.points)} values of {units.stem(self.sweep)}"
            )
        return "\n\n".join([*parts, *(f"note: {note}" for note in self.notes)])

    def summary(self) -> tuple[str, ...]:
        """Return what changed, and how many designs of the fronts did."""
        counts = [next(_point(self, point)) for point in self.points if point.differences]
        return (*(line.strip() for line in _changes(self)), *(counts or ["The fronts are equal."]))

    def to_dict(self) -> dict[str, Any]:
        """Return a comparison as plain data, for JSON."""
        return {
            "runs": [str(folder) for folder in self.folders],
            "objectives": {goal.name: goal.sense for goal in self.goals},
            "changes": [change.to_dict() for change in self.changes],
            "versions": {name: list(pair) for name, pair in self.versions.items()},
            "sweep": self.sweep or None,
            "points": [point.to_dict() for point in self.points],
            "notes": list(self.notes),
        }


def _changes(found: RunComparison) -> Iterator[str]:
    yield "what changed:" if found.changes else "the studies assume the same"
    for number, change in enumerate(found.changes, 1):
        yield f"  {number}. {change}"
    for name, (before, after) in found.versions.items():
        yield f"  version of {name}: {before} -> {after}"


def _point(found: RunComparison, point: ComparedFronts) -> Iterator[str]:
    before, after, both = point.designs
    value = point.value
    shown = units.show(value, found.sweep) if isinstance(value, float) else value
    where = f"at {units.stem(found.sweep)} = {shown}: " if found.sweep else ""
    first = plural(before, "design")
    yield f"{where}{first} on the first front, {after} on the second, {both} on both"
    goals = [goal.name for goal in found.goals]
    for kind, designs in (("gained", point.gained), ("lost", point.lost), ("moved", point.moved)):
        if not designs:
            continue
        rows = [
            (moved.design, *(_number(moved, name) for name in goals), _because(found, moved.cause))
            for moved in designs[:MOST_ROWS]
        ]
        headers = (kind, *map(in_words, goals), "by change")
        yield "\n" + table_text(rows, headers)
        if len(designs) > MOST_ROWS:
            yield f"... and {len(designs) - MOST_ROWS} more"
    if point.differences:
        reference = ", ".join(units.show(value, name) for name, value in point.reference.items())
        volumes = " -> ".join(with_error(one.value, one.error) for one in point.volumes)
        yield f"\nnormalised hypervolume: {volumes} (reference {reference})"


def _because(found: RunComparison, cause: Cause) -> str:
    """Return the numbers of the changes that did it."""
    numbers = {str(change): number for number, change in enumerate(found.changes, 1)}
    alone, together = (
        [str(numbers[str(change)]) for change in changes]
        for changes in (cause.alone, cause.together)
    )
    return " or ".join(alone) or " with ".join(together) or "none: the search or the models"


def _number(moved: Moved, name: str) -> str:
    shown = [units.show(side[name], name) for side in (moved.before, moved.after) if side]
    return " -> ".join(dict.fromkeys(shown))


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
    objectives = [dict(run.manifest["objectives"]) for run in runs]
    if objectives[0] != objectives[1]:
        shown = " and ".join(
            ", ".join(f"{sense} {name}" for name, sense in goals.items()) for goals in objectives
        )
        raise DifferentError(
            f"the runs have different objectives: {shown}; fronts of different objectives "
            "cannot be compared, run both studies with the same ones"
        )
    goals = tuple(study.prepare(runs[0].document_at(pairs[0][0])).problem.goals)
    points = []
    found: tuple[Change, ...] = ()
    for choices in pairs:
        first_side, second_side = map(_side, runs, choices)
        between = StudiesBetween(first_side, second_side)
        found = found or between.changes
        sweep = runs[0].sweep
        points.append(_compared(between, sweep.values[choices[0]] if sweep else None))
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
    """Return the indices of the sweeps' common values, and what is omitted, in words."""
    path, other = (run.sweep.path if run.sweep else "nothing" for run in (first, second))
    if path != other:
        shown = f"{path} and {other}"
        raise DifferentError(f"the runs sweep different fields: {shown}; sweep the same field")
    if first.sweep is None or second.sweep is None:
        return [(0, 0)], []
    others = {value: choice for choice, value in enumerate(second.sweep.values)}
    values = enumerate(first.sweep.values)
    pairs = [(choice, others[value]) for choice, value in values if value in others]
    if not pairs:
        rule = f"the runs have no value of {path} in common"
        raise DifferentError(f"{rule}; sweep some of the same values")
    left = {"first": len(first.sweep.values), "second": len(second.sweep.values)}
    notes = [
        f"{plural(count - len(pairs), 'value')} of {path} only in the {which} run"
        for which, count in left.items()
        if count > len(pairs)
    ]
    return pairs, notes


def _heuristics(runs: tuple[Finished, Finished]) -> Iterator[str]:
    for run in runs:
        ledger = ledger_of(run.manifest)
        if not ledger.exact:
            what = ledger.but or f"a heuristic's ({run.manifest.get('method')})"
            yield f"the front of {run.folder} is {what}"


def _side(run: Finished, choice: int) -> FrontOfStudy:
    rows = [run.rows[number] for number in run.row_numbers(choice)]
    return FrontOfStudy(run.document_at(choice), *run.front_at(choice), rows)


def _compared(between: StudiesBetween, value: float | str | None) -> ComparedFronts:
    """Return what differs between two fronts."""
    first, second = between.first, between.second
    before, after = between.placed(first), between.placed(second)
    differences = []
    for known in {**before, **after}:
        old = first.numbers(before[known]) if known in before else None
        new = second.numbers(after[known]) if known in after else None
        if old and new and all(math.isclose(old[one], new[one], rel_tol=SAME) for one in old):
            continue
        cause = between.cause_of_move(before[known]) if old and new else between.cause(known)
        side, row = (second, after[known]) if new else (first, before[known])
        name = described(side.prepared.problem, side.index[row : row + 1])[0]
        differences.append(Moved(name, old, new, cause))
    both = len(before.keys() & after.keys())
    counts = (len(before), len(after), both)
    return ComparedFronts(value, counts, tuple(differences), *_volumes(first, second))


def _volumes(
    first: FrontOfStudy, second: FrontOfStudy
) -> tuple[dict[str, float], tuple[Volume, Volume]]:
    losses = np.concatenate([first.loss, second.loss])
    if not len(losses):
        return {}, (Volume(math.nan), Volume(math.nan))
    fronts = [side.loss for side in (first, second) if len(side.rows)]
    corner = np.max([reference_point(loss) for loss in fronts], axis=0)
    ideal = losses.min(axis=0)
    old, new = (
        hypervolume(side.loss, corner, ideal=ideal) if len(side.rows) else NOTHING
        for side in (first, second)
    )
    return objective_values(first.prepared.problem, corner), (old, new)

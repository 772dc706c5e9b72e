"""Two finished runs side by side: different assumptions of their studies, and moved designs.

A design is identified by its counts, and by its choices if a study leaves any.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import DseError
from dse.files.document import Document
from dse.model import tables
from dse.model.evaluation import Goal, ledger_of
from dse.model.problem import Problem
from dse.model.space import HOST, Index
from dse.model.volume import NO_VOLUME, Volume, hypervolume, reference_point
from dse.reports.designs import described, objective_values
from dse.reports.text import Printable, in_words, plural, table_text, with_error
from dse.runs import finished
from dse.runs.finished import Finished, Row
from dse.study import study
from dse.study.overrides import stages_of
from dse.study.study import Study

Keys = tuple[str | int, ...]

Identity = tuple[tuple[str, str], ...]
"""Counts and choices of a design: names and values as text."""

IGNORED = ("question", "search", "sweep", "objectives")
"""Parts of a study that assume nothing about a design."""

_SAME = 1e-9
"""Numbers closer than this, relative to each other, are equal."""

_MOST_ROWS = 15
"""Most designs of one kind in the text.  The JSON holds all."""


@dataclass(frozen=True)
class Change:
    """A field that differs between two studies.  The text of a missing one is empty.

    `path` is the field, also for an axis that opens it.
    """

    path: str
    before: str
    after: str

    def to_dict(self) -> dict[str, str]:
        """Return plain data, for JSON."""
        return {"field": self.path, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        """Return the change in words."""
        if self.path == "constraints":
            return f"constraint {self.after} added" if self.after else f"without {self.before}"
        return f"{self.path}: {self.before or 'not set'} -> {self.after or 'not set'}"


@dataclass(frozen=True)
class FrontOfStudy:
    """One front as a run wrote it: its study, its designs (n, d) and their rows."""

    document: Document
    prepared: Study
    index: Index
    rows: Sequence[Row]

    @property
    def loss(self) -> NDArray[np.float64]:
        """Return the losses as written, shape (n, m)."""
        goals = self.prepared.problem.goals
        numbers = [[float(row[goal.name]) for goal in goals] for row in self.rows]
        sign = np.array([-1.0 if goal.maximise else 1.0 for goal in goals])
        loss: NDArray[np.float64] = np.array(numbers).reshape(len(self.rows), len(goals)) * sign
        return loss

    def numbers(self, row: int) -> dict[str, float]:
        """Return the objectives of a design as written, in SI."""
        return {goal.name: float(self.rows[row][goal.name]) for goal in self.prepared.problem.goals}


@dataclass(frozen=True)
class Moved:
    """A design that is gained, lost, or has other numbers.  Numbers are None for a missing one."""

    design: str
    before: Mapping[str, float] | None
    after: Mapping[str, float] | None


@dataclass(frozen=True)
class ComparedFronts:
    """The fronts of two runs, or of two runs at one value of a sweep.

    Attributes
    ----------
    value
        Value of the swept field, in SI or a name.  None without a sweep.
    designs
        Designs on the first front, on the second, and on both.
    differences
        Designs on one front only, and on both with other numbers.
    reference, volumes
        The point up to which both hypervolumes count, by objective, and the volumes as shares of
        the box between it and the best values of both fronts.  NaN if both are empty.
    """

    value: float | str | None
    designs: tuple[int, int, int]
    differences: tuple[Moved, ...]
    reference: Mapping[str, float]
    volumes: tuple[Volume, Volume]

    @property
    def gained(self) -> tuple[Moved, ...]:
        """Return the designs on the second front only."""
        return tuple(entry for entry in self.differences if entry.before is None)

    @property
    def lost(self) -> tuple[Moved, ...]:
        """Return the designs on the first front only."""
        return tuple(entry for entry in self.differences if entry.after is None)

    @property
    def moved(self) -> tuple[Moved, ...]:
        """Return the designs on both fronts with other numbers."""
        return tuple(entry for entry in self.differences if entry.before and entry.after)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        before, after, both = self.designs
        first, second = self.volumes
        return {
            "value": self.value,
            "designs": {"first": before, "second": after, "both": both},
            "gained": [vars(moved) for moved in self.gained],
            "lost": [vars(moved) for moved in self.lost],
            "moved": [vars(moved) for moved in self.moved],
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
    """Two runs side by side, with `sweep`, the column of the swept field, empty without one."""

    folders: tuple[Path, Path]
    goals: tuple[Goal, ...]
    changes: tuple[Change, ...]
    versions: Mapping[str, tuple[str, str]]
    sweep: str
    points: tuple[ComparedFronts, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return a comparison as text."""
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
    yield from (f"  {change}" for change in found.changes)
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
            (moved.design, *(_number(moved, name) for name in goals))
            for moved in designs[:_MOST_ROWS]
        ]
        yield "\n" + table_text(rows, (kind, *map(in_words, goals)))
        if len(designs) > _MOST_ROWS:
            yield f"... and {len(designs) - _MOST_ROWS} more"
    if point.differences:
        reference = ", ".join(units.show(value, name) for name, value in point.reference.items())
        volumes = " -> ".join(with_error(one.value, one.error) for one in point.volumes)
        yield f"\nnormalised hypervolume: {volumes} (reference {reference})"


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
        One is not the folder of a run.
    DifferentError
        They have other objectives, or sweep other fields or no common value.
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
    found = changes(*(run.document_at(at) for run, at in zip(runs, pairs[0], strict=True)))
    sweep = runs[0].sweep
    points = []
    for choices in pairs:
        first_side, second_side = map(_side, runs, choices)
        value = sweep.values[choices[0]] if sweep else None
        points.append(_compared(first_side, second_side, value))
    before, after = (run.manifest["versions"] for run in runs)
    versions = {
        name: (str(before.get(name, "none")), str(after.get(name, "none")))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }
    swept = str(runs[0].manifest["sweep"]) if sweep else ""
    notes = (*_heuristics(runs), *alone)
    return RunComparison((first, second), goals, found, versions, swept, tuple(points), notes)


def _pairs(first: Finished, second: Finished) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the indices of the sweeps' common values, and the omissions, in words."""
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
            what = ledger.but or f"a heuristic's ({run.manifest['method']})"
            yield f"the front of {run.folder} is {what}"


def _side(run: Finished, choice: int) -> FrontOfStudy:
    rows = [run.rows[number] for number in run.row_numbers(choice)]
    return FrontOfStudy(run.document_at(choice), *run.front_at(choice), rows)


def _compared(
    first: FrontOfStudy, second: FrontOfStudy, value: float | str | None
) -> ComparedFronts:
    """Return the differences between two fronts."""
    opened = _open(first.prepared.problem) | _open(second.prepared.problem)
    before, after = _placed(first, opened), _placed(second, opened)
    differences = []
    for known in {**before, **after}:
        old = first.numbers(before[known]) if known in before else None
        new = second.numbers(after[known]) if known in after else None
        if old and new and all(math.isclose(old[one], new[one], rel_tol=_SAME) for one in old):
            continue
        side, row = (second, after[known]) if new else (first, before[known])
        name = described(side.prepared.problem, side.index[row : row + 1])[0]
        differences.append(Moved(name, old, new))
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
        hypervolume(side.loss, corner, ideal=ideal) if len(side.rows) else NO_VOLUME
        for side in (first, second)
    )
    return objective_values(first.prepared.problem, corner), (old, new)


def _placed(side: FrontOfStudy, opened: Mapping[str, str]) -> dict[Identity, int]:
    """Return the designs of a front and their rows.  A field that either study opens counts."""
    problem, index = side.prepared.problem, side.index
    counts = problem.counts(index)
    choices = {
        path: _choices(problem, side.document, path, column, index)
        for path, column in opened.items()
    }
    identities = [
        [(name, f"{count:g}") for name, count in counts[row].items()]
        + [(path, texts[row]) for path, texts in choices.items()]
        for row in range(len(index))
    ]
    return {tuple(sorted(known)): row for row, known in enumerate(identities)}


def _open(problem: Problem) -> dict[str, str]:
    """Return the fields that a study leaves open, with the column that carries the value."""
    return {
        axis.name: axis.unit_name
        for axis in problem.space.axes
        if axis.size > 1 and tables.is_choice_of_scenario(problem, axis)
    }


def _choices(problem: Problem, found: Document, path: str, column: str, index: Index) -> list[str]:
    """Return the values of a field for the designs, whether it is an axis of this study or not."""
    for number, axis in enumerate(problem.space.axes):
        if axis.name == path:
            values = tables.axis_values(axis).tolist()
            return [HOST if choice < 0 else str(values[choice]) for choice in index[:, number]]
    if column in problem.space.constants:
        return [str(float(problem.space.constants[column][0]))] * len(index)
    section, _, name = path.partition(".")
    return [str(found.section(section).get(name))] * len(index)


def changes(first: Document, second: Document) -> tuple[Change, ...]:
    """Return the assumptions of the second study that differ, field by field."""
    aligned = _stage_names(first) == _stage_names(second)
    before = dict(_parts(first.data, aligned=aligned))
    after = dict(_parts(second.data, aligned=aligned))
    grouped: dict[tuple[str, Any], list[Keys]] = {}
    for keys in [*before, *(keys for keys in after if keys not in before)]:
        opened = len(keys) == 1 and _has(first, keys[0]) and _has(second, keys[0])
        if before.get(keys) != after.get(keys) and not opened:
            grouped.setdefault(_group(keys), []).append(keys)
    return tuple(_change(path, keys, before, after, first) for (path, _), keys in grouped.items())


def _has(found: Document, section: Any) -> bool:
    """Return whether a study has a section, even an empty one, whose fields are then compared."""
    return isinstance(found.data.get(section), dict)


def _parts(data: Mapping[str, Any], *, aligned: bool) -> Iterator[tuple[Keys, Any]]:
    for section, value in data.items():
        if section in IGNORED or value is None:
            continue
        if section == "constraints" and isinstance(value, list):
            yield from (((section, text), text) for text in value)
        elif section == "stages" and isinstance(value, list) and aligned:
            for number, stage in enumerate(value):
                yield from (((section, number, name), entry) for name, entry in stage.items())
        elif isinstance(value, dict):
            yield (section,), {}
            yield from (((section, name), entry) for name, entry in value.items())
        else:
            yield (section,), value


def _stage_names(found: Document) -> list[str]:
    return [*stages_of(found)]


def _group(keys: Keys) -> tuple[str, Any]:
    """Return the key that distinguishes changes.  An axis and the field that it opens are one."""
    if keys[0] == "constraints":
        return "constraints", keys
    if keys[0] == "axes":
        return str(keys[1]), None
    return ".".join(map(str, keys)), None


def _change(
    path: str,
    keys: list[Keys],
    before: Mapping[Keys, Any],
    after: Mapping[Keys, Any],
    first: Document,
) -> Change:
    if path.startswith("stages."):
        _, number, field = path.split(".", 2)
        path = f"{_stage_names(first)[int(number)]}.{field}"
    return Change(
        path,
        _shown([before[key] for key in keys if key in before]),
        _shown([after[key] for key in keys if key in after]),
    )


def _shown(values: list[Any]) -> str:
    return " and ".join(_text(value) for value in values)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(entry)}" for name, entry in value.items()) or "given"
    return str(value)

"""Two finished runs side by side: different assumptions of their studies, and moved designs.

A design is identified by its counts, and by its choices if a study leaves any.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dse.algebra import units
from dse.errors import DseError
from dse.files.document import Document
from dse.model import tables
from dse.model.evaluation import ledger_of
from dse.model.problem import Problem
from dse.model.space import HOST, Index
from dse.reports.designs import described
from dse.reports.front_text import proof_of
from dse.reports.text import Printable, in_words, plural, table_text
from dse.runs import finished
from dse.runs.finished import Finished
from dse.study.overrides import stages_of

Identity = tuple[tuple[str, str], ...]
"""Counts and choices of a design: names and values as text."""

IGNORED = ("question", "search", "sweep", "objectives")
"""Parts of a study that assume nothing about a design."""

_SAME = 1e-9
"""Numbers closer than this, relative to each other, are equal."""

_MOST_ROWS = 15
"""Most designs of one kind in the text.  The JSON holds all."""


class Change(NamedTuple):
    """A field that differs between two studies, also one that an axis opens.

    The text of a missing one is empty.
    """

    field: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """Return the change in words."""
        if self.field == "constraints":
            return f"constraint {self.after} added" if self.after else f"without {self.before}"
        return f"{self.field}: {self.before or 'not set'} -> {self.after or 'not set'}"


class Moved(NamedTuple):
    """A design that is gained, lost, or has other numbers.  Numbers are None for a missing one."""

    design: str
    before: Mapping[str, float] | None
    after: Mapping[str, float] | None

    @property
    def kind(self) -> str:
        """Return what happened to it."""
        return "gained" if self.before is None else "lost" if self.after is None else "moved"


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
    """

    value: float | str | None
    designs: tuple[int, int, int]
    differences: tuple[Moved, ...]

    @property
    def kinds(self) -> dict[str, list[Moved]]:
        """Return the designs that are gained, lost or moved."""
        kinds = ("gained", "lost", "moved")
        return {kind: [one for one in self.differences if one.kind == kind] for kind in kinds}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        counts = dict(zip(("first", "second", "both"), self.designs, strict=True))
        kinds = {kind: [one._asdict() for one in each] for kind, each in self.kinds.items()}
        return {"value": self.value, "designs": counts} | kinds


@dataclass(frozen=True, repr=False)
class RunComparison(Printable):
    """Two runs side by side, with `sweep`, the column of the swept field, empty without one.

    `objectives` are those in both, with their senses.
    """

    runs: tuple[str, str]
    objectives: Mapping[str, str]
    changes: tuple[Change, ...]
    versions: Mapping[str, tuple[str, str]]
    sweep: str
    points: tuple[ComparedFronts, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return a comparison as text."""
        head = "what changed:" if self.changes else "the studies assume the same"
        changed = [head, *(f"  {change.text}" for change in self.changes)]
        for name, (before, after) in self.versions.items():
            changed.append(f"  version of {name}: {before} -> {after}")
        parts = [" -> ".join(self.runs), "\n".join(changed)]
        differing = [point for point in self.points if point.differences]
        parts += [
            "\n\n".join(self._point(one)) for one in (differing if self.sweep else self.points)
        ]
        if self.sweep:
            equal, swept = len(self.points) - len(differing), units.stem(self.sweep)
            parts.append(f"equal fronts at {equal} of {len(self.points)} values of {swept}")
        return "\n\n".join([*parts, *(f"note: {note}" for note in self.notes)])

    def _point(self, point: ComparedFronts) -> Iterator[str]:
        value, (before, after, both) = point.value, point.designs
        shown = units.show(value, self.sweep) if isinstance(value, float) else value
        where = f"at {units.stem(self.sweep)} = {shown}: " if self.sweep else ""
        first = plural(before, "design")
        yield f"{where}{first} on the first front, {after} on the second, {both} on both"
        for kind, designs in point.kinds.items():
            rows = [
                (moved.design, *(_number(moved, name) for name in self.objectives))
                for moved in designs[:_MOST_ROWS]
            ]
            more = f"\n... and {len(designs) - _MOST_ROWS} more" * (len(designs) > _MOST_ROWS)
            if rows:
                yield table_text(rows, (kind, *map(in_words, self.objectives))) + more

    def to_dict(self) -> dict[str, Any]:
        """Return a comparison as plain data, for JSON."""
        changes = [change._asdict() for change in self.changes]
        points = [point.to_dict() for point in self.points]
        return asdict(self) | {"sweep": self.sweep or None, "changes": changes, "points": points}


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
    objectives, others = (run.manifest["objectives"] for run in runs)
    if objectives != others:
        shown = " and ".join(
            ", ".join(f"{sense} {name}" for name, sense in goals.items())
            for goals in (objectives, others)
        )
        raise DifferentError(
            f"the runs have different objectives: {shown}; fronts of different objectives "
            "cannot be compared, run both studies with the same ones"
        )
    before, after = (run.manifest["versions"] for run in runs)
    versions = {
        name: (str(before.get(name, "none")), str(after.get(name, "none")))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }
    sweep = runs[0].sweep
    points = [
        _compared(_side(runs[0], at), _side(runs[1], other), sweep.values[at] if sweep else None)
        for at, other in pairs
    ]
    return RunComparison(
        (str(first), str(second)),
        dict(objectives),
        changes(*(run.document_at(at) for run, at in zip(runs, pairs[0], strict=True))),
        versions,
        str(runs[0].manifest["sweep"]) if sweep else "",
        tuple(points),
        (*filter(None, map(_heuristic, runs)), *alone),
    )


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


def _heuristic(run: Finished) -> str:
    """Return that a front is not exact, or nothing."""
    ledger = ledger_of(run.manifest)
    heuristic = ledger.but or f"a heuristic's ({run.manifest['method']})"
    what = proof_of(run.manifest) if run.manifest.get("sweep") == "search.method" else heuristic
    return "" if ledger.exact else f"the front of {run.folder} is {what}"


@dataclass(frozen=True)
class _Side:
    """A front as a run wrote it: its study, its designs (n, d) and their objectives in SI."""

    document: Document
    problem: Problem
    index: Index
    numbers: list[dict[str, float]]


def _side(run: Finished, choice: int) -> _Side:
    prepared, index = run.front_at(choice)
    names = [goal.name for goal in prepared.problem.goals]
    rows = [run.rows[number] for number in run.row_numbers(choice)]
    numbers = [{name: float(row[name]) for name in names} for row in rows]
    return _Side(run.document_at(choice), prepared.problem, index, numbers)


def _compared(first: _Side, second: _Side, value: float | str | None) -> ComparedFronts:
    """Return the differences between two fronts."""
    opened = {
        axis.name: axis.unit_name
        for side in (first, second)
        for axis in side.problem.space.axes
        if axis.size > 1 and tables.is_choice_of_scenario(side.problem, axis)
    }
    before, after = _placed(first, opened), _placed(second, opened)
    differences = []
    for known in {**before, **after}:
        old = first.numbers[before[known]] if known in before else None
        new = second.numbers[after[known]] if known in after else None
        if old and new and all(math.isclose(old[one], new[one], rel_tol=_SAME) for one in old):
            continue
        side, row = (second, after[known]) if new else (first, before[known])
        name = described(side.problem, side.index[row : row + 1])[0]
        differences.append(Moved(name, old, new))
    both = len(before.keys() & after.keys())
    return ComparedFronts(value, (len(before), len(after), both), tuple(differences))


def _placed(side: _Side, opened: Mapping[str, str]) -> dict[Identity, int]:
    """Return the designs of a front and their rows.  A field that either study opens counts."""
    choices = {path: _choices(side, path, column) for path, column in opened.items()}
    found: dict[Identity, int] = {}
    for row, counts in enumerate(side.problem.counts(side.index)):
        known = {name: f"{count:g}" for name, count in counts.items()}
        known |= {path: texts[row] for path, texts in choices.items()}
        found[tuple(sorted(known.items()))] = row
    return found


def _choices(side: _Side, path: str, column: str) -> list[str]:
    """Return the values of a field for the designs, whether it is an axis of this study or not."""
    space, index = side.problem.space, side.index
    for number, axis in enumerate(space.axes):
        if axis.name == path:
            values = tables.axis_values(axis).tolist()
            return [HOST if choice < 0 else str(values[choice]) for choice in index[:, number]]
    if column in space.constants:
        return [str(float(space.constants[column][0]))] * len(index)
    section, _, name = path.partition(".")
    return [str(side.document.section(section).get(name))] * len(index)


def changes(first: Document, second: Document) -> tuple[Change, ...]:
    """Return the assumptions of the second study that differ, field by field."""
    aligned = [*stages_of(first)] == [*stages_of(second)]
    before, after = (dict(_fields(one, aligned=aligned)) for one in (first, second))
    fields = [
        Change(field, before.get(field, ""), after.get(field, "")) for field in before | after
    ]
    rules, others = (one.data.get("constraints") or [] for one in (first, second))
    return (
        *(change for change in fields if change.before != change.after),
        *(Change("constraints", str(rule), "") for rule in rules if rule not in others),
        *(Change("constraints", "", str(rule)) for rule in others if rule not in rules),
    )


def _fields(found: Document, *, aligned: bool) -> Iterator[tuple[str, str]]:
    """Yield the fields of a study, an axis as the field that it opens, and their texts."""
    for section, value in found.data.items():
        if section in (*IGNORED, "constraints") or value is None:
            continue
        if section == "stages" and aligned:
            for name, stage in stages_of(found).items():
                yield from ((f"{name}.{field}", _text(one)) for field, one in stage.items())
        elif isinstance(value, dict):
            if section != "axes":
                yield section, "given"
            start = "" if section == "axes" else f"{section}."
            yield from ((f"{start}{name}", _text(entry)) for name, entry in value.items())
        else:
            yield section, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(entry)}" for name, entry in value.items()) or "given"
    return str(value)

"""Two finished runs side by side: designs gained, lost and moved, and how good the fronts are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.audit.attribution import Cause
from dse.audit.changes import Change
from dse.model.problem import Goal
from dse.reports.text import table_text
from dse.reports.words import in_words

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
    gained, lost, moved
        Designs on the second front only, on the first only, and on both with other numbers.
    reference
        The point up to which both hypervolumes count, by objective.
    volumes
        Hypervolume of the first and the second front, as shares of the box between the best
        values of both fronts and the reference; NaN where both are empty.
    """

    value: float | str | None
    designs: tuple[int, int, int]
    gained: tuple[Moved, ...]
    lost: tuple[Moved, ...]
    moved: tuple[Moved, ...]
    reference: Mapping[str, float]
    volumes: tuple[float, float]

    @property
    def differs(self) -> bool:
        """Whether the fronts do."""
        return bool(self.gained or self.lost or self.moved)

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
            "hypervolume": {"first": first, "second": second, "change": second - first},
        }


@dataclass(frozen=True, repr=False)
class RunComparison:
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
        differing = [point for point in self.points if point.differs]
        shown = differing if self.sweep else self.points
        parts += ["\n".join(_point(self, point)) for point in shown]
        if self.sweep:
            equal = len(self.points) - len(differing)
            parts.append(
                f"equal fronts at {equal} of {len(self.points)} values of {units.stem(self.sweep)}"
            )
        return "\n\n".join([*parts, *(f"note: {note}" for note in self.notes)])

    __repr__ = text

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
    yield f"{where}{before} designs on the first front, {after} on the second, {both} on both"
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
    if point.differs:
        reference = ", ".join(units.show(value, name) for name, value in point.reference.items())
        old, new = point.volumes
        yield f"\nnormalised hypervolume: {old:.4f} -> {new:.4f} (reference {reference})"


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

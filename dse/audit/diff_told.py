"""A comparison of two runs as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dse.algebra import units
from dse.audit.attribution import Cause
from dse.audit.changes import Change
from dse.audit.diff import Comparison, Moved, Point, compare
from dse.reports import report

MOST_ROWS = 15
"""Most designs of one kind in the text; the JSON holds all."""


def command(first: Path, second: Path, *, as_json: bool) -> None:
    """Print two runs side by side."""
    found = compare(first, second)
    if as_json:
        import json

        from dse.files.json import plain

        print(json.dumps(plain(facts(found)), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(text(found))


def text(found: Comparison) -> str:
    """Return a comparison as text; the changes have numbers, by which causes refer to them."""
    parts = [" -> ".join(str(folder) for folder in found.folders), "\n".join(_changes(found))]
    differing = [point for point in found.points if point.differs]
    shown = differing if found.sweep else found.points
    parts += ["\n".join(_point(found, point)) for point in shown]
    if found.sweep:
        equal = len(found.points) - len(differing)
        parts.append(
            f"equal fronts at {equal} of {len(found.points)} values of {units.stem(found.sweep)}"
        )
    return "\n\n".join([*parts, *(f"note: {note}" for note in found.notes)])


def _changes(found: Comparison) -> Iterator[str]:
    yield "what changed:" if found.changes else "the studies assume the same"
    for number, change in enumerate(found.changes, 1):
        yield f"  {number}. {change}"
    for name, (before, after) in found.versions.items():
        yield f"  version of {name}: {before} -> {after}"


def _point(found: Comparison, point: Point) -> Iterator[str]:
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
        headers = (kind, *(units.stem(name).replace("_", " ") for name in goals), "by change")
        yield "\n" + report.catalogue(rows, headers)
        if len(designs) > MOST_ROWS:
            yield f"... and {len(designs) - MOST_ROWS} more"
    if point.differs:
        reference = ", ".join(units.show(value, name) for name, value in point.reference.items())
        old, new = point.volumes
        yield f"\nhypervolume up to {reference}: {old:.4f} -> {new:.4f} of its box"


def _because(found: Comparison, cause: Cause) -> str:
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


def facts(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data, for JSON."""
    return {
        "runs": [str(folder) for folder in found.folders],
        "objectives": {goal.name: goal.sense for goal in found.goals},
        "changes": [_change(change) for change in found.changes],
        "versions": {name: list(pair) for name, pair in found.versions.items()},
        "sweep": found.sweep or None,
        "points": [_plain(point) for point in found.points],
        "notes": list(found.notes),
    }


def _change(change: Change) -> dict[str, Any]:
    return {"field": change.path, "before": change.before, "after": change.after}


def _plain(point: Point) -> dict[str, Any]:
    before, after, both = point.designs
    return {
        "value": point.value,
        "designs": {"first": before, "second": after, "both": both},
        "gained": [_moved(moved) for moved in point.gained],
        "lost": [_moved(moved) for moved in point.lost],
        "moved": [_moved(moved) for moved in point.moved],
        "reference_point": dict(point.reference),
        "hypervolume": {
            "first": point.volumes[0],
            "second": point.volumes[1],
            "change": point.volumes[1] - point.volumes[0],
        },
    }


def _moved(moved: Moved) -> dict[str, Any]:
    numbers: dict[str, Mapping[str, float] | None] = {
        "before": moved.before,
        "after": moved.after,
    }
    return {"design": moved.design, **numbers, "cause": _cause(moved.cause)}


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "alone": [_change(change) for change in cause.alone],
        "together": [_change(change) for change in cause.together],
    }

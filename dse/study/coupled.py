"""Axes whose values depend on the value of another axis: not all of their products are designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dse.contract.evaluators import Value
from dse.errors import UnitError, nearest
from dse.model.measured import Coupling
from dse.model.space import Axis
from dse.study.axes import place_of, written_axis
from dse.study.faults import Faults, Path
from dse.study.field_kinds import Coupled
from dse.study.scenario import Scenario


def couplings_of(
    written: Mapping[str, Any], axes: Sequence[Axis], scenario: Scenario, faults: Faults
) -> tuple[Coupling, ...]:
    """Return which pairs of values of axes there are; faults are added."""
    above: dict[str, Axis] = {}
    found = []
    for axis in axes:
        values = written[axis.name]
        if isinstance(values, Coupled):
            path: Path = ("axes", axis.name)
            other = above.get(values.of)
            if other is None:
                rule = "it depends on an axis that is measured and stands above it"
                faults.add((*path, "of"), rule, nearest(values.of, above), repr(values.of))
                continue
            found.append(_coupling(axis, other, values, path, scenario, faults))
        above[axis.name] = axis
    return tuple(found)


def _coupling(
    axis: Axis, other: Axis, written: Coupled, path: Path, scenario: Scenario, faults: Faults
) -> Coupling:
    pairs: list[tuple[Value, Value]] = []
    all_values, before = [*other.places], len(faults.found)
    known, never = set(), []
    for text, values in written.values.items():
        with faults.at((*path, "values", text)):
            one = written_axis(other.name, text)
            if one.unit_name != other.unit_name:
                rule = f"it is no value of {other.name}"
                raise UnitError(rule, f"write for instance {other.shown(0)!r}")
            place = place_of(other, one, 0)
            if place in known:
                raise UnitError(f"{text} stands twice", "write it once")
            if place is None:
                never.append(text)
                continue
            known.add(place)
            pairs += [
                (all_values[place], value) for value in written_axis(axis.name, values).places
            ]
    lacking = [other.shown(place) for place in range(other.size) if place not in known]
    if lacking and len(faults.found) == before:
        rule = f"it has no values where {other.name} is {lacking[0]}"
        faults.add((*path, "values"), rule, f"add them, or drop it from {other.name}", "")
    if never and other.size > 1:  # one that was fixed has no other values
        scenario.notes.append(f"{axis.name}: {other.name} is never {', '.join(never)}")
    return Coupling((other.name, axis.name), tuple(pairs))

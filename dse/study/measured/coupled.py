"""Axes whose values depend on the value of another axis: not all of their products are designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dse.contract.evaluators import Value
from dse.errors import UnitError, nearest
from dse.model.measured import Coupling
from dse.model.space import Axis
from dse.study.axes import place_of, written_axis
from dse.study.field_kinds import Coupled
from dse.study.reader import Reader


def couplings_of(
    written: Mapping[str, Any], axes: Sequence[Axis], reader: Reader
) -> tuple[Coupling, ...]:
    """Return which pairs of values of axes there are; faults are added."""
    above: dict[str, Axis] = {}
    found = []
    for axis in axes:
        values = written[axis.name]
        if isinstance(values, Coupled):
            here = reader.below("axes", axis.name)
            other = above.get(values.of)
            if other is None:
                rule = "it depends on an axis that is measured and stands above it"
                here.fault(("of",), rule, nearest(values.of, above), repr(values.of))
                continue
            found.append(_coupling(axis, other, values, here))
        above[axis.name] = axis
    return tuple(found)


def _coupling(axis: Axis, other: Axis, written: Coupled, reader: Reader) -> Coupling:
    pairs: list[tuple[Value, Value]] = []
    all_values, before = [*other.places], len(reader.faults)
    known, never = set(), []
    for text, values in written.values.items():
        with reader.at(("values", text)):
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
    if lacking and len(reader.faults) == before:
        rule = f"it has no values where {other.name} is {lacking[0]}"
        reader.fault(("values",), rule, f"add them, or drop it from {other.name}", "")
    if never and other.size > 1:  # one that was fixed has no other values
        reader.notes.append(f"{axis.name}: {other.name} is never {', '.join(never)}")
    return Coupling((other.name, axis.name), tuple(pairs))

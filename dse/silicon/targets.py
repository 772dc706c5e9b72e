"""Designs mapped for several clocks: what their rows are called, and how far they lie apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dse.algebra import units
from dse.errors import Fault, StudyError
from dse.silicon.figures import CharacterisedDesign
from dse.silicon.tasks import DesignTask

TARGET = "target_mhz"
"""Column of the clock that a design was mapped for, where there are several."""


def spread_over_targets(designs: Sequence[CharacterisedDesign]) -> Iterator[str]:
    """Yield for each design that was mapped for several clocks how far its figures lie apart."""
    groups: dict[str, list[CharacterisedDesign]] = {}
    for one in designs:
        if TARGET in one.parameters:
            groups.setdefault(one.facts["of"], []).append(one)
    for name, group in groups.items():
        spreads = []
        for quantity, word in (("area_m2", "area"), ("clock_hz", "clock"), ("energy_j", "energy")):
            values = [one.figures[quantity] for one in group]
            low, high = (units.show(value, quantity) for value in (min(values), max(values)))
            spreads.append(f"{word} {low} to {high} ({max(values) / min(values) - 1:+.0%})")
        yield f"{name} over {len(group)} targets: {'; '.join(spreads)}"


def at_target(one: CharacterisedDesign, task: DesignTask) -> CharacterisedDesign:
    """Return a design with the clock that it was mapped for as a parameter."""
    written = _target_mhz(1.0 / task.target_period_s)
    parameters = {**one.parameters, TARGET: written}
    facts = {**one.facts, "of": one.name}
    return replace(one, name=f"{one.name}_for_{written}mhz", parameters=parameters, facts=facts)


def _target_mhz(target_hz: float) -> str:
    return f"{target_hz * 1e-6:.6g}"


def check_targets(targets_hz: Sequence[float]) -> None:
    """Refuse targets whose rows would have one name.

    Raises
    ------
    StudyError
        They are the same to six digits.
    """
    counted = Counter(map(_target_mhz, targets_hz))
    faults = [
        Fault(
            where="targets",
            written=f"{target} MHz",
            rule=f"rows are called by their clock, to 6 digits, and this one stands {count} times",
            remedy="write it once",
        )
        for target, count in counted.items()
        if count > 1
    ]
    if faults:
        raise StudyError(faults)

"""Clocks that logic is mapped for, each a row of a table: by itself, or a share of the fastest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dse.algebra import units
from dse.contract.generators import Value
from dse.errors import Fault, StudyError
from dse.silicon.figures import SUPPLY, CharacterisedDesign, positive_quantity

TARGET = "target_mhz"
"""Column of the clock that a design was mapped for, where there are several."""

SHARES = {"fastest": 1.0, "half": 0.5, "quarter": 0.25}
"""What is written for a share of the fastest clock that a design has."""

_IN_WORDS = {1.0: "the fastest", 0.5: "half of it", 0.25: "a quarter of it"}


@dataclass(frozen=True)
class Target:
    """A clock that logic is mapped for.

    Attributes
    ----------
    clock_hz
        By itself; 0 for a share.
    share
        Of the clock that a design has where it is mapped as fast as it gets.
    """

    clock_hz: float = 0.0
    share: float = 1.0

    @property
    def suffix(self) -> str:
        """What the name of its row ends with; nothing for the fastest."""
        if self.clock_hz:
            return f"_for_{target_mhz(self.clock_hz)}mhz"
        return "".join(f"_{name}" for name, one in SHARES.items() if one == self.share < 1)

    def text(self) -> str:
        """Return it as remarks have it."""
        return units.show(self.clock_hz, "clock_hz") if self.clock_hz else _IN_WORDS[self.share]


FASTEST = Target()
DEFAULT = tuple(Target(share=one) for one in SHARES.values())
"""Of a design whose clock is not stated: a core that is clocked slower than it could be pays in
area and energy for logic that was mapped for speed."""


def target_of(written: str) -> Target:
    """Return a clock, or a share of the fastest.

    Raises
    ------
    StudyError
        It is neither.
    """
    if written in SHARES:
        return Target(share=SHARES[written])
    return Target(clock_hz=positive_quantity(written, "clock_hz", "targets"))


def target_mhz(target_hz: float) -> str:
    """Return a clock as rows are called by it."""
    return f"{target_hz * 1e-6:.6g}"


def check_targets(targets: Sequence[Target]) -> None:
    """Refuse targets whose rows would have one name.

    Raises
    ------
    StudyError
        They are the same to six digits.
    """
    counted = Counter((one.suffix, one.text()) for one in targets)
    faults = [
        Fault(
            where="targets",
            written=shown,
            rule=f"rows are called by their clock, to 6 digits, and this one stands {count} times",
            remedy="write it once",
        )
        for (_, shown), count in counted.items()
        if count > 1
    ]
    if faults:
        raise StudyError(faults)


def at_target(one: CharacterisedDesign, row: str) -> CharacterisedDesign:
    """Return a design with the clock that it was mapped for as a parameter."""
    parameters = {**one.parameters, TARGET: one.facts[TARGET]}
    return replace(one, name=row, parameters=parameters, facts={**one.facts, "of": one.name})


def rows_apart(designs: Sequence[CharacterisedDesign]) -> Iterator[CharacterisedDesign]:
    """Yield the first of the rows of a design whose figures are the same for several targets."""
    seen = set()
    for one in designs:
        stated = {name: value for name, value in one.parameters.items() if name != TARGET}
        key = (*stated.items(), *one.figures.items())
        if key not in seen:
            yield one
        seen.add(key)


def spread_over_targets(designs: Sequence[CharacterisedDesign]) -> Iterator[str]:
    """Yield for each design that was mapped for several clocks how far its figures lie apart.

    At each supply voltage by itself.
    """
    groups: dict[tuple[str, Value], list[CharacterisedDesign]] = {}
    for one in designs:
        if TARGET in one.parameters:
            key = one.facts["of"], one.parameters.get(SUPPLY, "")
            groups.setdefault(key, []).append(one)
    for (name, supply), group in groups.items():
        if len(group) == 1:
            continue
        spreads = []
        for quantity, word in (("area_m2", "area"), ("clock_hz", "clock"), ("energy_j", "energy")):
            values = [one.figures[quantity] for one in group]
            low, high = (units.show(value, quantity) for value in (min(values), max(values)))
            spreads.append(f"{word} {low} to {high} ({max(values) / min(values) - 1:+.0%})")
        at = f" at {supply} V" if supply else ""
        yield f"{name}{at} over {len(group)} targets: {'; '.join(spreads)}"

"""Clocks that logic is mapped for, each a row of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dse.algebra import units
from dse.contract.generators import Value
from dse.errors import Fault, refuse
from dse.silicon.figures import CharacterisedDesign, positive_quantity

TARGET = "target"
"""Column of the clock that a design was mapped for, where there are several."""

SHARES = {"fastest": 1.0, "half": 0.5, "quarter": 0.25}
"""What is written for a share of the fastest clock that a design has."""

_NEAR = 0.01
"""Of area, energy and clock: no figure before placement is surer."""

_NO_ROW = "another target gives no more than 1 % less area or energy or a faster clock: no row"

_IN_WORDS = {0.0: "", 1.0: "the fastest", 0.5: "half of it", 0.25: "a quarter of it"}


@dataclass(frozen=True)
class Target:
    """A clock that logic is mapped for.

    Attributes
    ----------
    clock_hz
        By itself; 0 for a share.
    share
        Of the clock that a design has where it is mapped as fast as it gets; 0 for the clock of
        all designs, if there is one.
    """

    clock_hz: float = 0.0
    share: float = 1.0

    @property
    def name(self) -> str:
        """What is written for it, with six digits of a clock."""
        if self.clock_hz:
            return f"{self.clock_hz * 1e-6:.6g} MHz"
        return next((name for name, share in SHARES.items() if share == self.share), "")

    @property
    def suffix(self) -> str:
        """What the name of its row ends with; nothing for the fastest."""
        if self.clock_hz:
            return f"_for_{self.name.replace(' ', '').lower()}"
        return f"_{self.name}" if 0 < self.share < 1 else ""

    def text(self) -> str:
        """Return it as remarks have it."""
        return units.show(self.clock_hz, "clock_hz") if self.clock_hz else _IN_WORDS[self.share]


FASTEST, STATED = Target(), Target(share=0.0)
DEFAULT = tuple(Target(share=one) for one in SHARES.values())
"""Of a design whose clock is not stated: a core that is clocked slower than it could be pays in
area and energy for logic that was mapped for speed."""


def targets_of(clocks: Sequence[str]) -> list[Target]:
    """Return a target for each clock that is written.

    Raises
    ------
    StudyError
        One that cannot be read.
    """
    return [
        Target(share=SHARES[text])
        if text in SHARES
        else Target(clock_hz=positive_quantity(text, "clock_hz", "targets"))
        for text in clocks
    ]


def check_targets(targets: Sequence[Target]) -> None:
    """Refuse targets whose rows would have one name.

    Raises
    ------
    StudyError
        They are the same to six digits.
    """
    counted = Counter((one.suffix, one.text()) for one in targets)
    refuse(
        Fault(
            "targets",
            shown,
            f"rows are called by their clock, to 6 digits, and this one stands {count} times",
            "write it once",
        )
        for (_, shown), count in counted.items()
        if count > 1
    )


def are_rows(targets: Sequence[Target]) -> bool:
    """Return whether a table tells targets apart: not the fastest alone."""
    return bool({one.name for one in targets} - {FASTEST.name, STATED.name})


def at_target(one: CharacterisedDesign, target: Target) -> CharacterisedDesign:
    """Return a design with what it was mapped for in its name, and as a parameter."""
    return replace(
        one,
        name=f"{one.name}{target.suffix}",
        parameters={**one.parameters, TARGET: target.name},
    )


def rows_apart(designs: Sequence[CharacterisedDesign]) -> Iterator[CharacterisedDesign]:
    """Yield of the rows of a design the first, and those that no other comes near.

    Near is `_NEAR`: at most so much more area and energy, and so much less clock.  What has such
    rows by it says so.
    """
    groups: dict[tuple[tuple[str, Value], ...], list[CharacterisedDesign]] = {}
    for one in designs:
        stated = [item for item in one.parameters.items() if item[0] != TARGET]
        groups.setdefault(tuple(stated), []).append(one)
    for first, *others in groups.values():
        kept = {first.name: first}
        for one in sorted(others, key=lambda one: one.figures["energy_j"]):
            near = next((by for by in kept.values() if _is_near(by.figures, one.figures)), None)
            if near is None:
                kept[one.name] = one
            else:
                kept[near.name] = replace(near, notes=tuple(dict.fromkeys((*near.notes, _NO_ROW))))
        yield from (kept[one.name] for one in (first, *others) if one.name in kept)


def _is_near(by: Mapping[str, float], one: Mapping[str, float]) -> bool:
    """Return whether figures are near others, or better."""
    slower = one["clock_hz"] / by["clock_hz"]
    more = (by[name] / one[name] for name in ("area_m2", "energy_j"))
    return max(slower, *more) <= 1.0 + _NEAR

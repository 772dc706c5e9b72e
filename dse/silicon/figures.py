"""Results of a design: quantities or errors, the conditions, and the clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dse.algebra import units
from dse.algebra.expression import settled
from dse.contract.generators import Value
from dse.errors import Fault, StudyError, UnitError

_DIGITS = 3
"""Digits of a clock period that is rounded up."""

FIGURES = {
    "payload": "payload_bit",
    "cycles_per_task": "cycles_per_task",
    "latency": "latency_cycles",
    "tasks_in_flight": "tasks_in_flight",
    "read": "read_byte",
    "written": "written_byte",
}
"""Quantities of one task of hardware, by their written names."""


@dataclass(frozen=True)
class CharacterisedDesign:
    """Result of a design.

    `figures` are in SI, by name with unit suffix, and `facts` are hashes, versions and counts.
    """

    name: str
    parameters: Mapping[str, Value]
    figures: Mapping[str, float]
    facts: Mapping[str, str]
    notes: tuple[str, ...]


def period_of(least_s: float, wanted_s: float) -> float:
    """Return the requested period, or the least, rounded up.

    Raises
    ------
    StudyError
        The least is longer than the requested one, or no path takes time.
    """
    if not least_s > 0:
        rule = "no path takes any time: outputs are constants, or inputs handed on"
        raise StudyError([Fault("clock", "", rule, "drive every signal, and by one driver alone")])
    if not wanted_s:
        return rounded_up(least_s)
    if settled(least_s / wanted_s - 1.0) > 0.0:
        digits = next(n for n in range(4, 18) if f"{least_s:.{n}g}" != f"{wanted_s:.{n}g}")
        written = f"the longest path takes {least_s * 1e9:.{digits}g} ns"
        rule = f"the period of the clock is {wanted_s * 1e9:.{digits}g} ns"
        remedy = "ask for a slower clock, or leave this design out"
        raise StudyError([Fault("clock", written, rule, remedy)])
    return wanted_s


def clock_of(text: str, where: str) -> float:
    """Return in Hz a clock that is written, which may be a period.

    Raises
    ------
    StudyError
        It cannot be read, or is not above 0.
    """
    try:
        value = units.parse_clock(text)
    except UnitError as error:
        raise StudyError([Fault(where, repr(text), error.rule, error.remedy)]) from None
    if not value > 0:
        raise StudyError([Fault(where, repr(text), "it must be positive", "write a larger value")])
    return value


def rounded_up(value: float) -> float:
    """Return a positive number rounded up to `_DIGITS` digits, as periods are.

    Examples
    --------
    >>> rounded_up(2.2874e-9), rounded_up(2e-9)
    (2.29e-09, 2e-09)
    """
    return _rounded(value, _DIGITS, math.ceil)


def rounded_down(value: float, digits: int) -> float:
    """Return a positive number rounded down, as clocks are that are shown: a design has them.

    Examples
    --------
    >>> rounded_down(719.42446, 7), rounded_down(1.6077e9, 4), rounded_down(1e10, 4)
    (719.4244, 1607000000.0, 10000000000.0)
    """
    return _rounded(value, digits, math.floor)


def _rounded(value: float, digits: int, whole: Callable[[float], int]) -> float:
    places = digits - 1 - math.floor(math.log10(value))
    scaled = round(value * 10.0**places, 12 - digits)  # without rounding errors of the last bits
    return float(f"{whole(scaled)}e{-places}")


# Clocks that logic is mapped for, each a row of a table


TARGET = "target"
"""Column of the clock that a design was mapped for, if there are several."""

_NEAR = 0.01
"""Tolerance of area, energy and clock: no value before placement is more accurate."""

_NO_ROW = "another target gives no more than 1 % less area or energy or a faster clock: no row"


@dataclass(frozen=True)
class Target:
    """A clock that logic is mapped for: `clock_hz`, or a share of a design's fastest clock.

    Neither for the clock of all designs, if there is one.  `suffix` ends the names of its rows, and
    `text` is its form in remarks.
    """

    name: str = ""
    suffix: str = ""
    text: str = ""
    clock_hz: float = 0.0
    share: float = 0.0


AT_ONE_CLOCK = Target()
DEFAULT_TARGETS = (
    Target("fastest", "", "the fastest", share=1.0),
    Target("half", "_half", "half of it", share=0.5),
    Target("quarter", "_quarter", "a quarter of it", share=0.25),
)
"""Targets of a design whose clock is not stated: a core that is clocked below its speed pays in
area and energy for logic that was mapped for speed.
"""


def targets_of(clocks: Sequence[str]) -> list[Target]:
    """Return a target for each clock that is written, one for those that are equal to 6 digits."""
    found = {one.name: one for one in DEFAULT_TARGETS}
    targets = {}
    for text in clocks:
        if text not in found:
            clock_hz = clock_of(text, "targets")
            mhz, shown = f"{clock_hz * 1e-6:.6g}", units.show(clock_hz, "clock_hz")
            found[text] = Target(f"{mhz} MHz", f"_for_{mhz}mhz", shown, clock_hz=clock_hz)
        targets[found[text].suffix] = found[text]
    return [*targets.values()]


def are_rows(targets: Sequence[Target]) -> bool:
    """Return whether a table has targets other than the fastest or the stated one."""
    return bool({one.name for one in targets} - {"fastest", ""})


def at_target(one: CharacterisedDesign, target: Target) -> CharacterisedDesign:
    """Return a design with its target in its name, and as a parameter."""
    parameters = {**one.parameters, TARGET: target.name}
    return replace(one, name=f"{one.name}{target.suffix}", parameters=parameters)


def rows_apart(designs: Sequence[CharacterisedDesign]) -> Iterator[CharacterisedDesign]:
    """Yield the first row of each design, and its rows that no other row comes near.

    Near is `_NEAR`: at most so much more area and energy, and so much less clock.  A row that
    replaces others has a note of it.
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
    """Return whether a row is near another, or better."""
    slower = one["clock_hz"] / by["clock_hz"]
    more = (by[name] / one[name] for name in ("area_m2", "energy_j"))
    return max(slower, *more) <= 1.0 + _NEAR

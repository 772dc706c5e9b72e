"""What comes of a design that is characterised: figures or faults, and under which conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from dse.algebra import units
from dse.algebra.expression import settled
from dse.contract.generators import Value
from dse.errors import Fault, StudyError, UnitError

DIGITS = 3
"""Of a clock period that is rounded up."""

UNKEPT = "unkept"
"""Fact that says why a result could not be kept."""

FIGURES = {
    "payload": "payload_bit",
    "cycles_per_task": "cycles_per_task",
    "latency": "latency_cycles",
    "tasks_in_flight": "tasks_in_flight",
    "read": "read_byte",
    "written": "written_byte",
}
"""What one task of hardware is, and the quantity."""


@dataclass(frozen=True)
class Conditions:
    """Under which every design of a table is characterised.

    Attributes
    ----------
    period_s
        Clock period; 0 for the least of each design, rounded up.
    gate_clocks
        Flip-flops with one enable that get a clock gate; 0 for no gates.
    time_limit_s
        The longest that mapping a design may take.
    """

    period_s: float = 0.0
    gate_clocks: int = 0
    time_limit_s: float = 3600.0


@dataclass(frozen=True)
class CharacterisedDesign:
    """What came of a design.

    Attributes
    ----------
    name, parameters
        As the design has them.
    figures
        Quantities in SI, by name with unit suffix.
    facts
        Hashes, versions and counts, as text.
    notes
        What was assumed, clipped or omitted.
    """

    name: str
    parameters: Mapping[str, Value]
    figures: Mapping[str, float]
    facts: Mapping[str, str]
    notes: tuple[str, ...]


def of_design(name: str, fault: Fault) -> Fault:
    """Return a fault with the design that has it; one in a file may be that of several."""
    if fault.line:
        return fault
    return replace(fault, where=f"{name}: {fault.where}" if fault.where else name)


def period_of(least_s: float, wanted_s: float) -> float:
    """Return the period that was requested, or the least, rounded up.

    Raises
    ------
    StudyError
        The least is longer than that, or is none.
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


def positive_quantity(text: str, quantity: str, where: str) -> float:
    """Return in SI what was written for a quantity, which is above 0.

    Raises
    ------
    StudyError
        It cannot be read, or is not.
    """
    try:
        value = units.parse(text, quantity)
    except UnitError as error:
        raise StudyError([Fault(where, repr(text), error.rule, error.remedy)]) from None
    if not value > 0:
        raise StudyError([Fault(where, repr(text), "it must be positive", "write a larger value")])
    return value


def rounded_up(value: float) -> float:
    """Return a positive number rounded up to `DIGITS` digits, as periods are.

    Examples
    --------
    >>> rounded_up(2.2874e-9), rounded_up(2e-9)
    (2.29e-09, 2e-09)
    """
    return _rounded(value, DIGITS, math.ceil)


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
    scaled = round(value * 10.0**places, 12 - digits)  # what is equal but for the last bits
    return float(f"{whole(scaled)}e{-places}")

"""Signs and magnitudes: numbers that their unit excludes, and likely accidents."""

from __future__ import annotations

import re
from collections.abc import Collection

from dse.algebra import units

MOST = {"hz": 20e9, "m2": 0.1, "w": 1e5, "w_per_m2": 1e8}
"""Largest plausible numbers: 20 GHz, twice a wafer, 100 kW, 100 W/mm2."""

_BEYOND = 1e30
"""Largest plausible number of any other unit."""

_SIGNED = re.compile(
    r"(^|_)(wns|tns|slack|margin|delta|change|difference|skew|offset|error|saved)(_|$)"
)
"""Names of differences, which may be negative."""

_PART = re.compile(
    r"(^|_)(leak(age)?|static|dynamic|switching|internal|idle|standby|sleep|settled|overhead|extra|"
    r"macros?|memory|memories|s?ram|bram|rom|dsp|buffers?|io|pads?|registers?|sequential|"
    r"combinational|black_?box|host|link|clock)(_|$)"
)
"""Names of parts of a whole, which may be 0."""

_AT_ZERO = re.compile(r"([^\W\d]\w*)\s*[<>]=?\s*[+-]?0(?:\.0*)?(?![\w.])")

_NAMES = {"m2": "an area", "ge": "an area", "lc": "an area", "w": "a power", "j": "an energy"}
_NAMES |= {"hz": "a clock", "s": "a time", "w_per_m2": "a power density"}
_MISSING = "leave the cell empty if it was not measured, or remove the row"


def most_of(name: str) -> float:
    """Return the largest plausible number in SI of a quantity, from its unit."""
    return MOST.get(units.suffix(name), _BEYOND)


def fault_of(
    value: float, name: str, *, signed: bool = False, zero: bool = False
) -> tuple[str, str] | None:
    """Return rule and remedy if a number in SI cannot be of the quantity called `name`.

    Values with a unit are not negative except differences.  Areas, clocks, total power and energy
    are not 0.  With `signed`, the study states the legal numbers.  With `zero`, it compares them
    with 0, which is intended then, and a time is a slack.  A number above `MOST` is questioned.

    Examples
    --------
    >>> fault_of(-1e-6, "area_m2")
    ('an area is not negative', 'leave the cell empty if it was not measured, or remove the row')
    >>> fault_of(-1e-10, "wns_s"), fault_of(0.0, "leakage_power_w")
    (None, None)
    """
    unit, stem = units.suffix(name), units.stem(name).casefold()
    if not unit:
        return None
    called = _NAMES.get(unit, f"a value in {units.label(name)}")
    if abs(value) > most_of(name):
        shown = units.show(most_of(name), name)
        return f"{units.show(value, name)} is above {shown}", "is its unit right? correct it"
    if signed or _SIGNED.search(stem) or (zero and unit == "s"):
        return None
    if value < 0:
        return f"{called} is not negative", _MISSING
    totals = {"m2", "ge", "lc", "hz", "w", "j"}
    if value == 0 and not zero and unit in totals and (unit == "hz" or not _PART.search(stem)):
        return f"{called} of 0 is an accident", _MISSING
    return None


def compared_with_zero(rules: Collection[str]) -> set[str]:
    """Return the names that rules compare with 0, whose numbers may be 0 and have a sign.

    Examples
    --------
    >>> compared_with_zero(["setup_ns >= 0 ns", "area <= 0.5 mm2"])
    {'setup_ns'}
    """
    return {name for rule in rules for name in _AT_ZERO.findall(rule)}

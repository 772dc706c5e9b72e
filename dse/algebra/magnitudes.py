"""Signs and magnitudes: which numbers cannot be of their unit, and which are an accident."""

from __future__ import annotations

from dse.algebra import units

MOST = {"hz": 20e9, "m2": 0.1, "w": 1e5, "w_per_m2": 1e8}
"""Numbers above are questioned: 20 GHz, twice a wafer, 100 kW, 100 W/mm2."""

BEYOND = 1e30
"""Of any unit."""

SLACKS = ("wns", "tns", "slack")
"""Times of these names may be negative."""

PARTS = (
    *("leak", "static", "idle", "dynamic", "switching", "internal", "transition", "sleep"),
    *("clock_power", "clock_energy", "host", "memory", "link", "buffer", "io", "macro"),
)
"""Power and energy of these names may be 0, as they are a part of all."""

_NAMES = {"m2": "an area", "ge": "an area", "lc": "an area", "w": "a power", "j": "an energy"}
_NAMES |= {"hz": "a clock", "s": "a time", "w_per_m2": "a power density"}
MISSING = "write nothing where it was not measured, or remove the row"


def fault_of(value: float, name: str, *, signed: bool = False) -> tuple[str, str] | None:
    """Return rule and remedy where a number in SI cannot be of the quantity called `name`.

    What has a unit is not negative but for slacks, and areas, clocks, total power and energy are
    not 0.  With `signed`, the study states which numbers are legal.  A number above `MOST` is
    questioned.

    Examples
    --------
    >>> fault_of(-1e-6, "area_m2")
    ('an area is not negative', 'write nothing where it was not measured, or remove the row')
    >>> fault_of(-1e-10, "wns_s"), fault_of(0.0, "leakage_power_w")
    (None, None)
    """
    unit, stem = units.suffix(name), units.stem(name).casefold()
    if not unit:
        return None
    called = _NAMES.get(unit, f"a value in {units.label(name)}")
    if abs(value) > MOST.get(unit, BEYOND):
        shown = units.show(MOST.get(unit, BEYOND), name)
        return f"{units.show(value, name)} is above {shown}", "is its unit right? correct it"
    if signed or any(word in stem for word in SLACKS):
        return None
    if value < 0:
        return f"{called} is not negative", MISSING
    whole = unit in ("m2", "ge", "lc", "hz") or not any(word in stem for word in PARTS)
    if value == 0 and whole and unit in ("m2", "ge", "lc", "hz", "w", "j"):
        return f"{called} of 0 is an accident", MISSING
    return None

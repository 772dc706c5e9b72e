"""How an answer words numbers, changes and designs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dse.algebra import units
from dse.answers.design import Pick
from dse.reports.words import in_words
from dse.study.schema import SECTIONS

TINY = 5e-10
"""A share below this is rounding."""

LARGE = 10.0
"""From this factor on, a change is told as a multiple rather than in per cent."""


def value(number: float | str, name: str) -> str:
    """Return a number with its unit, or a name as it is."""
    return number if isinstance(number, str) else units.show(number, name)


def percent(share: float) -> str:
    """Return a share in per cent, three digits."""
    return f"{100 * share:.3g} %"


def change(new: float, old: float) -> str:
    """Return by how much a number differs from another: ``14 % less``, ``27.8 times``."""
    share = relative(new, old)
    if share is None:
        return "the same" if new == old else ""
    if abs(share) < TINY:
        return "the same"
    if share + 1 >= LARGE:
        return f"{share + 1:.3g} times"
    return f"{percent(abs(share))} {'more' if share > 0 else 'less'}"


def relative(new: float, old: float) -> float | None:
    """Return the change as a share of the old value, None where that has no meaning."""
    if not (math.isfinite(new) and math.isfinite(old)) or old == 0:
        return None
    return (new - old) / abs(old)


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as in a sentence: ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def is_name(pick: Pick, choice: str) -> bool:
    """Return whether the name of a design tells a choice already."""
    return pick.choices.get(choice) in pick.name.split(", ")


def standing(preference: str) -> str:
    """Return which design a preference puts first: ``The design with the least power``."""
    if preference.startswith("the "):
        return preference.capitalize()
    return f"The design with the {preference}"


def design_line(pick: Pick) -> str:
    """Return a design in one line: its name and its choices."""
    choices = [
        f"{in_words(name)} {value(chosen, name)}"
        for name, chosen in pick.choices.items()
        if not is_name(pick, name)
    ]
    return f"{pick.name} with {joined(choices)}" if choices else pick.name


def quantity(pick: Pick, name: str) -> str:
    """Return a quantity of a design, with its upper bound where it has one."""
    shown = units.show(pick.quantities[name], name)
    return f"{shown} of {units.show(pick.most[name], name)}" if name in pick.most else shown


def named(column: str) -> str:
    """Return a quantity or a field of the study in words."""
    section, _, field = column.partition("_")
    return in_words(field if section in SECTIONS else column)


def amount(number: float, name: str) -> str:
    """Return a number and what it is of: ``208.3 host cores``, ``throughput 6 Mbit/s``."""
    shown = units.show(number, name)
    return f"{named(name)} {shown}" if units.suffix(name) else f"{shown} {named(name)}"


def differences(pick: Pick, other: Pick, names: Sequence[str]) -> dict[str, Any]:
    """Return by how much another design differs, as plain data."""
    shares = {name: relative(other.quantities[name], pick.quantities[name]) for name in names}
    return {
        name: {"share": share, "times": 1.0 + share}
        for name, share in shares.items()
        if share is not None
    }

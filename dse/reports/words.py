"""How texts word columns, lists, counts, shares and changes, and break prose into lines."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Mapping, Sequence

from dse.algebra import units
from dse.algebra.tolerance import VIOLATED

ROUNDING = 5e-10
"""A share below this is rounding."""

LARGE = 10.0
"""From this factor on, a change is written as a multiple rather than in per cent."""

NEARLY_NOTHING = 5e-4
"""Below this factor, per cent would read 100 % less: it is written as a part."""


WIDTH = 100
"""Longest line of prose."""

NARROWEST = 40

WIDEST = 120
"""Least and most columns of a table."""


def in_words(column: str) -> str:
    """Return a column without its section and its unit suffix: ``total power``."""
    return (units.stem(column) or column).rpartition(".")[2].replace("_", " ")


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as in a sentence: ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def rule_text(rule: str) -> str:
    """Return a constraint as part of a sentence: in quotes where it is a sentence itself."""
    return rule if set(rule) & set("<>=") else f'"{rule}"'


def plural(number: int, word: str) -> str:
    """Return a number of things: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {word}{'s' * (number != 1)}"


def percent(share: float, digits: int = 3) -> str:
    """Return a share in per cent, to so many significant digits."""
    return f"{float(f'{100 * share:.{digits}g}'):g} %"


def lacking_text(found: Mapping[str, float]) -> str:
    """Return how much a front lacks, as a clause."""
    sure, share = percent(found["confidence"]), percent(found["share"], 2)
    return f"with {sure} confidence the front lacks less than {share} of hypervolume"


def multiple(factor: float) -> str:
    """Return a factor to three significant digits, without a power of ten below a million."""
    return f"{float(f'{factor:.3g}'):g}"


def with_error(value: float, error: float, factor: float = 1.0, unit: str = "") -> str:
    """Return a share, times `factor`, and its standard error where it is estimated."""
    shown = f"{factor * value:.{4 if factor == 1 else 2}f}{unit}"
    return f"{shown}, estimated, ± {factor * error:.2g}{unit}" if error else shown


def signed(share: float) -> str:
    """Return a share in per cent with its sign."""
    return f"{'-' if share < 0 else '+'}{percent(abs(share))}"


def change(new: float, old: float, than: str = "", digits: int = 3) -> str:
    """Return by how much a number differs: ``14 % less``, ``27.8x``, ``the same``.

    With `than`, what it is compared with: ``14 % less than 3 W``, ``27.8 times 3 W``.
    """
    share = relative_change(new, old)
    if share is None:
        return "the same" if new == old else ""
    if abs(share) < ROUNDING:
        return "the same"
    if share + 1 >= LARGE:
        return f"{multiple(share + 1)} times {than}" if than else f"{multiple(share + 1)}x"
    if 0 < share + 1 < NEARLY_NOTHING:
        part = f"1/{float(f'{1 / (share + 1):.3g}'):,.0f}"
        return f"{part} of {than}" if than else part
    text = f"{percent(abs(share), digits)} {'more' if share > 0 else 'less'}"
    return f"{text} than {than}" if than else text


def relative_change(new: float, old: float) -> float | None:
    """Return the change as a share of the old value, None where that has no meaning."""
    if not (math.isfinite(new) and math.isfinite(old)) or old == 0:
        return None
    return (new - old) / abs(old)


def interval(low: float, high: float, name: str) -> str:
    """Return an interval as text."""
    if math.isnan(low) or math.isnan(high):
        return "none"
    if math.isinf(high):
        return f"{units.show(low, name)} or more" if low > 0 else "any"
    return f"{units.show(low, name)} to {units.show(high, name)}"


def unit_suffix(name: str) -> str:
    """Return what ends the key of a value in the unit of `name`: ``_w``, or nothing."""
    unit = units.suffix(name)
    return f"_{unit}" if unit else ""


def violation_text(relative: float) -> str:
    """Return by how much a constraint is violated, relative to its limit."""
    if relative <= 0:
        return "met"
    if not math.isfinite(relative):
        return "violated"
    if relative <= VIOLATED:
        return "just violated"
    by = percent(relative) if relative < LARGE else f"{multiple(relative)}x the limit"
    return f"violated by {by}"


def paragraph(text: str, indent: str = "") -> str:
    """Return prose in lines that fit, the further ones indented."""
    width = min(WIDTH, terminal_width())
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def terminal_width(otherwise: int = WIDTH) -> int:
    """Return how wide tables are: as the terminal or $COLUMNS say, `otherwise` where neither is."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((otherwise, 24)).columns))

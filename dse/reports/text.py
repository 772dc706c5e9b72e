"""Plain text: wording of columns, counts and changes, and tables that fit a width.

The width is the terminal's, or 100 columns if the output is no terminal.
"""

from __future__ import annotations

import html
import math
import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from dse.algebra import units
from dse.algebra.expression import VIOLATED
from dse.errors import plural as plural

SHOWN_ROUNDING = 5e-10
"""A share below this is rounding."""

LARGE = 10.0
"""Factor from which a change is written as a multiple rather than in per cent."""

NEARLY_NOTHING = 5e-4
"""Factor below which a change is written as a part, since per cent would read 100 % less."""


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
    """Return a constraint as part of a sentence: in quotes if it is a sentence itself."""
    return rule if set(rule) & set("<>=") else f'"{rule}"'


def percent(share: float, digits: int = 3) -> str:
    """Return a share in per cent, to so many significant digits."""
    return f"{float(f'{100 * share:.{digits}g}'):g} %"


def multiple(factor: float) -> str:
    """Return a factor to three significant digits, without a power of ten below a million."""
    return f"{float(f'{factor:.3g}'):g}"


def with_error(value: float, error: float, factor: float = 1.0, unit: str = "") -> str:
    """Return a share, times `factor`, and its standard error if it is estimated."""
    shown = f"{factor * value:.{4 if factor == 1 else 2}f}{unit}"
    return f"{shown}, estimated, ± {factor * error:.2g}{unit}" if error else shown


def signed(share: float) -> str:
    """Return a share in per cent with its sign."""
    return f"{'-' if share < 0 else '+'}{percent(abs(share))}"


def change(new: float, old: float, than: str = "", digits: int = 3) -> str:
    """Return the difference of a number in words: ``14 % less``, ``27.8x``, ``the same``.

    With `than`, the other number in words: ``14 % less than 3 W``, ``27.8 times 3 W``.
    """
    share = relative_change(new, old)
    if share is None:
        return "the same" if new == old else ""
    if abs(share) < SHOWN_ROUNDING:
        return "the same"
    if share + 1 >= LARGE:
        return f"{multiple(share + 1)} times {than}" if than else f"{multiple(share + 1)}x"
    if 0 < share + 1 < NEARLY_NOTHING:
        part = f"1/{float(f'{1 / (share + 1):.3g}'):,.0f}"
        return f"{part} of {than}" if than else part
    text = f"{percent(abs(share), digits)} {'more' if share > 0 else 'less'}"
    return f"{text} than {than}" if than else text


def relative_change(new: float, old: float) -> float | None:
    """Return the change as a share of the old value, None if it is undefined."""
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
    """Return the end of the key of a value in the unit of `name`: ``_w``, or nothing."""
    unit = units.suffix(name)
    return f"_{unit}" if unit else ""


ZERO_BOUND = re.compile(r"'?0(?:\.0*)?(?: ([^\s'<>=]+))?'?(?=\s*(?:[<>]|$))")
"""A bound of 0 in a constraint as written, with its unit."""


def violation_text(relative: float, rule: str = "") -> str:
    """Return a constraint's violation relative to its limit, or in its unit for a limit of 0."""
    if relative <= 0:
        return "met"
    if not math.isfinite(relative):
        return "violated"
    if relative <= VIOLATED:
        return "just violated"
    zero = zero_bound(rule)
    if zero is not None:
        return f"violated by {units.show(relative, zero)}"
    if relative < LARGE:
        return f"violated by {percent(relative)}"
    return f"violated: {multiple(relative + 1)}x the limit"


def zero_bound(rule: str) -> str | None:
    """Return a name with the unit of a constraint's bound of 0, None for another bound."""
    sides = re.split("[<>]=?", rule)
    found = [ZERO_BOUND.fullmatch(side.strip()) for side in sides] if len(sides) == 2 else []
    zero = next(filter(None, found), None)
    return None if zero is None else f"missed_{units.parse_any(zero[0].strip(chr(39)))[1]}"


def paragraph(text: str, indent: str = "") -> str:
    """Return prose in lines that fit, the further ones indented."""
    width = min(WIDTH, terminal_width())
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)


def terminal_width(otherwise: int = WIDTH) -> int:
    """Return the width of tables, from the terminal or $COLUMNS, else `otherwise`."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((otherwise, 24)).columns))


RULE_OF_TABLE = "─"

GAP = "  "
"""Between columns."""

_PART = 10
"""Least width of a column whose words are longer."""


class Printable:
    """A record that prints as the text of its command, in a terminal and in a notebook."""

    def text(self) -> str:
        """Return the text that the command prints."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the text."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the text as it is: a notebook would break the lines of tables."""
        style = "white-space: pre; overflow-x: auto"
        return f'<pre style="{style}">{html.escape(self.text())}</pre>'


def table_text(
    rows: Iterable[Sequence[str]],
    headers: Sequence[str],
    *,
    width: int | None = None,
    names: bool = False,
) -> str:
    """Return rows of text as a table: cells wrap, first in columns after the first.

    In a table of `names` and numbers only the names wrap.  If not even the parts of long words
    fit, the table is wider than requested: nothing is cut.
    """
    cells = [tuple(headers), *(tuple(row) for row in rows)]
    widths = _widths(cells, width, names=names)
    lines = [_table_lines(row, widths) for row in cells]
    rule = RULE_OF_TABLE * (sum(widths) + len(GAP) * (len(widths) - 1))
    return "\n".join([*lines[0], rule, *(line for row in lines[1:] for line in row)])


def _widths(cells: Sequence[Sequence[str]], width: int | None, *, names: bool = False) -> list[int]:
    """Return the width of each column.  Columns too narrow for whole words break within them."""
    columns = list(zip(*cells, strict=True))
    room = (width or terminal_width()) - len(GAP) * (len(columns) - 1)
    longest = [max(_cells(line) for text in column for line in _lines(text)) for column in columns]
    words = [max(map(_cells, " ".join(column).split()), default=1) for column in columns]
    parts = [min(size, _PART) for size in words]
    wrapping = [longest[0], *words[1:]], [longest[0], *parts[1:]], words, parts
    for least in ([_PART, *longest[1:]],) if names else wrapping:
        if sum(least) <= room:
            break
    widths = [*longest]
    for _ in range(sum(longest) - max(room, sum(least))):
        spare = [own if own > low else 0 for own, low in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _cells(text: str) -> int:
    """Return the columns that a text takes: two of a wide character."""
    from rich.cells import cell_len  # only for printing a table

    return cell_len(text)


def _table_lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row."""
    wrapped = [
        [part for line in _lines(text) for part in _wrapped(line, width)]
        for text, width in zip(row, widths, strict=True)
    ]
    lines = []
    for parts in zip_longest(*wrapped, fillvalue=""):
        padded = [
            part + " " * (width - _cells(part)) for part, width in zip(parts, widths, strict=True)
        ]
        lines.append(GAP.join(padded).rstrip())
    return lines


def _lines(text: str) -> list[str]:
    return text.splitlines() or [""]


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line in lines that fit: between words, then behind marks in them, then anywhere."""
    if _cells(line) <= width:
        return [line]
    found, own = [], ""
    for word in re.findall(r"\S+\s*", line):
        fits = _cells(word.rstrip()) <= width
        for part in [word] if fits else re.findall(r"[^._/,=:-]*[._/,=:-]+\s*|[^._/,=:-]+", word):
            if _cells((own + part).rstrip()) > width:
                found.append(own)
                own = ""
            while _cells(part.rstrip()) > width:
                found.append(part[:width])
                part = part[width:]
            own += part
    return [part.rstrip() for part in (*found, own) if part.strip()]


def pairs(rows: Iterable[Sequence[str]], *, width: int | None = None) -> str:
    """Return rows of text in columns without headers."""
    cells = [tuple(row) for row in rows]
    widths = _widths(cells, width) if cells else []
    return "\n".join(line for row in cells for line in _table_lines(row, widths))


def hanging(label: str, text: str, *, width: int | None = None) -> str:
    """Return a label and a text whose further lines are indented."""
    width = width or terminal_width()
    return textwrap.fill(f"{label}: {text}", width, subsequent_indent="  ", break_on_hyphens=False)

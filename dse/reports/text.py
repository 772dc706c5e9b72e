"""Plain text that fits a width: tables, pairs and hanging lines.

The width is that of the terminal, or 100 columns where the output is no terminal.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from dse.reports.words import terminal_width

if TYPE_CHECKING:
    from rich.table import Table

RULE_OF_TABLE = "─"

GAP = "  "
"""Between columns."""

PART = 10
"""Least width of a column whose words are longer."""


class Printable:
    """What prints as the text of its command, in a terminal and in a notebook."""

    def text(self) -> str:
        """Return what the command prints."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the text."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the text as it is: a notebook would break the lines of tables."""
        import html  # only a notebook asks

        style = "white-space: pre; overflow-x: auto"
        return f'<pre style="{style}">{html.escape(self.text())}</pre>'


def table_text(
    rows: Iterable[Sequence[str]], headers: Sequence[str], *, width: int | None = None
) -> str:
    """Return rows of text as a table: cells wrap, first those after the first column.

    Where not even the parts of long words fit, the table is wider than requested: nothing is cut.
    """
    cells = [tuple(headers), *(tuple(row) for row in rows)]
    columns = list(zip(*cells, strict=True))
    widths = _widths(columns, (width or terminal_width()) - len(GAP) * (len(headers) - 1))
    lines = [_table_lines(row, widths) for row in cells]
    rule = RULE_OF_TABLE * (sum(widths) + len(GAP) * (len(widths) - 1))
    return "\n".join([*lines[0], rule, *(line for row in lines[1:] for line in row)])


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the width of each column; what is too narrow for whole words breaks within them."""
    longest = [
        max(cell_len(line) for text in column for line in _lines(text)) for column in columns
    ]
    words = [max(map(cell_len, " ".join(column).split()), default=1) for column in columns]
    parts = [min(size, PART) for size in words]
    for least in ([longest[0], *words[1:]], [longest[0], *parts[1:]], words, parts):
        if sum(least) <= room:
            break
    widths = [*longest]
    for _ in range(sum(longest) - max(room, sum(least))):
        spare = [own if own > low else 0 for own, low in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _table_lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row."""
    wrapped = [
        [part for line in _lines(text) for part in _wrapped(line, width)]
        for text, width in zip(row, widths, strict=True)
    ]
    lines = []
    for parts in zip_longest(*wrapped, fillvalue=""):
        padded = [set_cell_size(part, width) for part, width in zip(parts, widths, strict=True)]
        lines.append(GAP.join(padded).rstrip())
    return lines


def _lines(text: str) -> list[str]:
    return text.splitlines() or [""]


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line in lines that fit: between words, then behind marks in them, then anywhere."""
    if cell_len(line) <= width:
        return [line]
    found, own = [], ""
    for word in re.findall(r"\S+\s*", line):
        fits = cell_len(word.rstrip()) <= width
        for part in [word] if fits else re.findall(r"[^._/,=:-]*[._/,=:-]+\s*|[^._/,=:-]+", word):
            if cell_len((own + part).rstrip()) > width:
                found.append(own)
                own = ""
            while cell_len(part.rstrip()) > width:
                found.append(part[:width])
                part = part[width:]
            own += part
    return [part.rstrip() for part in (*found, own) if part.strip()]


def pairs(rows: Iterable[Sequence[str]], *, width: int | None = None) -> str:
    """Return rows of text in columns without headers."""
    from rich.table import Table  # takes as long as the rest of a command that prints none
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*map(Text, row))
    return printed(table, width)


def new_table() -> Table:
    """Return a table without rows, in the one look of all tables."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def printed(table: Table, width: int | None = None) -> str:
    """Return a table as text, wider than requested where its cells do not fit."""
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width or terminal_width(),
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
    )
    console.width = max(console.width, console.measure(table).minimum)  # or it would cut cells
    console.print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def hanging(label: str, text: str, *, width: int | None = None) -> str:
    """Return a label and a text whose further lines are indented."""
    width = width or terminal_width()
    return textwrap.fill(f"{label}: {text}", width, subsequent_indent="  ", break_on_hyphens=False)

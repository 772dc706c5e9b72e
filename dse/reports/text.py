"""Plain text that fits a width: tables, pairs and hanging lines.

The width is that of the terminal, or 100 columns where the output is no terminal.
"""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 100
"""Longest line of prose."""

WIDEST = 120
"""Longest line of a table."""


def table_text(
    rows: Iterable[Sequence[str]], headers: Sequence[str], *, width: int | None = None
) -> str:
    """Return rows of text as a table; columns after the first wrap, between words if they fit."""
    table = new_table()
    cells = [tuple(row) for row in rows]
    columns = list(zip(headers, *cells, strict=True))
    widest = [max(len(line) for text in columns[0] for line in text.splitlines() or [""])]
    widest += [
        max(len(word) for text in column for word in text.split() or [""]) for column in columns[1:]
    ]
    fits = sum(widest) + 2 * len(headers) <= (width or terminal_width())
    for position, header in enumerate(headers):
        least = widest[position] if fits else None
        table.add_column(Text(header), no_wrap=position == 0, overflow="fold", min_width=least)
    for row in cells:
        table.add_row(*map(Text, row))
    return printed(table, width)


def pairs(rows: Iterable[Sequence[str]], *, width: int | None = None) -> str:
    """Return rows of text in columns without headers."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*map(Text, row))
    return printed(table, width)


def new_table() -> Table:
    """Return a table without rows, in the one look of all tables."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


def printed(table: Table, width: int | None = None) -> str:
    """Return a table as text."""
    stream = io.StringIO()
    width = width or terminal_width()
    console = Console(
        file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False
    )
    console.print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def hanging(label: str, text: str, *, width: int | None = None) -> str:
    """Return a label and a text whose further lines are indented."""
    return textwrap.fill(f"{label}: {text}", width or terminal_width(), subsequent_indent="  ")


def terminal_width() -> int:
    """Return how wide tables are unless told otherwise."""
    return min(WIDEST, shutil.get_terminal_size(fallback=(100, 24)).columns)

"""Plain text that fits a width: tables, pairs and hanging lines.

The width is that of the terminal, or 100 columns where the output is no terminal.
"""

from __future__ import annotations

import html
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

RULE_OF_TABLE = "─"

WIDEST = 120
"""Longest line of a table."""


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
        style = "white-space: pre; overflow-x: auto"
        return f'<pre style="{style}">{html.escape(self.text())}</pre>'


def table_text(
    rows: Iterable[Sequence[str]], headers: Sequence[str], *, width: int | None = None
) -> str:
    """Return rows of text as a table; columns after the first wrap, between words if they fit."""
    cells = [tuple(row) for row in rows]
    columns = list(zip(headers, *cells, strict=True))
    first = max(len(line) for text in columns[0] for line in text.splitlines() or [""])
    words = [
        max(len(word) for text in column for word in text.split() or [""]) for column in columns[1:]
    ]
    room = (width or terminal_width()) - 2 * len(headers)
    least = [first, *words] if first + sum(words) <= room else None
    text = _printed_columns(columns, least, None, width)
    if least is not None and _letters(text) < sum(map(_letters, sum(columns, ()))):  # rich cut it
        widths = _shared(least, columns, room)
        return _printed_columns(columns, widths, widths, width)
    return text


def _printed_columns(
    columns: Sequence[Sequence[str]],
    least: Sequence[int] | None,
    most: Sequence[int] | None,
    width: int | None,
) -> str:
    """Return columns of a header and cells as a table, with limits to their widths if given."""
    table = new_table()
    for position, (header, *_) in enumerate(columns):
        table.add_column(
            Text(header),
            no_wrap=position == 0,
            overflow="fold",
            min_width=None if least is None else least[position],
            max_width=None if most is None else most[position],
        )
    for row in list(zip(*columns, strict=True))[1:]:
        table.add_row(*map(Text, row))
    return printed(table, width)


def _letters(text: str) -> int:
    """Return how many characters a text has that are neither space nor rule."""
    return sum(not letter.isspace() and letter != RULE_OF_TABLE for letter in text)


def _shared(least: Sequence[int], columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return widths that fill the room; what is left over `least` goes where lines are longest."""
    widths = [*least]
    longest = [max(map(len, column)) for column in columns]
    for _ in range(room - sum(widths)):
        lacking = [most - own for most, own in zip(longest, widths, strict=True)]
        widths[lacking.index(max(lacking))] += max(lacking) > 0
    return widths


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

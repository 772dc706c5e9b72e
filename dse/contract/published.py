"""Tables that papers print, kept as comma-separated values beside a plug-in.

A table is UTF-8 text with a header.  Lines that start with ``#`` are remarks: the source, and
how the columns are to be read.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

_SOURCE = "# source: "


@dataclass(frozen=True)
class PublishedTable:
    """The cells of a table as text, and where they stand.

    Attributes
    ----------
    file
        Its path, for messages.
    header
        Names of the columns.
    rows
        One mapping per row, from column to cell.  Cells beyond the header have the name None,
        missing ones the value None.
    header_line, lines
        Where the header and the rows stand, counted from 1.
    source
        What the remark ``# source:`` says, empty where there is none.
    """

    file: str
    header: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    header_line: int
    lines: tuple[int, ...]
    source: str


def read_published(table: Traversable) -> PublishedTable:
    """Return the table in a file.

    Raises
    ------
    ValueError
        With file and line: the quotes of a row do not match.
    """
    text = table.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    # a spreadsheet quotes a remark that contains a comma
    kept = [(n, line) for n, line in enumerate(text, start=1) if not line.startswith(("#", '"#'))]
    reader = csv.DictReader((line for _, line in kept), strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            rows.append(row)
            lines.append(kept[reader.line_num - 1][0])
    except csv.Error as error:
        line = kept[reader.reader.line_num - 1][0]
        raise ValueError(f"{table}:{line}: {error}; check the quotes of this row") from None
    first = kept[0][0] if kept else 1
    source = next((line.partition(_SOURCE)[2] for line in text if _SOURCE in line), "")
    return PublishedTable(
        file=str(table),
        header=tuple(reader.fieldnames or ()),
        rows=tuple(rows),
        header_line=first,
        lines=tuple(lines),
        # a spreadsheet doubles the quotes of a remark, and ends it with a comma per column
        source=source.replace('""', '"').strip('", \r\n'),
    )

"""Tables printed in papers, kept as comma-separated values with a plug-in.

A table is UTF-8 text with a header.  Lines that start with ``#`` are remarks: the source, and
the meaning of the columns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable

import numpy as np

from dse.contract.columns import Column

_SOURCE = "# source: "

_SI = {
    "_um2": ("_m2", "e-12"),
    "_mm2": ("_m2", "e-6"),
    "_mhz": ("_hz", "e6"),
    "_mw": ("_w", "e-3"),
    "_uw": ("_w", "e-6"),
    "_gbit_per_s": ("_bit_per_s", "e9"),
    "_mtask_per_s": ("_task_per_s", "e6"),
    "_gtask_per_s": ("_task_per_s", "e9"),
}


@dataclass(frozen=True)
class PublishedTable:
    """The cells of a table as text, with their places.

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
        Lines of the header and the rows, counted from 1.
    source
        Text of the remark ``# source:``, or empty.
    """

    file: str
    header: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    header_line: int
    lines: tuple[int, ...]
    source: str

    @property
    def designs(self) -> tuple[str, ...]:
        """Return the cell of each row in the column ``design``."""
        return tuple(row["design"] for row in self.rows)


def si_columns(rows: Sequence[Mapping[str, str]], headers: Iterable[str]) -> dict[str, Column]:
    """Return numbers of a table as read-only columns (n,) in SI, under their SI name.

    ``area_um2`` becomes ``area_m2``.  A cell without a number is NaN.

    Examples
    --------
    >>> si_columns([{"clock_mhz": "645"}], ["clock_mhz"])
    {'clock_hz': array([6.45e+08])}
    """
    columns = {}
    for header in headers:
        unit = next((unit for unit in _SI if header.endswith(unit)), "")
        suffix, exponent = _SI.get(unit, ("", ""))
        # The exponent goes into the text, so that 0.72 mm2 is the float nearest to 7.2e-7.
        cells = [row[header] for row in rows]
        column = np.array([float(cell + exponent) if cell else np.nan for cell in cells])
        column.setflags(write=False)
        columns[header.removesuffix(unit) + suffix] = column
    return columns


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

"""Tables of comma-separated values: text in, columns out, and every bad cell with its place.

A table is UTF-8 text (a byte-order mark is fine) with LF or CRLF lines; cells are separated by
commas and may be quoted (RFC 4180), numbers have decimal points whatever the locale.  Lines
that start with ``#`` above the header are remarks; blank lines are skipped.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dse.contract import Column
from dse.errors import Fault, StudyError
from dse.position import Position, line_column, quoted

LARGEST_BYTE = 256_000_000
"""Largest table, in bytes."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class CsvTable:
    """A table as text.

    Attributes
    ----------
    file
        Its name in messages.
    text
        What is in the file.
    headers
        One per column.
    columns
        The cells of each column.
    lines
        Where the header starts, then where each row starts, counted from 1.
    """

    file: str
    text: str
    headers: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines) - 1

    @cached_property
    def _text_lines(self) -> list[str]:
        return list(io.StringIO(self.text, newline=""))

    def fault(self, row: int | None, column: int, rule: str, remedy: str) -> Fault:
        """Return a fault at a cell, counted from 0; at its header when `row` is None."""
        written = self.headers[column] if row is None else self.columns[column][row]
        first = self.lines[0 if row is None else row + 1]
        line, place = _cell_position(self._text_lines, first, column)
        where = () if row is None else (self.headers[column],)
        return Position(line, place, self.file).fault(where, quoted(written), rule, remedy)

    def numbers(self, column: int, factor: Fraction, faults: list[Fault]) -> Column:
        """Return a column times `factor`, shape (n,); NaN where a cell is no finite number.

        Each value is the float nearest to the exact product where `factor` is a power of ten.
        """
        cells = self.columns[column]
        if not _are_plain(cells):
            cells = tuple(cell if is_number(cell) else "nan" for cell in cells)
        values = _converted(cells, factor)
        for row in np.flatnonzero(~np.isfinite(values)):
            cell = self.columns[column][row].strip()
            faults.append(self.fault(int(row), column, *_not_a_number(cell)))
        return values

    def share_of_numbers(self, column: int) -> float:
        """Return the share of cells in a column that are numbers."""
        cells = self.columns[column]
        return 1.0 if _are_plain(cells) else sum(map(is_number, cells)) / len(cells)


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number with a decimal point, and nothing else."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def _are_plain(cells: Sequence[str]) -> bool:
    """Tell, for many cells at once, whether `float` reads them, and reads no more than we do."""
    text = "".join(cells)
    if not text.isascii() or "_" in text:
        return False
    try:
        list(map(float, cells))
    except ValueError:
        return False
    return True


def _converted(cells: Sequence[str], factor: Fraction) -> Column:
    exponent = _power_of_ten(factor)
    if factor == 1 or exponent is None:
        return np.array(list(map(float, cells)), dtype=np.float64) * float(factor)
    # the exponent goes into the text, so that 0.72 mm2 is the float next to 7.2e-7
    scaled = (_scaled(cell, exponent) for cell in cells)
    return np.array(list(map(float, scaled)), dtype=np.float64)


def _scaled(cell: str, exponent: int) -> str:
    mantissa, mark, power = cell.strip().lower().partition("e")
    if len(power) > 9:  # beyond every float, or padded with zeros
        return _scaled(repr(float(cell)), exponent)
    if mantissa[-1:] in "nfy":  # nan, inf, infinity
        return cell
    return f"{mantissa}e{int(power) + exponent if mark else exponent}"


def _power_of_ten(factor: Fraction) -> int | None:
    exponent = round(math.log10(factor))
    return exponent if Fraction(10) ** exponent == factor else None


def _not_a_number(cell: str) -> tuple[str, str]:
    if not cell:
        return "the cell is empty", "write the figure, or leave the row out"
    if _DECIMAL_COMMA.fullmatch(cell):
        return "a number has a decimal point", f"write {cell.replace(',', '.')}"
    if is_number(cell) or cell.strip("+-").casefold() in ("nan", "inf", "infinity"):
        return "a number is finite", "write the figure, or leave the row out"
    return "it is not a number", "write the figure alone; its unit belongs in the header"


def _cell_position(lines: Sequence[str], first: int, wanted: int) -> tuple[int, int]:
    """Return line and column where a cell of the record that starts in line `first` starts."""
    cell, inside, start = 0, False, True
    for number in range(first, len(lines) + 1):
        for place, character in enumerate(lines[number - 1], start=1):
            if start and cell == wanted:
                return number, place
            start = False
            if character == '"':
                inside = not inside
            elif character == "," and not inside:
                cell, start = cell + 1, True
    return first, 1


@lru_cache(maxsize=8)
def parse(content: bytes, file: str) -> CsvTable:
    """Return the table in the content of a file; `file` is the name that faults show.

    Raises
    ------
    StudyError
        It is no table of comma-separated values, with every fault of its shape.
    """
    text = _decoded(content, file)
    lines = io.StringIO(text, newline="").readlines()
    skipped = 0
    while skipped < len(lines) and (not lines[skipped].strip() or lines[skipped][0] == "#"):
        skipped += 1
    start = Position(skipped + 1, 1, file)
    records = list(_records(lines, start))
    if not records:
        raise StudyError([start.fault((), "", "the table is empty", "write a header and rows")])
    (at, header), *rows = records
    headers = tuple(cell.strip() for cell in header)
    _check_separator(headers, start)
    kept = [place for place, name in enumerate(headers) if name or _any(rows, place)]
    faults = list(_header_faults(headers, kept, lines, at, file))
    count = len(headers)
    for line, cells in rows:
        if len(cells) != count:
            place = Position(line, 1, file)
            rule = f"the header has {count} cells and this row {len(cells)}"
            remedy = "quote a cell that contains a comma, write numbers with decimal points"
            faults.append(place.fault((), "", rule, remedy))
    if not rows:
        faults.append(start.fault((), "", "the table has no rows", "write a row per design"))
    if faults:
        raise StudyError(faults)
    columns = tuple(zip(*(cells for _, cells in rows), strict=True))
    return CsvTable(
        file=file,
        text=text,
        headers=tuple(headers[place] for place in kept),
        columns=tuple(columns[place] for place in kept),
        lines=tuple(line for line, _ in records),
    )


def _any(rows: Sequence[tuple[int, list[str]]], place: int) -> bool:
    return any(place < len(cells) and cells[place].strip() for _, cells in rows)


def _decoded(content: bytes, file: str) -> str:
    if len(content) > LARGEST_BYTE:
        rule = f"a table has at most {LARGEST_BYTE} bytes"
        fault = Position(1, 1, file).fault((), "more", rule, "keep the rows that matter")
        raise StudyError([fault])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", errors="replace")
        place = Position(*line_column(before), file)
        written = f"byte 0x{content[error.start]:02x}"
        fault = place.fault((), written, "a table is UTF-8 text", "save the file as UTF-8")
        raise StudyError([fault]) from None


def _records(lines: Sequence[str], start: Position) -> Iterator[tuple[int, list[str]]]:
    """Yield every record that is not blank and the line where it starts."""
    skipped = start.line - 1
    reader = csv.reader(lines[skipped:], strict=True)
    line = start.line
    try:
        for cells in reader:
            if any(cells):
                yield line, cells
            line = skipped + reader.line_num + 1
    except csv.Error as error:
        rule = f"it is not comma-separated values: {error}"
        fault = start._replace(line=line).fault((), "", rule, "check the quotes of this row")
        raise StudyError([fault]) from None


def _check_separator(headers: Sequence[str], start: Position) -> None:
    for separator, name in _SEPARATORS.items():
        if separator in headers[0] and len(headers) == 1:
            rule = f"cells are separated by commas, not by {name}"
            remedy = "export it with commas between cells and decimal points in numbers"
            raise StudyError([start.fault((), quoted(headers[0]), rule, remedy)])


def _header_faults(
    headers: Sequence[str], kept: Sequence[int], lines: Sequence[str], first: int, file: str
) -> Iterator[Fault]:
    for place in kept:
        position = Position(*_cell_position(lines, first, place), file)
        if not headers[place]:
            yield position.fault((), "", "a column has no header", "name it, or remove it")
        elif headers[place] in headers[:place]:
            rule, remedy = "the header stands twice", "rename or remove one of the columns"
            yield position.fault((), quoted(headers[place]), rule, remedy)

"""Tables of comma-separated values: columns from text, and every bad cell with its place.

A table is UTF-8 text (a byte-order mark is fine) with LF or CRLF lines.  Cells are separated by
commas and may be quoted (RFC 4180).  Numbers have decimal points whatever the locale.  Lines
that start with ``#`` above the header are remarks.  The last one is the header if there is no
other.  Blank lines are skipped, and so is a column of row numbers without a name.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.errors import Fault, Position, StudyError, UnitError, comma, line_column, quoted, refuse
from dse.files.limits import TABLE_BYTE

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PLAIN = frozenset("0123456789.+-")
_UNIT = re.compile(r"[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?\s*([^\W\d].*|%)")
_MISSING = frozenset(("", "-", "na", "n/a", "nan"))
_INDEX = re.compile(r"(Unnamed: [0-9]+)?")
Parts = tuple[list[int], list[tuple[str, ...]], list[Fault]]
"""First line of each record that is not blank, the columns with their headers, and errors."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""Beginnings of a cell that a spreadsheet reads as a formula, and the quote against it."""

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class CsvTable:
    """A table as text.

    Attributes
    ----------
    file
        Its name in messages.
    text
        Content of the file.
    headers
        One per column.
    columns
        The cells of each column.
    lines
        First line of the header, then of each row, counted from 1.
    places
        Position of each column in the file, counted from 0.
    """

    file: str
    text: str
    headers: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines) - 1

    @cached_property
    def _text_lines(self) -> list[str]:
        return list(io.StringIO(self.text, newline=""))

    def fault(self, row: int | None, column: int, rule: str, remedy: str) -> Fault:
        """Return an error at a cell, counted from 0, or at its header if `row` is None."""
        written = self.headers[column] if row is None else self.columns[column][row]
        first = self.lines[0 if row is None else row + 1]
        line, place = _cell_position(self._text_lines, first, self.places[column])
        where = () if row is None else (self.headers[column],)
        return Position(line, place, self.file).fault(where, quoted(written), rule, remedy)

    def numbers(self, column: int, factor: Fraction, faults: list[Fault]) -> Column:
        """Return a column times `factor`, shape (n,), or NaN for a cell that is no finite number.

        Each value is the float nearest to the exact product if `factor` is a power of ten.
        """
        cells = self.columns[column]
        exponent, rest = round(math.log10(factor)), 1.0
        if Fraction(10) ** exponent != factor:
            exponent, rest = 0, float(factor)
        values = _plain(cells, exponent)
        if values is None:
            values = np.array([_number(cell.strip(), exponent) for cell in cells])
        header, shown = self.headers[column], False
        named = "" if factor != 1 or units.suffix(header) else header
        for row in np.flatnonzero(~np.isfinite(values)):
            rule, remedy = _not_a_number(cells[row].strip(), named)
            if rule != _UNIT_IN_CELL or not shown:  # a header is mended once
                faults.append(self.fault(int(row), column, rule, remedy))
            shown |= rule == _UNIT_IN_CELL
        return values * rest

    def is_of_numbers(self, column: int) -> bool:
        """Return whether most cells of a column are numbers, or all with commas and units."""
        counts = Counter(self.columns[column])
        filled = {cell: n for cell, n in counts.items() if cell.strip().casefold() not in _MISSING}
        numbers = sum(count for cell, count in filled.items() if is_number(cell))
        return 2 * numbers > sum(filled.values()) or all(map(_is_meant, filled))


def is_number(cell: str) -> bool:
    """Return whether a cell is a number with a decimal point, and nothing else."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def inert(text: str) -> str:
    """Return text as a cell that no spreadsheet reads as a formula: its first sign is a quote.

    Examples
    --------
    >>> inert("=1+1"), inert("-0.5"), inert("u16"), as_written(inert("=1+1"))
    ("'=1+1", '-0.5', 'u16', '=1+1')
    """
    risky = text.startswith(_FORMULA) and not is_number(text)
    return f"'{text}" if risky else text


def as_written(cell: str) -> str:
    """Return the text from which `inert` made a cell."""
    return cell.removeprefix("'") if cell.startswith("'") else cell


def _plain(cells: Sequence[str], exponent: int) -> Column | None:
    """Return cells times a power of ten if all are digits with a point: the fast path.

    The exponent goes into the text, so that 0.72 mm2 is the float next to 7.2e-7.
    """
    if not set("".join(cells)) <= _PLAIN:
        return None
    tail = f"e{exponent}" if exponent else ""
    try:
        return np.array([float(cell + tail) for cell in cells], dtype=np.float64)
    except ValueError:
        return None


def _number(cell: str, exponent: int) -> float:
    """Return one cell times a power of ten, NaN when it is no number."""
    if not is_number(cell):
        return math.nan
    mantissa, mark, power = cell.lower().partition("e")
    if len(power) > 9:  # beyond every float, or padded with zeros
        return float(cell) * 10.0**exponent
    return float(f"{mantissa}e{int(power) + exponent if mark else exponent}")


_UNIT_IN_CELL = "the unit of a column belongs in its header"


@lru_cache(maxsize=4096)
def _is_unit(text: str) -> bool:
    try:
        units.factor(text)
    except UnitError:
        return False
    return True


def _unit(cell: str) -> str:
    """Return the unit after a number, if it is known."""
    found = _UNIT.fullmatch(cell)
    return found[1] if found and _is_unit(found[1]) else ""


def _is_meant(cell: str) -> bool:
    """Return whether a cell is meant as a number."""
    cell = cell.strip()
    return is_number(cell) or comma(cell) is not None or bool(_unit(cell))


def _not_a_number(cell: str, header: str) -> tuple[str, str]:
    """Return rule and remedy.  `header` is empty if a unit is known."""
    if not cell:
        return "the cell is empty", "write the number, or leave the row out"
    if comma_fault := comma(cell):
        return comma_fault
    if is_number(cell) or cell.strip("+-").casefold() in ("nan", "inf", "infinity"):
        return "a number is finite", "write the number, or leave the row out"
    if cell.casefold() in _MISSING:
        return "nothing was measured", "write the number, or leave the row out"
    if unit := _unit(cell):
        called = re.sub(r"\s*[\[(].*", "", header)
        call = f"call it '{called} [{unit}]', and " if called else ""
        return _UNIT_IN_CELL, f"{call}write only numbers"
    return "it is not a number", "write only the number; its unit belongs in the header"


def _cell_position(lines: Sequence[str], first: int, wanted: int) -> tuple[int, int]:
    """Return the line and column of a cell of the record that starts in line `first`."""
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
def parse_csv(content: bytes, file: str) -> CsvTable:
    """Return the table in the content of a file.  `file` is the name that errors show.

    Raises
    ------
    StudyError
        It is no table of comma-separated values.  The error has all errors of its shape.
    """
    text = _decoded(content, file)
    lines = io.StringIO(text, newline="").readlines()
    lines, skipped = _with_header(lines, _remarks(lines))
    start = Position(skipped + 1, 1, file)
    at, columns, faults = _unquoted(lines, skipped) or _records(lines, start)
    if not at:
        raise StudyError([start.fault((), "", "the table is empty", "write a header and rows")])
    headers = tuple(column[0].strip() for column in columns)
    if len(headers) == 1:
        _refuse_separators(headers[0], start)
    kept = _kept(headers[0], columns)
    faults += _header_faults(headers, kept, lines, at[0], file)
    if len(at) == 1:
        faults.append(start.fault((), "", "the table has no rows", "write a row per design"))
    refuse(faults)
    return CsvTable(
        file=file,
        text=text,
        headers=tuple(headers[place] for place in kept),
        columns=tuple(columns[place][1:] for place in kept),
        lines=tuple(at),
        places=tuple(kept),
    )


def _remarks(lines: Sequence[str]) -> int:
    """Return the number of empty lines and remarks at the beginning."""
    shown = (n for n, line in enumerate(lines) if line.strip() and line[0] != "#")
    return next(shown, len(lines))


def _refuse_separators(header: str, start: Position) -> None:
    """Raise StudyError if cells are separated by other signs than commas."""
    for separator, name in _SEPARATORS.items():
        if separator in header:
            rule = f"cells are separated by commas, not by {name}"
            remedy = "export it with commas between cells and decimal points in numbers"
            raise StudyError([start.fault((), quoted(header), rule, remedy)])


def _kept(first: str, columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the places of columns that are neither empty nor, at the `first`, numbers of rows."""
    kept = [place for place, cells in enumerate(columns) if any(cell.strip() for cell in cells)]
    numbered = kept[1:] and _INDEX.fullmatch(first) and _counts(columns[0][1:])
    return kept[1:] if numbered else kept


def _counts(cells: Sequence[str]) -> bool:
    """Return whether cells number the rows."""
    return all(map(str.isdecimal, cells)) and len(set(cells)) == len(cells)


def _with_header(lines: list[str], skipped: int) -> tuple[list[str], int]:
    """Return lines and the number of lines before the header, which may be the last remark.

    A remark is the header if it has a name for each cell of the first row, which has numbers.
    """
    remarks = [place for place in range(skipped) if lines[place][0] == "#"]
    if not remarks or skipped == len(lines):
        return lines, skipped
    named = lines[remarks[-1]].lstrip("# \t")
    try:
        names, cells = (next(csv.reader([line]), []) for line in (named, lines[skipped]))
    except csv.Error:
        return lines, skipped
    if len(names) != len(cells) or not any(map(is_number, cells)) or any(map(is_number, names)):
        return lines, skipped
    return [*lines[: remarks[-1]], named, *lines[remarks[-1] + 1 :]], remarks[-1]


def _decoded(content: bytes, file: str) -> str:
    if len(content) > TABLE_BYTE:
        rule = f"a table has at most {TABLE_BYTE} bytes"
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


def _unquoted(lines: Sequence[str], skipped: int) -> Parts | None:
    """Return the parts of a table at once, or None if it has quotes or rows of unequal length."""
    at = [n for n, line in enumerate(lines, start=1) if n > skipped and line.strip(",\r\n")]
    full = [lines[number - 1].rstrip("\r\n") for number in at]
    widths = {line.count(",") + 1 for line in full}
    flat = ",".join(full)
    if len(widths) != 1 or '"' in flat:
        return None
    cells, width = flat.split(","), widths.pop()
    return at, [tuple(cells[place::width]) for place in range(width)], []


def _records(lines: Sequence[str], start: Position) -> Parts:
    """Return the parts of any table, with only the headers if its rows are of unequal length."""
    skipped = start.line - 1
    reader = csv.reader(lines[skipped:], strict=True)
    found: list[list[str]] = []
    ends = [skipped]
    try:
        for cells in reader:
            found.append(cells)
            ends.append(skipped + reader.line_num)
    except csv.Error as error:
        rule = f"it is not comma-separated values: {error}"
        place = start._replace(line=ends[-1] + 1)
        raise StudyError([place.fault((), "", rule, "check the quotes of this row")]) from None
    full = [place for place, cells in enumerate(found) if any(cells)]
    at, rows = [ends[place] + 1 for place in full], [found[place] for place in full]
    faults = []
    for line, cells in zip(at, rows, strict=True):
        if len(cells) != len(rows[0]):
            rule = f"the header has {len(rows[0])} cells and this row {len(cells)}"
            remedy = "quote a cell that contains a comma, write numbers with decimal points"
            faults.append(start._replace(line=line).fault((), "", rule, remedy))
    columns = list(zip(*(rows[:1] if faults else rows), strict=True))
    return at, columns, faults


def _header_faults(
    headers: Sequence[str], kept: Sequence[int], lines: Sequence[str], first: int, file: str
) -> Iterator[Fault]:
    for place in kept:
        position = Position(*_cell_position(lines, first, place), file)
        if not headers[place]:
            yield position.fault((), "", "a column has no header", "name it, or remove it")
        elif headers[place] in headers[:place]:
            rule, remedy = "this header occurs twice", "rename or remove one of the columns"
            yield position.fault((), quoted(headers[place]), rule, remedy)

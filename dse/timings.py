"""Measured host and offload times by granularity, read from a CSV with every fault at once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse import units
from dse.errors import DseError, Fault, StudyError, UnitError, nearest
from dse.powers_fit import Array

LEAST_SIZES = 4
"""One more than either curve has parameters."""

MOST_BYTES = 4_000_000

COLUMNS: Mapping[str, str] = {"granularity": "byte", "host": "s", "offload": "s"}
"""What a column is called before its unit, and the unit that it is kept in."""

_HEADER = re.compile(r"(granularity|host|offload)(?:_time)?_(.+)")
_CELL = re.compile(r'\s*(?:"([^"]*)"|([^,]*?))\s*(?:,|$)')
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


@dataclass(frozen=True, kw_only=True, eq=False)
class Timings:
    """Times by granularity, ascending.

    Attributes
    ----------
    size
        Bytes, (sizes,).
    host, offload
        Seconds, (1, sizes).
    files
        Names of the files they come from, and what stands there.
    facts
        What the files say of themselves: machine, version, algorithm.
    notes
        What was left out.
    """

    size: Array
    host: Array
    offload: Array
    files: tuple[tuple[str, bytes], ...]
    facts: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A cell of a line: its text, and its column counted from 1."""

    text: str
    column: int


def text_of(path: Path) -> tuple[str, bytes]:
    """Return the text of a file, whatever its line ends and with or without a byte-order mark.

    Raises
    ------
    DseError
        It cannot be read, is no text, or too large.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DseError(f"{path}: it is larger than 4 MB; timings are a row per granularity")
        data = path.read_bytes()
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"), data
    except OSError as error:
        raise DseError(f"{path} cannot be read: {error.strerror}; name a file") from error
    except UnicodeDecodeError as error:
        raise DseError(f"{path}: byte {error.start + 1} is no UTF-8; save it as text") from error


def read_csv(path: Path) -> Timings:
    """Read granularity, host time and offload time; ``#`` starts a comment line.

    Raises
    ------
    StudyError
        With every fault at once, by file, line and column.
    """
    text, data = text_of(path)
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    faults: list[Fault] = []
    if not lines:
        raise StudyError([fault(path, 1, 1, "", "it is empty", "the first line names columns")])
    places, factors = _header(path, *lines[0], faults)
    width = len(cells(lines[0][1]))
    rows = [_row(path, number, line, width, places, factors, faults) for number, line in lines[1:]]
    faults += _repeated(
        path, [(number, row) for (number, _), row in zip(lines[1:], rows, strict=True)]
    )
    if not faults:
        faults += too_few(path, len(rows))
    if faults:
        raise StudyError(faults)
    table = np.array(sorted((row for row in rows if row), key=lambda row: row[0]))
    size, host, offload = table.T
    return Timings(
        size=size,
        host=host[None],
        offload=offload[None],
        files=((path.name, data),),
        facts=_facts(text),
    )


def fault(path: Path, line: int, column: int, written: str, rule: str, remedy: str) -> Fault:
    """Return a fault at a place of a file."""
    return Fault(
        where="", written=written, rule=rule, remedy=remedy, file=str(path), line=line,
        column=column,
    )  # fmt: skip


def too_few(path: Path, count: int) -> list[Fault]:
    """Return a fault if a fit would have no size left to check it."""
    if count >= LEAST_SIZES:
        return []
    rule = f"a curve has up to {LEAST_SIZES - 1} parameters, and needs one size more"
    return [fault(path, 1, 1, f"{count} sizes", rule, f"measure at least {LEAST_SIZES}")]


def cells(line: str) -> list[Cell]:
    """Split a line at its commas, quotes respected."""
    found: list[Cell] = []
    start = 0
    while True:
        match = _CELL.match(line, start)
        if match is None:  # a quote that does not close
            return [*found, Cell(line[start:].strip(), start + 1)]
        group = 1 if match[1] is not None else 2
        found.append(Cell(match[group], match.start(group) + 1))
        if not match[0].endswith(",") or match.end() == start:
            return found
        start = match.end()


def _header(
    path: Path, number: int, line: str, faults: list[Fault]
) -> tuple[dict[str, int], dict[str, float]]:
    """Return where each column stands, and the factor of its unit."""
    places: dict[str, int] = {}
    factors: dict[str, float] = {}
    if ";" in line and "," not in line:
        rule, remedy = "cells are separated by commas", "write commas, and points in numbers"
        raise StudyError([fault(path, number, line.index(";") + 1, "';'", rule, remedy)])
    for place, cell in enumerate(cells(line)):
        match = _HEADER.fullmatch(cell.text)
        here = (path, number, cell.column, repr(cell.text))
        if match is None:
            examples = ("granularity_byte", "host_us", "offload_us")
            faults.append(
                fault(*here, "this is no column with its unit", nearest(cell.text, examples))
            )
        elif match[1] in places:
            faults.append(fault(*here, "this column stands twice", "keep one of them"))
        else:
            places[match[1]] = place
            try:
                factors[match[1]] = units.parse(f"1 {match[2]}", f"x_{COLUMNS[match[1]]}")
            except UnitError as error:
                faults.append(fault(*here, error.rule, error.remedy))
    for name, unit in COLUMNS.items():
        if name not in places:
            remedy = f"add {name}_{'us' if unit == 's' else unit}"
            faults.append(fault(path, number, 1, "", f"the column {name!r} is missing", remedy))
    return places, factors


def _row(
    path: Path,
    number: int,
    line: str,
    width: int,
    places: Mapping[str, int],
    factors: Mapping[str, float],
    faults: list[Fault],
) -> tuple[float, ...]:
    """Return granularity, host and offload time of a line in SI; empty with a fault."""
    found = cells(line)
    if len(found) != width:
        rule = f"this row has {len(found)} cells, the first line {width}"
        remedy = "fill the row" if len(found) < width else "write numbers with a decimal point"
        faults.append(fault(path, number, 1, "", rule, remedy))
        return ()
    row = []
    for name in COLUMNS:
        if name in places and name in factors:
            cell = found[places[name]]
            problem = _problem(cell.text)
            if problem:
                faults.append(fault(path, number, cell.column, repr(cell.text), *problem))
            else:
                row.append(float(cell.text) * factors[name])
    return tuple(row) if len(row) == len(COLUMNS) else ()


def _problem(text: str) -> tuple[str, str] | None:
    """Return the rule that a cell breaks and the remedy."""
    if _COMMA.fullmatch(text):
        return "a number has a decimal point", f"write {text.replace(',', '.')}"
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        return "it must be a finite number", "correct it, or remove the row"
    if float(text) <= 0:
        return "it must be above zero", "correct it, or remove the row"
    return None


def _repeated(path: Path, rows: Iterable[tuple[int, Sequence[float]]]) -> list[Fault]:
    first: dict[float, int] = {}
    faults = []
    for number, row in rows:
        if row and first.setdefault(row[0], number) != number:
            rule = f"line {first[row[0]]} has this size already"
            remedy = "keep one row per size: the median of its repetitions"
            size = units.show(row[0], "granularity_byte")
            faults.append(fault(path, number, 1, size, rule, remedy))
    return faults


def _facts(text: str) -> dict[str, str]:
    """Return what comment lines such as ``# machine: ...`` say."""
    found = re.findall(r"^# (machine|version|algorithm|repetitions): (.*\S)\s*$", text, re.M)
    return dict(found)

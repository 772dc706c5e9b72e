"""Measured host and offload times by granularity, read from a CSV with every fault at once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dse.algebra import units
from dse.errors import Fault, Position, UnitError, refuse
from dse.files import headers
from dse.files.csv import CsvTable, parse_csv
from dse.files.json import read_bytes
from dse.fitting.interface.powers import Array
from dse.reports.text import listed

LEAST_SIZES = 3
"""One more than either curve has parameters when the exponent is taken as 1."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "granularity": ("byte",),
    "host": ("s", "op_per_s", "byte_per_s", "bit_per_s", "cycles", "cycles_per_byte"),
    "offload": ("s", "op_per_s", "byte_per_s", "bit_per_s", "cycles", "cycles_per_byte"),
}
"""What a header says before its unit -> the units that it may have; the first is the usual one."""

_REMARK = re.compile(r"^# (machine|version|algorithm|repetitions): (.*\S)\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Timings:
    """Times by granularity, ascending.

    Attributes
    ----------
    size
        Bytes, (sizes,).
    host, offload
        Seconds, (sizes,).
    files
        Names of the files they come from, and what stands there.
    facts
        What the files say of themselves: machine, version, algorithm.
    notes
        What was omitted.
    """

    size: Array
    host: Array
    offload: Array
    files: tuple[tuple[str, bytes], ...]
    facts: Mapping[str, str]
    notes: tuple[str, ...] = ()


def read_csv(path: Path, clock_hz: float | None = None) -> Timings:
    """Read granularity, host time and offload time; other columns are left alone.

    Times may also be given as rates of calls or of data, or in cycles of `clock_hz`.

    Raises
    ------
    StudyError
        With every fault at once, by file, line and column.
    """
    data = read_bytes(path)
    table = parse_csv(data, str(path))
    faults: list[Fault] = []
    places = _places(table, clock_hz, faults)
    columns = {
        name: _positive(table, column, header, faults) for name, (column, header) in places.items()
    }
    if "granularity" in columns:
        faults += _repeated(table, places["granularity"][0], columns["granularity"])
        faults += too_few(str(path), len(table))
    refuse(faults)
    size = columns["granularity"]
    host, offload = (
        _seconds(columns[name], size, units.suffix(places[name][1].name), clock_hz or math.nan)
        for name in ("host", "offload")
    )
    order = np.argsort(size)
    return Timings(
        size=size[order],
        host=host[order],
        offload=offload[order],
        files=((path.name, data),),
        facts=dict(_REMARK.findall(table.text)),
    )


def too_few(file: str, count: int) -> list[Fault]:
    """Return a fault if a fit would have no size left to check it."""
    if count >= LEAST_SIZES:
        return []
    rule = f"a curve has {LEAST_SIZES - 1} parameters or more, and needs one size more"
    remedy = f"measure at least {LEAST_SIZES}"
    return [Position(1, 1, file).fault((), f"{count} sizes", rule, remedy)]


def _seconds(written: Array, size: Array, unit: str, clock_hz: float) -> Array:
    """Return the times of calls, given in any unit of `COLUMNS`."""
    if unit.endswith("per_s"):
        work = {"op": np.ones(len(size)), "byte": size, "bit": 8 * size}
        return work[unit.removesuffix("_per_s")] / written
    if unit.startswith("cycles"):
        written = written / clock_hz
    return written * size if unit.endswith("per_byte") else written


def _places(
    table: CsvTable, clock_hz: float | None, faults: list[Fault]
) -> dict[str, tuple[int, headers.Header]]:
    """Return where each column stands, and its header."""
    found: dict[str, tuple[int, headers.Header]] = {}
    for column, written in enumerate(table.headers):
        try:
            header = headers.read_header(written)
        except UnitError as error:
            faults.append(table.fault(None, column, error.rule, error.remedy))
            continue
        name = units.stem(header.name).casefold().removesuffix("_time")
        if name in found:
            faults.append(table.fault(None, column, f"there is a {name} already", "remove one"))
        elif name in COLUMNS:
            found[name] = column, header
            unit = units.suffix(header.name)
            if unit not in COLUMNS[name]:
                known = listed([units.label(one) for one in COLUMNS[name]], "or")
                rule = f"{name} is given in {known}, with any prefix"
                faults.append(table.fault(None, column, rule, f"write {_example(name)}"))
            elif unit.startswith("cycles") and clock_hz is None:
                rule, remedy = "nothing says how long a cycle is", 'add --clock "3 GHz"'
                faults.append(table.fault(None, column, rule, remedy))
    for name in COLUMNS:
        if name not in found:
            place = Position(table.lines[0], 1, table.file)
            rule, remedy = f"the column {name!r} is missing", f"add {_example(name)}"
            faults.append(place.fault((), "", rule, remedy))
    return found


def _example(name: str) -> str:
    return f"{name}_{'us' if COLUMNS[name][0] == 's' else COLUMNS[name][0]}"


def _positive(table: CsvTable, column: int, header: headers.Header, faults: list[Fault]) -> Array:
    values = table.numbers(column, header.factor, faults)
    for row in np.flatnonzero(values <= 0):
        rule, remedy = "it must be above zero", "correct it, or remove the row"
        faults.append(table.fault(int(row), column, rule, remedy))
    return values


def _repeated(table: CsvTable, column: int, sizes: Array) -> Iterator[Fault]:
    first: dict[float, int] = {}
    for row, size in enumerate(sizes.tolist()):
        if first.setdefault(size, row) != row:
            rule = f"line {table.lines[first[size] + 1]} has this size already"
            remedy = "keep one row per size: the median of its repetitions"
            yield table.fault(row, column, rule, remedy)

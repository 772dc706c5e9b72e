"""Tables of designs: their columns, names and choice of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.magnitudes import fault_of
from dse.contract import Column, Objective
from dse.errors import Fault, StudyError, UnitError, dotted, nearest
from dse.files import headers
from dse.files.csv import CsvTable, is_number, parse_csv
from dse.files.headers import Header
from dse.files.inputs import Input, base_of, content_of, locate
from dse.files.json import reason
from dse.files.limits import TABLE_BYTE
from dse.model import labels
from dse.study.field_kinds import Range
from dse.study.reader import Reader

NAME_COLUMNS = ("design", "name", "id")
"""Headers of the column that names the designs.  The first that exists counts."""

LABEL = "label"
"""Header of the column whose texts are shown in place of names."""

PERIOD = "period"
"""Name of a column of periods."""

LONGEST_NAME = 200

Cells = Column | list[str]
"""A column of numbers in SI, or of texts."""

Places = dict[str, int]
"""Header, as the study calls it -> position of the column."""


def read_input(written: str, reader: Reader) -> CsvTable | None:
    """Return a table that the study names, which is kept with the run, or None after an error."""
    document = reader.document
    place = locate(document, written)
    file = f"{dotted(reader.path)} as CSV" if written in document.contents else str(place)
    try:
        content = content_of(document, written, TABLE_BYTE + 1)
        reader.inputs[written] = Input(written, content)
        return parse_csv(content, file)
    except StudyError as error:
        reader.faults.extend(fault for fault in error.faults if fault not in reader.faults)
    except FileNotFoundError:
        known = [entry.name for entry in place.parent.glob("*.csv")]
        given = written in document.inputs  # a full path, not one in a study
        unknown = "check the path" if given else base_of(document)
        remedy = nearest(place.name, known) if known else unknown
        reader.fault((), f"there is no file {str(place)!r}", remedy)
    except (OSError, ValueError) as error:
        reader.fault((), f"it cannot be read: {reason(error)}", "check its name and permissions")
    return None


def called(table: CsvTable, columns: Mapping[str, str], reader: Reader) -> Places:
    """Return the columns by their headers, some renamed: ``{area_um2: Cell Area}``.

    A renamed column takes the place of a column with that name.
    """
    renamed: Places = {}
    for name, header in columns.items():
        if header in table.headers:
            place = table.headers.index(header)
            clocked, rule = _dimension(name, header)
            renamed[clocked] = place
            if rule:
                reader.fault((name,), rule, "write the name of the quantity with its own unit", "")
            elif (fitting := headers.in_unit_of(name, header)) != name:
                reader.fault((name,), f"the unit of {header!r} is another", f"write {fitting}", "")
        else:
            rule = f"{table.file} has no column {header!r}"
            reader.fault((name,), rule, nearest(header, table.headers), "")
    taken = set(renamed.values())
    own = {name: place for place, name in enumerate(table.headers) if place not in taken}
    return renamed | {name: place for name, place in own.items() if name not in renamed}


def _dimension(name: str, header: str) -> tuple[str, str]:
    """Return the name of a column whose header has a unit, and the error of that name.

    A period that is called a clock stays a period: ``clock_mhz: delay_ns``.
    """
    try:
        own, other = headers.read_header(name), headers.read_header(header)
    except UnitError:
        return name, ""
    wanted, found = units.suffix(own.name), units.suffix(other.name)
    if not found or not wanted or wanted == found:
        return name, ""
    if (wanted, found) == ("hz", "s"):
        return headers.in_unit_of(f"{PERIOD}_ns", header), ""
    wrong = f"{header!r} is in {units.label(other.name)}, and {name} in {units.label(own.name)}"
    return name, wrong


def columns_of(
    table: CsvTable, places: Places, reader: Reader, wanted: Collection[str] | None = None
) -> Iterator[tuple[Header, Cells]]:
    """Yield columns: numbers in SI if the header has a unit or most cells are numbers, or texts.

    Unreadable columns are errors if they are `wanted`, by default all, and noted otherwise.
    """
    aside: dict[str, list[Fault]] = {}
    for written, place in places.items():
        plain, faults = headers.worded(written), list[Fault]()
        names = {written, plain, plain.rpartition("_")[0]}
        used = wanted is None or not names.isdisjoint(wanted)
        try:
            header = headers.read_header(written)
        except UnitError as error:
            faults.append(table.fault(None, place, error.rule, error.remedy))
        else:
            used = used or not {header.name, units.stem(header.name)}.isdisjoint(wanted or ())
            cells: Cells = [cell.strip() for cell in table.columns[place]]
            if units.suffix(header.name) or table.is_of_numbers(place):
                cells = table.numbers(place, header.factor, faults)
            if used or not faults:
                yield header, cells
        if used:
            reader.faults += faults
        elif faults:
            aside[written] = faults
    set_aside(table, aside, reader)


def set_aside(table: CsvTable, found: Mapping[str, Sequence[Fault]], reader: Reader) -> None:
    """Note the columns of a table that are not used, with the error of each."""
    if found:
        shown = (f"{name} (line {one[0].line}: {one[0].rule})" for name, one in found.items())
        rule = "set aside, as no objective or rule names them"
        reader.notes.append(f"{Path(table.file).name}: {rule}: {', '.join(shown)}")


def names_power(data: Mapping[str, Any]) -> bool:
    """Return whether a study, or other data, may need the power of its cores."""
    rules = (*data.get("constraints", ()), data.get("prefer", ""))
    named = " ".join(map(str, (*data.get("objectives", ["power"]), *rules)))
    return bool(re.search("power|energy", named))


def refuse_impossible(
    table: CsvTable, place: int, name: str, cells: Cells, meant: Collection[str], reader: Reader
) -> None:
    """Report numbers of a column that its quantity excludes.  `meant` columns may have a 0."""
    if isinstance(cells, list):
        return
    zero = bool({name, units.stem(name)} & {*meant})
    values = np.unique(cells[~np.isnan(cells)])
    tried = {*values[:1].tolist(), *values[-1:].tolist(), *values[values == 0].tolist()}
    if not any(fault_of(value, name, zero=zero) for value in tried):
        return  # signs and magnitudes are checked at both ends and at 0
    for row, value in enumerate(cells.tolist()):
        if wrong := fault_of(value, name, zero=zero):
            reader.faults.append(table.fault(row, place, *wrong))


def column_quantity(name: str, words: str, **about: Any) -> Objective:
    """Return a column as a quantity.  `about` as in `Objective`."""

    def value(**columns: Column) -> Column:
        return columns[name]

    value.__name__ = name
    value.__doc__ = words
    return Objective(function=value, signed=True, **about)


def name_column(places: Places) -> str | None:
    """Return the header of the column that names the designs."""
    found = {name.casefold(): name for name in reversed(places)}
    return next((found[name] for name in NAME_COLUMNS if name in found), None)


def row_names(
    table: CsvTable,
    places: Places,
    candidates: Sequence[str],
    reserved: Iterable[str],
    reader: Reader,
) -> tuple[str, ...]:
    """Return a name per row: from the name column, or made of the leading candidates.

    Without a name column the fewest of `candidates`, from the left, that distinguish all rows
    make the names: ``unroll4_pipelined``.  Names that are empty, `reserved` or repeated are
    errors.
    """
    column = name_column(places)
    if column is not None:
        made = tuple(cell.strip() for cell in table.columns[places[column]])
        first = places[column]
    elif candidates:
        made, first = _made_of(table, places, candidates), places[candidates[0]]
    else:
        return tuple(f"row {row + 1}" for row in range(len(table)))
    _check(table, made, first, set(reserved), reader)
    return made


def row_labels(
    table: CsvTable, places: Places, names: Sequence[str], reader: Reader
) -> dict[str, str]:
    """Return the labels of rows by name: the cells of the column `LABEL`."""
    place = places.get(LABEL)
    if place is None:
        return {}
    found: dict[str, str] = {}
    for row, (name, cell) in enumerate(zip(names, table.columns[place], strict=True)):
        if not cell.strip():
            continue
        wrong = labels.fault_of_label(cell)
        if wrong is None and cell in found.values():
            wrong = f"another design is labelled {cell!r} too", "give one of them another label"
        if wrong is not None:
            reader.faults.append(table.fault(row, place, *wrong))
        found[name] = cell.strip()
    return found


def _made_of(table: CsvTable, places: Places, candidates: Sequence[str]) -> tuple[str, ...]:
    made: list[str] = [""] * len(table)
    for name in candidates:
        cells = [cell.strip() for cell in table.columns[places[name]]]
        shown = [f"{name}{cell}" if is_number(cell) else cell for cell in cells]
        made = [f"{old}_{new}" if old else new for old, new in zip(made, shown, strict=True)]
        if len(set(made)) == len(made):
            break
    return tuple(made)


def _check(
    table: CsvTable, made: Sequence[str], column: int, reserved: set[str], reader: Reader
) -> None:
    seen: dict[str, int] = {}
    whole = all(made) and len(max(made, key=len)) <= LONGEST_NAME and "".join(made).isprintable()
    distinct = set(made)
    if whole and len(distinct) == len(made) and not distinct & reserved:
        return
    for row, name in enumerate(made):
        if name and name not in seen and len(name) <= LONGEST_NAME and name.isprintable():
            seen[name] = row
            if name in reserved:
                rule = f"a design cannot be called {name!r}, which is a field of its stage"
                reader.faults.append(table.fault(row, column, rule, "choose another name"))
        elif name in seen:
            rule = f"design {name!r} is already in line {table.lines[seen[name] + 1]}"
            remedy = "remove one of the two, or add a column `design` with a name for each"
            reader.faults.append(table.fault(row, column, rule, remedy))
        else:
            rule = f"a name has 1 to {LONGEST_NAME} printable characters"
            reader.faults.append(table.fault(row, column, rule, "write a name"))


def restricted(
    table: CsvTable, places: Places, parameters: Mapping[str, Any], reader: Reader
) -> NDArray[np.bool_]:
    """Return whether each row has the values that a study wants in some columns, shape (n,)."""
    kept = np.ones(len(table), dtype=bool)
    for name, wanted in parameters.items():
        if name not in places:
            reader.fault((name,), f"{table.file} has no column {name!r}", nearest(name, places), "")
            continue
        cells = [cell.strip() for cell in table.columns[places[name]]]
        if isinstance(wanted, Range):
            kept &= _between(cells, wanted, reader.below(name))
        else:
            values = wanted if isinstance(wanted, list) else [wanted]
            kept &= _among(cells, values, reader.below(name))
    if not kept.any() and not reader.faults:
        reader.fault((), "no row has all these values", "leave some of them out", "")
    return kept


def _between(cells: Sequence[str], wanted: Range, reader: Reader) -> NDArray[np.bool_]:
    low, high = wanted.start, wanted.to
    spaced = wanted.step is not None or wanted.points is not None
    if spaced or isinstance(low, str) or isinstance(high, str):
        rule = "a range chooses rows of a table by two numbers, in the unit of the header"
        reader.fault((), rule, "write for instance {from: 1, to: 8}", "")
    elif not all(map(is_number, cells)):
        reader.fault((), "a range needs a column of numbers", "write a list of values", "")
    else:
        return np.array([low <= float(cell) <= high for cell in cells])
    return np.ones(len(cells), dtype=bool)


def _among(cells: Sequence[str], values: Sequence[Any], reader: Reader) -> NDArray[np.bool_]:
    kept = np.zeros(len(cells), dtype=bool)
    for value in values:
        same = np.array([_same(cell, value) for cell in cells])
        if not same.any():
            reader.fault((), "no row has this value", nearest(str(value), set(cells)), f"{value!r}")
        kept |= same
    return kept


def _same(cell: str, value: Any) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool) and is_number(cell):
        return float(cell) == value
    return cell == (str(value).lower() if isinstance(value, bool) else str(value))

"""Tables of designs: names and choice of rows, and the figures of a core in SI in any form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract import Column, Objective
from dse.errors import StudyError, UnitError, dotted, nearest
from dse.files import headers
from dse.files.csv import CsvTable, is_number, parse_csv
from dse.files.headers import Header
from dse.files.inputs import Input, base_of, locate
from dse.files.json import read_regular
from dse.files.limits import TABLE_BYTE
from dse.study.core_law import AGREEMENT
from dse.study.field_kinds import Range
from dse.study.reader import Reader

NAME_COLUMNS = ("design", "name", "id")
"""Headers of the column that names the designs, the first that is there."""

LONGEST_NAME = 200

Places = dict[str, int]
"""Header, as the study calls it -> position of the column."""


def read_input(written: str, reader: Reader) -> tuple[Input, CsvTable] | None:
    """Return a table that the study names there; what is wrong with it goes to `reader`."""
    document = reader.document
    place = locate(document, written)
    content = document.contents.get(written)
    try:
        if content is not None:
            return Input(written, content), parse_csv(content, f"{dotted(reader.path)} as CSV")
        content = read_regular(place, TABLE_BYTE + 1)
        return Input(written, content), parse_csv(content, str(place))
    except StudyError as error:
        reader.faults.extend(fault for fault in error.faults if fault not in reader.faults)
    except FileNotFoundError:
        known = [entry.name for entry in place.parent.glob("*.csv")]
        given = written in document.inputs  # a path as it is, not one in a study
        unknown = "check the path" if given else base_of(document)
        remedy = nearest(place.name, known) if known else unknown
        reader.fault((), f"there is no file {str(place)!r}", remedy)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reader.fault((), f"it cannot be read: {reason}", "check its name and permissions")
    return None


def called(table: CsvTable, columns: Mapping[str, str], reader: Reader) -> Places:
    """Return the columns by their headers, some called otherwise: ``{area_um2: Cell Area}``.

    A column called so takes the place of one that has the name by itself.
    """
    renamed: Places = {}
    for name, header in columns.items():
        if header in table.headers:
            renamed[name] = table.headers.index(header)
            if (fitting := headers.in_unit_of(name, header)) != name:
                rule = f"the unit of {header!r} is another"
                reader.fault((name,), rule, f"write {fitting}", "")
        else:
            rule = f"{table.file} has no column {header!r}"
            reader.fault((name,), rule, nearest(header, table.headers), "")
    taken = set(renamed.values())
    own = {name: place for place, name in enumerate(table.headers) if place not in taken}
    return renamed | {name: place for name, place in own.items() if name not in renamed}


def columns_of(
    table: CsvTable, places: Places, reader: Reader, wanted: Collection[str] | None = None
) -> Iterator[tuple[Header, Column | list[str]]]:
    """Yield columns: numbers in SI where the header has a unit or most cells are numbers, or texts.

    Of those that are `wanted`, by default all, most of the cells that are filled.
    """
    for written, place in places.items():
        try:
            header = headers.read_header(written)
        except UnitError as error:
            reader.faults.append(table.fault(None, place, error.rule, error.remedy))
            continue
        names = {written, header.name, units.stem(header.name)}
        filled = wanted is None or not names.isdisjoint(wanted)
        if units.suffix(header.name) or table.share_of_numbers(place, filled=filled) > 0.5:
            yield header, table.numbers(place, header.factor, reader.faults)
        else:
            yield header, [cell.strip() for cell in table.columns[place]]


def column_quantity(name: str, words: str, **about: Any) -> Objective:
    """Return a column that is known as a quantity; `about` as of `Objective`."""

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
    """Return a name per row: that in the name column, or one made of the leading candidates.

    Without a name column the fewest of `candidates`, from the left, that tell all rows apart
    make the names: ``unroll4_pipelined``.  Names that are empty, `reserved` or there twice are
    faults.
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
    """Return which rows have the values that a study wants in some columns, shape (n,)."""
    kept = np.ones(len(table), dtype=bool)
    for name, wanted in parameters.items():
        if name not in places:
            rule = f"{table.file} has no column {name!r}"
            reader.fault((name,), rule, nearest(name, places), "")
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
    ends = wanted.start, wanted.to
    spaced = wanted.step is not None or wanted.points is not None
    if spaced or any(isinstance(end, str) for end in ends):
        rule = "a range chooses rows of a table by two numbers, in the unit of the header"
        reader.fault((), rule, "write for instance {from: 1, to: 8}", "")
        return np.ones(len(cells), dtype=bool)
    if not all(map(is_number, cells)):
        reader.fault((), "a range needs a column of numbers", "write a list of values", "")
        return np.ones(len(cells), dtype=bool)
    values = np.array(list(map(float, cells)))
    return np.asarray((values >= float(wanted.start)) & (values <= float(wanted.to)))


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


Form = tuple[str, Callable[[Column], Column]]
"""A column in SI that can give a figure, and how."""


def as_is(values: Column) -> Column:
    """Return a column unchanged."""
    return values


class Figures:
    """Columns of one table by their names in SI, and figures given for all of its designs."""

    def __init__(self, table: CsvTable, places: Mapping[str, int], reader: Reader) -> None:
        """Read the headers; `reader` is the stage's."""
        self.table = table
        self.reader = reader
        self.assumed: list[str] = []
        self.unleaking: tuple[str, bool] | None = None
        self.used: set[str] = set()
        self._headers: dict[str, tuple[int, Header]] = {}
        self._given: dict[str, tuple[str, float]] = {}
        for written, place in places.items():
            try:
                header = headers.read_header(written)
            except UnitError:
                continue  # it may still be a parameter
            name = header.name.casefold()
            if name in self._headers:
                rule = f"{self._headers[name][1].written!r} is the same column"
                remedy = "rename or remove one of the two"
                reader.faults.append(table.fault(None, place, rule, remedy))
            self._headers[name] = place, header

    def give(self, values: Mapping[str, Any]) -> None:
        """Take the figures that the study gives for every design: ``{payload: 128 bit}``."""
        for written, value in values.items():
            where = ("values", written)
            with self.reader.at(where):
                number, suffix = units.parse_any(value)
                if suffix and not units.suffix(written):
                    name = f"{written}_{suffix}"
                else:
                    header = headers.read_header(written)
                    name = header.name
                    number = units.parse(value, name) if suffix else number * float(header.factor)
                if name in self._headers:
                    rule = f"column {self._headers[name][1].written!r} gives it for each design"
                    self.reader.fault(where, rule, "remove it here, or there")
                elif number < 0:
                    self.reader.fault(where, "a figure is not negative", "write 0 or more")
                self._given[name] = written, number

    def check_all_used(self, known: Sequence[str]) -> None:
        """Report figures given by the study that no core has."""
        for name, (written, _) in self._given.items():
            if name not in self.used:
                where = ("values", written)
                if written in known:
                    rule = "a unit that fits is missing"
                    self.reader.fault(where, rule, "write it with its unit, as in 128 bit")
                    continue
                rule = "a core has no such figure in this unit"
                self.reader.fault(where, rule, nearest(written, known), repr(written))

    def need(self, label: str, example: str, forms: Sequence[Form]) -> Column:
        """Return a figure that has no default; its absence is a fault."""
        values = self.one(forms)
        if values is not None:
            return values
        accepted = " or ".join(name for name, _ in forms[:3])
        rule = f"the table has no column for {label}, such as {example}"
        figure = units.stem(forms[0][0]) or forms[0][0]
        value = units.example(forms[0][0])
        header = self._likely(forms)
        example = headers.in_unit_of(example, header.strip("'"))
        column, given = f"columns: {{{example}: {header}}}", f"values: {{{figure}: {value}}}"
        if not self.reader.path:  # a table that no study names
            column, given = (
                f'--set "columns.{example}={header}"',
                f'--set "values.{figure}={value}"',
            )
        remedy = (
            f"accepted are {accepted} with any prefix of the unit; call a column so with "
            f"`{column}`, or give all designs one with `{given}`"
        )
        self.reader.fault(("table",), rule, remedy)
        return self._unknown()

    def _likely(self, forms: Sequence[Form]) -> str:
        """Return the one header that has the unit of an area or a clock, else a stand-in."""
        suffixes = {units.suffix(name) for name, _ in forms} & {"m2", "ge", "lc", "hz"}
        headers = (header for _, header in self._headers.values())
        found = [one.written for one in headers if units.suffix(one.name) in suffixes]
        return f"'{found[0]}'" if len(found) == 1 else "HEADER"

    def one(
        self, forms: Sequence[Form], *, zero: bool = False, distinct: bool = True
    ) -> Column | None:
        """Return a figure in the first form that is there; the others have to agree with it.

        A figure whose name is not `distinct` may begin that of another column: ``read_ports``.
        """
        found = [
            (name, convert(values))
            for name, convert in forms
            if (values := self._read(name, zero=zero)) is not None
        ]
        for name, values in found[1:]:
            self.agree(found[0][1], found[0][0], values, name)
        if not found and distinct and self._looks_alike(forms):
            return self._unknown()
        return found[0][1] if found else None

    def agree(self, first: Column, called: str, second: Column, name: str) -> None:
        """Report where the figure from column `name` is not the one from column `called`."""
        largest = np.maximum(np.abs(first), np.abs(second))
        with np.errstate(invalid="ignore"):  # infinite in both is no difference
            differ = np.abs(first - second) > AGREEMENT * largest
        for row in np.flatnonzero(differ):
            share = abs(first[row] - second[row]) / largest[row]
            self.refuse(
                name if name in self._headers else called,
                int(row),
                f"{called} and {name} disagree by {share:.1%}",
                f"correct one, or set it aside with `columns: {{unused: {self._written(name)}}}`",
            )

    def refuse(self, name: str, row: int, rule: str, remedy: str) -> None:
        """Add a fault at a cell of the column called `name` in SI; at the stage without one."""
        if name in self._headers:
            fault = self.table.fault(row, self._headers[name][0], rule, remedy)
            self.reader.faults.append(fault)
        else:
            self.reader.fault(("values",), rule, remedy, "")

    def assume(self, text: str) -> None:
        """Note what is taken for granted because the table does not say it."""
        self.assumed.append(text)

    def assume_no_leakage(self, text: str, *, total: bool) -> Column:
        """Return no leakage, noted with whether the stated power is the `total` of both."""
        self.assume(text)
        self.unleaking = text, total
        return self.full(0.0)

    def full(self, value: float) -> Column:
        """Return one value for every design."""
        return np.full(len(self.table), value)

    def which(self, names: Sequence[str]) -> str:
        """Return the first of `names`, in SI, that is a column; the first without one."""
        return next((name for name in names if name in self._headers), names[0])

    def places_used(self) -> set[int]:
        """Return the positions of the columns that gave a figure."""
        return {self._headers[name][0] for name in self.used if name in self._headers}

    def _unknown(self) -> Column:
        return self.full(np.nan)  # compares with nothing, so that it causes no further faults

    def _written(self, name: str) -> str:
        return self._headers[name][1].written if name in self._headers else name

    def _read(self, name: str, *, zero: bool) -> Column | None:
        if name in self._given:
            self.used.add(name)
            return self.full(self._given[name][1])
        if name not in self._headers:
            return None
        self.used.add(name)
        place, header = self._headers[name]
        values = self.table.numbers(place, header.factor, self.reader.faults)
        wrong = values < 0 if zero else values <= 0
        least = "0 or more" if zero else "positive"
        for row in np.flatnonzero(wrong):
            self.refuse(name, int(row), f"it must be {least}", "correct the figure")
        return np.where(wrong, np.nan, values)

    def _looks_alike(self, forms: Sequence[Form]) -> bool:
        """Report a column that is called like a figure but has no unit, or none that is known."""
        stems = {units.stem(name) or name for name, _ in forms}
        labels = sorted({units.label(name) for name, _ in forms} - {""})
        for name, (place, header) in self._headers.items():
            alike = units.stem(name) in stems or any(name.startswith(f"{s}_") for s in stems)
            if alike and name not in self.used and self.table.share_of_numbers(place) > 0.5:
                rule = f"it needs a name with a unit ({' or '.join(labels)})"
                example = _example(forms)
                remedy = f"write {example}, or `columns: {{{example}: {header.written!r}}}`"
                self.reader.faults.append(self.table.fault(None, place, rule, remedy))
                return True
        return False


def _example(forms: Sequence[Form]) -> str:
    """Return a header for a figure in a customary prefix: ``area_um2``."""
    name = forms[0][0]
    custom = {"m2": "um2", "w": "mw", "hz": "mhz", "s": "ns", "bit_per_s": "gbit_per_s"}
    suffix = units.suffix(name)
    return f"{units.stem(name)}_{custom.get(suffix, suffix)}" if units.stem(name) else name

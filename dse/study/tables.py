"""Tables of designs: their columns, names and choice of rows, and the cores in them.

A table of cores has a row per design, and columns by headers with units.  Columns of `CoreMetrics`
come from columns of the table, from values that the study gives for every design, or from a default
that the notes of a result state.  A value in several forms (cycles per task and bandwidth, total
power and its parts) has to agree with itself to `AGREEMENT`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.magnitudes import MOST, fault_of, most_of
from dse.contract import Column, CoreMetrics, Objective
from dse.contract.placement import MAPPED_IN, kit_of
from dse.errors import Fault, StudyError, UnitError, dotted, followed, nearest
from dse.files import headers
from dse.files.csv import CsvTable, is_number, parse_csv
from dse.files.document import stage_name
from dse.files.headers import Header
from dse.files.inputs import Input, base_of, content_of, locate
from dse.files.json import reason
from dse.files.limits import TABLE_BYTE
from dse.model import labels
from dse.model.designs import AREAS, BLOCKS, Designs
from dse.study import core_models, schema
from dse.study.core_models import AGREEMENT, BITS_OF_BYTE, CORE_AREAS, QUANTITIES, metrics_of
from dse.study.field_kinds import Range
from dse.study.reader import Reader
from dse.study.scenario import Scenario

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


@dataclass
class TableColumns:
    """A table, the positions of its columns by their names in a study, and the section's reader."""

    table: CsvTable
    places: Places
    reader: Reader

    def refuse_cell(self, row: int | None, place: int, rule: str, remedy: str) -> None:
        """Add an error at the cell of a row, or at the header."""
        self.reader.faults.append(self.table.fault(row, place, rule, remedy))

    def cells(self, name: str) -> list[str]:
        """Return the texts of a column."""
        return [cell.strip() for cell in self.table.columns[self.places[name]]]

    @property
    def name_column(self) -> str | None:
        """Return the header of the column that names the designs."""
        found = {name.casefold(): name for name in reversed(self.places)}
        return next((found[name] for name in NAME_COLUMNS if name in found), None)

    def row_names(self, candidates: Sequence[str], reserved: Iterable[str]) -> tuple[str, ...]:
        """Return a name per row: from the name column, or made of the leading candidates.

        Without a name column the fewest of `candidates`, from the left, that distinguish all rows
        make the names: ``unroll4_pipelined``.  Names that are empty, `reserved` or repeated are
        errors.
        """
        column = self.name_column
        if column is not None:
            made, first = self.cells(column), self.places[column]
        elif candidates:
            made, first = self._made_of(candidates), self.places[candidates[0]]
        else:
            return tuple(f"row {row + 1}" for row in range(len(self.table)))
        self._check(made, first, set(reserved))
        return tuple(made)

    def _made_of(self, candidates: Sequence[str]) -> list[str]:
        made = [""] * len(self.table)
        for name in candidates:
            shown = [f"{name}{cell}" if is_number(cell) else cell for cell in self.cells(name)]
            made = [f"{old}_{new}" if old else new for old, new in zip(made, shown, strict=True)]
            if len(set(made)) == len(made):
                break
        return made

    def _check(self, made: Sequence[str], column: int, reserved: set[str]) -> None:
        seen: dict[str, int] = {}
        whole = all(made) and len(max(made, key=len)) <= LONGEST_NAME
        distinct = set(made)
        if (
            whole
            and "".join(made).isprintable()
            and len(distinct) == len(made)
            and not distinct & reserved
        ):
            return
        for row, name in enumerate(made):
            if not (name and len(name) <= LONGEST_NAME and name.isprintable()):
                wrong = f"a name has 1 to {LONGEST_NAME} printable characters", "write a name"
            elif seen.setdefault(name, row) < row:
                rule = f"design {name!r} is already in line {self.table.lines[seen[name] + 1]}"
                wrong = rule, "remove one of the two, or add a column `design` with a name for each"
            elif name in reserved:
                rule = f"a design cannot be called {name!r}, which is a field of its stage"
                wrong = rule, "choose another name"
            else:
                continue
            self.refuse_cell(row, column, *wrong)

    def row_labels(self, names: Sequence[str]) -> dict[str, str]:
        """Return the labels of rows by name: the cells of the column `LABEL`."""
        found: dict[str, str] = {}
        place = self.places.get(LABEL)
        cells = () if place is None else self.table.columns[place]
        for row, cell in enumerate(cells):
            if not cell.strip():
                continue
            wrong = labels.fault_of_label(cell)
            if wrong is None and cell in found.values():
                wrong = f"another design is labelled {cell!r} too", "give one of them another label"
            if wrong is not None:
                self.refuse_cell(row, self.places[LABEL], *wrong)
            found[names[row]] = cell.strip()
        return found

    def restricted(self, parameters: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Return whether each row has the values that a study wants in some columns, shape (n,)."""
        kept, reader = np.ones(len(self.table), dtype=bool), self.reader.below("parameters")
        for name, wanted in parameters.items():
            if name not in self.places:
                rule = f"{self.table.file} has no column {name!r}"
                reader.fault((name,), rule, nearest(name, self.places), "")
            elif isinstance(wanted, Range):
                rule = "rows of a table are chosen by values, not by a range"
                reader.fault((name,), rule, "write a list of values", "")
            else:
                values = wanted if isinstance(wanted, list) else [wanted]
                kept &= _among(self.cells(name), values, reader.below(name))
        if not kept.any() and not reader.faults:
            reader.fault((), "no row has all these values", "leave some of them out", "")
        return kept


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


Forms = Mapping[str, float | Callable[[Column], Column]]
"""Columns in SI that can give a metric, and for each its factor or conversion."""


def _in_bits(name: str) -> Forms:
    return {f"{name}_bit": 1.0, f"{name}_byte": BITS_OF_BYTE}


class Figures(TableColumns):
    """Columns of one table by their names in SI, and values given for all of its designs."""

    def __init__(self, table: CsvTable, places: Places, reader: Reader) -> None:
        """Read the headers.  `reader` is the stage's."""
        super().__init__(table, places, reader)
        self.assumed: list[str] = []
        self.metrics: dict[str, Column] = {}
        self.used: set[str] = set()
        self.aside: dict[str, list[Fault]] = {}
        self._spared = () if names_power(reader.document.data) else _POWERS
        self._headers: dict[str, tuple[int, Header]] = {}
        self._given: dict[str, tuple[str, float]] = {}
        self._unread: dict[str, tuple[int, UnitError]] = {}
        for written, place in places.items():
            try:
                header = headers.read_header(written)
            except UnitError as error:
                self._unread[headers.worded(written).casefold()] = place, error
                continue  # it may still be a parameter
            name = header.name.casefold()
            if name in self._headers:
                rule = f"{self._headers[name][1].written!r} is the same column"
                self.refuse_cell(None, place, rule, "rename or remove one of the two")
            self._headers[name] = place, header

    def give(self, values: Mapping[str, Any]) -> None:
        """Read the values that the study gives for every design: ``{payload: 128 bit}``."""
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
                    self.reader.fault(where, "a value is not negative", "write 0 or more")
                elif wrong := fault_of(number, name, signed=True):
                    self.reader.fault(where, *wrong)
                self._given[name] = written, number

    def check_all_used(self, known: Sequence[str]) -> None:
        """Report values given by the study that no core has."""
        for name, (written, _) in self._given.items():
            if name not in self.used:
                where = ("values", written)
                if written in known:
                    rule = "a unit that fits is missing"
                    self.reader.fault(where, rule, "write it with its unit, as in 128 bit")
                    continue
                rule = "a core has no such quantity in this unit"
                self.reader.fault(where, rule, nearest(written, known), repr(written))

    def need(self, label: str, example: str, forms: Forms) -> Column:
        """Return a metric that has no default.  Its absence is an error."""
        values = self.one(forms)
        if values is not None:
            return values
        first, *_ = names = [*forms]
        accepted = " or ".join(names[:3])
        rule = f"the table has no column for {label}, such as {example}"
        figure = units.stem(first) or first
        value = units.example(first)
        header = self._likely(forms)
        example = headers.in_unit_of(example, header.strip("'"))
        column, given = f"columns: {{{example}: {header}}}", f"values: {{{figure}: {value}}}"
        if not self.reader.path:  # a table that no study names
            column = f'--set "columns.{example}={header}"'
            given = f'--set "values.{figure}={value}"'
        remedy = (
            f"accepted are {accepted} with any prefix of the unit; call a column so with "
            f"`{column}`, or give all designs one with `{given}`"
        )
        self.reader.fault(("table",), rule, remedy)
        return self.full(np.nan)

    def _likely(self, forms: Forms) -> str:
        """Return the only header with the unit of an area or a clock, else a placeholder."""
        suffixes = {*map(units.suffix, forms)} & {"m2", "ge", "lc", "hz"}
        headers = (header for _, header in self._headers.values())
        found = [one.written for one in headers if units.suffix(one.name) in suffixes]
        return f"'{found[0]}'" if len(found) == 1 else "HEADER"

    def one(self, forms: Forms, *, zero: bool = False, distinct: bool = True) -> Column | None:
        """Return a metric in the first form that is there.  The others have to agree with it.

        A name that is not `distinct` may be the beginning of another column's: ``read_ports``.
        """
        found = [
            (name, form(values) if callable(form) else values * form)
            for name, form in forms.items()
            if (values := self._read(name, zero=zero)) is not None
        ]
        for name, values in found[1:]:
            self.agree(found[0][1], found[0][0], values, name)
        if not found and distinct and self._looks_alike(forms):
            return self.full(np.nan)  # compares with no value, and so causes no further errors
        return found[0][1] if found else None

    def take(self, name: str, forms: Forms, **how: bool) -> Column | None:
        """Return a metric as `one` does, and keep it if it is there."""
        return self.keep(name, self.one(forms, **how))

    def keep(self, name: str, found: Column | None) -> Column | None:
        """Keep a metric unless it is None, and return it."""
        if found is not None:
            self.metrics[name] = found
        return found

    def agree(self, first: Column, called: str, second: Column, name: str) -> None:
        """Report rows in which the value from column `name` differs from column `called`."""
        largest = np.maximum(np.abs(first), np.abs(second))
        with np.errstate(invalid="ignore"):  # infinite in both is no difference
            differ = np.abs(first - second) > AGREEMENT * largest
        for row in np.flatnonzero(differ):
            share = abs(first[row] - second[row]) / largest[row]
            written = self._headers[name][1].written if name in self._headers else name
            rule = f"{called} and {name} disagree by {share:.1%}"
            aside = f"correct one, or set it aside with `columns: {{unused: {written}}}`"
            self.refuse(name if name in self._headers else called, int(row), rule, aside)

    def refuse(self, name: str, row: int, rule: str, remedy: str) -> None:
        """Add an error at a cell of the column called `name` in SI, or at the stage without one."""
        if name in self._headers:
            self.refuse_cell(row, self._headers[name][0], rule, remedy)
        else:
            self.reader.fault(("values",), rule, remedy, "")

    def has(self, name: str) -> bool:
        """Return whether a column, or the study, gives a metric in this form."""
        return name in self._headers or name in self._given

    def full(self, value: float) -> Column:
        """Return one value for every design."""
        return np.full(len(self.table), value)

    def which(self, names: Sequence[str]) -> str:
        """Return the first of `names`, in SI, that is a column, or the first without one."""
        return next((name for name in names if name in self._headers), names[0])

    def places_used(self) -> set[int]:
        """Return the positions of the columns that gave a metric."""
        return {self._headers[name][0] for name in self.used if name in self._headers}

    def _read(self, name: str, *, zero: bool) -> Column | None:
        if name in self._given:
            self.used.add(name)
            return self.full(self._given[name][1])
        if name not in self._headers:
            return None
        self.used.add(name)
        place, header = self._headers[name]
        found: list[Fault] = []
        values = self.table.numbers(place, header.factor, found)
        if found and name in self._spared:
            self.aside[header.written] = found
            return None
        if zero:  # the table may lack it
            aside = f"`columns: {{unused: {header.written}}}` sets the column aside"
            found = [replace(one, remedy=followed(one.remedy, aside)) for one in found]
        self.reader.faults += found
        wrong = values < 0 if zero else values <= 0
        least = "0 or more" if zero else "positive"
        for row in np.flatnonzero(wrong):
            self.refuse(name, int(row), f"it must be {least}", "correct the value")
        for row in np.flatnonzero(np.abs(values) > most_of(name)):
            if found_wrong := fault_of(float(values[row]), name, signed=True):
                self.refuse(name, int(row), *found_wrong)
        return np.where(wrong, np.nan, values)

    def _looks_alike(self, forms: Forms) -> bool:
        """Report a column that is called like a metric but has no unit, or an unknown one."""
        stems = {units.stem(name) or name for name in forms}
        for name, (place, error) in self._unread.items():
            if name.rpartition("_")[0] in stems:
                self.refuse_cell(None, place, error.rule, error.remedy)
                return True
        labels = sorted({*map(units.label, forms)} - {""})
        for name, (place, header) in self._headers.items():
            alike = units.stem(name) in stems or any(name.startswith(f"{s}_") for s in stems)
            if alike and name not in self.used and self.table.is_of_numbers(place):
                rule = f"it needs a name with a unit ({' or '.join(labels)})"
                example = _example(forms)
                remedy = f"write {example}, or `columns: {{{example}: {header.written!r}}}`"
                self.refuse_cell(None, place, rule, remedy)
                return True
        return False


def _example(forms: Forms) -> str:
    """Return a header for a metric in a customary prefix: ``area_um2``."""
    name = next(iter(forms))
    custom = {"m2": "um2", "w": "mw", "hz": "mhz", "s": "ns", "bit_per_s": "gbit_per_s"}
    suffix = units.suffix(name)
    return f"{units.stem(name)}_{custom.get(suffix, suffix)}" if units.stem(name) else name


_POWER = "power"
_RATES = ("bandwidth", "throughput", "rate")
_DYNAMIC = ("dynamic_power_w", "dynamic_w")
_LEAKAGE = ("leakage_power_w", "leakage_w", "static_power_w")
_TOTAL = (f"{_POWER}_w", f"total_{_POWER}_w")
_POWERS = (*_DYNAMIC, *_LEAKAGE, *_TOTAL)

PERIODS = ("period_s", "clock_period_s", "min_period_s", "critical_path_s", "clock_s")
"""Columns of a period, which is a clock."""

UNHEARD = 1000.0
"""Factor above the largest plausible power density from which it is an error."""

ASSUMED_LATENCY = "latency = cycles per task, one task in flight"
"""Note on a table without latency."""

UNLEAKING = ("leakage power 0", "all power is dynamic, none leaks")
"""Notes on a table without leakage."""

KNOWN = (
    *("area", "clock", "payload", "message_end", "cycles_per_task", "cycles_per_block", *_RATES),
    *BLOCKS,
    *("latency", "tasks_in_flight", "dynamic_power", "leakage_power", _POWER, "read", "written"),
)
"""Metrics of a core, as a study calls them in `values`."""


def table_designs(
    written: schema.StageSection, scenario: Scenario, reader: Reader
) -> Designs | None:
    """Return the designs of a stage that names a table.  Errors go to `reader`."""
    before = len(reader.faults)
    file = str(written.table)
    table = read_input(file, reader.below("table"))
    if table is None:
        return None
    places = called(table, written.columns, reader.below("columns"))
    figures = Figures(table, places, reader)
    figures.give(written.values)
    metrics = _metrics(figures, chained=scenario.chained)
    figures.check_all_used(KNOWN)
    libraries = table.columns[places[MAPPED_IN]] if MAPPED_IN in places else ()
    kits = sorted({*map(kit_of, libraries)})  # of a table of `dse characterise`
    if len(kits) > 1:
        rule = f"designs are mapped in several kits: {', '.join(kits)}"
        reader.fault(("table",), rule, "write a table for each kit, and take them by `among`")
    kit = kits[0] if kits else ""
    shares = _uncertainty(figures)
    used = {*figures.places_used(), places.get(LABEL)}
    free = [name for name, place in places.items() if place not in used]
    reserved = {*schema.StageSection.model_fields, "design"}
    names = figures.row_names(free, reserved)
    labels = figures.row_labels(names)
    kept = figures.restricted(written.parameters)
    if len(reader.faults) > before:
        return None
    reader.notes.append(reader.inputs[file].note)
    if figures.assumed:
        assumed = ", ".join(figures.assumed)
        reader.notes.append(f"{Path(file).name}: assumed for every design: {assumed}")
    if not {*UNLEAKING}.isdisjoint(figures.assumed):
        scenario.sureness.unleaking.append(str(stage_name(vars(written))))
    designs = Designs(names, metrics, shares, labels=labels)
    designs = core_models.as_placed(designs, kit, written.figures, written.uncertainty, reader)
    core_models.note_placed({Path(file).name: kit}, written.figures, reader)
    evidence = "synthesis" if kit else ""
    scenario.sureness.keep_designs(written, names, (evidence, "", f"the table {file}"))
    return designs.take(np.flatnonzero(kept))


def _metrics(figures: Figures, *, chained: bool) -> CoreMetrics:
    """Return the metrics of a table's designs, in the units of `CoreMetrics`.

    In a `chained` mode the latency decides the rate, so it is not assumed.
    """
    payload = figures.need("the payload of a task", "payload_bit", _in_bits("payload"))
    clocks: Forms = {"clock_hz": 1.0}
    if not figures.has("clock_hz"):  # of both, the clock is the operating one
        clocks = {**clocks, **dict.fromkeys(PERIODS, lambda period: 1.0 / period)}
    clock = figures.need("the clock", "clock_mhz", clocks)
    for row, value in enumerate(clock.tolist()):
        if not figures.has("clock_hz") and (wrong := fault_of(value, "clock_hz", signed=True)):
            figures.refuse(figures.which(PERIODS), row, *wrong)
    cycles = figures.need("the rate", "cycles_per_task", _rate_forms(clock, payload))
    given = figures.metrics
    given |= {"payload": payload, "clock": clock, "cycles_per_task": cycles}
    _latency(figures, clock, chained)
    _power(figures)
    for way in ("read", "written"):
        forms = {f"{way}_byte": 1.0, f"{way}_bit": 1.0 / BITS_OF_BYTE}
        if figures.take(way, forms, zero=True, distinct=False) is None:
            figures.assumed.append(f"payload {way} once")
    figures.take("message_end", _in_bits("message_end"), zero=True)
    for name in CORE_AREAS:  # several are several metrics
        figures.take(name, {QUANTITIES[name]: 1.0}, distinct=False)
    if given.keys().isdisjoint(CORE_AREAS):
        given["area"] = figures.need("the area", "area_um2", dict.fromkeys(AREAS, 1.0))
    for name in BLOCKS:
        figures.take(name, {QUANTITIES[name]: 1.0}, zero=True, distinct=False)
    _check_density(figures, given)
    return metrics_of(given, figures.full(0.0))


def _check_density(figures: Figures, given: Mapping[str, Column]) -> None:
    """Report designs whose power density is impossible."""
    if {"area", "dynamic_power"} <= given.keys():
        power = given["dynamic_power"] + given.get("leakage_power", 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            density = power / given["area"]
        for row in np.flatnonzero(density > UNHEARD * MOST["w_per_m2"]):
            rule, remedy = fault_of(float(density[row]), "density_w_per_m2") or ("", "")
            figures.refuse(figures.which((*_TOTAL, *_DYNAMIC)), int(row), rule, remedy)
        dense = np.flatnonzero(density > MOST["w_per_m2"])
        if len(dense):
            most, limit = float(density[dense].max()) * 1e-6, MOST["w_per_m2"] * 1e-6
            figures.reader.notes.append(
                f"{len(dense)} of {len(figures.table)} designs of a table take more than "
                f"{limit:g} W/mm2, up to {most:.3g}: check the units of power and area"
            )


def _rate_forms(clock: Column, payload: Column) -> Forms:
    forms: dict[str, float | Callable[[Column], Column]]
    forms = {"cycles_per_task": 1.0, "cycles_per_block": 1.0}
    for name in _RATES:
        forms |= {
            f"{name}_bit_per_s": lambda rate: clock * payload / rate,
            f"{name}_byte_per_s": lambda rate: clock * payload / (rate * BITS_OF_BYTE),
            f"{name}_task_per_s": lambda rate: clock / rate,
        }
    return forms


def _latency(figures: Figures, clock: Column, chained: bool) -> None:
    """Take latency and tasks in flight if a table has them, and note the derived one."""
    forms: Forms = {"latency_cycles": 1.0, "latency_s": lambda time: time * clock}
    latency = figures.take("latency", forms, zero=True)
    slots = figures.take("tasks_in_flight", {"tasks_in_flight": 1.0})
    if latency is None and slots is None and chained:
        figures.metrics["latency"] = figures.need("the latency", "latency_cycles", forms)
    elif latency is None and slots is None:
        figures.assumed.append(ASSUMED_LATENCY)
    elif latency is None:
        figures.assumed.append("latency = cycles per task * tasks in flight")
    elif slots is None:
        figures.assumed.append("tasks in flight = latency / cycles per task, at least 1")


def _power(figures: Figures) -> None:
    """Take dynamic and leakage power from two of dynamic, leakage and total, or from one.

    Power is unknown if a table has none, only zeros, or cells that are no numbers in a study
    that names no power.
    """
    dynamic, leakage, total = (
        figures.one(dict.fromkeys(part, 1.0), zero=True) for part in (_DYNAMIC, _LEAKAGE, _TOTAL)
    )
    set_aside(figures.table, figures.aside, figures.reader)
    given = [column for column in (dynamic, leakage, total) if column is not None]
    if figures.aside or not any(column.any() for column in given):
        return
    if total is None:
        if dynamic is None:
            dynamic = figures.need("power", f"dynamic_{_POWER}_mw", {_DYNAMIC[0]: 1.0})
        if leakage is None:
            figures.assumed.append(UNLEAKING[0])
    elif dynamic is not None and leakage is not None:
        both = dynamic + leakage
        figures.agree(both, "dynamic plus leakage power", total, figures.which(_TOTAL))
    elif dynamic is not None:
        leakage = _rest(figures, total, dynamic)
    elif leakage is not None:
        dynamic = _rest(figures, total, leakage)
    else:
        figures.assumed.append(UNLEAKING[1])
        dynamic = total
    figures.keep("dynamic_power", dynamic)
    figures.keep("leakage_power", leakage)


def _rest(figures: Figures, total: Column, part: Column) -> Column:
    """Return the rest of total power.  A part above it is an error, except for rounding."""
    for row in np.flatnonzero(part > total * (1 + AGREEMENT)):
        rule = "total power is less than a part of it"
        figures.refuse(figures.which(_TOTAL), int(row), rule, "correct one of the two")
    return np.maximum(total - part, 0.0)


def _uncertainty(figures: Figures) -> dict[str, Column]:
    """Return relative standard uncertainties from columns: ``area_uncertainty_percent``."""
    found: dict[str, Column] = {}
    for name, metrics in core_models.STATED.items():
        column = figures.one({f"{name}_uncertainty": 1.0}, zero=True)
        if column is not None:
            found |= dict.fromkeys(metrics, column)
    return found

"""Liberty files: the cells of a process at one corner."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import is_float
from dse.algebra.units import parse
from dse.errors import (
    ENOUGH_FAULTS,
    Fault,
    Position,
    StudyError,
    UnitError,
    nearest,
    refuse,
    shortened,
    visible,
)
from dse.files.json import read_bytes
from dse.reports.text import plural
from dse.silicon.cells import (
    DELAY_TABLES,
    STABLE_TABLES,
    Arc,
    Cell,
    CellLibrary,
    ClockGate,
    FlipFlop,
    FunctionError,
    InternalPower,
    LookupTable,
    Pin,
    Sense,
    names_in,
    truth_table,
    unateness,
)

_STATEMENT = re.compile(
    r"""
    \s*+(?:
      (?P<close>\})
    | (?P<blank>\\\r?\n | ;)
    | (?P<name>[A-Za-z_][\w.]*+)[ \t]*+(?:
        : \s*+ (?:"(?P<quoted>[^"]*)" | (?P<plain>[^;{}"\n]*+)) (?:[ \t]*;)?
      | \( (?P<arguments>(?:[^()"]++|"[^"]*")*+) \) (?:\s*(?P<open>\{))?
      )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENTS = re.compile(r'("[^"]*")|/\*.*?\*/|//[^\n]*', re.DOTALL)
_REST = re.compile(r"\s*\Z")


@dataclass(slots=True)
class LibertyGroup:
    """``kind (names) { ... }``.  A place is an offset in the text.

    Attributes
    ----------
    attributes
        ``name : value``, the last of a name, with its place.
    lists
        ``name (values)``, as written between the brackets, with its place.
    """

    kind: str
    names: str
    at: int
    attributes: dict[str, tuple[str, int]] = field(default_factory=dict)
    lists: list[tuple[str, str, int]] = field(default_factory=list)
    groups: list[LibertyGroup] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """Return the value of an attribute, without its quotes."""
        found = self.attributes.get(name)
        return found[0] if found else default

    def place(self, name: str) -> int:
        """Return the place of an attribute, or of the group itself."""
        found = self.attributes.get(name)
        return found[1] if found else self.at

    def words(self) -> list[str]:
        """Return the names in the brackets."""
        return words(self.names)

    def all(self, *kinds: str) -> Iterator[LibertyGroup]:
        """Yield the groups inside that are of one of these kinds."""
        return (group for group in self.groups if group.kind in kinds)

    def last(self, name: str) -> tuple[str, int] | None:
        """Return the last list of this name, with its place."""
        found = [(text, at) for written, text, at in self.lists if written == name]
        return found[-1] if found else None


def words(text: str) -> list[str]:
    """Return the names between commas, blanks and quotes."""
    return re.findall(r'[^\s",\\]+', text)


class LibertyText:
    """A file's text and its errors."""

    def __init__(self, text: str, file: str) -> None:
        """Keep the text, comments as blanks.  `file` is its name in errors."""
        self.text = _COMMENTS.sub(lambda one: one[1] or re.sub(".", " ", one[0]), text)
        self.file = file
        self.faults: list[Fault] = []
        self._lines: list[int] = []

    def position(self, at: int) -> Position:
        """Return line and column of an offset."""
        if not self._lines:
            self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]
        line = bisect(self._lines, at)
        return Position(line, at - self._lines[line - 1] + 1, self.file)

    def fault(self, at: int, path: tuple[str, ...], written: str, rule: str, remedy: str) -> None:
        """Note an error at an offset."""
        if len(self.faults) < ENOUGH_FAULTS:
            shown = visible(shortened(written))
            self.faults.append(self.position(at).fault(path, shown, rule, remedy))

    def library(self) -> LibertyGroup | None:
        """Return the group ``library``.  Unreadable text is an error."""
        root = LibertyGroup("file", "", 0)
        open_groups, at = [root], 0
        for found in _STATEMENT.finditer(self.text):
            if found.start() != at:
                break
            at = found.end()
            inside = open_groups[-1]
            name = found["name"]
            if name is None:
                if found["close"]:
                    open_groups.pop()
                    if not open_groups:
                        self._lost(at - 1, "a bracket closes that was not opened")
                        return None
            elif found["arguments"] is None:
                value = found["quoted"]
                value = found["plain"].strip() if value is None else value
                inside.attributes[name] = (value, found.start("name"))
            elif found["open"]:
                group = LibertyGroup(name, found["arguments"], found.start("name"))
                inside.groups.append(group)
                open_groups.append(group)
            else:
                inside.lists.append((name, found["arguments"], found.start("name")))
        if not _REST.match(self.text, at):
            start = at + re.match(r"\s*", self.text[at : at + 10_000]).end()  # type: ignore[union-attr]
            self._lost(start, "a statement is 'name : value;' or 'name (values) {'")
            return None
        if len(open_groups) > 1:
            group = open_groups[-1]
            self._lost(group.at, "this group is not closed")
            return None
        return self._only(root)

    def _only(self, root: LibertyGroup) -> LibertyGroup | None:
        libraries = list(root.all("library"))
        if len(libraries) != 1:
            written = f"{len(libraries)} groups 'library'"
            rule, remedy = "a liberty file has one", "name a file 'library (name) { ... }'"
            self.fault(0, (), written, rule, remedy)
            return None
        for name, written, at in root.lists + libraries[0].lists:
            if name == "include_file":
                remedy = "name that file too, or put its text here"
                self.fault(at, (), f"include_file {written}", "other files are not read", remedy)
        return libraries[0]

    def _lost(self, at: int, rule: str) -> None:
        written = self.text[at : at + 60].split("\n", 1)[0]
        self.fault(at, (), repr(written), rule, "look for a missing bracket, quote or ';' before")


# Libraries

MOST_BYTE = 500_000_000
"""Largest size of a packed file, unpacked."""


def read_liberty(*paths: str | Path) -> CellLibrary:
    """Return the cells in liberty files, which may be gzipped.  Several files make one library.

    Delays, slews and energies are tables of the nonlinear delay model (Liberty User Guide and
    Reference Manual, Open Source Liberty).  Not read: current-source models, banks of bits, buses
    and bundles (their cells are omitted and named), energy drawn from rails of 0 V (the same charge
    is counted at the supply), wires.  Leakage is ``cell_leakage_power``.  If that is missing or 0,
    it is the mean over the states of ``leakage_power``.

    Raises
    ------
    StudyError
        A file cannot be read, or breaks a rule.  All errors are reported at once.
    """
    parts: list[CellLibrary] = []
    readers: list[CellReader] = []
    faults: list[Fault] = []
    for path in map(Path, paths):
        content = read_bytes(path)
        text = LibertyText(
            _unpacked(content, path).decode("utf-8-sig", errors="replace"), str(path)
        )
        library = text.library()
        if library is not None:
            reader = CellReader(library, text, read_units(library, text))
            readers.append(reader)
            parts.append(_library(library, reader, path.name))
        faults += text.faults
    faults += _disagreements(parts)
    refuse(faults)
    return _joined(parts, tuple(_notes(readers)))


def _unpacked(content: bytes, path: Path) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            found = stream.read(MOST_BYTE + 1)
    except (OSError, EOFError, zlib.error) as error:
        rule, remedy = f"the file cannot be unpacked: {error}", "fetch it again"
    else:
        if len(found) <= MOST_BYTE:
            return found
        rule = f"the file unpacks to more than {MOST_BYTE // 10**6} MB"
        remedy = "split it by groups of cells, and name all files"
    raise StudyError([Fault("", repr(str(path)), rule, remedy)])


def _library(library: LibertyGroup, reader: CellReader, file: str) -> CellLibrary:
    text, units = reader.text, reader.units
    cells: dict[str, Cell] = {}
    for group in library.all("cell"):
        cell = reader.cell(group)
        if cell is not None and cell.name in cells:
            rule, remedy = "two cells have this name", "remove one of them"
            text.fault(group.at, (cell.name,), f"cell ({cell.name})", rule, remedy)
        elif cell is not None:
            cells[cell.name] = cell
    voltage, temperature, corner = _conditions(library, text)
    return CellLibrary(
        name=next(iter(library.words()), ""),
        voltage_v=voltage * units.volt,
        temperature_c=temperature,
        corner=corner,
        cells=cells,
        sources=(file,),
    )


def _conditions(library: LibertyGroup, text: LibertyText) -> tuple[float, float, str]:
    """Return voltage, temperature and name of the default operating conditions."""
    conditions = {
        name: group for group in library.all("operating_conditions") for name in group.words()[:1]
    }
    default = library.get("default_operating_conditions")
    name = default if default in conditions else next(iter(conditions), "")
    group = conditions.get(name, library)
    found = []
    for key in ("voltage", "temperature"):
        written = group.get(key) or library.get(f"nom_{key}")
        try:
            found.append(float(written))
        except ValueError:
            rule, remedy = f"the library needs a {key}", f"write 'nom_{key} : ...;'"
            text.fault(group.place(key), (), repr(written), rule, remedy)
            found.append(0.0)
    return found[0], found[1], name


def _notes(readers: list[CellReader]) -> Iterator[str]:
    omitted = [name for reader in readers for name in reader.omitted]
    if omitted:
        yield f"cells with banks of bits, buses or bundles are omitted: {', '.join(omitted)}"
    if count := sum(reader.mean_leakage for reader in readers):
        yield f"leakage is the mean over the states in {plural(count, 'cell')}"
    if count := sum(reader.ground_energy for reader in readers):
        yield f"energy drawn from rails of 0 V is omitted: {plural(count, 'group')}"


def _disagreements(parts: list[CellLibrary]) -> Iterator[Fault]:
    """Yield the reasons why files cannot be one library."""
    for part in parts[1:]:
        (file,), (first,) = part.sources, parts[0].sources
        for what in ("voltage_v", "temperature_c"):
            one, other = getattr(parts[0], what), getattr(part, what)
            if one != other:
                written = f"{file} has {other:g}, {first} {one:g}"
                rule, remedy = "files of one library have one corner", "give files of one corner"
                yield Fault(what, written, rule, remedy)
    owner: dict[str, str] = {}
    for part in parts:
        (file,) = part.sources
        for cell in part.cells:
            if cell in owner:
                written, rule = f"in {owner[cell]} and {file}", "two cells have this name"
                yield Fault(cell, written, rule, "give only one of the two files")
            owner[cell] = file


def _joined(parts: list[CellLibrary], notes: tuple[str, ...]) -> CellLibrary:
    """Return one library with the name of its first file."""
    return replace(
        parts[0],
        cells={name: cell for part in parts for name, cell in part.cells.items()},
        sources=tuple(name for part in parts for name in part.sources),
        notes=notes,
    )


# Cells and pins of a liberty file


_SENSES: dict[str, Sense] = {sense: sense for sense in get_args(Sense)}
_UNUSED = ("min_pulse_width", "minimum_period", "three_state_disable")
_READ = ("input", "inout")
_CLOCK_GATES = ("latch_posedge", "latch_posedge_precontrol", "latch_posedge_postcontrol")
_WIDE = ("ff_bank", "latch_bank", "bus", "bundle")


class CellReader:
    """Reader of groups ``cell`` into records, which counts its assumptions."""

    def __init__(self, library: LibertyGroup, text: LibertyText, units: LibertyUnits) -> None:
        """Keep the data that all cells of a library share."""
        self.library = library
        self.text = text
        self.units = units
        self.tables = TableReader(library, text, units)
        voltages = (words(written) for name, written, _ in library.lists if name == "voltage_map")
        self.ground = {rail for rail, *volt in voltages if volt and float(volt[0]) == 0}
        self.pins: list[str] = []  # of the cell that is read
        self.omitted: list[str] = []
        self.mean_leakage = 0
        self.ground_energy = 0

    def cell(self, group: LibertyGroup) -> Cell | None:
        """Return a cell, or None for unsupported banks of bits, buses or bundles."""
        name = next(iter(group.words()), "")
        if next(group.all(*_WIDE), None) is not None:
            self.omitted.append(name)
            return None
        flip_flop = next(map(_flip_flop, group.all("ff")), None)
        pins = {pin: inside for inside in group.all("pin") for pin in inside.words()}
        self.pins = [*pins]
        stateful = next(group.all("latch", "statetable"), None) is not None
        inputs = [pin for pin, inside in pins.items() if inside.get("direction") in _READ]
        known = None if stateful else [*inputs, *_states(flip_flop)]
        for ff in [*group.all("ff")][:1]:
            for key in ("next_state", "clocked_on", "clear", "preset"):
                self._check(ff, key, (name,), known)
        clock_gate = _clock_gate(group, pins)
        return Cell(
            name=name,
            area_m2=self._number(group, "area", (name,)) * self.units.square_metre,
            leakage_w=self._leakage(group, name) * self.units.watt,
            pins=self._pins(name, pins, flip_flop, known),
            flip_flop=flip_flop,
            latch=stateful and clock_gate is None,
            clock_gate=clock_gate,
            dont_use=group.get("dont_use") == "true",
        )

    def _pins(
        self,
        cell: str,
        groups: Mapping[str, LibertyGroup],
        flip_flop: FlipFlop | None,
        known: Sequence[str] | None,
    ) -> dict[str, Pin]:
        """Return the pins of a cell.  Names of one group share its tables."""
        clocks = names_in(flip_flop.clocked_on) if flip_flop else []
        made: dict[int, Pin] = {}
        pins: dict[str, Pin] = {}
        for pin, group in groups.items():
            if id(group) not in made:
                made[id(group)] = self._pin(pin, group, (cell, pin), known)
            record = made[id(group)]
            pins[pin] = replace(record, name=pin, clock=record.clock or pin in clocks)
        return pins

    def _number(self, group: LibertyGroup, name: str, path: tuple[str, ...]) -> float:
        written = group.get(name, "0")
        try:
            return float(written)
        except ValueError:
            place = group.place(name)
            self.text.fault(place, (*path, name), repr(written), "it must be a number", "write one")
            return 0.0

    def _leakage(self, cell: LibertyGroup, name: str) -> float:
        """Return the cell's plain value, else the mean over its states, summed over rails."""
        plain = self._number(cell, "cell_leakage_power", (name,))
        if plain:
            return plain
        rails: dict[str, list[float]] = {}
        for group in cell.all("leakage_power"):
            rail = group.get("related_pg_pin")
            if rail not in self.ground:
                rails.setdefault(rail, []).append(self._number(group, "value", (name,)))
        self.mean_leakage += bool(rails)
        return sum(sum(values) / len(values) for values in rails.values())

    def _check(
        self, group: LibertyGroup, key: str, path: tuple[str, ...], known: Sequence[str] | None
    ) -> None:
        written = group.get(key)
        if not written or known is None:
            return
        try:
            truth_table(written, known)
        except FunctionError as error:
            where = (*path, key)
            self.text.fault(group.place(key), where, "", error.rule, error.remedy)

    def _pin(
        self, name: str, group: LibertyGroup, path: tuple[str, ...], known: Sequence[str] | None
    ) -> Pin:
        direction = group.get("direction")
        if direction not in ("input", "output", "inout", "internal"):
            rule = "a direction is input, output, inout or internal"
            self.text.fault(group.place("direction"), path, repr(direction), rule, "write one")
        self._check(group, "function", path, known)
        function = group.get("function") or None
        rise, fall = (self._edge_capacitance(group, edge, path) for edge in ("rise", "fall"))
        plain, most = (
            self._number(group, key, path) * self.units.farad
            for key in ("capacitance", "max_capacitance")
        )
        plain = plain or (rise + fall) / 2
        return Pin(
            name=name,
            direction=direction,
            capacitance_f=plain,
            function=function,
            arcs=tuple(self._arcs(group, path, function, known)),
            power=tuple(self._power(group, path)),
            clock=group.get("clock") == "true",
            max_capacitance_f=most or None,
            edge_capacitance_f=(rise or plain, fall or plain) if rise or fall else None,
        )

    def _edge_capacitance(self, pin: LibertyGroup, edge: str, path: tuple[str, ...]) -> float:
        """Return the capacitance (F) at an edge, the largest of a range."""
        key = f"{edge}_capacitance"
        found = pin.last(f"{key}_range")
        if found is None:
            return self._number(pin, key, path) * self.units.farad
        try:
            return max(map(float, words(found[0]))) * self.units.farad
        except ValueError:
            rule, remedy = "a range is two numbers", "write '(0.001, 0.002)'"
            self.text.fault(found[1], (*path, f"{key}_range"), found[0], rule, remedy)
            return 0.0

    def _arcs(
        self,
        pin: LibertyGroup,
        path: tuple[str, ...],
        function: str | None,
        known: Sequence[str] | None,
    ) -> Iterator[Arc]:
        for timing in pin.all("timing"):
            kind = timing.get("timing_type", "combinational")
            if kind.startswith(_UNUSED):
                continue
            tables: dict[str, LookupTable | None] = {
                group.kind: self.tables.table(group, (*path, group.kind), self.units.second)
                for group in timing.all(*DELAY_TABLES, *STABLE_TABLES)
            }
            if not tables:
                continue
            for related in self._related(timing, path):
                written = _SENSES.get(timing.get("timing_sense"))
                sense = written or unateness(function, related, known)
                yield Arc(related_pin=related, sense=sense, kind=kind, **tables)

    def _related(self, group: LibertyGroup, path: tuple[str, ...]) -> list[str]:
        """Return the related pins of a group.  A pin that the cell lacks is an error."""
        found = words(group.get("related_pin"))
        for name in found:
            if name not in self.pins:
                where, remedy = (*path, "related_pin"), nearest(name, self.pins)
                rule = "the cell has no such pin"
                self.text.fault(group.place("related_pin"), where, repr(name), rule, remedy)
        return found

    def _power(self, pin: LibertyGroup, path: tuple[str, ...]) -> Iterator[InternalPower]:
        for group in pin.all("internal_power"):
            rail = group.get("related_pg_pin")
            if rail in self.ground:
                self.ground_energy += 1
                continue
            found = {
                table.kind: self.tables.table(table, (*path, table.kind), self.units.joule)
                for table in group.all("rise_power", "fall_power", "power")
            }
            both = found.get("power")
            rise, fall = found.get("rise_power", both), found.get("fall_power", both)
            if rise is None and fall is None:
                continue
            for related in self._related(group, path) or [""]:
                yield InternalPower(related, group.get("when"), rise, fall, rail)


def _flip_flop(group: LibertyGroup) -> FlipFlop:
    state, inverted = (*group.words(), "", "")[:2]
    return FlipFlop(
        state=state,
        inverted=inverted,
        next_state=group.get("next_state"),
        clocked_on=group.get("clocked_on"),
        clear=group.get("clear") or None,
        preset=group.get("preset") or None,
    )


def _states(flip_flop: FlipFlop | None) -> tuple[str, ...]:
    return () if flip_flop is None else (flip_flop.state, flip_flop.inverted)


def _clock_gate(cell: LibertyGroup, pins: Mapping[str, LibertyGroup]) -> ClockGate | None:
    """Return the pins of a clock gate for rising edges, None for other cells."""
    if cell.get("clock_gating_integrated_cell") not in _CLOCK_GATES:
        return None
    marked = {
        role: [name for name, pin in pins.items() if pin.get(f"clock_gate_{role}_pin") == "true"]
        for role in ("clock", "enable", "out", "test")
    }
    if not all(len(marked[role]) == 1 for role in ("clock", "enable", "out")):
        return None
    (clock,), (enable,), (output,) = marked["clock"], marked["enable"], marked["out"]
    return ClockGate(clock, enable, output, tuple(marked["test"]))


# Units, templates and lookup tables of a liberty file


_ROWS = ("input_net_transition", "input_transition_time", "constrained_pin_transition")
_COLUMNS = ("total_output_net_capacitance", "related_pin_transition")
_FARAD = {"ff": 1e-15, "pf": 1e-12}
_BLANKS = str.maketrans('",\\', "   ")


@dataclass(frozen=True)
class LibertyUnits:
    """Factors of the numbers of a file.  Areas are in square micrometres by custom."""

    second: float
    farad: float
    watt: float
    volt: float
    square_metre: float = 1e-12

    @property
    def joule(self) -> float:
        """Return the unit of energies per transition: capacitance times voltage squared."""
        return self.farad * self.volt**2


def read_units(library: LibertyGroup, text: LibertyText) -> LibertyUnits:
    """Return the units of a library.  A missing or unknown unit is an error."""
    return LibertyUnits(
        second=_unit(library, text, "time_unit", "1ns", "time_s"),
        watt=_unit(library, text, "leakage_power_unit", "1nW", "leakage_w"),
        volt=_volt(library, text),
        farad=_capacitance(library, text),
    )


def _unit(library: LibertyGroup, text: LibertyText, name: str, example: str, what: str) -> float:
    written = library.get(name)
    if not written:
        rule, remedy = f"the library needs {name}", f"write '{name} : \"{example}\";'"
        text.fault(library.at, (), "", rule, remedy)
        return 1.0
    try:
        return parse(written, what)
    except UnitError as error:
        text.fault(library.place(name), (name,), repr(written), error.rule, error.remedy)
        return 1.0


def _volt(library: LibertyGroup, text: LibertyText) -> float:
    found = re.fullmatch(r"(10*) *(m?)V", library.get("voltage_unit"))
    if found is None:
        at, written = library.place("voltage_unit"), repr(library.get("voltage_unit"))
        remedy = "write 'voltage_unit : \"1V\";'"
        text.fault(at, (), written, "the library needs a voltage_unit in mV or V", remedy)
        return 1.0
    return float(found[1]) * (1e-3 if found[2] else 1.0)


def _capacitance(library: LibertyGroup, text: LibertyText) -> float:
    found = library.last("capacitive_load_unit")
    parts = words(found[0]) if found else []
    try:
        number, unit = parts
        return float(number) * _FARAD[unit.lower()]
    except (ValueError, KeyError):
        at = found[1] if found else library.at
        rule = "capacitive_load_unit is a number, then ff or pf"
        text.fault(at, (), " ".join(parts), rule, "write 'capacitive_load_unit (1, pf);'")
        return 1.0


class TableReader:
    """Reader of groups of values into tables, with one array for axes of the same text."""

    def __init__(self, library: LibertyGroup, text: LibertyText, units: LibertyUnits) -> None:
        """Keep the templates of a library."""
        kinds = ("lu_table_template", "power_lut_template")
        named = ((name, group) for group in library.all(*kinds) for name in group.words()[:1])
        self.templates: Mapping[str, LibertyGroup] = dict(named)
        self.text = text
        self.units = units
        self._axes: dict[tuple[str, float], NDArray[np.float64]] = {}

    def table(self, group: LibertyGroup, path: tuple[str, ...], unit: float) -> LookupTable | None:
        """Return the table of a group, values times `unit`, or None after an error."""
        found = group.last("values")
        if found is None:
            rule = f"{group.kind} needs values"
            self.text.fault(group.at, path, group.kind, rule, "write 'values (\"...\");'")
            return None
        values = self._numbers(found[0], found[1], path)
        if values is None:
            return None
        name = next(iter(group.words()), "scalar")
        template = self.templates.get(name)
        if len(values) == 1 and (template is None or group.last("index_1") is None):
            return LookupTable(np.zeros(1), np.zeros(1), values.reshape(1, 1) * unit)
        if template is None:
            written, rule = f"{group.kind} ({name})", f"{name!r} is not a template of this library"
            self.text.fault(group.at, path, written, rule, nearest(name, self.templates))
            return None
        return self._shaped(group, template, values * unit, found[1], path)

    def _shaped(
        self,
        group: LibertyGroup,
        template: LibertyGroup,
        values: NDArray[np.float64],
        at: int,
        path: tuple[str, ...],
    ) -> LookupTable | None:
        """Return a table with slew along the rows, whichever variable the template has first."""
        axes: dict[str, NDArray[np.float64]] = {}
        lengths = []
        for number in ("1", "2"):
            variable = template.get(f"variable_{number}")
            if not variable:
                continue
            if variable not in _ROWS + _COLUMNS:
                rule, remedy = f"{variable!r} is not a variable of delay, slew or power", "use NLDM"
                self.text.fault(template.place(f"variable_{number}"), path, "", rule, remedy)
                return None
            axis = self._axis(group, template, number, variable)
            if axis is None:
                rule, remedy = f"index_{number} is missing or does not rise", "write rising numbers"
                self.text.fault(group.at, path, group.kind, rule, remedy)
                return None
            lengths.append(len(axis))
            axes["rows" if variable in _ROWS else "columns"] = axis
        if len(values) != np.prod(lengths):
            rule = f"the table is {' x '.join(map(str, lengths))}"
            remedy = "write one value for each pair"
            self.text.fault(at, path, f"{len(values)} values", rule, remedy)
            return None
        rows, columns = axes.get("rows", np.zeros(1)), axes.get("columns", np.zeros(1))
        if template.get("variable_1") in _COLUMNS:
            return LookupTable(rows, columns, values.reshape(len(columns), len(rows)).T.copy())
        return LookupTable(rows, columns, values.reshape(len(rows), len(columns)))

    def _axis(
        self, group: LibertyGroup, template: LibertyGroup, number: str, variable: str
    ) -> NDArray[np.float64] | None:
        name = f"index_{number}"
        found = group.last(name) or template.last(name)
        if found is None:
            return None
        unit = self.units.farad if variable == _COLUMNS[0] else self.units.second
        axis = self._axes.get((found[0], unit))
        if axis is None:
            numbers = self._numbers(found[0], found[1], (name,))
            if numbers is None or not len(numbers) or np.any(np.diff(numbers) <= 0):
                return None
            axis = self._axes[found[0], unit] = numbers * unit
        return axis

    def _numbers(self, written: str, at: int, path: tuple[str, ...]) -> NDArray[np.float64] | None:
        parts = written.translate(_BLANKS).split()
        try:
            numbers = np.array(list(map(float, parts)))
        except ValueError:
            bad = next(part for part in parts if not is_float(part))
            self.text.fault(at, path, repr(bad), "a table has numbers", "write a number")
            return None
        if not np.isfinite(numbers).all():
            self.text.fault(at, path, "nan or inf", "a table has numbers", "write a number")
            return None
        return numbers

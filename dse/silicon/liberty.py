"""Liberty files: the cells of a process at one corner."""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import is_float
from dse.errors import (
    ENOUGH_FAULTS,
    Fault,
    Position,
    StudyError,
    nearest,
    refuse,
    results_of,
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

_UNITS: dict[str, tuple[dict[str, float], str]] = {
    "time_unit": ({"ps": 1e-12, "ns": 1e-9, "us": 1e-6}, ' : "1ns";'),
    "leakage_power_unit": ({"pW": 1e-12, "nW": 1e-9, "uW": 1e-6, "mW": 1e-3}, ' : "1nW";'),
    "voltage_unit": ({"mV": 1e-3, "V": 1.0}, ' : "1V";'),
    "capacitive_load_unit": ({"ff": 1e-15, "pf": 1e-12}, " (1, pf);"),
}
"""Units of numbers: the factors of their names, and an example."""

_SQUARE_METRE = 1e-12
"""Areas are in square micrometres by custom."""

_SENSES: dict[str, Sense] = {sense: sense for sense in get_args(Sense)}
_UNUSED = ("min_pulse_width", "minimum_period", "three_state_disable")
_DIRECTIONS = ("input", "output", "inout", "internal")
_CLOCK_GATES = ("latch_posedge", "latch_posedge_precontrol", "latch_posedge_postcontrol")
_WIDE = ("ff_bank", "latch_bank", "bus", "bundle")
_ROWS = ("input_net_transition", "input_transition_time", "constrained_pin_transition")
_COLUMNS = ("total_output_net_capacitance", "related_pin_transition")
_BLANKS = str.maketrans('",\\', "   ")
_ENTRY = np.zeros(1)

_MOST_BYTE = 500_000_000
"""Largest size of a packed file, unpacked."""

Where = tuple[str, ...]
Axis = NDArray[np.float64]


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
    files = results_of(*(partial(LibertyFile, Path(path)) for path in paths))
    cells: dict[str, Cell] = {}
    for file in files:
        file.add_cells(cells)
    refuse(fault for file in files for fault in (*file.faults, *file.differences(files[0])))
    return CellLibrary(
        *(files[0].name, files[0].voltage_v, files[0].temperature_c, files[0].corner),
        cells=cells,
        sources=tuple(Path(file.file).name for file in files),
        notes=tuple(_notes(files)),
    )


def _notes(files: Sequence[LibertyFile]) -> Iterator[str]:
    omitted = [name for file in files for name in file.omitted]
    if omitted:
        yield f"cells with banks of bits, buses or bundles are omitted: {', '.join(omitted)}"
    if count := sum(file.mean_leakage for file in files):
        yield f"leakage is the mean over the states in {plural(count, 'cell')}"
    if count := sum(file.ground_energy for file in files):
        yield f"energy drawn from rails of 0 V is omitted: {plural(count, 'group')}"


def _unpacked(content: bytes, path: Path) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            found = stream.read(_MOST_BYTE + 1)
    except (OSError, EOFError, zlib.error) as error:
        rule, remedy = f"the file cannot be unpacked: {error}", "fetch it again"
    else:
        if len(found) <= _MOST_BYTE:
            return found
        rule = f"the file unpacks to more than {_MOST_BYTE // 10**6} MB"
        remedy = "split it by groups of cells, and name all files"
    raise StudyError([Fault("", repr(str(path)), rule, remedy)])


@dataclass(slots=True)
class LibertyGroup:
    """``kind (names) { ... }``.  A place is an offset in the text.

    `values` has what ``name : value`` and ``name (value)`` say, by name, with places.
    """

    kind: str
    names: str
    at: int
    values: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    groups: list[LibertyGroup] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """Return the last value of a name, without the quotes around it."""
        return self.values[name][-1][0] if name in self.values else default

    def place(self, name: str) -> int:
        """Return the place of the last value of a name, or of the group itself."""
        return self.values[name][-1][1] if name in self.values else self.at

    def first(self, default: str = "") -> str:
        """Return the first name in its brackets."""
        return next(iter(words(self.names)), default)

    def all(self, *kinds: str) -> Iterator[LibertyGroup]:
        """Yield the groups inside that are of one of these kinds."""
        return (group for group in self.groups if group.kind in kinds)


def words(text: str) -> list[str]:
    """Return the names between commas, blanks and quotes."""
    return re.findall(r'[^\s",\\]+', text)


class LibertyFile:
    """A file, its errors, and the assumptions that its cells are read with."""

    def __init__(self, path: Path) -> None:
        """Read what all cells share.  Text that is no liberty is an error at once."""
        written = _unpacked(read_bytes(path), path).decode("utf-8-sig", errors="replace")
        self.text = _COMMENTS.sub(lambda one: one[1] or re.sub(".", " ", one[0]), written)
        self.file = str(path)
        self.faults: list[Fault] = []
        self.omitted: list[str] = []
        self.mean_leakage = self.ground_energy = 0
        self.pins: Mapping[str, LibertyGroup] = {}  # of the cell that is read, and the names that
        self.known: Sequence[str] | None = None  # its functions may have
        self._lines: list[int] = []
        self._axes: dict[tuple[str, float], Axis] = {}
        self.library = self._parsed()
        kinds = ("lu_table_template", "power_lut_template")
        self.templates = {group.first(): group for group in self.library.all(*kinds)}
        self.second, self.watt, volt, self.farad = map(self._unit, _UNITS)
        self.joule = self.farad * volt**2  # energies of a transition: capacitance, voltage squared
        rails = (words(text) for text, _ in self.library.values.get("voltage_map", ()))
        self.ground = {rail for rail, *voltage in rails if voltage and float(voltage[0]) == 0}
        corners = {group.first(): group for group in self.library.all("operating_conditions")}
        default = self.library.get("default_operating_conditions")
        self.name = self.library.first()
        self.corner = default if default in corners else next(iter(corners), "")
        conditions = corners.get(self.corner, self.library)
        self.voltage_v = self._condition(conditions, "voltage") * volt
        self.temperature_c = self._condition(conditions, "temperature")

    def _condition(self, conditions: LibertyGroup, name: str) -> float:
        if conditions.get(name):
            return self._number(conditions, name, ())
        return self._number(self.library, f"nom_{name}", (), needed=True)

    def differences(self, first: LibertyFile) -> Iterator[Fault]:
        """Yield the reasons why this and the first file are no one library."""
        for what in ("voltage_v", "temperature_c"):
            one, other = getattr(first, what), getattr(self, what)
            if one != other:
                name, of = (Path(file.file).name for file in (self, first))
                written = f"{name} has {other:g}, {of} {one:g}"
                rule, remedy = "files of one library have one corner", "give files of one corner"
                yield Fault(what, written, rule, remedy)

    # Text and its errors

    def error(self, at: int, where: Where, written: str, rule: str, remedy: str) -> StudyError:
        """Return an error at an offset."""
        if not self._lines:
            self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]
        line = bisect(self._lines, at)
        place = Position(line, at - self._lines[line - 1] + 1, self.file)
        return StudyError([place.fault(where, visible(shortened(written)), rule, remedy)])

    def fault(self, at: int, where: Where, written: str, rule: str, remedy: str) -> None:
        """Note an error at an offset."""
        if len(self.faults) < ENOUGH_FAULTS:
            self.faults += self.error(at, where, written, rule, remedy).faults

    def _parsed(self) -> LibertyGroup:
        """Return the group ``library``."""
        open_groups, at = [LibertyGroup("file", "", 0)], 0
        for found in _STATEMENT.finditer(self.text):
            if found.start() != at:
                break
            at, inside, name = found.end(), open_groups[-1], found["name"]
            if name is None:
                if found["close"] and len(open_groups) == 1:
                    raise self._lost(at - 1, "a bracket closes that was not opened")
                if found["close"]:
                    open_groups.pop()
            elif found["open"]:
                group = LibertyGroup(name, found["arguments"], found.start("name"))
                inside.groups.append(group)
                open_groups.append(group)
            else:
                value = found["arguments"] or found["quoted"] or (found["plain"] or "").strip()
                inside.values.setdefault(name, []).append((value, found.start("name")))
        if not _REST.match(self.text, at):
            start = at + len(self.text[at:]) - len(self.text[at:].lstrip())
            raise self._lost(start, "a statement is 'name : value;' or 'name (values) {'")
        if len(open_groups) > 1:
            raise self._lost(open_groups[-1].at, "this group is not closed")
        return self._only(open_groups[0])

    def _only(self, root: LibertyGroup) -> LibertyGroup:
        libraries = [*root.all("library")]
        if len(libraries) != 1:
            written = f"{len(libraries)} groups 'library'"
            rule, remedy = "a liberty file has one", "name a file 'library (name) { ... }'"
            raise self.error(0, (), written, rule, remedy)
        for group in (root, *libraries):
            for written, at in group.values.get("include_file", ()):
                remedy = "name that file too, or put its text here"
                self.fault(at, (), f"include_file {written}", "other files are not read", remedy)
        return libraries[0]

    def _lost(self, at: int, rule: str) -> StudyError:
        written = self.text[at : at + 60].split("\n", 1)[0]
        remedy = "look for a missing bracket, quote or ';' before"
        return self.error(at, (), repr(written), rule, remedy)

    def _unit(self, name: str) -> float:
        """Return the unit of some numbers.  A missing or unknown unit is an error."""
        factors, example = _UNITS[name]
        parts = words(self.library.get(name))
        found = re.fullmatch(r"([\d.]+)([a-z]+)", "".join(parts).lower())
        for unit, factor in factors.items():
            if found and is_float(found[1]) and found[2] == unit.lower():
                return float(found[1]) * factor
        rule = f"{name} is a number, then {' or '.join(factors)}"
        self.fault(self.library.place(name), (), " ".join(parts), rule, f"write '{name}{example}'")
        return 1.0

    def _number(
        self, group: LibertyGroup, name: str, where: Where, *, needed: bool = False
    ) -> float:
        """Return a number, 0 unless it is written or needed."""
        written = group.get(name, "" if needed else "0")
        try:
            return float(written)
        except ValueError:
            at, rule = group.place(name), "it must be a number"
            self.fault(at, (*where, name), repr(written), rule, "write one")
            return 0.0

    def _check(self, group: LibertyGroup, key: str, where: Where) -> None:
        """Note why a function cannot be read, if its names are known."""
        try:
            if self.known is not None and group.get(key):
                truth_table(group.get(key), self.known)
        except FunctionError as error:
            self.fault(group.place(key), (*where, key), "", error.rule, error.remedy)

    # Cells and pins

    def add_cells(self, cells: dict[str, Cell]) -> None:
        """Add the cells, none of which may be there, but for banks of bits, buses and bundles."""
        for group in self.library.all("cell"):
            name = group.first()
            if next(group.all(*_WIDE), None) is not None:
                self.omitted.append(name)
                continue
            cell = self._cell(group, name)
            if name in cells:
                rule, remedy = "two cells have this name", "remove one of them"
                self.fault(group.at, (name,), f"cell ({name})", rule, remedy)
            cells.setdefault(name, cell)

    def _cell(self, group: LibertyGroup, name: str) -> Cell:
        states = [*group.all("ff")][:1]
        flip_flop = next(map(_flip_flop, states), None)
        stateful = next(group.all("latch", "statetable"), None) is not None
        self.pins = pins = {pin: one for one in group.all("pin") for pin in words(one.names)}
        inputs = [pin for pin, one in pins.items() if one.get("direction") in ("input", "inout")]
        own = (flip_flop.state, flip_flop.inverted) if flip_flop else ()
        self.known = None if stateful else [*inputs, *own]
        for state in states:
            for key in ("next_state", "clocked_on", "clear", "preset"):
                self._check(state, key, (name,))
        clock_gate = _clock_gate(group, pins)
        return Cell(
            name=name,
            area_m2=self._number(group, "area", (name,)) * _SQUARE_METRE,
            leakage_w=self._leakage(group, name) * self.watt,
            pins=self._pins(group, flip_flop),
            flip_flop=flip_flop,
            latch=stateful and clock_gate is None,
            clock_gate=clock_gate,
            dont_use=group.get("dont_use") == "true",
        )

    def _pins(self, cell: LibertyGroup, flip_flop: FlipFlop | None) -> dict[str, Pin]:
        """Return the pins of a cell.  Names of one group share its tables."""
        clocks = names_in(flip_flop.clocked_on) if flip_flop else []
        pins: dict[str, Pin] = {}
        for inside in cell.all("pin"):
            record = self._pin(inside, (cell.first(), inside.first()))
            for pin in words(inside.names):
                pins[pin] = replace(record, name=pin, clock=record.clock or pin in clocks)
        return pins

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

    def _pin(self, group: LibertyGroup, where: Where) -> Pin:
        direction = group.get("direction")
        if direction not in _DIRECTIONS:
            rule = "a direction is input, output, inout or internal"
            self.fault(group.place("direction"), where, repr(direction), rule, "write one")
        self._check(group, "function", where)
        rise, fall = (self._edge_capacitance(group, edge, where) for edge in ("rise", "fall"))
        plain, most = (
            self._number(group, key, where) * self.farad
            for key in ("capacitance", "max_capacitance")
        )
        plain = plain or (rise + fall) / 2
        return Pin(
            name=where[-1],
            direction=direction,
            capacitance_f=plain,
            function=group.get("function") or None,
            arcs=tuple(self._arcs(group, where)),
            power=tuple(self._power(group, where)),
            clock=group.get("clock") == "true",
            max_capacitance_f=most or None,
            edge_capacitance_f=(rise or plain, fall or plain) if rise or fall else None,
        )

    def _edge_capacitance(self, pin: LibertyGroup, edge: str, where: Where) -> float:
        """Return the capacitance (F) at an edge, the largest of a range."""
        key = f"{edge}_capacitance"
        found = words(pin.get(f"{key}_range"))
        if all(map(is_float, found)) and found:
            return max(map(float, found)) * self.farad
        return self._number(pin, f"{key}_range" if found else key, where) * self.farad

    def _arcs(self, pin: LibertyGroup, where: Where) -> Iterator[Arc]:
        for timing in pin.all("timing"):
            kind = timing.get("timing_type", "combinational")
            if kind.startswith(_UNUSED):
                continue
            tables: dict[str, LookupTable | None] = {
                group.kind: self.table(group, where, self.second)
                for group in timing.all(*DELAY_TABLES, *STABLE_TABLES)
            }
            for related in self._related(timing, where) if tables else ():
                written = _SENSES.get(timing.get("timing_sense"))
                sense = written or unateness(pin.get("function") or None, related, self.known)
                yield Arc(related_pin=related, sense=sense, kind=kind, **tables)

    def _related(self, group: LibertyGroup, where: Where) -> list[str]:
        """Return the related pins of a group.  A pin that the cell lacks is an error."""
        found = words(group.get("related_pin"))
        for name in found:
            if name not in self.pins:
                at, rule = group.place("related_pin"), "the cell has no such pin"
                self.fault(at, (*where, "related_pin"), repr(name), rule, nearest(name, self.pins))
        return found

    def _power(self, pin: LibertyGroup, where: Where) -> Iterator[InternalPower]:
        for group in pin.all("internal_power"):
            rail = group.get("related_pg_pin")
            if rail in self.ground:
                self.ground_energy += 1
                continue
            found = {
                one.kind: self.table(one, where, self.joule)
                for one in group.all("rise_power", "fall_power", "power")
            }
            both = found.get("power")
            rise, fall = found.get("rise_power", both), found.get("fall_power", both)
            if rise is None and fall is None:
                continue
            for related in self._related(group, where) or [""]:
                yield InternalPower(related, group.get("when"), rise, fall, rail)

    # Lookup tables

    def table(self, group: LibertyGroup, where: Where, unit: float) -> LookupTable | None:
        """Return the table of a group, values times `unit`, or None after an error."""
        try:
            return self._table(group, (*where, group.kind), unit)
        except StudyError as error:
            self.faults += error.faults
            return None

    def _table(self, group: LibertyGroup, where: Where, unit: float) -> LookupTable:
        """Return a table with slew along the rows, whichever variable its template has first."""
        if "values" not in group.values:
            rule, remedy = f"{group.kind} needs values", "write 'values (\"...\");'"
            raise self.error(group.at, where, group.kind, rule, remedy)
        values = self._numbers(group, "values", where) * unit
        name = group.first("scalar")
        template = self.templates.get(name)
        if len(values) == 1 and (template is None or "index_1" not in group.values):
            return LookupTable(_ENTRY, _ENTRY, values.reshape(1, 1))
        if template is None:
            written, rule = f"{group.kind} ({name})", f"{name!r} is not a template of this library"
            raise self.error(group.at, where, written, rule, nearest(name, self.templates))
        axes = {
            variable in _ROWS: self._axis(group, template, number, variable, where)
            for number in ("1", "2")
            if (variable := template.get(f"variable_{number}"))
        }
        rows, columns = axes.get(True, _ENTRY), axes.get(False, _ENTRY)
        if len(values) != len(rows) * len(columns):
            rule = f"the table is {' x '.join(str(len(axis)) for axis in axes.values())}"
            at, remedy = group.place("values"), "write one value for each pair"
            raise self.error(at, where, f"{len(values)} values", rule, remedy)
        if template.get("variable_1") in _COLUMNS:
            return LookupTable(rows, columns, values.reshape(len(columns), len(rows)).T.copy())
        return LookupTable(rows, columns, values.reshape(len(rows), len(columns)))

    def _axis(
        self, group: LibertyGroup, template: LibertyGroup, number: str, variable: str, where: Where
    ) -> Axis:
        """Return an axis in SI: one array for all axes of the same text."""
        if variable not in _ROWS + _COLUMNS:
            rule, remedy = f"{variable!r} is not a variable of delay, slew or power", "use NLDM"
            raise self.error(template.place(f"variable_{number}"), where, "", rule, remedy)
        name = f"index_{number}"
        by = group if name in group.values else template
        unit = self.farad if variable == _COLUMNS[0] else self.second
        key = (by.get(name), unit)
        if key not in self._axes:
            numbers = self._numbers(by, name, (*where, name))
            if not len(numbers) or np.any(np.diff(numbers) <= 0):
                rule, remedy = f"{name} is missing or does not rise", "write rising numbers"
                raise self.error(group.at, where, group.kind, rule, remedy)
            self._axes[key] = numbers * unit
        return self._axes[key]

    def _numbers(self, group: LibertyGroup, name: str, where: Where) -> Axis:
        parts = group.get(name).translate(_BLANKS).split()
        try:
            numbers = np.array([*map(float, parts)])
        except ValueError:
            numbers = np.full(1, np.nan)
        if not np.isfinite(numbers).all():
            bad = next(one for one in parts if not (is_float(one) and math.isfinite(float(one))))
            rule, remedy = "a table has numbers", "write a number"
            raise self.error(group.place(name), where, repr(bad), rule, remedy)
        return numbers


def _flip_flop(group: LibertyGroup) -> FlipFlop:
    state, inverted = (*words(group.names), "", "")[:2]
    following, clock, clear, preset = map(
        group.get, ("next_state", "clocked_on", "clear", "preset")
    )
    return FlipFlop(state, inverted, following, clock, clear or None, preset or None)


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

"""Cells and pins of a liberty file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from dse.silicon.cells.boolean import FunctionError, names_in, truth_table
from dse.silicon.cells.liberty_grammar import LibertyGroup, LibertyText, words
from dse.silicon.cells.liberty_tables import LibertyUnits, TableReader
from dse.silicon.cells.library import (
    DELAY_TABLES,
    Arc,
    Cell,
    ClockGate,
    FlipFlop,
    InternalPower,
    LookupTable,
    Pin,
    Sense,
)

_SENSES: dict[str, Sense] = {sense: sense for sense in get_args(Sense)}
_CONSTRAINTS = ("rise_constraint", "fall_constraint")
_UNUSED = ("min_pulse_width", "minimum_period", "three_state_disable")
_READ = ("input", "inout")
_CLOCK_GATES = ("latch_posedge", "latch_posedge_precontrol", "latch_posedge_postcontrol")
_WIDE = ("ff_bank", "latch_bank", "bus")
_PinGroup = tuple[str, LibertyGroup, LibertyGroup]
"""Name, group and outer group of a pin."""


class CellReader:
    """Turns groups ``cell`` into records; counts what was assumed."""

    def __init__(self, library: LibertyGroup, text: LibertyText, units: LibertyUnits) -> None:
        """Keep what all cells of a library share."""
        self.library = library
        self.text = text
        self.units = units
        self.tables = TableReader(library, text, units)
        voltages = (words(written) for name, written, _ in library.lists if name == "voltage_map")
        self.ground = {rail for rail, *volt in voltages if volt and float(volt[0]) == 0}
        self.omitted: list[str] = []
        self.mean_leakage = 0
        self.ground_energy = 0

    def cell(self, group: LibertyGroup) -> Cell | None:
        """Return a cell, or None where it has banks of bits or buses, which are not read."""
        name = next(iter(group.words()), "")
        if next(group.all(*_WIDE), None) is not None:
            self.omitted.append(name)
            return None
        flip_flop = next(map(self._flip_flop, group.all("ff")), None)
        pin_groups = [*_pins(group)]
        inputs = [
            pin
            for pin, inside, outer in pin_groups
            if (inside.get("direction") or outer.get("direction")) in _READ
        ]
        states = [flip_flop.state, flip_flop.inverted] if flip_flop else []
        stateful = next(group.all("latch", "statetable"), None) is not None
        if not stateful and flip_flop is not None:
            ff = next(group.all("ff"))
            for key in ("next_state", "clocked_on", "clear", "preset"):
                self._check(ff, key, (name,), [*inputs, *states])
        known = None if stateful else [*inputs, *states]
        clocks = names_in(flip_flop.clocked_on) if flip_flop else []
        pins: dict[str, Pin] = {}
        made: dict[int, Pin] = {}  # names of one group share its tables
        for pin, inside, outer in pin_groups:
            if id(inside) not in made:
                made[id(inside)] = self._pin(pin, inside, outer, (name, pin), known)
            record = made[id(inside)]
            pins[pin] = replace(record, name=pin, clock=record.clock or pin in clocks)
        clock_gate = _clock_gate(group, pin_groups)
        return Cell(
            name=name,
            area_m2=self._number(group, "area", (name,)) * self.units.square_metre,
            leakage_w=self._leakage(group, name) * self.units.watt,
            pins=pins,
            flip_flop=flip_flop,
            latch=stateful and clock_gate is None,
            clock_gate=clock_gate,
            dont_use=group.get("dont_use") == "true",
        )

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

    def _flip_flop(self, group: LibertyGroup) -> FlipFlop:
        state, inverted = (*group.words(), "", "")[:2]
        return FlipFlop(
            state=state,
            inverted=inverted,
            next_state=group.get("next_state"),
            clocked_on=group.get("clocked_on"),
            clear=group.get("clear") or None,
            preset=group.get("preset") or None,
        )

    def _check(
        self, group: LibertyGroup, key: str, path: tuple[str, ...], known: Sequence[str]
    ) -> None:
        written = group.get(key)
        if not written:
            return
        try:
            truth_table(written, known)
        except FunctionError as error:
            where = (*path, key)
            self.text.fault(group.place(key), where, "", error.rule, error.remedy)

    def _pin(
        self,
        name: str,
        group: LibertyGroup,
        outer: LibertyGroup,
        path: tuple[str, ...],
        known: Sequence[str] | None,
    ) -> Pin:
        direction = group.get("direction") or outer.get("direction")
        if direction not in ("input", "output", "inout", "internal"):
            rule = "a direction is input, output, inout or internal"
            self.text.fault(group.place("direction"), path, repr(direction), rule, "write one")
        if known is not None:
            self._check(group, "function", path, known)
        function = group.get("function") or None
        rise, fall = (self._edge_capacitance(group, edge, path) for edge in ("rise", "fall"))
        plain, most = (
            (self._number(group, key, path) or self._number(outer, key, path)) * self.units.farad
            for key in ("capacitance", "max_capacitance")
        )
        plain = plain or (rise + fall) / 2
        groups = [group] if outer is group else [group, outer]
        return Pin(
            name=name,
            direction=direction,
            capacitance_f=plain,
            function=function,
            arcs=tuple(arc for one in groups for arc in self._arcs(one, path, function, known)),
            power=tuple(power for one in groups for power in self._power(one, path)),
            clock=group.get("clock") == "true",
            max_capacitance_f=most or None,
            edge_capacitance_f=(rise or plain, fall or plain) if rise or fall else None,
        )

    def _edge_capacitance(self, pin: LibertyGroup, edge: str, path: tuple[str, ...]) -> float:
        """Return the capacitance (F) that an edge sees; of a range, the largest."""
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
                for group in timing.all(*DELAY_TABLES, *_CONSTRAINTS)
            }
            if not tables:
                continue
            for related in words(timing.get("related_pin")):
                written = _SENSES.get(timing.get("timing_sense"))
                sense = written or unateness(function, related, known)
                yield Arc(related_pin=related, sense=sense, kind=kind, **tables)

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
            for related in words(group.get("related_pin")) or [""]:
                yield InternalPower(related, group.get("when"), rise, fall, rail)


def _pins(cell: LibertyGroup) -> Iterator[_PinGroup]:
    """Yield name, group and outer group of each pin; those of a bundle inherit its direction."""
    for group in cell.all("pin"):
        yield from ((name, group, group) for name in group.words())
    for bundle in cell.all("bundle"):
        own = {name: group for group in bundle.all("pin") for name in group.words()}
        found = bundle.last("members")
        for name in words(found[0]) if found else own:
            yield name, own.get(name, bundle), bundle


def _clock_gate(cell: LibertyGroup, pins: Sequence[_PinGroup]) -> ClockGate | None:
    """Return the pins of a clock gate for rising edges; None where it is another cell."""
    if cell.get("clock_gating_integrated_cell") not in _CLOCK_GATES:
        return None
    marked = {
        role: tuple(name for name, pin, _ in pins if pin.get(f"clock_gate_{role}_pin") == "true")
        for role in ("clock", "enable", "out", "test")
    }
    if not all(len(marked[role]) == 1 for role in ("clock", "enable", "out")):
        return None
    (clock,), (enable,), (output,) = marked["clock"], marked["enable"], marked["out"]
    return ClockGate(clock, enable, output, marked["test"])


def unateness(function: str | None, related: str, known: Sequence[str] | None) -> Sense:
    """Return how a function follows one of its pins; both ways where it is unknown.

    Examples
    --------
    >>> unateness("!(A B)", "A", ["A", "B"])
    'negative_unate'
    """
    if not function or known is None or related not in known:
        return "non_unate"
    table = truth_table(function, known).reshape((2,) * len(known))
    axis = len(known) - 1 - list(known).index(related)
    low, high = np.take(table, 0, axis), np.take(table, 1, axis)
    rises, falls = bool(np.any(high & ~low)), bool(np.any(low & ~high))
    return "non_unate" if rises == falls else "positive_unate" if rises else "negative_unate"

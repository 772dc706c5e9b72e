"""Cells of a library for netlists, and a short liberty text of them for Yosys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.errors import Fault
from dse.reports.text import listed
from dse.silicon.cells.boolean import names_in, truth_table
from dse.silicon.cells.library import (
    DELAY_TABLES,
    STABLE_TABLES,
    Arc,
    Cell,
    CellLibrary,
    FlipFlop,
    LookupTable,
    Pin,
)

LEAVE_OUT = r"(?i)dly|delay|^hb\dx|lpflow|probe|sparecell|gclk|clkgate|dlclk"
"""Names of cells that hold signals back, isolate rails, or gate clocks."""

TIED = "__tied"
"""Suffix of the name of a flip-flop with some inputs that never change."""

_UNTIMED = "no whole"
"""Start of the reason that an arc is missing."""

_OF_A_REASON = 3
"""Number of cells that are named for one reason of omission."""

_NEEDED = {
    "buffer": ("01",),
    "inverter": ("10",),
    "gate of two inputs": ("0001", "0111", "1000", "1110"),
}
"""Gates that abc cannot map without, and functions, any of which suffices."""


@dataclass(frozen=True)
class UsableCells:
    """Cells that Yosys may map to.

    Attributes
    ----------
    liberty
        Text of a liberty file: these cells with their delays, in ps and fF.
    tied
        Flip-flops with set and reset tied off: name in the text -> cell, and the value of each
        tied pin.
    omitted
        Cells of the library that are not used, and the reasons.
    """

    liberty: str
    tied: Mapping[str, tuple[str, Mapping[str, bool]]]
    omitted: Mapping[str, str]

    def notes(self) -> Iterator[str]:
        """Yield which cells would be used if they had all arcs that timing needs."""
        untimed = {one: why for one, why in self.omitted.items() if why.startswith(_UNTIMED)}
        if untimed:
            yield f"timing needs more than some cells have: {unused(untimed).removeprefix(', ')}"


def usable_cells(library: CellLibrary) -> UsableCells:
    """Return the cells that a netlist may be made of.

    Omitted: cells that the library marks as not to be used, latches, cells without an arc that
    timing needs, without a function (fillers), with a constant one (ties) or with several (adders,
    which abc cannot choose), drivers of buses, flip-flops that do more than take an input once set
    and reset are tied off (scan, enable), and names that match `LEAVE_OUT`.

    Of flip-flops with the same edge, set and reset the smallest is offered, and `spread_fan_out`
    takes larger ones if they pay.  One with set or reset is offered with these for descriptions
    that have them, and with them tied off for descriptions without.
    """
    texts: list[str] = []
    tied: dict[str, tuple[str, Mapping[str, bool]]] = {}
    reasons: dict[str, str] = {}
    smallest: dict[tuple[str, ...], tuple[str, Cell, FlipFlop]] = {}
    for cell in sorted(library.cells.values(), key=lambda cell: cell.area_m2):
        state = cell.flip_flop
        reason = _reason(cell)
        if reason:
            reasons[cell.name] = reason
        elif state is None:
            texts += _cell(cell.name, cell)
        else:
            if ties := _clocked(cell, state)[2]:
                name = cell.name + TIED
                tied[name] = (cell.name, ties)
                plain = replace(state, clear=None, preset=None)
                pins = {pin: one for pin, one in cell.pins.items() if pin not in ties}
                smallest.setdefault(_behaviour(plain), (name, replace(cell, pins=pins), plain))
            if not ties or state.clear or state.preset:
                smallest.setdefault(_behaviour(state), (cell.name, cell, state))
    for name, cell, state in smallest.values():
        texts += _cell(name, cell, state)
    text = "\n".join((*_HEAD, *_templates(library), *texts, "}", ""))
    return UsableCells(text, tied, reasons)


def computes(cell: Cell, table: list[bool]) -> bool:
    """Return whether a usable cell computes the function of a truth table over its inputs."""
    if cell.flip_flop is not None or 1 << len(cell.inputs) != len(table):
        return False
    return bool(truth_table(cell.outputs[0].function or "", cell.inputs).tolist() == table)


def _behaviour(state: FlipFlop) -> tuple[str, ...]:
    """Return the edge, and the levels of set and reset, of a flip-flop."""
    parts = (state.clocked_on, state.clear or "", state.preset or "")
    return tuple(re.sub(r"\w+", "x", part).strip("() ") for part in parts)


def _reason(cell: Cell) -> str:
    functions = [pin.function for pin in cell.outputs if pin.function]
    if cell.dont_use:
        return "the library says not to use it"
    if cell.latch:
        return "a latch"
    if re.search(LEAVE_OUT, cell.name):
        return "by its name"
    if cell.flip_flop is not None:
        return _flip_flop_reason(cell, cell.flip_flop)
    if len(functions) != len(cell.outputs) or not functions:
        return "no function"
    if len(functions) > 1:
        return "several functions"
    values = truth_table(functions[0], cell.inputs)
    if values.all() or not values.any():
        return "a constant"
    timed = {arc.related_pin for arc in cell.outputs[0].arcs if _whole(arc)}
    unused = {*cell.inputs} - ({*names_in(functions[0])} & timed)
    return "inputs without function or delay, such as those of a bus driver" if unused else ""


def _flip_flop_reason(cell: Cell, state: FlipFlop) -> str:
    clock, data, _ = _clocked(cell, state)
    if not clock:
        return "more than a flip-flop"
    edge = "rising" if truth_table(state.clocked_on, [clock])[1] else "falling"
    launched = {pin.name: f"{edge}_edge" for pin in cell.outputs}
    return missing_arc(cell, clock, {data: f"setup_{edge}", **launched})


def _whole(arc: Arc) -> bool:
    return all(getattr(arc, name) is not None for name in DELAY_TABLES)


def missing_arc(cell: Cell, clock: str, kinds: Mapping[str, str]) -> str:
    """Return the first arc that timing needs and a cell lacks, or an empty text.

    By pin, `kinds` has the start of the ``timing_type`` of its arcs from the clock.
    """
    for pin, kind in kinds.items():
        arcs = [arc for arc in cell.pins[pin].arcs if arc.related_pin == clock]
        arcs = [arc for arc in arcs if arc.kind.startswith(kind)]
        names = STABLE_TABLES if kind.startswith("setup") else DELAY_TABLES
        if not all(any(getattr(arc, name) for arc in arcs) for name in names):
            return f"{_UNTIMED} {kind} from {clock} to {pin}"
    return ""


def lacking(library: CellLibrary, usable: UsableCells) -> Iterator[Fault]:
    """Yield an error for the kinds of cells that mapping needs and the library lacks."""
    kept = [cell for name, cell in library.cells.items() if name not in usable.omitted]
    kinds = ["flip-flop"] * (not any(cell.flip_flop for cell in kept))
    for kind, tables in _NEEDED.items():
        wanted = [[value == "1" for value in table] for table in tables]
        if not any(computes(cell, table) for cell in kept for table in wanted):
            kinds.append(kind)
    if kinds:
        rule = f"the library has no {' and no '.join(kinds)} that can be used"
        files = ", ".join(library.sources)
        yield Fault("library", files, rule + unused(usable.omitted), "add the file that has them")


def unused(omitted: Mapping[str, str]) -> str:
    """Return which cells are not used and why, some of each reason: ``, not L1 (a latch)``."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in omitted.items():
        by_reason.setdefault(reason, []).append(name)
    shown = ""
    for reason, names in by_reason.items():
        more = [f"{len(names) - _OF_A_REASON} more"] * (len(names) > _OF_A_REASON)
        shown += f", not {listed([*names[:_OF_A_REASON], *more])} ({reason})"
    return shown


def _clocked(cell: Cell, state: FlipFlop) -> tuple[str, str, Mapping[str, bool]]:
    """Return clock and input of a flip-flop, and values of set and reset for taking its input.

    Names are empty without such pins, or if an output does not show the state.
    """
    forcing = [text for text in (state.clear, state.preset) if text]
    pins = names_in(" ".join(forcing))[::-1]
    clock, data = {*names_in(state.clocked_on)}, {*names_in(state.next_state)} - {*pins}
    own = {state.state, state.inverted}
    shown = all(pin.function and {*names_in(pin.function)} <= own for pin in cell.outputs)
    none: tuple[str, str, Mapping[str, bool]] = "", "", {}
    if not (shown and cell.outputs) or len(clock) != 1 or len(data) != 1:
        return none
    tables = (truth_table(text, pins) for text in forcing)
    free = np.flatnonzero(~np.logical_or.reduce([np.zeros(1 << len(pins), np.bool_), *tables]))
    if not len(free) or {*cell.inputs} - clock - data - {*pins}:
        return none
    ties = {pin: bool(free[0] >> place & 1) for place, pin in reversed([*enumerate(pins)])}
    return clock.pop(), data.pop(), ties


_HEAD = (
    "library (usable) {",
    "  delay_model : table_lookup;",
    '  time_unit : "1ps";',
    '  voltage_unit : "1V";',
    '  current_unit : "1uA";',
    "  capacitive_load_unit (1, ff);",
)


def _templates(library: CellLibrary) -> Iterator[str]:
    """Yield a template for each size of tables.  Without templates abc reads no table."""
    arcs = (
        arc for cell in library.cells.values() for pin in cell.pins.values() for arc in pin.arcs
    )
    tables = (getattr(arc, name) for arc in arcs for name in DELAY_TABLES)
    shapes = {table.values.shape for table in tables if table is not None}
    for rows, columns in sorted({(max(3, rows), max(3, columns)) for rows, columns in shapes}):
        yield f"  lu_table_template (grid_{rows}_{columns}) {{"
        yield "    variable_1 : input_net_transition;"
        yield "    variable_2 : total_output_net_capacitance;"
        yield f"    index_1 ({_row(range(1, rows + 1))});"
        yield f"    index_2 ({_row(range(1, columns + 1))});"
        yield "  }"


def _cell(name: str, cell: Cell, state: FlipFlop | None = None) -> Iterator[str]:
    yield f'  cell ("{name}") {{'
    yield f"    area : {cell.area_m2 * 1e12:.6g};"
    if state is not None:
        yield f'    ff ("{state.state}", "{state.inverted}") {{'
        wanted = ("clocked_on", "next_state", "clear", "preset")
        for key in wanted:
            if getattr(state, key):
                yield f'      {key} : "{getattr(state, key)}";'
        yield "    }"
    for pin in cell.pins.values():
        if pin.direction in ("input", "output"):
            yield from _pin(pin, timed=state is None)
    yield "  }"


def _pin(pin: Pin, *, timed: bool) -> Iterator[str]:
    yield f'    pin ("{pin.name}") {{'
    yield f"      direction : {pin.direction};"
    yield f"      capacitance : {pin.capacitance_f * 1e15:.6g};"
    if pin.direction == "output":
        yield f'      function : "{pin.function}";'
        if pin.max_capacitance_f is not None:
            yield f"      max_capacitance : {pin.max_capacitance_f * 1e15:.6g};"
        for related in dict.fromkeys(arc.related_pin for arc in pin.arcs) if timed else ():
            arcs = [arc for arc in pin.arcs if arc.related_pin == related]
            yield from _arc(arcs)
    yield "    }"


def _arc(arcs: Sequence[Arc]) -> Iterator[str]:
    """Yield the arcs between two pins as one: of tables, the larger values."""
    arcs = [arc for arc in arcs if _whole(arc)]
    if not arcs:
        return
    senses = {arc.sense for arc in arcs}
    sense = senses.pop() if len(senses) == 1 else "non_unate"
    yield "      timing () {"
    yield f'        related_pin : "{arcs[0].related_pin}";'
    yield f"        timing_sense : {sense};"
    for name in DELAY_TABLES:
        table = _worst([getattr(arc, name) for arc in arcs])
        yield f"        {name} (grid_{len(table.rows)}_{len(table.columns)}) {{"
        yield f"          index_1 ({_row(table.rows * 1e12)});"
        yield f"          index_2 ({_row(table.columns * 1e15)});"
        rows = ", ".join(_row(row) for row in table.values * 1e12)
        yield f"          values ({rows});"
        yield "        }"
    yield "      }"


def _worst(tables: Sequence[LookupTable]) -> LookupTable:
    rows, columns = _axis(tables[0].rows, 1e-12), _axis(tables[0].columns, 1e-15)
    values = [table.at(rows[:, None], columns[None, :]) for table in tables]
    return LookupTable(rows, columns, np.max(values, axis=0))


def _axis(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Return an axis with 3 values or more: abc looks beside the first and the last."""
    if len(values) == 1:
        return np.asarray(values[0] + step * np.arange(3))
    return np.linspace(values[0], values[1], 3) if len(values) == 2 else values


def _row(values: Iterable[float]) -> str:
    return '"' + ", ".join(f"{value:.6g}" for value in values) + '"'

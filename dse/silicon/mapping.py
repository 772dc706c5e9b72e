"""Mapping of a description to cells of a library, with clock gates and buffers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from dse.errors import Fault, StudyError, refuse
from dse.reports.text import listed
from dse.silicon.cells import (
    DELAY_TABLES,
    STABLE_TABLES,
    Arc,
    Cell,
    CellLibrary,
    ClockGate,
    FlipFlop,
    LookupTable,
    Pin,
    names_in,
    truth_table,
)
from dse.silicon.description import Reading, elaborating, run_description, wrong_names
from dse.silicon.netlist import (
    CONSTANT_0,
    CONSTANT_1,
    Clocks,
    Instance,
    Netlist,
    cell_faults,
    read_netlist,
)
from dse.silicon.yosys import chosen_yosys

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
    """Cells that Yosys may map to, as the text of a liberty file in ps and fF.

    `tied` are flip-flops with set and reset tied off, by their names in the text: the cell, and the
    value of each tied pin.  `omitted` are the cells of the library that are not used, with reasons.
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
        return "marked as unused by the library"
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


# Buffers behind flip-flops, which abc does not add because it sees only the logic between them

Floats = NDArray[np.float64]
_SLACK = 1.05
_MOST_BUFFERS = 64


MOST_FAN_OUT = 16
"""Inputs that a gate or flip-flop drives without buffers."""


def spread_fan_out(netlist: Netlist, library: CellLibrary, usable: UsableCells) -> Netlist:
    """Return a netlist in which no flip-flop drives a large load directly.

    For every net that a flip-flop drives and that has more than `MOST_FAN_OUT` pins, the delay from
    the clock's edge to the last pin is looked up for every flip-flop of the same function and, for
    every buffer, for 0, 1, 2, ... of them in parallel with equal shares of the load.  Slews follow
    from the tables.  The smallest in area within 5 % of the fastest is taken.  Pins keep their
    order in the netlist, so that pins of one group lie near each other.
    """
    cells = [cell for cell in library.cells.values() if cell.name not in usable.omitted]
    buffers = [cell for cell in cells if computes(cell, [False, True])]
    instances = list(netlist.instances)
    added: list[Instance] = []
    takers = takers_of(netlist, library)
    for position, pin in _launching(netlist, library):
        instance = netlist.instances[position]
        ends = takers.get(instance.nets[pin], [])
        if len(ends) <= MOST_FAN_OUT:
            continue
        loads = (library.cells[instances[at].cell].pins[name].capacitance_f for at, name in ends)
        alike = [one for one in cells if _alike(one, library.cells[instance.cell])]
        driver, kind, count = _best_tree(alike, buffers, pin, sum(loads), len(ends))
        instances[position] = replace(instances[position], cell=driver)
        for number in range(count):
            net = netlist.net_count + len(added)
            first, last = (len(ends) * one // count for one in (number, number + 1))
            for at, name in ends[first:last]:
                instances[at] = replace(instances[at], nets={**instances[at].nets, name: net})
            buffer = library.cells[kind]
            nets = {buffer.inputs[0]: instance.nets[pin], buffer.outputs[0].name: net}
            added.append(Instance(f"{instance.name}_buffer_{number}", kind, nets))
    net_count = netlist.net_count + len(added)
    return replace(netlist, instances=(*instances, *added), net_count=net_count)


Taker = tuple[int, str]
"""Position of an instance, and its pin."""


def _launching(netlist: Netlist, library: CellLibrary) -> Iterator[tuple[int, str]]:
    """Yield the positions of flip-flops with one output that is used, and that output."""
    for position, instance in enumerate(netlist.instances):
        cell = library.cells[instance.cell]
        outputs = [pin for pin in instance.nets if cell.pins[pin].direction == "output"]
        if cell.flip_flop is not None and len(outputs) == 1:
            yield position, outputs[0]


def takers_of(netlist: Netlist, library: CellLibrary) -> dict[int, list[Taker]]:
    """Return the input pins on each net, in the order of the netlist."""
    found: dict[int, list[Taker]] = {}
    for position, instance in enumerate(netlist.instances):
        pins = library.cells[instance.cell].pins
        for name, net in instance.nets.items():
            if pins[name].direction == "input":
                found.setdefault(net, []).append((position, name))
    return found


_Tree = tuple[str, str, int]
"""A way to drive a load: a flip-flop, a buffer, and the number of parallel buffers."""


def _best_tree(
    drivers: Iterable[Cell], buffers: Sequence[Cell], pin: str, load_f: float, takers: int
) -> _Tree:
    """Return the smallest tree within `_SLACK` of the fastest."""
    options = [
        option for driver in drivers for option in _trees(driver, buffers, pin, load_f, takers)
    ]
    fastest = min(delay for delay, _, _ in options)
    near = [option for option in options if option[0] <= _SLACK * fastest]
    return min(near, key=lambda option: option[1])[2]


def _trees(
    driver: Cell, buffers: Sequence[Cell], pin: str, load_f: float, takers: int
) -> Iterator[tuple[float, float, _Tree]]:
    """Yield delay (s), area (m2) and tree for no buffer, and numbers of each buffer."""
    rise, fall, _, _ = _launched(driver.pins[pin], np.array([load_f]))
    yield float(max(rise[0], fall[0])), driver.area_m2, (driver.name, "", 0)
    counts = np.arange(1, min(takers // 2, _MOST_BUFFERS) + 1)
    for buffer in buffers:
        pins = buffer.pins[buffer.inputs[0]], buffer.outputs[0]
        entering = np.asarray(counts * pins[0].capacitance_f, dtype=np.float64)
        rise, fall, rise_slew, fall_slew = _launched(driver.pins[pin], entering)
        shares = load_f / counts
        rises = rise + worst_of(pins[1].arcs, "cell_rise", rise_slew, shares)
        falls = fall + worst_of(pins[1].arcs, "cell_fall", fall_slew, shares)
        for count, delay in zip(counts.tolist(), np.maximum(rises, falls), strict=True):
            area = driver.area_m2 + count * buffer.area_m2
            yield float(delay), area, (driver.name, buffer.name, count)


def _alike(driver: Cell, cell: Cell) -> bool:
    """Return whether a flip-flop can replace another: same pins, same functions."""
    functions = ({pin.name: pin.function for pin in one.pins.values()} for one in (driver, cell))
    return driver.flip_flop == cell.flip_flop and len({*map(repr, functions)}) == 1


def _launched(pin: Pin, load_f: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return delays (s) from the clock's edge to a rising and a falling output, and slews (s)."""
    arcs = [arc for arc in pin.arcs if arc.kind.endswith("_edge")]
    slew = np.zeros_like(load_f)
    rise, fall, rise_slew, fall_slew = (worst_of(arcs, name, slew, load_f) for name in DELAY_TABLES)
    return rise, fall, rise_slew, fall_slew


def worst_of(arcs: Sequence[Arc], name: str, slew_s: Floats, load_f: Floats) -> Floats:
    """Return the largest delay or slew (s) of arcs, 0 without any."""
    tables = [getattr(arc, name) for arc in arcs]
    found = [table.at(slew_s, load_f) for table in tables if table is not None]
    return np.asarray(np.max([np.zeros_like(load_f), *found], axis=0))


# Clock gates: how flip-flops come behind them, how many these are and how large

ENABLES = "enables.v"
"""File of `enables`, as the commands of `gating` read it."""

_FLIP_FLOPS = 16
"""Number of flip-flops behind the smallest clock gate that defines the slowest allowed one."""


def enables() -> str:
    """Return rules that move synchronous resets of flip-flops with enable into their logic.

    Yosys by itself keeps neither.  A reset that acts without the enable opens the gate as well.
    """
    modules = []
    for kind, reset, value, enable in product(("SDFFE", "SDFFCE"), "NP", "01", "NP"):
        resets, enabled = ("R" if reset == "P" else "!R"), ("E" if enable == "P" else "!E")
        opens = enabled if kind == "SDFFCE" else f"{enabled} | {resets}"
        modules.append(
            f"module \\$_{kind}_P{reset}{value}{enable}_ (input C, D, E, R, output Q);\n"
            f"  \\$_DFFE_PP_ _TECHMAP_REPLACE_ (.C(C), .D({resets} ? 1'b{value} : D), "
            f".E({opens}), .Q(Q));\nendmodule\n"
        )
    return "".join(modules)


def gating(library: CellLibrary, fewest: int) -> Iterator[str]:
    """Yield commands of Yosys that put flip-flops with one enable behind a clock gate.

    With fewer than the `fewest` flip-flops, each keeps a multiplexer.
    """
    cell, gate = _gates(library)[0]
    tied = "".join(f" -tie_lo {pin}" for pin in gate.tied)
    # a pass that knows a net by one name follows
    yield from (f"techmap -map {ENABLES}", "simplemap", "opt_merge", "opt_clean")
    pins = f"{gate.enable}:{gate.clock}:{gate.output}"
    yield f"clockgate -pos {cell.name} {pins}{tied} -min_net_size {fewest}"


def _gates(library: CellLibrary) -> list[tuple[Cell, ClockGate]]:
    """Return the clock gates, smallest first, even if libraries exclude them from use as logic."""
    found, omitted = [], dict[str, str]()
    for cell in library.cells.values():
        if gate := cell.clock_gate:
            kinds = {gate.enable: "setup_rising", gate.output: "combinational"}
            if missing := missing_arc(cell, gate.clock, kinds):
                omitted[cell.name] = missing
            else:
                found.append((cell, gate))
    if not found:
        written = ", ".join(library.sources)
        rule = f"the library has no integrated clock gate{unused(omitted)}"
        remedy = "add the file of its clock gates, or leave gate_clocks out"
        raise StudyError([Fault("gate_clocks", written, rule, remedy)])
    return sorted(found, key=lambda one: (one[0].area_m2, one[0].name))


def gated_counts(netlist: Netlist, library: CellLibrary, clock: str) -> dict[str, float]:
    """Return how many clock gates a netlist has, and flip-flops behind them."""
    clocks = Clocks(netlist, library, clock)
    pins = [
        net in clocks.enables
        for one in netlist.instances
        for pin, net in one.nets.items()
        if library.cells[one.cell].pins[pin].clock
    ]
    return {"clock_gates": len(clocks.enables), "gated_flip_flops": sum(pins)}


def sized_gates(netlist: Netlist, library: CellLibrary) -> Netlist:
    """Return a netlist with as many and as large clock gates as their flip-flops need.

    A gate may be as slow as the smallest of the library with 16 of these flip-flops.  For each cell
    as many as needed are put in parallel, with flip-flops in the order of the netlist.  The cell
    with the least area wins.
    """
    instances, net_count = list(netlist.instances), netlist.net_count
    for position, takers in _behind_gates(netlist, library).items():
        cell, pins, shares = _shares(library, instances, takers)
        before = instances[position]
        was = library.cells[before.cell].clock_gate or pins
        for number, share in enumerate(shares):
            net = before.nets[was.output] if number == 0 else net_count
            ends = {pins.clock: before.nets[was.clock], pins.enable: before.nets[was.enable]}
            nets = {**ends, pins.output: net, **dict.fromkeys(pins.tied, CONSTANT_0)}
            gate = replace(before, name=f"{before.name}_{number}", cell=cell.name, nets=nets)
            if number == 0:
                instances[position] = gate
            else:
                net_count += 1
                instances.append(gate)
            for at, pin in share:
                instances[at] = replace(instances[at], nets={**instances[at].nets, pin: net})
    return replace(netlist, instances=tuple(instances), net_count=net_count)


def _behind_gates(netlist: Netlist, library: CellLibrary) -> dict[int, list[Taker]]:
    """Return flip-flops and their clock pins behind each clock gate, by its position."""
    gates = {
        instance.nets[gate.output]: position
        for position, instance in enumerate(netlist.instances)
        if (gate := library.cells[instance.cell].clock_gate) is not None
    }
    takers = takers_of(netlist, library)
    return {gates[net]: ends for net, ends in takers.items() if net in gates}


def _shares(
    library: CellLibrary, instances: Sequence[Instance], takers: Sequence[Taker]
) -> tuple[Cell, ClockGate, list[list[Taker]]]:
    """Return clock gates side by side: their cell, its pins, and the flip-flops of each."""
    cells = (library.cells[instances[at].cell] for at, _ in takers)
    load_f = max(cell.pins[pin].capacitance_f for cell, (_, pin) in zip(cells, takers, strict=True))
    gates, counts = _gates(library), np.arange(1, len(takers) + 1)
    slowest_s = _delay_s(*gates[0], np.array([_FLIP_FLOPS * load_f]))
    ways = []
    for cell, pins in gates:
        loads = np.ceil(len(takers) / counts) * load_f
        fits = _delay_s(cell, pins, loads) <= slowest_s
        count = int(counts[np.argmax(fits)]) if fits.any() else len(takers)
        ways.append((count * cell.area_m2, count, cell, pins))
    _, count, cell, pins = min(ways, key=lambda way: way[0])
    cuts = [len(takers) * one // count for one in range(count + 1)]
    return cell, pins, [[*takers[first:last]] for first, last in pairwise(cuts)]


def _delay_s(cell: Cell, pins: ClockGate, load_f: Floats) -> Floats:
    """Return the delay (s) to the rising edge behind a gate, whose clock rises at once."""
    return worst_of(cell.pins[pins.output].arcs, "cell_rise", np.zeros_like(load_f), load_f)


# Netlists of a description

_WAYS = (
    "dch,-f;map,-B,0.9,-D,{0};",
    "scorr;dc2;dch,-f;map,-B,0.9,-D,{0};",
    "scorr;dc2;strash;&get,-n;&dch,-f;&nf;&put;",
)
"""Logic to cells within the target, for abc: each is the fastest or the smallest of some logic."""

_ABC = (
    "strash;&get,-n;&fraig,-x;&put;{how}topo;buffer,-c,-p,-N,{1};topo;"
    "upsize,-D,{0};dnsize,-D,{0};stime,-p"
)
"""Equal signals merged, logic mapped, gates with too many loads buffered, sizes chosen."""

FASTEST_S = 1e-12
"""A target that no logic meets: mapping then makes it as fast as it can."""


@dataclass(frozen=True)
class Mapped:
    """Flat netlists of a description, each mapped in another way, and the commands for it."""

    netlists: tuple[Netlist, ...]
    script: str


def map_description(
    reads: Reading,
    library: CellLibrary,
    usable: UsableCells,
    *,
    top: str,
    target_period_s: float,
    gate_clocks: int = 0,
) -> Mapped:
    """Return a description as netlists of cells of a library, for a longest path.

    Yosys flattens and simplifies it, maps flip-flops (unused set and reset are tied off), and abc
    the logic between them, with buffers and sizes for the target.  abc does not see flip-flops:
    their loads are for `spread_fan_out`.

    Raises
    ------
    StudyError
        The description cannot be mapped: file and line if Yosys reports them, all errors at once.
    MissingLibraryError
        There is no Yosys.
    ToolTimeError
        It took too long.
    """
    yosys = chosen_yosys()
    given = {"usable.lib": usable.liberty}
    gates: list[str] = []
    if gate_clocks:
        gates, given[ENABLES] = [*gating(library, gate_clocks)], enables()
    refuse([*wrong_names(top), *lacking(library, usable)])
    script = [*_script(top, gates, f"{target_period_s * 1e12:.6g}")]
    files = run_description(yosys, reads, script, given, done=_file(len(_WAYS) - 1))
    netlists = []
    for place in range(len(_WAYS)):
        netlist = read_netlist(files[_file(place)], top=top)
        netlists.append(replace(netlist, instances=tuple(_with_ties(netlist, usable))))
        refuse(cell_faults(netlists[-1], library))
    return Mapped(tuple(netlists), "\n".join((*reads.commands, *script)))


def _script(top: str, gates: Sequence[str], target_ps: str) -> Iterator[str]:
    """Yield the commands of mapping after reading, which write a netlist for each of `_WAYS`."""
    yield from elaborating(top)
    yield f"synth -flatten -noabc -top {top}"
    yield from ("tee -q -o check check", *gates, "dfflibmap -liberty usable.lib")
    yield "design -save unmapped"
    for place, way in enumerate(_WAYS):
        abc = _ABC.replace("{how}", way).format(target_ps, MOST_FAN_OUT)
        yield from ["design -load unmapped"] * (place > 0)
        yield f"abc -liberty usable.lib -script +{abc}"
        yield from ("setundef -zero", "opt_clean -purge", f"write_json {_file(place)}")


def _file(place: int) -> str:
    return f"mapped{place or ''}.json"


def _with_ties(netlist: Netlist, usable: UsableCells) -> Iterator[Instance]:
    """Yield the instances, with flip-flops and their ties as they are in the library."""
    constants = {False: CONSTANT_0, True: CONSTANT_1}
    for instance in netlist.instances:
        if instance.cell in usable.tied:
            cell, ties = usable.tied[instance.cell]
            tied = {pin: constants[value] for pin, value in ties.items()}
            yield replace(instance, cell=cell, nets={**instance.nets, **tied})
        else:
            yield instance

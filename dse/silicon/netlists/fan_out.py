"""Buffers behind flip-flops, which abc does not add because it sees only the logic between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.silicon.cells.library import DELAY_TABLES, Arc, Cell, CellLibrary, Pin
from dse.silicon.cells.usable_cells import UsableCells, computes
from dse.silicon.netlists.netlist import Instance, Netlist

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

"""What a mapped netlist computes, cycle by cycle and without delays: an oracle for mapping."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter

import numpy as np

from dse.contract.generators import Bits, Vectors
from dse.silicon.cells import CellLibrary, truth_table
from dse.silicon.netlist import Instance, Netlist


def evaluated(
    netlist: Netlist, library: CellLibrary, stimulus: Mapping[str, Bits], cycles: int
) -> dict[str, Bits]:
    """Return each output at the end of each cycle; every flip-flop begins with 0."""
    values = np.zeros(netlist.net_count, dtype=bool)
    values[1] = True
    states: dict[str, bool] = {}
    order = _order(netlist, library)
    shown = {
        port: np.zeros((cycles, len(nets)), dtype=bool) for port, nets in netlist.outputs.items()
    }
    for cycle in range(cycles):
        for port, bits in stimulus.items():
            values[list(netlist.inputs[port])] = bits[cycle]
        for instance in order:
            _drive(instance, library, values, states)
        for port, nets in netlist.outputs.items():
            shown[port][cycle] = values[list(nets)]
        states = {
            one.name: _function(library.cells[one.cell].flip_flop.next_state, one, values, states)
            for one in netlist.instances
            if library.cells[one.cell].flip_flop is not None
        }
    return shown


def first_wrong_bit(vectors: Vectors, shown: Mapping[str, Bits]) -> str:
    """Return the first port and cycle that differ from what is expected; empty for none."""
    for port, expected in vectors.expected.items():
        wrong = (expected != shown[port]).any(axis=1) & vectors.known[port]
        if wrong.any():
            return f"{port} in cycle {np.argmax(wrong)}"
    return ""


def _order(netlist: Netlist, library: CellLibrary) -> list[Instance]:
    """Return flip-flops, then gates, each behind what drives it."""
    driver = {}
    for instance in netlist.instances:
        for pin, net in instance.nets.items():
            if library.cells[instance.cell].pins[pin].direction == "output":
                driver[net] = instance.name
    named = {instance.name: instance for instance in netlist.instances}
    graph = {
        one.name: ()
        if library.cells[one.cell].flip_flop
        else {driver[net] for net in one.nets.values() if driver.get(net, one.name) != one.name}
        for one in netlist.instances
    }
    return [named[name] for name in TopologicalSorter(graph).static_order()]


def _drive(
    instance: Instance, library: CellLibrary, values: Bits, states: Mapping[str, bool]
) -> None:
    cell = library.cells[instance.cell]
    for pin, net in instance.nets.items():
        if cell.pins[pin].direction != "output":
            continue
        if cell.flip_flop is None:
            values[net] = _function(cell.pins[pin].function, instance, values, states)
        else:
            shows_state = cell.pins[pin].function == cell.flip_flop.state
            values[net] = states.get(instance.name, False) == shows_state


def _function(function: str, instance: Instance, values: Bits, states: Mapping[str, bool]) -> bool:
    pins = sorted(instance.nets)
    position = sum(int(values[instance.nets[pin]]) << place for place, pin in enumerate(pins))
    return bool(_table(function, tuple(pins))[position])


_TABLES: dict[tuple[str, tuple[str, ...]], Bits] = {}


def _table(function: str, pins: tuple[str, ...]) -> Bits:
    if (function, pins) not in _TABLES:
        _TABLES[function, pins] = truth_table(function, pins)
    return _TABLES[function, pins]

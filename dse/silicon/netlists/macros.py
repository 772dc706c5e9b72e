"""Macros, such as memories: cells with buses whose functions no library has, but the description.

A macro is simulated where the description is, from its module; the mapped netlist is then held to
what the macro took, and driven by what it gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dse.contract.generators import Vectors
from dse.errors import Fault, refuse
from dse.silicon.cells.library import Cell, CellLibrary
from dse.silicon.descriptions.vectors import NOT_COMPARED, bits_written
from dse.silicon.netlists.netlist import Netlist


def macros_of(library: CellLibrary) -> dict[str, Cell]:
    """Return the macros of a library by their names."""
    return {name: cell for name, cell in library.cells.items() if cell.buses}


def macro_faults(cells: Iterable[Cell]) -> Iterator[Fault]:
    """Yield outputs that do not follow an edge of a clock of their macro."""
    for cell in cells:
        for pin in cell.pins.values():
            kinds = {f"{arc.kind} of {arc.related_pin}" for arc in pin.arcs}
            edges = {arc for arc in pin.arcs if arc.kind in ("rising_edge", "falling_edge")}
            if pin.direction == "output" and (not edges or len(kinds) != 1):
                rule = "an output of a macro follows one edge of one clock, and nothing else"
                remedy = "take a macro whose outputs do, or put its logic in the description"
                written = ", ".join(sorted(kinds)) or "no timing"
                yield Fault(f"{cell.name}.{pin.name}", written, rule, remedy)
                break


def opened_macros(netlist: Netlist, library: CellLibrary) -> Netlist:
    """Return a netlist with ports for the macros in it: ``instance.pin``.

    What a macro takes is an output; what it gives is an input, which its own output follows.
    """
    inputs, outputs, followed = dict(netlist.inputs), dict(netlist.outputs), dict[int, int]()
    for instance in netlist.instances:
        cell = library.cells[instance.cell]
        buses = dict(cell.buses)
        buses |= {pin: (pin,) for pin in cell.pins if "[" not in pin} if buses else {}
        for bus, pins in buses.items():
            nets = tuple(instance.nets[pin] for pin in pins if pin in instance.nets)
            port, first = f"{instance.name}.{bus}", cell.pins[pins[0]]
            if first.direction == "output" and len(nets) == len(pins):
                start = netlist.net_count + len(followed)
                inputs[port] = tuple(range(start, start + len(nets)))
                followed |= zip(nets, inputs[port], strict=True)
            elif nets and not first.clock:
                outputs[port] = nets
    count = netlist.net_count + len(followed)
    return replace(netlist, inputs=inputs, outputs=outputs, net_count=count, followed=followed)


def with_macros(vectors: Vectors, netlist: Netlist, inside: Mapping[str, Sequence[str]]) -> Vectors:
    """Return known answers with those of macros, which stand `inside` the description by port.

    Raises
    ------
    StudyError
        A macro never gives a value that is known.
    """
    faults = []
    stimulus, expected, known = dict(vectors.stimulus), dict(vectors.expected), dict(vectors.known)
    for port, cells in inside.items():
        if port in netlist.inputs:
            if {*cells} == {NOT_COMPARED}:
                rule = "in no cycle does the module of the macro give a value that is known"
                remedy = "let one process alone drive it, or write the memory before it is read"
                faults.append(Fault(port, "", rule, remedy))
            stimulus[port] = bits_written(cells, len(netlist.inputs[port]))
        elif port in netlist.outputs:
            expected[port] = bits_written(cells, len(netlist.outputs[port]))
            known[port] = np.array([cell != NOT_COMPARED for cell in cells])
    refuse(faults)
    return replace(vectors, stimulus=stimulus, expected=expected, known=known)

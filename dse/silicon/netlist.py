"""A mapped netlist: instances of standard cells, joined by numbered nets, and its clock."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import Fault, StudyError, nearest, refuse, shortened, visible
from dse.silicon.cells import Cell, CellLibrary, unateness

Numbers = NDArray[np.intp]
PinNets = Mapping[str, Numbers]

CONSTANT_0, CONSTANT_1 = 0, 1
"""Two nets that never change.  Every other net has a number from 2."""


@dataclass(frozen=True)
class Instance:
    """A cell of the library in use: its name, the cell's, and the net of each connected pin.

    `source` is its place in the description, as Yosys writes it, or empty.
    """

    name: str
    cell: str
    nets: Mapping[str, int]
    source: str = ""


@dataclass(frozen=True)
class Netlist:
    """A flat netlist.

    Attributes
    ----------
    top
        Name of the module.
    inputs, outputs
        Nets of each port, least significant bit first.
    instances
        In the order of the file.
    net_count
        Every net is below it.
    net_names
        Names of nets in the description, for messages.
    source
        Place of the module in the description, as Yosys writes it.
    """

    top: str
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]
    instances: tuple[Instance, ...]
    net_count: int
    net_names: Mapping[int, str] = field(default_factory=dict)
    source: str = ""

    def named(self, net: int) -> str:
        """Return a net's name, or else its number."""
        return self.net_names.get(net, f"net {net}")


def read_netlist(written: str, *, top: str) -> Netlist:
    """Return the module `top` of the output of ``write_json`` of Yosys (`netlist_of`)."""
    return netlist_of(json.loads(written)["modules"], top=top)


def netlist_of(modules: Mapping[str, Any], *, top: str) -> Netlist:
    """Return a module, flattened and mapped to cells of a library, as Yosys describes it.

    Raises
    ------
    StudyError
        Cells are generic or modules, ports have two directions or unknown values.  All errors are
        reported at once.
    """
    module = modules[top]
    refuse([*_generic(module, modules), *_port_faults(module)])
    ports: dict[str, dict[str, tuple[int, ...]]] = {"input": {}, "output": {}}
    for name, port in module["ports"].items():
        ports[port["direction"]][name] = tuple(map(_net, port["bits"]))
    instances = []
    for name, cell in module["cells"].items():
        nets = {pin: _net(bits[0]) for pin, bits in cell["connections"].items() if bits}
        instances.append(Instance(visible(name), cell["type"], nets, _source(cell)))
    used = (net for instance in instances for net in instance.nets.values())
    wired = (net for side in ports.values() for nets in side.values() for net in nets)
    return Netlist(
        top,
        ports["input"],
        ports["output"],
        tuple(instances),
        max((1, *used, *wired)) + 1,
        _net_names(module),
        _source(module),
    )


def _port_faults(module: Mapping[str, Any]) -> Iterator[Fault]:
    for name, port in module["ports"].items():
        if port["direction"] not in ("input", "output"):
            rule, remedy = "a port is an input or an output", "split it into one of each"
            yield Fault(name, port["direction"], rule, remedy)
        elif unknown := {*port["bits"]} & {"x", "z"}:
            rule, remedy = "a bit without a value that nothing drives", "drive it"
            yield Fault(name, repr(min(unknown)), rule, remedy)


def placed(fault: Fault, source: str) -> Fault:
    """Return an error at the first place that a source of Yosys names: ``file:line.column``."""
    found = re.search(r"([^:|\"\s][^:|\"\n]*):(\d+)(?:\.(\d+))?", source)
    if found is None:
        return fault
    return replace(fault, file=found[1], line=int(found[2]), column=int(found[3] or 1))


def _source(part: Mapping[str, Any]) -> str:
    return str(part.get("attributes", {}).get("src", ""))


def _generic(module: Mapping[str, Any], modules: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield one error for each kind of cell that is of no library."""
    first: dict[str, list[str]] = {}
    for name, cell in module["cells"].items():
        first.setdefault(cell["type"], []).append(name)
    for kind, names in first.items():
        source = _source(module["cells"][names[0]])
        if kind in modules and "blackbox" not in modules[kind].get("attributes", {}):
            rule, remedy = "a module, not a cell", "flatten the netlist"
        elif not kind.startswith("$"):
            continue
        elif kind.startswith("$_ALDFF"):
            rule = "a flip-flop that takes its data without the clock"
            remedy = "load it at an edge of the clock, or reset it to a constant"
        else:
            rule = "a generic cell, which no library has"
            remedy = "map it: 'dfflibmap' for flip-flops, 'abc' for logic"
        more = f" and {len(names) - 1} more" if names[1:] else ""
        yield placed(Fault(shortened(visible(names[0])) + more, kind, rule, remedy), source)


def _net(bit: int | str) -> int:
    return bit if isinstance(bit, int) else CONSTANT_1 if bit == "1" else CONSTANT_0


def _net_names(module: Mapping[str, Any]) -> dict[int, str]:
    """Return a name for each net, one of the description before one that a tool made up."""
    names: dict[int, str] = {}
    wires = sorted(module["netnames"].items(), key=lambda wire: wire[1].get("hide_name", 0))
    for name, wire in wires:
        for i, bit in enumerate(wire["bits"]):
            if isinstance(bit, int):
                names.setdefault(bit, visible(f"{name}[{i}]" if wire["bits"][1:] else name))
    return names


def by_cell(netlist: Netlist, library: CellLibrary) -> Iterator[tuple[Cell, Numbers, PinNets]]:
    """Yield each cell, the positions of its instances, and the nets of its pins, or -1."""
    positions: dict[str, list[int]] = {}
    for position, instance in enumerate(netlist.instances):
        positions.setdefault(instance.cell, []).append(position)
    for name, some in positions.items():
        cell, nets = library.cells[name], [netlist.instances[at].nets for at in some]
        pins = {pin: np.array([one.get(pin, -1) for one in nets], np.intp) for pin in cell.pins}
        yield cell, np.array(some, np.intp), pins


def cell_faults(netlist: Netlist, library: CellLibrary) -> Iterator[Fault]:
    """Yield an error for each instance that is no cell of the library, or lacks pins of it.

    These are cells that a description names itself, as black boxes.
    """
    for instance in netlist.instances:
        cell, where, written = library.cells.get(instance.cell), instance.name, instance.cell
        if cell is None:
            rule, remedy = f"no cell of {library.name}", nearest(written, library.cells)
        elif cell.latch:
            rule, remedy = "a latch, which has no clock", "use a flip-flop"
        elif wrong := (instance.nets.keys() - cell.pins) | ({*cell.inputs} - instance.nets.keys()):
            where, rule = f"{where}.{min(wrong)}", "a cell has its own pins, with all inputs driven"
            remedy = f"connect {', '.join(cell.pins)}"
        else:
            continue
        yield placed(Fault(where, written, rule, remedy), instance.source)


# The clock: the input that it comes from, and the gates that it passes


class Clocks:
    """Nets of a clock, which clock every flip-flop and nothing else.

    `net` is of the input, and `enables` has by the net that a clock gate drives the one that
    enables it.
    """

    def __init__(self, netlist: Netlist, library: CellLibrary, clock: str) -> None:
        """Follow a clock through its gates.

        Raises
        ------
        StudyError
            There is no such input, a flip-flop has another clock or edge, a gate of logic uses it,
            or clock gates are in series.
        """
        self.net = clock_input(netlist, clock)
        self.enables: dict[int, int] = {}
        for instance in netlist.instances:
            gate = library.cells[instance.cell].clock_gate
            if gate is not None and gate.output in instance.nets:
                self.enables[instance.nets[gate.output]] = instance.nets[gate.enable]
        refuse(_faults(netlist, library, self, clock))


def clock_input(netlist: Netlist, clock: str) -> int:
    """Return the net of the input with the clock's name, which must have one bit."""
    nets = netlist.inputs.get(clock, ())
    if len(nets) != 1:
        rule = "the clock is an input of one bit"
        remedy = f"name it with --clock-port; {nearest(clock, netlist.inputs)}"
        raise StudyError([placed(Fault("clock", repr(clock), rule, remedy), netlist.source)])
    return nets[0]


def _faults(netlist: Netlist, library: CellLibrary, clocks: Clocks, clock: str) -> list[Fault]:
    """Return errors of flip-flops, or else of the logic that uses the clock.

    Logic that gates or inverts the clock uses it, too, but errors of flip-flops describe that.
    """
    nets = {clocks.net, *clocks.enables}
    of_flip_flops: list[Fault] = []
    of_logic: list[Fault] = []
    for instance in netlist.instances:
        cell = library.cells[instance.cell]
        for name, net in instance.nets.items():
            faults, written = of_flip_flops, netlist.named(net)
            if cell.flip_flop is not None and cell.pins[name].clock:
                if net not in nets:
                    rule = f"every flip-flop is clocked by {clock!r}"
                    remedy = "use one clock, its rising edge, not gated"
                elif unateness(cell.flip_flop.clocked_on, name, [name]) != "positive_unate":
                    rule, remedy = "flip-flops are clocked by rising edges only", "use 'posedge'"
                    written = cell.name
                else:
                    continue
            elif cell.clock_gate is not None and name == cell.clock_gate.clock:
                if net == clocks.net:
                    continue
                rule, remedy = f"a clock gate is clocked by {clock!r}", "use one gate, not several"
            elif net in nets and cell.pins[name].direction == "input":
                faults, written = of_logic, netlist.named(net)
                rule, remedy = "a clock drives flip-flops only", "use another signal as data"
            else:
                continue
            fault = Fault(f"{_called(netlist, instance, cell)}.{name}", written, rule, remedy)
            faults.append(placed(fault, instance.source))
    return of_flip_flops or of_logic


def _called(netlist: Netlist, instance: Instance, cell: Cell) -> str:
    """Return an instance's name, or the name of its output net if a tool made its name up."""
    driven = (net for pin, net in instance.nets.items() if cell.pins[pin].direction == "output")
    made_up = instance.name.startswith("$")
    return netlist.named(next(driven, -1)) if made_up else instance.name

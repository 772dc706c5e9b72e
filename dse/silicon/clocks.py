"""The clock of a netlist: the input that it comes from, and the gates that it passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from dse.errors import Fault, StudyError, nearest, refuse
from dse.silicon.liberty_cells import unateness
from dse.silicon.library import Cell, CellLibrary
from dse.silicon.netlist import CONSTANT_0, CONSTANT_1, Instance, Netlist, placed


@dataclass(frozen=True)
class Clocks:
    """Nets of a clock.

    Attributes
    ----------
    net
        Of the input.
    enables
        By the net that a clock gate drives: the one that enables it.
    """

    net: int
    enables: Mapping[int, int]

    @cached_property
    def nets(self) -> frozenset[int]:
        """The clock's net and those behind gates."""
        return frozenset([self.net, *self.enables])


def clocks_of(netlist: Netlist, library: CellLibrary, clock: str) -> Clocks:
    """Return the nets of a clock, which clock every flip-flop and nothing else.

    Raises
    ------
    StudyError
        There is no such input, a flip-flop has another clock or edge, a gate of logic uses it, or
        clock gates stand one behind the other.
    """
    net = clock_input(netlist, clock)
    enables: dict[int, int] = {}
    for instance in netlist.instances:
        gate = library.cells[instance.cell].clock_gate
        if gate is not None and gate.output in instance.nets:
            enables[instance.nets[gate.output]] = instance.nets[gate.enable]
    found = Clocks(net, enables)
    refuse(_faults(netlist, library, found, clock))
    return found


def clock_input(netlist: Netlist, clock: str) -> int:
    """Return the net of an input that is called like the clock.

    Raises
    ------
    StudyError
        There is none of one bit.
    """
    nets = netlist.inputs.get(clock, ())
    if len(nets) != 1:
        rule = "the clock is an input of one bit"
        remedy = f"name it with --clock-port; {nearest(clock, netlist.inputs)}"
        raise StudyError([placed(Fault("clock", repr(clock), rule, remedy), netlist.source)])
    return nets[0]


def _faults(netlist: Netlist, library: CellLibrary, clocks: Clocks, clock: str) -> list[Fault]:
    """Return what is wrong with flip-flops, or else with the logic that uses the clock.

    A clock that logic gates or turns round goes through it, of which the flip-flops tell.
    """
    of_flip_flops: list[Fault] = []
    of_logic: list[Fault] = []
    for instance in netlist.instances:
        cell = library.cells[instance.cell]
        for name, net in instance.nets.items():
            faults, written = of_flip_flops, netlist.named(net)
            if cell.buses and net in (CONSTANT_0, CONSTANT_1):
                continue  # a port of a macro that is not used
            if cell.clocked and cell.pins[name].clock:
                if net not in (clocks.nets if cell.flip_flop else {clocks.net}):
                    rule = f"every flip-flop is clocked by {clock!r}"
                    remedy = "use one clock, its rising edge, not gated"
                elif cell.flip_flop and (
                    unateness(cell.flip_flop.clocked_on, name, [name]) != "positive_unate"
                ):
                    rule, remedy = "flip-flops are clocked by rising edges only", "use 'posedge'"
                    written = cell.name
                else:
                    continue
            elif cell.clock_gate is not None and name == cell.clock_gate.clock:
                if net == clocks.net:
                    continue
                rule, remedy = f"a clock gate is clocked by {clock!r}", "use one gate, not several"
            elif net in clocks.nets and cell.pins[name].direction == "input":
                faults, written = of_logic, netlist.named(net)
                rule, remedy = "a clock drives flip-flops only", "use another signal as data"
            else:
                continue
            fault = Fault(f"{_called(netlist, instance, cell)}.{name}", written, rule, remedy)
            faults.append(placed(fault, instance.source))
    return of_flip_flops or of_logic


def _called(netlist: Netlist, instance: Instance, cell: Cell) -> str:
    """Return an instance's name, or that of what it drives where a tool made its name up."""
    driven = (net for pin, net in instance.nets.items() if cell.pins[pin].direction == "output")
    made_up = instance.name.startswith("$")
    return netlist.named(next(driven, -1)) if made_up else instance.name

"""The clock of a netlist: the input that it comes from, and the gates that it passes.

How flip-flops come behind integrated clock gates, how many these are and how large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product

import numpy as np

from dse.errors import Fault, StudyError, nearest, refuse
from dse.silicon.cells.liberty import unateness
from dse.silicon.cells.library import Cell, CellLibrary, ClockGate
from dse.silicon.cells.usable_cells import missing_arc, unused
from dse.silicon.netlists.fan_out import Floats, Taker, takers_of, worst_of
from dse.silicon.netlists.netlist import CONSTANT_0, Instance, Netlist, placed

ENABLES = "enables.v"
"""File of `enables`, as the commands of `gating` read it."""

_FLIP_FLOPS = 16
"""Number of flip-flops behind the smallest clock gate that defines the slowest allowed one."""


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
        """Return the clock's net and the nets behind gates."""
        return frozenset([self.net, *self.enables])


def clocks_of(netlist: Netlist, library: CellLibrary, clock: str) -> Clocks:
    """Return the nets of a clock, which clock every flip-flop and nothing else.

    Raises
    ------
    StudyError
        There is no such input, a flip-flop has another clock or edge, a gate of logic uses it, or
        clock gates are in series.
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
    """Return the net of the input with the clock's name.

    Raises
    ------
    StudyError
        There is no such input of one bit.
    """
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
    of_flip_flops: list[Fault] = []
    of_logic: list[Fault] = []
    for instance in netlist.instances:
        cell = library.cells[instance.cell]
        for name, net in instance.nets.items():
            faults, written = of_flip_flops, netlist.named(net)
            if cell.flip_flop is not None and cell.pins[name].clock:
                if net not in clocks.nets:
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
            elif net in clocks.nets and cell.pins[name].direction == "input":
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

    Parameters
    ----------
    fewest
        Number of flip-flops that justifies a gate.  With fewer, each keeps a multiplexer.

    Raises
    ------
    StudyError
        The library has no clock gate.
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
    clocks = clocks_of(netlist, library, clock)
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

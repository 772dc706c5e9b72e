"""A mapped netlist as arrays: gates by level, flip-flops as states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

import numpy as np

from dse.errors import DseError, nearest
from dse.silicon.boolean import truth_table
from dse.silicon.functions import (
    Functions,
    Integers,
    NetFunction,
    needed,
    of_state,
    side_by_side,
)
from dse.silicon.library import Cell, CellLibrary, FlipFlop
from dse.silicon.netlist import CONSTANT_0, CONSTANT_1, Instance, Netlist
from dse.silicon.timing import Delay, Timing

TICK_S = 1e-15
"""Delays are whole numbers of it, so that equal sums are equal."""

MOST_FAULTS = 20
"""So many faults of a netlist are told."""


class NetlistError(DseError):
    """A netlist that cannot be simulated: its faults, one a line."""

    def __init__(self, faults: Sequence[str]) -> None:
        """Tell the first `MOST_FAULTS`, and how many more there are."""
        more = len(faults) - MOST_FAULTS
        shown = [*faults[:MOST_FAULTS], *([f"... and {more} more"] if more > 0 else [])]
        super().__init__("\n".join(shown))


@dataclass(frozen=True, eq=False)
class Level:
    """Gates of which none waits for another.

    `delays` counts ticks by gate, input and new value of the output, shape (n, inputs, 2).
    """

    functions: Functions
    delays: Integers


@dataclass(frozen=True, eq=False)
class Gates:
    """A netlist as arrays.

    Nets have the numbers that they have in the netlist.  Behind them each flip-flop has a net of
    its own, the state, which changes with the clock; its outputs follow it like gates, with the
    delay from clock to output.

    Attributes
    ----------
    net_count
        With the states.
    states
        Net of each flip-flop's state, shape (flip-flops,).
    names
        Of the flip-flops.
    levels
        Flip-flops' outputs and gates, each behind the levels that drive it.
    next_state, clear, preset
        Per flip-flop.
    ends
        Where paths end, by net: data pins of flip-flops and ports.
    """

    net_count: int
    states: Integers
    names: tuple[str, ...]
    levels: tuple[Level, ...]
    next_state: Functions
    clear: Functions
    preset: Functions
    ends: Mapping[int, str]


@dataclass(frozen=True)
class _Gate:
    function: NetFunction
    delays: tuple[Delay, ...]


def gates_of(netlist: Netlist, library: CellLibrary, timing: Timing, clock: str) -> Gates:
    """Return a netlist as arrays.

    Raises
    ------
    NetlistError
        A cell that the library lacks, a latch, a flip-flop that something else than the rising
        edge of `clock` moves, a pin or net that nothing or too much drives, a loop of gates, a
        pin without a delay: all of them at once.
    FunctionError
        A function of the library cannot be read.
    """
    builder = _Builder(netlist, library, timing, clock)
    for position, instance in enumerate(netlist.instances):
        builder.add(position, instance)
    for port, nets in netlist.outputs.items():
        for bit, net in enumerate(nets):
            builder.ends.setdefault(net, f"output {port}[{bit}]")
    builder.check_drivers()
    levels = builder.levels() if not builder.faults else ()
    if builder.faults:
        raise NetlistError(builder.faults)
    kept = {name: _sorted(functions) for name, functions in builder.kept.items()}
    return Gates(
        net_count=netlist.net_count + len(builder.names),
        states=netlist.net_count + np.arange(len(builder.names)),
        names=tuple(builder.names),
        levels=levels,
        ends=builder.ends,
        **kept,
    )


def _sorted(functions: Sequence[NetFunction]) -> Functions:
    return side_by_side(sorted(functions, key=lambda function: -len(function.inputs)))


class _Builder:
    """Collects functions and faults, instance by instance."""

    def __init__(self, netlist: Netlist, library: CellLibrary, timing: Timing, clock: str) -> None:
        self.netlist, self.library, self.timing = netlist, library, timing
        self.faults: list[str] = []
        self.gates: list[_Gate] = []
        self.kept: dict[str, list[NetFunction]] = {"next_state": [], "clear": [], "preset": []}
        self.names: list[str] = []
        self.ends: dict[int, str] = {}
        self.read = cache(_read)
        nets = netlist.inputs.get(clock, ())
        if len(nets) != 1:
            ports = [port for port, bits in netlist.inputs.items() if len(bits) == 1]
            rule = "the clock is an input port of one bit"
            raise NetlistError([f"{netlist.top}: clock {clock!r}; {rule}; {nearest(clock, ports)}"])
        self.clock_net = nets[0]

    def add(self, position: int, instance: Instance) -> None:
        cell = self.library.cells.get(instance.cell)
        if cell is None:
            rule = f"library {self.library.name} has no such cell"
            self._fault(instance, rule, nearest(instance.cell, self.library.cells))
        elif cell.latch:
            self._fault(instance, "it is a latch", "describe flip-flops of one clock")
        elif cell.flip_flop:
            self._flip_flop(position, instance, cell, cell.flip_flop)
        else:
            for pin, net in _outputs(instance, cell):
                function = cell.pins[pin].function or ""
                self._gate(position, instance, pin, net, self.read(function, _inputs(cell)), {})

    def _fault(self, instance: Instance, rule: str, remedy: str) -> None:
        written = f"{self.netlist.top}: {instance.name} ({instance.cell})"
        self.faults.append(f"{written}; {rule}; {remedy}")

    def _flip_flop(
        self, position: int, instance: Instance, cell: Cell, flip_flop: FlipFlop
    ) -> None:
        clock = flip_flop.clocked_on.strip("() ")
        if clock not in cell.pins or instance.nets.get(clock) != self.clock_net:
            rule = f"it is clocked on {flip_flop.clocked_on!r}, not on the clock's rising edge"
            self._fault(instance, rule, "use one clock, without gates or inverters before it")
            return
        state = self.netlist.net_count + len(self.names)
        self.names.append(instance.name)
        own = (flip_flop.state, flip_flop.inverted)
        nets = {flip_flop.state: state}
        for pin, net in _outputs(instance, cell):
            read = self.read(cell.pins[pin].function or "", _inputs(cell), own)
            self._gate(position, instance, pin, net, read, nets, {flip_flop.state: clock})
        wanted = (flip_flop.next_state, flip_flop.clear or "0", flip_flop.preset or "0")
        for kept, function in zip(self.kept.values(), wanted, strict=True):
            names, table = self.read(function, _inputs(cell), own)
            inputs = self._nets(instance, names, nets)
            kept.append(NetFunction(state, inputs, table))
            for name, net in zip(names, inputs, strict=True):
                if net != state:
                    self.ends.setdefault(net, f"pin {name} of {instance.name} ({cell.name})")

    def _nets(
        self, instance: Instance, names: Sequence[str], states: Mapping[str, int]
    ) -> tuple[int, ...]:
        nets = {**instance.nets, **states}
        for name in names:
            if name not in nets:
                self._fault(instance, f"pin {name} is not connected", "connect it")
            elif nets[name] == self.clock_net:
                self._fault(instance, f"pin {name} is on the clock", "use it for flip-flops alone")
        return tuple(nets.get(name, CONSTANT_0) for name in names)

    def _gate(
        self,
        position: int,
        instance: Instance,
        pin: str,
        net: int,
        read: tuple[tuple[str, ...], bytes],
        states: Mapping[str, int],
        causes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        names, table = read
        inputs = self._nets(instance, names, states)
        delays = []
        for name in names:
            delay = self.timing.delays.get((position, causes.get(name, name), pin))
            if name not in instance.nets and name not in states:
                continue
            if delay is None or min(delay.rise_s, delay.fall_s) < 0:
                rule = f"there is no delay of 0 or more from {causes.get(name, name)} to {pin}"
                self._fault(instance, rule, "analyse the timing of this netlist and library")
            else:
                delays.append(delay)
        self.gates.append(_Gate(NetFunction(net, inputs, table), tuple(delays)))

    def check_drivers(self) -> None:
        """Note nets that several gates or ports drive, and those in use that none drives."""
        ports = [net for nets in self.netlist.inputs.values() for net in nets]
        driven = Counter([*ports, *(gate.function.output for gate in self.gates)])
        driven.update((CONSTANT_0, CONSTANT_1))
        users = dict(self.ends)
        for gate in self.gates:
            for net in gate.function.inputs:
                users.setdefault(net, f"a gate that drives net {gate.function.output}")
        for net, count in driven.items():
            if count > 1:
                rule = f"{count} gates or ports drive it"
                self.faults.append(f"{self.netlist.top}: net {net}; {rule}; leave one")
        for net, user in users.items():
            if net not in driven and net < self.netlist.net_count:
                self.faults.append(f"{self.netlist.top}: net {net}; {user} needs it; drive it")

    def levels(self) -> tuple[Level, ...]:
        """Return the gates by level, or note a loop."""
        drivers = {gate.function.output: number for number, gate in enumerate(self.gates)}
        sorter = TopologicalSorter(
            {
                number: [drivers[net] for net in gate.function.inputs if net in drivers]
                for number, gate in enumerate(self.gates)
            }
        )
        try:
            sorter.prepare()
        except CycleError as error:
            nets = [self.gates[number].function.output for number in error.args[1]]
            path = " -> ".join(str(net) for net in nets[:MOST_FAULTS])
            rule = "a loop of gates without a flip-flop"
            self.faults.append(f"{self.netlist.top}: nets {path}; {rule}; break it with one")
            return ()
        found = []
        while sorter.is_active():
            ready = sorter.get_ready()
            sorter.done(*ready)
            found.append(_level([self.gates[number] for number in sorted(ready)]))
        return tuple(found)


def _level(gates: Sequence[_Gate]) -> Level:
    gates = sorted(gates, key=lambda gate: -len(gate.delays))
    delays = np.zeros((len(gates), max(1, len(gates[0].delays)), 2), np.int64)
    for number, gate in enumerate(gates):
        for pin, delay in enumerate(gate.delays):
            delays[number, pin] = round(delay.fall_s / TICK_S), round(delay.rise_s / TICK_S)
    return Level(side_by_side([gate.function for gate in gates]), delays)


def _read(
    function: str, pins: tuple[str, ...], state: tuple[str, str] | None = None
) -> tuple[tuple[str, ...], bytes]:
    """Return on what a function of a cell depends, and its truth table over it."""
    if state is None:
        return needed(truth_table(function, pins), pins)
    return needed(of_state(function, pins, *state), (*pins, state[0]))


def _inputs(cell: Cell) -> tuple[str, ...]:
    return tuple(pin.name for pin in cell.pins.values() if pin.direction == "input")


def _outputs(instance: Instance, cell: Cell) -> Iterator[tuple[str, int]]:
    for pin, net in instance.nets.items():
        if pin in cell.pins and cell.pins[pin].direction == "output":
            yield pin, net

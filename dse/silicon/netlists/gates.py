"""A mapped netlist as arrays: gates by level, flip-flops as states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter

import numpy as np

from dse.errors import Fault, refuse
from dse.silicon.cells.boolean import (
    Functions,
    Integers,
    NetFunction,
    essential,
    of_state,
    side_by_side,
    truth_table,
)
from dse.silicon.cells.library import Cell, CellLibrary, FlipFlop
from dse.silicon.netlists.clocks import clocks_of
from dse.silicon.netlists.netlist import Instance, Netlist
from dse.silicon.netlists.timing import Delay, Timing

TICK_S = 1e-15
"""Delays are whole numbers of it, so that equal sums are equal."""


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
        Per flip-flop; one behind a clock gate keeps its state where that is not enabled.
    enables
        By the net that a clock gate drives: the one that enables it.
    ends
        Nets with which paths end at flip-flops and clock gates.
    """

    net_count: int
    states: Integers
    names: tuple[str, ...]
    levels: tuple[Level, ...]
    next_state: Functions
    clear: Functions
    preset: Functions
    enables: Mapping[int, int]
    ends: Set[int]


@dataclass(frozen=True)
class _Gate:
    function: NetFunction
    delays: tuple[Delay, ...]


def gates_of(netlist: Netlist, library: CellLibrary, timing: Timing, clock: str) -> Gates:
    """Return a netlist as arrays, its gates with the delays of `timing`.

    Raises
    ------
    StudyError
        Something but flip-flops on its rising edge uses the clock, or a pin has no delay.
    FunctionError
        A function of the library cannot be read.
    """
    clocks = clocks_of(netlist, library, clock)
    builder = _Builder(netlist, timing, clocks.enables)
    for position, instance in enumerate(netlist.instances):
        builder.add(position, instance, library.cells[instance.cell])
    refuse(builder.faults)
    kept = {name: _sorted(functions) for name, functions in builder.kept.items()}
    return Gates(
        net_count=netlist.net_count + len(builder.names),
        states=netlist.net_count + np.arange(len(builder.names)),
        names=tuple(builder.names),
        levels=tuple(builder.levels()),
        enables=clocks.enables,
        ends=builder.ends,
        **kept,
    )


def _enabled(function: NetFunction, enable: int) -> NetFunction:
    """Return the next state behind a clock gate: as it was where that is not enabled."""
    table, state = function.table, function.output
    low, high = bytes(len(table)), b"\1" * len(table)
    return NetFunction(state, (*function.inputs, enable, state), low + table + high + table)


def _sorted(functions: Sequence[NetFunction]) -> Functions:
    return side_by_side(sorted(functions, key=lambda function: -len(function.inputs)))


@dataclass
class _Builder:
    """Collects functions and faults, instance by instance."""

    netlist: Netlist
    timing: Timing
    enables: Mapping[int, int]

    def __post_init__(self) -> None:
        self.faults: list[Fault] = []
        self.gates: list[_Gate] = []
        self.kept: dict[str, list[NetFunction]] = {"next_state": [], "clear": [], "preset": []}
        self.names: list[str] = []
        self.ends: set[int] = set()
        self.read = cache(_read)

    def add(self, position: int, instance: Instance, cell: Cell) -> None:
        """Add the gates of an instance, and the state of a flip-flop."""
        if cell.clock_gate is not None:
            self.ends.add(instance.nets[cell.clock_gate.enable])
            return
        nets, causes, own = dict(instance.nets), {pin: pin for pin in cell.inputs}, None
        if cell.flip_flop is not None:
            own = (cell.flip_flop.state, cell.flip_flop.inverted)
            nets[own[0]] = self.netlist.net_count + len(self.names)
            causes[own[0]] = cell.flip_flop.clocked_on.strip("() ")
            self._flip_flop(instance, cell.flip_flop, cell.inputs, nets)
        for pin, net in instance.nets.items():
            if cell.pins[pin].direction != "output":
                continue
            names, table = self.read(cell.pins[pin].function or "", cell.inputs, own)
            delays = [self.timing.delays.get((position, causes[name], pin)) for name in names]
            for name, delay in zip(names, delays, strict=True):
                if delay is None or min(delay.rise_s, delay.fall_s) < 0:
                    where, written = f"{instance.name} ({instance.cell})", f"from {causes[name]}"
                    rule, remedy = "no delay of 0 or more", "analyse the timing of this netlist"
                    self.faults.append(Fault(where, f"{written} to {pin}", rule, remedy))
            known = tuple(delay for delay in delays if delay is not None)
            function = NetFunction(net, tuple(nets[name] for name in names), table)
            self.gates.append(_Gate(function, known))

    def _flip_flop(
        self,
        instance: Instance,
        flip_flop: FlipFlop,
        pins: tuple[str, ...],
        nets: Mapping[str, int],
    ) -> None:
        state = nets[flip_flop.state]
        self.names.append(instance.name)
        functions = (flip_flop.next_state, flip_flop.clear or "0", flip_flop.preset or "0")
        enable = self.enables.get(nets[flip_flop.clocked_on.strip("() ")])
        for kept, function in zip(self.kept.values(), functions, strict=True):
            names, table = self.read(function, pins, (flip_flop.state, flip_flop.inverted))
            found = NetFunction(state, tuple(nets[name] for name in names), table)
            if enable is not None and kept is self.kept["next_state"]:
                found = _enabled(found, enable)
            kept.append(found)
            self.ends |= {nets[name] for name in names} - {state}

    def levels(self) -> Iterator[Level]:
        """Yield the gates by level."""
        drivers = {gate.function.output: number for number, gate in enumerate(self.gates)}
        needs = (
            [drivers[net] for net in gate.function.inputs if net in drivers] for gate in self.gates
        )
        sorter = TopologicalSorter(dict(enumerate(needs)))
        sorter.prepare()
        while sorter.is_active():
            ready = sorter.get_ready()
            sorter.done(*ready)
            yield _level([self.gates[number] for number in sorted(ready)])


def _level(gates: Sequence[_Gate]) -> Level:
    gates = sorted(gates, key=lambda gate: -len(gate.delays))
    delays = np.zeros((len(gates), max(1, len(gates[0].delays)), 2), np.int64)
    for number, gate in enumerate(gates):
        for pin, delay in enumerate(gate.delays):
            delays[number, pin] = round(delay.fall_s / TICK_S), round(delay.rise_s / TICK_S)
    return Level(side_by_side([gate.function for gate in gates]), delays)


def _read(
    function: str, pins: tuple[str, ...], state: tuple[str, str] | None
) -> tuple[tuple[str, ...], bytes]:
    """Return on what a function of a cell depends, and its truth table over it."""
    if state is None:
        return essential(truth_table(function, pins), pins)
    return essential(of_state(function, pins, *state), (*pins, state[0]))

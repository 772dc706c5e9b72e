"""A mapped netlist as arrays, gates by level and flip-flops as states, and its settled values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits
from dse.errors import ArgumentError, Fault, StudyError, refuse
from dse.silicon.cells import Cell, CellLibrary, FlipFlop, truth_table
from dse.silicon.netlist import CONSTANT_1, Clocks, Instance, Netlist
from dse.silicon.timing import Delay, Timing, generations

UNKNOWN_LEVEL = 2
"""The third value of a net, beside 0 and 1."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NetFunction:
    """A function of nets that drives a net.  Its values over `inputs` are `table`, as bytes."""

    output: int
    inputs: tuple[int, ...]
    table: bytes


class Functions:
    """Functions of nets as arrays, those with most inputs first.

    Attributes
    ----------
    outputs
        Net of each, shape (n,).
    columns
        ``columns[p]`` has the net of input p of the first ``len(columns[p])`` functions.
    binary_starts, ternary_starts
        Start of each function's table in `binary` and `ternary`, shape (n,).
    binary, ternary
        Truth tables, one after the other, for inputs that are known, and for any.
    """

    def __init__(self, functions: Sequence[NetFunction]) -> None:
        """Take functions in the given order, which must be by falling number of inputs."""
        places: dict[bytes, tuple[int, int]] = {}
        self.binary, self.ternary = np.zeros((2, 0), np.int64)
        for table in dict.fromkeys(function.table for function in functions):
            places[table] = len(self.binary), len(self.ternary)
            plain = np.frombuffer(table, dtype=np.bool_)
            self.binary = np.concatenate([self.binary, plain])
            self.ternary = np.concatenate([self.ternary, ternary(plain)])
        inputs = [function.inputs for function in functions]
        self.outputs = np.array([function.output for function in functions], np.int64)
        self.columns = tuple(
            np.array([nets[pin] for nets in inputs if len(nets) > pin], np.int64)
            for pin in range(len(inputs[0]) if inputs else 0)
        )
        starts = np.array([places[function.table] for function in functions], np.int64)
        self.binary_starts, self.ternary_starts = starts.reshape(-1, 2).T

    def at(self, values: Integers) -> Integers:
        """Return the value of each function from the values of all nets, shape (nets,)."""
        entries = self.ternary_starts.copy()
        for pin, nets in enumerate(self.columns):
            entries[: len(nets)] += values[nets] * 3**pin
        return self.ternary[entries]


def ternary(table: NDArray[np.bool_]) -> Integers:
    """Return a truth table, shape (2**n,), for inputs that may be unknown, shape (3**n,).

    A value is unknown if it depends on the unknown inputs of this one function.  Entry k is the
    value for inputs that are the digits of k to the base of three.

    Examples
    --------
    >>> ternary(truth_table("A B", ["A", "B"])).tolist()
    [0, 0, 0, 0, 1, 2, 0, 2, 2]
    """
    pins = len(table).bit_length() - 1
    values = table.astype(np.int64).reshape((2,) * pins)
    for axis in range(pins):
        low, high = np.take(values, 0, axis), np.take(values, 1, axis)
        values = np.stack([low, high, np.where(low == high, low, UNKNOWN_LEVEL)], axis)
    return values.ravel()


def essential(table: NDArray[np.bool_], pins: Sequence[str]) -> tuple[tuple[str, ...], bytes]:
    """Return the pins that a function depends on, and its truth table over them as bytes.

    Examples
    --------
    >>> names, table = essential(truth_table("A B + A !B", ["A", "B"]), ["A", "B"])
    >>> names, np.frombuffer(table, bool).tolist()
    (('A',), [False, True])
    """
    values = table.reshape((2,) * len(pins))
    names = list(pins)
    for place in reversed(range(len(pins))):
        axis = len(names) - 1 - place
        low, high = np.take(values, 0, axis), np.take(values, 1, axis)
        if np.array_equal(low, high):
            values = low
            del names[place]
    return tuple(names), values.tobytes()


def of_state(function: str, pins: Sequence[str], state: str, inverted: str) -> NDArray[np.bool_]:
    """Return the truth table over pins and a state that a function may also use inverted.

    Examples
    --------
    >>> of_state("D IQN", ["D"], "IQ", "IQN").tolist()
    [False, True, False, False]
    """
    values = truth_table(function, (*pins, state, inverted)).reshape(2, 2, -1)
    return np.concatenate([values[1, 0], values[0, 1]])


# Gates of a netlist

TICK_S = 1e-15
"""Delays are whole numbers of it, so that equal sums are equal."""


_Gate = tuple[NetFunction, Sequence[Delay]]
"""A function, and the delay from each of its inputs."""


class Level:
    """Gates that do not wait for each other.

    `delays` counts ticks by gate, input and new value of the output, shape (n, inputs, 2).
    """

    def __init__(self, gates: Sequence[_Gate]) -> None:
        """Take gates in any order."""
        functions, each = zip(*sorted(gates, key=lambda gate: -len(gate[1])), strict=True)
        self.functions = Functions(functions)
        self.delays = np.zeros((len(each), max(1, len(each[0])), 2), np.int64)
        for number, own in enumerate(each):
            for pin, delay in enumerate(own):
                self.delays[number, pin] = [round(s / TICK_S) for s in (delay.fall_s, delay.rise_s)]


def _enabled(function: NetFunction, enable: int) -> NetFunction:
    """Return the next state behind a clock gate: unchanged unless that is enabled."""
    table, state = function.table, function.output
    low, high = bytes(len(table)), b"\1" * len(table)
    return NetFunction(state, (*function.inputs, enable, state), low + table + high + table)


class Gates:
    """A netlist as arrays.

    Nets have the numbers that they have in the netlist.  Each flip-flop adds a net, its state,
    which changes with the clock.  Its outputs follow the state like gates, with the
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
        Per flip-flop.  A flip-flop behind a clock gate keeps its state unless that is enabled.
    enables
        By the net that a clock gate drives: the net that enables it.
    ends
        Nets with which paths end at flip-flops and clock gates.
    """

    def __init__(self, netlist: Netlist, library: CellLibrary, timing: Timing, clock: str) -> None:
        """Read a netlist, its gates with the delays of `timing`.

        Raises
        ------
        StudyError
            Something but flip-flops on its rising edge uses the clock, or a pin has no delay.
        FunctionError
            A function of the library cannot be read.
        """
        self.enables = Clocks(netlist, library, clock).enables
        self.net_count, self._timing = netlist.net_count, timing
        self.names: list[str] = []
        self.ends: set[int] = set()
        self._faults: list[Fault] = []
        self._gates: list[_Gate] = []
        self._kept: tuple[list[NetFunction], ...] = ([], [], [])
        self._read = cache(_read)
        for position, instance in enumerate(netlist.instances):
            self._add(position, instance, library.cells[instance.cell])
        refuse(self._faults)
        self.states = np.arange(netlist.net_count, self.net_count)
        self.next_state, self.clear, self.preset = (
            Functions(sorted(functions, key=lambda function: -len(function.inputs)))
            for functions in self._kept
        )
        self.levels = tuple(self._by_level())

    def _add(self, position: int, instance: Instance, cell: Cell) -> None:
        """Add the gates of an instance, and the state of a flip-flop."""
        if cell.clock_gate is not None:
            self.ends.add(instance.nets[cell.clock_gate.enable])
            return
        nets, causes, own = dict(instance.nets), {pin: pin for pin in cell.inputs}, None
        if cell.flip_flop is not None:
            own = (cell.flip_flop.state, cell.flip_flop.inverted)
            nets[own[0]] = self.net_count
            self.net_count += 1
            causes[own[0]] = cell.flip_flop.clocked_on.strip("() ")
            self._flip_flop(instance, cell.flip_flop, cell.inputs, nets)
        for pin, net in instance.nets.items():
            if cell.pins[pin].direction != "output":
                continue
            names, table = self._read(cell.pins[pin].function or "", cell.inputs, own)
            delays = [self._timing.delays.get((position, causes[name], pin)) for name in names]
            for name, delay in zip(names, delays, strict=True):
                if delay is None or min(delay.rise_s, delay.fall_s) < 0:
                    where, written = f"{instance.name} ({instance.cell})", f"from {causes[name]}"
                    rule, remedy = "no delay of 0 or more", "analyse the timing of this netlist"
                    self._faults.append(Fault(where, f"{written} to {pin}", rule, remedy))
            known = [delay for delay in delays if delay is not None]
            function = NetFunction(net, tuple(nets[name] for name in names), table)
            self._gates.append((function, known))

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
        for kept, function in zip(self._kept, functions, strict=True):
            names, table = self._read(function, pins, (flip_flop.state, flip_flop.inverted))
            found = NetFunction(state, tuple(nets[name] for name in names), table)
            if enable is not None and kept is self._kept[0]:
                found = _enabled(found, enable)
            kept.append(found)
            self.ends |= {nets[name] for name in names} - {state}

    def _by_level(self) -> Iterator[Level]:
        """Yield the gates by level."""
        drivers = {gate.output: number for number, (gate, _) in enumerate(self._gates)}
        needs = ([drivers[net] for net in gate.inputs if net in drivers] for gate, _ in self._gates)
        for ready in generations(dict(enumerate(needs))):
            yield Level([self._gates[number] for number in sorted(ready)])


def _read(
    function: str, pins: tuple[str, ...], state: tuple[str, str] | None
) -> tuple[tuple[str, ...], bytes]:
    """Return the inputs that a function of a cell depends on, and its truth table over them."""
    if state is None:
        return essential(truth_table(function, pins), pins)
    return essential(of_state(function, pins, *state), (*pins, state[0]))


# Settled values of nets and outputs of a netlist, cycle by cycle, compared with known answers


MOST_CYCLES = 64
"""Most cycles that are simulated together."""


MOST_PASSES = 20
"""Most successive clears and presets within one cycle."""


def driven_ports(
    netlist: Netlist, clock: str, stimulus: Mapping[str, Bits]
) -> tuple[Integers, Bits]:
    """Return the nets of all input ports but the clock, and their values by cycle.

    Raises
    ------
    ArgumentError
        A port without stimulus, or of another shape.
    """
    wanted = {port: nets for port, nets in netlist.inputs.items() if port != clock}
    cycles = max(map(len, stimulus.values()), default=0)
    for port, nets in wanted.items():
        shape, needed = np.shape(stimulus.get(port, ())), (cycles, len(nets))
        if shape != needed:
            rule = f"it has a row for each cycle and a column for each bit, {needed}"
            raise ArgumentError(f"stimulus of {port}: shape {shape}; {rule}; correct the generator")
    driven = np.array([net for nets in wanted.values() for net in nets], np.int64)
    columns = [np.asarray(stimulus[port], np.bool_) for port in wanted]
    return driven, np.concatenate([np.zeros((cycles, 0), np.bool_), *columns], axis=1)


def settled_at(
    gates: Gates, state: Integers, driven: Integers, stimuli: Bits, nets: Integers
) -> tuple[NDArray[np.uint8], Integers]:
    """Return the settled values of some nets, shape (cycles, nets), and the state after them."""
    found = [np.zeros((0, len(nets)), np.uint8)]
    for first in range(0, len(stimuli), MOST_CYCLES):
        settled = settle_cycles(gates, state, driven, stimuli[first : first + MOST_CYCLES])
        state = settled.state
        found.append(settled.values[:, nets])
    return np.concatenate(found), state


def by_port(netlist: Netlist, values: Bits) -> dict[str, Bits]:
    """Return the columns of `values` by output port."""
    ends = np.cumsum([len(nets) for nets in netlist.outputs.values()])
    return dict(zip(netlist.outputs, np.split(values, ends[:-1], axis=1), strict=True))


@dataclass(frozen=True, eq=False)
class Settled:
    """Settled values of nets, shape (cycles, nets), and the state after the last edge.

    `forced` is whether a state was cleared or preset within each cycle, shape (cycles,).
    """

    values: NDArray[np.uint8]
    state: Integers
    forced: NDArray[np.bool_]


def settle_cycles(
    gates: Gates, state: Integers, ports: Integers, stimulus: NDArray[np.bool_]
) -> Settled:
    """Return settled values of cycles that begin in `state`.

    Flip-flops take their next state at the edge that ends a cycle.  Clear and preset act at once
    and keep a state through the edge.  Clear wins over preset.  An unknown clear or preset makes
    a state unknown that it would change.  The stimulus has the values of the ports' nets, shape
    (cycles, ports).

    Raises
    ------
    StudyError
        Clears and presets do not come to rest.
    """
    values = np.zeros((len(stimulus), gates.net_count), np.uint8)
    forced = np.zeros(len(stimulus), np.bool_)
    nets = np.zeros(gates.net_count, np.int64)
    nets[CONSTANT_1] = 1
    for cycle, inputs in enumerate(stimulus):
        nets[ports] = inputs
        settled = _at_rest(gates, nets, state, cycle)
        forced[cycle] = settled is not state
        values[cycle] = nets
        following = np.empty_like(state)
        following[gates.next_state.outputs - gates.net_count] = gates.next_state.at(nets)
        state = _held(gates, nets, following)
    return Settled(values, state, forced)


def _at_rest(gates: Gates, nets: Integers, state: Integers, cycle: int) -> Integers:
    """Set the nets of a cycle, and return its state once clears and presets change nothing."""
    for _ in range(MOST_PASSES):
        nets[gates.states] = state
        for level in gates.levels:
            nets[level.functions.outputs] = level.functions.at(nets)
        held = _held(gates, nets, state)
        if np.array_equal(held, state):
            return state
        state = held
    rule = "clears and presets do not come to rest within a cycle"
    remedy = "drive them without a loop through their flip-flops"
    raise StudyError([Fault(f"cycle {cycle}", "", rule, remedy)])


def _held(gates: Gates, nets: Integers, state: Integers) -> Integers:
    """Return a state after clear and preset, given the values of all nets."""
    held = state.copy()
    for functions, value in ((gates.preset, 1), (gates.clear, 0)):
        acts = np.zeros_like(state)
        acts[functions.outputs - gates.net_count] = functions.at(nets)
        held[acts == 1] = value
        held[(acts == UNKNOWN_LEVEL) & (held != value)] = UNKNOWN_LEVEL
    return held

"""Netlists made by chance from a few cells, and what they do, event by event."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from dse.silicon.cells import Cell, CellLibrary, FlipFlop, Pin
from dse.silicon.netlist import Instance, Netlist
from dse.silicon.timing import Delay, Timing

CLOCK = 2
GATES: dict[str, dict[str, tuple[str, Callable[..., int]]]] = {
    "tie": {"Y": ("1", lambda: 1)},
    "inv": {"Y": ("!A", lambda a: 1 - a)},
    "nand": {"Y": ("!(A B)", lambda a, b: 1 - (a & b))},
    "xor": {"Y": ("A ^ B", lambda a, b: a ^ b)},
    "mux": {"Y": ("A !C + B C", lambda a, b, c: b if c else a)},
    "add": {
        "S": ("A ^ B ^ C", lambda a, b, c: (a + b + c) % 2),
        "T": ("(A B) + (C (A ^ B))", lambda a, b, c: (a + b + c) // 2),
    },
}
PINS = {"tie": "", "inv": "A", "nand": "AB", "xor": "AB", "mux": "ABC", "add": "ABC"}


def _cell(name: str, pins: str, functions: Mapping[str, str], own: FlipFlop | None = None) -> Cell:
    inputs = {pin: Pin(pin, "input", clock=pin == "K") for pin in pins}
    outputs = {pin: Pin(pin, "output", function=function) for pin, function in functions.items()}
    return Cell(name, 1e-12, 0.0, {**inputs, **outputs}, own)


def _flip_flop(clear: str | None = None) -> FlipFlop:
    return FlipFlop("IQ", "IQN", "D", "K", clear=clear)


LIBRARY = CellLibrary(
    "toy",
    1.0,
    25.0,
    "typical",
    {
        **{
            name: _cell(name, PINS[name], {pin: text for pin, (text, _) in outputs.items()})
            for name, outputs in GATES.items()
        },
        "dff": _cell("dff", "DK", {"Q": "IQ", "N": "IQN"}, _flip_flop()),
        "dffr": _cell("dffr", "DKR", {"Q": "IQ"}, _flip_flop("!R")),
        "latch": Cell("latch", 1e-12, 0.0, {}, latch=True),
    },
    (),
)


@dataclass(frozen=True)
class Case:
    """A netlist with delays in ticks of 1 fs and a stimulus of one port."""

    netlist: Netlist
    ticks: dict[tuple[int, str, str], tuple[int, int]]
    stimulus: np.ndarray
    period: int

    @property
    def timing(self) -> Timing:
        none = np.zeros(0)
        delays = {key: Delay(up * 1e-15, down * 1e-15) for key, (up, down) in self.ticks.items()}
        return Timing(self.period * 1e-15, delays, none, none, none)


def made(seed: int, *, gates: int, flip_flops: int, slowest: int, cycles: int) -> Case:
    """Return a netlist made by chance, whose paths all end within the period.

    Delays are from 0 to `slowest` ticks, so that small ones make many changes of one instant.
    """
    draw = random.Random(seed)  # noqa: S311
    inputs = [3 + bit for bit in range(draw.randint(1, 4))]
    nets, net, instances = [0, 1, *inputs], 3 + len(inputs), []
    for _ in range(flip_flops):
        instances.append(("dff", {"K": CLOCK, "Q": net, "N": net + 1}))
        nets += [net, net + 1]
        net += 2
    for _ in range(gates):
        kind = draw.choice(("tie", "inv", "nand", "xor", "xor", "mux", "add", "add"))
        joined = {
            pin: draw.choice(nets[-12:] if draw.random() < 0.7 else nets) for pin in PINS[kind]
        }
        for pin in GATES[kind]:
            joined[pin] = net
            nets.append(net)
            net += 1
        instances.append((kind, joined))
    for kind, joined in instances:
        if kind == "dff":
            joined["D"] = draw.choice(nets)
    placed = tuple(Instance(f"i{k}", kind, own) for k, (kind, own) in enumerate(instances))
    ticks = {}
    for k, instance in enumerate(placed):
        causes = PINS.get(instance.cell, "K")
        for pin in GATES.get(instance.cell, "QN"):
            for cause in causes:
                ticks[k, cause, pin] = draw.randint(0, slowest), draw.randint(0, slowest)
    netlist = Netlist(
        "made", {"clk": (CLOCK,), "a": tuple(inputs)}, {"z": tuple(nets)}, placed, net
    )
    rows = np.array([[draw.random() < 0.5 for _ in inputs] for _ in range(cycles)])
    return Case(netlist, ticks, rows, (gates + 2) * (slowest + 2))


class Events:
    """A simulation event by event: a queue of instants at which gates look at their inputs."""

    def __init__(self, case: Case, states: Mapping[int, int]) -> None:
        self.case, self.values, self.changed = case, Counter({1: 1}), {}
        self.gates: list[tuple[int, str, Callable[..., int], dict[str, int]]] = []
        self.users: dict[int, list[int]] = {}
        self.pending: dict[int, tuple[int, int]] = {}
        self.queue: list[tuple[int, int]] = []
        self.toggles, self.high, self.since = Counter(), Counter(), Counter()
        self.states = dict(states)
        for k, instance in enumerate(case.netlist.instances):
            for pin, (_, function) in GATES.get(instance.cell, {}).items():
                self._join(k, pin, function, {p: instance.nets[p] for p in PINS[instance.cell]})
            if instance.cell == "dff":  # its state is a net with a number below zero
                self._join(k, "Q", lambda s: s, {"K": -1 - k})
                self._join(k, "N", lambda s: 1 - s, {"K": -1 - k})

    def _join(self, k: int, pin: str, function: Callable[..., int], inputs: dict[str, int]) -> None:
        for net in inputs.values():
            self.users.setdefault(net, []).append(len(self.gates))
        self.gates.append((k, pin, function, inputs))

    def settle(self, changes: Mapping[int, int]) -> None:
        """Give nets their values without time, before the first cycle."""
        self.values.update({net: value - self.values[net] for net, value in changes.items()})
        for k, pin, function, inputs in self.gates:
            net = self.case.netlist.instances[k].nets[pin]
            self.values[net] = function(*(self.values[n] for n in inputs.values()))

    def cycle(self, start: int, changes: Mapping[int, int]) -> None:
        """Let nets change at the instant `start`, and wait until all is quiet."""
        for net, value in changes.items():
            self._set(start, net, value)
        while self.queue:
            instant, gate = heappop(self.queue)
            while self.queue[:1] == [(instant, gate)]:
                heappop(self.queue)
            self._look(instant, gate)

    def _set(self, instant: int, net: int, value: int) -> None:
        if self.values[net] == value:
            return
        self.high[net] += self.values[net] * (instant - self.since[net])
        self.values[net], self.since[net], self.changed[net] = value, instant, instant
        self.toggles[net] += 1
        for gate in self.users.get(net, ()):
            heappush(self.queue, (instant, gate))

    def _look(self, instant: int, gate: int) -> None:
        k, pin, function, inputs = self.gates[gate]
        net = self.case.netlist.instances[k].nets[pin]
        new = function(*(self.values[n] for n in inputs.values()))
        due, value = self.pending.get(gate, (-1, self.values[net]))
        if new != value:
            ticks = [
                self.case.ticks[k, cause, pin][1 - new]
                for cause, n in inputs.items()
                if self.changed.get(n) == instant
            ]
            out = instant + min(ticks)
            if gate in self.pending and (due > instant or due >= out):
                del self.pending[gate]  # too short a pulse
            else:
                if gate in self.pending:
                    self._set(instant, net, value)
                self.pending[gate] = (out, new)
                heappush(self.queue, (out, gate))
                if out > instant:
                    return
        if gate in self.pending and self.pending[gate][0] == instant:
            self._set(instant, net, self.pending.pop(gate)[1])

    def run(self, warm_up: int) -> tuple[list[list[int]], Counter, Counter]:
        """Return outputs by cycle, and toggles and times at 1 by net, after the warm-up."""
        netlist, outputs = self.case.netlist, []
        for number, row in enumerate(self.case.stimulus):
            start = number * self.case.period
            ports = dict(zip(netlist.inputs["a"], (int(bit) for bit in row), strict=True))
            changes = {**ports, **{-1 - k: state for k, state in self.states.items()}}
            if number == 0:
                self.settle(changes)
            if number == warm_up:
                self.toggles, self.high, self.since = Counter(), Counter(), Counter()
                self.since.update(dict.fromkeys(range(netlist.net_count), start))
            self.cycle(start, changes)
            if number >= warm_up:
                outputs.append([self.values[net] for net in netlist.outputs["z"]])
            for k in self.states:
                self.states[k] = self.values[netlist.instances[k].nets["D"]]
        end = len(self.case.stimulus) * self.case.period
        for net in range(netlist.net_count):
            self.high[net] += self.values[net] * (end - self.since[net])
        return outputs, self.toggles, self.high

"""Switching activity of a mapped netlist: known answers in, transitions out, with glitches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract.generators import Bits
from dse.errors import Fault, StudyError
from dse.silicon.cells.boolean import BINARY, TERNARY, UNKNOWN, Integers
from dse.silicon.cells.library import CellLibrary
from dse.silicon.netlists.answers import (
    MOST_CYCLES,
    Answers,
    Settled,
    by_port,
    driven_ports,
    settle_cycles,
    settled_at,
)
from dse.silicon.netlists.gates import TICK_S, Gates, gates_of
from dse.silicon.netlists.netlist import Netlist
from dse.silicon.netlists.timing import Timing
from dse.silicon.netlists.waveforms import transitions

MOST_TRANSITIONS = 1000
"""Most transitions of a gate in one cycle; those beyond are omitted."""

BLOCK = 4_000_000
"""So many transitions of cycles that are simulated together are aimed at."""

FEW = 5
"""So many flip-flops are named in a note."""

MOST_WORK = 500_000_000
"""Once so many transitions of gates' inputs are done, no further cycle is counted."""


@dataclass(frozen=True, eq=False)
class Switched:
    """How often each net of a netlist changes.

    Attributes
    ----------
    cycles
        Over which transitions are counted: all after the warm-up, or fewer, which `notes` says.
    toggles
        Transitions of each net, rising and falling, with glitches, shape (net_count,).
    settled
        Transitions from one cycle's settled value to the next, shape (net_count,).
    high
        Share of the time at which a net is 1, shape (net_count,).
    """

    cycles: int
    toggles: Integers
    settled: Integers
    high: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Activity(Switched, Answers):
    """How often nets change while a netlist works, and its answers.

    Attributes
    ----------
    idle
        How often they do afterwards, inputs held; none where it was not simulated.
    notes
        What was omitted, or taken for known.
    """

    idle: Switched | None = None
    notes: tuple[str, ...] = ()


def simulate_gates(
    netlist: Netlist,
    library: CellLibrary,
    timing: Timing,
    *,
    clock: str,
    stimulus: Mapping[str, Bits],
    warm_up: int,
    period_s: float | None = None,
    idle: int = 0,
) -> Activity:
    """Simulate a netlist with the delays of its timing.

    Inputs change right after the clock edge at which a cycle begins, flip-flops' outputs after
    their delay from the clock, gates by the rule of `transitions` in `waveforms`.  The
    first cycles, the warm-up, begin with every flip-flop unknown; what is unknown is followed
    with three values, which may call a value unknown that is not, never the reverse.  States
    still unknown in the last cycle of the warm-up are taken for 0 where transitions are counted.

    Parameters
    ----------
    clock
        Input port whose rising edge moves every flip-flop.
    stimulus
        Values of every other input port, shape (cycles, bits), least significant bit first.
    warm_up
        Cycles that are not counted, at least 1.
    period_s
        Clock period, no shorter than the least of the timing, which it is by default.  What ends
        later here does so because a delay is the worst of both edges of its input: a note tells it.
    idle
        Cycles behind all others that are counted with the inputs held as they were in the last;
        as many go before them.

    Raises
    ------
    StudyError
        The netlist cannot be simulated (see `gates_of`), or a flip-flop is
        cleared or preset after the warm-up.
    ArgumentError
        A port without stimulus, or of another shape.
    """
    period_s = timing.period_s if period_s is None else period_s
    gates = gates_of(netlist, library, timing, clock)
    driven, stimuli = driven_ports(netlist, clock, stimulus, warm_up)
    shown = np.array([net for nets in netlist.outputs.values() for net in nets], np.int64)
    warm, counted = stimuli[:warm_up], stimuli[warm_up:]
    zeros = np.zeros(len(gates.states), np.int64)
    start = settle_cycles(gates, zeros, driven, warm, BINARY)
    unsure = settle_cycles(gates, zeros + UNKNOWN, driven, warm, TERNARY)
    period = round(period_s / TICK_S)
    count = _Count(gates, driven, period)
    found, state = count.run(start, counted, shown)
    rest, state = settled_at(gates, state, driven, counted[count.cycles :], BINARY, shown)
    values = np.concatenate([start.values[:, shown], found, rest])
    unknown = np.flatnonzero(unsure.values[-1][gates.states] == UNKNOWN)
    known = np.ones(values.shape, np.bool_)
    known[:warm_up] = unsure.values[:, shown] != UNKNOWN
    if len(unknown):
        later, _ = settled_at(gates, unsure.state, driven, counted, TERNARY, shown)
        known[warm_up:] = later != UNKNOWN
    at_rest = _Count(gates, driven, period)
    if idle:
        held = np.repeat(stimuli[-1:], idle, axis=0)
        _, state = settled_at(gates, state, driven, held, BINARY, shown)
        at_rest.run(settle_cycles(gates, state, driven, held[:1], BINARY), held, shown)
    return Activity(
        outputs=by_port(netlist, values == 1),
        known=by_port(netlist, known),
        **vars(count.sums(netlist, clock)),
        idle=at_rest.sums(netlist, clock) if idle else None,
        notes=(
            *count.late({*shown.tolist(), *gates.ends}),
            *count.notes(len(counted)),
            *(f"idle: {note}" for note in at_rest.notes(idle)),
            *_unknown(gates, unknown, known[warm_up:]),
        ),
    )


def _unknown(gates: Gates, unknown: Integers, known: Bits) -> Iterator[str]:
    """Yield what is to be said of flip-flops that are unknown after the warm-up."""
    if not len(unknown):
        return
    names = ", ".join(gates.names[number] for number in unknown[:FEW])
    more = f" and {len(unknown) - FEW} more" if len(unknown) > FEW else ""
    yield f"unknown after the warm-up, taken for 0: flip-flops {names}{more}"
    doubtful = int(np.sum(~known.all(axis=1)))
    if doubtful:
        yield f"outputs depend on them in {doubtful} of {len(known)} cycles"


class _Count:
    """Sums over cycles, block by block."""

    def __init__(self, gates: Gates, driven: Integers, period: int) -> None:
        self.gates, self.driven, self.period = gates, driven, period
        self.sources = np.concatenate([driven, gates.states])
        self.gated, self.enables = ([*nets] for nets in (gates.enables, gates.enables.values()))
        self.cycles = self.work = 0
        shape = gates.net_count
        self.toggles, self.settled, self.high, self.latest, self.capped = np.zeros(
            (5, shape), np.int64
        )

    def run(
        self, start: Settled, stimuli: Bits, shown: Integers
    ) -> tuple[NDArray[np.uint8], Integers]:
        """Count cycles until all or the most work is done.

        Returns the settled values of `shown` in these cycles and the state after them.
        """
        state, before, size = start.state, start.values[-1:], 1
        found = []
        while self.cycles < len(stimuli) and self.work < MOST_WORK:
            some = stimuli[self.cycles : self.cycles + size]
            settled = settle_cycles(self.gates, state, self.driven, some, BINARY)
            if settled.forced.any():
                where = f"cycle {self.cycles + int(np.argmax(settled.forced))} after the warm-up"
                rule, remedy = "clears and presets act only during the warm-up", "make it longer"
                raise StudyError([Fault(where, "", rule, remedy)])
            found.append(settled.values[:, shown])
            size = self._add(np.concatenate([before, settled.values]))
            state, before = settled.state, settled.values[-1:]
        return np.concatenate(found), state

    def _add(self, values: NDArray[np.uint8]) -> int:
        """Count the cycles behind the first, and return how many to count next."""
        moved = transitions(self.gates, self.sources, values, MOST_TRANSITIONS)
        cycles = len(values) - 1
        self.cycles += cycles
        self.work += moved.work
        self.toggles += moved.count
        self.settled += np.sum(values[1:] != values[:-1], axis=0)
        self.high += self.period * np.sum(values[1:], axis=0, dtype=np.int64) + moved.high_ticks
        pulses = np.sum(values[:-1, self.enables], axis=0, dtype=np.int64)
        self.toggles[self.gated] += 2 * pulses
        self.settled[self.gated] += 2 * pulses
        self.high[self.gated] += self.period * pulses // 2
        self.capped += moved.capped
        self.latest = np.maximum(self.latest, moved.latest)
        fitting = cycles * BLOCK // max(1, int(moved.count.sum()))
        return max(1, min(4 * cycles, fitting, MOST_CYCLES))

    def late(self, ends: Collection[int]) -> Iterator[str]:
        """Yield by how much the ends of paths are reached after the period."""
        latest = max(self.latest[[*ends]], default=0)
        if latest > self.period + 1 + len(self.gates.levels):  # all of them rounded to ticks
            yield (
                f"paths of the simulation are up to {latest / self.period - 1:.1%} longer than the "
                "period: a delay is the worst of both edges of its input"
            )

    def sums(self, netlist: Netlist, clock: str) -> Switched:
        """Return the sums."""
        nets = slice(netlist.net_count)
        high = self.high[nets] / (self.period * self.cycles)
        toggles, settled = self.toggles[nets], self.settled[nets]
        clock_net = netlist.inputs[clock][0]
        toggles[clock_net] = settled[clock_net] = 2 * self.cycles
        high[clock_net] = 0.5
        return Switched(self.cycles, toggles, settled, high)

    def notes(self, cycles: int) -> Iterator[str]:
        """Yield what the limits omitted, of `cycles` cycles."""
        if self.cycles < cycles:
            yield (
                f"transitions are counted in the first {self.cycles} of {cycles} cycles only: "
                f"inputs of gates changed {self.work} times, and {MOST_WORK} is the most"
            )
        gates = sum(len(level.functions.outputs) for level in self.gates.levels)
        if self.capped.any():
            yield (
                f"transitions beyond {MOST_TRANSITIONS} in a cycle are omitted: "
                f"{np.count_nonzero(self.capped) / gates:.2%} of gates, "
                f"{self.capped.sum() / (gates * self.cycles):.2%} of gates' cycles"
            )

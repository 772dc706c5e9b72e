"""Switching activity of a mapped netlist: known answers in, transitions out, with glitches.

Inputs and states change at the clock edge that begins a cycle.  A gate sees all changes of one
instant t together.  If its function f then has another value than before, the output follows at
t + d, with d the least delay to the new value among the inputs that changed at t.  But if the last
transition of the output is later than t, or would not be earlier than the new one, both are
omitted: a pulse shorter than the delay of its second edge does not pass, one as long does.  This is
the inertial delay of IEEE 1364-2005, 6.1.3, with delays from pin to pin as in its clause 14.

A gate gets its transitions from its inputs' transitions, for all cycles at once, level by level
(Holst, Imhof, Wunderlich 2015, "High-throughput logic timing simulation on GPGPUs").
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.contract.generators import Bits
from dse.errors import Fault, StudyError
from dse.silicon.cells import CellLibrary
from dse.silicon.figures import rounded_down
from dse.silicon.gates import (
    MOST_CYCLES,
    TICK_S,
    UNKNOWN_LEVEL,
    Gates,
    Integers,
    Level,
    Settled,
    by_port,
    driven_ports,
    settle_cycles,
    settled_at,
)
from dse.silicon.netlist import Netlist
from dse.silicon.timing import Timing

TIME_BITS, PIN_BITS = 31, 4
"""Bits of a time in ticks and of an input's number if both are in one integer."""

PIECE = 200_000
"""Number of transitions of inputs in one batch, which fits into a cache."""


class _Pool:
    """Transitions of all nets: ``cycle << TIME_BITS | time``, rising for each net."""

    def __init__(self, nets: int) -> None:
        self.first, self.count = np.zeros(nets, np.int64), np.zeros(nets, np.int64)
        self.written = np.zeros(1024, np.int64)
        self.size = 0

    def add(self, nets: Integers, counts: Integers, transitions: Integers) -> None:
        """Add transitions that are in the order of `nets`."""
        end = self.size + len(transitions)
        if end > len(self.written):
            self.written = np.concatenate([self.written, np.zeros(end, np.int64)])
        self.written[self.size : end] = transitions
        self.first[nets] = self.size + np.cumsum(counts) - counts
        self.count[nets] = counts
        self.size = end

    def of(self, nets: Integers) -> tuple[Integers, Integers]:
        """Return the transitions of some nets, one after the other, and how many each has."""
        counts = self.count[nets]
        skipped = self.first[nets] - (np.cumsum(counts) - counts)
        return self.written[np.repeat(skipped, counts) + np.arange(counts.sum())], counts


class _Piece:
    """Some gates of a level.  A row is one of them in one cycle.

    `high` is the time of each output at 1 before the end of the cycles, less the time if every
    cycle began with its settled value, and `latest` the time of its latest transition, in ticks.
    """

    def __init__(self, level: Level, some: slice, cycles: int) -> None:
        functions = level.functions
        self.outputs, self.starts = functions.outputs[some], functions.binary_starts[some]
        self.columns = [nets[some] for nets in functions.columns if len(nets) > some.start]
        self.table, self.delays = functions.binary, level.delays[some]
        self.cycle_bits = max(1, (cycles - 1).bit_length())

    def run(self, pool: _Pool, values: NDArray[np.uint8]) -> None:
        """Add the transitions of the outputs to the pool, and keep their sums."""
        keys = self._arrivals(pool)
        row = keys >> TIME_BITS + PIN_BITS
        first = np.flatnonzero(np.diff(row, prepend=-1))
        ordinal = np.repeat(np.arange(len(first)), np.diff(first, append=len(row)))
        gate, cycle = row[first] >> self.cycle_bits, row[first] & (1 << self.cycle_bits) - 1
        changes, value, delay = self._changes(keys, first, ordinal, gate, cycle, values)
        ordinal = ordinal[changes]
        time = keys[changes] >> PIN_BITS & (1 << TIME_BITS) - 1
        passed = _passed(ordinal, time, time + delay)
        ordinal, value, time = ordinal[passed], value[passed], (time + delay)[passed]
        self._sum(pool, gate[ordinal], cycle[ordinal], value, time)

    def _arrivals(self, pool: _Pool) -> Integers:
        """Return the transitions of all inputs in order: gate, cycle, time, pin in one integer."""
        found = [np.zeros(0, np.int64)]
        for pin, nets in enumerate(self.columns):
            written, counts = pool.of(nets)
            gate = np.repeat(np.arange(len(nets)) << self.cycle_bits + TIME_BITS, counts)
            found.append((gate | written) << PIN_BITS | pin)
        keys = np.concatenate(found)
        keys.sort()
        return keys

    def _changes(
        self,
        keys: Integers,
        first: Integers,
        ordinal: Integers,
        gate: Integers,
        cycle: Integers,
        values: NDArray[np.uint8],
    ) -> tuple[Integers, Integers, Integers]:
        """Return the changes of a function (last key of the instant), new values and delays."""
        before = np.zeros(len(gate), np.int64)
        for pin, nets in enumerate(self.columns):
            some = slice(int(np.searchsorted(gate, len(nets))))
            before[some] |= values[cycle[some], nets[gate[some]]].astype(np.int64) << pin
        flips = np.bitwise_xor.accumulate(1 << (keys & (1 << PIN_BITS) - 1))
        before[1:] ^= flips[first[1:] - 1]
        ends = np.flatnonzero(np.diff(keys >> PIN_BITS, append=-1))
        rows = ordinal[ends]
        entries = self.starts[gate][rows] + (flips[ends] ^ before[rows])
        value = self.table[entries]
        old = np.concatenate([value[:1], value[:-1]])
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        old[begins] = values[cycle, self.outputs[gate]]
        new = value != old
        span = np.diff(ends, prepend=-1)[new]
        changes, value = ends[new], value[new]
        of = gate[ordinal[changes]]
        pins = keys & (1 << PIN_BITS) - 1
        delay = self.delays[of, pins[changes], value]
        for back in range(1, span.max(initial=1)):
            tied = np.flatnonzero(span > back)
            other = self.delays[of[tied], pins[changes[tied] - back], value[tied]]
            delay[tied] = np.minimum(delay[tied], other)
        return changes, value, delay

    def _sum(
        self, pool: _Pool, gate: Integers, cycle: Integers, value: Integers, time: Integers
    ) -> None:
        size = len(self.outputs)
        if time.max(initial=0) >= 1 << TIME_BITS:
            latest, most = (
                units.show(one * TICK_S, "time_s") for one in (time.max(), 1 << TIME_BITS)
            )
            written = f"a transition {latest} after the clock edge"
            rule = f"transitions come within {most} of it"
            raise StudyError([Fault("", written, rule, "cut the path into stages")])
        counts = np.bincount(gate, minlength=size)
        pool.add(self.outputs, counts, cycle << TIME_BITS | time)
        signed = np.where(value == 1, -time, time).astype(np.float64)
        self.high = np.bincount(gate, signed, size).astype(np.int64)
        self.latest = np.zeros(size, np.int64)
        some = np.flatnonzero(counts)
        if len(some):
            self.latest[some] = np.maximum.reduceat(time, (np.cumsum(counts) - counts)[some])


def _passed(ordinal: Integers, time: Integers, out: Integers) -> Integers:
    """Return the indices of changes of a function, at `time`, that become transitions, at `out`.

    A change cancels its predecessor, and itself, if that is a transition still to
    come.  Among neighbours that would each do so, the first and the second are cancelled, then the
    third and the fourth, and so on.  The last of an odd number remains.
    """
    taken = np.zeros(len(time), np.bool_)
    taken[:-1] = (ordinal[1:] == ordinal[:-1]) & ((time[1:] < out[:-1]) | (out[1:] <= out[:-1]))
    places = np.arange(len(time))
    free = np.maximum.accumulate(np.where(taken, -1, places))
    free = np.concatenate([[-1], free[:-1]])
    return np.flatnonzero(~taken & ((places - free) % 2 == 1))


_BLOCK = 4_000_000
"""Intended number of transitions of cycles that are simulated together."""

MOST_LATE = 0.05
"""Largest relative excess of a path in the simulation over the timing."""

_FEW = 5
"""Number of flip-flops that are named in a note."""

MOST_WORK = 500_000_000
"""Once so many transitions of gates' inputs are done, no further cycle is counted."""


@dataclass(frozen=True, eq=False)
class Switched:
    """Numbers of changes of each net of a netlist.

    Attributes
    ----------
    cycles
        Over which transitions are counted: all after the warm-up, or fewer, as `notes` states.
    toggles
        Transitions of each net, rising and falling, with glitches, shape (net_count,).
    settled
        Transitions from one cycle's settled value to the next, shape (net_count,).
    high
        Share of time of each net at 1, shape (net_count,).
    """

    cycles: int
    toggles: Integers
    settled: Integers
    high: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Activity(Switched):
    """Numbers of changes of nets while a netlist works, and its answers.

    Attributes
    ----------
    outputs
        Settled value of each output port in each cycle of the stimulus, shape (cycles, bits):
        the value at the edge that ends the cycle.
    known
        Whether each depends on no state unknown at the start, same shapes.
    idle
        Numbers of changes afterwards, with inputs held, or None if this was not simulated.
    notes
        Omissions, and values taken for known.
    """

    outputs: Mapping[str, Bits]
    known: Mapping[str, Bits]
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
    idle: int = 0,
) -> Activity:
    """Simulate a netlist with the delays of its timing, at its period or a longer one.

    Parameters
    ----------
    stimulus
        Values of every input port but the clock, shape (cycles, bits), least significant bit first.
    warm_up
        Cycles that are not counted, at least 1.  They begin with every flip-flop unknown.
    idle
        Cycles after all others that are counted with the inputs held as they were in the last.
        As many uncounted cycles precede them.

    Raises
    ------
    StudyError
        The netlist cannot be simulated (see `Gates`), or a flip-flop is
        cleared or preset after the warm-up.
    ArgumentError
        A port without stimulus, or of another shape.
    """
    gates = Gates(netlist, library, timing, clock)
    driven, stimuli = driven_ports(netlist, clock, stimulus)
    shown = np.array([net for nets in netlist.outputs.values() for net in nets], np.int64)
    count, at_rest = (_Count(gates, driven, round(timing.period_s / TICK_S)) for _ in range(2))
    values, state = _counted(count, stimuli, warm_up, shown)
    known, unknown = _known(gates, driven, stimuli, warm_up, shown)
    if idle:
        held = np.repeat(stimuli[-1:], idle, axis=0)
        _, state = settled_at(gates, state, driven, held, shown)
        at_rest.run(settle_cycles(gates, state, driven, held[:1]), held, shown)
    return Activity(
        outputs=by_port(netlist, values == 1),
        known=by_port(netlist, known),
        **vars(count.sums(netlist, clock)),
        idle=at_rest.sums(netlist, clock) if idle else None,
        notes=(
            *count.late({*shown.tolist(), *gates.ends}),
            *count.notes(len(stimuli) - warm_up),
            *(f"idle: {note}" for note in at_rest.notes(idle)),
            *_unknown(gates, unknown, known[warm_up:]),
        ),
    )


def _counted(
    count: _Count, stimuli: Bits, warm_up: int, shown: Integers
) -> tuple[NDArray[np.uint8], Integers]:
    """Count the cycles after the warm-up, and return values of outputs and the last state.

    States that are still unknown after the warm-up are taken for 0.
    """
    gates, driven, counted = count.gates, count.driven, stimuli[warm_up:]
    zeros = np.zeros(len(gates.states), np.int64)
    start = settle_cycles(gates, zeros, driven, stimuli[:warm_up])
    found, state = count.run(start, counted, shown)
    rest, state = settled_at(gates, state, driven, counted[count.cycles :], shown)
    return np.concatenate([start.values[:, shown], found, rest]), state


def _known(
    gates: Gates, driven: Integers, stimuli: Bits, warm_up: int, shown: Integers
) -> tuple[Bits, Integers]:
    """Return which values of outputs are known, and the flip-flops unknown after the warm-up.

    Three values are propagated, which may call a known value unknown, never the reverse.
    """
    state = np.full(len(gates.states), UNKNOWN_LEVEL, np.int64)
    first = settle_cycles(gates, state, driven, stimuli[:warm_up])
    known = np.ones((len(stimuli), len(shown)), np.bool_)
    known[:warm_up] = first.values[:, shown] != UNKNOWN_LEVEL
    unknown = np.flatnonzero(first.values[-1][gates.states] == UNKNOWN_LEVEL)
    if len(unknown):
        later, _ = settled_at(gates, first.state, driven, stimuli[warm_up:], shown)
        known[warm_up:] = later != UNKNOWN_LEVEL
    return known, unknown


def _unknown(gates: Gates, unknown: Integers, known: Bits) -> Iterator[str]:
    """Yield notes on flip-flops that are unknown after the warm-up."""
    if not len(unknown):
        return
    names = ", ".join(gates.names[number] for number in unknown[:_FEW])
    more = f" and {len(unknown) - _FEW} more" if len(unknown) > _FEW else ""
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
        self.toggles, self.settled, self.high, self.latest = np.zeros((4, shape), np.int64)

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
            settled = settle_cycles(self.gates, state, self.driven, some)
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
        moved, cycles = self._moved(values), len(values) - 1
        self.cycles += cycles
        self.toggles += moved
        self.settled += np.sum(values[1:] != values[:-1], axis=0)
        self.high += self.period * np.sum(values[1:], axis=0, dtype=np.int64)
        pulses = np.sum(values[:-1, self.enables], axis=0, dtype=np.int64)
        self.toggles[self.gated] += 2 * pulses
        self.settled[self.gated] += 2 * pulses
        self.high[self.gated] += self.period * pulses // 2
        fitting = cycles * _BLOCK // max(1, int(moved.sum()))
        return max(1, min(4 * cycles, fitting, MOST_CYCLES))

    def _moved(self, values: NDArray[np.uint8]) -> Integers:
        """Return the transitions of each net behind the first of the settled `values`, (nets,)."""
        pool = _Pool(self.gates.net_count)
        changed = (values[1:, self.sources] != values[:-1, self.sources]).T
        pool.add(self.sources, changed.sum(axis=1), np.nonzero(changed)[1] << TIME_BITS)
        for level in self.gates.levels:
            inputs = np.zeros(len(level.delays), np.int64)
            for nets in level.functions.columns:
                inputs[: len(nets)] += pool.count[nets]
            ends = np.cumsum(inputs)
            self.work += int(ends[-1])
            cuts = np.flatnonzero(np.diff(ends // PIECE)) + 1
            for first, last in zip([0, *cuts], [*cuts, len(ends)], strict=True):
                piece = _Piece(level, slice(first, last), len(values) - 1)
                piece.run(pool, values)
                self.high[piece.outputs] += piece.high
                later = np.maximum(self.latest[piece.outputs], piece.latest)
                self.latest[piece.outputs] = later
        return pool.count

    def late(self, ends: Collection[int]) -> Iterator[str]:
        """Yield by how much the ends of paths are reached after the period.

        More than that a delay is the worst of both edges of its input is an error.
        """
        latest = max(self.latest[[*ends]], default=0)
        late = latest / self.period - 1
        said = f"paths of the simulation are up to {late:.1%} longer than the period"
        if late > MOST_LATE:
            rule = f"up to {MOST_LATE:.0%} are of delays, which are the worst of both edges"
            clock = units.show(rounded_down(1 / (latest * TICK_S), 4), "clock_hz")
            remedy = f"ask for a clock of at most {clock}, or another library"
            raise StudyError([Fault("", said, f"{rule}, and more lacks in the timing", remedy)])
        if latest > self.period + 1 + len(self.gates.levels):  # all of them rounded to ticks
            yield f"{said}: a delay is the worst of both edges of its input"

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
        """Yield notes on the omissions due to limits, of `cycles` cycles."""
        if self.cycles < cycles:
            yield (
                f"transitions are counted in the first {self.cycles} of {cycles} cycles only: "
                f"inputs of gates changed {self.work} times, and {MOST_WORK} is the most"
            )

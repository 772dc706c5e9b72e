"""Transitions of every net within its cycles, gate by gate and all cycles together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import Fault, StudyError
from dse.silicon.cells.boolean import BINARY, Integers
from dse.silicon.netlists.gates import TICK_S, Gates, Level

TIME_BITS, PIN_BITS = 31, 4
"""Bits of a time in ticks and of an input's number where both stand in one integer."""

PIECE = 200_000
"""So many transitions of inputs are worked on together; they fit into a cache."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """Transitions of each net over some cycles; every array has shape (nets,).

    Attributes
    ----------
    count
        Of both directions.
    high_ticks
        Time at 1 before the end of the cycles, less than it would be if every cycle began with
        its settled value: to be added to settled time.
    latest
        Time of the latest after its clock edge, in ticks.
    capped
        Cycles in which a gate had more than the most, and the rest was omitted.
    work
        Transitions of gates' inputs that were examined.
    """

    count: Integers
    high_ticks: Integers
    latest: Integers
    capped: Integers
    work: int


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


def transitions(
    gates: Gates, sources: Integers, values: NDArray[np.uint8], most: int
) -> Transitions:
    """Return the transitions of every net in the cycles behind the first of `values`.

    Sources (input ports, states) change at the clock edge.  A gate sees all changes of one
    instant t together.  Where its function f then has another value than before, the output
    follows at t + d, where d is the delay to the new value from that input, of those that
    changed at t, which has the least.  But if the last transition of the output is later than t,
    or would not be earlier than the new one, both are omitted: a pulse shorter than the delay
    of its second edge does not pass, one as long does.  This is the inertial delay of
    IEEE 1364-2005, 6.1.3, with delays from pin to pin as in its clause 14.

    A gate gets its transitions from those of its inputs, for all cycles at once, level by level
    (Holst, Imhof, Wunderlich 2015, "High-throughput logic timing simulation on GPGPUs").

    Parameters
    ----------
    sources
        Nets that are driven by no gate and may change.
    values
        Settled values, shape (1 + cycles, nets).
    most
        Most transitions of a gate in a cycle.  Those beyond it are omitted, and one more where
        the settled value asks for it.

    Raises
    ------
    StudyError
        A transition does not fit into `TIME_BITS`.
    """
    pool = _Pool(gates.net_count)
    changed = (values[1:, sources] != values[:-1, sources]).T
    pool.add(sources, changed.sum(axis=1), np.nonzero(changed)[1] << TIME_BITS)
    high, latest, capped = (np.zeros(gates.net_count, np.int64) for _ in range(3))
    work = 0
    for level in gates.levels:
        inputs = np.zeros(len(level.delays), np.int64)
        for nets in level.functions.columns:
            inputs[: len(nets)] += pool.count[nets]
        ends = np.cumsum(inputs)
        work += int(ends[-1])
        cuts = np.flatnonzero(np.diff(ends // PIECE)) + 1
        for first, last in zip([0, *cuts], [*cuts, len(ends)], strict=True):
            piece = _Piece(level, slice(first, last), len(values) - 1)
            piece.run(pool, values, most)
            high[piece.outputs], latest[piece.outputs] = piece.high, piece.latest
            capped[piece.outputs] = piece.capped
    return Transitions(pool.count, high, latest, capped, work)


class _Piece:
    """Some gates of a level; a row is one of them in one cycle."""

    def __init__(self, level: Level, some: slice, cycles: int) -> None:
        functions = level.functions
        self.outputs, self.starts = functions.outputs[some], functions.starts[BINARY][some]
        self.columns = [nets[some] for nets in functions.columns if len(nets) > some.start]
        self.table, self.delays = functions.tables[BINARY], level.delays[some]
        self.cycle_bits = max(1, (cycles - 1).bit_length())

    def run(self, pool: _Pool, values: NDArray[np.uint8], most: int) -> None:
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
        kept, self.capped = _capped(ordinal, gate, most, len(self.outputs))
        ordinal, value, time = ordinal[kept], value[kept], time[kept]
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
        """Return where a function changes (the last key of the instant), to what, and the delay."""
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
            latest, most = (units.show(one * TICK_S, "s") for one in (time.max(), 1 << TIME_BITS))
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
    """Return which changes of a function, at `time`, become transitions, at `out`.

    A change takes its predecessor away, and is gone itself, where that is a transition still to
    come.  Of neighbours each of which would do so the first and the second go, the third and the
    fourth, and so on; the last of an odd number stays.
    """
    taken = np.zeros(len(time), np.bool_)
    taken[:-1] = (ordinal[1:] == ordinal[:-1]) & ((time[1:] < out[:-1]) | (out[1:] <= out[:-1]))
    places = np.arange(len(time))
    free = np.maximum.accumulate(np.where(taken, -1, places))
    free = np.concatenate([[-1], free[:-1]])
    return np.flatnonzero(~taken & ((places - free) % 2 == 1))


def _capped(
    ordinal: Integers, gate: Integers, most: int, gates: int
) -> tuple[Integers | slice, Integers]:
    """Return which transitions are among the first `most` of their row, and rows cut per gate."""
    counts = np.bincount(ordinal, minlength=len(gate))
    over = counts > most
    if not over.any():
        return slice(None), np.zeros(gates, np.int64)
    allowed = np.where(over, most - (counts - most) % 2, counts)
    rank = np.arange(len(ordinal)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.flatnonzero(rank < allowed[ordinal]), np.bincount(gate[over], minlength=gates)

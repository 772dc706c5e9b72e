"""Static timing of a mapped netlist.

Delays and slews are of the nonlinear delay model.  The worst slew of a net propagates, and the
worst of the conditions ``when``.  The clock is ideal: it reaches every flip-flop at once, and a
clock gate earlier by the gate's own delay.  Behind a gate it has the slew of its output.  A path
begins at the clock's edge and ends a setup time before the next, or before a gate's,

    period = clock to output + delays of the path + setup + delay of the gate.

Inputs change at the clock's edge, at once as the clock does, and outputs, without a load, must be
ready before the next.  Hold times, recovery and removal of asynchronous inputs, and largest slews
and loads are not checked.  A delay or slew that a table extrapolates below 0 is 0, and counted in
the notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.errors import Fault, StudyError
from dse.silicon.cells import Arc, Cell, CellLibrary, LookupTable, TableStack
from dse.silicon.netlist import Clocks, Netlist, Numbers, PinNets, by_cell

RISE, FALL = 0, 1

_SENSES = {
    "positive_unate": ((RISE, RISE), (FALL, FALL)),
    "negative_unate": ((FALL, RISE), (RISE, FALL)),
    "non_unate": ((RISE, RISE), (FALL, RISE), (RISE, FALL), (FALL, FALL)),
}
_KINDS = {
    "combinational": (RISE, FALL),
    "combinational_rise": (RISE,),
    "combinational_fall": (FALL,),
    "clear": (FALL,),
    "preset": (RISE,),
}
_ASYNCHRONOUS = ("clear", "preset")


MOST_ON_A_LOOP = 8
"""Instances of a loop that an error names."""

Tables = dict[LookupTable | None, int]
"""Numbers of tables.  An absent table has number 0, a table of zero."""


def _by_level(
    netlist: Netlist, columns: Numbers, passes: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Return the order of arcs by level, and the start of each level and the end.

    Yosys sees no loop through black boxes.  The instances of a loop are an error.
    """
    source, target, _, _, instance, _, passing = columns
    inside = passing > 1
    followed = (column[passes] for column in (source, target, instance, inside))
    level = 2 * _levels(netlist, *followed)[instance] + inside
    level[~passes] = level.max(initial=0) + 1  # nothing waits for them
    level = np.unique(level, return_inverse=True)[1]
    order = np.argsort(level, kind="stable")
    return order, np.searchsorted(level[order], np.arange(level.max(initial=0) + 2))


def _arc_columns(
    cell: Cell,
    at: Numbers,
    nets: PinNets,
    tables: Tables,
    pairs: list[tuple[int, str, str]],
) -> Iterator[Numbers]:
    """Yield source, target, delay, slew, instance, pair and passing of each arc of a cell."""
    numbered: dict[tuple[str, str], Numbers] = {}
    for pin in cell.pins.values():
        for arc in pin.arcs if pin.direction == "output" else ():
            for before, after in _edges(arc):
                delay = (arc.cell_rise, arc.cell_fall)[after]
                if delay is None:
                    continue
                key = (arc.related_pin, pin.name)
                if key not in numbered:
                    numbered[key] = len(pairs) + np.arange(len(at))
                    pairs += ((one, *key) for one in at.tolist())
                slew = (arc.rise_transition, arc.fall_transition)[after]
                used = (nets[arc.related_pin] >= 0) & (nets[pin.name] >= 0)
                same = np.ones(len(at), np.intp)
                inside = cell.pins[arc.related_pin].direction == "output"
                columns = (
                    2 * nets[arc.related_pin] + before,
                    2 * nets[pin.name] + after,
                    tables.setdefault(delay, len(tables)) * same,
                    tables.setdefault(slew, len(tables)) * same,
                    at,
                    numbered[key],
                    (arc.kind not in _ASYNCHRONOUS) * (1 + inside) * same,
                )
                yield np.stack(columns)[:, used]


def _edges(arc: Arc) -> Iterator[tuple[int, int]]:
    """Yield the edges of input and output that an arc joins."""
    if arc.kind == "rising_edge":
        yield from ((RISE, RISE), (RISE, FALL))
    elif arc.kind == "falling_edge":
        yield from ((FALL, RISE), (FALL, FALL))
    for before, after in _SENSES[arc.sense]:
        if after in _KINDS.get(arc.kind, ()):
            yield before, after


def _setup_columns(cell: Cell, at: Numbers, nets: PinNets, tables: Tables) -> Iterator[Numbers]:
    """Yield edge of the data, table, instance and clock of each constraint."""
    for pin in cell.pins.values():
        for arc in pin.arcs if pin.direction == "input" else ():
            if arc.kind != "setup_rising":
                continue
            for edge, table in enumerate((arc.rise_constraint, arc.fall_constraint)):
                if table is not None:
                    same = np.ones(len(at), np.intp)
                    number = tables.setdefault(table, len(tables)) * same
                    clock = 2 * nets[arc.related_pin] + RISE
                    yield np.stack((2 * nets[pin.name] + edge, number, at, clock))


def _levels(
    netlist: Netlist,
    source: Numbers,
    target: Numbers,
    instance: Numbers,
    inside: NDArray[np.bool_],
) -> Numbers:
    """Return the level of each instance: one more than the highest that it needs.

    Flip-flops and instances driven only by ports have level 0, and an arc `inside`, from an output
    of the same instance, does not raise the level.  Instances of one level do not wait for
    each other, so that all of them are computed at once.
    """
    driver = np.full(netlist.net_count, -1, np.intp)
    driver[target >> 1] = instance
    joined = np.unique(np.stack((driver[source >> 1], instance))[:, ~inside], axis=1)
    needs: dict[int, list[int]] = {}
    for before, after in joined[:, joined[0] >= 0].T.tolist():
        needs.setdefault(after, []).append(before)
    level = np.zeros(len(netlist.instances), np.intp)
    try:
        for number, ready in enumerate(generations(needs)):
            level[[*ready]] = number
    except CycleError as error:
        raise _loop(netlist, error.args[1][1:]) from None
    return level


def generations(needs: Mapping[int, Sequence[int]]) -> Iterator[Sequence[int]]:
    """Yield keys that need nothing, then those that need only these, and so on."""
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    while sorter.is_active():
        ready = sorter.get_ready()
        yield ready
        sorter.done(*ready)


def _loop(netlist: Netlist, loop: Sequence[int]) -> StudyError:
    first = loop.index(min(loop))
    names = [netlist.instances[i].name for i in (*loop[first:], *loop[:first])]
    more = [f"{len(names) - MOST_ON_A_LOOP} more"] if len(names) > MOST_ON_A_LOOP else []
    written = " -> ".join([*names[:MOST_ON_A_LOOP], *more, names[0]])
    rule, remedy = "logic forms a loop without a flip-flop", "put a register in it"
    return StudyError([Fault(netlist.top, written, rule, remedy)])


@dataclass(frozen=True)
class Delay:
    """Time (s) from an input to a rising and to a falling output."""

    rise_s: float
    fall_s: float


@dataclass(frozen=True, eq=False)
class Timing:
    """Settling of every net.

    Attributes
    ----------
    period_s
        Least clock period: clock to output, the longest path, setup.
    delays
        By position of the instance, input pin and output pin.
    rise_slews_s, fall_slews_s
        Slew (s) of each net, shape (net_count,), the worst of its arcs.
    loads_f
        Load (F) of each net, of the pins on it, shape (net_count,).
    begins, ends
        First net of the longest path, and its last instance or output.
    notes
        Assumptions and clipped values.
    """

    period_s: float
    delays: Mapping[tuple[int, str, str], Delay]
    rise_slews_s: NDArray[np.float64]
    fall_slews_s: NDArray[np.float64]
    loads_f: NDArray[np.float64]
    begins: str = ""
    ends: str = ""
    notes: tuple[str, ...] = ()


def analyse(netlist: Netlist, library: CellLibrary, *, clock: str) -> Timing:
    """Return the least clock period of a netlist, its delays, slews and loads.

    Raises
    ------
    StudyError
        The netlist has no such clock, flip-flops on another clock or edge, or no path.
    """
    clocks = Clocks(netlist, library, clock)
    loads = net_loads(netlist, library)
    run = _Run(netlist, library, loads[:, 1:], clocks)
    starts = 2 * np.array([net for nets in netlist.inputs.values() for net in nets])
    for edges in (starts + RISE, starts + FALL):
        run.slew[edges] = run.arrival[edges] = 0.0
    for first, end in pairwise(run.levels.tolist()):
        run.propagate(slice(first, end))
    period, edge, position = _longest(netlist, run)
    first = run.first(edge) >> 1
    slews = np.maximum(run.slew, 0.0)
    return Timing(
        period_s=period,
        delays=run.delays(),
        rise_slews_s=slews[0::2],
        fall_slews_s=slews[1::2],
        loads_f=loads[:, 0],
        begins=netlist.named(first),
        ends=netlist.instances[position].name if position >= 0 else netlist.named(edge >> 1),
        notes=tuple(_notes(netlist, library, run, first != clocks.net, position < 0)),
    )


def net_loads(netlist: Netlist, library: CellLibrary) -> NDArray[np.float64]:
    """Return the load (F) of each net, of its input pins, shape (net_count, 3).

    Columns: the mean load, the load at a rising and the load at a falling edge.
    """
    loads = np.zeros((netlist.net_count, 3))
    for instance in netlist.instances:
        pins = library.cells[instance.cell].pins
        for name, net in instance.nets.items():
            pin = pins[name]
            if pin.direction == "input":
                plain = pin.capacitance_f
                loads[net] += (plain, *(pin.edge_capacitance_f or (plain, plain)))
    return loads


class _Run:
    """Arcs between edges of nets, and arrivals and slews of these edges, -inf without an arrival.

    An edge is twice the net, plus 1 for its falling edge.  Arcs are sorted by level.  They have two
    edges, numbers of two tables, and the positions of the instance and of its two pins in `pairs`.
    Arrivals pass them, but not through asynchronous inputs of flip-flops.  Setups have the edge of
    a data net, a table, an instance, and the rising edge of the net that clocks it.
    """

    def __init__(
        self,
        netlist: Netlist,
        library: CellLibrary,
        loads: NDArray[np.float64],
        clocks: Clocks,
    ) -> None:
        tables: Tables = {None: 0}
        self.pairs: list[tuple[int, str, str]] = []
        arcs: list[Numbers] = [np.zeros((7, 0), np.intp)]
        setups: list[Numbers] = [np.zeros((4, 0), np.intp)]
        for cell, at, nets in by_cell(netlist, library):
            arcs += _arc_columns(cell, at, nets, tables, self.pairs)
            setups += _setup_columns(cell, at, nets, tables)
        columns = np.concatenate(arcs, axis=1)
        order, self.levels = _by_level(netlist, columns, columns[-1] > 0)
        self.source, self.target, *self.looked_up, self.instance, self.pair, _ = columns[:, order]
        self.passes = columns[-1, order] > 0
        self.setups = np.concatenate(setups, axis=1)
        zero = LookupTable(np.zeros(1), np.zeros(1), np.zeros((1, 1)))
        self.tables = TableStack([table or zero for table in tables])
        self.loads = loads
        self.gated = np.zeros(len(loads), bool)
        self.gated[[*clocks.enables]] = True
        self.arrival = np.full(2 * len(loads), -np.inf)
        self.slew = np.full(2 * len(loads), -np.inf)
        self.best = np.full(2 * len(loads), -1, dtype=np.intp)
        self.delay = np.zeros(len(self.source))
        self.clipped = 0

    def propagate(self, these: slice) -> None:
        """Propagate edges through the arcs of a level."""
        source, target = self.source[these], self.target[these]
        known = np.maximum(self.slew[source], 0.0)
        load = self.loads[target >> 1, target & 1]
        delay, slew = (self.tables.at(one[these], known, load) for one in self.looked_up)
        self.clipped += int(np.count_nonzero((delay < 0) | (slew < 0)))
        self.delay[these] = delay = np.maximum(delay, 0.0)
        arrives = self.passes[these] & np.isfinite(self.slew[source])
        slew = np.where(arrives, np.maximum(slew, 0.0), -np.inf)
        np.maximum.at(self.slew, target, slew)
        later = np.where(self.gated[target >> 1], 0.0, delay)
        arrival = np.where(arrives, self.arrival[source] + later, -np.inf)
        np.maximum.at(self.arrival, target, arrival)
        won = np.isfinite(arrival) & (arrival == self.arrival[target])
        self.best[target[won]] = np.flatnonzero(won) + these.start

    def insertion(self, instances: int) -> NDArray[np.float64]:
        """Return how much earlier than a flip-flop each instance has the clock (s): clock gates."""
        rising = self.gated[self.target >> 1] & (self.target & 1 == RISE)
        found = np.zeros(instances)
        np.maximum.at(found, self.instance[rising], self.delay[rising])
        return found

    def first(self, edge: int) -> int:
        """Return the first edge of the latest path to an edge."""
        while (arc := int(self.best[edge])) >= 0:
            edge = int(self.source[arc])
        return edge

    def delays(self) -> dict[tuple[int, str, str], Delay]:
        """Return the worst delay of each pair of pins, over edges and conditions."""
        worst = np.zeros((len(self.pairs), 2))
        np.maximum.at(worst, (self.pair, self.target & 1), self.delay)
        each = zip(self.pairs, worst.tolist(), strict=True)
        return {pair: Delay(rise, fall) for pair, (rise, fall) in each}


def _longest(netlist: Netlist, run: _Run) -> tuple[float, int, int]:
    """Return the latest end of a path, setup included, and edge and instance that it ends with.

    The position of the instance is -1 at an output.
    """
    source, table, instance, clock = run.setups
    slew = np.maximum(run.slew[source], 0.0)
    setup = run.tables.at(table, slew, np.maximum(run.slew[clock], 0.0))
    setup += run.insertion(len(netlist.instances))[instance]
    ends = [
        (float(run.arrival[2 * net + edge]), 2 * net + edge, -1)
        for nets in netlist.outputs.values()
        for net in nets
        for edge in (RISE, FALL)
    ]
    needed = run.arrival[source] + setup
    if len(needed):
        at = int(np.argmax(needed))
        ends.insert(0, (float(needed[at]), int(source[at]), int(instance[at])))
    found = max(ends, key=lambda end: end[0], default=(-np.inf, 0, -1))
    if not np.isfinite(found[0]):
        rule = "no path from flip-flop to flip-flop, nor from or to a port"
        raise StudyError([Fault(netlist.top, "", rule, "add registers to the design")])
    return found


def _notes(
    netlist: Netlist,
    library: CellLibrary,
    run: _Run,
    from_input: bool,
    to_output: bool,
) -> Iterator[str]:
    yield "wires have no capacitance and no delay"
    if not any(library.cells[instance.cell].flip_flop for instance in netlist.instances):
        yield "no flip-flop: the longest path between ports is the period"
    elif to_output:
        yield "the longest path ends at an output, before any setup"
    elif from_input:
        yield "the longest path begins at an input, which changes at the clock's edge"
    if run.clipped:
        count = len(run.delay)
        yield f"delays or slews extrapolated below 0 are 0: {run.clipped} of {count} arcs"

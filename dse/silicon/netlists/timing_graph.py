"""The arcs of a mapped netlist as columns, in an order in which each follows what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.errors import Fault, StudyError
from dse.silicon.cells.library import Arc, Cell, CellLibrary, LookupTable, TableStack
from dse.silicon.netlists.netlist import Netlist, Numbers, PinNets, by_cell

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
ASYNCHRONOUS = ("clear", "preset")
MOST_NAMED = 8
"""So many instances of a loop are named."""


@dataclass(frozen=True, eq=False)
class ArcColumns:
    """Arcs between edges of nets, sorted by level; all of shape (n,).

    Attributes
    ----------
    source, target
        Twice the net, plus 1 for its falling edge.
    delay, slew
        Numbers of tables.
    instance, pair
        Position of the instance, and of its two pins in `pairs`.
    passes
        Whether arrivals pass: not through asynchronous inputs of flip-flops.
    levels
        Where each level begins, and the end; shape (levels + 1,).
    """

    source: Numbers
    target: Numbers
    delay: Numbers
    slew: Numbers
    instance: Numbers
    pair: Numbers
    passes: NDArray[np.bool_]
    levels: Numbers
    pairs: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True, eq=False)
class SetupColumns:
    """Constraints of flip-flops and clock gates, all of shape (n,).

    Edge of a data net, table, instance, and rising edge of the net that clocks it.
    """

    source: Numbers
    table: Numbers
    instance: Numbers
    clock: Numbers
    pins: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TimingGraph:
    """Arcs and constraints of a netlist, and the tables that they read."""

    arcs: ArcColumns
    setups: SetupColumns
    tables: TableStack


Tables = dict[LookupTable | None, int]
"""Numbers of tables; that of none, 0, is one of zero."""


def timing_graph(netlist: Netlist, library: CellLibrary) -> TimingGraph:
    """Return the arcs of every instance, levelised.

    Raises
    ------
    StudyError
        Logic forms a loop; its instances are named.
    """
    tables: Tables = {None: 0}
    pairs: list[tuple[int, str, str]] = []
    pins: list[str] = []
    arcs: list[Numbers] = [np.zeros((7, 0), np.intp)]
    setups: list[Numbers] = [np.zeros((5, 0), np.intp)]
    for cell, at, nets in by_cell(netlist, library):
        arcs += _arc_columns(cell, at, nets, tables, pairs)
        setups += _setup_columns(cell, at, nets, tables, pins)
    columns = np.concatenate(arcs, axis=1)
    source, target, _, _, instance, _, passing = columns
    passes, inside = passing > 0, passing > 1
    followed = (column[passes] for column in (source, target, instance, inside))
    level = 2 * _levels(netlist, *followed)[instance] + inside
    level[~passes] = level.max(initial=0) + 1  # nothing waits for them
    level = np.unique(level, return_inverse=True)[1]
    order = np.argsort(level, kind="stable")
    levels = np.searchsorted(level[order], np.arange(level.max(initial=0) + 2))
    source, target, delay, slew, instance, pair, _ = columns[:, order]
    ordered = ArcColumns(
        source, target, delay, slew, instance, pair, passes[order], levels, tuple(pairs)
    )
    data, table, held, clock, pin = np.concatenate(setups, axis=1)
    constraints = SetupColumns(data, table, held, clock, tuple(pins[at] for at in pin))
    zero = LookupTable(np.zeros(1), np.zeros(1), np.zeros((1, 1)))
    return TimingGraph(ordered, constraints, TableStack([table or zero for table in tables]))


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
                if delay is None or arc.related_pin not in nets:
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
                    (arc.kind not in ASYNCHRONOUS) * (1 + inside) * same,
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


def _setup_columns(
    cell: Cell, at: Numbers, nets: PinNets, tables: Tables, pins: list[str]
) -> Iterator[Numbers]:
    """Yield edge of the data, table, instance, clock and name of the pin of each constraint."""
    for pin in cell.pins.values():
        for arc in pin.arcs if pin.direction == "input" else ():
            if arc.kind != "setup_rising":
                continue
            for edge, table in enumerate((arc.rise_constraint, arc.fall_constraint)):
                if table is not None:
                    same = np.ones(len(at), np.intp)
                    number = tables.setdefault(table, len(tables)) * same
                    name = len(pins) * same
                    pins.append(pin.name)
                    clock = 2 * nets[arc.related_pin] + RISE
                    yield np.stack((2 * nets[pin.name] + edge, number, at, clock, name))


def _levels(
    netlist: Netlist,
    source: Numbers,
    target: Numbers,
    instance: Numbers,
    inside: NDArray[np.bool_],
) -> Numbers:
    """Return the level of each instance: one more than the highest that it needs.

    Flip-flops and what only ports drive have level 0, and an arc `inside`, from an output of the
    same instance, raises none.  Instances of one level do not wait for
    each other, so that all of them are worked out at once.
    """
    count = len(netlist.instances)
    driver = np.full(netlist.net_count, -1, np.intp)
    driver[target >> 1] = instance
    joined = np.unique(np.stack((driver[source >> 1], instance))[:, ~inside], axis=1)
    before, after = joined[:, joined[0] >= 0]
    starts = np.searchsorted(before, np.arange(count + 1))
    waiting = np.bincount(after, minlength=count)
    level = np.zeros(count, np.intp)
    ready = np.flatnonzero(waiting == 0)
    number = 0
    while len(ready):
        level[ready] = number
        number += 1
        lengths = starts[ready + 1] - starts[ready]
        offsets = np.repeat(starts[ready] - np.cumsum(lengths) + lengths, lengths)
        reached = after[offsets + np.arange(len(offsets))]
        np.subtract.at(waiting, reached, 1)
        ready = np.unique(reached[waiting[reached] == 0])
    if np.any(waiting > 0):
        raise _loop(netlist, before, after, waiting > 0)
    return level


def _loop(netlist: Netlist, before: Numbers, after: Numbers, left: NDArray[np.bool_]) -> StudyError:
    """Return what to say of a loop: go back from an instance that waits until one comes again."""
    among = left[before] & left[after]
    needs = dict(zip(after[among].tolist(), before[among].tolist(), strict=True))
    at, seen = int(np.flatnonzero(left)[0]), dict[int, None]()
    while at not in seen:
        seen[at] = None
        at = needs[at]
    order = list(seen)
    loop = order[order.index(at) :][::-1]
    first = loop.index(min(loop))
    names = [netlist.instances[i].name for i in (*loop[first:], *loop[:first])]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    written = " -> ".join([*names[:MOST_NAMED], *more, names[0]])
    rule, remedy = "logic forms a loop without a flip-flop", "put a register in it"
    return StudyError([Fault(netlist.top, written, rule, remedy)])

"""Evaluating designs with a tape, in numpy: some thousand at a time, so that they stay in cache."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.matrices import rounded
from dse.model.space import Block, Boxes, Points, blocks
from dse.model.tape.layout import Call, Layout, Table

AT_ONCE = 8_192
"""Designs evaluated at once: 64 KiB for each value."""

READ, LOOP = 8, 40
"""What it takes to read a value off a table, and to begin a loop, in additions of two numbers."""

Step = tuple[Call | None, int, tuple[int, ...]]
"""What makes a value, None for a table; which value; and those that are not needed afterwards."""


@dataclass(frozen=True)
class Results:
    """Losses (m, n) and violations (k, n) of designs, and whether they are feasible (n,).

    Attributes
    ----------
    loss, violation
        One row each; losses are rounded.
    feasible
        Whether a design meets every constraint.
    suspect
        Whether a number of any design may be none.
    """

    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    feasible: NDArray[np.bool_]
    suspect: bool


class Running:
    """Evaluates parts of what is asked for, one after the other.

    Values that depend on none of the axes that vary from part to part are kept.
    """

    def __init__(self, layout: Layout, varied: int) -> None:
        """Begin with what is known."""
        self._layout = layout
        self._values = dict(layout.known)
        if varied not in layout.cache:
            layout.cache[varied] = _divided(layout, varied)
        self._once, self._each = layout.cache[varied]

    def run(self, positions: Sequence[Any]) -> list[Any]:
        """Return the outputs for designs at some positions."""
        values, tables = self._values, self._layout.tables
        places: dict[int, Any] = {}
        for call, node, last in (*self._once, *self._each):
            if call is None:
                values[node] = _read(tables[node], positions, places)
                continue
            values[node] = call.function(*[values[one] for one in call.arguments])
            for one in last:
                del values[one]
        self._once = []
        return [values[one] for one in self._layout.outputs]


def _divided(layout: Layout, varied: int) -> tuple[list[Step], list[Step]]:
    """Return the steps that make what no part changes, and those that each part takes."""
    every = _in_order(layout)
    changing = {
        node
        for call, node in every
        if (call.axes if call else layout.tables[node].axes) & varied
    }
    once: list[Step] = [(call, node, ()) for call, node in every if node not in changing]
    kept = {*layout.known, *layout.outputs, *(node for _, node, _ in once)}
    each: list[Step] = []
    for call, node in reversed(every):
        if node in changing:
            arguments = call.arguments if call else ()
            last = tuple(one for one in dict.fromkeys(arguments) if one not in kept)
            kept.update(last)
            each.append((call, node, last))
    return once, each[::-1]


def _in_order(layout: Layout) -> list[tuple[Call | None, int]]:
    """Return the steps of a layout: tables are read when they are needed."""
    found: list[tuple[Call | None, int]] = []
    unread = set(layout.tables)
    for call in layout.calls:
        new = [one for one in dict.fromkeys(call.arguments) if one in unread]
        found += [(None, one) for one in new]
        unread.difference_update(new)
        found.append((call, call.node))
    return found + [(None, one) for one in sorted(unread)]


def _read(table: Table, positions: Sequence[Any], places: dict[int, Any]) -> Any:
    """Return the values of a table; `places` are those of tables on the same axes."""
    if table.axes not in places:
        found = 0
        for axis, stride in table.strides:
            found = found + (positions[axis] * stride if stride > 1 else positions[axis])
        places[table.axes] = found
    return table.values.take(places[table.axes])


def evaluated(layout: Layout, points: Points) -> Results:
    """Return losses, violations and feasibility of designs.

    Raises
    ------
    EvaluationError
        When a function that is called with columns fails.
    """
    goals, rules = len(layout.tape.loss), len(layout.tape.violation)
    count = len(points)
    loss, violation = np.empty((goals, count)), np.empty((rules, count))
    feasible = np.empty(count, dtype=bool)
    suspect = False
    varied, shape, parts = _parts(layout, points)
    running = Running(layout, varied)
    views = [matrix.reshape(-1, *shape) for matrix in (loss, violation, feasible)]
    with np.errstate(all="ignore"):
        for where, part_shape, positions in parts:
            found = running.run(positions)
            losses, rest = found[: 2 * goals], found[2 * goals :]
            own = [view[(slice(None), *where)] for view in views]
            own = [view.reshape(-1, *part_shape) for view in own]
            finite = _fill(own[0], losses[:goals], losses[goals:])
            for row, column in zip(own[1], rest[:rules], strict=True):
                row[...] = column
            own[2][0] = rest[rules]
            suspect = suspect or bool(np.any(rest[rules + 1]))
            suspect = suspect or not (finite or np.isfinite(own[0][:, own[2][0]]).all())
    return Results(loss, violation, feasible, suspect)


def _fill(rows: NDArray[np.float64], loss: Sequence[Any], split: Sequence[Any]) -> bool:
    """Write rounded losses down; return whether all are finite."""
    finite = True
    for row, exact, column in zip(rows, loss, split, strict=True):
        if math.isnan(np.max(column)):
            finite = False
            row[...] = rounded(np.asarray(exact))
        else:
            row[...] = column
    return finite


Part = tuple[tuple[Any, ...], tuple[int, ...], Sequence[Any]]
"""Where some designs are among all, the shape in which they are computed, and their positions."""


def _parts(layout: Layout, points: Points) -> tuple[int, tuple[int, ...], Iterator[Part]]:
    """Return which axes vary from part to part, the shape of all designs, and the parts."""
    every = (1 << len(layout.space.sizes)) - 1
    if isinstance(points, Block):
        first = next(blocks(points.shape, AT_ONCE))
        varied = sum(
            1 << axis
            for axis, (own, whole) in enumerate(zip(first.shape, points.shape, strict=True))
            if own < whole
        )
        return varied, (len(points),), _of_block(layout, points)
    if isinstance(points, Boxes):
        inside = math.prod(points.steps)
        return every, (inside, len(points.corners)), _of_boxes(points, inside)
    return every, (len(points),), _of_rows(points)


def _of_rows(index: NDArray[np.int64]) -> Iterator[Part]:
    for first in range(0, len(index), AT_ONCE):
        where = slice(first, first + AT_ONCE)
        positions = np.ascontiguousarray(index[where].T)
        yield (where,), positions.shape[1:], positions


def _of_boxes(boxes: Boxes, inside: int) -> Iterator[Part]:
    """Yield boxes: designs inside a box in the first dimension, boxes in the second."""
    offsets = np.unravel_index(np.arange(inside), boxes.steps)
    step = max(1, AT_ONCE // inside)
    for first in range(0, len(boxes.corners), step):
        corners = np.ascontiguousarray(boxes.corners[first : first + step].T)
        positions = [
            corner if size == 1 else corner + offset[:, np.newaxis]
            for corner, offset, size in zip(corners, offsets, boxes.steps, strict=True)
        ]
        where = (slice(None), slice(first, first + step))
        yield where, (inside, corners.shape[1]), positions


def _of_block(layout: Layout, block: Block) -> Iterator[Part]:
    """Yield parts of a block that are ranges of it; axes that go together share a dimension."""
    done, shape, inside = 0, (0,), []
    for inner in blocks(block.shape, AT_ONCE):
        if inner.shape != shape or not inside:
            shape = inner.shape
            if shape not in layout.cache:
                groups = grouped(layout, shape)
                layout.cache[shape] = groups, _inside(shape, groups)
            groups, inside = layout.cache[shape]
        sizes = tuple(math.prod(shape[first:last]) for first, last in groups)
        firsts = [a + b for (a, _), (b, _) in zip(block.ranges, inner.ranges, strict=True)]
        positions = [first + place for first, place in zip(firsts, inside, strict=True)]
        yield (slice(done, done + len(inner)),), sizes, positions
        done += len(inner)


def _inside(shape: Sequence[int], groups: Sequence[tuple[int, int]]) -> list[NDArray[np.int64]]:
    """Return the positions on each axis inside a block, in a shape that broadcasts."""
    found = []
    for place, (first, last) in enumerate(groups):
        sizes = shape[first:last]
        flat = np.unravel_index(np.arange(math.prod(sizes)), sizes) if sizes else ()
        own = [-1 if other == place else 1 for other in range(len(groups))]
        found += [part.reshape(own) for part in flat]
    return found


def grouped(layout: Layout, shape: Sequence[int]) -> list[tuple[int, int]]:
    """Return ranges of axes that share a dimension, so that a block of `shape` takes least work.

    Fewer dimensions make longer loops, more dimensions keep apart what depends on few axes.
    """
    calls = Counter(call.axes for call in layout.calls)
    reads = Counter(table.axes for table in layout.tables.values())
    groups = [(axis, axis + 1) for axis in range(len(shape))]

    def work(some: Sequence[tuple[int, int]]) -> float:
        sizes = [math.prod(shape[first:last]) for first, last in some]
        bits = [(1 << last) - (1 << first) for first, last in some]
        total = 0.0
        for counts, weight in ((calls, 1), (reads, READ)):
            for axes, number in counts.items():
                own = [size for size, bit in zip(sizes, bits, strict=True) if axes & bit]
                values = math.prod(own)
                total += number * (weight * values + LOOP * values / (own[-1] if own else 1))
        return total

    best = work(groups)
    while len(groups) > 1:
        merged = [
            [*groups[:place], (groups[place][0], groups[place + 1][1]), *groups[place + 2 :]]
            for place in range(len(groups) - 1)
        ]
        least, place = min((work(one), place) for place, one in enumerate(merged))
        if least > best:
            break
        best, groups = least, merged[place]
    return groups

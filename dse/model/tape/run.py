"""Evaluating designs with a tape, in numpy: some thousand at a time, in buffers that are kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import rounded
from dse.model.space import Block, Boxes, Points, blocks
from dse.model.tape.layout import Layout, Operation, Table

AT_ONCE = 32_768
"""Designs evaluated at once: 256 KiB for each value, some 20 of which are needed at a time."""

READ, LOOP = 8, 20
"""What it takes to read a value off a table, and to begin a loop, in additions of two numbers."""

Groups = tuple[tuple[int, int], ...]
"""Ranges of axes: the first of each, and the first after it."""

Kind = tuple[tuple[int, ...], np.dtype[Any]]
"""Shape and type of an array."""

Step = tuple[Operation | None, int, tuple[int, ...], NDArray[Any] | None]
"""What makes a value (None: a table), which, what is not needed afterwards, and a buffer for it."""


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
    """Evaluates parts of what is requested, one after the other.

    Values that depend on none of the axes that vary from part to part are kept.
    """

    def __init__(self, layout: Layout, varied: int) -> None:
        """Begin with what is known."""
        self._layout = layout
        self._values = dict(layout.known)
        self._varied = varied
        self._once, self._each = layout.kept(varied, lambda: _divided(layout, varied))

    def run(self, positions: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
        """Return the outputs for designs at some positions; they last until the next call."""
        places: dict[int, Any] = {}
        self._make(self._once, positions, places)
        self._once = []
        key = (self._varied, shape, *(one.shape for one in positions))
        if key in self._layout.cache:
            self._make(self._layout.cache[key], positions, places)
        else:
            made = self._make(self._each, positions, places)
            if 2 * math.prod(shape) > AT_ONCE:
                self._layout.kept(key, lambda: _buffered(self._each, made))
        return [self._values[one] for one in self._layout.outputs]

    def _make(
        self, steps: Sequence[Step], positions: Sequence[Any], places: dict[int, Any]
    ) -> list[Kind]:
        """Take steps; return what kind of array each made."""
        values, tables = self._values, self._layout.tables
        kinds = []
        for call, node, last, out in steps:
            if call is None:
                made = _read(tables[node], positions, places, out)
            else:
                given = [values[one] for one in call.arguments]
                made = call.function(*given) if out is None else call.function(*given, out=out)
            values[node] = made
            kinds.append((np.shape(made), made.dtype))
            for one in last:
                del values[one]
        return kinds


def _buffered(steps: Sequence[Step], kinds: Sequence[Kind]) -> list[Step]:
    """Return steps that write into buffers, which are used again for what comes later."""
    free: dict[Kind, list[Any]] = {}
    used: dict[int, tuple[Kind, Any]] = {}
    found = []
    for (call, node, last, _), kind in zip(steps, kinds, strict=True):
        out = None
        if call is None or isinstance(call.function, np.ufunc):
            left = free.setdefault(kind, [])
            out = left.pop() if left else np.empty(*kind)
            used[node] = kind, out
        found.append((call, node, last, out))
        for one in last:
            if one in used:
                own, buffer = used.pop(one)
                free[own].append(buffer)
    return found


def _divided(layout: Layout, varied: int) -> tuple[list[Step], list[Step]]:
    """Return the steps that make what no part changes, and those that each part takes."""
    every = _in_order(layout)
    changing = {
        node for call, node in every if (call.axes if call else layout.tables[node].axes) & varied
    }
    once: list[Step] = [(call, node, (), None) for call, node in every if node not in changing]
    kept = {*layout.known, *layout.outputs, *(step[1] for step in once)}
    each: list[Step] = []
    for call, node in reversed(every):
        if node in changing:
            arguments = call.arguments if call else ()
            last = tuple(one for one in dict.fromkeys(arguments) if one not in kept)
            kept.update(last)
            each.append((call, node, last, None))
    return once, each[::-1]


def _in_order(layout: Layout) -> list[tuple[Operation | None, int]]:
    """Return the steps of a layout: tables are read when they are needed."""
    found: list[tuple[Operation | None, int]] = []
    unread = set(layout.tables)
    for call in layout.calls:
        new = [one for one in dict.fromkeys(call.arguments) if one in unread]
        found += [(None, one) for one in new]
        unread.difference_update(new)
        found.append((call, call.node))
    return found + [(None, one) for one in sorted(unread)]


def _read(
    table: Table, positions: Sequence[Any], places: dict[int, Any], out: NDArray[Any] | None
) -> Any:
    """Return the values of a table; `places` are those of tables on the same axes."""
    if table.axes not in places:
        found = 0
        for axis, stride in table.strides:
            found = found + (positions[axis] * stride if stride > 1 else positions[axis])
        places[table.axes] = found
    if out is None:
        return table.values.take(places[table.axes])
    return table.values.take(places[table.axes], out=out, mode="clip")  # without a copy


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
    matrices = (loss, violation, feasible[np.newaxis])
    views = [matrix.reshape(len(matrix), *shape) for matrix in matrices]
    with np.errstate(all="ignore"):
        for where, part_shape, positions in parts:
            found = running.run(positions, part_shape)
            losses, rest = found[: 2 * goals], found[2 * goals :]
            own = [view[(slice(None), *where)] for view in views]
            own = [view.reshape(len(view), *part_shape) for view in own]
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


Part = tuple[tuple[Any, ...], tuple[int, ...], Any]
"""Where some designs are among all, the shape in which they are computed, and their positions."""


def _parts(layout: Layout, points: Points) -> tuple[int, tuple[int, ...], Iterator[Part]]:
    """Return which axes vary from part to part, the shape of all designs, and the parts."""
    every = (1 << len(layout.space.sizes)) - 1
    if isinstance(points, Block):
        shape = next(blocks(points.shape, AT_ONCE)).shape
        groups = layout.kept((shape,), partial(grouped, layout, shape))
        varied = 0
        for first, last in groups:  # axes vary together where they share a dimension
            if shape[first:last] != points.shape[first:last]:
                varied |= (1 << last) - (1 << first)
        return varied, (len(points),), _of_block(layout, points, groups)
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


def _of_block(layout: Layout, block: Block, groups: Groups) -> Iterator[Part]:
    """Yield parts of a block that are ranges of it; axes of a group share a dimension."""
    done = 0
    for inner in blocks(block.shape, AT_ONCE):
        inside = layout.kept((groups, inner.shape), partial(_inside, inner.shape, groups))
        sizes = tuple(math.prod(inner.shape[first:last]) for first, last in groups)
        firsts = [a + b for (a, _), (b, _) in zip(block.ranges, inner.ranges, strict=True)]
        positions = [first + place for first, place in zip(firsts, inside, strict=True)]
        yield (slice(done, done + len(inner)),), sizes, positions
        done += len(inner)


def _inside(shape: Sequence[int], groups: Groups) -> list[NDArray[np.int64]]:
    """Return the positions on each axis inside a block, in a shape that broadcasts."""
    found: list[NDArray[np.int64]] = []
    for place, (first, last) in enumerate(groups):
        sizes = shape[first:last]
        flat = np.unravel_index(np.arange(math.prod(sizes)), sizes) if sizes else ()
        own = [-1 if other == place else 1 for other in range(len(groups))]
        found += [part.reshape(own) for part in flat]
    return found


def grouped(layout: Layout, shape: Sequence[int]) -> Groups:
    """Return ranges of axes that share a dimension, so that a block of `shape` takes least work.

    Fewer dimensions make longer loops, more dimensions keep apart what depends on few axes.
    """
    counts = Counter((call.axes, 1) for call in layout.calls)
    counts.update((table.axes, READ) for table in layout.tables.values())
    starts = [0, *(axis for axis, size in enumerate(shape) if size > 1 and axis)]
    groups: Groups = tuple(zip(starts, [*starts[1:], len(shape)], strict=True))
    least = _work(counts, shape, groups)
    while len(groups) > 1:
        merged = [
            (*groups[:place], (groups[place][0], groups[place + 1][1]), *groups[place + 2 :])
            for place in range(len(groups) - 1)
        ]
        best = min(merged, key=lambda some: _work(counts, shape, some))
        if _work(counts, shape, best) > least:
            break
        least, groups = _work(counts, shape, best), best
    return groups


def _work(
    counts: Mapping[tuple[int, int], int],
    shape: Sequence[int],
    groups: Groups,
) -> float:
    """Return about how long values take, of which `counts` tells axes and weights."""
    sizes = [math.prod(shape[first:last]) for first, last in groups]
    bits = [(1 << last) - (1 << first) for first, last in groups]
    total = 0.0
    for (axes, weight), number in counts.items():
        own = [size for size, bit in zip(sizes, bits, strict=True) if axes & bit]
        values = math.prod(own)
        total += number * (weight * values + LOOP * values / (own[-1] if own else 1))
    return total

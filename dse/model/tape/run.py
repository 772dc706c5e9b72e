"""Evaluating designs with a tape, in numpy: some thousand at a time, so that they stay in cache."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.space import Block, Boxes, Points, blocks
from dse.model.tape.layout import Layout, Table

AT_ONCE = 8_192
"""Designs evaluated at once: 64 KiB for each value."""

LONG = 64
"""Designs that differ in the last axes only are worth a dimension of their own from here on."""

Positions = Mapping[int, Any]
"""Where designs are on each axis, in shapes that broadcast."""


@dataclass(frozen=True)
class Part:
    """Some designs: their places among all that are asked for, and on each axis.

    Attributes
    ----------
    where
        Selects their places, in an array of the shape that `shape` gives the results.
    positions
        On each axis.
    """

    where: Any
    positions: Any


@dataclass(frozen=True)
class Results:
    """Losses (m, n) and violations (k, n) of designs, and flags (n,).

    Attributes
    ----------
    loss, violation
        One row each.
    feasible
        Whether a design meets every constraint.
    suspect
        Whether some number of any design may be none.
    """

    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    feasible: NDArray[np.bool_]
    suspect: bool


def evaluated(layout: Layout, points: Points) -> Results:
    """Return losses, violations and flags of designs.

    Raises
    ------
    EvaluationError
        When a function that is called with columns fails.
    """
    shape, parts = _parts(points)
    goals, rules = len(layout.tape.loss), len(layout.tape.violation)
    count = math.prod(shape)
    loss, violation = np.empty((goals, *shape)), np.empty((rules, *shape))
    feasible = np.empty(shape, dtype=bool)
    suspect = False
    with np.errstate(all="ignore"):
        for part in parts:
            values = computed(layout, part.positions)
            found = [values[one] for one in layout.outputs]
            for row in range(goals):
                loss[row][part.where] = found[row]
            for row in range(rules):
                violation[row][part.where] = found[goals + row]
            feasible[part.where] = found[-2]
            suspect = suspect or bool(np.any(found[-1]))
    return Results(
        loss.reshape(goals, count), violation.reshape(rules, count), feasible.ravel(), suspect
    )


def computed(layout: Layout, positions: Any) -> dict[int, Any]:
    """Return the outputs, among other values, of designs at some positions."""
    reader = Reader(layout.tables, positions)
    values: dict[int, Any] = dict(layout.known)
    for call in layout.calls:
        given = [
            values[one] if one in values else values.setdefault(one, reader.read(one))
            for one in call.arguments
        ]
        values[call.node] = call.function(*given)
        for one in call.last:
            del values[one]
    for one in layout.outputs:
        if one not in values:
            values[one] = reader.read(one)
    return values


class Reader:
    """Reads tables at the positions of designs."""

    def __init__(self, tables: Mapping[int, Table], positions: Any) -> None:
        """Read at `positions`."""
        self._tables, self._positions = tables, positions
        self._places: dict[tuple[int, ...], Any] = {}

    def read(self, node: int) -> Any:
        """Return the values of a node."""
        table = self._tables[node]
        if table.axes not in self._places:
            place = 0
            for axis, stride in zip(table.axes, table.strides, strict=True):
                place = place + self._positions[axis] * stride
            self._places[table.axes] = place
        return table.values.take(self._places[table.axes])


def _parts(points: Points) -> tuple[tuple[int, ...], Iterator[Part]]:
    """Return the shape of the results, and designs in parts."""
    if isinstance(points, Block):
        return (len(points),), _of_block(points)
    if isinstance(points, Boxes):
        inside = math.prod(points.steps)
        return (inside, len(points.corners)), _of_boxes(points, inside)
    return (len(points),), _of_rows(points)


def _of_rows(index: NDArray[np.int64]) -> Iterator[Part]:
    for first in range(0, len(index), AT_ONCE):
        where = slice(first, first + AT_ONCE)
        yield Part(where, np.ascontiguousarray(index[where].T))


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
        yield Part((slice(None), slice(first, first + step)), positions)


def _of_block(block: Block) -> Iterator[Part]:
    """Yield parts of a block that are ranges of it."""
    done = 0
    for inner in blocks(block.shape, AT_ONCE):
        count = len(inner)
        yield Part(slice(done, done + count), _along(block, inner))
        done += count


def _along(block: Block, inner: Block) -> list[Any]:
    shape = inner.shape
    flat = np.unravel_index(np.arange(len(inner)), shape) if shape else ()
    firsts = [a + b for (a, _), (b, _) in zip(block.ranges, inner.ranges, strict=True)]
    return [first + place for first, place in zip(firsts, flat, strict=True)]

"""Evaluating designs with a tape, in numpy: some thousand at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import Evaluation, rounded
from dse.model.space import Block, Boxes, Points, blocks
from dse.model.tape.layout import Layout

AT_ONCE = 32_768
"""Designs evaluated at once: 256 KiB for each value, some 20 of which are needed at a time."""

LONG = 64
"""Designs along the dimension that the last axes of a block share, at least."""

SHAPES = 32
"""Shapes of blocks of which positions are kept."""


def _make(layout: Layout, positions: Sequence[Any], values: dict[int, Any]) -> None:
    """Take the steps of a layout for designs at some positions: values are added, and dropped."""
    places: dict[int, Any] = {}  # of tables on the same axes
    for call, node, last in layout.steps:
        if call is None:
            table = layout.tables[node]
            if table.axes not in places:
                parts = (positions[axis] * stride for axis, stride in table.strides)
                places[table.axes] = sum(parts)
            values[node] = table.values.take(places[table.axes])
        else:
            values[node] = call.function(*[values[one] for one in call.arguments])
        for one in last:
            del values[one]


def evaluated(layout: Layout, points: Points) -> Evaluation:
    """Return losses and violations of designs, and which are feasible unless a number may be none.

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
    shape, parts = _parts(points)
    values, outputs = dict(layout.known), layout.outputs
    matrices = (loss, violation, feasible[np.newaxis])
    views = [matrix.reshape(len(matrix), *shape) for matrix in matrices]
    with np.errstate(all="ignore"):
        for where, part_shape, positions in parts:
            _make(layout, positions, values)
            found = [values[one] for one in outputs]
            losses, rest = found[: 2 * goals], found[2 * goals :]
            own = [view[(slice(None), *where)] for view in views]
            own = [view.reshape(len(view), *part_shape) for view in own]
            finite = _fill(own[0], losses[:goals], losses[goals:])
            for row, column in zip(own[1], rest[:rules], strict=True):
                row[...] = column
            own[2][0] = rest[rules]
            suspect = suspect or bool(np.any(rest[rules + 1]))
            suspect = suspect or not (finite or np.isfinite(own[0][:, own[2][0]]).all())
    known = None if suspect else feasible
    return Evaluation(points, loss.T, violation.T, np.zeros(count, dtype=bool), "", known)


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


def _parts(points: Points) -> tuple[tuple[int, ...], Iterator[Part]]:
    """Return the shape of all designs, and the parts."""
    if isinstance(points, Block):
        return (len(points),), _of_block(points)
    if isinstance(points, Boxes):
        inside = math.prod(points.steps)
        return (inside, len(points.corners)), _of_boxes(points, inside)
    return (len(points),), _of_rows(points)


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


def _of_block(block: Block) -> Iterator[Part]:
    """Yield parts of a block that are ranges of it; axes of a group share a dimension."""
    done = 0
    for inner in blocks(block.shape, AT_ONCE):
        firsts = [a + b for (a, _), (b, _) in zip(block.ranges, inner.ranges, strict=True)]
        sizes, inside = _inside(inner.shape)
        positions = [first + place for first, place in zip(firsts, inside, strict=True)]
        yield (slice(done, done + len(inner)),), sizes, positions
        done += len(inner)


@lru_cache(maxsize=SHAPES)
def _inside(shape: tuple[int, ...]) -> tuple[tuple[int, ...], list[NDArray[np.int64]]]:
    """Return the shape in which a block is computed, and the positions on each axis in it.

    The last axes share a dimension, which makes loops long; each other one has its own, so that
    what depends on few axes is computed once for all others.
    """
    first = len(shape)
    while first and math.prod(shape[first:]) < LONG:
        first -= 1
    sizes = (*shape[:first], math.prod(shape[first:]))
    own = np.indices(shape[:first], sparse=True) if first else ()
    found = [axis[..., np.newaxis] for axis in own]
    found += np.unravel_index(np.arange(sizes[-1]), shape[first:]) if first < len(shape) else ()
    return sizes, found

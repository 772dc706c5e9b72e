"""Columns of designs as matrices, and losses as they are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Objective
from dse.model.space import Points

SPLIT = 2.0**13 + 1.0
"""Factor that keeps 40 of the 53 significant bits of a number (Veltkamp)."""


def shape_of(points: Points) -> tuple[int, ...]:
    """Return the shape to which the columns of designs broadcast."""
    return (len(points),) if isinstance(points, np.ndarray) else points.shape or (1,)


def full_column(column: NDArray[Any], count: int) -> NDArray[Any]:
    """Return a column with a row for each of so many designs."""
    return column if column.shape == (count,) else np.broadcast_to(column, (count,))


def matrix_of(columns: Sequence[Column], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return columns that broadcast to `shape` as a matrix, one contiguous column each."""
    matrix = np.empty((len(columns), *shape))
    for position, column in enumerate(columns):
        matrix[position] = column
    return matrix.reshape(len(columns), math.prod(shape)).T


def distinct_rows(table: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each different row of a table (n, k) first stands, lower rows before higher.

    What ``numpy.unique`` finds along an axis, without its comparisons row by row.
    """
    order = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(table))
    ordered = table.take(order, axis=0)
    new = np.ones(len(table), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order[new]


def distinct(table: NDArray[Any]) -> NDArray[Any]:
    """Return the different rows of a table (n, k), lower ones first."""
    return table.take(distinct_rows(table), axis=0)


def rounded(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return losses at 40 of their 53 significant bits (1e-12), by Veltkamp's splitting.

    Equal quantities that were added up in different orders become equal losses, so that
    rounding neither adds designs to a front nor drops them; but for 5.5e-5 of such pairs (measured
    of random sums), which a boundary between two rounded numbers divides.  Then one design is
    better than its equal by 1e-12 and drops it, whoever searches: a loss is computed from a design
    alone, in one order, whatever others are beside it and whether by numpy or machine code, bit
    by bit, and what is put together or pruned from bounds is never compared without the slack of
    1e-9 nor put on a front unevaluated.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        carried = loss * SPLIT
        rounded = carried - (carried - loss)
    np.copyto(rounded, loss, where=~np.isfinite(carried))
    return rounded


def label_columns(
    quantities: Sequence[Objective], columns: Mapping[str, Column]
) -> dict[str, NDArray[Any]]:
    """Return `columns` of `quantities`, with codes replaced by their labels."""
    labelled: dict[str, NDArray[Any]] = {}
    for quantity in quantities:
        values = columns[quantity.name]
        if quantity.labels:
            codes = np.where(np.isfinite(values), values, 0).astype(np.int64)
            labelled[quantity.name] = np.array(quantity.labels, dtype=object)[codes]
        else:
            labelled[quantity.name] = values
    return labelled

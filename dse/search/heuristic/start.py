"""What samplers share: axes on their scales, finite violations, designs to begin with.

These are a coarse grid over the space, and its corners.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.contract import Index, Matrix
from dse.contract.methods import Axes
from dse.model.evaluation import distinct_rows

WORST = 1e12
"""Stands for an infinite violation, so that sums and differences of violations stay finite."""


class Scales:
    """The axes that have an order, as real numbers in [0, 1]."""

    def __init__(self, axes: Axes) -> None:
        """Keep where the values of each ordered axis lie."""
        found = [scale for scale in axes.coordinates if scale is not None]
        self.ordered: NDArray[np.bool_] = np.array(axes.ordered, dtype=bool)
        self._scales, self._sizes = found, np.array(axes.sizes)
        self._middles = [(scale[1:] + scale[:-1]) / 2 for scale in found]

    def coordinates(self, index: Index) -> Matrix:
        """Return the ordered axes of designs (..., d) as coordinates (..., k)."""
        result = np.empty((*index.shape[:-1], len(self._scales)))
        for place, axis in enumerate(np.flatnonzero(self.ordered)):
            result[..., place] = self._scales[place][index[..., axis]]
        return result

    def nearest(self, coordinates: Matrix) -> Index:
        """Return the positions (..., k) of the values nearest to coordinates (..., k)."""
        result = np.empty(coordinates.shape, dtype=np.int64)
        for place, middles in enumerate(self._middles):
            result[..., place] = np.searchsorted(middles, coordinates[..., place])
        return result

    def spread(self, shares: Matrix) -> Index:
        """Return designs (n, d) at shares of each axis, on its scale where it has an order."""
        rows: Index = np.floor(shares * self._sizes).astype(np.int64)
        rows[:, self.ordered] = self.nearest(shares[:, self.ordered])
        return rows


def clipped(violation: Matrix) -> Matrix:
    """Return violations, of any shape, of which none is infinite."""
    return np.clip(np.nan_to_num(violation, nan=WORST), -WORST, WORST)


def coarse_grid(axes: Axes, count: int) -> Index:
    """Return at most `count` distinct designs (n, d) that lie far apart, the same every time.

    The corners come first: all axes low, all high, and each axis alone at the other end.  The
    rest of `count` is a grid that gives every axis as many values as fit, evenly on its scale.
    """
    sizes = np.array(axes.sizes, dtype=np.int64)
    corners = _distinct(_corners(sizes))
    if len(corners) >= count:
        return corners[:count]
    levels = _levels(sizes, count - len(corners))
    grid = Scales(axes).spread((product(levels) + 0.5) / levels)  # at the middles of bins
    return _distinct(np.concatenate([corners, grid]))[:count]


def product(levels: NDArray[np.int64]) -> Index:
    """Return all rows of a product of ranges; numpy's own functions end at 64 axes."""
    count = np.arange(int(np.prod(levels)))[:, np.newaxis]
    rows: Index = count // (np.cumprod(levels) // levels) % levels
    return rows


def _distinct(rows: Index) -> Index:
    return rows[np.sort(distinct_rows(rows))]


def _corners(sizes: NDArray[np.int64]) -> Index:
    one = np.eye(len(sizes), dtype=bool)
    high = np.concatenate([np.zeros_like(one[:1]), np.ones_like(one[:1]), one, ~one])
    return np.where(high, sizes - 1, 0)


def _levels(sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return how many values each axis gets; one more for each in turn, while they fit."""
    levels = np.ones_like(sizes)
    growing = True
    while growing:
        growing = False
        for axis in range(len(sizes)):
            more = levels.copy()
            more[axis] += 1
            if more[axis] <= sizes[axis] and np.prod(more.astype(float)) <= count:
                levels, growing = more, True
    return levels

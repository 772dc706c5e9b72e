"""Axes on their scales, and finite violations, for samplers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Index, Matrix
from dse.contract.methods import Axes

WORST = 1e12
"""Replaces an infinite violation, so that sums and differences stay finite."""


class Scales:
    """The axes that have an order, as real numbers in [0, 1]."""

    def __init__(self, axes: Axes) -> None:
        """Keep the coordinates of each ordered axis."""
        self.ordered: NDArray[np.bool_] = np.array(axes.ordered, dtype=bool)
        self._scales = [scale for scale in axes.coordinates if scale is not None]
        self._sizes = np.array(axes.sizes)

    def coordinates(self, index: Index) -> Matrix:
        """Return the ordered axes of designs (..., d) as coordinates (..., k)."""
        result = np.empty((*index.shape[:-1], len(self._scales)))
        for place, axis in enumerate(np.flatnonzero(self.ordered)):
            result[..., place] = self._scales[place][index[..., axis]]
        return result

    def nearest(self, coordinates: Matrix) -> Index:
        """Return the positions (..., k) of the values nearest to coordinates (..., k)."""
        result = np.empty(coordinates.shape, dtype=np.int64)
        for place, scale in enumerate(self._scales):
            result[..., place] = nearest_positions(scale, coordinates[..., place])
        return result

    def spread(self, shares: Matrix) -> Index:
        """Return designs (n, d) at shares of each axis, on its scale if ordered."""
        rows: Index = np.floor(shares * self._sizes).astype(np.int64)
        rows[:, self.ordered] = self.nearest(shares[:, self.ordered])
        return rows


def nearest_positions(scale: Column, coordinates: NDArray[np.float64]) -> Index:
    """Return the positions of the values of a rising scale nearest to coordinates."""
    return np.searchsorted((scale[1:] + scale[:-1]) / 2, coordinates)


def clipped(violation: Matrix) -> Matrix:
    """Return finite violations, of any shape."""
    return np.clip(np.nan_to_num(violation, nan=WORST), -WORST, WORST)

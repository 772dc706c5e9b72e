"""A uniform sample of designs that does not depend on the order in which they come."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dse.space import Block, Index, as_index


class Sample:
    """A uniform sample of the designs added, the same whatever the batches and their order.

    A design is kept when a hash of its position lies under a threshold, which halves whenever
    more than `limit` designs are kept.
    """

    def __init__(self, sizes: tuple[int, ...], limit: int) -> None:
        """Start empty, for designs of a space whose axes have `sizes` values."""
        self.index: Index = np.empty((0, len(sizes)), dtype=np.int64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._limit = limit
        self._threshold = np.uint64(2**64 - 1)
        strides = [math.prod(sizes[axis + 1 :]) % 2**64 for axis in range(len(sizes))]
        self._strides = np.array(strides, dtype=np.uint64)

    def add(self, points: Index | Block, chosen: NDArray[np.bool_]) -> None:
        """Add the designs `points[chosen]`."""
        if isinstance(points, Block):
            positions = np.arange(len(points), dtype=np.uint64) + np.uint64(points.start % 2**64)
        else:
            positions = points.astype(np.uint64) @ self._strides
        hashes = _mixed(positions)
        rows = np.flatnonzero((hashes <= self._threshold) & chosen)
        if not len(rows):
            return
        self.index = np.concatenate([self.index, as_index(points, rows)])
        self._hashes = np.concatenate([self._hashes, hashes[rows]])
        while len(self.index) > self._limit:
            self._threshold >>= np.uint64(1)
            kept = self._hashes <= self._threshold
            self.index, self._hashes = self.index[kept], self._hashes[kept]


def _mixed(position: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return well mixed hashes: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    position = position + np.uint64(0x9E3779B97F4A7C15)
    position = (position ^ (position >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    position = (position ^ (position >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return position ^ (position >> np.uint64(31))

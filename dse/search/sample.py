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

    def __init__(self, axes: int, limit: int) -> None:
        """Start empty, for designs with a number of `axes`."""
        self.index: Index = np.empty((0, axes), dtype=np.int64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._limit = limit
        self._threshold = np.uint64(2**64 - 1)

    def add(
        self, points: Index | Block, hashes: NDArray[np.uint64], chosen: NDArray[np.bool_]
    ) -> None:
        """Add the designs `points[chosen]`; `hashes` are those of `points`."""
        rows = np.flatnonzero((hashes <= self._threshold) & chosen)
        if not len(rows):
            return
        self.index = np.concatenate([self.index, as_index(points, rows)])
        self._hashes = np.concatenate([self._hashes, hashes[rows]])
        while len(self.index) > self._limit:
            self._threshold >>= np.uint64(1)
            kept = self._hashes <= self._threshold
            self.index, self._hashes = self.index[kept], self._hashes[kept]


def hashes(points: Index | Block, sizes: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return a hash of each design's position in the space, shape (n,)."""
    if isinstance(points, Block):
        return _mixed(np.arange(len(points), dtype=np.uint64) + np.uint64(points.start % 2**64))
    strides = [math.prod(sizes[axis + 1 :]) % 2**64 for axis in range(len(sizes))]
    return _mixed(points.astype(np.uint64) @ np.array(strides, dtype=np.uint64))


def _mixed(position: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return well mixed hashes: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    position = position + np.uint64(0x9E3779B97F4A7C15)
    position = (position ^ (position >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    position = (position ^ (position >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return position ^ (position >> np.uint64(31))

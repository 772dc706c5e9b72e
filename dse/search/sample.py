"""A uniform sample of designs that does not depend on the order in which they come."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dse.model.space import Block, Index, Points, as_index

Hashes = NDArray[np.uint32]


class Sample:
    """A uniform sample of the designs added, the same whatever the batches and their order.

    A design is kept while its hash is at most a threshold, which halves whenever more than
    `limit` designs are kept.
    """

    def __init__(self, sizes: tuple[int, ...], limit: int) -> None:
        """Start empty."""
        self._axes = len(sizes)
        self._limit = limit
        self._threshold = np.uint32(2**32 - 1)
        self._parts: list[tuple[Index, Hashes]] = []
        self._kept = 0

    @property
    def index(self) -> Index:
        """The designs of the sample, (n, d), in the order in which they came."""
        none: Index = np.empty((0, self._axes), dtype=np.int64)
        return np.concatenate([none, *(index for index, _ in self._parts)])

    def add(self, points: Points, hashes: Hashes, chosen: NDArray[np.bool_]) -> None:
        """Add the designs `points[chosen]`, with the hashes of all `points`."""
        rows = np.flatnonzero((hashes <= self._threshold) & chosen)
        if not len(rows):
            return
        new = hashes[rows]
        while self._kept + len(rows) > self._limit:
            self._threshold >>= np.uint32(1)
            self._parts = [_below(self._threshold, *part) for part in self._parts]
            self._kept = sum(len(kept) for _, kept in self._parts)
            rows, new = _below(self._threshold, rows, new)
        self._kept += len(rows)
        self._parts.append((as_index(points, rows), new))


def _below(threshold: np.uint32, designs: Index, hashes: Hashes) -> tuple[Index, Hashes]:
    kept = np.flatnonzero(hashes <= threshold)
    return designs.take(kept, axis=0), hashes.take(kept)


def hashes(points: Points, sizes: tuple[int, ...]) -> Hashes:
    """Return a hash of each design, shape (n,): the sum of a hash of each of its positions.

    Simple tabulation hashing: any three designs are independent (Patrascu and Thorup, "The
    Power of Simple Tabulation Hashing", J. ACM 2012).  Sums broadcast like columns.
    """
    tables = [_table(size, axis) for axis, size in enumerate(sizes)]
    if isinstance(points, Block):
        parts = np.ix_(*(t[f : f + n] for t, (f, n) in zip(tables, points.ranges, strict=True)))
    else:
        parts = tuple(t.take(points[:, axis]) for axis, t in enumerate(tables))
    shape = (points.shape or (1,)) if isinstance(points, Block) else (len(points),)
    # short ones first: only the last sum is as long as all designs
    total = sum(sorted(parts, key=np.size), start=np.zeros(1, dtype=np.uint32))
    return np.broadcast_to(total, shape).reshape(-1)


@lru_cache(maxsize=64)
def _table(size: int, axis: int) -> Hashes:
    """Return a hash of each position: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = np.arange(size, dtype=np.uint64) + np.uint64((axis + 2) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)).astype(np.uint32)

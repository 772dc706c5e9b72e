"""A uniform sample of designs that does not depend on the order in which they come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.space import Block, Boxes, Index, Points, as_index

Hashes = NDArray[np.uint32]


class Sample:
    """A uniform sample of the designs added, the same whatever the batches and their order.

    A design is kept when a hash of its position lies under a threshold, which halves whenever
    more than `limit` designs are kept.
    """

    def __init__(self, axes: int, limit: int) -> None:
        """Start empty, for designs with a number of `axes`."""
        none: Index = np.empty((0, axes), dtype=np.int64)
        self._parts = [(none, np.empty(0, dtype=np.uint32))]
        self._kept = 0
        self._limit = limit
        self._threshold = np.uint32(2**32 - 1)

    @property
    def index(self) -> Index:
        """The designs kept, (n, d)."""
        return np.concatenate([index for index, _ in self._parts])

    def add(
        self,
        points: Points,
        hashes: Hashes,
        chosen: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add the designs `points[chosen]`, or all; `hashes` are those of `points`."""
        low = hashes <= self._threshold
        rows = np.flatnonzero(low if chosen is None else low & chosen)
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


def _below(
    threshold: np.uint32, designs: Index, hashes: Hashes
) -> tuple[Index, Hashes]:
    kept = hashes <= threshold
    return designs[kept], hashes[kept]


def hashes(points: Points, axes: int) -> Hashes:
    """Return a hash of each design, shape (n,): the sum of a hash of each of its positions.

    Simple tabulation hashing: any three designs are independent (Patrascu and Thorup, "The
    Power of Simple Tabulation Hashing", J. ACM 2012).  Sums broadcast like columns.
    """
    parts = sorted((_part(points, axis, axes) for axis in range(axes)), key=np.size)
    total = np.zeros(1, dtype=np.uint32)
    for part in parts:  # short ones first: only the last sum is as long as all designs
        total = total + part
    shape = (len(points),) if isinstance(points, np.ndarray) else points.shape or (1,)
    return np.broadcast_to(total, shape).reshape(-1)


def _part(points: Points, axis: int, axes: int) -> Hashes:
    """Return the hashes of the positions on one axis, in a shape that broadcasts."""
    if isinstance(points, Block):
        first, count = points.ranges[axis]
        shape = tuple(count if other == axis else 1 for other in range(axes))
        return _mixed(np.arange(first, first + count), axis).reshape(shape)
    if isinstance(points, Boxes):
        return _mixed(points.along(axis), axis)
    return _mixed(points[:, axis], axis)


def _mixed(position: Index, axis: int) -> Hashes:
    """Return a hash of each position; each of the few that there are is mixed once."""
    last = int(position.max(initial=0))
    if last < position.size:
        return _mixed_alone(np.arange(last + 1), axis)[position]
    return _mixed_alone(position, axis)


def _mixed_alone(position: Index, axis: int) -> Hashes:
    """Return well mixed hashes: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = position.astype(np.uint64) + np.uint64((axis + 2) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)).astype(np.uint32)

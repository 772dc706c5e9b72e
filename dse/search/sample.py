"""A uniform sample of designs that does not depend on the order in which they come."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dse.model.space import Block, Boxes, Index, Points, as_index

Hashes = NDArray[np.uint32]
TOP = np.uint32(2**32 - 1)


_FIRST = 64
"""Positions on an axis whose hashes are kept."""

_LISTED = 3
WORTH_LISTING = 400
"""In a space of at least `WORTH_LISTING` designs per design of the sample, designs are added one
by one only until a list of `_LISTED` times the sample is sure to hold all of it."""


class Sample:
    """A uniform sample of the designs added, the same whatever the batches and their order.

    A design is kept when a hash of its position lies under a threshold, which halves whenever
    more than `limit` designs are kept.  Where every design of a space is going to be evaluated or
    pruned, the sample is in the end read off the list of all designs with a small hash.
    """

    def __init__(self, sizes: tuple[int, ...], limit: int, *, every: bool = False) -> None:
        """Start empty; `every`: each design of the space is going to be evaluated or pruned."""
        self._sizes = sizes
        self._limit = limit
        self._threshold = TOP
        self._parts: list[tuple[Index, Hashes]] = []
        self._kept = 0
        self._listed = np.uint32(0)
        if every and math.prod(sizes) >= WORTH_LISTING * limit:
            bits = (math.prod(sizes) // (_LISTED * limit)).bit_length()
            self._listed = TOP >> np.uint32(bits) if bits < 32 else np.uint32(0)

    @property
    def complete(self) -> bool:
        """Whether the sample is already determined, so that nothing need be added."""
        return bool(self._threshold <= self._listed)

    def index(self, belongs: Callable[[Index], NDArray[np.bool_]]) -> Index:
        """Return the designs of the sample, (n, d); `belongs` says which designs may be in it."""
        if self.complete:
            designs, found = smallest(self._sizes, self._listed)
            mine = belongs(designs)
            designs, found = designs[mine], found[mine]
            while len(designs) > self._limit:
                self._listed >>= np.uint32(1)
                designs, found = _below(self._listed, designs, found)
            return designs
        none: Index = np.empty((0, len(self._sizes)), dtype=np.int64)
        return np.concatenate([none, *(index for index, _ in self._parts)])

    def add(self, points: Points, hashes: Hashes, chosen: NDArray[np.bool_] | None = None) -> None:
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


def _below(threshold: np.uint32, designs: Index, hashes: Hashes) -> tuple[Index, Hashes]:
    kept = np.flatnonzero(hashes <= threshold)
    return designs.take(kept, axis=0), hashes.take(kept)


def smallest(sizes: tuple[int, ...], threshold: np.uint32) -> tuple[Index, Hashes]:
    """Return all designs whose hash is at most `threshold`, and their hashes.

    A hash is a sum over the axes, so that each choice on one half of them is met by a range of
    the sorted sums of the other half.
    """
    cut = min(range(len(sizes)), key=lambda a: math.prod(sizes[:a]) + math.prod(sizes[a:]))
    free = [tuple((0, size) for size in sizes), tuple((0, 1) for _ in sizes)]
    left = Block(sizes, free[0][:cut] + free[1][cut:])
    right = Block(sizes, free[1][:cut] + free[0][cut:])
    first = hashes(Block(sizes, free[1]), len(sizes))  # of the design at 0, which both sums hold
    wanted = first - hashes(left, len(sizes))
    sums = hashes(right, len(sizes))
    order = np.argsort(sums)
    start = np.searchsorted(sums[order], wanted)
    stop = np.searchsorted(sums[order], wanted + threshold, side="right")
    counts = stop - start + np.where(wanted + threshold < wanted, len(order), 0)
    row = np.repeat(np.arange(len(wanted)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts) + start[row]
    match = order[place % len(order)]
    return as_index(left, row) + as_index(right, match), sums[match] - wanted[row]


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
    if last < _FIRST:
        return _first_mixed(axis).take(position)
    if last < position.size:
        return _mixed_alone(np.arange(last + 1), axis)[position]
    return _mixed_alone(position, axis)


@lru_cache(maxsize=1_024)
def _first_mixed(axis: int) -> Hashes:
    """Return the hashes of the first positions on an axis."""
    return _mixed_alone(np.arange(_FIRST), axis)


def _mixed_alone(position: Index, axis: int) -> Hashes:
    """Return well mixed hashes: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = position.astype(np.uint64) + np.uint64((axis + 2) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)).astype(np.uint32)

"""The designs that are compared for a batch: all that are left, or some that are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.contract import Index, Search
from dse.model.evaluation import distinct, distinct_rows
from dse.search.expensive.features import Features


class Whole:
    """All designs of a space that have not been evaluated."""

    def __init__(self, index: Index, features: Features) -> None:
        """Begin with all designs."""
        order = np.lexsort(index.T[::-1])
        self.index = index[order]
        self.features = features.of(self.index)
        self._known = features
        self._taken = 0

    def nearest(self, wanted: Index, most: int) -> Index:
        """Return the design nearest to each one wanted, in features, none of them twice."""
        left: NDArray[np.bool_] = np.ones(len(self.index), dtype=bool)
        rows: list[int] = []
        for point in self._known.of(wanted)[: min(most, len(self.index))]:
            distance = ((self.features - point) ** 2).sum(axis=1)
            rows.append(int(np.where(left, distance, np.inf).argmin()))
            left[rows[-1]] = False
        return self.index[rows]

    def refresh(self, seen: Index, front: Index, random: np.random.Generator) -> Index:
        """Omit what has been evaluated since."""
        new = {row.tobytes() for row in seen[self._taken :]}
        self._taken = len(seen)
        left = np.array([row.tobytes() not in new for row in self.index], dtype=bool)
        self.index, self.features = self.index[left], self.features[left]
        return self.index


class Drawn:
    """Designs of a space too large to enumerate: random ones, and neighbours of the front."""

    def __init__(
        self, search: Search, features: Features, count: int, random: np.random.Generator
    ) -> None:
        """Draw `count` designs for each batch, at most half of them near the front."""
        self._search = search
        self._known = features
        self._count = count
        self._refill(np.empty((0, len(search.sizes)), dtype=np.int64), random)

    def nearest(self, wanted: Index, most: int) -> Index:
        """Return the designs wanted, each once, but those that are known already."""
        found = wanted[np.sort(distinct_rows(wanted))]
        return found[~self._search.seen(found)][:most]

    def refresh(self, seen: Index, front: Index, random: np.random.Generator) -> Index:
        """Draw anew."""
        near = _neighbours(self._search, front, random, self._count // 2)
        self._refill(near[~self._search.seen(near)], random)
        return self.index

    def _refill(self, near: Index, random: np.random.Generator) -> None:
        drawn = self._search.unseen(random, self._count - len(near))
        self.index = distinct(np.concatenate([near, drawn]))
        self.features = self._known.of(self.index)


Pool = Whole | Drawn
"""Designs that have not been evaluated, and their features."""


def _neighbours(search: Search, front: Index, random: np.random.Generator, count: int) -> Index:
    """Return designs that differ from one of the front on one axis or two, near or anywhere."""
    if not len(front):
        return front
    sizes = np.array(search.sizes, dtype=np.int64)
    rows = front[random.integers(len(front), size=count)]
    for change in range(2):
        axis = random.integers(len(sizes), size=count)
        place = (np.arange(count), axis)
        step = random.integers(-2, 3, size=count)
        anywhere = random.integers(0, sizes[axis])
        step_allowed = np.array(search.ordered)[axis] & (random.random(count) < 0.5)
        moved = np.where(step_allowed, (rows[place] + step).clip(0, sizes[axis] - 1), anywhere)
        rows[place] = np.where((change == 0) | (random.random(count) < 0.5), moved, rows[place])
    return distinct(rows)

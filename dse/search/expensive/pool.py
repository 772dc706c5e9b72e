"""The designs that are compared for a batch: all that are left, or some that are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.contract import Index, Search
from dse.model.evaluation import distinct
from dse.search.expensive.features import Features


class Pool:
    """Designs that have not been evaluated, and their features."""

    def __init__(self, search: Search, features: Features, count: int) -> None:
        """Hold up to `count` designs at random, which are all that are left of a small space."""
        self._search = search
        self._known = features
        self._count = count
        self.index: Index = np.empty((0, len(search.sizes)), dtype=np.int64)
        self.features = features.of(self.index)

    def refill(self, wanted: Index, random: np.random.Generator) -> None:
        """Draw anew, and add new `wanted` designs of a large space."""
        drawn = self._search.unseen(random, self._count)
        wanted = wanted if len(drawn) == self._count else wanted[:0]
        new = wanted[~self._search.seen(wanted)]
        self.index = distinct(np.concatenate([new, drawn]))
        self.features = self._known.of(self.index)

    def nearest(self, wanted: Index, most: int) -> Index:
        """Return the design nearest to each wanted one, in features, without repetition."""
        left: NDArray[np.bool_] = np.ones(len(self.index), dtype=bool)
        rows: list[int] = []
        for point in self._known.of(wanted)[: min(most, len(self.index))]:
            distance = ((self.features - point) ** 2).sum(axis=1)
            rows.append(int(np.where(left, distance, np.inf).argmin()))
            left[rows[-1]] = False
        return self.index[rows]


def neighbours(search: Search, front: Index, random: np.random.Generator, count: int) -> Index:
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
        near = np.array(search.ordered)[axis] & (random.random(count) < 0.5)
        moved = np.where(near, (rows[place] + step).clip(0, sizes[axis] - 1), anywhere)
        rows[place] = np.where((change == 0) | (random.random(count) < 0.5), moved, rows[place])
    return distinct(rows)

"""Partial fleets: what designs whose counts are only enclosed can add to the counted ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends
from dse.contract import Column

SLACK = 1e-9
"""Relative; what is needed at least is taken this much smaller, so that rounding cuts nothing."""


class OpenCounts:
    """Counts of a partial fleet that are only enclosed, as bandwidth that they add.

    Attributes
    ----------
    any
        Whether any instance may be added to the least counts.
    least, most
        Full-clock bandwidth that is added: at least to carry the floor, and at most.
    """

    def __init__(
        self,
        counts: Sequence[Any],
        positions: Sequence[NDArray[np.int64]],
        bandwidth: Column,
        clock: Column,
        floor: Column,
    ) -> None:
        """Look at the counts of a `Fleet`, whose designs have a bandwidth each."""
        pairs = [(*ends(count), int(at[0])) for count, at in zip(counts, positions, strict=True)]
        self._least = [(low, at) for low, _, at in pairs]
        self._used = [at for low, _, at in pairs if np.any(low > 0)]
        self._open = np.array([at for low, high, at in pairs if np.any(high > low)], dtype=np.intp)
        self._bandwidth = bandwidth
        self._floor = floor
        self.any = len(self._open) > 0
        self.known = self._sum(bandwidth)
        self.least = floor / clock * (1.0 - SLACK) - self.known
        self.most = sum(((high - low) * bandwidth[at] for low, high, at in pairs), np.zeros(1))

    def ratios(self, metric: Column) -> Column:
        """Return a metric over the bandwidth of each design that may be added."""
        return np.asarray((metric / self._bandwidth)[self._open])

    def ratio(self, metric: Column) -> Enclosure:
        """Return the sum of a metric over that of bandwidth: a ratio of sums, at its extremes.

        With x the bandwidth that is added at a ratio between the designs' least and largest, the
        ratio (p + q x) / (c + x) moves towards q, so its extremes are at the ends of x.
        """
        power, known = self._sum(metric), self.known
        if not self.any:
            exact = power / np.where(known > 0, known, 1.0)
            return Enclosure(exact, exact)
        ratios = self.ratios(metric)
        added = np.maximum(self.least, 0.0), np.maximum(np.maximum(self.least, self.most), 0.0)
        found = []
        for ratio, choose in ((ratios.min(), np.minimum), (ratios.max(), np.maximum)):
            values = [
                np.where(known + x > 0, (power + ratio * x) / np.maximum(known + x, 1e-300), 0.0)
                for x in added
            ]
            found.append(choose(*values))
        return Enclosure(*found)

    def mean(self, metric: Column) -> Enclosure:
        """Return the enclosure of a mean over the fleet: that of the designs that may be in it."""
        some = metric[[*self._used, *self._open.tolist()]]
        empty = np.all(self.known <= 0) and np.any(self._floor <= 0)
        low = 0.0 if empty else some.min(initial=np.inf)
        return Enclosure(np.full(1, low), np.full(1, some.max(initial=0.0)))

    def _sum(self, metric: Column) -> Column:
        return sum((low * metric[at] for low, at in self._least), np.zeros(1))

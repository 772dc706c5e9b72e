"""The front of a search while designs are still being evaluated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.contract import Matrix
from dse.model.front import nondominated
from dse.model.space import Index, Points, as_index

LARGE = 65_536
"""Designs from which on newcomers wait until they are half as many as the front is.

Then each design is compared with others a few times, however large the front gets.
"""


class FrontSoFar:
    """The best designs of those that were added, in no order, and their losses."""

    def __init__(self, axes: int, objectives: int) -> None:
        """Start without any, for designs of so many axes and losses of so many objectives."""
        self._index: Index = np.empty((0, axes), dtype=np.int64)
        self._loss: Matrix = np.empty((0, objectives))
        self._waiting: list[tuple[Index, Matrix]] = []

    def add(self, points: Points, rows: NDArray[np.intp], loss: Matrix) -> None:
        """Add feasible designs: those in some rows, and their losses."""
        if not len(rows):
            return
        best = nondominated(loss)
        self._waiting.append((as_index(points, rows[best]), loss[best]))
        waiting = sum(len(part) for part, _ in self._waiting)
        if len(self._index) < LARGE or 2 * waiting > len(self._index):
            self._merge()

    @property
    def best(self) -> tuple[Index, Matrix]:
        """Designs and losses of the front."""
        if self._waiting:
            self._merge()
        return self._index, self._loss

    @property
    def lately(self) -> Matrix:
        """Losses of those that were the best when last compared; any thread may ask."""
        return self._loss

    def some(self, most: int) -> Matrix:
        """Return losses of designs of the front as it was lately, not much more than `most`."""
        return self._loss[:: max(1, len(self._loss) // most)]

    def _merge(self) -> None:
        parts, losses = zip((self._index, self._loss), *self._waiting, strict=True)
        self._waiting = []
        index, loss = np.concatenate(parts), np.concatenate(losses)
        best = nondominated(loss)
        self._index, self._loss = index[best], loss[best]

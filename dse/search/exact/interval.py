"""The designs that may beat others between two values of a number, composed from parts.

As in `dse.search.exact.compose`, but a partial design has the better of its bounds at both values.
Bounds rise or fall throughout, so this bounds every design at every value between.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.model.bounds import Bounds
from dse.model.front import dominated
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.stage import StageParts
from dse.search.archive import Archive
from dse.search.exact.compose import Composer
from dse.search.exact.partial import Batch, Pair, Scenarios
from dse.search.exact.work import (
    ROW,
    EffortError,
    NotComposedError,
    TooMuchWorkError,
    fitting,
    limited,
)

_MOST = 400_000
"""Most designs, and partial designs, that are wanted."""

_MOST_WORK = 40_000_000 * ROW
"""Most work of bounds between two values, in evaluated designs."""


class BetweenComposer(Composer):
    """Composes the designs that may beat others between two values."""

    def __init__(
        self,
        ends: tuple[Problem, Problem],
        worst: NDArray[np.float64],
        column: int | None,
    ) -> None:
        """Take the arguments of `may_beat`."""
        super().__init__(ends[0], Archive(ends[0], total=ends[0].size))
        self.few = self.most = fitting(_MOST, 8 * (1 + len(ends[0].sizes)))
        self.splits = False
        self.reductions = (self.bound_and_close,)
        self.found: list[Index] = []
        self._worst = worst
        self._column = column
        self._other_bounds = Bounds(ends[1])
        stages = {stage.name: stage for stage in ends[1].stages}
        self._other_parts = tuple(
            StageParts(stages[part.stage.name], part.places, part.designs) for part in self.parts
        )

    def _batch(self, scenarios: Index) -> Scenarios:
        return Pair(
            Batch(self.bounds, self.parts, scenarios),
            Batch(self._other_bounds, self._other_parts, scenarios),
        )

    def _dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self._column is None:
            return dominated(loss, self._worst)
        return np.asarray(loss[:, self._column] > self._worst[0, self._column])

    def _finish(self, index: Index) -> None:
        self.found.append(index)
        if sum(map(len, self.found)) > self.most:
            raise NotComposedError("more designs are left than may be held")


def may_beat(
    ends: tuple[Problem, Problem], worst: NDArray[np.float64], column: int | None
) -> Index | None:
    """Return designs (n, d), all that may beat others between two values among them.

    Parameters
    ----------
    ends
        The problem at the two values, over one space.
    worst
        The losses (h, m) that the others have at most between the two values.
    column
        The one loss that decides, or None for dominance.

    Returns
    -------
    Index or None
        None when there are more than `_MOST`, or when bounds take too much work.
    """
    composer = BetweenComposer(ends, worst, column)
    try:
        with limited(designs=_MOST_WORK):
            if len(composer.reduce()):
                return None
    except (NotComposedError, TooMuchWorkError, EffortError):
        return None
    empty = np.empty((0, len(ends[0].sizes)), dtype=np.int64)
    return np.concatenate([empty, *composer.found])

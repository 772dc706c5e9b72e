"""Fronts: nondominated losses, and the knee of a front.

A loss is minimised.  Row a dominates row b if no loss is worse and at least one is better, so
equal rows do not dominate each other and stay on the front together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column, Matrix
from dse.errors import ContractError
from dse.model.evaluation import distinct_rows
from dse.model.space import Index, Points, as_index

_TOGETHER = 32_768
"""Number of pairs of rows compared at once.  One by one, calls would take most of the time."""

FIRST, MANY = 32, 128
"""Rows of a front that others are compared with one by one before the whole front, if the front
has more than `MANY` rows."""

SHARE = 4
"""Rows that are compared with a front together, for each row of the front."""

TIE_DECIMALS = 12
"""Two knees closer than this many decimals are tied: rounding must not choose between them."""


def comparing() -> Any:
    """Return the library that compares fronts, which takes a twentieth of a second to import.

    It compares twenty times as many pairs per second as numpy.
    """
    import moocore

    return moocore


def nondominated(loss: ArrayLike) -> NDArray[np.bool_]:
    """Return whether no other row dominates each row of (n, m).  Equal rows are kept together.

    Raises
    ------
    ContractError
        A loss is NaN or infinite, or the array is not (n, m) with m >= 1.
    """
    losses = as_losses(loss)
    kept: NDArray[np.bool_] = comparing().is_nondominated(losses, keep_weakly=True)
    return kept


def dominated_by_point(loss: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether one point dominates each row of `loss`, (n, m), and is not equal to it."""
    first, *others = loss.T
    worse: NDArray[np.bool_] = first >= by[0]
    for column, value in zip(others, by[1:], strict=True):
        worse &= column >= value
    rows = np.flatnonzero(worse & (first == by[0]))  # few: only these can be equal
    worse[rows[(loss[rows] == by).all(axis=1)]] = False
    return worse


def nondominated_by(loss: NDArray[np.float64], pivots: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows of `loss`, (n, m), that no pivot dominates."""
    if len(loss) * len(pivots) <= _TOGETHER:
        pairs = [
            (column[:, np.newaxis], pivot) for column, pivot in zip(loss.T, pivots.T, strict=True)
        ]
        worse = np.all([column >= pivot for column, pivot in pairs], axis=0)
        worse &= np.any([column != pivot for column, pivot in pairs], axis=0)
        return np.flatnonzero(~worse.any(axis=1))
    rows = np.arange(len(loss))
    columns = np.ascontiguousarray(loss.T)  # they are compared one after the other
    for pivot in pivots:
        worse = dominated_by_point(columns.T, pivot)
        if worse.any():
            alive = np.flatnonzero(~worse)
            rows, columns = rows[alive], columns.take(alive, axis=1)
    return rows


def dominated(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether some row of `front`, (f, m), dominates each row of `loss`, (n, m).

    Needs about n log f operations for two losses, and n f for more.
    """
    worse = np.zeros(len(loss), dtype=bool)
    if not len(front) or not len(loss):
        return worse
    loss = np.where(np.isnan(loss), -np.inf, loss)  # an unknown loss is not worse
    if loss.shape[1] == 2:
        return _dominated_in_two(loss, front)
    order = np.argsort(_scaled_sum(front), kind="stable")
    few = order[:FIRST] if len(front) > MANY else order
    worse[:] = True
    left = nondominated_by(loss, front[few])
    worse[left] = False
    if len(few) < len(front) and len(left):
        front = front[nondominated(front)]
        worse[left] = _reached(loss[left], front)
        some = np.flatnonzero(worse[left])  # equal rows do not dominate each other
        worse[left[some]] = ~_among(loss[left[some]], front)
    return worse


def _reached(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether some row of a front is nowhere worse than each row.

    Two more values are added, one of which rises from row to row while the other falls.  So no
    row dominates another, and only rows of the front do, whose added values are both lower.
    """
    found = []
    for first in range(0, len(loss), SHARE * len(front)):
        some = loss[first : first + SHARE * len(front)]
        turn = np.arange(len(some), dtype=np.float64)
        both = np.full((len(front) + len(some), loss.shape[1] + 2), -1.0)
        both[: len(front), :-2] = front
        both[len(front) :] = np.column_stack([some, turn, turn[::-1]])
        found.append(~comparing().is_nondominated(both, keep_weakly=True)[len(front) :])
    return np.concatenate(found)


def _dominated_in_two(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.bool_]:
    order = np.lexsort(front.T[::-1])
    first, second = front[order].T
    best = np.minimum.accumulate(second)  # the least second loss up to each first one
    at = np.searchsorted(first, loss[:, 0], side="right") - 1
    before = np.searchsorted(first, loss[:, 0], side="left") - 1
    reached = np.where(at >= 0, best[at], np.inf)
    strictly = np.where(before >= 0, best[before], np.inf)
    return (reached < loss[:, 1]) | ((before >= 0) & (strictly <= loss[:, 1]))


def _among(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each row is equal to one of some others."""
    both = np.ascontiguousarray(np.concatenate([others, rows]) + 0.0)  # 0 for -0
    _, which = np.unique(
        both.view(np.dtype((np.void, both.itemsize * both.shape[1]))), return_inverse=True
    )
    which = which.reshape(-1)
    return np.isin(which[len(others) :], which[: len(others)])


def _scaled_sum(losses: NDArray[np.float64]) -> Column:
    """Return the sum of the losses of each row (n,), each over its range among all rows."""
    spread = np.ptp(losses, axis=0)
    total: Column = (losses / np.where(spread > 0, spread, 1.0)).sum(axis=1)
    return total


def bend(loss: ArrayLike) -> Column:
    """Return the distance of each row of a front from the knee's ideal, (n,), least at the knee.

    It is the sum of the objectives, each scaled to [0, 1] over the rows.  At the knee, worsening
    one objective stops paying for the others.  It lies farthest, on the better side, from the
    plane through the m corners with one objective at its worst and all others at their best.  For
    two objectives that is the line through the two ends of the front.

    Raises
    ------
    ContractError
        There is no row (n, m), or a loss is NaN or infinite.
    """
    losses = some_losses(loss)
    spread = np.ptp(losses, axis=0)
    scaled = (losses - losses.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    rounded: Column = np.round(scaled.sum(axis=1), TIE_DECIMALS)
    return rounded


def as_losses(loss: ArrayLike) -> NDArray[np.float64]:
    """Return losses (n, m), contiguous, which may share memory with the argument."""
    losses = np.ascontiguousarray(loss, dtype=np.float64)
    if losses.ndim != 2 or losses.shape[1] < 1:
        raise ContractError(
            f"losses come as (designs, objectives) with at least one objective, "
            f"not in the shape {losses.shape}"
        )
    if not np.isfinite(losses).all():
        row, column = np.argwhere(~np.isfinite(losses))[0]
        raise ContractError(
            f"objective {column} of design {row} is {losses[row, column]}; "
            f"only finite losses are allowed on a front"
        )
    return losses


def some_losses(loss: ArrayLike) -> NDArray[np.float64]:
    """Return the result of `as_losses` with at least one row."""
    losses = as_losses(loss)
    if not len(losses):
        raise ContractError("an empty front has neither a reference point nor a knee")
    return losses


LARGE_FRONT = 65_536
"""Size of a front above which new designs wait until they are half as many as the front.

Then each design is compared with others a few times, however large the front becomes.
"""


class FrontSoFar:
    """The best of the added designs, one of each vector of losses, unordered."""

    def __init__(self, axes: int, objectives: int) -> None:
        """Start with an empty front of designs with `axes` positions and `objectives` losses."""
        self._index: Index = np.empty((0, axes), dtype=np.int64)
        self._loss: Matrix = np.empty((0, objectives))
        self.equals = np.empty(0, dtype=np.int64)
        """How many designs share the losses of each of `best`, once that was requested."""
        self._waiting: list[tuple[Index, Matrix]] = []

    def add(self, points: Points, rows: NDArray[np.intp], loss: Matrix) -> None:
        """Add feasible designs: the given rows of `points`, and their losses."""
        if not len(rows):
            return
        best = nondominated(loss)
        self._waiting.append((as_index(points, rows[best]), loss[best]))
        waiting = sum(len(part) for part, _ in self._waiting)
        if len(self._index) < LARGE_FRONT or 2 * waiting > len(self._index):
            self._merge()

    @property
    def best(self) -> tuple[Index, Matrix]:
        """Return designs and losses of the front."""
        if self._waiting:
            self._merge()
        return self._index, self._loss

    @property
    def lately(self) -> Matrix:
        """Return the losses of the last compared front, from any thread."""
        return self._loss

    def some(self, most: int) -> Matrix:
        """Return losses of designs of the last compared front, not many more than `most`."""
        return self._loss[:: max(1, len(self._loss) // most)]

    def _merge(self) -> None:
        parts, losses = zip((self._index, self._loss), *self._waiting, strict=True)
        self._waiting = []
        index, loss = np.concatenate(parts), np.concatenate(losses)
        equals = np.append(self.equals, np.ones(len(index) - len(self.equals), dtype=np.int64))
        rows, self.equals = front_rows(index, loss, equals)
        self._index, self._loss = index[rows], loss[rows]


def front_rows(
    index: Index, loss: Matrix, equals: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the rows of a front, the first design (n, d) of equals, and how many are equal.

    `equals` is how many designs each row stands for.
    """
    best = np.flatnonzero(nondominated(loss))
    if len(best) == len(distinct_rows(loss[best])):
        return best, equals[best]
    order = best[np.lexsort([*index[best].T[::-1], *loss[best].T[::-1]])]
    first = np.flatnonzero((loss[order[1:]] != loss[order[:-1]]).any(axis=1)) + 1
    first = np.append(0, first)
    return order[first], np.add.reduceat(equals[order], first)

"""Fronts: which losses are not dominated, and where a front bends.

A loss is minimised.  Row a dominates row b when it is nowhere worse and somewhere better, so
equal rows do not dominate each other and stay on the front together.
"""

from __future__ import annotations

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column
from dse.errors import ContractError

FEW = 50_000
SAMPLE = 2_000
PIVOTS = 12
CHUNK = 16_384
WORTH_IT = 0.7
"""From `FEW` rows on, `PIVOTS` of a `SAMPLE` dismiss rows before the full comparison, if they
dismiss at least `WORTH_IT` of the sample; `CHUNK` rows stay in the cache."""

TIE_DECIMALS = 12
"""Two knees closer than this many decimals are tied: rounding must not choose between them."""


def nondominated(loss: ArrayLike) -> NDArray[np.bool_]:
    """Return which rows no other row dominates; equal rows are kept together.

    Parameters
    ----------
    loss
        (n, m), m >= 1, finite, minimised.

    Returns
    -------
    (n,) bool

    Raises
    ------
    ContractError
        A loss is NaN or infinite, or the array is not (n, m) with m >= 1.
    """
    losses = as_losses(loss)
    kept = np.zeros(len(losses), dtype=bool)
    hopeful = _hopeful(losses)
    if len(hopeful):
        rows = losses if len(hopeful) == len(losses) else losses[hopeful]
        kept[hopeful] = moocore.is_nondominated(rows, keep_weakly=True)
    return kept


def dominated_by_point(loss: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows of `loss`, (n, m), one point dominates; equal rows are not dominated."""
    first, *others = loss.T
    worse: NDArray[np.bool_] = first >= by[0]
    for column, value in zip(others, by[1:], strict=True):
        worse &= column >= value
    rows = np.flatnonzero(worse & (first == by[0]))  # few: only these can be equal
    worse[rows[(loss[rows] == by).all(axis=1)]] = False
    return worse


def nondominated_by(loss: NDArray[np.float64], pivots: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows of `loss`, (n, m), that no pivot dominates."""
    rows = np.arange(len(loss))
    for pivot in pivots:
        loss = np.asfortranarray(loss)  # columns are compared one after the other
        worse = dominated_by_point(loss, pivot)
        if worse.any():
            alive = np.flatnonzero(~worse)
            rows, loss = rows[alive], loss[alive]
    return rows


def dominated(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows of `loss`, (n, m), some row of `front` dominates."""
    worse = np.zeros(len(loss), dtype=bool)
    if not len(front) or not len(loss):
        return worse
    if loss.shape[1] == 2:
        return _dominated_in_two(loss, front)
    spread = np.ptp(front, axis=0)
    order = np.argsort((front / np.where(spread > 0, spread, 1.0)).sum(axis=1), kind="stable")
    worse[:] = True
    worse[nondominated_by(loss, front[order])] = False
    return worse


def _dominated_in_two(loss: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.bool_]:
    order = np.lexsort(front.T[::-1])
    first, second = front[order].T
    best = np.minimum.accumulate(second)  # the least second loss up to each first one
    at = np.searchsorted(first, loss[:, 0], side="right") - 1
    before = np.searchsorted(first, loss[:, 0], side="left") - 1
    reached = np.where(at >= 0, best[at], np.inf)
    strictly = np.where(before >= 0, best[before], np.inf)
    return (reached < loss[:, 1]) | (strictly <= loss[:, 1])


def _hopeful(losses: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows that may be non-dominated: all but those that a few pivots dominate.

    The pivots are the best rows of a sample.  Where they dominate little of the sample, as on
    anti-correlated data, looking at every row would not pay, and every row is returned.
    """
    every = np.arange(len(losses))
    if len(losses) < FEW:
        return every
    # rows may come in an order, so the sample is not every n-th of them
    sample = losses[np.random.default_rng(0).integers(0, len(losses), SAMPLE)]
    best = sample[moocore.is_nondominated(sample)]
    spread = np.ptp(sample, axis=0)
    merit = (best / np.where(spread > 0, spread, 1.0)).sum(axis=1)
    pivots = best[np.argsort(merit, kind="stable")[:PIVOTS]]
    hit = np.zeros(len(sample), dtype=bool)
    for pivot in pivots:
        hit |= dominated_by_point(sample, pivot)
    if hit.mean() < WORTH_IT:
        return every
    starts = range(0, len(losses), CHUNK)
    return np.concatenate(
        [start + nondominated_by(losses[start : start + CHUNK], pivots) for start in starts]
    )


def bend(loss: ArrayLike) -> Column:
    """Return how far each row of a front is from the knee's ideal, (n,); the knee is the least.

    The sum of the objectives, each scaled to [0, 1] over the rows.  At the knee, giving up one
    objective stops paying for the others: it lies farthest, on the better side, from the plane
    through the m corners where one objective is at its worst and all others at their best.  For
    two objectives that is the line through the two ends of the front.

    Parameters
    ----------
    loss
        (n, m), n >= 1, finite, minimised; rows of a front.

    Raises
    ------
    ContractError
        There is no row, or a loss is NaN or infinite.
    """
    losses = some_losses(loss)
    spread = np.ptp(losses, axis=0)
    scaled = (losses - losses.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    rounded: Column = np.round(scaled.sum(axis=1), TIE_DECIMALS)
    return rounded


def as_losses(loss: ArrayLike) -> NDArray[np.float64]:
    """Return a fresh, contiguous copy (n, m) that a C library may work on."""
    losses = np.array(loss, dtype=np.float64, order="C")
    if losses.ndim != 2 or losses.shape[1] < 1:
        raise ContractError(
            f"losses come as (designs, objectives) with at least one objective, "
            f"not in the shape {losses.shape}"
        )
    if not np.isfinite(losses).all():
        row, column = np.argwhere(~np.isfinite(losses))[0]
        raise ContractError(
            f"objective {column} of design {row} is {losses[row, column]}; "
            f"only finite losses can stand on a front"
        )
    return losses


def some_losses(loss: ArrayLike) -> NDArray[np.float64]:
    """Return what `as_losses` does, of at least one row."""
    losses = as_losses(loss)
    if not len(losses):
        raise ContractError("an empty front has neither a reference point nor a knee")
    return losses

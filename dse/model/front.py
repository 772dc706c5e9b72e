"""Fronts: which losses are not dominated, how good a front is, and where it bends.

A loss is minimised.  Row a dominates row b when it is nowhere worse and somewhere better, so
equal rows do not dominate each other and stay on the front together.
"""

from __future__ import annotations

import math

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

MARGIN = 0.1
"""How far the reference point lies beyond the worst point of a front, relative to its range."""

MOST_VOLUME_WORK = 10**9
"""Combinations of n rows by m - 3 that an exact hypervolume may take: measured, some seconds."""

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
    losses = _losses(loss)
    kept = np.zeros(len(losses), dtype=bool)
    hopeful = _hopeful(losses)
    if len(hopeful):
        import moocore

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
    import moocore

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


def hypervolume(loss: ArrayLike, reference: ArrayLike, *, ideal: ArrayLike | None = None) -> float:
    """Return the volume that the rows dominate, up to the reference point; NaN for too much work.

    Rows that are not better than the reference in every objective add nothing.  The work grows with
    the rows to a power that grows with the objectives: 400 random rows of 8 are too much.

    Parameters
    ----------
    loss
        (n, m), finite, minimised.
    reference
        (m,), the point up to which volume counts.
    ideal
        (m,), better than the reference everywhere.  When given, the result is a share of the
        box between ideal and reference: a number without units that cannot underflow.

    Raises
    ------
    ContractError
        A number is NaN or infinite, or the shapes do not agree.
    """
    losses = _losses(loss)
    corner = _losses(np.atleast_2d(np.asarray(reference, dtype=np.float64)))[0]
    if corner.shape != losses.shape[1:]:
        raise ContractError(
            f"a reference point of {corner.size} numbers does not fit {losses.shape[1]} objectives"
        )
    inside = losses[(losses < corner).all(axis=1)]
    if not len(inside):
        return 0.0
    if ideal is not None:
        best = np.asarray(ideal, dtype=np.float64)
        if best.shape != corner.shape or not (best < corner).all():
            raise ContractError("the ideal point must be better than the reference everywhere")
        inside = (inside - best) / (corner - best)
        corner = np.ones_like(corner)
    import moocore

    for rows in (inside, inside[nondominated(inside)]):
        if math.comb(len(rows), max(0, rows.shape[1] - 3)) <= MOST_VOLUME_WORK:
            return float(moocore.hypervolume(rows, corner))
    return math.nan


def reference_point(loss: ArrayLike) -> Column:
    """Return a point strictly worse than the whole front of `loss`, shape (m,).

    In each objective: the front's worst value plus 10 % of the front's range; of the absolute
    value where the range is 0; plus 1 where both are 0.

    Raises
    ------
    ContractError
        There is no row, or a loss is NaN or infinite.
    """
    losses = _some(loss)
    front = losses[nondominated(losses)]
    worst, spread = front.max(axis=0), np.ptp(front, axis=0)
    margin = np.where(spread > 0, spread, np.abs(worst))
    margin = MARGIN * np.where(margin > 0, margin, 1.0 / MARGIN)
    # A margin below the spacing of floats would vanish in the sum.
    reference: Column = np.maximum(worst + margin, np.nextafter(worst, np.inf))
    return reference


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
    losses = _some(loss)
    spread = np.ptp(losses, axis=0)
    scaled = (losses - losses.min(axis=0)) / np.where(spread > 0, spread, 1.0)
    rounded: Column = np.round(scaled.sum(axis=1), TIE_DECIMALS)
    return rounded


def _losses(loss: ArrayLike) -> NDArray[np.float64]:
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


def _some(loss: ArrayLike) -> NDArray[np.float64]:
    losses = _losses(loss)
    if not len(losses):
        raise ContractError("an empty front has neither a reference point nor a knee")
    return losses

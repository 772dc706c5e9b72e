"""Which designs may beat others somewhere between two values of an assumption.

Two arguments rule a design out.  Over any distance: its least loss at the two ends is worse
than the largest of the others, as losses and violations rise or fall throughout.  Over a short
distance w: it is worse at both ends and in the middle by more than w squared, where its loss is
as straight as that; a loss that bends no more than a cubic power stays within that margin.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.front import dominated
from dse.problem import Problem
from dse.search.exact import CHUNK
from dse.space import Index, as_index, blocks

MOST = 400_000
"""With more rivals an interval is divided before they are listed."""

SHORT = 0.2
"""Natural logarithm of the longest ratio over which losses are taken for smooth."""

EQUAL = 1e-12
"""Losses closer than this, relatively, are the same quantity with another rounding."""

Losses = NDArray[np.float64]


def among_all(
    start: Problem, end: Problem, holders: Index, column: int | None
) -> Index | None:
    """Return the designs of the whole space that may beat `holders`; None for too many.

    Parameters
    ----------
    start, end
        The problem at the two values.
    holders
        Designs (n, d) that are feasible at both.
    column
        The one loss that decides; None when a design must be dominated to be ruled out.
    """
    ends = _same_space(start, end)
    worst = np.maximum(*(problem.evaluate(holders).loss for problem in ends))
    found: list[Index] = []
    for block in blocks(ends[0].sizes, CHUNK):
        one, other = (problem.evaluate(block) for problem in ends)
        possible = (np.minimum(one.violation, other.violation) <= 0).all(axis=1)
        rows = np.flatnonzero(possible)
        lowest = np.fmin(one.loss[rows], other.loss[rows])
        found.append(as_index(block, rows[_may_win(lowest, worst, column)]))
        if sum(map(len, found)) > MOST:
            return None
    return _without(np.concatenate(found), holders)


def among_few(
    problems: tuple[Problem, Problem, Problem],
    holders: Index,
    candidates: Index,
    column: int | None,
    distance: float,
) -> Index:
    """Return which of `candidates` may beat `holders` between two values.

    Parameters
    ----------
    problems
        The problem at the two values and, last, at their geometric mean.
    holders, candidates
        Designs (n, d); the holders are feasible at both values.
    column
        As for `among_all`.
    distance
        Natural logarithm of the ratio of the two values.
    """
    ours = [problem.evaluate(holders).loss for problem in problems]
    found = [problem.evaluate(candidates) for problem in problems]
    possible = (np.minimum(found[0].violation, found[1].violation) <= 0).all(axis=1)
    lowest = np.fmin(found[0].loss, found[1].loss)
    possible &= _may_win(lowest, np.maximum(ours[0], ours[1]), column)
    if distance <= SHORT:
        losses = np.stack([evaluation.loss for evaluation in found])
        possible &= ~_stay_behind(losses, np.stack(ours), column, distance**2)
    return _without(candidates[possible], holders)


def _may_win(lowest: Losses, worst: Losses, column: int | None) -> NDArray[np.bool_]:
    """Return which designs may beat those whose losses are at most `worst`, (n, m)."""
    if not len(worst):
        return np.ones(len(lowest), dtype=bool)
    if column is not None:
        better = lowest[:, column] < worst[0, column]
        tied = lowest[:, column] == worst[0, column]
        return np.asarray(better | (tied & ~dominated(lowest, worst[0])))
    beaten = np.zeros(len(lowest), dtype=bool)
    for row in worst:
        beaten |= dominated(lowest, row)
    return ~beaten


def _stay_behind(
    losses: Losses, ours: Losses, column: int | None, share: float
) -> NDArray[np.bool_]:
    """Return which losses (3, n, m) stay worse than those of a holder, (3, h, m)."""
    if column is not None:
        losses, ours = losses[:, :, [column]], ours[:, :1, [column]]
    behind = np.zeros(losses.shape[1], dtype=bool)
    for holder in range(ours.shape[1]):
        own = ours[:, holder, :]
        margin = share * np.abs(own).max(axis=0)
        if not (_bend(own) <= margin).all():
            continue
        with np.errstate(invalid="ignore"):
            gap = losses - own[:, np.newaxis, :]
            worse = (gap > margin).all(axis=0) & (_bend(losses) <= margin)
            same = (np.abs(gap) <= EQUAL * np.abs(own[:, np.newaxis, :])).all(axis=0)
        behind |= (worse | same).all(axis=1) & worse.any(axis=1)
    return behind


def _bend(losses: Losses) -> Losses:
    """Return how far the middle lies from the straight line between the ends."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(losses[2] - (losses[0] + losses[1]) / 2))


def _without(rows: Index, others: Index) -> Index:
    known = {row.tobytes() for row in others}
    return rows[np.array([row.tobytes() not in known for row in rows], dtype=bool)]


def _same_space(one: Problem, other: Problem) -> tuple[Problem, Problem]:
    """Return two problems over the larger of their spaces; counts beyond are never the least."""
    pairs = list(zip(one.space.axes, other.space.axes, strict=True))
    if one.sizes == other.sizes:
        return one, other
    first = tuple(b if b.size > a.size else a for a, b in pairs)
    second = tuple(a if a.size > b.size else b for a, b in pairs)
    return (
        replace(one, space=replace(one.space, axes=first)),
        replace(other, space=replace(other.space, axes=second)),
    )

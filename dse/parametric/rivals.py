"""Which designs may become the answer somewhere between two values of an assumption.

Two arguments rule a design out.  Over any distance: its least loss at the two ends, and in the
middle, is worse than the largest of the others, as losses and violations rise or fall throughout.
Over a short distance w: at both ends and in the middle it is worse by several times what the gap
bends, and both losses are smooth, which is to say straight but for w squared, as a cubic power is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import TOLERANCE
from dse.model.front import dominated_by_point

SHORT = 0.2
"""Natural logarithm of the longest ratio over which losses are taken for smooth."""

EQUAL = 2 * TOLERANCE
"""Losses closer than this, relatively, are a tie: equal ones may be rounded to neighbours."""

CAUTION = 4.0
"""How many times the bend seen in the middle a gap has to exceed to stay open."""

Losses = NDArray[np.float64]


def may_replace(
    losses: Losses, violations: Losses, ours: Losses, column: int | None, distance: float
) -> NDArray[np.bool_]:
    """Return which designs may replace others between two values.

    Parameters
    ----------
    losses, violations
        Those of the designs (3, n, m), (3, n, k): at the two values and, last, in the middle.
    ours
        Losses (3, h, m) of the incumbents.
    column, distance
        The one loss that decides, None when a design must be dominated to be ruled out, and
        the natural logarithm of the ratio of the two values.
    """
    possible = may_win(losses, violations, ours.max(axis=0), column)
    if distance <= SHORT:
        possible &= ~_stay_behind(losses, ours, column, distance**2)
    return possible


def may_win(
    losses: Losses, violations: Losses, worst: Losses, column: int | None
) -> NDArray[np.bool_]:
    """Return which designs may replace those whose losses between some values are at most `worst`.

    By what they do at these values: losses (v, n, m) and violations (v, n, k), `worst` (h, m).
    """
    lowest, possible = np.fmin.reduce(losses), (violations.min(axis=0) <= 0).all(axis=1)
    if column is not None:
        return np.asarray(possible & may_beat_each(lowest, worst[0], column))
    for row in worst:
        possible &= ~dominated_by_point(lowest, row)
    return np.asarray(possible)


def may_beat_each(lowest: Losses, worst: Losses, column: int) -> NDArray[np.bool_]:
    """Return which designs may beat a design, or one each: losses (n, m) against (m,) or (n, m).

    They are no worse in the loss that decides, and better in one, by more than a tie.
    """
    slack = _slack(worst)
    decides = lowest[:, column] <= (worst + slack)[..., column]
    return np.asarray(decides & (lowest < worst - slack).any(axis=-1))


def beats(keys: Losses, own: Losses) -> NDArray[np.bool_]:
    """Return which designs (..., n, k) beat one (..., 1, k) in the first key that is no tie.

    Keys are in the order in which they decide; less is better.
    """
    slack = _slack(own)
    better, worse = keys < own - slack, keys > own + slack
    first = (better | worse).argmax(axis=-1)
    return np.asarray(np.take_along_axis(better, first[..., np.newaxis], axis=-1)[..., 0])


def _slack(losses: Losses) -> Losses:
    """Return how far others may be from losses in a tie with them."""
    return np.where(np.isfinite(losses), EQUAL * np.abs(losses), 0.0)


def _stay_behind(
    losses: Losses, ours: Losses, column: int | None, share: float
) -> NDArray[np.bool_]:
    """Return which losses (3, n, m) stay worse than those of an incumbent, (3, h, m)."""
    behind = np.zeros(losses.shape[1], dtype=bool)
    for incumbent in range(ours.shape[1]):
        own = ours[:, incumbent, :]
        margin = share * np.abs(own).max(axis=0)
        smooth = _bend(own) <= margin
        with np.errstate(invalid="ignore"):
            gap = losses - own[:, np.newaxis, :]
            noise = EQUAL * np.abs(own).max(axis=0)
            worse = gap.min(axis=0) > CAUTION * _bend(gap) + noise
            worse &= smooth & (_bend(losses) <= margin)
            same = (np.abs(gap) <= noise).all(axis=0)
        behind |= (worse | same).all(axis=1)  # where all is the same, their order stays
        if column is not None:
            behind |= worse[:, column]
    return behind


def _bend(losses: Losses) -> Losses:
    """Return how far the middle lies from the straight line between the ends."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(losses[2] - (losses[0] + losses[1]) / 2))

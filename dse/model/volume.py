"""Hypervolume of a front up to a reference point, and its growth during a search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dse.contract import Column, Matrix
from dse.errors import ContractError
from dse.model.front import as_losses, comparing, nondominated, some_losses

_MARGIN = 0.1
"""Distance of the reference point beyond the worst point of a front, relative to its range."""

MOST_EXACT_WORK = 10**8
"""Most work of an exact hypervolume, as in `exact_work`: one or two seconds, measured."""

MOST_ESTIMATE_WORK = 4 * 10**9
"""Rows by objectives by directions of an estimate: about a second, measured."""

_BATCHES = 16
MOST_DIRECTIONS = 2**14
LEAST_DIRECTIONS = 2**6
"""Directions of each of the independent estimates whose mean is the result."""


@dataclass(frozen=True)
class Volume:
    """A hypervolume, or a share of one.  `error` is its standard error, 0 if it is exact."""

    value: float
    error: float = 0.0

    def share_of(self, whole: Volume) -> Volume:
        """Return this as a share of another volume up to the same reference point.

        Both are estimated with the same directions, so the stated error is rather too large.
        """
        if self == whole:
            return Volume(1.0)
        share = self.value / whole.value
        relative = math.hypot(self.error, share * whole.error) / whole.value
        return Volume(share, relative)


NO_VOLUME = Volume(0.0)


def hypervolume(loss: ArrayLike, reference: ArrayLike, *, ideal: ArrayLike | None = None) -> Volume:
    """Return the volume that the rows dominate, up to the reference point.

    Rows that are not better than the reference in every objective add nothing.  If the exact
    volume of n rows of m objectives takes more than `MOST_EXACT_WORK`, it is estimated: the mean of

        V = pi^(m/2) / (m 2^(m-1) Gamma(m/2)) * max_y min_k ((r_k - y_k) / w_k)^m

    over directions w that are uniform on the positive part of the unit sphere (Deng and Zhang,
    IEEE Transactions on Evolutionary Computation 23, 2019, `moocore.hv_approx`).  Its standard
    error comes from `_BATCHES` independent means with fixed seeds.

    Parameters
    ----------
    loss
        (n, m), finite, minimised.
    reference
        (m,), the point up to which volume counts.
    ideal
        (m,), better than the reference everywhere.  If given, the result is a share of the
        box between ideal and reference: a number without units that cannot underflow.

    Raises
    ------
    ContractError
        A number is NaN or infinite, or the shapes do not agree.
    """
    inside, corner = _inside(as_losses(loss), reference)
    if not len(inside):
        return NO_VOLUME
    if ideal is not None:
        best = np.asarray(ideal, dtype=np.float64)
        if best.shape != corner.shape or not (best < corner).all():
            raise ContractError("the ideal point must be better than the reference everywhere")
        inside, corner = (inside - best) / (corner - best), np.ones_like(corner)
    for rows in (inside, inside[nondominated(inside)]):
        if exact_work(*rows.shape) <= MOST_EXACT_WORK:
            return Volume(float(comparing().hypervolume(rows, corner)))
    return _estimated(rows, corner)


def _inside(losses: Matrix, reference: ArrayLike) -> tuple[Matrix, Column]:
    """Return the rows that are better than a reference point everywhere, and the point (m,)."""
    corner = as_losses(np.atleast_2d(np.asarray(reference, dtype=np.float64)))[0]
    if corner.shape != losses.shape[1:]:
        raise ContractError(
            f"a reference point of {corner.size} numbers does not fit {losses.shape[1]} objectives"
        )
    return losses[(losses < corner).all(axis=1)], corner


def exact_work(rows: int, objectives: int) -> int:
    """Return the work of an exact hypervolume: n, n^2 / 64, or n choose m - 3 from 5 objectives on.

    After moocore, which takes n log n, n^2 and at most n^(m - 2) steps.  The factors are measured.
    """
    if objectives <= 3:
        return rows
    return rows**2 // 64 if objectives == 4 else math.comb(rows, objectives - 3)


def _estimated(losses: NDArray[np.float64], corner: Column) -> Volume:
    estimate = comparing().hv_approx
    fitting = MOST_ESTIMATE_WORK // (_BATCHES * losses.size)
    directions = min(max(fitting, LEAST_DIRECTIONS), MOST_DIRECTIONS)
    means = np.array(
        [
            estimate(losses, corner, nsamples=directions, seed=seed, method="DZ2019-MC")
            for seed in range(_BATCHES)
        ]
    )
    return Volume(float(means.mean()), float(means.std(ddof=1) / math.sqrt(_BATCHES)))


def reference_point(loss: ArrayLike) -> Column:
    """Return a point strictly worse than the whole front of `loss`, shape (m,).

    In each objective: the front's worst value plus 10 % of the front's range, or of the absolute
    value if the range is 0, or plus 1 if both are 0.

    Raises
    ------
    ContractError
        There is no row, or a loss is NaN or infinite.
    """
    losses = some_losses(loss)
    front = losses[nondominated(losses)]
    worst, spread = front.max(axis=0), np.ptp(front, axis=0)
    margin = np.where(spread > 0, spread, np.abs(worst))
    margin = _MARGIN * np.where(margin > 0, margin, 1.0 / _MARGIN)
    # A margin below the spacing of floats would vanish in the sum.
    reference: Column = np.maximum(worst + margin, np.nextafter(worst, np.inf))
    return reference


APART = 1.15
"""Least factor of evaluations between stored fronts, so that few are stored."""

ROWS, WORK = 500, 100_000
"""Most designs of a stored front, and most `exact_work`."""


class History:
    """Fronts of a search at numbers of evaluations that grow geometrically."""

    def __init__(self) -> None:
        """Begin without fronts."""
        self._kept: list[tuple[int, Matrix]] = []

    def add(self, evaluated: int, front: Matrix) -> None:
        """Store the losses (n, m) of the front after `evaluated` designs, if it is time."""
        due = not self._kept or evaluated >= APART * self._kept[-1][0]
        if due and len(front) and np.isfinite(front).all():
            while len(front) > ROWS or exact_work(*front.shape) > WORK:
                front = front[::2]  # evenly, so that its hypervolume is quick to compute
            self._kept.append((evaluated, front.copy()))

    def growth(self, evaluated: int, front: Matrix) -> tuple[tuple[int, float], ...]:
        """Return evaluations, and the front's share of the last hypervolume at that time.

        All use the reference point of the last front, (n, m), so that progress never falls.
        """
        if not self._kept or not len(front) or not np.isfinite(front).all():
            return ()
        reference, ideal = reference_point(front), front.min(axis=0)
        whole = hypervolume(front, reference, ideal=ideal).value
        before = [(at, some) for at, some in self._kept if at < evaluated]
        volumes = [hypervolume(some, reference, ideal=ideal).value for _, some in before]
        if not whole:
            return ()
        shares = np.maximum.accumulate([0.0, *np.divide(volumes, whole).clip(max=1.0)])[1:]
        pairs = zip(before, shares, strict=True)
        return (*((at, float(share)) for (at, _), share in pairs), (evaluated, 1.0))

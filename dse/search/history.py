"""How the front of a search grew: its hypervolume over the designs evaluated."""

from __future__ import annotations

import numpy as np

from dse.contract import Matrix
from dse.model.volume import exact_work, hypervolume, reference_point

APART = 1.15
"""From one front that is kept to the next the evaluations grow by this factor: few are kept."""

ROWS, WORK = 500, 100_000
"""A front that is kept has no more designs, and takes no more `exact_work`."""


def quick_part(front: Matrix) -> Matrix:
    """Return some rows of a front (n, m), evenly, whose hypervolume takes little time."""
    while len(front) > ROWS or exact_work(*front.shape) > WORK:
        front = front[::2]
    return front


class History:
    """Fronts of a search at numbers of evaluations that grow geometrically."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: list[tuple[int, Matrix]] = []

    def add(self, evaluated: int, front: Matrix) -> None:
        """Take the losses (n, m) of the front after so many evaluations, if it is time."""
        due = not self._kept or evaluated >= APART * self._kept[-1][0]
        if due and len(front) and np.isfinite(front).all():
            self._kept.append((evaluated, quick_part(front).copy()))

    def growth(self, evaluated: int, front: Matrix) -> tuple[tuple[int, float], ...]:
        """Return evaluations, and the share of the last hypervolume that the front then had.

        All are up to the reference point of the last front, (n, m), so that progress never falls.
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

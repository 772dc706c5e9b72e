"""The hypervolume that designs are expected to add to a front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dse.contract import Column, Index, Matrix
from dse.model.evaluation import distinct
from dse.model.front import nondominated
from dse.search.expensive.process import Process

REFERENCE = 1.1
"""The reference point, for a front that spans [0, 1]."""

_DIGITS = 9
"""Improvements that agree to so many digits are tied, and one of the designs is taken at random."""

MOST_POINTS = {1: 1, 2: 1_000, 3: 200, 4: 24}
"""Most points of a front by its number of objectives, `_FEWEST` for more objectives."""

_FEWEST = 8

_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))


@dataclass(frozen=True)
class Candidates:
    """Designs (q, f) to choose a batch from: a process of each loss, and the chance to be feasible.

    Predicted losses `mean` (q, m) are in units of the range `span` (m,) of the front.
    """

    processes: Sequence[Process]
    features: Matrix
    mean: Matrix
    span: Column
    chance: Column

    def choose(self, observed: Matrix, count: int, random: np.random.Generator) -> Index:
        """Return the rows of `count` designs, each the best if those before are as predicted.

        A design that was chosen leaves all means as they are and lowers the variances.
        """
        chosen: list[int] = []
        explained = [process.whitened(self.features) for process in self.processes]
        front, reference = observed, np.full(observed.shape[1], REFERENCE)
        while len(chosen) < count:
            deviation = self._deviation(explained)
            merit = self.chance * expected_improvement(self.mean, deviation, front, reference)
            if not np.delete(merit, chosen).any():
                merit = (deviation * self.span).prod(axis=1) * self.chance
            merit[chosen] = -1.0
            chosen.append(best(merit, random))
            front = np.concatenate([front, self.mean[chosen[-1:]]])
            explained = [
                np.concatenate([known, self._added(process, known, chosen[-1])])
                for process, known in zip(self.processes, explained, strict=True)
            ]
        return np.array(chosen, dtype=np.int64)

    def _deviation(self, explained: Sequence[Matrix]) -> Matrix:
        """Return the standard deviations (q, m) of the losses."""
        variances = [
            np.maximum(process.variance - (known**2).sum(axis=0), 1e-10)
            for process, known in zip(self.processes, explained, strict=True)
        ]
        found: Matrix = np.sqrt(np.stack(variances, axis=1)) / self.span
        return found

    def _added(self, process: Process, known: Matrix, row: int) -> Matrix:
        """Return what a row explains of all, (1, q), as if the design had been observed."""
        prior = process.between(self.features, self.features[row : row + 1])[:, 0]
        left = prior - known.T @ known[:, row]
        found: Matrix = left[None] / np.sqrt(max(left[row], 0.0) + process.noise)
        return found


def best(merit: Column, random: np.random.Generator) -> int:
    """Return the row of the most merit, one of equals at random, whatever the rounding."""
    most = float(merit.max())
    scaled = np.round(np.maximum(merit, 0.0) / most, _DIGITS) if most > 0 else merit
    return int(random.choice(np.flatnonzero(scaled == scaled.max())))


def boxes(front: Matrix, reference: Column) -> Matrix:
    """Return disjoint boxes (b, 2, m), low and high corners, that a front (n, m) leaves open.

    They hold all y < reference that no point of the front dominates, from -inf on.  Each point
    divides the boxes that it reaches: part k is below the point in objective k, and not below it in
    the objectives before.  (The partition of Lacour, Klamroth and Fonseca 2017 has fewer boxes.)
    """
    low, high = np.full((1, len(reference)), -np.inf), reference[np.newaxis]
    for point in counted(front, reference):
        reached = (high > point).all(axis=1)
        parts = [(low[~reached], high[~reached])]
        above, below = low[reached], high[reached]
        for k, value in enumerate(point):
            part = below.copy()
            part[:, k] = np.minimum(part[:, k], value)
            left = above[:, k] < part[:, k]
            parts.append((above[left], part[left]))
            above = above.copy()
            above[:, k] = np.maximum(above[:, k], value)
        low, high = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return np.stack([low, high], axis=1)


def counted(front: Matrix, reference: Column) -> Matrix:
    """Return the best points below the reference, or as many as count, evenly along the first."""
    inside = distinct(front[(front < reference).all(axis=1)])
    inside = inside[nondominated(inside)] if len(inside) else inside
    most = MOST_POINTS.get(front.shape[1], _FEWEST)
    rows = np.linspace(0, len(inside) - 1, min(most, len(inside)))
    fewer: Matrix = inside[rows.round().astype(int)]
    return fewer


def expected_improvement(
    mean: Matrix, deviation: Matrix, front: Matrix, reference: Column
) -> Column:
    """Return the expected hypervolume improvement, (q,), of losses with mean and deviation (q, m).

    The sum over boxes of `docs/expensive.md`, with psi_k(t) = E[max(t - y_k, 0)].  The volume up to
    a reference point (m,) counts.
    """
    corners = boxes(front, reference)
    total = np.ones((len(mean), len(corners)))
    for k in range(mean.shape[1]):
        ends, place = np.unique(corners[:, :, k], return_inverse=True)
        gains = _psi(ends, mean[:, k : k + 1], deviation[:, k : k + 1])
        low, high = place.reshape(-1, 2).T
        total *= gains[:, high] - gains[:, low]
    added: Column = total.sum(axis=1)
    return added


def _psi(ends: Column, mean: Matrix, deviation: Matrix) -> Matrix:
    above = np.where(np.isfinite(ends), ends, 0.0) - mean
    z = above / deviation
    gain = above * ndtr(z) + deviation * np.exp(-0.5 * z * z) / _ROOT_TWO_PI
    return np.where(np.isfinite(ends), gain, 0.0)

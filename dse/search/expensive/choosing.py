"""Which designs a batch holds."""

from __future__ import annotations

import numpy as np

from dse.contract import Column, Index, Matrix
from dse.model.front import nondominated
from dse.search.expensive.improvement import expected_improvement
from dse.search.expensive.model import ModelledLosses

REFERENCE = 1.1
"""The reference point, where the front that is seen or predicted spans [0, 1]."""

LIKELY = 0.2
"""Designs with a chance above this count as the predicted front."""

DIRECTIONS, FROM_EACH, AT_RANDOM, LIKELIEST = 16, 120, 1_500, 300
"""Of many designs those are compared in full that are best in one of so many directions, the
likeliest ones, and random ones."""

FEW = 4_000
"""So many designs are compared in full."""

LEAST_SPAN = 0.1
"""Of the range of all feasible designs: least range of a front."""

DIGITS = 9
"""Improvements that agree to so many digits are tied, and the first design is taken."""


def goals(observed: Matrix, mean: Matrix, chance: Column) -> tuple[Column, Column]:
    """Return the low corner and the range of the front: observed and predicted, never one alone.

    With a reference point from what was observed alone, designs beyond the ends of that front
    would earn nothing.
    """
    fronts = [observed[nondominated(observed)]]
    likely = mean[chance > LIKELY]
    if len(likely):
        fronts.append(likely[nondominated(likely)])
    ends = np.concatenate(fronts)
    low, span, spread = ends.min(axis=0), np.ptp(ends, axis=0), np.ptp(observed, axis=0)
    return low, np.where(span > LEAST_SPAN * spread, span, spread + 1e-9)


def shortlist(mean: Matrix, chance: Column, random: np.random.Generator) -> Index:
    """Return the rows that are worth a full comparison: all of a few."""
    if len(mean) <= FEW:
        return np.arange(len(mean))
    parts = [random.choice(len(mean), AT_RANDOM, replace=False)]
    parts.append(np.argsort(-chance, kind="stable")[:LIKELIEST])
    for weights in random.dirichlet(np.ones(mean.shape[1]), DIRECTIONS):
        merit = np.maximum(mean, -9.0) @ weights - 0.3 * chance
        parts.append(np.argpartition(merit, FROM_EACH)[:FROM_EACH])
    return np.unique(np.concatenate(parts))


def explore(
    features: Matrix, seen: Matrix, chance: Column, random: np.random.Generator, count: int
) -> Index:
    """Return rows to try where no design is known to be feasible.

    Of random ones and the likeliest, the one with the most chance times distance to what was seen.
    """
    some = random.choice(len(features), min(len(features), AT_RANDOM), replace=False)
    rows = np.union1d(some, np.argsort(-chance, kind="stable")[:LIKELIEST])
    distance = np.full(len(rows), np.inf)
    for point in seen:
        distance = np.minimum(distance, ((features[rows] - point) ** 2).sum(axis=1))
    distance = np.where(np.isfinite(distance), distance, 1.0)
    chosen: list[int] = []
    for _ in range(min(count, len(rows))):
        merit = chance[rows] * np.sqrt(distance)
        merit[chosen] = -1.0
        chosen.append(_best(merit))
        point = features[rows[chosen[-1]]]
        distance = np.minimum(distance, ((features[rows] - point) ** 2).sum(axis=1))
    return rows[chosen]


class Believer:
    """Designs to choose several from before any of them is evaluated."""

    def __init__(
        self,
        objectives: ModelledLosses,
        features: Matrix,
        mean: Matrix,
        span: Column,
        chance: Column,
    ) -> None:
        """Take designs: their features (q, f), and their means (q, m) with the front in [0, 1]."""
        self._processes = [one.process for one in objectives.known]
        self._features, self._mean, self._span, self._chance = features, mean, span, chance
        self._explained = [process.whitened(features) for process in self._processes]

    def choose(self, observed: Matrix, count: int) -> Index:
        """Return the rows of `count` designs, each the best if those before are as predicted.

        Kriging believer (Ginsbourger, Le Riche and Carraro 2010): a design that was chosen counts
        as seen with its mean, which leaves all means as they are and lowers the variances.
        """
        chosen: list[int] = []
        front, reference = observed, np.full(observed.shape[1], REFERENCE)
        while len(chosen) < count:
            deviation = np.stack(
                [
                    np.sqrt(np.maximum(process.variance - (known**2).sum(axis=0), 1e-10))
                    for process, known in zip(self._processes, self._explained, strict=True)
                ],
                axis=1,
            )
            gain = expected_improvement(self._mean, deviation / self._span, front, reference)
            merit = gain * self._chance
            if not merit[~np.isin(np.arange(len(merit)), chosen)].any():
                merit = deviation.prod(axis=1) * self._chance
            merit[chosen] = -1.0
            chosen.append(_best(merit))
            front = np.concatenate([front, self._mean[chosen[-1:]]])
            self._believe(chosen[-1])
        return np.array(chosen, dtype=np.int64)

    def _believe(self, row: int) -> None:
        """Add a row to what the processes explain, as if the design had been observed."""
        for k, process in enumerate(self._processes):
            known = self._explained[k]
            prior = process.between(self._features, self._features[row : row + 1])[:, 0]
            left = prior - known.T @ known[:, row]
            scale = np.sqrt(max(left[row], 0.0) + process.noise)
            self._explained[k] = np.concatenate([known, left[None] / scale])


def _best(merit: Column) -> int:
    """Return the row of the most merit; rounding decides nothing."""
    most = float(merit.max())
    if most <= 0:
        return int(merit.argmax())
    return int(np.round(np.maximum(merit, 0.0) / most, DIGITS).argmax())

"""Choice of the designs of a batch by the hypervolume that they are expected to add."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import ndtr

from dse.contract import Column, Index, Matrix
from dse.model.evaluation import distinct
from dse.model.front import nondominated
from dse.search.expensive.process import ModelledLosses

REFERENCE = 1.1
"""The reference point, for a front that spans [0, 1]."""

LIKELY = 0.2
"""Designs with a chance above this count as the predicted front."""

DIRECTIONS, FROM_EACH, AT_RANDOM, LIKELIEST = 16, 120, 1_500, 300
"""Of many designs those are compared in full that are best in one of so many directions, the
likeliest ones, and random ones."""

_FEW = 4_000
"""So many designs are compared in full."""

LEAST_SPAN = 0.1
"""Of the range of all feasible designs: least range of a front."""

_DIGITS = 9
"""Improvements that agree to so many digits are tied, and one of the designs is taken at random."""

Box = tuple[tuple[float, float], ...]

MOST_POINTS = {1: 1, 2: 1_000, 3: 200, 4: 24, 5: 12}
"""Most points of a front by its number of objectives, `_FEWEST` for more objectives."""

_FEWEST = 8

ROOT_TWO_PI = float(np.sqrt(2 * np.pi))


def goals(observed: Matrix, mean: Matrix, chance: Column) -> tuple[Column, Column]:
    """Return the low corner and the range of the front, observed and predicted together.

    With a reference point from the observed front, designs beyond its ends would add nothing.
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
    if len(mean) <= _FEW:
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
    """Return rows to try before any design is feasible.

    Of random and likely ones, those with the most chance times distance to the evaluated designs.
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
        chosen.append(_best(merit, random))
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
        self._features, self._span = features, span
        self.mean, self.chance = mean, chance
        self._explained = [process.whitened(features) for process in self._processes]

    def deviation(self) -> Matrix:
        """Return the standard deviations (q, m) of the losses, with the front in [0, 1]."""
        variances = [
            np.maximum(process.variance - (known**2).sum(axis=0), 1e-10)
            for process, known in zip(self._processes, self._explained, strict=True)
        ]
        found: Matrix = np.sqrt(np.stack(variances, axis=1)) / self._span
        return found

    def choose(self, observed: Matrix, count: int, random: np.random.Generator) -> Index:
        """Return the rows of `count` designs, each the best if those before are as predicted.

        Kriging believer (Ginsbourger, Le Riche and Carraro 2010): a design that was chosen counts
        as seen with its mean, which leaves all means as they are and lowers the variances.
        """
        chosen: list[int] = []
        before = [*self._explained]
        front, reference = observed, np.full(observed.shape[1], REFERENCE)
        while len(chosen) < count:
            deviation = self.deviation()
            gain = expected_improvement(self.mean, deviation, front, reference)
            merit = gain * self.chance
            if not merit[~np.isin(np.arange(len(merit)), chosen)].any():
                merit = (deviation * self._span).prod(axis=1) * self.chance
            merit[chosen] = -1.0
            chosen.append(_best(merit, random))
            front = np.concatenate([front, self.mean[chosen[-1:]]])
            self._believe(chosen[-1])
        self._explained = before
        return np.array(chosen, dtype=np.int64)

    def _believe(self, row: int) -> None:
        """Condition the processes on a row, as if the design had been observed."""
        for k, process in enumerate(self._processes):
            known = self._explained[k]
            prior = process.between(self._features, self._features[row : row + 1])[:, 0]
            left = prior - known.T @ known[:, row]
            scale = np.sqrt(max(left[row], 0.0) + process.noise)
            self._explained[k] = np.concatenate([known, left[None] / scale])


def _best(merit: Column, random: np.random.Generator) -> int:
    """Return the row of the most merit, one of equals at random, whatever the rounding."""
    most = float(merit.max())
    scaled = np.round(np.maximum(merit, 0.0) / most, _DIGITS) if most > 0 else merit
    return int(random.choice(np.flatnonzero(scaled == scaled.max())))


def boxes(front: Matrix, reference: Column) -> Matrix:
    """Return disjoint boxes (b, 2, m), low and high corners, that the front leaves open.

    They hold all y < reference that no point of the front dominates, from -inf on.  In a sweep
    along the last objective, the open region between two points follows from the passed points,
    in one objective less, and boxes that do not change go on.
    (The partition of Lacour, Klamroth and Fonseca 2017 has fewer boxes from 4 objectives on.)

    Parameters
    ----------
    front
        (n, m), m >= 1, minimised. Dominated points and points beyond the reference do not count.
    """
    inside = distinct(front[(front < reference).all(axis=1)])
    if len(inside):
        inside = inside[nondominated(inside)]
    found = _cut([tuple(row) for row in _fewer(inside).tolist()], tuple(reference.tolist()))
    rows = np.array(found, dtype=np.float64).reshape(-1, len(reference), 2)
    return rows.transpose(0, 2, 1)


def _fewer(front: Matrix) -> Matrix:
    """Return the front, or as many of its points as count, evenly along the first objective."""
    most = MOST_POINTS.get(front.shape[1], _FEWEST)
    if len(front) <= most:
        return front
    fewer: Matrix = front[np.linspace(0, len(front) - 1, most).round().astype(int)]
    return fewer


def _cut(front: list[tuple[float, ...]], reference: tuple[float, ...]) -> list[Box]:
    *fewer, last = reference
    if not fewer:
        low = min((point[0] for point in front), default=last)
        return [((-np.inf, min(low, last)),)]
    levels = sorted({point[-1] for point in front})
    done: list[Box] = []
    open_since: dict[Box, float] = {}
    for start, end in itertools.pairwise([-np.inf, *levels, last]):
        passed = [point[:-1] for point in front if point[-1] <= start]
        now = dict.fromkeys(_cut(_undominated(passed), tuple(fewer)), start)
        done += [(*box, (since, start)) for box, since in open_since.items() if box not in now]
        open_since = {box: open_since.get(box, since) for box, since in now.items()}
        if end == last:
            done += [(*box, (since, end)) for box, since in open_since.items()]
    return done


def _undominated(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return the points that no other dominates, each once."""
    if len(points) < 2 or len(points[0]) == 1:
        return [min(points)] if points else []
    rows = distinct(np.array(points))
    return [tuple(row) for row in rows[nondominated(rows)].tolist()]


def expected_improvement(
    mean: Matrix, deviation: Matrix, front: Matrix, reference: Column
) -> Column:
    """Return the expected hypervolume improvement of designs, (q,), in closed form.

    Emmerich, Deutz and Klinkenberg, "Hypervolume-based expected improvement: monotonicity
    properties and exact computation", CEC 2011.  Independent normal objectives y add the volume
    that y dominates of each box (l, u) that the front leaves open, so that

        E = sum over boxes of prod_k (psi_k(u_k) - psi_k(l_k)),
        psi_k(t) = E[max(t - y_k, 0)] = (t - mean_k) Phi(z) + deviation_k phi(z),
        z = (t - mean_k) / deviation_k,  psi_k(-inf) = 0.

    With one objective this is the expected improvement of Jones, Schonlau and Welch (1998).
    Of a front of 4 objectives at most 24 points count, of 5 at most 12, of more at most 8.

    Parameters
    ----------
    mean, deviation
        (q, m), deviations above 0.
    front
        (n, m), minimised.
    reference
        (m,), the point up to which volume counts.
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
    gain = above * ndtr(z) + deviation * np.exp(-0.5 * z * z) / ROOT_TWO_PI
    return np.where(np.isfinite(ends), gain, 0.0)

"""The first designs, then batches that a Gaussian process chooses (`docs/expensive.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtr
from threadpoolctl import ThreadpoolController

from dse.contract import Column, Index, Matrix, Search
from dse.contract.methods import Axes
from dse.model.evaluation import distinct
from dse.model.front import nondominated
from dse.search.expensive.process import Features, Process, fitted
from dse.search.heuristic.scales import Scales

_LEAST, BETWEEN = 4, 8
"""Least designs with losses to model them, and designs between the ends."""

LIKELY, LEAST_SPAN = 0.2, 0.1
"""The front is predicted from designs with a chance above this.  Its least range, relative to that
of all feasible designs."""

_FEW = 4_000
DIRECTIONS, FROM_EACH, AT_RANDOM, LIKELIEST = 16, 120, 1_500, 300
"""Of more than `_FEW` designs those are compared in full that are best in one of so many
directions, the likeliest ones, and random ones."""

_FAILING_NOISE = 0.02
"""Most variance of noise, relative to the variance of the violations: few working designs are no
exceptions among their neighbours."""

LEAST_ERROR = 0.2
"""Least standard error of a prediction, on the scale on which violations are modelled."""

REFERENCE = 1.1
"""The reference point, for a front that spans [0, 1]."""

_DIGITS = 9
"""Improvements that agree to so many digits are tied, and one of the designs is taken at random."""

MOST_POINTS = {1: 1, 2: 1_000, 3: 200, 4: 24}
"""Most points of a front by its number of objectives, 8 for more objectives."""

_ROOT_TWO_PI = float(np.sqrt(2 * np.pi))


def improve(search: Search, *, seed: int, population: int, candidates: int) -> None:
    """Search by expected hypervolume improvement until the room is used.

    At most so many `candidates` are drawn for a batch: all of a smaller space.
    """
    random, threads = np.random.default_rng(seed), ThreadpoolController()
    features, learner = Features(search), Learner()
    seen = first_designs(search, features, random, candidates)
    starts = range(0, len(seen), population)
    known = [search.evaluate(seen[start : start + population]) for start in starts]
    while search.room:
        near = neighbours(search, random, candidates // 2)
        pool = pooled(search, near, random, candidates)
        if not len(pool):
            return
        count = min(population, search.room, len(pool))
        loss, violation = (np.concatenate(parts) for parts in zip(*known, strict=True))
        with threads.limit(limits=1, user_api="blas"):  # matrices are small: more threads but wait
            found = features.of(seen), loss, violation
            rows = learner.batch(*found, features.of(pool), random, count)
        known.append(search.evaluate(pool[rows]))
        seen = np.concatenate([seen, pool[rows]])


# --- pools of designs


def pooled(search: Search, wanted: Index, random: np.random.Generator, count: int) -> Index:
    """Return up to `count` designs that are left, all of a small space, and new `wanted` ones."""
    drawn = search.unseen(random, count)
    wanted = wanted[~search.seen(wanted)] if len(drawn) == count else wanted[:0]
    return distinct(np.concatenate([wanted, drawn]))


def first_designs(
    search: Search, features: Features, random: np.random.Generator, count: int
) -> Index:
    """Return the first designs, ends and some between, at most half of the room."""
    inner = between(search, random, BETWEEN)  # drawn before the ends
    wanted = np.concatenate([extremes(search, random), inner])
    pool = pooled(search, wanted, random, count)
    most = min(search.room, max(_LEAST, search.room // 2), len(pool))
    distance = cdist(features.of(wanted[:most]), features.of(pool), "sqeuclidean")
    rows: list[int] = []
    for away in distance:
        away[rows] = np.inf
        rows.append(int(away.argmin()))
    return pool[rows]


def extremes(axes: Axes, random: np.random.Generator) -> Index:
    """Return the lowest and the highest design, and the lowest with each axis at its end.

    The lowest one and its neighbours are often on a front: hardware costs more with each knob.
    Choices, which have no end, take all their values in turn, as far as there are rows.
    """
    sizes = np.array(axes.sizes, dtype=np.int64)
    ordered = np.flatnonzero(np.array(axes.ordered) & (sizes > 1))
    rows: Index = np.zeros((2 + len(ordered), len(sizes)), dtype=np.int64)
    rows[1, ordered] = sizes[ordered] - 1
    rows[2 + np.arange(len(ordered)), ordered] = sizes[ordered] - 1
    for axis in np.flatnonzero(~np.array(axes.ordered)).tolist():
        values = random.permutation(axes.sizes[axis])
        rows[:, axis] = values[random.permutation(np.arange(len(rows)) % axes.sizes[axis])]
    return rows


def between(axes: Axes, random: np.random.Generator, count: int) -> Index:
    """Return a Latin hypercube of `count` designs: each axis evenly over its scale."""
    strata = np.tile(np.arange(count), (len(axes.sizes), 1))
    shares = (random.permuted(strata, axis=1).T + 0.5) / count
    return Scales(axes).spread(shares)


def neighbours(search: Search, random: np.random.Generator, count: int) -> Index:
    """Return designs that differ from one of the front on one axis or two, near or anywhere."""
    front = search.front[0]
    if not len(front):
        return front
    sizes = np.array(search.sizes, dtype=np.int64)
    rows = front[random.integers(len(front), size=count)]
    for change in range(2):
        axis = random.integers(len(sizes), size=count)
        place = (np.arange(count), axis)
        step = random.integers(-2, 3, size=count)
        anywhere = random.integers(0, sizes[axis])
        near = np.array(search.ordered)[axis] & (random.random(count) < 0.5)
        moved = np.where(near, (rows[place] + step).clip(0, sizes[axis] - 1), anywhere)
        rows[place] = np.where((change == 0) | (random.random(count) < 0.5), moved, rows[place])
    return distinct(rows)


# --- what is learnt, and chosen


class Learner:
    """The processes of all evaluated designs, learnt anew for each batch."""

    def __init__(self) -> None:
        """Know nothing."""
        self._parameters: dict[tuple[str, int], Column] = {}

    def _fitted(
        self, key: tuple[str, int], features: Matrix, values: Column, **noise: float
    ) -> Process:
        """Return a process, fitted from the parameters of the batch before."""
        process = fitted(features, values, self._parameters.get(key), **noise)
        self._parameters[key] = process.parameters
        return process

    def batch(
        self,
        features: Matrix,
        loss: Matrix,
        violation: Matrix,
        pool: Matrix,
        random: np.random.Generator,
        count: int,
    ) -> Index:
        """Return the rows of the pool (q, f) to evaluate next, after designs (n, f)."""
        chance = self.chances(features, violation, pool)
        finite = np.isfinite(loss).all(axis=1)
        feasible = np.all(violation <= 0, axis=1) & finite
        if finite.sum() < _LEAST or not feasible.any():
            return explore(pool, features, chance, random, count)
        scaled = np.stack([straight(column) for column in loss[finite].T], axis=1)
        processes = [
            self._fitted(("loss", k), features[finite], column) for k, column in enumerate(scaled.T)
        ]
        mean = np.stack([process.mean(pool) for process in processes], axis=1)
        observed = scaled[feasible[finite]]
        low, span = goals(observed, mean, chance)
        mean, observed = (mean - low) / span, (observed - low) / span
        rows = shortlist(mean, chance, random)
        some = Candidates(processes, pool[rows], mean[rows], span, chance[rows])
        return rows[some.choose(observed, min(count, len(rows)), random)]

    def chances(self, features: Matrix, violation: Matrix, pool: Matrix) -> Column:
        """Return the chance of each design (q, f) to be feasible, after violations (n, k).

        A constraint is met with the chance Phi(-mean / e), for the root mean square e of the
        leave-one-out errors of its process.
        """
        chance: Column = np.ones(len(pool))
        for column in np.flatnonzero(~(violation <= 0).all(axis=0)).tolist():
            rows, values = _scaled(violation[:, column])
            key = ("violation", column)
            process = self._fitted(key, features[rows], values, noise=_FAILING_NOISE)
            error = float(np.sqrt(np.mean(process.leave_one_out() ** 2)))
            chance = chance * ndtr(-process.mean(pool) / max(error, LEAST_ERROR))
        return chance


def straight(loss: Column) -> Column:
    """Return finite losses (n,) on a scale on which laws are straighter, in the same order.

    log(y) if all losses are above 0, -log(-y) if all are below, else asinh(y / s), with the median
    s of |y| other than 0: close to log far from 0.
    """
    if (loss > 0).all():
        return np.log(loss)
    if (loss < 0).all():
        return -np.log(-loss)
    size = np.abs(loss[loss != 0])
    return np.arcsinh(loss / (np.median(size) if len(size) else 1.0))


def _scaled(violation: Column) -> tuple[Column, Column]:
    """Return which rows count, and their violations v as asinh(v / median |v|).

    Binary violations, and designs that failed, are -1 and 1.
    """
    finite = np.isfinite(violation)
    if len(np.unique(violation[finite])) < 3:
        return np.ones(len(violation), dtype=bool), np.where(violation <= 0, -1.0, 1.0)
    known = violation[finite]
    return finite, np.arcsinh(known / np.median(np.abs(known[known != 0])))


def goals(observed: Matrix, mean: Matrix, chance: Column) -> tuple[Column, Column]:
    """Return the low corner and the range of the front, observed and predicted together.

    With a reference point from the observed front, designs beyond its ends would add nothing.
    """
    fronts = [some[nondominated(some)] for some in (observed, mean[chance > LIKELY]) if len(some)]
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
    distance = cdist(features[rows], seen).min(axis=1, initial=features.shape[1])
    chosen: list[int] = []
    for _ in range(min(count, len(rows))):
        merit = chance[rows] * distance
        merit[chosen] = -1.0
        chosen.append(best(merit, random))
        new = cdist(features[rows], features[rows[chosen[-1:]]])[:, 0]
        distance = np.minimum(distance, new)
    return rows[chosen]


# --- the hypervolume that designs are expected to add to a front


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
    most = MOST_POINTS.get(front.shape[1], 8)
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

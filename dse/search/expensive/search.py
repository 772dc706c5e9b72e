"""The loop: the first designs, then batches, each learnt from all evaluated designs."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtr
from threadpoolctl import ThreadpoolController

from dse.contract import Column, Index, Matrix, Search
from dse.contract.methods import Axes
from dse.model.evaluation import distinct
from dse.model.front import nondominated
from dse.search.expensive.improvement import Candidates, best
from dse.search.expensive.process import Features, Process, fitted
from dse.search.heuristic.scales import Scales

_LEAST = 4
"""Least designs with losses to model them."""

BETWEEN = 8
"""Designs between the ends."""

LIKELY = 0.2
"""Designs with a chance above this count as the predicted front."""

LEAST_SPAN = 0.1
"""Of the range of all feasible designs: least range of a front."""

DIRECTIONS, FROM_EACH, AT_RANDOM, LIKELIEST = 16, 120, 1_500, 300
"""Of many designs those are compared in full that are best in one of so many directions, the
likeliest ones, and random ones."""

_FEW = 4_000
"""So many designs are compared in full."""

_FAILING_NOISE = 0.02
"""Most variance of noise, relative to the variance of the violations: few working designs are no
exceptions among their neighbours."""

LEAST_ERROR = 0.2
"""Least standard error of a prediction, on the scale on which violations are modelled."""


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

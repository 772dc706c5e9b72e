"""The loop: the first designs, then batches, each learnt from all evaluated designs.

The first designs are the ends of all axes and some between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from threadpoolctl import ThreadpoolController

from dse.contract import Column, Index, Matrix, Search
from dse.contract.methods import Axes
from dse.search.expensive.choosing import Believer, explore, goals, shortlist
from dse.search.expensive.features import Features
from dse.search.expensive.pool import Pool, neighbours
from dse.search.expensive.process import ModelledLosses, Process, fitted
from dse.search.heuristic.scales import Scales

_LEAST = 4
"""Least designs with losses to model them."""

BETWEEN = 8
"""Designs between the ends."""

_MOST_NOISE = 0.02
"""Most variance of noise, relative to the variance of the violations: few working designs are no
exceptions among their neighbours."""

LEAST_ERROR = 0.2
"""Least standard error of a prediction, on the scale on which violations are modelled."""


@dataclass
class _Seen:
    """All evaluated designs, row by row."""

    index: Index
    loss: Matrix
    violation: Matrix

    def add(self, search: Search, index: Index) -> None:
        loss, violation = search.evaluate(index)
        self.index = np.concatenate([self.index, index])
        self.loss = np.concatenate([self.loss, loss])
        self.violation = np.concatenate([self.violation, violation])

    @property
    def finite(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.loss).all(axis=1))

    @property
    def feasible(self) -> NDArray[np.bool_]:
        return np.asarray((self.violation <= 0).all(axis=1)) & self.finite


def improve(search: Search, *, seed: int, population: int, candidates: int) -> None:
    """Search by expected hypervolume improvement until the room is used.

    Parameters
    ----------
    search, seed, population
        Arguments of a `Method`.
    candidates
        Most designs that are drawn for a batch: all of a smaller space.
    """
    random = np.random.default_rng(seed)
    features = Features(search)
    pool = Pool(search, features, candidates)
    seen = _Seen(
        np.empty((0, len(search.sizes)), dtype=np.int64),
        np.empty((0, search.objective_count)),
        np.empty((0, search.constraint_count)),
    )
    learning, threads = Learning(features), ThreadpoolController()
    with threads.limit(limits=1, user_api="blas"):
        first = _first(search, pool, random)
    for at in range(0, len(first), population):
        seen.add(search, first[at : at + population])
    while search.room:
        with threads.limit(limits=1, user_api="blas"):  # matrices are small: more threads but wait
            pool.refill(neighbours(search, search.front[0], random, candidates // 2), random)
            if not len(pool.index):
                return
            count = min(population, search.room, len(pool.index))
            chosen = learning.batch(pool, seen, random, count)
        seen.add(search, pool.index[chosen])


def _first(search: Search, pool: Pool, random: np.random.Generator) -> Index:
    """Return the first designs, ends and some between, at most half of the room."""
    most = min(search.room, max(_LEAST, search.room // 2))
    inner = between(search, random, BETWEEN)  # drawn before the ends
    wanted = np.concatenate([extremes(search, random), inner])
    pool.refill(wanted, random)
    return pool.nearest(wanted, most)


class Learning:
    """The model of all evaluated designs, learnt anew for each batch."""

    def __init__(self, features: Features) -> None:
        """Know nothing."""
        self._features = features
        self._objectives = ModelledLosses()
        self._chances = Chances()

    def batch(self, pool: Pool, seen: _Seen, random: np.random.Generator, count: int) -> Index:
        """Return the rows of the pool to evaluate next."""
        objectives = self._objectives
        features = self._features.of(seen.index)
        self._chances.learn(features, seen.violation)
        chance = self._chances.of(pool.features)
        finite, feasible = seen.finite, seen.feasible
        if finite.sum() < _LEAST or not feasible.any():
            return explore(pool.features, features, chance, random, count)
        objectives.learn(features[finite], seen.loss[finite])
        feasible_loss = objectives.straightened(seen.loss[feasible])
        mean = objectives.mean(pool.features)
        low, span = goals(feasible_loss, mean, chance)
        mean, observed = (mean - low) / span, (feasible_loss - low) / span
        rows = shortlist(mean, chance, random)
        believer = Believer(objectives, pool.features[rows], mean[rows], span, chance[rows])
        return rows[believer.choose(observed, min(count, len(rows)), random)]


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


class Chances:
    """Chances of feasibility, learnt anew from each batch.

    A constraint has a Gaussian process of its violations v, on the scale asinh(v / median |v|).
    Binary violations, and designs that failed, are -1 and 1.  A constraint is met with the chance
    Phi(-mean / e), for the root mean square e of the leave-one-out errors.
    """

    def __init__(self) -> None:
        """Know nothing: every design is feasible."""
        self._parts: list[tuple[Process, float]] = []
        self._parameters: dict[int, Column] = {}

    def learn(self, features: Matrix, violation: Matrix) -> None:
        """Learn from all designs seen: features (n, f) and violations (n, k), which may be inf."""
        missed = ~(violation <= 0)
        self._parts = []
        for column in np.flatnonzero(missed.any(axis=0)).tolist():
            rows, values = _scaled(violation[:, column])
            before = self._parameters.get(column)
            process = fitted(features[rows], values, before, noise=_MOST_NOISE)
            self._parameters[column] = process.parameters
            error = float(np.sqrt(np.mean(process.leave_one_out() ** 2)))
            self._parts.append((process, max(error, LEAST_ERROR)))

    def of(self, features: Matrix) -> Column:
        """Return the chance of each design, (q,): the product over the constraints."""
        chance: Column = np.ones(len(features))
        for process, error in self._parts:
            chance = chance * ndtr(-process.mean(features) / error)
        return chance


def _scaled(violation: Column) -> tuple[Column, Column]:
    """Return which rows count, and their violations on a scale with the same 0."""
    finite = np.isfinite(violation)
    size = np.abs(violation[finite & (violation != 0)])
    if len(np.unique(violation[finite])) < 3 or not len(size):
        return np.ones(len(violation), dtype=bool), np.where(violation <= 0, -1.0, 1.0)
    return finite, np.arcsinh(violation[finite] / np.median(size))

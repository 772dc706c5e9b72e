"""The loop: learn from what was evaluated, choose a batch, evaluate it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.contract import Index, Matrix, Search
from dse.model.front import nondominated
from dse.search.expensive.beginning import BETWEEN, between, extremes
from dse.search.expensive.choosing import Believer, explore, goals, shortlist
from dse.search.expensive.feasible import Chances
from dse.search.expensive.features import Features
from dse.search.expensive.model import ModelledLosses
from dse.search.expensive.pool import Drawn, Pool, Whole

LEAST = 4
"""Designs with losses before these are modelled."""

FROM_EXPECTED = 8
"""Designs of the front that is expected, which are tried first."""


@dataclass
class _Seen:
    """All that was evaluated, row by row."""

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


def improve(search: Search, *, seed: int, population: int, warm: bool, candidates: int) -> None:
    """Search by expected hypervolume improvement until the room is used.

    Parameters
    ----------
    search, seed, population
        What a `Method` is given.
    warm
        Whether to begin with the ends of all axes.
    candidates
        Spaces of at most so many designs are enumerated; of others as many are drawn for a batch.
    """
    random = np.random.default_rng(seed)
    features = Features(search)
    whole = search.unseen(random, candidates + 1)
    pool: Pool = (
        Whole(whole, features)
        if len(whole) <= candidates
        else Drawn(search, features, candidates, random)
    )
    seen = _Seen(
        np.empty((0, len(search.sizes)), dtype=np.int64),
        np.empty((0, search.objective_count)),
        np.empty((0, search.constraint_count)),
    )
    first = _first(search, pool, random, warm)
    for at in range(0, len(first), population):
        seen.add(search, first[at : at + population])
    objectives, chances = ModelledLosses(search.objective_count), Chances()
    while search.room:
        index = pool.refresh(seen.index, search.front[0], random)
        if not len(index):
            return
        count = min(population, search.room, len(index))
        chosen = _batch(search, pool, seen, objectives, chances, random, count)
        seen.add(search, index[chosen])


def _first(search: Search, pool: Pool, random: np.random.Generator, warm: bool) -> Index:
    """Return the designs to begin with: the expected front, ends, and some between; at most half
    of the room."""
    wanted = [between(search, random, BETWEEN)]
    if warm:
        wanted.insert(0, extremes(search, random))
    expected = search.expected(pool.index)
    known = np.flatnonzero(np.isfinite(expected).all(axis=1))
    if len(known):
        front = known[nondominated(expected[known])]
        front = front[np.argsort(expected[front, 0], kind="stable")]
        place = np.linspace(0, len(front) - 1, min(FROM_EXPECTED, len(front))).round().astype(int)
        wanted.insert(0, pool.index[front[place]])
    return pool.nearest(np.concatenate(wanted), min(search.room, max(LEAST, search.room // 2)))


def _batch(
    search: Search,
    pool: Pool,
    seen: _Seen,
    objectives: ModelledLosses,
    chances: Chances,
    random: np.random.Generator,
    count: int,
) -> Index:
    """Return the rows of the pool to evaluate next."""
    features = pool.features_of(seen.index)
    chances.learn(features, seen.violation)
    chance = chances.of(pool.features)
    finite, feasible = seen.finite, seen.feasible
    if finite.sum() < LEAST or not feasible.any():
        return explore(pool.features, features, chance, random, count)
    objectives.learn(features[finite], seen.loss[finite], search.expected(seen.index[finite]))
    mean = objectives.mean(pool.features, pool.index, search.expected)
    observed = objectives.straightened(seen.loss[feasible])
    low, span = goals(observed, mean, chance)
    mean, observed = (mean - low) / span, (observed - low) / span
    rows = shortlist(mean, chance, random)
    believer = Believer(objectives, pool.features[rows], mean[rows], span, chance[rows])
    return rows[believer.choose(observed, count)]

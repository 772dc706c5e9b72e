"""What cheaper levels say of designs before these are evaluated, and which designs they measure.

A design climbs one level at a time, and only as long as it is among those to be evaluated next:
what a level says may let another overtake it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dse.contract import Fidelity, Index, Matrix, Search
from dse.search.expensive.choosing import together
from dse.search.expensive.features import Features
from dse.search.expensive.pool import Pool
from dse.search.expensive.process import Expected, ModelledLosses

LEAST = 4
"""Designs with losses before a level is modelled."""

ROUNDS = 4
"""A choice is made anew about so often for each batch that is evaluated."""

WIDEST, FIRST = 64, 128
"""Most designs of one round, and of the lowest level at the beginning."""


class LevelModel:
    """What one level said of the designs that it measured, and what it would say of others.

    Its losses have processes about what the level below expects, as those evaluated have.
    """

    def __init__(
        self,
        level: Fidelity,
        features: Features,
        below: LevelModel | None,
        expected: Expected,
        count: int,
    ) -> None:
        """Know nothing of a level with so many losses, but what is `expected` by those below."""
        self.level, self._features = level, features
        self._below, self._expected = below, expected
        self._row: dict[bytes, int] = {}
        self._index: list[Index] = []
        self._loss = np.empty((0, count))
        self._has: Index = np.arange(0)
        self._modelled = ModelledLosses()

    def knows(self, index: Index) -> NDArray[np.bool_]:
        """Return which designs (n, d) the level has measured."""
        return self._rows(index) >= 0

    @property
    def spent(self) -> float:
        """What all that it measured cost, in evaluations."""
        return self.level.cost_share * len(self._loss)

    def measure(self, index: Index) -> None:
        """Measure designs that are not known, and learn from all of them."""
        self._row |= {row.tobytes(): at for at, row in enumerate(index, len(self._loss))}
        self._index.append(index)
        self._loss = np.concatenate([self._loss, self.level.losses(index)])
        finite = np.isfinite(self._loss)
        has = np.flatnonzero(finite.any(axis=0))  # it may lack the outputs of an objective
        if len(has) > len(self._has):
            self._has, self._modelled = has, ModelledLosses(measured=True)
        known = finite[:, has].all(axis=1)
        if len(has) and known.sum() >= LEAST:
            designs, loss = np.concatenate(self._index)[known], self._loss[known][:, has]
            self._modelled.learn(self._features.of(designs), loss, self._from_below(designs))

    def expected(self, index: Index) -> Matrix:
        """Return the losses (n, m) that designs have here, predicted where not measured."""
        modelled, found = self._modelled, self._expected(index).copy()
        if modelled.known:
            means = modelled.mean(self._features.of(index), index, self._from_below)
            for k, one, mean in zip(self._has, modelled.known, means.T, strict=True):
                found[:, k] = one.scale.inverse(mean)
        rows = self._rows(index)
        there = np.flatnonzero(rows >= 0)
        said = self._loss[rows[there]]
        found[there] = np.where(np.isfinite(said), said, found[there])
        return found

    def variance(self, index: Index) -> Matrix:
        """Return how sure that is: variances (n, m), on the scales on which losses are modelled."""
        found = np.zeros((len(index), self._loss.shape[1]))
        away = np.flatnonzero(~self.knows(index))
        if self._below is not None:
            found[away] = self._below.variance(index[away])
        features = self._features.of(index[away])
        for k, one in zip(self._has, self._modelled.known, strict=False):
            explained = (one.process.whitened(features) ** 2).sum(axis=0)
            own = np.maximum(one.process.variance - explained, 0.0)
            found[away, k] = own + one.slope**2 * found[away, k]
        return found

    def _from_below(self, index: Index) -> Matrix:
        """Return what those below expect of the losses that this level tells."""
        return self._expected(index)[:, self._has]

    def _rows(self, index: Index) -> Index:
        keys = np.ascontiguousarray(index, dtype=np.int64)
        rows: Index = np.array([self._row.get(row.tobytes(), -1) for row in keys], dtype=np.int64)
        return rows


class Levels:
    """All cheaper levels of a search; there may be none."""

    def __init__(self, search: Search, features: Features) -> None:
        """Know nothing."""
        self._levels: list[LevelModel] = []
        self.expected: Expected = search.expected
        for level in search.levels:
            below = self._levels[-1] if self._levels else None
            model = LevelModel(level, features, below, self.expected, search.objective_count)
            self._levels.append(model)
            self.expected = model.expected

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self._levels)

    def variance(self, index: Index, objectives: ModelledLosses) -> Matrix | float:
        """Return what is not known of what is expected: variances (n, m) of the losses."""
        if not self._levels:
            return 0.0
        slopes = np.array([one.slope for one in objectives.known])
        found: Matrix = slopes**2 * self._levels[-1].variance(index)
        return found

    def begin(self, pool: Pool, spread: Index, count: int, random: np.random.Generator) -> Index:
        """Measure designs that are `spread` at the lowest level, then those that may be the best.

        Returns up to `count` that are expected to have the most hypervolume together; it costs up
        to as much as their evaluation.
        """
        lowest = self._levels[0]
        lowest.measure(pool.nearest(spread, max(LEAST, self._left(lowest, count) // 2)))
        while True:
            expected = self.expected(pool.index)
            known = np.flatnonzero(np.isfinite(expected).all(axis=1))
            index, loss, features = pool.index[known], expected[known], pool.features[known]

            def unsure(rows: Index, index: Index = index) -> Matrix:
                return self._levels[-1].variance(index[rows])

            some = together(loss, features, self.width(count), random, unsure)
            if not len(some) or not self._measure(index[some], count):
                return index[together(loss, features, count, random)]

    def first(self, count: int) -> int:
        """Return how many designs the lowest level measures before it says anything."""
        return min(FIRST, max(LEAST, self._left(self._levels[0], count) // 2))

    def width(self, count: int) -> int:
        """Return how many designs are chosen at a time where `count` are evaluated."""
        shares = [one.level.cost_share for one in self._levels]
        each = [min(WIDEST, math.ceil(count / (ROUNDS * share))) for share in shares]
        return max([count, *each])

    def screen(self, index: Index, count: int, evaluated: int) -> bool:
        """Measure some designs (n, d), best first, of which `count` are to be evaluated next.

        Returns whether anything is known that was not; the choice is then to be made anew.  Where
        as much was spent as on evaluations, nothing is.
        """
        lacking = not all(one.knows(index[:count]).all() for one in self._levels)
        if lacking and self._measure(index, evaluated + count):
            return True
        self.climb(index[:count])
        return False

    def climb(self, index: Index) -> None:
        """Measure designs that are evaluated next at all levels, whatever it costs."""
        for one in self._levels:
            known = one.knows(index)
            if not known.all():
                one.measure(index[~known])

    def _measure(self, index: Index, evaluated: int) -> bool:
        """Measure each design at the lowest level that does not know it; return whether any was."""
        found = False
        for one in self._levels:
            known = one.knows(index)
            unknown, index = index[~known], index[known]
            if some := min(len(unknown), WIDEST, self._left(one, evaluated)):
                one.measure(unknown[:some])
                found = True
        return found

    def _left(self, one: LevelModel, evaluated: int) -> int:
        """Return how many designs a level may measure for what evaluations cost."""
        return max(0, int((evaluated - one.spent) / one.level.cost_share + 1e-9))

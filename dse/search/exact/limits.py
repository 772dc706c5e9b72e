"""How far the measures of designs may get worse, each alone, before the losses of a bound do.

Where the box of a design ends, in which its equals lie (`dse.search.exact.ties`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends, is_exact
from dse.contract import Column
from dse.model.bounds import Columns
from dse.model.influence import Traits
from dse.model.space import Index
from dse.search.exact.measures import Matrix, Measure, joined
from dse.search.exact.shortlists import Case
from dse.search.exact.work import CALL, ROW, spend

STEPS = 24
"""Halvings of a measure's range when looking for where the losses begin to differ."""

TOGETHER = 2_048
"""Values that are looked at together, where more halvings can be made at once."""

STEP = 1e-6
NEAR = 1e-11
"""Relative; a first step in looking for that, and losses that may be equal but for rounding."""


@dataclass(frozen=True)
class Moves:
    """Values of one measure each of some designs: whose, of which measure."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Column

    def at(self, values: Column) -> Moves:
        """Return the same measures at other values."""
        return replace(self, values=values)

    def take(self, chosen: NDArray[np.intp]) -> Moves:
        """Return some of them."""
        return Moves(self.rows[chosen], self.columns[chosen], self.values[chosen])


def boxes_of(
    case: Case,
    index: Index,
    loss: NDArray[np.float64],
    traits: Sequence[Traits],
    known: Sequence[Matrix],
) -> tuple[Matrix, Matrix]:
    """Return the measures of designs, and up to where each alone may rise without effect."""
    wanted = case.lists.wanted
    near, worst = known[0], _worst(case, 0)
    for stage in range(1, len(known)):
        near = joined(wanted, near, known[stage])
        worst = joined(wanted, worst, _worst(case, stage))
    furthest = np.broadcast_to(np.maximum(worst, near), near.shape).copy()
    matters = dict(zip(case.lists.group.names, case.directions, strict=True))
    moved = [False] * len(wanted)
    for column, one in enumerate(wanted):
        if all(matters[one.name]):
            furthest[:, column] = near[:, column]
        elif matters[one.name][one.high]:
            moved[column] = True
        else:
            furthest[:, column] = np.inf
    rows, columns = (place.ravel() for place in np.nonzero(np.tile(moved, (len(index), 1))))
    same, worse = (case.stood_for(index, traits, worse=worse) for worse in (False, True))
    reached = partial(_reached, case, same, worse, loss + NEAR * np.abs(loss))
    furthest[rows, columns] = _limit(reached, Moves(rows, columns, near[rows, columns]), furthest)
    return near, furthest


def _worst(case: Case, stage: int) -> Matrix:
    """Return the worst of each measure that a fleet of a stage may have, (1, measures)."""
    low, high = case.fleets[stage].hull or ({}, {})
    each = [case.lists.measured(end, stage) for end in (low, high)]
    return np.maximum(*each)


def _limit(reached: Callable[[Moves], NDArray[np.bool_]], near: Moves, far: Matrix) -> Column:
    """Return up to where values may rise from `near` towards `far` with the losses still reached.

    Few values are tried at many places together, many at the middle again and again.
    """
    if not len(near.rows):
        return near.values
    most = far[near.rows, near.columns]
    limit = np.minimum(near.values + STEP * np.abs(near.values), most)
    every = np.arange(len(limit))
    both = near.take(np.tile(every, 2)).at(np.concatenate([limit, most]))
    moves, free = reached(both).reshape(2, -1)
    limit[moves & free] = most[moves & free]
    left = np.flatnonzero(moves & ~free)
    some, low, high = near.take(left), limit[left], most[left]
    halvings = STEPS if len(left) else 0
    while halvings:
        once = min(halvings, max(1, (TOGETHER // len(left)).bit_length() - 1))
        halvings -= once
        share = np.arange(2**once + 1) / 2**once
        tried = low[:, np.newaxis] * (1 - share) + high[:, np.newaxis] * share
        inner = some.take(np.repeat(np.arange(len(left)), len(share) - 2))
        same = np.zeros((len(left), len(share) - 1), dtype=bool)
        same[:, :-1] = reached(inner.at(tried[:, 1:-1].ravel())).reshape(len(left), -1)
        first = np.argmin(same, axis=1)
        low, high = (tried[np.arange(len(left)), first + side] for side in (0, 1))
    limit[left] = high
    return limit


def _reached(
    case: Case, same: Columns, worse: Columns, most: Matrix, moves: Moves
) -> NDArray[np.bool_]:
    """Return which designs' losses are still at `most`, (n, m), when one measure of each changes.

    Losses rise with the measures, so they are least where all others stay as they are.  Where no
    such chain is feasible, bounds of all that may be worse tell; traits of which no value is
    wanted are left open.
    """
    loss, violation = _bounds(case, same, moves)
    met = np.asarray((loss <= most[moves.rows]).all(axis=1))
    missed = np.flatnonzero((violation > 0).any(axis=1))
    if len(missed):
        some = moves.take(missed)
        loss, violation = _bounds(case, worse, some)
        met[missed] = (loss <= most[some.rows]).all(axis=1) & (violation <= 0).all(axis=1)
    return met


def _bounds(case: Case, columns: Columns, moves: Moves) -> tuple[Matrix, Matrix]:
    """Return bounds of the losses and violations when one measure of each design changes."""
    spend(ROW * len(moves.rows) + CALL)
    some: Columns = {name: _taken(value, moves.rows) for name, value in columns.items()}
    for column in np.unique(moves.columns):
        one = case.lists.wanted[column]
        values = np.where(moves.columns == column, one.of(moves.values), np.nan)
        if one.stage is None:
            some[one.name] = _moved(some[one.name], one, values)
        else:
            stages = list(some[one.name])
            stages[one.stage] = _moved(stages[one.stage], one, values)
            some[one.name] = tuple(stages)
    return case.influence.bounds.best(some, {}, len(moves.rows))


def _moved(enclosed: Any, one: Measure, values: Column) -> Any:
    """Return what is enclosed with the end that is wanted at a measure's values, but for NaN."""
    low, high = ends(enclosed)
    if is_exact(enclosed):
        return np.where(np.isnan(values), low, values)
    if one.high:
        return Enclosure(low, np.where(np.isnan(values), high, values))
    return Enclosure(np.where(np.isnan(values), low, values), np.fmax(high, values))


def _taken(value: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(value, tuple):
        return tuple(_taken(part, rows) for part in value)
    if isinstance(value, Enclosure):
        return Enclosure(_taken(value.low, rows), _taken(value.high, rows))
    return value if len(value) == 1 else value[rows]

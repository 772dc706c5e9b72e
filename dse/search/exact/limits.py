"""How far the measures of designs may get worse, each alone, before the losses of a bound do.

Where the box of a design ends, in which its equals lie (`dse.search.exact.ties`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends, is_exact
from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.fleet import Traits
from dse.model.space import Index
from dse.model.stage import Columns
from dse.search.exact.measures import Matrix, Measure, joined
from dse.search.exact.partial import at_rows
from dse.search.exact.shortlists import NEAR, Box, Case, Together
from dse.search.exact.work import CALL, ROW, spend

STEPS = 24
"""Halvings of a measure's range when looking for where the losses begin to differ."""

TOGETHER = 2_048
"""Values that are examined together, where more halvings can be made at once."""

STEP = 1e-6
"""Relative; a first step in looking for that."""


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


def boxes_of(designs: Together, loss: Matrix) -> list[Box]:
    """Return the boxes of designs that have losses (n, m), for each case."""
    wanted = tuple(dict.fromkeys(one for case in designs.cases for one in case.lists.wanted))
    boxes, places, moves, most = [], [], [], []
    for case, own in designs.by_case():
        traits = [{name: one[own] for name, one in some.items()} for some in designs.traits]
        box, moved = _widest(case, designs.index[own], loss[own], traits)
        rows, columns = (place.ravel() for place in np.nonzero(np.tile(moved, (len(box.index), 1))))
        number = np.array([wanted.index(one) for one in case.lists.wanted], dtype=np.intp)
        boxes.append(box)
        places.append((rows, columns))
        moves.append((own.start + rows, number[columns], box.low[rows, columns]))
        most.append(box.high[rows, columns])
    reached = partial(
        _reached,
        designs.influence.bounds,
        wanted,
        designs.stood_for(worse=False),
        cache(designs.stood_for),
        loss + NEAR * np.abs(loss),
    )
    near = Moves(*(np.concatenate(parts) for parts in zip(*moves, strict=True)))
    limit = _limit(reached, near, np.concatenate(most))
    parts = np.split(limit, np.cumsum([len(one) for one in most])[:-1])
    for box, place, part in zip(boxes, places, parts, strict=True):
        box.high[place] = part
    return boxes


def _widest(
    case: Case, index: Index, loss: Matrix, traits: Sequence[Traits]
) -> tuple[Box, list[bool]]:
    """Return the largest boxes that there may be, and in which measures their ends are unknown."""
    wanted = case.lists.wanted
    known = [case.lists.measured(own, stage) for stage, own in enumerate(traits)]
    near = reduce(partial(joined, wanted), known)
    worst = reduce(partial(joined, wanted), (_worst(case, stage) for stage in range(len(known))))
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
    return Box(case, index, loss, known, near, furthest), moved


def _worst(case: Case, stage: int) -> Matrix:
    """Return the worst of each measure that a fleet of a stage may have, (1, measures)."""
    each = [case.lists.measured(end, stage) for end in case.lists.group.hulls[stage]]
    return np.maximum(*each)


def _limit(reached: Callable[[Moves], NDArray[np.bool_]], near: Moves, most: Column) -> Column:
    """Return up to where values may rise from `near` towards `most` with the losses still reached.

    Few values are tried at many places together, many at the middle again and again.
    """
    if not len(near.rows):
        return near.values
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
    bounds: Bounds,
    wanted: Sequence[Measure],
    same: Columns,
    worse: Callable[[], Columns],
    most: Matrix,
    moves: Moves,
) -> NDArray[np.bool_]:
    """Return which designs' losses are still at `most`, (n, m), when one measure of each changes.

    Losses rise with the measures, so they are least where all others stay as they are.  Where no
    such chain is feasible, bounds of all that may be worse tell; traits of which no value is
    wanted are left open.
    """
    loss, violation = _bounds(bounds, wanted, same, moves)
    met = np.asarray((loss <= most[moves.rows]).all(axis=1))
    missed = np.flatnonzero((violation > 0).any(axis=1))
    if len(missed):
        some = moves.take(missed)
        loss, violation = _bounds(bounds, wanted, worse(), some)
        met[missed] = (loss <= most[some.rows]).all(axis=1) & (violation <= 0).all(axis=1)
    return met


def _bounds(
    bounds: Bounds, wanted: Sequence[Measure], columns: Columns, moves: Moves
) -> tuple[Matrix, Matrix]:
    """Return bounds of the losses and violations when one measure of each design changes."""
    spend(ROW * len(moves.rows) + CALL)
    some = at_rows(columns, moves.rows)
    for column in np.unique(moves.columns):
        one = wanted[column]
        values = np.where(moves.columns == column, one.of(moves.values), np.nan)
        if one.stage is None:
            some[one.name] = _moved(some[one.name], one, values)
        else:
            stages = list(some[one.name])
            stages[one.stage] = _moved(stages[one.stage], one, values)
            some[one.name] = tuple(stages)
    return bounds.best(some, len(moves.rows))


def _moved(enclosed: Any, one: Measure, values: Column) -> Any:
    """Return what is enclosed with the end that is wanted at a measure's values, but for NaN."""
    low, high = ends(enclosed)
    if is_exact(enclosed):
        return np.where(np.isnan(values), low, values)
    if one.high:
        return Enclosure(low, np.where(np.isnan(values), high, values))
    return Enclosure(np.where(np.isnan(values), low, values), np.fmax(high, values))

"""Designs with the objective values of one on the front, which was found in their place.

A design D of the front may have been replaced by one, D', that is as good in every measure
(`dse.search.exact.measures`), and so has the same losses.  Losses rise with each measure, so a
bound of all designs that are no better than D' in any measure, and as bad as D in one of them,
does not exceed these losses: D lies in a *box*, from the measures of D' to where such bounds
begin to exceed its losses, which is looked for one measure at a time (`_limits`).

The box is searched from the last joined stage to the first.  Let D = (p, f) with the fleet f of
the last stage.  By the proof of `Chains`, some joined pair (p', f'), as good as (p, f), has f' as
good as f, and p' as good as p beside f.  Both (p', f') and (p', f) are then between D' and D, in
the box.  So every f is found by looking for joined pairs in the box, and beside each p' of them
for fleets f that keep the chain in it.  What is left is the same search for p, beside f.  Where
there are no chains, only single fleets were replaced, and D' itself gives p'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, ends, is_exact
from dse.contract import Column
from dse.model.bounds import Columns
from dse.model.front import dominated, nondominated
from dse.model.influence import Traits
from dse.model.space import Index
from dse.search.exact.fleets import MOST
from dse.search.exact.measures import Matrix, Measure, joined, room
from dse.search.exact.partial import NotComposedError
from dse.search.exact.shortlists import Case
from dse.search.exact.work import CALL, ROW, spend

MOST_EQUALS = 200_000
"""Partial designs that may have the objective values of those on a front."""

MOST_COMPARED = 100_000_000
AT_ONCE = 1_000_000
"""Parts of designs that are compared with boxes, in all and together."""

STEPS = 24
"""Halvings of a measure's range when looking for where the losses begin to differ."""

STEP = 1e-6
SLACK = 1e-9
"""Relative; a first step in looking for that, and what rounding can do to a measure."""

NEAR = 1e-11
"""Relative; losses closer than this may be equal but for rounding."""

Matches = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Which points are in which boxes."""


@dataclass(frozen=True)
class PartlyChosen:
    """Designs of which the last joined stages are chosen: which, and what these measure."""

    origin: NDArray[np.intp]
    index: Index
    measures: Matrix | None

    def beside(self, rows: NDArray[np.intp], values: Matrix, case: Case) -> Matrix:
        """Return the measures of what is chosen in some rows, joined with others."""
        if self.measures is None:
            return values
        return joined(case.lists.wanted, self.measures[rows], values)


def equals(case: Case, index: Index, loss: NDArray[np.float64]) -> tuple[Index, NDArray[np.intp]]:
    """Return designs that may have the `loss` of designs `index`, with whose rows.

    Raises
    ------
    NotComposedError
        They are too many.
    """
    known = [
        case.lists.measured(case.traits(fleets, index), stage)
        for stage, fleets in enumerate(case.fleets)
    ]
    low, high = _limits(case, index, loss, known)
    slack = SLACK * np.abs(low)
    box = low - slack, high + slack
    rows, chains = np.arange(len(index)), case.chains
    if chains is not None:  # all that are equal to designs of the same measures are the same
        places = [place for fleets in case.fleets for place in fleets.part.places]
        same = np.column_stack([np.delete(index, places, axis=1), low])
        rows = np.unique(same, axis=0, return_index=True)[1]
    found = PartlyChosen(rows, index[rows], None)
    order = range(len(case.fleets)) if chains is None else chains.order
    for place in reversed(range(len(order))):
        found = _chosen(case, found, box, known, order[: place + 1])
    return found.index, found.origin


def _chosen(
    case: Case,
    found: PartlyChosen,
    box: tuple[Matrix, Matrix],
    known: list[Matrix],
    order: tuple[int, ...] | range,
) -> PartlyChosen:
    """Return designs of which the stage that is last in the order is chosen as well."""
    stage = order[-1]
    places = list(case.fleets[stage].part.places)
    rows, rest = _others(case, found, box, known, order)
    low, high = _room(case, box, found.origin[rows], rest)
    origin, index, measures = [], [], []
    for some in case.fleets[stage].chunks(partial(_may_lie, case, stage, low, _tops(high))):
        values = case.lists.measured(some.traits, stage)
        picked, match = _within(values, low, high)
        designs = found.index[rows[match]]
        designs[:, places] = some.positions[picked]
        origin.append(found.origin[rows[match]])
        index.append(designs)
        measures.append(found.beside(rows[match], values[picked], case))
    open_ = [place for k in order[:-1] for place in case.fleets[k].part.places]
    chosen, origins = np.concatenate(index), np.concatenate(origin)
    # equal in what is chosen: what is open is that of the design itself
    _, first = np.unique(
        np.column_stack([origins, np.delete(chosen, open_, axis=1)]), axis=0, return_index=True
    )
    _check(len(first))
    return PartlyChosen(origins[first], chosen[first], np.concatenate(measures)[first])


def _tops(high: Matrix) -> Matrix:
    """Return the upper ends of boxes that lie in no other one's range, each once."""
    tops = -np.clip(high, -MOST, MOST)
    return -np.unique(tops[nondominated(tops)], axis=0) if len(tops) else tops


def _may_lie(
    case: Case, stage: int, low: Matrix, tops: Matrix, least: Traits, most: Traits
) -> NDArray[np.bool_]:
    """Return which fleets between two ends may be in a box, or may be better than one."""
    values = [case.lists.measured(end, stage) for end in (least, most)]
    best = np.minimum(*values)
    best = np.clip(best - SLACK * np.abs(best), -MOST, MOST)
    some = np.asarray((np.maximum(*values) >= low.min(axis=0, initial=np.inf)).all(axis=1))
    some[some] = dominated(-best[some], -tops)
    return some


def _others(
    case: Case,
    found: PartlyChosen,
    box: tuple[Matrix, Matrix],
    known: list[Matrix],
    order: tuple[int, ...] | range,
) -> tuple[NDArray[np.intp], Matrix | None]:
    """Return which designs have which measures without the stage that is last in the order."""
    rows = np.arange(len(found.origin))
    if len(order) == 1:
        return rows, found.measures
    wanted, chains = case.lists.wanted, case.chains
    own = known[order[0]]
    for stage in order[1:-1]:
        own = joined(wanted, own, known[stage])
    whose, rest = [rows], [found.beside(rows, own[found.origin], case)]
    if chains is not None:
        low, high = _room(case, box, found.origin, found.measures)
        pairs: set[tuple[int, int]] = set()
        for (left, _), values in chains.pairs(len(order) - 1):
            picked, match = _within(values, low, high)
            pairs.update(zip(match.tolist(), left[picked].tolist(), strict=True))
            _check(len(pairs))
        table = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)
        parts = chains.prefixes[len(order) - 2].measures[table[:, 1]]
        whose.append(table[:, 0])
        rest.append(found.beside(table[:, 0], parts, case))
    return np.concatenate(whose), np.concatenate(rest)


def _room(
    case: Case, box: tuple[Matrix, Matrix], origin: NDArray[np.intp], rest: Matrix | None
) -> tuple[Matrix, Matrix]:
    """Return between which measures a part lies beside `rest` in the boxes of designs."""
    low, high = box[0][origin], box[1][origin]
    if rest is not None:
        return room(case.lists.wanted, low, high, rest)
    for column, one in enumerate(case.lists.wanted):
        if one.join != "sum":
            low[:, column] = -np.inf
    return low, high


def _limits(
    case: Case, index: Index, loss: NDArray[np.float64], known: list[Matrix]
) -> tuple[Matrix, Matrix]:
    """Return the measures of designs, and up to where each alone may rise without effect."""
    wanted = case.lists.wanted
    near, worst = known[0], _worst(case, 0)
    for stage in range(1, len(known)):
        near = joined(wanted, near, known[stage])
        worst = joined(wanted, worst, _worst(case, stage))
    limits = np.broadcast_to(np.maximum(worst, near), near.shape).copy()
    matters = dict(zip(case.lists.group.names, case.directions, strict=True))
    reached = _comparison(case, index, loss)
    for column, one in enumerate(wanted):
        if all(matters[one.name]):
            limits[:, column] = near[:, column]
        elif matters[one.name][one.high]:
            limits[:, column] = _limit(partial(reached, column), near[:, column], limits[:, column])
        else:
            limits[:, column] = np.inf
    return near, limits


def _worst(case: Case, stage: int) -> Matrix:
    """Return the worst of each measure that a fleet of a stage may have, (1, measures)."""
    low, high = case.fleets[stage].hull or ({}, {})
    each = [case.lists.measured(end, stage) for end in (low, high)]
    return np.maximum(*each)


def _limit(
    reached: Callable[[NDArray[np.intp], Column], NDArray[np.bool_]], near: Column, far: Column
) -> Column:
    """Return up to where values may rise from `near` to `far` with the losses still reached."""
    limit = np.minimum(near + STEP * np.abs(near), far)
    rows = np.flatnonzero(reached(np.arange(len(near)), limit))
    same = reached(rows, far[rows])
    limit[rows[same]] = far[rows[same]]
    rows = rows[~same]
    near, far = limit[rows], far[rows]
    for _ in range(STEPS):
        middle = near / 2 + far / 2
        same = reached(rows, middle)
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    limit[rows] = far
    return limit


def _comparison(
    case: Case, index: Index, loss: NDArray[np.float64]
) -> Callable[[int, NDArray[np.intp], Column], NDArray[np.bool_]]:
    """Return what tells which designs' losses are still reached when one measure changes.

    Losses rise with the measures, so they are least where all others stay as they are.  Where no
    such chain is feasible, bounds of all that may be worse tell; traits of which no value is
    wanted are left open.
    """
    most = loss + NEAR * np.abs(loss)
    same, worse = (case.stood_for(index, worse=worse) for worse in (False, True))

    def reached(column: int, rows: NDArray[np.intp], values: Column) -> NDArray[np.bool_]:
        def bound(columns: Columns, some: NDArray[np.bool_]) -> tuple[Matrix, Matrix]:
            spend(ROW * len(rows) + CALL)
            taken = {name: _taken(value, rows[some], len(index)) for name, value in columns.items()}
            moved = _with(taken, case.lists.wanted[column], values[some])
            return case.influence.bounds.best(moved, {}, int(some.sum()))

        found, violation = bound(same, np.ones(len(rows), dtype=bool))
        met = np.asarray((found <= most[rows]).all(axis=1))
        missed = np.asarray((violation > 0).any(axis=1))
        if missed.any():
            found, violation = bound(worse, missed)
            reaches = (found <= most[rows[missed]]).all(axis=1)
            met[missed] = reaches & (violation <= 0).all(axis=1)
        return met

    return reached


def _with(columns: Columns, one: Measure, values: Column) -> Columns:
    """Return columns in which one measure has other values."""
    if one.stage is None:
        return columns | {one.name: _moved(columns[one.name], one, values)}
    stages = list(columns[one.name])
    stages[one.stage] = _moved(stages[one.stage], one, values)
    return columns | {one.name: tuple(stages)}


def _moved(enclosed: Any, one: Measure, values: Column) -> Any:
    """Return what is enclosed with the end that is wanted moved to a measure's values."""
    end = one.of(values)
    if is_exact(enclosed):
        return end
    low, high = ends(enclosed)
    return Enclosure(low, end) if one.high else Enclosure(end, np.maximum(high, end))


def _taken(value: Any, rows: NDArray[np.intp], count: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_taken(part, rows, count) for part in value)
    if isinstance(value, Enclosure):
        return Enclosure(_taken(value.low, rows, count), _taken(value.high, rows, count))
    return np.broadcast_to(value, (count,))[rows]


def _within(points: Matrix, low: Matrix, high: Matrix) -> Matches:
    """Return which of the points are in which boxes, of those ordered by the best measure."""
    ends = []
    for column in range(points.shape[1]):
        order = np.argsort(points[:, column], kind="stable")
        ordered = points[order, column]
        first = np.searchsorted(ordered, low[:, column], side="left")
        last = np.searchsorted(ordered, high[:, column], side="right")
        ends.append((order, first, np.maximum(last - first, 0)))
    order, first, counts = min(ends, key=lambda end: int(end[2].sum()))
    total = np.cumsum(counts)
    if len(total) and total[-1] > MOST_COMPARED:
        raise NotComposedError("designs of equal objective values are too many")
    found: list[Matches] = []
    for begin in range(0, int(total[-1]) if len(total) else 0, AT_ONCE):
        number = np.arange(begin, min(begin + AT_ONCE, int(total[-1])))
        spend(len(number) + CALL)
        box = np.searchsorted(total, number, side="right")
        point = order[first[box] + number - (total[box] - counts[box])]
        for column in range(points.shape[1]):
            values = points[point, column]
            inside = (values >= low[box, column]) & (values <= high[box, column])
            point, box = point[inside], box[inside]
        found.append((point, box))
        _check(sum(len(some[0]) for some in found))
    none = np.empty(0, dtype=np.intp)
    return (
        np.concatenate([none, *(point for point, _ in found)]),
        np.concatenate([none, *(box for _, box in found)]),
    )


def _check(count: int) -> None:
    if count > MOST_EQUALS:
        raise NotComposedError("designs of equal objective values are too many")


def close(loss: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are equal but for rounding."""
    return np.asarray(np.isclose(loss, other, rtol=NEAR, atol=0.0).all(axis=1))

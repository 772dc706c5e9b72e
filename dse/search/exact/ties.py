"""Designs with the objective values of one on the front, which was found in their place.

A design D of the front may have been replaced by one, D', that is as good in every measure
(`dse.search.exact.measures`), and so has the same losses.  Losses rise with each measure, so a
bound of all designs that are no better than D' in any measure, and as bad as D in one of them,
does not exceed these losses: D lies in a *box*, from the measures of D' to where such bounds
begin to exceed its losses, which is looked for one measure at a time (`dse.search.exact.limits`).

The box is searched from the last joined stage to the first.  Let D = (p, f) with the fleet f of
the last stage.  By the proof of `Chains`, some joined pair (p', f'), as good as (p, f), has f' as
good as f, and p' as good as p beside f.  Both (p', f') and (p', f) are then between D' and D, in
the box.  So every f is found by looking for joined pairs in the box, and beside each p' of them
for fleets f that keep the chain in it.  What is left is the same search for p, beside f.  Where
there are no chains, only single fleets were replaced, and D' itself gives p'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.evaluation import distinct, distinct_rows
from dse.model.fleet import Traits
from dse.model.front import dominated, nondominated
from dse.model.space import Index
from dse.search.exact.fleets import MOST
from dse.search.exact.measures import Matrix, joined, of_none
from dse.search.exact.shortlists import NEAR, Box, Case
from dse.search.exact.work import CALL, NotComposedError, spend

MOST_EQUALS = 200_000
"""Partial designs that may have the objective values of those on a front."""

MOST_COMPARED = 100_000_000
AT_ONCE = 1_000_000
"""Parts of designs that are compared with boxes, in all and together."""

SAMPLE = 512
"""Points that tell by which measure they are best ordered."""

SLACK = 1e-9
"""Relative; what rounding can do to a measure."""

Matches = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Which points are in which boxes."""


@dataclass(frozen=True)
class PartlyChosen:
    """Designs of which the last joined stages are chosen: which, and what these measure."""

    origin: NDArray[np.intp]
    index: Index
    measures: Matrix


def equals(designs: Box) -> tuple[Index, NDArray[np.intp]]:
    """Return designs that may have the losses of some designs, with whose rows.

    Raises
    ------
    NotComposedError
        They are too many.
    """
    case, index, low = designs.case, designs.index, designs.low
    slack = SLACK * np.abs(low)
    near = replace(designs, low=low - slack, high=designs.high + slack)
    rows, chains = np.arange(len(index)), case.chains
    if chains is not None:  # all that are equal to designs of the same measures are the same
        places = [place for fleets in case.fleets for place in fleets.part.places]
        same = np.column_stack([np.delete(index, places, axis=1), low])
        rows = distinct_rows(same)
    found = PartlyChosen(rows, index[rows], np.repeat(of_none(case.lists.wanted), len(rows), 0))
    order = range(len(case.fleets)) if chains is None else chains.order
    for place in reversed(range(len(order))):
        found = _chosen(near, found, order[: place + 1])
    return found.index, found.origin


def _chosen(near: Box, found: PartlyChosen, order: tuple[int, ...] | range) -> PartlyChosen:
    """Return designs of which the stage that is last in the order is chosen as well."""
    case, stage = near.case, order[-1]
    places = list(case.fleets[stage].part.places)
    rows, rest = _others(near, found, order)
    low, high = near.room(found.origin[rows], rest)
    origin, index, measures = [], [], []
    for some in case.fleets[stage].chunks(partial(_may_lie, case, stage, low, _tops(high))):
        values = case.lists.measured(some.traits, stage)
        picked, match = _within(values, low, high)
        designs = found.index[rows[match]]
        designs[:, places] = some.positions[picked]
        origin.append(found.origin[rows[match]])
        index.append(designs)
        measures.append(joined(case.lists.wanted, found.measures[rows[match]], values[picked]))
    open_ = [place for k in order[:-1] for place in case.fleets[k].part.places]
    chosen, origins = np.concatenate(index), np.concatenate(origin)
    # equal in what is chosen: what is open is that of the design itself
    first = distinct_rows(np.column_stack([origins, np.delete(chosen, open_, axis=1)]))
    _check(len(first))
    return PartlyChosen(origins[first], chosen[first], np.concatenate(measures)[first])


def _tops(high: Matrix) -> Matrix:
    """Return the upper ends of boxes that lie in no other one's range, each once."""
    tops = -np.clip(high, -MOST, MOST)
    tops = tops[nondominated(tops)] if len(tops) else tops
    return -distinct(tops)


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
    near: Box, found: PartlyChosen, order: tuple[int, ...] | range
) -> tuple[NDArray[np.intp], Matrix]:
    """Return which designs have which measures without the stage that is last in the order."""
    join, chains = partial(joined, near.case.lists.wanted), near.case.chains
    own = (near.known[stage][found.origin] for stage in order[:-1])
    whose, rest = [np.arange(len(found.origin))], [reduce(join, own, found.measures)]
    if chains is not None and len(order) > 1:
        low, high = near.room(found.origin, found.measures)
        pairs: set[tuple[int, int]] = set()
        for (left, _), values in chains.pairs(len(order) - 1):
            picked, match = _within(values, low, high)
            pairs.update(zip(match.tolist(), left[picked].tolist(), strict=True))
            _check(len(pairs))
        table = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)
        parts = chains.prefixes[len(order) - 2].measures[table[:, 1]]
        whose.append(table[:, 0])
        rest.append(join(found.measures[table[:, 0]], parts))
    return np.concatenate(whose), np.concatenate(rest)


def _within(points: Matrix, low: Matrix, high: Matrix) -> Matches:
    """Return which of the points are in which boxes, of those ordered by the best measure."""
    every = np.arange(len(points))
    ends = low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)
    for column, (least, most) in enumerate(zip(*ends, strict=True)):
        values = points[every, column]
        every = every[(values >= least) & (values <= most)]
    points = points[every]
    some = points[:: max(1, len(points) // SAMPLE)]
    spans = [_span(*columns)[2].sum() for columns in zip(some.T, low.T, high.T, strict=True)]
    column = int(np.argmin(spans))
    order, first, counts = _span(points[:, column], low[:, column], high[:, column])
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
        found.append((every[point], box))
        _check(sum(len(some[0]) for some in found))
    none = np.empty(0, dtype=np.intp)
    return (
        np.concatenate([none, *(point for point, _ in found)]),
        np.concatenate([none, *(box for _, box in found)]),
    )


def _span(values: Column, low: Column, high: Column) -> tuple[NDArray[np.intp], ...]:
    """Return the order of values, and of each range where in it it begins and how many it holds."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.searchsorted(ordered, low, side="left")
    last = np.searchsorted(ordered, high, side="right")
    return order, first, np.maximum(last - first, 0)


def _check(count: int) -> None:
    if count > MOST_EQUALS:
        raise NotComposedError("designs of equal objective values are too many")


def close(loss: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are equal but for rounding."""
    return np.asarray(np.isclose(loss, other, rtol=NEAR, atol=0.0).all(axis=1))

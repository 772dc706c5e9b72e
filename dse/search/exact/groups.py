"""Scenarios that share fleets, and what matters in them; all are searched together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.fleet import Traits
from dse.model.influence import Influence, beside_stages
from dse.model.space import Index
from dse.model.stage import SHARED_COLUMNS, Columns, StageParts
from dse.search.exact.fleets import WHOLE, Fleets
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.measures import Matrix
from dse.search.exact.prospects import Group
from dse.search.exact.work import portions

MOST_LOOKED = 50_000_000
"""Fleets that are examined one by one, over all scenarios that do not share them."""

CHUNK = 50_000
"""Scenarios that are bounded together."""

Offer = tuple[Sequence[tuple[Traits, Traits]], Index]
"""Ends of the traits of each stage in some scenarios, one value or one for each; and these."""


def fleet_kinds(
    bounds: Bounds, parts: Sequence[StageParts], scenarios: Index
) -> tuple[Matrix, NDArray[np.intp], Sequence[str]]:
    """Return what tells the fleets of scenarios (s, d) apart, kind by kind, and which kind each is.

    The last but one columns are what is settled beside stages, of which the names are returned.
    """
    columns = bounds.problem.space.columns(scenarios)
    known = beside_stages(bounds, columns)
    deciding = (*SHARED_COLUMNS, *(part.stage.policy for part in parts))
    shared = [columns[name] for name in deciding if name in columns]
    for part in parts:
        shared += [] if (filled := part.stage.filled(columns)).shape[1] == 1 else [*filled]
    shared += [*known.values(), bounds.floor(columns)]
    table = np.stack([np.broadcast_to(values, (len(scenarios),)) for values in shared], axis=1)
    keys, which = np.unique(table, axis=0, return_inverse=True)
    return keys, which.reshape(-1), tuple(known)


def sharing_fleets(
    bounds: Bounds,
    parts: Sequence[StageParts],
    scenarios: Index,
    incumbents: Incumbents,
) -> list[Group]:
    """Return which of the scenarios (s, d) share fleets; nothing when they are too many.

    Those are omitted in which a stage has no fleet.
    """
    keys, which, known = fleet_kinds(bounds, parts, scenarios)
    sizes = bounds.problem.space.sizes
    counts = [math.prod(sizes[k] for k in part.places) for part in parts]
    if len(keys) * sum(min(count, WHOLE) for count in counts) > MOST_LOOKED:
        return []
    found = []
    for position, key in enumerate(keys):
        rows = np.flatnonzero(which == position)
        values = dict(zip(known, key[-1 - len(known) : -1], strict=True))
        fixed = {name: np.full(1, value) for name, value in values.items() if np.isfinite(value)}
        influence = Influence(bounds, fixed)
        point, floor = scenarios[rows[0]], float(key[-1])
        columns = bounds.problem.space.columns(scenarios[rows[:1]])
        own = [replace(part, stage=part.stage.at(columns)) for part in parts]
        fleets = tuple(Fleets(influence, part, point, floor) for part in own)
        found.append(Group(influence, rows, fleets, scenarios[rows], incumbents))
    return _with_wants([group for group in _without_empty(found) if group.complete])


def _without_empty(groups: Sequence[Group]) -> list[Group]:
    """Omit fleets that carry nothing where no design (s, d) with one is feasible."""
    fleets = [list(group.fleets) for group in groups]
    chosen = [
        (position, stage)
        for position, group in enumerate(groups)
        for stage, one in enumerate(group.fleets)
        if group.complete and group.influence.capacities and one.floor < one.smallest
    ]
    asking = [groups[k] for k, _ in chosen]
    offers = [_with_empty(group, stage) for group, (_, stage) in zip(asking, chosen, strict=True)]
    ruled_out = [True] * len(chosen)
    for influence, columns, count, own in _together(asking, offers):
        _, violation = influence.bounds.best(columns, count)
        for which, rows in own:
            ruled_out[which] = bool((violation[rows] > 0).any(axis=1).all())
    for k, stage in itertools.compress(chosen, ruled_out):
        fleets[k][stage] = replace(fleets[k][stage], floor=fleets[k][stage].smallest)
    return [replace(group, fleets=tuple(own)) for group, own in zip(groups, fleets, strict=True)]


def _with_empty(group: Group, stage: int) -> Offer:
    """Return what designs of a group's scenarios offer of which a stage carries nothing."""
    traits = group.fleets[stage].empty
    count = len(next(iter(traits.values())))
    empty = {name: np.tile(one, len(group.scenarios)) for name, one in traits.items()}
    hulls = [*group.hulls]
    hulls[stage] = empty, empty
    return hulls, np.repeat(group.scenarios, count, axis=0)


def _with_wants(groups: Sequence[Group]) -> list[Group]:
    """Find out in which directions traits matter in the scenarios of groups."""
    found = [*groups]
    offers = [(group.hulls, group.scenarios) for group in groups]
    for influence, columns, count, own in _together(groups, offers):
        names = groups[own[0][0]].names
        answers = influence.wants(columns, count)
        table = np.array([[want[name] for name in names] for want in answers])
        for k, rows in own:
            found[k] = replace(groups[k], wants=table[..., rows].transpose(3, 0, 1, 2))
    return found


def capacity_enough(groups: Sequence[Group]) -> list[Column]:
    """Return what capacity is enough in the scenarios of groups; see `Influence.enough`."""
    found = [np.empty(0)] * len(groups)
    offers = [(group.hulls, group.scenarios) for group in groups]
    for influence, columns, count, own in _together(groups, offers):
        enough = np.broadcast_to(influence.enough(columns), (count,))
        for k, rows in own:
            found[k] = enough[rows]
    return found


def _together(
    groups: Sequence[Group], offers: Sequence[Offer]
) -> Iterator[tuple[Influence, Columns, int, list[tuple[int, slice]]]]:
    """Yield what designs of groups of the same traits offer, and which rows are whose."""
    chosen = [k for k, (_, index) in enumerate(offers) if len(index)]
    chosen.sort(key=lambda k: groups[k].names)
    for _, alike in itertools.groupby(chosen, lambda k: groups[k].names):
        for some in portions(((k, offers[k][1]) for k in alike), CHUNK):
            influence = groups[some[0][0]].influence
            edges = [0, *itertools.accumulate(len(index) for _, index in some)]
            index = np.concatenate([index for _, index in some])
            columns: Columns = influence.bounds.problem.space.columns(index)
            hulls = zip(*(offers[k][0] for k, _ in some), strict=True)
            ends = zip(*(_stacked(stage, np.diff(edges)) for stage in hulls), strict=True)
            rows = itertools.starmap(slice, itertools.pairwise(edges))
            own = [(k, which) for (k, _), which in zip(some, rows, strict=True)]
            yield influence, columns | influence.enclosed_chain(*ends), len(index), own


def _stacked(
    hulls: Sequence[tuple[Traits, Traits]], counts: NDArray[np.intp]
) -> tuple[Traits, Traits]:
    """Return the ends of the traits of one stage in several sets of designs, as one."""
    if len(hulls) == 1:
        return hulls[0]
    found = []
    for ends in zip(*hulls, strict=True):
        found.append(
            {
                name: np.concatenate(
                    [np.broadcast_to(end[name], n) for end, n in zip(ends, counts, strict=True)]
                )
                for name in ends[0]
            }
        )
    low, high = found
    return (low, low) if all(one is other for one, other in hulls) else (low, high)

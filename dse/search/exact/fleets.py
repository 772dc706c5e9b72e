"""The fleets of a stage by their traits: those that no other fleet can replace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.fleet import STAGE_CAPACITY
from dse.model.front import nondominated
from dse.model.influence import Influence, Traits
from dse.model.space import Block, Index, blocks
from dse.model.stage import ROUNDING
from dse.search.exact.measures import Directions
from dse.search.exact.partial import NotComposedError, StageParts
from dse.search.exact.work import CALL, SORT, spend

CHUNK = 1_000_000
"""Fleets that are looked at together; a stage of no more is looked at only once."""

MOST_KEPT = 20_000
"""Fleets that may be left of a stage."""

SAMPLE = 2_000
HOPELESS = 0.5
"""When more of a sample than this is left, comparing all fleets would not pay."""


@dataclass(frozen=True)
class Shortlist:
    """Fleets of a stage of which one is as good as any fleet of the stage.

    Attributes
    ----------
    positions
        On the axes of the stage, (n, axes).
    traits
        What they offer, (n,) each.
    """

    positions: Index
    traits: Traits

    def __len__(self) -> int:
        """Return the number of fleets."""
        return len(self.positions)


@dataclass(frozen=True)
class Fleets:
    """All fleets of a stage in scenarios that do not tell them apart.

    Attributes
    ----------
    influence
        Says which traits there are.
    part
        The stage and its axes.
    point
        A design of one of the scenarios, (d,).
    floor
        What the stage has to carry, bit/s; fleets that do not are left out.
    """

    influence: Influence
    part: StageParts
    point: NDArray[np.int64]
    floor: float

    @cached_property
    def _whole(self) -> list[Shortlist]:
        return list(self._chunks()) if self._count <= CHUNK else []

    @property
    def _count(self) -> int:
        sizes = self.influence.bounds.problem.sizes
        count = 1
        for place in self.part.places:
            count *= sizes[place]
        return count

    def chunks(self) -> Iterator[Shortlist]:
        """Yield all fleets, some at a time."""
        return iter(self._whole) if self._count <= CHUNK else self._chunks()

    def _chunks(self) -> Iterator[Shortlist]:
        space = self.influence.bounds.problem.space
        places = sorted(self.part.places)
        for part in blocks(tuple(space.sizes[place] for place in places), CHUNK):
            own = dict(zip(places, part.ranges, strict=True))
            fixed = [(int(position), 1) for position in self.point]
            ranges = tuple(own.get(place, fixed[place]) for place in range(len(fixed)))
            spend(len(part) + CALL)
            block = Block(space.sizes, ranges)
            fleet = self.part.stage.fleet(space.columns(block))
            with np.errstate(all="ignore"):
                carried = _flat(fleet.column(STAGE_CAPACITY), block)
                rows = np.flatnonzero(carried >= self.floor * (1.0 - ROUNDING))
                traits = {
                    name: _flat(values, block)[rows]
                    for name, values in self.influence.traits(fleet).items()
                }
            yield Shortlist(block.rows(rows)[:, self.part.places], traits)

    @cached_property
    def hull(self) -> tuple[Traits, Traits] | None:
        """Least and largest values of each trait, (1,) each; None when there is no fleet."""
        ends = [
            [
                {name: end(values) for name, values in some.traits.items()}
                for end in (np.min, np.max)
            ]
            for some in self.chunks()
            if len(some)
        ]
        if not ends:
            return None
        low = {name: np.array([min(end[0][name] for end in ends)]) for name in ends[0][0]}
        high = {name: np.array([max(end[1][name] for end in ends)]) for name in ends[0][1]}
        return low, high

    @cached_property
    def _shortlists(self) -> dict[tuple[Directions, float], Shortlist]:
        return {}

    def shortlist(self, directions: Directions, enough: float) -> Shortlist:
        """Return the fleets that no other one is as good as and better, equal ones together.

        A capacity of more than `enough` is no better.

        Raises
        ------
        NotComposedError
            Too many fleets are left.
        """
        kept = self._shortlists.get((directions, enough))
        if kept is not None:
            return kept
        for some in self.chunks():
            if kept is not None:
                some = _both(kept, some)
            capacities = self.influence.capacities
            capped = {name: np.minimum(some.traits[name], enough) for name in capacities}
            signed = signed_traits(dict(some.traits) | capped, directions)
            if len(signed) > MOST_KEPT:
                drawn = np.random.default_rng(0).integers(0, len(signed), SAMPLE)
                if nondominated(signed[np.unique(drawn)]).mean() > HOPELESS:
                    raise NotComposedError(_too_many(self.part))
            spend(SORT * len(signed))
            kept = _taken(some, nondominated(signed))
            if len(kept) > MOST_KEPT:
                raise NotComposedError(_too_many(self.part))
        if kept is None:
            raise NotComposedError(_too_many(self.part))
        self._shortlists[directions, enough] = kept
        return kept


def _flat(values: Column, block: Block) -> Column:
    """Return a column of a block with one value for each design."""
    return np.broadcast_to(values, block.shape).reshape(-1)


def signed_traits(traits: Traits, directions: Directions) -> Column:
    """Return the traits that matter as what is to be minimised, (n, columns)."""
    columns = []
    for values, (low, high) in zip(traits.values(), directions, strict=True):
        finite = np.clip(values, -np.finfo(float).max, np.finfo(float).max)
        columns += [finite] * low + [-finite] * high
    return np.stack(columns or [np.zeros(len(next(iter(traits.values()))))], axis=1)


def _taken(fleets: Shortlist, kept: NDArray[np.bool_]) -> Shortlist:
    traits = {name: values[kept] for name, values in fleets.traits.items()}
    return Shortlist(fleets.positions[kept], traits)


def _both(first: Shortlist, second: Shortlist) -> Shortlist:
    traits = {
        name: np.concatenate([values, second.traits[name]]) for name, values in first.traits.items()
    }
    return Shortlist(np.concatenate([first.positions, second.positions]), traits)


def _too_many(part: StageParts) -> str:
    return f"fleets of stage {part.stage.name} that none can replace are too many"

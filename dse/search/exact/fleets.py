"""The fleets of a stage by their traits: those that no other fleet can replace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import ends
from dse.contract import Column
from dse.model.evaluation import distinct_rows
from dse.model.fleet import STAGE_CAPACITY, Traits
from dse.model.front import nondominated
from dse.model.influence import Influence
from dse.model.space import Block, Index, Space, blocks
from dse.model.stage import ROUNDING, StageParts, dependent_streams
from dse.search.exact.growing import Band, Growing, TooManyPartsError
from dse.search.exact.measures import Directions
from dse.search.exact.work import CALL, FILTER, ROW, SORT, NotComposedError, spend

WHOLE = 50_000
"""A stage of no more fleets is examined whole, and only once."""

MANY = 20_000_000
"""More are examined only where they can be put together count by count."""

FEW = 4_096
"""Fewer fleets are compared with each other at once; of more, others are better than most."""

PORTION = 50_000
"""Fleets that are examined together, and partial ones."""

MOST_KEPT = 20_000
"""Fleets that may be left of a stage."""

SAMPLE = 2_000
HOPELESS = 0.5
"""When more of a sample than this is left, comparing all fleets would not pay."""


MOST = 1e300
"""What is larger, or infinite, is compared as this."""

Hopeful = Callable[[Traits, Traits], NDArray[np.bool_]]
"""Tells which fleets may be of interest, (n,), by the least and largest values of their traits."""


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

    @property
    def ends(self) -> tuple[Traits, Traits]:
        """Least and largest values of what each offers: the same, as all is known."""
        return self.traits, self.traits

    def taken(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> Shortlist:
        """Return some of the fleets."""
        rows = np.flatnonzero(kept) if kept.dtype == bool else kept
        traits = {name: values.take(rows) for name, values in self.traits.items()}
        return Shortlist(self.positions.take(rows, axis=0), traits)

    def distinct(self) -> Shortlist:
        """Return each fleet once."""
        return self.taken(np.sort(distinct_rows(self.positions)))


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
        What the stage has to carry, bit/s; fleets that do not are omitted.
    """

    influence: Influence
    part: StageParts
    point: NDArray[np.int64]
    floor: float

    @property
    def _space(self) -> Space:
        return self.influence.bounds.problem.space

    @cached_property
    def count(self) -> int:
        """How many there are."""
        return math.prod(self._space.sizes[place] for place in self.part.places)

    @cached_property
    def grown(self) -> bool:
        """Whether they are so many that they are put together count by count."""
        streams = dependent_streams(self._space.columns(self.point[np.newaxis]))
        return self.count > WHOLE and bool(self.part.designs) and bool(np.isinf(streams).all())

    @cached_property
    def _whole(self) -> list[Shortlist]:
        return list(self._examined())

    def _blocks(self) -> Iterator[Shortlist]:
        """Yield all fleets, some at a time; where they are few, they are examined once."""
        yield from self._whole if self.count <= WHOLE else self._examined()

    def _examined(self) -> Iterator[Shortlist]:
        if self.count > MANY:
            raise NotComposedError(f"stage {self.part.stage.name} has too many fleets")
        places = sorted(self.part.places)
        for part in blocks(tuple(self._space.sizes[place] for place in places), PORTION):
            own = dict(zip(places, part.ranges, strict=True))
            fixed = [(int(position), 1) for position in self.point]
            ranges = tuple(own.get(place, fixed[place]) for place in range(len(fixed)))
            yield self._listed(Block(self._space.sizes, ranges))

    def _listed(self, points: Block | Index) -> Shortlist:
        """Return those of some fleets that carry what they have to."""
        spend(len(points) + CALL)
        block = points if isinstance(points, Block) else None
        fleet = self.part.stage.fleet(self._space.columns(points))
        with np.errstate(all="ignore"):
            carried = _flat(fleet.column(STAGE_CAPACITY), points)
            rows = np.flatnonzero(carried >= self.floor * (1.0 - ROUNDING))
            traits = {
                name: np.full(len(rows), values.item())
                if values.size == 1
                else _flat(values, points).take(rows)
                for name, values in self.influence.traits(fleet).items()
            }
        index = block.rows(rows) if block is not None else np.asarray(points)[rows]
        return Shortlist(index[:, self.part.places], traits)

    def _completed(
        self, index: Index, places: Sequence[int], hopeful: Hopeful
    ) -> Iterator[Shortlist]:
        """Yield the hopeful fleets of which what is not in `places` is chosen, depth first."""
        place, *later = places
        size = self._space.sizes[place]
        some = max(1, PORTION // size)
        for first in range(0, len(index), some):
            rows = np.repeat(index[first : first + some], size, axis=0)
            rows[:, place] = np.tile(np.arange(size), len(rows) // size)
            if not later:
                yield self._listed(rows)
                continue
            spend(ROW * len(rows) + CALL)
            ends_, carried = self._enclosed(rows, later)
            kept = carried >= self.floor * (1.0 - ROUNDING)
            kept[kept] = hopeful(*({n: v[kept] for n, v in end.items()} for end in ends_))
            yield from self._completed(rows[kept], later, hopeful) if kept.any() else ()

    def _enclosed(
        self, index: Index, left: Sequence[int], band: Band | None = None
    ) -> tuple[tuple[Traits, Traits], Column]:
        """Return the ends of the traits of fleets whose counts `left` are open, and of capacity.

        Of those of a band, or of all.
        """
        part, columns = self.part, self._space.columns(index)
        chosen = [place for place in part.places if place not in left]
        counts = part.counts(self._space, columns, chosen)
        positions = [np.array([design]) for design in range(len(counts))]
        floor, ceiling = band or (self.floor, np.inf)
        floors = np.full(1, floor)
        fleet = part.stage.fleet_of(counts, positions, columns, floor=floors, ceiling=ceiling)
        with np.errstate(all="ignore"):
            pairs = {name: ends(value) for name, value in self.influence.traits(fleet).items()}
            carried = ends(fleet.column(STAGE_CAPACITY))[1]
        shape = (len(index),)
        low, high = (
            {name: np.broadcast_to(pair[end], shape) for name, pair in pairs.items()}
            for end in (0, 1)
        )
        return (low, high), np.broadcast_to(carried, shape)

    @cached_property
    def hull(self) -> tuple[Traits, Traits] | None:
        """Least and largest values of each trait, (1,) each; None when there is no fleet."""
        if self.grown:
            clocks = [place for place in self.part.places if place not in self.part.designs]
            rows = np.repeat(
                self.point[np.newaxis], self._space.sizes[clocks[0]] if clocks else 1, 0
            )
            rows[:, clocks] = np.arange(len(rows))[:, np.newaxis]
            both, carried = self._enclosed(rows, [*self.part.designs])
            found = [both] if (carried >= self.floor * (1.0 - ROUNDING)).any() else []
        else:
            found = [some.ends for some in self._blocks() if len(some)]
        if not found:
            return None
        low, high = (
            {
                name: np.array([end([choose(both[which][name]) for both in found])])
                for name in found[0][0]
            }
            for which, end, choose in ((0, min, np.min), (1, max, np.max))
        )
        return low, high

    @cached_property
    def smallest(self) -> float:
        """No fleet carries less that carries anything, bit/s."""
        bandwidth = self.part.stage.designs.bandwidth_bit_per_s
        least = float(bandwidth[bandwidth > 0].min(initial=MOST))
        for place in self.part.places:
            axis = self._space.axes[place]
            values = axis.columns.get(axis.unit_name)  # a count or a clock, or a choice of designs
            if values is not None:
                least *= min(1.0, float(values[values > 0].min(initial=1.0)))
        streams = dependent_streams(self._space.columns(self.point[np.newaxis]))
        return least if np.isinf(streams).all() else np.finfo(float).tiny

    @cached_property
    def empty(self) -> Traits:
        """Traits of the fleets that carry nothing, as far as such are not omitted."""
        if not self.grown:
            capacity = min(self.influence.capacities)
            some = (one.taken(one.traits[capacity] <= 0) for one in self._blocks())
            return reduce(_both, some).traits
        index = self.point[np.newaxis].copy()
        for place in self.part.designs:
            axis = self._space.axes[place]
            none = np.flatnonzero(axis.columns[axis.unit_name] == 0)
            if not len(none):
                return self._listed(index[:0]).traits
            index[:, place] = none[0]
        return self._listed(index).traits

    @property
    def none(self) -> Shortlist:
        """No fleets."""
        return self._listed(self.point[np.newaxis][:0])

    def shortlist(
        self, directions: Directions, enough: float, hopeful: Hopeful, *, banded: bool
    ) -> Shortlist:
        """Return the fleets that no other one is as good as and better, equal ones together.

        A capacity of more than `enough` is no better.  Those that are not `hopeful` are omitted.

        Raises
        ------
        TooManyPartsError
            Unless `banded`: too many parts are left to put fleets together all at once.
        NotComposedError
            Too many fleets are left.
        """
        kept: Shortlist | None = None
        for some in self._candidates(directions, enough, hopeful, banded=banded):
            if self.grown:
                some = some.taken(hopeful(*some.ends))
            if kept is not None:
                some = _both(kept, some)
            signed = self._signed(some, directions, enough)
            if len(signed) > MOST_KEPT:
                drawn = np.random.default_rng(0).integers(0, len(signed), SAMPLE)
                if nondominated(signed[np.unique(drawn)]).mean() > HOPELESS:
                    raise NotComposedError(_too_many(self.part))
            best = nondominated(signed, few=FEW)
            spend(FILTER * len(best) + SORT * int(best.sum()))
            kept = some.taken(best)
            kept = kept.taken(hopeful(*kept.ends))
            if len(kept) > MOST_KEPT:
                raise NotComposedError(_too_many(self.part))
        return self.none if kept is None else kept.distinct()

    def _signed(self, fleets: Shortlist, directions: Directions, enough: float) -> Column:
        """Return the traits that matter; a capacity of more than `enough` is no better."""
        capacities = self.influence.capacities
        capped = {name: np.minimum(fleets.traits[name], enough) for name in capacities}
        return signed_traits(dict(fleets.traits) | capped, directions)

    def _candidates(
        self, directions: Directions, enough: float, hopeful: Hopeful, *, banded: bool
    ) -> Iterator[Shortlist]:
        """Yield fleets, of which one is as good as any."""
        if not self.grown:
            yield from self._blocks()
            return
        influence, capacities = self.influence, self.influence.capacities
        names = (*influence.metrics, *influence.joined)
        wanted = dict(zip(names, directions, strict=True))
        more = {name for name in capacities if wanted[name] == (False, True)}
        low, high = self.hull or ({}, {})
        alike = {name for name in low if low[name] == high[name]}  # for all fleets of this stage
        columns = influence.columns(
            {name: want for name, want in wanted.items() if name not in more | alike}
        )
        useful = max(self.floor, enough if more else 0.0)

        def parts(index: Index, later: Sequence[int], band: Band) -> NDArray[np.bool_]:
            return hopeful(*self._enclosed(index, later, band)[0])

        growing = Growing(self.part, self._space, columns, self.floor, useful, parts)
        bands = growing.bands(self.smallest) if banded else [None]
        try:
            for index in (growing.best(self.point, band) for band in bands):
                for first in range(0, len(index), PORTION):
                    yield self._listed(index[first : first + PORTION])
        except NotComposedError as error:
            if self.count > MANY or (isinstance(error, TooManyPartsError) and not banded):
                raise
            yield from self._completed(self.point[np.newaxis], self.part.places, hopeful)


def _flat(values: Column, points: Block | Index) -> Column:
    """Return a column with one value for each design."""
    shape = points.shape if isinstance(points, Block) else (len(points),)
    return np.broadcast_to(values, shape).reshape(-1)


def signed_traits(traits: Traits, directions: Directions) -> Column:
    """Return the traits that matter as what is to be minimised, (n, columns)."""
    columns = []
    for values, (low, high) in zip(traits.values(), directions, strict=True):
        if low or high:
            finite = np.clip(values, -np.finfo(float).max, np.finfo(float).max)
            columns += [finite] * low + [-finite] * high
    return np.stack(columns or [np.zeros(len(next(iter(traits.values()))))], axis=1)


def _both(first: Shortlist, second: Shortlist) -> Shortlist:
    traits = {
        name: np.concatenate([values, second.traits[name]]) for name, values in first.traits.items()
    }
    return Shortlist(np.concatenate([first.positions, second.positions]), traits)


def _too_many(part: StageParts) -> str:
    return f"fleets of stage {part.stage.name} that none can replace are too many"

"""The fleets of a stage that no other one replaces, by label setting.

A fleet of many designs grows design by design, and a label is such a part of a fleet.  A label
dominates another of the same clock and the same missing designs when all its sums over instances
(such as area) and all its maxima (such as latency) are as good: the same additions to both make
fleets that are as good.  By induction over the designs, some listed fleet is as good as any fleet
(the principle of optimality).  A mean over bandwidth is compared by its sum and by the bandwidth.

*Bands of capacity* have sharper bounds.  There more capacity counts as better even beyond `useful`.
Let D have the most bandwidth of the best fleets that are as good as a given one.  A label that
replaces one of D makes a fleet that is as good, so it is no better and has no more capacity: it is
as D, also in its band.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import ends
from dse.contract import Column
from dse.model.evaluation import distinct_rows
from dse.model.fleet import AREA_COLUMNS, STAGE_CAPACITY, STAGE_COLUMNS, Fleet, Traits
from dse.model.front import nondominated
from dse.model.influence import Influence
from dse.model.space import Block, Index, Space, blocks
from dse.model.stage import ROUNDING, StageParts, dependent_streams
from dse.search.exact.work import CALL, FILTER, SORT, SORTED, NotComposedError, fitting, spend

WHOLE, MANY = 50_000, 20_000_000
"""Most fleets of a stage that are examined once and kept, and that are examined at all."""

PORTION, _FEW = 50_000, 4_096
"""Fleets examined together, and compared with each other at once."""

CHUNK, BYTE = 500_000, 600
"""Labels made at once, and bytes of each."""

FEW_LABELS, MOST_LABELS, MOST_KEPT = 50_000, 200_000, 20_000
"""Most labels at once, most labels of a band, and most listed fleets."""

BAND = 1.25
"""Ratio of the most that fleets of a band carry to the least."""

_MOST = np.finfo(float).max
"""Replaces infinity in comparisons."""

PER_BIT = "_per_bit"
"""Ends the names of stage columns that are a mean over bandwidth."""

SUMS = (*AREA_COLUMNS, "stage_leakage_power_w", "stage_instances")
MAXIMA = (
    "stage_clock_hz",
    "stage_extrapolated",
    "stage_filled",
    "stage_latency_s",
    "stage_message_end_bit",
    "stage_payload_bit",
    "stage_round_s",
)
"""Some of the stage columns that are sums over instances, and those in which the largest counts."""

Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]

Wanted = Mapping[str, tuple[bool, bool]]
"""Whether low and high values of each trait, or stage column, are wanted."""

Band = tuple[float, float]
"""Least and most capacity of fleets, bit/s."""

Hopeful = Callable[[Traits, Traits], Flags]
"""Returns which fleets may lead to the front, by the least and largest values of their traits."""


class TooManyLabelsError(NotComposedError):
    """More labels, or fleets, are left than may be held."""


@dataclass(frozen=True)
class Fleets:
    """Fleets of a stage: positions on its axes (n, axes), and their traits, (n,) each."""

    positions: Index
    traits: Traits

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.positions)

    def take(self, kept: Flags | NDArray[np.intp]) -> Fleets:
        """Return some of them."""
        rows = np.flatnonzero(kept) if kept.dtype == bool else kept
        traits = {name: values.take(rows) for name, values in self.traits.items()}
        return Fleets(self.positions.take(rows, axis=0), traits)

    @property
    def hull(self) -> tuple[Traits, Traits]:
        """Least and largest value of each trait, (1,) each."""
        low = {name: values.min(keepdims=True) for name, values in self.traits.items()}
        return low, {name: values.max(keepdims=True) for name, values in self.traits.items()}


@dataclass(frozen=True)
class StageFleets:
    """All fleets of a stage in scenarios of one kind.

    Attributes
    ----------
    influence
        The traits.
    part
        The stage and its axes.
    point
        A design of one of the scenarios, (d,).
    floor
        Demand on the stage, bit/s. Fleets below it are omitted.
    """

    influence: Influence
    part: StageParts
    point: NDArray[np.int64]
    floor: float

    @property
    def space(self) -> Space:
        """Whose axes are meant."""
        return self.influence.bounds.problem.space

    @cached_property
    def count(self) -> int:
        """Return their number."""
        return math.prod(self.space.sizes[place] for place in self.part.places)

    @cached_property
    def grows(self) -> bool:
        """Whether they are so many that they grow design by design."""
        streams = dependent_streams(self.space.columns(self.point[np.newaxis]))
        return self.count > WHOLE and bool(self.part.designs) and bool(np.isinf(streams).all())

    @cached_property
    def clocks(self) -> Index:
        """The stage without an instance, at each of its clocks."""
        index = self.point[np.newaxis]
        for place in self.part.places:
            if place not in self.part.designs:
                index = expanded(index, place, self.space.sizes[place])
        return index

    @cached_property
    def _whole(self) -> list[Fleets]:
        return list(self._examined())

    def _blocks(self) -> Iterator[Fleets]:
        """Yield all fleets in portions."""
        yield from self._whole if self.count <= WHOLE else self._examined()

    def _examined(self) -> Iterator[Fleets]:
        if self.count > MANY:
            raise TooManyLabelsError(f"stage {self.part.stage.name} has too many fleets")
        places = sorted(self.part.places)
        for some in blocks(tuple(self.space.sizes[place] for place in places), PORTION):
            own = dict(zip(places, some.ranges, strict=True))
            fixed = [(int(position), 1) for position in self.point]
            ranges = tuple(own.get(place, fixed[place]) for place in range(len(fixed)))
            yield self._carrying(Block(self.space.sizes, ranges))

    def _carrying(self, points: Block | Index) -> Fleets:
        """Return the fleets that meet the demand."""
        spend(len(points) + CALL)
        fleet = self.part.stage.fleet(self.space.columns(points))
        shape = points.shape if isinstance(points, Block) else (len(points),)
        with np.errstate(all="ignore"):
            carried = np.broadcast_to(fleet.column(STAGE_CAPACITY), shape).reshape(-1)
            rows = np.flatnonzero(carried >= self.floor * (1.0 - ROUNDING))
            traits = {
                name: np.broadcast_to(values, shape).reshape(-1).take(rows)
                for name, values in self.influence.traits(fleet).items()
            }
        index = points.rows(rows) if isinstance(points, Block) else points[rows]
        return Fleets(index[:, self.part.places], traits)

    def enclosed(
        self, index: Index, left: Sequence[int], band: Band | None = None
    ) -> tuple[tuple[Traits, Traits], Column]:
        """Return the ends of the traits of fleets with open counts `left`, and their most capacity.

        A `band` limits the fleets.
        """
        part, columns = self.part, self.space.columns(index)
        chosen = [place for place in part.places if place not in left]
        counts = part.counts(self.space, columns, chosen)
        at = [np.array([design]) for design in range(len(counts))]
        floor, ceiling = band or (self.floor, np.inf)
        floors = np.full(1, floor)
        fleet = part.stage.fleet_of(counts, at, columns, floor=floors, ceiling=ceiling)
        with np.errstate(all="ignore"):
            pairs = {name: ends(value) for name, value in self.influence.traits(fleet).items()}
            carried = ends(fleet.column(STAGE_CAPACITY))[1]
        low, high = (
            {name: np.broadcast_to(pair[end], len(index)) for name, pair in pairs.items()}
            for end in (0, 1)
        )
        return (low, high), np.broadcast_to(carried, len(index))

    @cached_property
    def hull(self) -> tuple[Traits, Traits] | None:
        """Least and largest value of each trait, (1,) each, or None without a fleet."""
        if self.grows:
            both, carried = self.enclosed(self.clocks, [*self.part.designs])
            found = [both] if (carried >= self.floor * (1.0 - ROUNDING)).any() else []
        else:
            found = [some.hull for some in self._blocks() if len(some)]
        if not found:
            return None
        names = found[0][0]
        return (
            {name: np.min([[low[name].min()] for low, _ in found], axis=0) for name in names},
            {name: np.max([[high[name].max()] for _, high in found], axis=0) for name in names},
        )

    @cached_property
    def smallest(self) -> float:
        """No fleet carries less that carries anything, bit/s."""
        bandwidth = self.part.stage.designs.bandwidth_bit_per_s
        least = float(bandwidth[bandwidth > 0].min(initial=1e300))
        for place in self.part.places:
            axis = self.space.axes[place]
            values = axis.columns.get(axis.unit_name)  # a count or a clock, or a choice of designs
            if values is not None:
                least *= min(1.0, float(values[values > 0].min(initial=1.0)))
        streams = dependent_streams(self.space.columns(self.point[np.newaxis]))
        return least if np.isinf(streams).all() else np.finfo(float).tiny

    @cached_property
    def empty(self) -> Fleets:
        """The fleets that carry nothing, as far as such are not omitted."""
        if not self.grows:
            capacity = min(self.influence.capacities)
            found = [one.take(one.traits[capacity] <= 0) for one in self._blocks()]
            return together(found)
        index = self.point[np.newaxis].copy()
        for place in self.part.designs:
            axis = self.space.axes[place]
            none = np.flatnonzero(axis.columns[axis.unit_name] == 0)
            if not len(none):
                return self.none
            index[:, place] = none[0]
        return self._carrying(index)

    @property
    def none(self) -> Fleets:
        """No fleets."""
        return self._carrying(self.point[np.newaxis][:0])

    def listed(self, wanted: Wanted, enough: float, hopeful: Hopeful, *, banded: bool) -> Fleets:
        """Return the fleets that no other one replaces, equal ones together.

        A capacity of more than `enough` is no better.  Those that are not `hopeful` are omitted.
        They grow all at once, or `banded`.

        Raises
        ------
        TooManyLabelsError
            Too many labels or fleets are left.
        """
        kept: Fleets | None = None
        for some in self._candidates(wanted, enough, hopeful, banded=banded):
            some = some.take(hopeful(some.traits, some.traits)) if self.grows else some
            some = some if kept is None else together([kept, some])
            signed = self._signed(some, wanted, enough)
            best = nondominated(signed, few=_FEW)
            spend(FILTER * len(best) + SORT * int(best.sum()))
            kept = some.take(best)
            kept = kept.take(hopeful(kept.traits, kept.traits))
            if len(kept) > MOST_KEPT:
                raise TooManyLabelsError(self.too_many)
        kept = self.none if kept is None else kept
        return kept.take(np.sort(distinct_rows(kept.positions)))

    @property
    def too_many(self) -> str:
        """Message for too many fleets."""
        return f"fleets of stage {self.part.stage.name} that none can replace are too many"

    def _signed(self, fleets: Fleets, wanted: Wanted, enough: float) -> Matrix:
        """Return the wanted traits as losses (see `listed`)."""
        capacities = self.influence.capacities
        capped = {name: np.minimum(fleets.traits[name], enough) for name in capacities}
        return _signed(dict(fleets.traits) | capped, wanted, len(fleets))

    def _candidates(
        self, wanted: Wanted, enough: float, hopeful: Hopeful, *, banded: bool
    ) -> Iterator[Fleets]:
        """Yield fleets, of which one is as good as any."""
        if not self.grows:
            yield from self._blocks()
            return
        capacities = self.influence.capacities
        more = {name for name in capacities if wanted[name] == (False, True)}
        low, high = self.hull or ({}, {})
        alike = {name for name in low if low[name] == high[name]}  # of all fleets of this stage
        columns = self.influence.columns(
            {name: want for name, want in wanted.items() if name not in more | alike}
        )
        useful = max(self.floor, enough if more else 0.0)
        growth = _Growth(self, columns, hopeful, useful, (self.floor, np.inf))
        for some in growth.bands() if banded else [growth]:
            for clock in self.clocks:
                index = some.best(clock)
                for first in range(0, len(index), PORTION):
                    yield self._carrying(index[first : first + PORTION])

    def most(self, place: int) -> float:
        """Return the most bandwidth that a design can add."""
        axis, part = self.space.axes[place], self.part
        bandwidth = part.stage.designs.bandwidth_bit_per_s[part.designs[place]]
        return float(bandwidth * axis.columns[axis.unit_name].max())


@dataclass(frozen=True)
class _Growth:
    """The growth of fleets of a stage.

    Attributes
    ----------
    fleets
        All of them.
    columns
        Wanted directions of stage columns. More capacity is better besides.
    hopeful
        As in `StageFleets.listed`.
    useful
        Capacity above which more is no better, bit/s.
    band
        Wanted capacities.
    limit
        Most labels.
    """

    fleets: StageFleets
    columns: Wanted
    hopeful: Hopeful
    useful: float
    band: Band
    limit: int = FEW_LABELS

    def bands(self) -> Iterator[_Growth]:
        """Yield the growth of each band."""
        low = max(self.fleets.floor, self.fleets.smallest)
        high = sum(map(self.fleets.most, self.fleets.part.designs))
        count = max(1, math.ceil(math.log(high / low, BAND))) if high > low else 1
        edges = [self.fleets.floor, *np.geomspace(low, max(low, high), count + 1)[1:-1], np.inf]
        for floor, ceiling in pairwise(edges):
            yield replace(self, useful=np.inf, band=(floor, ceiling), limit=MOST_LABELS)

    @cached_property
    def wanted(self) -> dict[str, tuple[bool, bool]]:
        """The directions of columns that differ among fleets."""
        each, found = self._each, {}
        for name, wanted in self.columns.items():
            values = np.ravel(STAGE_COLUMNS[name](each))
            same = np.allclose(values, values[0], rtol=ROUNDING, atol=0.0)
            if any(wanted) and not (name.endswith(PER_BIT) and same):
                found[name] = wanted
        return found

    @property
    def _each(self) -> Fleet:
        """Fleets of one instance of each design."""
        designs = self.fleets.part.stage.designs
        one, at = np.ones(1), np.arange(len(designs.names))
        return Fleet([one], [at], designs, 1.0, np.full(1, np.inf))

    def best(self, clock: NDArray[np.int64]) -> Index:
        """Return the designs whose fleets none dominates, of equal ones once, at one clock."""
        self._check_replaceable()
        part, space = self.fleets.part, self.fleets.space
        places = [place for place in part.places if place in part.designs]
        labels = clock[np.newaxis]
        for turn, place in enumerate(places, start=1):
            size, left, kept = space.sizes[place], places[turn:], labels[:0]
            some = max(1, fitting(CHUNK, BYTE) // size)
            for first in range(0, len(labels), some):
                made = expanded(labels[first : first + some], place, size)
                kept = np.concatenate([kept, self._promising(made, left)])
                if len(kept) > self.limit:
                    raise TooManyLabelsError(self.fleets.too_many)
                kept = self._undominated(kept, left)
            labels = kept
        return labels

    def _check_replaceable(self) -> None:
        """Raise an error if a sum is wanted both ways: different sums cannot replace each other."""
        ends_ = {name: list(ends) for name, ends in self.wanted.items() if name not in MAXIMA}
        ratios = [ends[::-1] for name, ends in ends_.items() if name.endswith(PER_BIT)]
        carried = [
            ends_[name] for name in (STAGE_CAPACITY, "stage_peak_bit_per_s") if name in ends_
        ]
        both = np.array([*ratios, *carried, [False, False]]).any(axis=0).all()
        if both or any(map(all, ends_.values())):
            raise TooManyLabelsError(f"stage {self.fleets.part.stage.name} has too many fleets")

    def _fleet(self, index: Index, left: Sequence[int]) -> Fleet:
        """Return labels as fleets without the missing designs."""
        part = self.fleets.part
        columns = self.fleets.space.columns(index, part.stage.reads)
        counts = part.stage.counts(columns)
        for place in left:
            counts[part.designs[place]] = np.zeros(1)
        return part.stage.fleet_of(counts, [np.array([k]) for k in range(len(counts))], columns)

    def _promising(self, index: Index, left: Sequence[int]) -> Index:
        """Return labels of fleets that lie in the band, and are hopeful."""
        fleet = self._fleet(index, left)
        carried = fleet.peak_bit_per_s
        rest = sum(map(self.fleets.most, left)) * fleet.clock
        floor, ceiling = self.band
        kept = carried + rest >= floor * (1.0 - ROUNDING)
        kept &= carried <= ceiling * (1.0 + ROUNDING)
        index = index[np.broadcast_to(kept, len(index))]
        low, high = self.fleets.enclosed(index, left, self.band)[0]
        return index[self.hopeful(low, high)]

    def _undominated(self, index: Index, left: Sequence[int]) -> Index:
        """Return the labels that no other one dominates, of equal ones one."""
        if not len(index):
            return index
        spend(SORT * len(index) + CALL)
        fleet = self._fleet(index, left)
        carried = fleet.peak_bit_per_s
        columns, wanted = {"": -np.minimum(carried, self.useful)}, {"": (True, False)}
        for name, (low, high) in self.wanted.items():
            values = fleet.column(name)
            columns[name], wanted[name] = values, (low, high)
            if name.endswith(PER_BIT):
                columns[name] = values * carried
                columns[name + "carried"], wanted[name + "carried"] = carried, (high, low)
        signed = _signed(columns, wanted, len(index))
        rows = np.flatnonzero(nondominated(signed))
        spend(len(signed) * len(rows) // SORTED)
        return index[rows[distinct_rows(signed[rows])]]


def expanded(index: Index, place: int, size: int) -> Index:
    """Return every design once for each of the `size` values of the axis at `place`."""
    found = np.repeat(index, size, axis=0)
    found[:, place] = np.tile(np.arange(size), len(index))
    return found


def together(every: Sequence[Fleets]) -> Fleets:
    """Return fleets of several lists in one."""
    traits = {name: np.concatenate([one.traits[name] for one in every]) for name in every[0].traits}
    return Fleets(np.concatenate([one.positions for one in every]), traits)


def _signed(traits: Mapping[str, Column], wanted: Wanted, count: int) -> Matrix:
    """Return wanted columns as losses, (count, columns), without constant and equal ones."""
    found = {b"": np.zeros(count)}
    for name, values in traits.items():
        finite = np.clip(np.broadcast_to(values, count), -_MOST, _MOST)
        wants = [
            sign * finite for sign, want in zip((1.0, -1.0), wanted[name], strict=True) if want
        ]
        found |= {column.tobytes(): column for column in wants if np.ptp(column) > 0}
    return np.stack([*found.values()], axis=1)

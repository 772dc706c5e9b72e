"""The fleets of a stage that no other one replaces, in the scenarios that share them (a node).

A listed fleet is as good as the fleets that it replaces in every wanted direction of a trait
(`dse.model.influence`).  *No vector of losses is lost*: let D be a design of the front.  Exchange
its fleets, stage by stage, for listed ones that are as good.  The new design meets the demand and
the constraints as D does, and its losses are no worse, so they are the same.  It is never pruned:
no evaluated design dominates its losses, and its bounds do not exceed them.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import ends
from dse.contract import Column
from dse.model.evaluation import distinct_rows
from dse.model.fleet import STAGE_CAPACITY, STAGE_COLUMNS, Fleet, Traits
from dse.model.front import nondominated
from dse.model.influence import Influence
from dse.model.space import Block, Index, Space, as_index, one_block
from dse.model.stage import ROUNDING, StageParts, dependent_streams
from dse.search.exact.partial import blocks_within, expanded, open_fleet
from dse.search.exact.work import CALL, FILTER, SORT, SORTED, NotComposedError, fitting, spend

WHOLE, MANY = 50_000, 20_000_000
"""Most fleets of a stage that are examined once and kept, and that are examined at all."""

PORTION = 50_000
"""Fleets examined together."""

MADE, BYTE = 500_000, 600
"""Labels made at once, and bytes of each."""

FEW_LABELS, MOST_LABELS, MOST_KEPT = 50_000, 200_000, 20_000
"""Most labels at once, most labels of a band, and most listed fleets."""

BAND = 1.25
"""Ratio of the most that fleets of a band carry to the least."""

_MOST = np.finfo(float).max
"""Replaces infinity in comparisons."""

PER_BIT = "_per_bit"
"""Ends the names of stage columns that are a mean over bandwidth."""

MAXIMA = (
    "stage_clock_hz",
    "stage_extrapolated",
    "stage_filled",
    "stage_latency_s",
    "stage_message_end_bit",
    "stage_payload_bit",
    "stage_round_s",
)
"""Stage columns in which the largest of the instances counts."""

Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]

Ends = tuple[Traits, Traits]
"""Least and largest values of traits."""

Wanted = Mapping[str, tuple[bool, bool]]
"""Whether low and high values of each trait, or stage column, are wanted."""

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

    def with_others(self, others: Fleets) -> Fleets:
        """Return these, then others."""
        traits = {n: np.concatenate([one, others.traits[n]]) for n, one in self.traits.items()}
        return Fleets(np.concatenate([self.positions, others.positions]), traits)

    @property
    def hull(self) -> Ends:
        """Least and largest value of each trait, (1,) each."""
        low = {name: values.min(keepdims=True) for name, values in self.traits.items()}
        return low, {name: values.max(keepdims=True) for name, values in self.traits.items()}


@dataclass(frozen=True)
class StageFleets:
    """All fleets of a stage in scenarios of one kind, of which `point` (d,) is one.

    `influence` has the traits.  Fleets that carry less than the `floor`, bit/s, are omitted.
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
    def _independent(self) -> bool:
        """Whether no mode bounds the tasks in flight."""
        streams = dependent_streams(self.space.columns(self.point[np.newaxis]))
        return bool(np.isinf(streams).all())

    @property
    def grows(self) -> bool:
        """Whether they are so many that they grow design by design."""
        return self.count > WHOLE and bool(self.part.designs) and self._independent

    @cached_property
    def clocks(self) -> Index:
        """The stage without an instance, at each of its clocks."""
        places = [place for place in self.part.places if place not in self.part.designs]
        sizes = tuple(self.space.sizes[place] for place in places)
        return expanded(self.point[np.newaxis], places, as_index(one_block(sizes)))

    @cached_property
    def _whole(self) -> list[Fleets]:
        return list(self._examined())

    def _blocks(self) -> Iterator[Fleets]:
        """Yield all fleets in portions."""
        yield from self._whole if self.count <= WHOLE else self._examined()

    def _examined(self) -> Iterator[Fleets]:
        if self.count > MANY:
            raise self.too_many
        for some in blocks_within(self.space.sizes, self.point, self.part.places, PORTION):
            yield self._carrying(some)

    def _carrying(self, points: Block | Index) -> Fleets:
        """Return the fleets that meet the demand."""
        spend(len(points) + CALL * bool(len(points)))
        fleet = self.part.stage.fleet(self.space.columns(points))
        shape = points.shape if isinstance(points, Block) else (len(points),)
        with np.errstate(all="ignore"):
            carried = np.broadcast_to(fleet.column(STAGE_CAPACITY), shape).reshape(-1)
            rows = np.flatnonzero(carried >= self.floor * (1.0 - ROUNDING))
            traits = {
                name: np.broadcast_to(values, shape).reshape(-1).take(rows)
                for name, values in self.influence.traits(fleet).items()
            }
        return Fleets(as_index(points, rows)[:, self.part.places], traits)

    def enclosed(
        self, index: Index, left: Sequence[int], band: tuple[float, float]
    ) -> tuple[Ends, float]:
        """Return the ends of the traits of fleets with open counts `left`, and the most capacity.

        They lie in a `band` of capacity, bit/s.
        """
        chosen = [place for place in self.part.places if place not in left]
        floor = np.full(1, band[0])
        fleet = open_fleet(self.part, self.space, index, chosen, floor, ceiling=band[1])
        with np.errstate(all="ignore"):
            pairs = {name: ends(value) for name, value in self.influence.traits(fleet).items()}
            most = float(ends(fleet.column(STAGE_CAPACITY))[1].max(initial=0.0))
        low, high = (
            {name: np.broadcast_to(pair[end], len(index)) for name, pair in pairs.items()}
            for end in (0, 1)
        )
        return (low, high), most

    @cached_property
    def hull(self) -> Ends | None:
        """Least and largest value of each trait, (1,) each, or None without a fleet."""
        if self.grows:
            both, most = self.enclosed(self.clocks, [*self.part.designs], (self.floor, np.inf))
            found = [both] if most >= self.floor * (1.0 - ROUNDING) else []
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
        if not self._independent:
            return float(np.finfo(float).tiny)
        bandwidth = self.part.stage.designs.bandwidth_bit_per_s
        least = float(bandwidth[bandwidth > 0].min(initial=1e300))
        for place in self.part.places:
            axis = self.space.axes[place]
            values = axis.columns.get(axis.unit_name)  # a count or a clock, or a choice of designs
            if values is not None:
                least *= min(1.0, float(values[values > 0].min(initial=1.0)))
        return least

    @cached_property
    def empty(self) -> Fleets:
        """The fleets that carry nothing, as far as such are not omitted."""
        if not self.grows:
            capacity = min(self.influence.capacities)
            first, *others = (one.take(one.traits[capacity] <= 0) for one in self._blocks())
            return reduce(Fleets.with_others, others, first)
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
        """Return the fleets that no other one replaces, equal ones together, if not too many.

        A capacity of more than `enough` is no better.  Those that are not `hopeful` are omitted.
        They grow all at once, or `banded`.
        """
        kept = self.none
        for some in self._candidates(wanted, enough, hopeful, banded=banded):
            some = some.take(hopeful(some.traits, some.traits)) if self.grows else some
            some = kept.with_others(some)
            capacities = self.influence.capacities
            capped = {name: np.minimum(some.traits[name], enough) for name in capacities}
            traits = {**some.traits, **capped}
            pairs = [(traits[name], want) for name, want in wanted.items()]
            best = nondominated(signed_losses(pairs, len(some)))
            spend(FILTER * len(best) + SORT * int(best.sum()))
            kept = some.take(best)
            kept = kept.take(hopeful(kept.traits, kept.traits))
            if len(kept) > MOST_KEPT:
                raise self.too_many
        return kept.take(np.sort(distinct_rows(kept.positions)))

    @property
    def too_many(self) -> TooManyLabelsError:
        """The error for too many fleets, or labels."""
        return TooManyLabelsError(f"stage {self.part.stage.name} has too many fleets")

    def _candidates(
        self, wanted: Wanted, enough: float, hopeful: Hopeful, *, banded: bool
    ) -> Iterator[Fleets]:
        """Yield fleets, of which one is as good as any."""
        if not self.grows:
            yield from self._blocks()
            return
        growth = self._growth(wanted, enough, hopeful)
        try:
            for some in growth.bands() if banded else [growth]:
                for clock in self.clocks:
                    index = some.best(clock)
                    for first in range(0, len(index), PORTION):
                        yield self._carrying(index[first : first + PORTION])
        except TooManyLabelsError:
            if not banded or self.count > MANY:
                raise
            yield from self._completed(self.clocks, self.part.designs, hopeful)

    def _completed(self, index: Index, places: Iterable[int], hopeful: Hopeful) -> Iterator[Fleets]:
        """Yield fleets count by count, depth first, without those that are not hopeful."""
        place, *left = places
        counts = np.arange(self.space.sizes[place])[:, np.newaxis]
        some = max(1, fitting(PORTION, BYTE) // len(counts))
        for first in range(0, len(index), some):
            made = expanded(index[first : first + some], [place], counts)
            if not left:
                yield self._carrying(made)
                continue
            both, _ = self.enclosed(made, left, (self.floor, np.inf))
            made = made[hopeful(*both)]
            if len(made):
                yield from self._completed(made, left, hopeful)

    def _growth(self, wanted: Wanted, enough: float, hopeful: Hopeful) -> _Growth:
        """Return the growth of fleets with wanted traits."""
        more = {name for name in self.influence.capacities if wanted[name] == (False, True)}
        low, high = self.hull or ({}, {})
        alike = {name for name in low if low[name] == high[name]}  # of all fleets of this stage
        columns = self.influence.columns(
            {name: want for name, want in wanted.items() if name not in more | alike}
        )
        useful = max(self.floor, enough if more else 0.0)
        return _Growth(self, columns, hopeful, useful, (self.floor, np.inf))

    def most(self, place: int) -> float:
        """Return the most bandwidth that a design can add."""
        axis, part = self.space.axes[place], self.part
        bandwidth = part.stage.designs.bandwidth_bit_per_s[part.designs[place]]
        return float(bandwidth * axis.columns[axis.unit_name].max())


@dataclass(frozen=True)
class _Growth:
    """The growth of fleets of a stage, in a band of capacities, with a limit of labels.

    `columns` are the wanted directions of stage columns.  More capacity is better besides, up to
    the `useful` one, bit/s.
    """

    fleets: StageFleets
    columns: Wanted
    hopeful: Hopeful
    useful: float
    band: tuple[float, float]
    limit: int = FEW_LABELS

    def bands(self) -> Iterator[_Growth]:
        """Yield the growth of each band."""
        low = max(self.fleets.floor, self.fleets.smallest)
        high = sum(map(self.fleets.most, self.fleets.part.designs))
        count = max(1, math.ceil(math.log(high / low, BAND))) if high > low else 1
        edges = [self.fleets.floor, *np.geomspace(low, max(low, high), count + 1)[1:-1], np.inf]
        for band in pairwise(edges):
            yield replace(self, useful=np.inf, band=band, limit=MOST_LABELS)

    @cached_property
    def wanted(self) -> dict[str, tuple[bool, bool]]:
        """The directions of columns that differ among fleets."""
        designs = self.fleets.part.stage.designs
        one, at = np.ones(1), np.arange(len(designs.names))
        each, found = Fleet([one], [at], designs, 1.0, np.full(1, np.inf)), {}
        for name, wanted in self.columns.items():
            values = np.ravel(STAGE_COLUMNS[name](each))
            same = np.allclose(values, values[0], rtol=ROUNDING, atol=0.0)
            if any(wanted) and not (name.endswith(PER_BIT) and same):
                found[name] = wanted
        return found

    def best(self, clock: NDArray[np.int64]) -> Index:
        """Return the designs whose fleets none dominates, of equal ones once, at one clock."""
        self._check_replaceable()
        part, space = self.fleets.part, self.fleets.space
        places = [place for place in part.places if place in part.designs]
        labels = clock[np.newaxis]
        for turn, place in enumerate(places, start=1):
            size, left, kept = space.sizes[place], places[turn:], labels[:0]
            counts = np.arange(size)[:, np.newaxis]
            some = max(1, fitting(MADE, BYTE) // size)
            for first in range(0, len(labels), some):
                made = expanded(labels[first : first + some], [place], counts)
                kept = np.concatenate([kept, self._promising(made, left)])
                if len(kept) > self.limit:
                    raise self.fleets.too_many
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
            raise self.fleets.too_many

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
        both, _ = self.fleets.enclosed(index, left, self.band)
        return index[self.hopeful(*both)]

    def _undominated(self, index: Index, left: Sequence[int]) -> Index:
        """Return the labels that no other one dominates, of equal ones one."""
        if not len(index):
            return index
        spend(SORT * len(index) + CALL)
        fleet = self._fleet(index, left)
        carried = fleet.peak_bit_per_s
        pairs = [(np.minimum(carried, self.useful), (False, True))]
        for name, (low, high) in self.wanted.items():
            values = fleet.column(name)
            if name.endswith(PER_BIT):
                pairs += [(values * carried, (low, high)), (carried, (high, low))]
            else:
                pairs.append((values, (low, high)))
        losses = signed_losses(pairs, len(index))
        rows = np.flatnonzero(nondominated(losses))
        spend(len(losses) * len(rows) // SORTED)
        return index[rows[distinct_rows(losses[rows])]]


def signed_losses(columns: Iterable[tuple[Column, tuple[bool, bool]]], count: int) -> Matrix:
    """Return wanted columns as losses, (count, columns), without constant and equal ones.

    Each comes with whether its low and its high values are wanted.
    """
    found = {b"": np.zeros(count)}
    for values, both in columns:
        finite = np.clip(np.broadcast_to(values, count), -_MOST, _MOST)
        wants = [sign * finite for sign, want in zip((1.0, -1.0), both, strict=True) if want]
        found |= {column.tobytes(): column for column in wants if count and np.ptp(column) > 0}
    return np.stack([*found.values()], axis=1)

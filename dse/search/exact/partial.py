"""Partial designs in batches of scenarios, their bounds, decisions on them, and first designs."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, hull
from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.evaluation import distinct
from dse.model.fleet import STAGE_COLUMNS, Fleet
from dse.model.space import Block, Index, Space, as_index, blocks, one_block
from dse.model.stage import Columns, StageParts
from dse.search.exact.work import NotComposedError

MOST_FLEETS = 2_000_000
"""Most fleets of a stage of one design, in all scenarios of a batch."""

_WITHIN = 8
"""Blocks of fleets in a larger block."""

_MOST_CHOICES = 64
"""Most choices of the first counts of a fleet in one decision."""

_SEEDS, _FEW_SEEDS = 16_384, 64
"""First designs in all scenarios of a batch together, and fleets of each stage in them."""

StageColumns = Mapping[str, Any]
"""Values or enclosures of the columns of one stage."""

Enclosed = Callable[["Batch", "PartialDesigns"], StageColumns]
"""Returns the columns of a stage whose fleet is chosen, in part or whole."""


@dataclass(frozen=True)
class PartialDesigns:
    """Partial designs (n, d), 0 on open axes, with the position of each one's scenario, ascending.

    In the choice of a stage each may have a block of its fleets.
    """

    scenario: NDArray[np.intp]
    index: Index
    block: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.scenario)

    def take(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> PartialDesigns:
        """Return some of the rows."""
        block = None if self.block is None else self.block[kept]
        return PartialDesigns(self.scenario[kept], self.index[kept], block)

    def expand(self, places: Sequence[int], choices: Index) -> PartialDesigns:
        """Return every row once for each of some positions (c, axes) on the axes at `places`."""
        index = expanded(self.index, places, choices)
        return PartialDesigns(np.repeat(self.scenario, len(choices)), index)


class Batch:
    """Scenarios that are closed together: their columns, and the enclosures of each stage."""

    def __init__(self, bounds: Bounds, parts: tuple[StageParts, ...], index: Index) -> None:
        """Take scenarios `index` (s, d)."""
        self.bounds = bounds
        self.parts = parts
        self.index = index
        self.space = bounds.problem.space
        self._wanted = tuple(name for name in STAGE_COLUMNS if name in bounds.wanted)
        self.columns: Columns = self.space.columns(index)
        self.hulls: list[StageColumns] = [self._hull(part) for part in parts]
        self.open: dict[int, PartialDesigns] = {}
        """The fleets of each stage that was narrowed, sorted by scenario."""
        self._blocks: dict[tuple[int, int], StageColumns] = {}

    @property
    def rows(self) -> PartialDesigns:
        """The scenarios as partial designs."""
        return PartialDesigns(np.arange(len(self.index)), self.index)

    def bound(
        self, rows: PartialDesigns, chosen: Mapping[int, Enclosed]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses and violations of partial designs with some `chosen` stages."""
        columns: Columns = at_rows(self.columns, rows.scenario)
        known = [
            chosen[place](self, rows) if place in chosen else at_rows(hull, rows.scenario)
            for place, hull in enumerate(self.hulls)
        ]
        for name in self._wanted if known else ():
            columns[name] = tuple(stage[name] for stage in known)
        return self.bounds.best(columns, len(rows))

    def exact(self, rows: PartialDesigns, stage: int) -> StageColumns:
        """Return the columns of a stage whose axes are all chosen."""
        own = self.parts[stage].stage
        fleet = own.fleet(self.space.columns(rows.index, own.reads))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return {
                name: np.broadcast_to(fleet.column(name), (len(rows),)) for name in self._wanted
            }

    def partial(self, rows: PartialDesigns, stage: int, chosen: int) -> StageColumns:
        """Return the enclosures of a stage of which the first `chosen` axes are chosen."""
        part = self.parts[stage]
        if chosen == len(part.places):
            return self.exact(rows, stage)
        return self._open(part, rows, part.places[:chosen])

    def blocks(
        self, rows: PartialDesigns, stage: int, fleets: PartialDesigns, first: NDArray[np.intp]
    ) -> StageColumns:
        """Return the enclosures of a stage with blocks of its listed fleets, by their `first`."""
        key = stage, len(first)
        if key not in self._blocks:
            self._blocks[key] = {
                name: Enclosure(np.minimum.reduceat(one, first), np.maximum.reduceat(one, first))
                for name, one in self.exact(fleets, stage).items()
            }
        return at_rows(self._blocks[key], cast(NDArray[np.intp], rows.block))

    def narrow(self, stage: int, rows: PartialDesigns) -> None:
        """Limit a stage to its fleets in `rows`, which are sorted by scenario."""
        self.open[stage] = rows
        present, starts = np.unique(rows.scenario, return_index=True)
        found = {}
        for name, values in self.exact(rows, stage).items():
            low, high = np.full((2, len(self.index)), [[np.inf], [-np.inf]])
            if len(present):
                low[present] = np.minimum.reduceat(values, starts)
                high[present] = np.maximum.reduceat(values, starts)
            found[name] = Enclosure(low, high)
        self.hulls[stage] = found

    def ways(self, chosen: Collection[int]) -> NDArray[np.object_]:
        """Return the number of fleets of all stages that are not chosen, by scenario."""
        ways = np.full(len(self.index), 1, dtype=object)
        for stage, part in enumerate(self.parts):
            if stage in chosen:
                continue
            if stage in self.open:
                counts = np.bincount(self.open[stage].scenario, minlength=len(ways))
                ways = ways * counts.astype(object)
            else:
                ways = ways * math.prod(self.space.sizes[place] for place in part.places)
        return ways

    def floor(self, scenario: NDArray[np.intp]) -> Column:
        """Return the demand on every stage in the given scenarios, bit/s."""
        return self.bounds.floor(at_rows(self.columns, scenario))

    def _hull(self, part: StageParts) -> StageColumns:
        """Return the enclosures of an open stage, a row per scenario."""
        if part.designs:
            return self._open(part, self.rows, ())
        sizes = tuple(self.space.sizes[place] for place in part.places)
        if len(self.index) * math.prod(sizes) > MOST_FLEETS:
            raise NotComposedError(f"stage {part.stage.name} has too many fleets")
        rows = self.rows.expand(part.places, as_index(one_block(sizes)))
        fleet = part.stage.fleet(self.space.columns(rows.index, part.stage.reads))
        shape = (len(self.index), -1)
        found = {}
        for name in self._wanted:
            every = np.broadcast_to(fleet.column(name), (len(rows),)).reshape(shape)
            found[name] = Enclosure(every.min(axis=1), every.max(axis=1))
        return found

    def _open(
        self, part: StageParts, rows: PartialDesigns, chosen: tuple[int, ...]
    ) -> StageColumns:
        """Return the enclosures of a mixed fleet of which the axes `chosen` are chosen."""
        clocks: list[Column | None] = [None]
        clocked = [place for place in part.places if place not in part.designs]
        if clocked and not chosen:
            axis = self.space.axes[clocked[0]]
            clocks = [np.full(1, value) for value in axis.columns[axis.unit_name]]
        floor = self.floor(rows.scenario)
        fleets = [
            open_fleet(part, self.space, rows.index, chosen, floor, clock=clock) for clock in clocks
        ]
        with np.errstate(all="ignore"):
            every = {name: [fleet.column(name) for fleet in fleets] for name in self._wanted}
        return {name: hull(some) if clocked else some[0] for name, some in every.items()}


def open_fleet(
    part: StageParts,
    space: Space,
    index: Index,
    chosen: Sequence[int],
    floor: Column,
    *,
    ceiling: float = np.inf,
    clock: Column | None = None,
) -> Fleet:
    """Return fleets (n,) of a stage of which the axes `chosen` are chosen, the others enclosed.

    They carry `floor` at least and `ceiling` at most, at a given clock, or as the study sets it.
    """
    columns = space.columns(index, part.stage.reads)
    counts = part.counts(space, columns, chosen)
    at = [np.array([design]) for design in range(len(counts))]
    return part.stage.fleet_of(counts, at, columns, clock=clock, floor=floor, ceiling=ceiling)


def expanded(index: Index, places: Sequence[int], choices: Index) -> Index:
    """Return every design once for each of some positions (c, axes) on the axes at `places`."""
    found = np.repeat(index, len(choices), axis=0)
    found[:, places] = np.tile(choices, (len(index), 1))
    return found


def blocks_within(
    sizes: tuple[int, ...], point: NDArray[np.int64], places: Collection[int], most: int
) -> Iterator[Block]:
    """Yield designs that differ from one at some places only, in blocks of at most `most`."""
    for block in blocks(tuple(n if k in places else 1 for k, n in enumerate(sizes)), most):
        pairs = zip(point.tolist(), block.ranges, strict=True)
        yield Block(sizes, tuple((at + first, count) for at, (first, count) in pairs))


def at_rows(columns: Mapping[str, Any], rows: NDArray[np.intp]) -> Columns:
    """Return some rows of columns, or of tuples of them. A constant stays one row."""

    def some(column: Any) -> Any:
        if isinstance(column, tuple):
            return tuple(map(some, column))
        return column if column.shape == (1,) else column[rows]

    return {name: some(column) for name, column in columns.items()}


@dataclass(frozen=True)
class Decision:
    """The next decision on a stage: the positions on some axes, or a block of its listed fleets.

    Attributes
    ----------
    places, choices
        The axes, and the positions (c, axes) of each choice, or None for blocks.
    within
        The scenario, or the larger block, of each choice, ascending.  None if all have each.
    each
        Number of fleets of each choice, or of every one.
    enclosed
        Returns the columns of the stage after the choice.
    """

    stage: int
    places: Sequence[int]
    choices: Index | None
    within: NDArray[np.intp] | None
    each: NDArray[np.intp] | int
    enclosed: Enclosed

    def made(self, rows: PartialDesigns) -> NDArray[np.intp]:
        """Return the number of partial designs that `join` makes of each."""
        if self.within is None:
            return np.full(len(rows), len(cast(Index, self.choices)))
        parent = rows.scenario if rows.block is None else rows.block
        counts: NDArray[np.intp] = np.bincount(self.within, minlength=1 + parent.max(initial=0))
        return counts[parent]

    def join(self, rows: PartialDesigns) -> PartialDesigns:
        """Return partial designs, each once for every choice that it has."""
        if self.within is None:
            return rows.expand(self.places, cast(Index, self.choices))
        parent = rows.scenario if rows.block is None else rows.block
        counts = self.made(rows)
        left = np.repeat(np.arange(len(rows)), counts)
        start = np.searchsorted(self.within, parent) - np.cumsum(counts) + counts
        right = np.arange(len(left)) + start[left]
        scenario, index = rows.scenario[left], rows.index[left]
        if self.choices is None:
            return PartialDesigns(scenario, index, right)
        index[:, self.places] = self.choices[right]
        return PartialDesigns(scenario, index)


def counts_of(batch: Batch, stage: int) -> Iterator[Decision]:
    """Yield the decisions on a fleet: one, or count by count for a mixed fleet."""
    part = batch.parts[stage]
    sizes = tuple(batch.space.sizes[place] for place in part.places)
    made = itertools.accumulate(sizes, operator.mul)
    first = max(1, sum(count <= _MOST_CHOICES for count in made)) if part.designs else len(sizes)
    for before, last in itertools.pairwise([0, *range(first, len(sizes) + 1)]):
        choices, left = as_index(one_block(sizes[before:last])), math.prod(sizes[last:])
        enclosed = partial(Batch.partial, stage=stage, chosen=last)
        yield Decision(stage, part.places[before:last], choices, None, left, enclosed)


def blocks_of(batch: Batch, order: Sequence[int], most: int) -> Iterator[Decision]:
    """Yield the decisions on listed fleets of stages after the first.

    With possibly more than `most` designs, blocks are decided before single fleets.
    """
    designs = np.ones(len(batch.index))
    for stage in order:
        fleets = batch.open[stage]
        designs *= np.bincount(fleets.scenario, minlength=len(designs))
        if stage == order[0]:
            continue
        number = np.arange(len(fleets)) - np.searchsorted(fleets.scenario, fleets.scenario)
        steps = [1]
        while designs.sum() > most and steps[0] * _WITHIN <= number.max(initial=0):
            steps.insert(0, steps[0] * _WITHIN)
        within, places = fleets.scenario, batch.parts[stage].places
        for step in steps[:-1]:
            begins = number % step == 0
            first = np.flatnonzero(begins)
            enclosed = partial(Batch.blocks, stage=stage, fleets=fleets, first=first)
            each = np.diff(first, append=len(fleets))
            yield Decision(stage, places, None, within[first], each, enclosed)
            within = np.cumsum(begins) - 1
        enclosed = partial(Batch.exact, stage=stage)
        yield Decision(stage, places, fleets.index[:, places], within, 1, enclosed)


def weighed(
    scenario: NDArray[np.intp], weights: NDArray[np.object_], each: NDArray[np.intp]
) -> int:
    """Return the number of designs of partial designs: `each`, times its scenario's weight."""
    counts = np.bincount(scenario, each, minlength=len(weights))
    return sum(int(count) * int(weight) for count, weight in zip(counts, weights, strict=True))


def seeds(batch: Batch) -> Index:
    """Return some designs of each scenario: fleets of one or two designs that just suffice."""
    rng = np.random.default_rng(0)
    choices = [_fleets(batch, part, rng) for part in batch.parts]
    picks = _picks([choice.shape[1] for choice in choices], _SEEDS // len(batch.index), rng)
    index = np.repeat(batch.index, len(picks), axis=0)
    for place, (part, choice) in enumerate(zip(batch.parts, choices, strict=True)):
        own = choice[:, picks[:, place]]
        index[:, part.places] = own.reshape(len(index), len(part.places))
    return distinct(index)


def _picks(sizes: Sequence[int], most: int, rng: np.random.Generator) -> Index:
    """Return every combination of choices, a row each, or `most` random ones of more."""
    if math.prod(sizes) > most:
        return np.stack([rng.integers(size, size=most) for size in sizes], axis=1)
    return as_index(one_block(tuple(sizes)))


def _fleets(batch: Batch, part: StageParts, rng: np.random.Generator) -> Index:
    """Return fleets of a stage as positions on its axes, (scenarios, fleets, axes)."""
    space, scenarios = batch.space, len(batch.index)
    sizes = [space.sizes[place] for place in part.places]
    if not part.designs:
        whole = math.prod(sizes)
        some = np.arange(whole) if whole <= _FEW_SEEDS else rng.integers(whole, size=_FEW_SEEDS)
        positions = np.stack(np.unravel_index(some, sizes), axis=1).astype(np.int64)
        return np.repeat(positions[np.newaxis], scenarios, axis=0)
    floor = np.broadcast_to(batch.floor(np.arange(scenarios)), (scenarios,))
    fastest = [0 if place in part.designs else space.sizes[place] - 1 for place in part.places]
    filled = part.stage.filled(batch.columns)
    found = []
    for pair in itertools.product(part.designs, repeat=2):
        positions, missing = np.tile(np.array(fastest, dtype=np.int64), (scenarios, 1)), floor
        for place in dict.fromkeys(pair):
            axis, design = space.axes[place], part.designs[place]
            values = axis.columns[axis.unit_name]
            bandwidth = part.stage.designs.bandwidth_bit_per_s[design] * filled[design]
            wanted = missing / bandwidth * (1 - 1e-12)
            wanted = np.ceil(wanted) if place == pair[1] else np.floor(wanted)
            order = np.argsort(values, kind="stable")
            at = np.searchsorted(values[order], wanted).clip(max=len(values) - 1)
            positions[:, part.places.index(place)] = order[at]
            missing = np.maximum(missing - values[order[at]] * bandwidth, 0.0)
        found.append(positions)
    return np.stack(found, axis=1)

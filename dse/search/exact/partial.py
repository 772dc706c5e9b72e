"""Partial designs in batches of scenarios, and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dse.algebra.enclosure import Enclosure, hull
from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.fleet import STAGE_COLUMNS
from dse.model.space import Index
from dse.model.stage import Columns, StageParts
from dse.search.exact.work import NotComposedError

MOST_FLEETS = 2_000_000
"""Most fleets of a stage of one design, in all scenarios of a batch."""

StageColumns = Mapping[str, Any]
"""Low and high ends of the columns of one stage."""

Both = tuple[StageColumns, StageColumns]
"""The bounds of the columns of a stage at two values of a number."""

Enclosed = Callable[["PartialDesigns"], Any]
"""Returns the columns of a stage whose fleet is chosen, in part or whole."""


@dataclass(frozen=True)
class PartialDesigns:
    """Partial designs.

    Attributes
    ----------
    scenario
        Position of each row's scenario in its batch, (n,), ascending.
    index
        Design points (n, d), 0 on open axes.
    block
        The block of fleets that each row has of the stage being chosen, or None.
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

    def expand(self, place: int, size: int) -> PartialDesigns:
        """Return every row once for each of the `size` values of the axis at `place`."""
        index = np.repeat(self.index, size, axis=0)
        index[:, place] = np.tile(np.arange(size), len(self))
        return PartialDesigns(np.repeat(self.scenario, size), index)


class Batch:
    """Scenarios that are closed together: their columns, and the enclosures of each stage."""

    def __init__(self, bounds: Bounds, parts: tuple[StageParts, ...], index: Index) -> None:
        """Take scenarios `index` (s, d)."""
        self.bounds = bounds
        self.parts = parts
        self.index = index
        self._space = bounds.problem.space
        self._wanted = tuple(name for name in STAGE_COLUMNS if name in bounds.wanted)
        self.columns: Columns = self._space.columns(index)
        self.hulls: list[StageColumns] = [self._hull(part) for part in parts]

    @property
    def rows(self) -> PartialDesigns:
        """The scenarios as partial designs."""
        return PartialDesigns(np.arange(len(self.index)), self.index)

    def bound(
        self, rows: PartialDesigns, stages: Mapping[int, StageColumns]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses and violations of partial designs.

        `stages` encloses the stages that are chosen, in part or whole.
        """
        columns: Columns = at_rows(self.columns, rows.scenario)
        known = [
            stages.get(place) or at_rows(hull, rows.scenario)
            for place, hull in enumerate(self.hulls)
        ]
        for name in self._wanted if known else ():
            columns[name] = tuple(stage[name] for stage in known)
        return self.bounds.best(columns, len(rows))

    def exact(self, stage: int, rows: PartialDesigns) -> StageColumns:
        """Return the columns of a stage whose axes are all chosen."""
        own = self.parts[stage].stage
        fleet = own.fleet(self._space.columns(rows.index, own.reads))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return {
                name: np.broadcast_to(fleet.column(name), (len(rows),)) for name in self._wanted
            }

    def partial(self, stage: int, rows: PartialDesigns, chosen: int) -> StageColumns:
        """Return the enclosures of a stage of which the first `chosen` axes are chosen."""
        part = self.parts[stage]
        if chosen == len(part.places):
            return self.exact(stage, rows)
        return self._open(part, rows, part.places[:chosen])

    def narrow(self, stage: int, rows: PartialDesigns) -> None:
        """Limit a stage to its fleets in `rows`, which are sorted by scenario."""
        low, high = ends_by_scenario(self.exact(stage, rows), rows.scenario, len(self.index))
        self.hulls[stage] = {name: Enclosure(low[name], high[name]) for name in low}

    def enclosed(self, stage: int, rows: PartialDesigns, first: NDArray[np.intp]) -> Enclosed:
        """Return a function that encloses a stage with one of some blocks of fleets."""
        hulls = {
            name: Enclosure(np.minimum.reduceat(column, first), np.maximum.reduceat(column, first))
            for name, column in self.exact(stage, rows).items()
        }
        return lambda some: at_rows(hulls, cast(NDArray[np.intp], some.block))

    def floor(self, scenario: NDArray[np.intp]) -> Column:
        """Return the demand on every stage in the given scenarios, bit/s."""
        return self.bounds.floor(at_rows(self.columns, scenario))

    def _hull(self, part: StageParts) -> StageColumns:
        """Return the enclosures of an open stage, a row per scenario."""
        rows = self.rows
        if part.designs:
            return self._open(part, rows, ())
        sizes = self._space.sizes
        if len(rows) * math.prod(sizes[place] for place in part.places) > MOST_FLEETS:
            raise NotComposedError(f"stage {part.stage.name} has too many fleets")
        for place in part.places:
            rows = rows.expand(place, sizes[place])
        fleet = part.stage.fleet(self._space.columns(rows.index, part.stage.reads))
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
        columns = self._space.columns(rows.index, part.stage.reads)
        counts = part.counts(self._space, columns, chosen)
        positions = [np.array([design]) for design in range(len(counts))]
        clocks = [self._space.axes[place] for place in part.places if place not in part.designs]
        if clocks and not chosen:
            values = clocks[0].columns[clocks[0].unit_name]
            each = (np.full(1, value) for value in values)
            return self._union(self._fleets(part, rows, counts, positions, one) for one in each)
        clock = columns.get(f"{part.stage.name}.clock", np.ones(1))
        return self._fleets(part, rows, counts, positions, clock)

    def _fleets(
        self,
        part: StageParts,
        rows: PartialDesigns,
        counts: list[Any],
        positions: list[NDArray[np.int64]],
        clock: Column,
    ) -> StageColumns:
        """Return the enclosures of fleets whose counts are known or enclosed."""
        columns = self._space.columns(rows.index, part.stage.reads)
        floor = self.floor(rows.scenario)
        fleet = part.stage.fleet_of(counts, positions, columns, clock=clock, floor=floor)
        with np.errstate(all="ignore"):
            return {name: fleet.column(name) for name in self._wanted}

    def _union(self, parts: Iterable[StageColumns]) -> StageColumns:
        """Return the hull of some enclosures."""
        every = list(parts)
        return {name: hull([part[name] for part in every]) for name in self._wanted}


class Pair:
    """The same scenarios at two values of a number (`dse.search.exact.interval`)."""

    def __init__(self, one: Batch, other: Batch) -> None:
        """Take both: scenarios as design points (s, d), which are the same."""
        self.one, self.other = one, other
        self.index, self.rows, self.parts = one.index, one.rows, one.parts

    def bound(
        self, rows: PartialDesigns, stages: Mapping[int, Both]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses and violations of partial designs at either value."""
        first = self.one.bound(rows, {stage: both[0] for stage, both in stages.items()})
        second = self.other.bound(rows, {stage: both[1] for stage, both in stages.items()})
        return np.fmin(first[0], second[0]), np.fmin(first[1], second[1])

    def exact(self, stage: int, rows: PartialDesigns) -> Both:
        """Return the columns of a stage whose axes are all chosen."""
        return self.one.exact(stage, rows), self.other.exact(stage, rows)

    def partial(self, stage: int, rows: PartialDesigns, chosen: int) -> Both:
        """Return the bounds of a stage of which the first `chosen` axes are chosen."""
        return self.one.partial(stage, rows, chosen), self.other.partial(stage, rows, chosen)

    def narrow(self, stage: int, rows: PartialDesigns) -> None:
        """Limit a stage to its fleets in `rows`, which are sorted by scenario."""
        self.one.narrow(stage, rows)
        self.other.narrow(stage, rows)

    def enclosed(self, stage: int, rows: PartialDesigns, first: NDArray[np.intp]) -> Enclosed:
        """Return a function that encloses a stage with one of some blocks of fleets."""
        one, other = (batch.enclosed(stage, rows, first) for batch in (self.one, self.other))
        return lambda some: (one(some), other(some))


Scenarios = Batch | Pair
"""Scenarios that are closed together."""


def ends_by_scenario(
    columns: Mapping[str, Column], scenario: NDArray[np.intp], count: int
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the least and largest values in each of `count` scenarios, sorted rows."""
    present, starts = np.unique(scenario, return_index=True)
    low, high = {}, {}
    for name, values in columns.items():
        low[name], high[name] = np.full(count, np.inf), np.full(count, -np.inf)
        if len(present):
            low[name][present] = np.minimum.reduceat(values, starts)
            high[name][present] = np.maximum.reduceat(values, starts)
    return low, high


def at_rows(columns: Mapping[str, Any], rows: NDArray[np.intp]) -> Columns:
    """Return some rows of columns, or of tuples of them. A constant stays one row."""

    def some(column: Any) -> Any:
        if isinstance(column, tuple):
            return tuple(map(some, column))
        return column if column.shape == (1,) else column[rows]

    return {name: some(column) for name, column in columns.items()}


def weighed(
    scenario: NDArray[np.intp], weights: NDArray[np.object_], each: NDArray[np.intp]
) -> int:
    """Return the number of designs of partial designs: `each`, times its scenario's weight."""
    counts = np.bincount(scenario, each, minlength=len(weights))
    return sum(int(count) * int(weight) for count, weight in zip(counts, weights, strict=True))

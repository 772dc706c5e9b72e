"""Decisions on partial designs: counts of a fleet, or one of the listed fleets."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dse.search.exact.partial import Enclosed, PartialDesigns, Scenarios

_WITHIN = 8
"""Blocks of fleets in a larger block."""

_TOGETHER = 64
"""Most choices of the first counts of a fleet in one decision."""


@dataclass(frozen=True)
class CountChoice:
    """The choice of the next axes of a stage.

    Attributes
    ----------
    places
        The axes, with their numbers of values.
    open
        Number of fleets for each choice.
    enclosed
        Returns the columns of the stage after the choice.
    """

    stage: int
    places: Mapping[int, int]
    open: int
    enclosed: Enclosed

    def join(self, rows: PartialDesigns) -> PartialDesigns:
        """Return partial designs, each once for every choice."""
        for place, size in self.places.items():
            rows = rows.expand(place, size)
        return rows

    def each(self, rows: PartialDesigns) -> NDArray[np.intp] | int:
        """Return the number of fleets of the stage that each partial design represents."""
        return self.open

    def made(self, rows: PartialDesigns) -> NDArray[np.intp]:
        """Return the number of partial designs that `join` makes of each."""
        return np.full(len(rows), math.prod(self.places.values()))


@dataclass(frozen=True)
class BlockChoice:
    """The choice of a block of consecutive listed fleets of a stage.

    Attributes
    ----------
    places
        Axes of the stage.
    fleets
        All listed fleets, sorted by scenario.
    first
        The first fleet of each block.
    within
        The larger block, or the scenario, of each block, ascending.
    enclosed
        Returns the columns of the stage after the choice.
    """

    stage: int
    places: tuple[int, ...]
    fleets: PartialDesigns
    first: NDArray[np.intp]
    within: NDArray[np.intp]
    enclosed: Enclosed

    def join(self, rows: PartialDesigns) -> PartialDesigns:
        """Return partial designs, each once for every block in its larger one."""
        left, right = _pairs(_chosen(rows), self.within)
        scenario, index = rows.scenario[left], rows.index[left]
        if len(self.first) < len(self.fleets):
            return PartialDesigns(scenario, index, right)
        for place in self.places:
            index[:, place] = self.fleets.index[right, place]
        return PartialDesigns(scenario, index)

    def each(self, rows: PartialDesigns) -> NDArray[np.intp] | int:
        """Return the number of fleets of the stage that each partial design represents."""
        if rows.block is None:
            return 1
        return np.diff(self.first, append=len(self.fleets))[rows.block]

    def made(self, rows: PartialDesigns) -> NDArray[np.intp]:
        """Return the number of partial designs that `join` makes of each."""
        chosen = _chosen(rows)
        counts: NDArray[np.intp] = np.bincount(self.within, minlength=1 + chosen.max(initial=0))
        return counts[chosen]


Decision = CountChoice | BlockChoice
"""The next decision on a stage."""


def counts_of(batch: Scenarios, stage: int, sizes: tuple[int, ...]) -> Iterator[Decision]:
    """Yield the decisions on a fleet: one, or count by count for a mixed fleet."""
    part = batch.parts[stage]
    places = part.places
    made = itertools.accumulate((sizes[place] for place in places), operator.mul)
    first = max(1, sum(count <= _TOGETHER for count in made)) if part.designs else len(places)
    for before, last in itertools.pairwise([0, *range(first, len(places) + 1)]):
        own = {place: sizes[place] for place in places[before:last]}
        left = math.prod(sizes[place] for place in places[last:])
        yield CountChoice(stage, own, left, partial(batch.partial, stage, chosen=last))


def blocks_of(
    batch: Scenarios, parts: Mapping[int, PartialDesigns], order: Sequence[int], most: int
) -> Iterator[Decision]:
    """Yield the decisions on listed fleets of stages after the first.

    With possibly more than `most` designs, blocks are decided before single fleets.
    """
    designs = np.ones(len(batch.index))
    for stage in order:
        fleets = parts[stage]
        designs *= np.bincount(fleets.scenario, minlength=len(designs))
        if stage == order[0]:
            continue
        number = np.arange(len(fleets)) - np.searchsorted(fleets.scenario, fleets.scenario)
        steps = [1]
        while designs.sum() > most and steps[0] * _WITHIN <= number.max(initial=0):
            steps.insert(0, steps[0] * _WITHIN)
        within, places = fleets.scenario, batch.parts[stage].places
        for step in steps:
            begins = number % step == 0
            first = np.flatnonzero(begins)
            enclosed = (
                batch.enclosed(stage, fleets, first) if step > 1 else partial(batch.exact, stage)
            )
            yield BlockChoice(stage, places, fleets, first, within[first], enclosed)
            within = np.cumsum(begins) - 1


def _chosen(rows: PartialDesigns) -> NDArray[np.intp]:
    """Return the block of each partial design, or its scenario before the first block."""
    return rows.scenario if rows.block is None else rows.block


def _pairs(
    left: NDArray[np.intp], right: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of all pairs of equals, for sorted `right`."""
    starts = np.searchsorted(right, left, side="left")
    counts = np.searchsorted(right, left, side="right") - starts
    first = np.repeat(np.arange(len(left)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, np.repeat(starts, counts) + within

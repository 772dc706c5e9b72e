"""What is chosen next of partial designs: counts of a fleet, or one of fleets that are listed."""

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
"""BlockChoice that are in a larger one."""

_TOGETHER = 64
"""Choices of the first counts of a fleet that are made together."""


@dataclass(frozen=True)
class CountChoice:
    """The next axes of a stage of which nothing, or all before them, is chosen.

    Attributes
    ----------
    stage
        Which one.
    places
        Each of its axes that is chosen now, and how many values it has.
    open
        In how many ways the others may be chosen.
    enclosed
        Returns the columns of the stage of partial designs of which these are chosen.
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
        """Return how many fleets of the stage each of partial designs may have."""
        return self.open

    def made(self, rows: PartialDesigns) -> NDArray[np.intp]:
        """Return how many partial designs `join` makes of each."""
        return np.full(len(rows), math.prod(self.places.values()))


@dataclass(frozen=True)
class BlockChoice:
    """Listed fleets of a stage, some of one scenario that follow each other in each block.

    Attributes
    ----------
    stage
        Which one.
    places
        Its axes.
    fleets
        All of them, sorted by scenario.
    first
        The first fleet of each block.
    within
        The larger block, or the scenario, that each is in; ascending.
    enclosed
        Returns the columns of the stage of partial designs of which a block is chosen.
    """

    stage: int
    places: tuple[int, ...]
    fleets: PartialDesigns
    first: NDArray[np.intp]
    within: NDArray[np.intp]
    enclosed: Enclosed

    def join(self, rows: PartialDesigns) -> PartialDesigns:
        """Return partial designs, each once for every block of what it has chosen so far."""
        left, right = _pairs(_chosen(rows), self.within)
        scenario, index = rows.scenario[left], rows.index[left]
        if len(self.first) < len(self.fleets):
            return PartialDesigns(scenario, index, right)
        for place in self.places:
            index[:, place] = self.fleets.index[right, place]
        return PartialDesigns(scenario, index)

    def each(self, rows: PartialDesigns) -> NDArray[np.intp] | int:
        """Return how many fleets of the stage each of partial designs may have."""
        if rows.block is None:
            return 1
        return np.diff(self.first, append=len(self.fleets))[rows.block]

    def made(self, rows: PartialDesigns) -> NDArray[np.intp]:
        """Return how many partial designs `join` makes of each."""
        chosen = _chosen(rows)
        counts: NDArray[np.intp] = np.bincount(self.within, minlength=1 + chosen.max(initial=0))
        return counts[chosen]


Decision = CountChoice | BlockChoice
"""What is chosen next of a stage."""


def counts_of(batch: Scenarios, stage: int, sizes: tuple[int, ...]) -> Iterator[Decision]:
    """Yield how a fleet is chosen: at once, or count by count where it is mixed."""
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
    """Yield how listed fleets of stages after the first are chosen, stage by stage.

    Block by block, where there may be more than `most` designs.
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
    """Return what blocks of the next choice are in: a block, or before any a scenario."""
    return rows.scenario if rows.block is None else rows.block


def _pairs(
    left: NDArray[np.intp], right: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of all pairs of equals; `right` comes sorted."""
    starts = np.searchsorted(right, left, side="left")
    counts = np.searchsorted(right, left, side="right") - starts
    first = np.repeat(np.arange(len(left)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, np.repeat(starts, counts) + within

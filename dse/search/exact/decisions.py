"""What is chosen next of partial designs: a count of a fleet, or one of fleets that are listed."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dse.model.stage import StageParts
from dse.search.exact.partial import Enclosed, PartialDesigns, Scenarios

WITHIN = 8
"""Blocks that are in a larger one."""

TOGETHER = 64
"""Choices of the first counts of a fleet that are made together."""


@dataclass(frozen=True)
class Blocks:
    """Listed fleets of a stage, some of one scenario that follow each other in each block.

    Attributes
    ----------
    fleets
        All of them, sorted by scenario.
    first
        The first fleet of each block.
    within
        The larger block, or the scenario, that each is in; ascending.
    enclosed
        Returns the columns of the stage of partial designs of which a block is chosen.
    """

    fleets: PartialDesigns
    first: NDArray[np.intp]
    within: NDArray[np.intp]
    enclosed: Enclosed

    def join(self, rows: PartialDesigns, places: tuple[int, ...]) -> PartialDesigns:
        """Return partial designs, each once for every block of what it has chosen so far."""
        left, right = _pairs(_chosen(rows), self.within)
        scenario, index = rows.scenario[left], rows.index[left]
        if len(self.first) < len(self.fleets):
            return PartialDesigns(scenario, index, right)
        for place in places:
            index[:, place] = self.fleets.index[right, place]
        return PartialDesigns(scenario, index)

    def sizes(self, rows: PartialDesigns) -> NDArray[np.intp]:
        """Return how many fleets each of partial designs has of which a block is chosen."""
        if rows.block is None:
            return np.ones(len(rows), dtype=np.intp)
        return np.diff(self.first, append=len(self.fleets))[rows.block]


@dataclass(frozen=True)
class Decision:
    """What is chosen next of a partial design.

    Attributes
    ----------
    stage
        A stage of which nothing, or all before `places`, is chosen.
    places, open
        Axes of it that are chosen, and those that stay open.
    blocks
        Instead, of which one is chosen where fleets are listed.
    """

    stage: int
    places: tuple[int, ...] = ()
    open: tuple[int, ...] = ()
    blocks: Blocks | None = None

    def size(self, sizes: tuple[int, ...]) -> int:
        """Return how many partial designs it makes of one where fleets are not listed."""
        return math.prod(sizes[place] for place in self.places)

    def made(self, rows: PartialDesigns, sizes: tuple[int, ...]) -> NDArray[np.intp]:
        """Return how many partial designs it makes of each."""
        if self.blocks is None:
            return np.full(len(rows), self.size(sizes))
        chosen = _chosen(rows)
        counts: NDArray[np.intp] = np.bincount(
            self.blocks.within, minlength=1 + chosen.max(initial=0)
        )
        return counts[chosen]


def decisions(part: StageParts, stage: int, sizes: tuple[int, ...]) -> list[Decision]:
    """Return how a fleet is chosen: at once, or count by count where it is mixed."""
    places = part.places
    if not part.designs:
        return [Decision(stage, places)]
    made = itertools.accumulate((sizes[place] for place in places), operator.mul)
    first = max(1, sum(count <= TOGETHER for count in made))
    edges = [0, *range(first, len(places) + 1)]
    return [Decision(stage, places[a:b], places[b:]) for a, b in itertools.pairwise(edges)]


def joins(
    batch: Scenarios, parts: Mapping[int, PartialDesigns], order: Sequence[int], most: int
) -> list[Decision]:
    """Return how listed fleets of stages after the first are chosen, stage by stage.

    Block by block, where there may be more than `most` designs.
    """
    found: list[Decision] = []
    designs = np.ones(len(batch.index))
    for stage in order:
        fleets = parts[stage]
        designs *= np.bincount(fleets.scenario, minlength=len(designs))
        if stage != order[0]:
            found += _by_block(batch, stage, fleets, blocks=designs.sum() > most)
    return found


def _by_block(
    batch: Scenarios, stage: int, fleets: PartialDesigns, *, blocks: bool
) -> Iterator[Decision]:
    number = np.arange(len(fleets)) - np.searchsorted(fleets.scenario, fleets.scenario)
    steps = [1]
    while blocks and steps[0] * WITHIN <= number.max(initial=0):
        steps.insert(0, steps[0] * WITHIN)
    within = fleets.scenario
    for step in steps:
        begins = number % step == 0
        first = np.flatnonzero(begins)
        enclosed = batch.enclosed(stage, fleets, first) if step > 1 else partial(batch.exact, stage)
        yield Decision(stage, blocks=Blocks(fleets, first, within[first], enclosed))
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

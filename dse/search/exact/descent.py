"""Completing partial designs decision by decision; those that bounds rule out drop out."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.model.problem import Problem
from dse.model.space import Index
from dse.search.exact.incumbents import Pruned
from dse.search.exact.partial import Decision, PartialDesigns, Scenarios, decisions
from dse.search.exact.parts import stage_parts
from dse.search.exact.work import CALL, ROW, NotComposedError, most_byte, spend

FEW_ROWS = 200_000
MOST_ROWS = 60_000
"""Partial designs held at once, of one stage alone and in all; more are completed in portions."""

TOGETHER = 16_384
"""Partial designs bounded together."""

COPIES, BOUND_BYTE = 8, 16_384
"""Eight times the memory of what is held, and of what a bound takes: as much as either may have."""


class Descent:
    """Completes partial designs of a problem; what becomes of them is for those who use it."""

    few, most = FEW_ROWS, MOST_ROWS
    splits = True
    """Whether more partial designs than are held at once are completed some after others."""

    def __init__(self, problem: Problem, pruned: Pruned) -> None:
        """Sort the axes by stage; what belongs to no stage is scenario."""
        self.problem = problem
        self.parts = tuple(stage_parts(problem))
        chosen = {place for part in self.parts for place in part.places}
        self.outer = [place for place in range(len(problem.sizes)) if place not in chosen]
        self.fleets = [math.prod(problem.sizes[k] for k in part.places) for part in self.parts]
        self.pruned = pruned
        byte = most_byte()
        held = byte / (COPIES * 8 * (1 + len(problem.sizes)))
        self.few, self.most = (int(min(rows, held)) for rows in (self.few, self.most))
        self._together = int(max(1, min(TOGETHER, byte / BOUND_BYTE)))

    def _dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which bounds (n, m) cannot be met by a design that is requested."""
        raise NotImplementedError

    def _finish(self, index: Index) -> None:
        """Take designs that are left."""
        raise NotImplementedError

    def _grow(
        self, batch: Scenarios, stage: int, parts: Mapping[int, PartialDesigns]
    ) -> PartialDesigns:
        """Return every fleet of a stage that may be part of a design on the front."""
        rows = batch.rows
        for decision in decisions(self.parts[stage], stage):
            check_rows(len(rows) * decision.size(self.problem.sizes), self.few)
            rows = self._choose(batch, rows, decision, (), parts)
        return rows

    def _descend(
        self,
        batch: Scenarios,
        rows: PartialDesigns,
        left: Sequence[Decision],
        done: Collection[int],
        parts: Mapping[int, PartialDesigns],
    ) -> None:
        """Complete partial designs: all together, or where they are too many, some after others."""
        if not left:
            self._finish(rows.index)
            return
        decision, *later = left
        over = (
            done
            if any(decision.stage == other.stage for other in later)
            else {*done, decision.stage}
        )
        for some in self._portions(batch, rows, decision, parts):
            self._descend(
                batch, self._choose(batch, some, decision, done, parts), later, over, parts
            )

    def _portions(
        self,
        batch: Scenarios,
        rows: PartialDesigns,
        decision: Decision,
        parts: Mapping[int, PartialDesigns],
    ) -> Iterator[PartialDesigns]:
        """Yield partial designs, as many at a time as the next decision lets fit."""
        each = np.full(len(batch.index), decision.size(self.problem.sizes))
        if decision.joins:
            each = np.bincount(parts[decision.stage].scenario, minlength=len(batch.index))
        made = np.cumsum(each[rows.scenario])
        if not len(rows) or made[-1] <= self.most:
            yield rows
            return
        if not self.splits:
            check_rows(int(made[-1]), self.most)
        portion = (made - 1) // max(1, self.most // 2)
        for first, last in pairwise([*np.unique(portion, return_index=True)[1], len(rows)]):
            yield rows.take(np.arange(first, last))

    def _choose(
        self,
        batch: Scenarios,
        rows: PartialDesigns,
        decision: Decision,
        done: Collection[int],
        parts: Mapping[int, PartialDesigns],
    ) -> PartialDesigns:
        """Return partial designs with one more decision made, as far as the front allows."""
        stage = decision.stage
        if decision.joins:
            left, right = _pairs(rows.scenario, parts[stage].scenario)
            index = rows.index[left]
            for place in self.parts[stage].places:
                index[:, place] = parts[stage].index[right, place]
            rows = PartialDesigns(rows.scenario[left], index)
        weights = self._ways(batch, parts, {stage, *self._those(done)})
        rows = rows.take((weights > 0)[rows.scenario])
        for place in decision.places:
            rows = rows.expand(place, self.problem.sizes[place])
        weights = weights * math.prod(self.problem.sizes[place] for place in decision.open)
        chosen = len(self.parts[stage].places) - len(decision.open)

        def known(some: PartialDesigns) -> dict[int, Any]:
            exact = {k: batch.exact(k, some) for k in self._those(done)}
            return exact | {stage: batch.partial(stage, some, chosen)}

        kept, _ = self._bound(batch, rows, known, weights)
        return rows.take(kept)

    def _those(self, stages: Container[int]) -> list[int]:
        return [stage for stage in range(len(self.parts)) if stage in stages]

    def _ways(
        self, batch: Scenarios, parts: Mapping[int, PartialDesigns], chosen: Container[int]
    ) -> NDArray[np.object_]:
        """Return in how many ways the stages that are not chosen may be, by scenario."""
        ways = np.full(len(batch.index), 1, dtype=object)
        for stage, number in enumerate(self.fleets):
            if stage in chosen:
                continue
            if stage in parts:
                counts = np.bincount(parts[stage].scenario, minlength=len(batch.index))
                ways = ways * counts.astype(object)
            else:
                ways = ways * number
        return ways

    def _bound(
        self,
        batch: Scenarios,
        rows: PartialDesigns,
        known: Callable[[PartialDesigns], Mapping[int, Any]],
        weights: NDArray[np.object_],
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which rows may lead to the front, and the least losses of all.

        `known` tells the stages that are chosen in part or whole; `weights` how many designs a row
        stands for, by scenario.
        """
        spend(CALL)
        missed, worse = np.zeros((2, len(rows)), dtype=bool)
        loss = np.empty((len(rows), len(self.problem.goals)))
        for first in range(0, len(rows), self._together):
            own = np.arange(first, min(first + self._together, len(rows)))
            some = rows.take(own) if len(own) < len(rows) else rows
            spend(ROW * len(some))
            loss[own], violation = batch.bound(some, known(some))
            missed[own] = (violation > 0).any(axis=1)
            hopeful = own[~missed[own]]
            worse[hopeful] = self._dominated(loss[hopeful])
        self.pruned.infeasible += _weighed(rows.scenario[missed], weights)
        self.pruned.dominated += _weighed(rows.scenario[worse], weights)
        return ~(missed | worse), loss


def check_rows(count: int, most: int) -> None:
    """Raise `NotComposedError` when more partial designs would be held than may be."""
    if count > most:
        raise NotComposedError(f"composition would hold {count:,} partial designs")


def _weighed(scenario: NDArray[np.intp], weights: NDArray[np.object_]) -> int:
    counts = np.bincount(scenario, minlength=len(weights))
    return sum(int(count) * int(weight) for count, weight in zip(counts, weights, strict=True))


def _pairs(
    left: NDArray[np.intp], right: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of all pairs of rows of one scenario; both come sorted by it."""
    starts = np.searchsorted(right, left, side="left")
    counts = np.searchsorted(right, left, side="right") - starts
    first = np.repeat(np.arange(len(left)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, np.repeat(starts, counts) + within

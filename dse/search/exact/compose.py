"""The exact front by branch and bound: partial designs, bounded and pruned early.

A design is put together stage by stage and count by count.  A partial design stands for all its
completions; bounds (`dse.model.bounds`) say what the best of them could be worth.  It is pruned
when every completion violates a constraint, or when an incumbent dominates even that best.
Whatever is left at the end is evaluated, so the front is that of all designs.

Choices outside the stages (interface, granularity, ...) are made first: scenarios, in batches,
the most promising ones before the others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.model.bounds import Bounds
from dse.model.problem import Problem
from dse.model.space import Index, blocks
from dse.model.stage import stage_parts
from dse.search.archive import Archive, Progress
from dse.search.exact.decisions import Decision, decisions, joins
from dse.search.exact.fleets import Fleets
from dse.search.exact.incumbents import Incumbents, seeds
from dse.search.exact.nodes import fleet_kinds, nodes_of
from dse.search.exact.partial import Batch, Enclosed, PartialDesigns, Scenarios, weighed
from dse.search.exact.work import (
    BOUND_BYTE,
    CALL,
    ROW,
    NotComposedError,
    TooMuchWorkError,
    fitting,
    limited,
    spend,
)

FEW_ROWS = 200_000
MOST_ROWS = 60_000
"""Partial designs held at once, of one stage alone and in all; more are completed in portions."""

TOGETHER = 16_384
"""Partial designs bounded together."""

BATCH, SCENARIOS = 64, 4096
"""Scenarios that are closed together, and that are bounded together."""

ROUNDS = 3
"""Times that each shortlist is shortened by bounds, which the shorter ones sharpen."""

FIRST = 16
"""Stages of fewer fleets than this part of what may be held are grown before others."""

TRIED = 500_000
"""Bounds alone are tried first, and may take so much work for each kind of scenarios."""


class Composer:
    """Composes the front of a problem."""

    splits = True
    """Whether more partial designs than are held at once are completed some after others."""

    def __init__(
        self, problem: Problem, archive: Archive, progress: Progress | None = None
    ) -> None:
        """Start with nothing evaluated; axes are sorted by stage, others are the scenario's."""
        self.problem = problem
        self.incumbents = Incumbents(archive, len(problem.goals))
        self.pruned = self.incumbents.pruned
        self.bounds = Bounds(problem)
        self._progress = progress
        self._left: list[Index] = []
        self.parts = tuple(stage_parts(problem))
        chosen = {place for part in self.parts for place in part.places}
        self.outer = [place for place in range(len(problem.sizes)) if place not in chosen]
        self.fleets = [math.prod(problem.sizes[k] for k in part.places) for part in self.parts]
        held = 8 * (1 + len(problem.sizes))
        self.few, self.most = (fitting(rows, held) for rows in (FEW_ROWS, MOST_ROWS))
        self._together = fitting(TOGETHER, BOUND_BYTE)

    def run(self) -> None:
        """Evaluate every design that may be on the front."""
        self.incumbents.draw()
        scenarios = self._by_bounds(self._scenarios())
        if not self.problem.tolerant:  # a fleet that is as good may fail
            scenarios = self._without_replaceable(scenarios)
        for first in range(0, len(scenarios), BATCH):
            self._show()
            self._divide(scenarios[first : first + BATCH])
        self._show()

    def _by_bounds(self, scenarios: Index) -> Index:
        """Close scenarios by bounds, as far as that is little work; return the others."""
        kinds, first = len(fleet_kinds(self.bounds, self.parts, scenarios)[0]), 0
        with suppress(NotComposedError, TooMuchWorkError), limited(designs=TRIED * kinds):
            for first in range(0, len(scenarios), BATCH):
                self._show()
                self._close_all(scenarios[first : first + BATCH], listed=True)
            return scenarios[:0]
        return scenarios[first:]

    def _without_replaceable(self, scenarios: Index) -> Index:
        """Close scenarios with the fleets that none replaces; return those of too many."""
        for first in range(0, len(scenarios), BATCH):
            batch = Batch(self.bounds, self.parts, scenarios[first : first + BATCH])
            self.incumbents.evaluate_reference(seeds(batch))
        done = np.zeros(len(scenarios), dtype=bool)
        for node in nodes_of(self.bounds, self.parts, scenarios, self.incumbents):
            for some, wanted, enough in node.alike():
                self._show()
                with suppress(NotComposedError):
                    lists = some.listed(wanted, enough)
                    for rows in np.array_split(some.rows, -(-len(some.rows) // BATCH)):
                        self._divide(scenarios[rows], lists)
                        done[rows] = True
        return scenarios[~done]

    def compose(self) -> None:
        """Close every scenario by bounds alone."""
        scenarios = self._scenarios()
        for first in range(0, len(scenarios), BATCH):
            self._divide(scenarios[first : first + BATCH])

    @property
    def settled(self) -> int:
        """How many designs are evaluated or pruned so far."""
        pruned = self.pruned.dominated + self.pruned.infeasible
        return pruned + self.incumbents.archive.evaluated

    def _show(self) -> None:
        if self._progress is not None:
            self._progress(self.settled, self.problem.size)

    def _divide(self, scenarios: Index, lists: Sequence[Fleets] | None = None) -> None:
        """Close scenarios together, or in halves when together they are too many rows."""
        try:
            self._close_all(scenarios, lists)
        except NotComposedError:
            if len(scenarios) == 1:
                raise
            half = len(scenarios) // 2
            self._divide(scenarios[:half], lists)
            self._divide(scenarios[half:], lists)

    def _close_all(
        self, scenarios: Index, lists: Sequence[Fleets] | None = None, *, listed: bool = False
    ) -> None:
        """Close scenarios together, or count nothing of them."""
        before, self._left = replace(self.pruned), [scenarios[:0]]
        try:
            self._close(self._batch(scenarios), lists, listed)
        except (NotComposedError, TooMuchWorkError):
            self.pruned.restore(before)
            raise
        self.incumbents.evaluate(np.concatenate(self._left))

    def _scenarios(self) -> Index:
        """Return the scenarios that may hold a design of the front, best first."""
        found, losses = [], []
        for block in blocks(tuple(self.problem.sizes[k] for k in self.outer), SCENARIOS):
            index = np.zeros((len(block), len(self.problem.sizes)), dtype=np.int64)
            index[:, self.outer] = block.rows(np.arange(len(block)))
            batch = self._batch(index)
            weights = np.full(len(index), math.prod(self.fleets), dtype=object)
            kept, loss = self._bound(batch, batch.rows, {}, weights)
            found.append(index[kept])
            losses.append(loss[kept])
        index, loss = np.concatenate(found), np.concatenate(losses)
        loss = np.where(np.isfinite(loss), loss, np.sign(loss) * np.finfo(float).max / 1e9)
        spread = np.ptp(loss, axis=0) if len(loss) else np.ones(loss.shape[1])
        merit = (loss / np.where(spread > 0, spread, 1.0)).sum(axis=1)
        order = np.argsort(merit, kind="stable")
        return index[order]

    def _batch(self, scenarios: Index) -> Scenarios:
        """Return scenarios (s, d) that are closed together."""
        return Batch(self.bounds, self.parts, scenarios)

    def _finish(self, index: Index) -> None:
        """Take the designs that are left of a batch."""
        [(evaluation, hopeful)] = self.incumbents.compare([index])
        kept = hopeful | ~evaluation.feasible
        self.pruned.dominated += int((~kept).sum())
        self._left.append(index[kept])

    def _dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which bounds (n, m) cannot be met by a design that is requested."""
        return self.incumbents.dominated(loss)

    def _close(self, batch: Scenarios, lists: Sequence[Fleets] | None, listed: bool) -> None:
        """Evaluate what may be on the front in a batch of scenarios.

        Every stage has to be `listed`, or may be grown behind the others.
        """
        parts: dict[int, PartialDesigns] = {}
        if isinstance(batch, Batch):
            self.incumbents.evaluate_reference(seeds(batch))  # what its bounds are compared with
            if lists is not None:
                self._list(batch, lists, parts)
        stages = sorted(range(len(self.parts)), key=self.fleets.__getitem__)
        # those of few fleets narrow the bounds of others
        for most in (self.few // FIRST, self.few)[len(stages) == 1 :]:
            for stage in [stage for stage in stages if stage not in parts]:
                before = replace(self.pruned)
                try:
                    parts[stage] = self._grow(batch, stage, parts, most)
                    batch.narrow(stage, parts[stage])
                except NotComposedError:
                    self.pruned.restore(before)
        if listed and len(parts) < len(stages):
            raise NotComposedError("bounds alone leave too many fleets of a stage")
        order = sorted(parts, key=lambda stage: len(parts[stage]))
        left = joins(batch, parts, order, self.most)
        for stage in [stage for stage in stages if stage not in parts]:
            left += decisions(self.parts[stage], stage, self.problem.sizes)
        rows = parts[order[0]] if order else batch.rows
        self._descend(batch, rows, left, order[:1], parts)

    def _list(
        self, batch: Batch, lists: Sequence[Fleets], parts: dict[int, PartialDesigns]
    ) -> None:
        """Let every stage be one of its listed fleets, as far as the front allows."""
        count = len(batch.index)
        check_rows(count * max(map(len, lists)), self.most)
        left = math.prod(map(len, lists))
        self.pruned.dominated += count * (math.prod(self.fleets) - left)
        for stage, fleets in enumerate(lists):
            rows = PartialDesigns(
                np.repeat(np.arange(count), len(fleets)), np.repeat(batch.index, len(fleets), 0)
            )
            rows.index[:, self.parts[stage].places] = np.tile(fleets.positions, (count, 1))
            parts[stage] = rows
            batch.narrow(stage, rows)
        for _ in range(ROUNDS):
            for stage, rows in parts.items():
                weights = self._ways(batch, parts, {stage})
                kept, _ = self._bound(batch, rows, {stage: partial(batch.exact, stage)}, weights)
                parts[stage] = rows.take(kept)
                batch.narrow(stage, parts[stage])

    def _grow(
        self, batch: Scenarios, stage: int, parts: Mapping[int, PartialDesigns], most: int
    ) -> PartialDesigns:
        """Return every fleet of a stage that may be part of a design on the front."""
        rows = batch.rows
        for decision in decisions(self.parts[stage], stage, self.problem.sizes):
            check_rows(len(rows) * decision.size(self.problem.sizes), most)
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
        for some in self._portions(rows, decision):
            self._descend(
                batch, self._choose(batch, some, decision, done, parts), later, over, parts
            )

    def _portions(self, rows: PartialDesigns, decision: Decision) -> Iterator[PartialDesigns]:
        """Yield partial designs, as many at a time as the next decision lets fit."""
        made = np.cumsum(decision.made(rows, self.problem.sizes))
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
        blocks = decision.blocks
        if blocks is not None:
            rows = blocks.join(rows, self.parts[stage].places)
        weights = self._ways(batch, parts, {stage, *done})
        rows = rows.take((weights > 0)[rows.scenario])
        for place in decision.places:
            rows = rows.expand(place, self.problem.sizes[place])
        weights = weights * math.prod(self.problem.sizes[place] for place in decision.open)
        chosen = len(self.parts[stage].places) - len(decision.open)

        known: dict[int, Enclosed] = {k: partial(batch.exact, k) for k in done}
        known[stage] = partial(batch.partial, stage, chosen=chosen)
        if blocks is not None:
            known[stage] = blocks.enclosed
        each = 1 if blocks is None else blocks.sizes(rows)
        kept, _ = self._bound(batch, rows, known, weights, each)
        return rows.take(kept)

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
        known: Mapping[int, Enclosed],
        weights: NDArray[np.object_],
        each: NDArray[np.intp] | int = 1,
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which rows may lead to the front, and the least losses of all.

        `known` tells the stages that are chosen in part or whole; `weights` how many designs a row
        stands for, by scenario, times `each`.
        """
        spend(CALL)
        missed, worse = np.zeros((2, len(rows)), dtype=bool)
        loss = np.empty((len(rows), len(self.problem.goals)))
        for first in range(0, len(rows), self._together):
            own = np.arange(first, min(first + self._together, len(rows)))
            some = rows.take(own) if len(own) < len(rows) else rows
            spend(ROW * len(some))
            loss[own], violation = batch.bound(some, {k: of(some) for k, of in known.items()})
            missed[own] = (violation > 0).any(axis=1)
            hopeful = own[~missed[own]]
            worse[hopeful] = self._dominated(loss[hopeful])
        each = np.broadcast_to(each, len(rows))
        self.pruned.infeasible += weighed(rows.scenario[missed], weights, each[missed])
        self.pruned.dominated += weighed(rows.scenario[worse], weights, each[worse])
        return ~(missed | worse), loss


def check_rows(count: int, most: int) -> None:
    """Raise `NotComposedError` when more partial designs would be held than may be."""
    if count > most:
        raise NotComposedError(f"composition would hold {count:,} partial designs")

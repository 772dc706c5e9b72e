"""The exact front by branch and bound: a list of reductions, each of which settles designs.

A partial design represents all its completions, and bounds (`dse.model.bounds`) their best losses.
It is pruned when every completion violates a constraint, or when an incumbent dominates the bounds.
The remaining designs are evaluated, so no vector of the front is lost.  The log of the reductions
is the certificate: together they settle every design.

A scenario has the choices outside the stages (interface, granularity, ...).  Scenarios are closed
in batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.model.bounds import Bounds
from dse.model.problem import Problem
from dse.model.space import Block, Index, blocks
from dse.model.stage import stage_parts
from dse.search.archive import Archive, Progress
from dse.search.exact.decisions import Decision, blocks_of, counts_of
from dse.search.exact.enumeration import CHUNK
from dse.search.exact.fleets import Fleets
from dse.search.exact.incumbents import Incumbents, Log, seeds
from dse.search.exact.nodes import fleet_kinds, nodes_of
from dse.search.exact.partial import (
    MOST_FLEETS,
    Batch,
    Enclosed,
    PartialDesigns,
    Scenarios,
    weighed,
)
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

FEW_ROWS, MOST_ROWS = 200_000, 60_000
"""Partial designs in memory at once, of one stage and in all."""

TOGETHER = 16_384
"""Partial designs bounded together."""

BATCH, SCENARIOS = 64, 4096
"""Scenarios that are closed together, and that are bounded together."""

_FIRST = 16
"""Stages with fewer fleets than this part of `FEW_ROWS` are listed first."""

TRIED = 500_000
"""Most work of the first reduction for each kind of scenarios."""


Reduction = Callable[[Index], Index]
"""Takes open scenarios, and returns those that remain open."""


class Composer:
    """Composes the front of a problem."""

    splits = True
    """Whether too many partial designs are completed in portions."""

    def __init__(
        self, problem: Problem, archive: Archive, progress: Progress | None = None
    ) -> None:
        """Start with nothing evaluated, and axes sorted by stage."""
        self.problem = problem
        self.incumbents = Incumbents(archive, len(problem.goals))
        self.log = Log()
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
        self.reductions: tuple[Reduction, ...] = (
            self.bounds_first,
            self.drop_replaceable_fleets,
            self.bound_and_close,
        )

    def run(self, most: float) -> None:
        """Evaluate every design that may be on the front.

        Scenarios that are still open after `most` work are evaluated whole.
        """
        with limited(designs=most):
            self.incumbents.draw()
            scenarios = self.reduce()
        few = math.isinf(most) or not self.log.pruned or math.prod(self.fleets) < CALL
        if len(scenarios) and few:  # all designs together are less work, if there is any way
            raise NotComposedError("bounds leave too many partial designs of a scenario")
        self._evaluate_whole(scenarios)

    def reduce(self) -> Index:
        """Apply each reduction to the open scenarios, and return those that take too much work."""
        scenarios = self._scenarios()
        for reduction in self.reductions:
            scenarios = reduction(scenarios)
            self._show()
        return scenarios

    @property
    def settled(self) -> int:
        """The number of designs that are evaluated or pruned so far."""
        return self.log.pruned + self.incumbents.archive.evaluated

    def _show(self) -> None:
        if self._progress is not None:
            self._progress(self.settled, self.problem.size)

    # --- reductions

    def bounds_first(self, scenarios: Index) -> Index:
        """Close scenarios by bounds, as far as that is little work."""
        self.log.reduction = "bounds first"
        kinds, closed = len(fleet_kinds(self.bounds, self.parts, scenarios)[0]), 0
        with suppress(NotComposedError, TooMuchWorkError), limited(designs=TRIED * kinds):
            while closed < len(scenarios):
                self._show()
                left = self._remaining(scenarios[closed : closed + BATCH], behind=False)
                closed += BATCH  # also if the work ends with this evaluation
                self.incumbents.evaluate(left)
        return scenarios[closed:]

    def drop_replaceable_fleets(self, scenarios: Index) -> Index:
        """Close scenarios with the fleets that none replaces."""
        for first in range(0, len(scenarios), BATCH):
            batch = Batch(self.bounds, self.parts, scenarios[first : first + BATCH])
            self.incumbents.compare(seeds(batch))
        open_ = np.ones(len(scenarios), dtype=bool)
        with suppress(TooMuchWorkError):
            for node in nodes_of(self.bounds, self.parts, scenarios, self.incumbents):
                for some, wanted, enough in node.alike():
                    self._show()
                    with suppress(NotComposedError):
                        lists = some.listed(wanted, enough)
                        for rows in np.array_split(some.rows, -(-len(some.rows) // BATCH)):
                            open_[rows] = False
                            open_[self._close(scenarios, rows, lists)] = True
        return scenarios[open_]

    def bound_and_close(self, scenarios: Index) -> Index:
        """Close every scenario by bounds, whatever the work."""
        self.log.reduction = "bound and close"
        every, open_ = np.arange(len(scenarios)), [np.empty(0, dtype=np.intp)]
        for first in range(0, len(scenarios), BATCH):
            self._show()
            open_.append(self._close(scenarios, every[first : first + BATCH]))
        return scenarios[np.concatenate(open_)]

    def _evaluate_whole(self, scenarios: Index) -> None:
        """Evaluate every fleet of scenarios."""
        sizes = self.problem.sizes
        for scenario in scenarios.tolist():
            own = tuple(1 if k in self.outer else size for k, size in enumerate(sizes))
            for block in blocks(own, fitting(CHUNK, BOUND_BYTE)):
                self._show()
                ranges = zip(block.ranges, scenario, strict=True)
                moved = tuple((first + at, count) for (first, count), at in ranges)
                spend(len(block) + CALL)
                self.incumbents.archive.evaluate_new(Block(sizes, moved))

    def _scenarios(self) -> Index:
        """Return the scenarios that may hold a design of the front."""
        self.log.reduction = "bounds first"
        found = []
        whole = [n for n, part in zip(self.fleets, self.parts, strict=True) if not part.designs]
        most = max(1, min(SCENARIOS, MOST_FLEETS // max(whole, default=1)))
        for block in blocks(tuple(self.problem.sizes[k] for k in self.outer), most):
            index = np.zeros((len(block), len(self.problem.sizes)), dtype=np.int64)
            index[:, self.outer] = block.rows(np.arange(len(block)))
            batch = self._batch(index)
            weights = np.full(len(index), math.prod(self.fleets), dtype=object)
            found.append(index[self._bound(batch, batch.rows, {}, weights)])
        return np.concatenate(found)

    def _close(
        self, scenarios: Index, rows: NDArray[np.intp], lists: Sequence[Fleets] | None = None
    ) -> NDArray[np.intp]:
        """Close scenarios together, in halves if those are too many, and return the open rows."""
        try:
            left = self._remaining(scenarios[rows], lists)
        except NotComposedError:
            if len(rows) == 1:
                return rows
            halves = (self._close(scenarios, half, lists) for half in np.array_split(rows, 2))
            return np.concatenate([*halves])
        except TooMuchWorkError:
            return rows
        with suppress(TooMuchWorkError):  # also if the work ends with this evaluation
            self.incumbents.evaluate(left)
        return rows[:0]

    def _remaining(
        self, scenarios: Index, lists: Sequence[Fleets] | None = None, *, behind: bool = True
    ) -> Index:
        """Return the designs of scenarios that may be on the front, or count nothing of them.

        Stages with too many open fleets are chosen `behind` the others.
        """
        before, self._left = self.log.copy(), [scenarios[:0]]
        try:
            batch = self._batch(scenarios)
            if isinstance(batch, Batch):
                self.incumbents.compare(seeds(batch))  # bounds are compared with them
            if lists is not None and isinstance(batch, Batch):
                parts = self._listed(batch, lists)
            else:
                parts = self._bounded(batch)
            others = [stage for stage in self._by_size if stage not in parts]
            if others and not behind:
                raise NotComposedError("bounds leave too many fleets of a stage")
            order = sorted(parts, key=lambda stage: len(parts[stage]))
            left = [*blocks_of(batch, parts, order, self.most)]
            for stage in others:
                left += counts_of(batch, stage, self.problem.sizes)
            self._join(batch, parts[order[0]] if order else batch.rows, left, order[:1], parts)
        except (NotComposedError, TooMuchWorkError):
            self.log = before
            raise
        return np.concatenate(self._left)

    # --- fleets of each stage

    @property
    def _by_size(self) -> list[int]:
        """The stages, small ones first, which narrow the bounds of others."""
        return sorted(range(len(self.parts)), key=self.fleets.__getitem__)

    def _bounded(self, batch: Scenarios) -> dict[int, PartialDesigns]:
        """Return the open fleets of each stage, without stages that have too many."""
        parts: dict[int, PartialDesigns] = {}
        for most in (self.few // _FIRST, self.few)[len(self.parts) == 1 :]:
            for stage in [stage for stage in self._by_size if stage not in parts]:
                before, rows = self.log.copy(), batch.rows
                try:
                    for decision in counts_of(batch, stage, self.problem.sizes):
                        check_rows(int(decision.made(rows).sum()), most)
                        rows = self._choose(batch, rows, decision, (), parts)
                    parts[stage] = rows
                    batch.narrow(stage, rows)
                except NotComposedError:
                    self.log = before
        return parts

    def _listed(self, batch: Batch, lists: Sequence[Fleets]) -> dict[int, PartialDesigns]:
        """Return the open fleets of each list, scenario by scenario."""
        self.log.reduction = "drop replaceable fleets"
        count = len(batch.index)
        check_rows(count * max(map(len, lists)), self.most)
        left = math.prod(map(len, lists))
        self.log.settle(count * (math.prod(self.fleets) - left))
        parts = {}
        for stage, fleets in enumerate(lists):
            rows = PartialDesigns(
                np.repeat(np.arange(count), len(fleets)), np.repeat(batch.index, len(fleets), 0)
            )
            rows.index[:, self.parts[stage].places] = np.tile(fleets.positions, (count, 1))
            parts[stage] = rows
            batch.narrow(stage, rows)
        for stage in parts:
            weights = self._ways(batch, parts, {stage})
            known = {stage: partial(batch.exact, stage)}
            kept = self._bound(batch, parts[stage], known, weights)
            parts[stage] = parts[stage].take(kept)
            batch.narrow(stage, parts[stage])
        self.log.reduction = "join stages"
        return parts

    # --- whole designs

    def _join(
        self,
        batch: Scenarios,
        rows: PartialDesigns,
        left: Sequence[Decision],
        done: Collection[int],
        parts: Mapping[int, PartialDesigns],
    ) -> None:
        """Complete partial designs, in portions if they are too many."""
        if not left:
            self._finish(rows.index)
            return
        decision, *later = left
        whole = all(decision.stage != other.stage for other in later)
        over = {*done, decision.stage} if whole else done
        for some in self._portions(rows, decision):
            made = self._choose(batch, some, decision, done, parts)
            self._join(batch, made, later, over, parts)

    def _portions(self, rows: PartialDesigns, decision: Decision) -> Iterator[PartialDesigns]:
        """Yield partial designs, as many at a time as the next decision lets fit."""
        made = np.cumsum(decision.made(rows))
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
        """Return the open partial designs with one more decision made."""
        stage = decision.stage
        weights = self._ways(batch, parts, {stage, *done})
        rows = decision.join(rows.take((weights > 0)[rows.scenario]))
        known: dict[int, Enclosed] = {k: partial(batch.exact, k) for k in done}
        known[stage] = decision.enclosed
        each = decision.each(rows)
        if isinstance(each, int):
            weights, each = weights * each, 1
        return rows.take(self._bound(batch, rows, known, weights, each))

    def _finish(self, index: Index) -> None:
        """Take the remaining designs of a batch."""
        evaluation, hopeful = self.incumbents.compare(index)
        kept = hopeful | ~evaluation.feasible
        self.log.settle(int((~kept).sum()))
        self._left.append(index[kept])

    # --- bounds

    def _batch(self, scenarios: Index) -> Scenarios:
        """Return scenarios (s, d) that are closed together."""
        return Batch(self.bounds, self.parts, scenarios)

    def _dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which bounds (n, m) rule out every design of the front."""
        return self.incumbents.dominated(loss)

    def _ways(
        self, batch: Scenarios, parts: Mapping[int, PartialDesigns], chosen: Collection[int]
    ) -> NDArray[np.object_]:
        """Return the number of fleets of all open stages together, by scenario."""
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
    ) -> NDArray[np.bool_]:
        """Return which rows may lead to the front.

        `known` encloses the chosen stages.  A row has as many designs as the weight of its scenario
        times `each`.
        """
        spend(CALL)
        missed, worse = np.zeros((2, len(rows)), dtype=bool)
        for first in range(0, len(rows), self._together):
            own = np.arange(first, min(first + self._together, len(rows)))
            some = rows.take(own) if len(own) < len(rows) else rows
            spend(ROW * len(some))
            loss, violation = batch.bound(some, {k: of(some) for k, of in known.items()})
            missed[own] = (violation > 0).any(axis=1)
            hopeful = own[~missed[own]]
            worse[hopeful] = self._dominated(loss[~missed[own]])
        each = np.broadcast_to(each, len(rows))
        missing = weighed(rows.scenario[missed], weights, each[missed])
        self.log.settle(missing, infeasible=True)
        self.log.settle(weighed(rows.scenario[worse], weights, each[worse]))
        return ~(missed | worse)


def check_rows(count: int, most: int) -> None:
    """Raise `NotComposedError` when more partial designs would be held than may be."""
    if count > most:
        raise NotComposedError(f"composition would hold {count:,} partial designs")

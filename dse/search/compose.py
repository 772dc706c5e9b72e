"""The exact front without trying every design: partial designs, bounded and given up early.

A design is put together stage by stage and count by count.  A partial design stands for all its
completions; interval bounds (`dse.bounds`) say what the best of them could be worth.  It is given
up when every completion misses a constraint, or when a design already evaluated dominates even
that best.  Whatever is left at the end is evaluated, so the front is that of all designs.

Choices outside the stages (interface, granularity, ...) are settled first: scenarios, in batches,
the most promising ones before the others.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dse.bounds import Bounds
from dse.front import beaten, nondominated
from dse.problem import Problem
from dse.search.archive import Archive, Progress
from dse.search.partial import Batch, NotComposedError, Rows, StageParts
from dse.search.seeds import seeds
from dse.space import Index, blocks

BATCH = 64
"""Scenarios that are settled together."""

SCENARIOS = 4096
"""Scenarios that are bounded together."""

RANDOM = 2048
"""Designs drawn at random, which show what the space is like."""

FEW_ROWS = 200_000
MOST_ROWS = 1_000_000
"""Partial designs held at once, of one stage alone and in all; a study that needs more is not
composed."""


class Scenarios(Protocol):
    """Scenarios that are settled together; what bounds a stage is theirs alone to know."""

    @property
    def index(self) -> Index:
        """Scenarios as design points (s, d), 0 on the axes of stages."""

    @property
    def rows(self) -> Rows:
        """The scenarios as partial designs that choose nothing else."""

    def judge(
        self, rows: Rows, stages: Mapping[int, Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses and violations of partial designs."""

    def exact(self, stage: int, rows: Rows) -> Any:
        """Return what is known of a stage whose axes are all chosen."""

    def partial(self, stage: int, rows: Rows, chosen: int) -> Any:
        """Return what is known of a stage of which the first `chosen` axes are chosen."""

    def narrow(self, stage: int, rows: Rows) -> None:
        """Let a stage be one of its fleets in `rows`, which are sorted by scenario."""


@dataclass
class Tally:
    """How many designs were given up unevaluated.

    Attributes
    ----------
    dominated
        Because an evaluated design dominates a bound of theirs.
    infeasible
        Because all of them miss a constraint.
    """

    dominated: int = 0
    infeasible: int = 0


class Composer:
    """Composes the front of a problem."""

    few, most = FEW_ROWS, MOST_ROWS

    def __init__(
        self, problem: Problem, archive: Archive, progress: Progress | None = None
    ) -> None:
        """Sort the axes by stage; what belongs to no stage is scenario."""
        self.problem = problem
        self.archive = archive
        self.tally = Tally()
        self.bounds = Bounds(problem)
        self.parts = tuple(_stage_parts(problem))
        chosen = {place for part in self.parts for place in part.places}
        self.outer = [place for place in range(len(problem.sizes)) if place not in chosen]
        self.fleets = [math.prod(problem.sizes[k] for k in part.places) for part in self.parts]
        self._progress = progress
        self._known = np.empty((0, len(problem.goals)))

    def run(self) -> None:
        """Evaluate every design that may be on the front."""
        drawn = np.random.default_rng(0).integers(
            0, self.problem.sizes, size=(RANDOM, len(self.problem.sizes))
        )
        self._witness(np.unique(drawn, axis=0))
        self.compose()

    def compose(self) -> None:
        """Settle every scenario."""
        for scenarios in self._scenarios():
            self._divide(scenarios)
            if self._progress is not None:
                done = self.tally.dominated + self.tally.infeasible + self.archive.evaluated
                self._progress(done, self.problem.size)

    def _divide(self, scenarios: Index) -> None:
        """Settle scenarios together, or in halves when together they are too many rows."""
        before = replace(self.tally)
        try:
            self._settle(self._batch(scenarios))
        except NotComposedError:
            if len(scenarios) == 1:
                raise
            self.tally = before
            half = len(scenarios) // 2
            self._divide(scenarios[:half])
            self._divide(scenarios[half:])

    def _scenarios(self) -> Iterator[Index]:
        """Yield batches of scenarios that may hold a design of the front, best first."""
        found, losses = [], []
        for block in blocks(tuple(self.problem.sizes[k] for k in self.outer), SCENARIOS):
            index = np.zeros((len(block), len(self.problem.sizes)), dtype=np.int64)
            index[:, self.outer] = block.rows(np.arange(len(block)))
            batch = self._batch(index)
            weights = np.full(len(index), math.prod(self.fleets), dtype=object)
            kept, loss = self._judge(batch, batch.rows, {}, weights)
            found.append(index[kept])
            losses.append(loss[kept])
        index, loss = np.concatenate(found), np.concatenate(losses)
        loss = np.where(np.isfinite(loss), loss, np.sign(loss) * np.finfo(float).max / 1e9)
        spread = np.ptp(loss, axis=0) if len(loss) else np.ones(loss.shape[1])
        merit = (loss / np.where(spread > 0, spread, 1.0)).sum(axis=1)
        order = np.argsort(merit, kind="stable")
        for first in range(0, len(order), BATCH):
            yield index[order[first : first + BATCH]]

    def _batch(self, scenarios: Index) -> Scenarios:
        """Return scenarios (s, d) that are settled together."""
        return Batch(self.bounds, self.parts, scenarios, {})

    def _begin(self, batch: Scenarios) -> None:
        """Find something to compare the bounds of a batch with."""
        if isinstance(batch, Batch):
            self._witness(seeds(batch))

    def _finish(self, index: Index) -> None:
        """Take the designs that are left of a batch."""
        final = self.archive.evaluate_new(index)
        self._remember(final.loss[final.feasible])

    def _beaten(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which bounds (n, m) cannot be met by a design that is asked for."""
        return beaten(loss, self._known)

    def _settle(self, batch: Scenarios) -> None:
        """Evaluate what may be on the front in a batch of scenarios."""
        self._begin(batch)
        parts: dict[int, Rows] = {}
        for stage in sorted(range(len(self.parts)), key=self.fleets.__getitem__):
            before = replace(self.tally)
            try:
                parts[stage] = self._grow(batch, stage, batch.rows, {}, parts, self.few)
                batch.narrow(stage, parts[stage])
            except NotComposedError:  # it is grown behind the others, whose fleets are known then
                self.tally = before
        rows = batch.rows
        done: dict[int, Rows] = {}
        for stage in sorted(
            range(len(self.parts)), key=lambda k: (k not in parts, len(parts.get(k, ())))
        ):
            if stage in parts:
                rows = self._join(batch, stage, rows, done, parts)
            else:
                rows = self._grow(batch, stage, rows, done, parts, self.most)
            done[stage] = rows
        if len(rows):
            self._finish(rows.index)

    def _grow(
        self,
        batch: Scenarios,
        stage: int,
        rows: Rows,
        done: Container[int],
        parts: Mapping[int, Rows],
        most: int,
    ) -> Rows:
        """Return `rows` with every fleet of a stage that may be part of a design on the front."""
        weights = self._ways(batch, parts, {stage, *self._those(done)}) * self.fleets[stage]
        rows = rows.take((weights > 0)[rows.scenario])
        places = self.parts[stage].places
        for chosen, place in enumerate(places, start=1):
            size = self.problem.sizes[place]
            _check(len(rows) * size, most)
            rows = rows.expand(place, size)
            weights = weights // size
            if not self.parts[stage].designs and chosen < len(places):
                continue
            known = {k: batch.exact(k, rows) for k in self._those(done)}
            kept, _ = self._judge(
                batch, rows, known | {stage: batch.partial(stage, rows, chosen)}, weights
            )
            rows = rows.take(kept)
        return rows

    def _join(
        self,
        batch: Scenarios,
        stage: int,
        rows: Rows,
        done: Container[int],
        parts: Mapping[int, Rows],
    ) -> Rows:
        """Return `rows` with every fleet that is left of a stage, as far as the front allows."""
        left, right = _pairs(rows.scenario, parts[stage].scenario)
        _check(len(left), self.most)
        index = rows.index[left]
        for place in self.parts[stage].places:
            index[:, place] = parts[stage].index[right, place]
        rows = Rows(rows.scenario[left], index)
        chosen = {stage, *self._those(done)}
        known = {k: batch.exact(k, rows) for k in chosen}
        kept, _ = self._judge(batch, rows, known, self._ways(batch, parts, chosen))
        return rows.take(kept)

    def _those(self, stages: Container[int]) -> list[int]:
        return [stage for stage in range(len(self.parts)) if stage in stages]

    def _ways(
        self, batch: Scenarios, parts: Mapping[int, Rows], chosen: Container[int]
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

    def _judge(
        self, batch: Scenarios, rows: Rows, stages: Mapping[int, Any], weights: NDArray[np.object_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which rows may lead to the front, and the least losses of all.

        `weights` says how many designs a row stands for, by scenario.
        """
        loss, violation = batch.judge(rows, stages)
        missed = np.asarray((violation > 0).any(axis=1))
        worse = ~missed
        worse[worse] = self._beaten(loss[worse])
        self.tally.infeasible += _weighed(rows.scenario[missed], weights)
        self.tally.dominated += _weighed(rows.scenario[worse], weights)
        return ~(missed | worse), loss

    def _witness(self, index: Index) -> None:
        """Evaluate designs only to have something to compare bounds with."""
        evaluation = self.archive.witness(index)
        self._remember(evaluation.loss[evaluation.feasible])

    def _remember(self, loss: NDArray[np.float64]) -> None:
        known = np.concatenate([self._known, loss])
        if len(known):
            known = np.unique(known, axis=0)
            self._known = known[nondominated(known)]


def _check(count: int, most: int) -> None:
    if count > most:
        raise NotComposedError(
            f"composition would hold {count:,} partial designs".replace(",", " ")
        )


def _stage_parts(problem: Problem) -> Iterator[StageParts]:
    """Yield the axes of each stage: the clock, then counts from the fastest design on."""
    names = [axis.name for axis in problem.space.axes]
    for stage in problem.stages:
        own = [k for k, name in enumerate(names) if name.partition(".")[0] == stage.name]
        designs = {
            k: stage.designs.names.index(names[k].partition(".")[2])
            for k in own
            if stage.mixed and names[k] != f"{stage.name}.clock"
        }
        rate = stage.designs.bandwidth_bit_per_s
        order = sorted(own, key=lambda k: (k in designs, -rate[designs.get(k, 0)], k))
        yield StageParts(stage, tuple(order), designs)


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

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
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dse.model.bounds import Bounds
from dse.model.evaluation import Evaluation, distinct, distinct_rows
from dse.model.front import dominated, nondominated
from dse.model.problem import Problem
from dse.model.space import Index, blocks
from dse.model.stage import stage_parts
from dse.search.archive import Archive, Progress
from dse.search.exact.nodes import Chains, fleet_kinds, nodes_of
from dse.search.exact.partial import (
    MOST_FLEETS,
    Batch,
    Decision,
    Enclosed,
    PartialDesigns,
    blocks_of,
    blocks_within,
    counts_of,
    seeds,
    weighed,
)
from dse.search.exact.work import (
    BOUND_BYTE,
    CALL,
    CHUNK,
    COMPARED,
    ROW,
    SORTED,
    EffortError,
    NotComposedError,
    TooMuchWorkError,
    fitting,
    limited,
    spend,
)
from dse.search.outcome import Certificate

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

RANDOM = 2048
"""Designs drawn at random."""

_FEW = 1_000
"""Size of a front of up to three losses from which on more rows take no longer to compare."""


class Log(list[tuple[str, bool, int]]):
    """Numbers of pruned designs: by which reduction, and whether as infeasible, or dominated.

    Designs with replaceable fleets are dominated ones.
    """

    reduction = ""
    """The current reduction."""

    def settle(self, designs: int, *, infeasible: bool = False) -> None:
        """Count designs that are pruned."""
        self.append((self.reduction, infeasible, designs))

    @property
    def pruned(self) -> int:
        """Number of pruned designs."""
        return sum(designs for _, _, designs in self)

    def certificate(self, way: str, reason: str, most: float) -> Certificate:
        """Return the account of these designs, of which at most so many are different ones."""
        dominated_, infeasible = Counter[str](), Counter[str]()
        for name, missing, designs in self:
            (infeasible if missing else dominated_)[name] += designs
        over = max(0, self.pruned - most)
        for name, designs in dominated_.items():
            dominated_[name] -= int(min(over, designs))
            over -= min(over, designs)
        return Certificate(
            way=way,
            reason=reason,
            dominated=dominated_.total(),
            infeasible=infeasible.total(),
            log=infeasible + dominated_,
        )


class Incumbents:
    """The best known losses and designs, to compare bounds with."""

    def __init__(self, archive: Archive, objectives: int) -> None:
        """Start with nothing known."""
        self.archive = archive
        self.loss = np.empty((0, objectives))
        self.designs: Index = np.empty((0, len(archive.sizes)), dtype=np.int64)

    def dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which losses (n, m) an evaluated design dominates."""
        count, losses = self.loss.shape
        spend(len(loss) * (count if losses > 3 else min(count, _FEW)) // COMPARED)
        return dominated(loss, self.loss)

    def draw(self) -> None:
        """Evaluate random designs."""
        sizes = self.archive.sizes
        drawn = np.random.default_rng(0).integers(0, sizes, size=(RANDOM, len(sizes)))
        self.compare(distinct(drawn))

    def compare(self, index: Index) -> tuple[Evaluation, NDArray[np.bool_]]:
        """Evaluate designs to compare bounds with, and return the feasible, undominated ones."""
        found = self.archive.evaluate_reference(index)
        hopeful = self._remember(index, found)  # before the effort may end
        spend(len(index) + CALL)
        return found, hopeful

    def evaluate(self, index: Index) -> None:
        """Evaluate designs that may be on the front and have not been evaluated before."""
        if len(index):
            self._remember(index, self.archive.evaluate_new(index))
            spend(len(index) + CALL)

    def settle(self) -> None:
        """Put the incumbents on the front, at the end of an unfinished proof."""
        known = {loss.tobytes() for loss in self.archive.front[1]}
        new = [row for row, loss in enumerate(self.loss) if loss.tobytes() not in known]
        if new:
            self.archive.evaluate_new(self.designs[new])

    def _remember(self, index: Index, evaluation: Evaluation) -> NDArray[np.bool_]:
        """Return which designs are feasible, and not dominated by any that was evaluated."""
        hopeful = evaluation.feasible.copy()
        every = np.concatenate([self.loss, evaluation.loss[hopeful]])
        if len(every):
            best = nondominated(every)
            hopeful[hopeful] = best[len(self.loss) :]
            known = self.designs[best[: len(self.loss)]]
            designs, every = np.concatenate([known, index[hopeful]]), every[best]
            rows = distinct_rows(every)
            self.loss, self.designs = every[rows], designs[rows]
            spend(len(best) * len(every) // SORTED)
        return hopeful


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
        self.reductions: tuple[Callable[[Index], Index], ...] = (  # of open scenarios
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

    # What is composed: another class composes designs between two values of a number

    def _batch(self, scenarios: Index) -> Batch:
        """Return scenarios (s, d) that are closed together."""
        return Batch(self.bounds, self.parts, scenarios)

    def _seed(self, batch: Batch) -> None:
        """Evaluate some designs of each scenario to compare bounds with."""
        self.incumbents.compare(seeds(batch))

    def _dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which bounds (n, m) rule out every design of the front."""
        return self.incumbents.dominated(loss)

    def _finish(self, index: Index) -> None:
        """Take the remaining designs of a batch."""
        evaluation, hopeful = self.incumbents.compare(index)
        kept = hopeful | ~evaluation.feasible
        self.log.settle(int((~kept).sum()))
        self._left.append(index[kept])

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
        self.log.reduction = "drop replaceable fleets"
        for first in range(0, len(scenarios), BATCH):
            self._seed(self._batch(scenarios[first : first + BATCH]))
        open_ = np.ones(len(scenarios), dtype=bool)
        with suppress(TooMuchWorkError):
            for node in nodes_of(self.bounds, self.parts, scenarios, self._dominated):
                for some, wanted, enough in node.alike():
                    self._show()
                    with suppress(NotComposedError):
                        chains = Chains(some, some.listed(wanted, enough), wanted, enough).best()
                        for rows in np.array_split(some.rows, -(-len(some.rows) // BATCH)):
                            open_[rows] = False
                            open_[self._close(scenarios, rows, chains)] = True
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
        sizes, most = self.problem.sizes, fitting(CHUNK, BOUND_BYTE)
        places = {*range(len(sizes))} - {*self.outer}
        for scenario in scenarios:
            for block in blocks_within(sizes, scenario, places, most):
                self._show()
                spend(len(block) + CALL)
                self.incumbents.archive.evaluate_new(block)

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
            found.append(index[self._bound(batch, batch.rows, {}, batch.ways(()))])
        return np.concatenate(found)

    def _close(
        self, scenarios: Index, rows: NDArray[np.intp], chains: Index | None = None
    ) -> NDArray[np.intp]:
        """Close scenarios together, in halves if those are too many, and return the open rows."""
        try:
            left = self._remaining(scenarios[rows], chains)
        except NotComposedError:
            if len(rows) == 1:
                return rows
            halves = np.array_split(rows, 2)
            return np.concatenate([self._close(scenarios, one, chains) for one in halves])
        except TooMuchWorkError:
            return rows
        with suppress(TooMuchWorkError):  # also if the work ends with this evaluation
            self.incumbents.evaluate(left)
        return rows[:0]

    def _remaining(
        self, scenarios: Index, chains: Index | None = None, *, behind: bool = True
    ) -> Index:
        """Return the designs of scenarios that may be on the front, or count nothing of them.

        Stages with too many open fleets are chosen `behind` the others.
        """
        before, self._left = len(self.log), [scenarios[:0]]
        try:
            batch = self._batch(scenarios)
            self._seed(batch)  # bounds are compared with these
            if chains is not None:
                self._take(batch, chains)
                return np.concatenate(self._left)
            self._narrow(batch)
            others = [stage for stage in self._by_size if stage not in batch.open]
            if others and not behind:
                raise NotComposedError("bounds leave too many fleets of a stage")
            order = sorted(batch.open, key=lambda stage: len(batch.open[stage]))
            left = [*blocks_of(batch, order, self.most)]
            for stage in others:
                left += counts_of(batch, stage)
            self._join(batch, batch.open[order[0]] if order else batch.rows, left, order[:1])
        except (NotComposedError, TooMuchWorkError):
            del self.log[before:]
            raise
        return np.concatenate(self._left)

    # --- fleets of each stage

    @property
    def _by_size(self) -> list[int]:
        """The stages, small ones first, which narrow the bounds of others."""
        return sorted(range(len(self.parts)), key=self.fleets.__getitem__)

    def _narrow(self, batch: Batch) -> None:
        """Bound the fleets of each stage that has not too many."""
        for most in (self.few // _FIRST, self.few)[len(self.parts) == 1 :]:
            for stage in [stage for stage in self._by_size if stage not in batch.open]:
                before, rows = len(self.log), batch.rows
                try:
                    for decision in counts_of(batch, stage):
                        check_rows(int(decision.made(rows).sum()), most)
                        rows = self._choose(batch, rows, decision, ())
                    batch.narrow(stage, rows)
                except NotComposedError:
                    del self.log[before:]

    # --- whole designs

    def _take(self, batch: Batch, chains: Index) -> None:
        """Take chains of fleets (n, axes) of each scenario, as far as bounds leave them open."""
        self.log.settle(len(batch.index) * (math.prod(self.fleets) - len(chains)))
        known: dict[int, Enclosed] = {
            k: partial(Batch.exact, stage=k) for k in range(len(self.parts))
        }
        places = [place for part in self.parts for place in part.places]
        some = max(1, self.most // len(batch.index))
        for first in range(0, len(chains), some):
            rows = batch.rows.expand(places, chains[first : first + some])
            self._finish(rows.take(self._bound(batch, rows, known, batch.ways(known))).index)

    def _join(
        self, batch: Batch, rows: PartialDesigns, left: Sequence[Decision], done: Collection[int]
    ) -> None:
        """Complete partial designs, in portions if they are too many."""
        if not left:
            self._finish(rows.index)
            return
        decision, *later = left
        whole = all(decision.stage != other.stage for other in later)
        over = {*done, decision.stage} if whole else done
        for some in self._portions(rows, decision):
            self._join(batch, self._choose(batch, some, decision, done), later, over)

    def _portions(self, rows: PartialDesigns, decision: Decision) -> Iterator[PartialDesigns]:
        """Yield partial designs, as many at a time as the next decision lets fit."""
        made = np.cumsum(decision.made(rows))
        if not len(rows) or made[-1] <= self.most:
            yield rows
            return
        if not self.splits:
            check_rows(int(made[-1]), self.most)
        portion = (made - 1) // max(1, self.most // 2)
        starts = np.unique(portion, return_index=True)[1]
        for own in np.split(np.arange(len(rows)), starts[1:]):
            yield rows.take(own)

    def _choose(
        self, batch: Batch, rows: PartialDesigns, decision: Decision, done: Collection[int]
    ) -> PartialDesigns:
        """Return the open partial designs with one more decision made."""
        weights = batch.ways({decision.stage, *done})
        rows = decision.join(rows.take((weights > 0)[rows.scenario]))
        known: dict[int, Enclosed] = {k: partial(Batch.exact, stage=k) for k in done}
        known[decision.stage] = decision.enclosed
        if isinstance(decision.each, int):
            return rows.take(self._bound(batch, rows, known, weights * decision.each))
        return rows.take(self._bound(batch, rows, known, weights, decision.each[rows.block]))

    def _bound(
        self,
        batch: Batch,
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
            loss, violation = batch.bound(some, known)
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


_MOST = 400_000
"""Most designs, and partial designs, that are wanted between two values."""

_MOST_WORK = 40_000_000 * ROW
"""Most work of bounds between two values, in evaluated designs."""


class Between(Batch):
    """The same scenarios at two values of a number.

    Partial designs have the better of their bounds at both.  Bounds rise or fall throughout, so
    this bounds every design at every value between.
    """

    other: Batch
    """The scenarios at the other value."""

    def bound(
        self, rows: PartialDesigns, chosen: Mapping[int, Enclosed]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least losses and violations of partial designs at either value."""
        here, there = super().bound(rows, chosen), self.other.bound(rows, chosen)
        return np.fmin(here[0], there[0]), np.fmin(here[1], there[1])

    def narrow(self, stage: int, rows: PartialDesigns) -> None:
        """Limit a stage to its fleets in `rows`, which are sorted by scenario."""
        super().narrow(stage, rows)
        self.other.narrow(stage, rows)


class BetweenComposer(Composer):
    """Composes the designs that may beat others between two values of a number."""

    splits = False

    def __init__(
        self, ends: tuple[Problem, Problem], worst: NDArray[np.float64], column: int | None
    ) -> None:
        """Take the arguments of `may_beat`."""
        super().__init__(ends[0], Archive(ends[0], total=ends[0].size))
        self.few = self.most = fitting(_MOST, 8 * (1 + len(ends[0].sizes)))
        self.reductions = (self.bound_and_close,)
        self.found: list[Index] = []
        self._worst, self._column = worst, column
        stages = {stage.name: stage for stage in ends[1].stages}
        parts = tuple(replace(part, stage=stages[part.stage.name]) for part in self.parts)
        self._other = partial(Batch, Bounds(ends[1]), parts)

    def _batch(self, scenarios: Index) -> Batch:
        batch = Between(self.bounds, self.parts, scenarios)
        batch.other = self._other(scenarios)
        return batch

    def _seed(self, batch: Batch) -> None:
        """Compare bounds with the worst losses only."""

    def _dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self._column is None:
            return dominated(loss, self._worst)
        return np.asarray(loss[:, self._column] > self._worst[0, self._column])

    def _finish(self, index: Index) -> None:
        self.found.append(index)
        if sum(map(len, self.found)) > self.most:
            raise NotComposedError("more designs are left than may be held")


def may_beat(
    ends: tuple[Problem, Problem], worst: NDArray[np.float64], column: int | None
) -> Index | None:
    """Return designs (n, d), all that may beat others between two values among them.

    None when there are more than `_MOST`, or when bounds take too much work.

    Parameters
    ----------
    ends
        The problem at the two values, over one space.
    worst
        The losses (h, m) that the others have at most between the two values.
    column
        The one loss that decides, or None for dominance.
    """
    composer = BetweenComposer(ends, worst, column)
    try:
        with limited(designs=_MOST_WORK):
            open_ = composer.reduce()
    except (NotComposedError, TooMuchWorkError, EffortError):
        return None
    return None if len(open_) else np.concatenate([open_, *composer.found])

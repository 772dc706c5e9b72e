"""Scenarios that share fleets, the nodes of the search, and their chains of listed fleets.

A chain has a fleet of each stage.  *No vector of losses is lost*: stages are joined one by one, and
traits of a chain rise with the traits of its parts.  So a partial chain that is as good as another
in every wanted direction makes chains that are as good.  The *level* of a part is its negative
capacity.  More capacity than the other part has is of no use, so a part is joined only below the
level from which on another is as good in all else: that one makes a chain that is as good, with the
same least capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.fleet import Traits
from dse.model.front import nondominated
from dse.model.influence import JOINS, Influence, beside_stages
from dse.model.space import Index
from dse.model.stage import SHARED_COLUMNS, Columns, StageParts
from dse.search.exact.fleets import (
    BYTE,
    MOST_LABELS,
    PORTION,
    Ends,
    Flags,
    Fleets,
    Matrix,
    StageFleets,
    TooManyLabelsError,
    Wanted,
    signed_losses,
)
from dse.search.exact.work import BOUND_BYTE, CALL, SORT, SORTED, fitting, spend

_FEW, _TOGETHER = 256, 16_384
"""Labels are bounded if they are more, and so many together."""

_PAIRS, _BLOCK, _COMPARED = 20_000_000, 64, 256
"""Most pairs of partial chains and fleets, and chains compared at once, and in the time of one."""

Picks = NDArray[np.intp]
"""Partial chains (n, stages): the rows of the lists, 0 of stages that are not joined."""


@dataclass(frozen=True)
class Node:
    """Scenarios that share fleets: their positions, as designs (s, d), and the fleets."""

    influence: Influence
    rows: NDArray[np.intp]
    scenarios: Index
    stages: tuple[StageFleets, ...]
    dominated: Callable[[Matrix], Flags]

    @cached_property
    def hulls(self) -> list[Ends]:
        """Ends of the traits of each stage with a fleet."""
        return [hull for stage in self.stages if (hull := stage.hull) is not None]

    @property
    def complete(self) -> bool:
        """Whether every stage has a fleet."""
        return len(self.hulls) == len(self.stages)

    def without_empty(self) -> Node:
        """Return the node without empty fleets, if no design with one is feasible.

        The ends of traits do not enclose a set with the empty fleet: a wait that falls with
        bandwidth is 0 without a fleet.
        """
        stages = list(self.stages)
        for number, stage in enumerate(stages):
            if self.influence.capacities and stage.floor < stage.smallest:
                empty = stage.empty
                index = np.repeat(self.scenarios, len(empty), axis=0)
                own = {n: np.tile(one, len(self.scenarios)) for n, one in empty.traits.items()}
                _, violation = self._bounds(index, {number: (own, own)}, len(index))
                if (violation > 0).any(axis=1).all():
                    stages[number] = replace(stage, floor=stage.smallest)
        return replace(self, stages=tuple(stages))

    def _columns(self, index: Index, known: Mapping[int, Ends]) -> Columns:
        """Return the columns of designs of which some stages are `known`."""
        columns: Columns = self.influence.bounds.problem.space.columns(index)
        offered = [known.get(stage, hull) for stage, hull in enumerate(self.hulls)]
        return columns | self.influence.enclosed_chain(*zip(*offered, strict=True))

    def _bounds(self, index: Index, known: Mapping[int, Ends], count: int) -> tuple[Matrix, Matrix]:
        """Return the least losses and violations of `count` such sets of designs."""
        spend(count // 2 + CALL)  # the stages are enclosed already
        return self.influence.bounds.best(self._columns(index, known), count)

    def alike(self) -> Iterator[tuple[Node, Wanted, float]]:
        """Yield scenarios that want the same of fleets, with the wants and the useful capacity."""
        count, names = len(self.scenarios), tuple(self.hulls[0][0])
        columns = self._columns(self.scenarios, {})
        goals, helps = (
            np.array([want[name] for name in names]).reshape(len(names), 2, count)
            for want in self.influence.wants(columns, count)
        )
        level = np.full(count, np.inf)
        capped = [name in self.influence.capacities for name in names]
        free = ~goals[capped].any(axis=(0, 1))
        enough = np.broadcast_to(self.influence.enough(columns), count)
        with np.errstate(divide="ignore"):  # rounded, so that many share a list
            level[free] = np.exp2(np.ceil(np.log2(enough)))[free]
        keys = np.column_stack([helps.reshape(-1, count).T, level])
        found, which = np.unique(keys, axis=0, return_inverse=True)
        for number, key in enumerate(found):
            own = which.reshape(-1) == number
            directions = key[:-1].astype(bool).reshape(len(names), 2).tolist()
            wanted = dict(zip(names, map(tuple, directions), strict=True))
            some = replace(self, rows=self.rows[own], scenarios=self.scenarios[own])
            yield some, wanted, float(key[-1])

    def listed(self, wanted: Wanted, enough: float) -> list[Fleets]:
        """Return the fleets of each stage that may lead to the front, without replaceable ones.

        All lists are empty if one is.  Raise `TooManyLabelsError` if they are too many.
        """
        found: dict[int, Fleets] = {}
        order = sorted(range(len(self.stages)), key=lambda stage: self.stages[stage].count)
        for last in (False, True):  # the lists of the others narrow the bounds
            for stage in order:
                hopeful = partial(self._stage_hopeful, found, stage)
                try:
                    if stage in found:
                        traits = found[stage].traits
                        some = found[stage].take(hopeful(traits, traits))
                    else:
                        most = self._useful(stage, enough)
                        some = self.stages[stage].listed(wanted, most, hopeful, banded=last)
                except TooManyLabelsError:
                    if last:
                        raise
                    continue
                if not len(some):  # no design leads to the front
                    return [one.none for one in self.stages]
                found[stage] = some
        return [found[stage] for stage in range(len(self.stages))]

    def _useful(self, stage: int, enough: float) -> float:
        """Return the useful capacity of a stage: `enough`, or the most of another stage.

        The stage with the least limits the chain.
        """
        others = [high for place, (_, high) in enumerate(self.hulls) if place != stage]
        most = [float(high[name][0]) for name in self.influence.capacities for high in others]
        return min([enough, *most])

    def _stage_hopeful(
        self, lists: Mapping[int, Fleets], stage: int, low: Traits, high: Traits
    ) -> Flags:
        """Return which labels of a stage may lead to the front in some scenario, if not few."""
        known = {place: some.hull for place, some in lists.items()}
        return self.hopeful(known, {stage: (low, high)}, len(next(iter(low.values()))))

    def hopeful(self, known: Mapping[int, Ends], own: Mapping[int, Ends], count: int) -> Flags:
        """Return which of `count` partial chains may lead to the front in some scenario.

        `own` are the traits of their stages, and `known` those of others.  Few are not examined.
        """
        found = np.full(count, count <= _FEW)
        some = fitting(_TOGETHER, BOUND_BYTE)
        for first in range(0, count, some):
            for scenario in self.scenarios:
                rows = first + np.flatnonzero(~found[first : first + some])
                if not len(rows):
                    break
                both = {**known, **{stage: _some(ends_, rows) for stage, ends_ in own.items()}}
                loss, violation = self._bounds(scenario[np.newaxis], both, len(rows))
                met = (violation <= 0).all(axis=1)
                found[rows[met]] = ~self.dominated(loss[met])
        return found


def _some(pair: Ends, rows: NDArray[np.intp]) -> Ends:
    """Return some rows of the ends of traits, which may be the same."""
    low, high = pair
    least = {name: values[rows] for name, values in low.items()}
    return least, least if high is low else {name: values[rows] for name, values in high.items()}


def fleet_kinds(
    bounds: Bounds, parts: Sequence[StageParts], scenarios: Index
) -> tuple[Matrix, NDArray[np.intp], Sequence[str]]:
    """Return the different kinds of scenarios (s, d) for fleets, and the kind of each scenario.

    The last column is the demand, those before it, which are named, are quantities without stages.
    """
    columns = bounds.problem.space.columns(scenarios)
    known = beside_stages(bounds, columns)
    deciding = (*SHARED_COLUMNS, *(part.stage.policy for part in parts))
    shared: list[Column] = [columns[name] for name in deciding if name in columns]
    for part in parts:
        shared += [] if (filled := part.stage.filled(columns)).shape[1] == 1 else [*filled]
    shared += [*known.values(), bounds.floor(columns)]
    table = np.stack([np.broadcast_to(values, (len(scenarios),)) for values in shared], axis=1)
    keys, which = np.unique(table, axis=0, return_inverse=True)
    return keys, which.reshape(-1), tuple(known)


def nodes_of(
    bounds: Bounds,
    parts: Sequence[StageParts],
    scenarios: Index,
    dominated: Callable[[Matrix], Flags],
) -> Iterator[Node]:
    """Yield the nodes of scenarios (s, d), without those in which a stage has no fleet.

    Bounds that are `dominated` lead to no design of the front.
    """
    keys, which, known = fleet_kinds(bounds, parts, scenarios)
    for position, key in enumerate(keys):
        rows = np.flatnonzero(which == position)
        values = dict(zip(known, key[-1 - len(known) : -1], strict=True))
        fixed = {name: np.full(1, value) for name, value in values.items() if np.isfinite(value)}
        influence = Influence(bounds, fixed)
        columns = bounds.problem.space.columns(scenarios[rows[:1]])
        own = [replace(part, stage=part.stage.at(columns)) for part in parts]
        point, floor = scenarios[rows[0]], float(key[-1])
        stages = tuple(StageFleets(influence, part, point, floor) for part in own)
        node = Node(influence, rows, scenarios[rows], stages, dominated)
        if node.complete and (node := node.without_empty()).complete:
            yield node


@dataclass(frozen=True)
class Chains:
    """Chains of the listed fleets of a node, with the wanted traits and the useful capacity."""

    node: Node
    lists: Sequence[Fleets]
    wanted: Wanted
    enough: float

    def best(self) -> Index:
        """Return chains of which one is as good as any, as positions on the axes of all stages.

        Raises
        ------
        TooManyLabelsError
            They are too many.
        """
        order = sorted(range(len(self.lists)), key=lambda stage: len(self.lists[stage]))
        picks = self._alone(order[0])
        for turn, stage in enumerate(order[1:] if len(picks) else (), start=1):
            picks = self._joined(order[:turn], picks, stage)
        chosen = zip(self.lists, picks.T, strict=True)
        return np.concatenate([some.positions[rows] for some, rows in chosen], axis=1)

    def _alone(self, stage: int) -> Picks:
        """Return the fleets of a stage as partial chains."""
        picks = np.zeros((len(self.lists[stage]), len(self.lists)), dtype=np.intp)
        picks[:, stage] = np.arange(len(picks))
        return picks

    def _joined(self, stages: Sequence[int], picks: Picks, stage: int) -> Picks:
        """Return the partial chains of one more stage that may lead to the front."""
        fleets, joined, kept = self._alone(stage), [*stages, stage], picks[:0]
        known = {place: one.hull for place, one in enumerate(self.lists)}
        for some in self._pairs(picks, fleets, stages, stage):
            made = picks[some[:, 0]] + fleets[some[:, 1]]
            traits = {k: self.lists[k].take(made[:, k]).traits for k in joined}
            ends = {k: (one, one) for k, one in traits.items()}
            kept = np.concatenate([kept, made[self.node.hopeful(known, ends, len(made))]])
            best = nondominated(np.column_stack(self._measured(joined, kept)))
            spend(len(best) * int(best.sum()) // SORTED + SORT * len(best) + CALL)
            kept = kept[best]
            if len(kept) > fitting(MOST_LABELS, BYTE):
                raise self.node.stages[stage].too_many
        return kept

    def _pairs(
        self, picks: Picks, fleets: Picks, stages: Sequence[int], stage: int
    ) -> Iterator[NDArray[np.intp]]:
        """Yield pairs (n, 2) of partial chains and fleets below the levels of their use."""
        if len(picks) * len(fleets) > _PAIRS:
            raise self.node.stages[stage].too_many
        (first, until), (second, other) = self._level(stages, picks), self._level([stage], fleets)
        portion = fitting(PORTION, BYTE)
        left, block = np.empty((0, 2), dtype=np.intp), max(1, 8 * portion // max(1, len(fleets)))
        for begin in range(0, len(picks), block):
            own = slice(begin, begin + block)
            level = np.maximum(first[own, np.newaxis], second)
            pairs = np.argwhere((level < until[own, np.newaxis]) & (level < other))
            left = np.concatenate([left, pairs + np.array([begin, 0])])
            while len(left) >= portion:
                yield left[:portion]
                left = left[portion:]
        if len(left):
            yield left

    def _measured(self, stages: Sequence[int], picks: Picks) -> tuple[Column, Matrix]:
        """Return the level of partial chains, and the other wanted traits as losses."""
        influence, pairs, level = self.node.influence, [], np.zeros(len(picks))
        for name, (low, high) in self.wanted.items():
            each = [self.lists[stage].traits[name][picks[:, stage]] for stage in stages]
            if name in influence.joined:
                each = [reduce(JOINS[influence.over_stages(name)], each)]
            if high and name == min(influence.capacities, default=""):
                level, high = -np.minimum(each[0], self.enough), False
            pairs += [(values, (low, high)) for values in each]
        return level, signed_losses(pairs, len(picks))

    def _level(self, stages: Sequence[int], picks: Picks) -> tuple[Column, Column]:
        """Return the level of partial chains, and that from which on another is as good besides."""
        level, rest = self._measured(stages, picks)
        until, order, left = np.full(len(level), np.inf), np.argsort(level), np.arange(0)
        for first in range(0, len(order), _BLOCK):
            some = order[first : first + _BLOCK]
            left = np.concatenate([left, some])
            spend(len(left) * len(some) // _COMPARED + CALL)
            ended = level[left, np.newaxis] < level[some]
            for column in rest.T:
                ended &= column[left, np.newaxis] >= column[some]
            over = ended.any(axis=1)
            until[left[over]] = level[some[ended[over].argmax(axis=1)]]
            left = left[~over]
        return level, until

"""Nodes: scenarios that share fleets, and the fleets that they need of each stage.

A listed fleet is as good as the fleets that it replaces in every wanted direction of a trait
(`dse.model.influence`).  *No vector of losses is lost*: let D be a design of the front.  Exchange
its fleets, stage by stage, for listed ones that are as good.  The new design meets the demand and
the constraints as D does, and its losses are no worse, so they are the same.  It is never pruned:
no evaluated design dominates its losses, and its bounds do not exceed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.bounds import Bounds
from dse.model.fleet import Traits
from dse.model.influence import Influence, beside_stages
from dse.model.space import Index
from dse.model.stage import SHARED_COLUMNS, Columns, StageParts
from dse.search.exact.fleets import Flags, Fleets, Matrix, StageFleets, TooManyLabelsError, Wanted
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.work import CALL, ROW, spend

_FEW = 256
"""Labels are bounded if they are more."""

_TOGETHER = 16_384
"""Labels that are bounded together."""

Ends = tuple[Traits, Traits]
"""Least and largest values of traits."""


@dataclass(frozen=True)
class Node:
    """Scenarios that share fleets.

    Attributes
    ----------
    influence
        The traits.
    rows, scenarios
        Positions of the scenarios, and the scenarios as designs (s, d).
    stages
        The fleets of each stage.
    incumbents
        Evaluated designs to compare bounds with.
    """

    influence: Influence
    rows: NDArray[np.intp]
    scenarios: Index
    stages: tuple[StageFleets, ...]
    incumbents: Incumbents

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
        spend(ROW * count + CALL)
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

        All lists are empty if one is.

        Raises
        ------
        TooManyLabelsError
            They are too many.
        """
        found: dict[int, Fleets] = {}
        order = sorted(range(len(self.stages)), key=lambda stage: self.stages[stage].count)
        for last in (False, True):  # the lists of the others narrow the bounds
            for stage in order:
                hopeful = partial(self._hopeful, found, stage)
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

    def _hopeful(self, lists: Mapping[int, Fleets], stage: int, low: Traits, high: Traits) -> Flags:
        """Return which labels of a stage may lead to the front in some scenario, if not few."""
        count = len(next(iter(low.values())))
        found = np.full(count, count <= _FEW)
        known = {place: some.hull for place, some in lists.items()}
        for first in range(0, count, _TOGETHER):
            for scenario in self.scenarios:
                rows = first + np.flatnonzero(~found[first : first + _TOGETHER])
                if not len(rows):
                    break
                least = {name: values[rows] for name, values in low.items()}
                most = least if high is low else {name: high[name][rows] for name in low}
                both = {**known, stage: (least, most)}
                loss, violation = self._bounds(scenario[np.newaxis], both, len(rows))
                met = (violation <= 0).all(axis=1)
                found[rows[met]] = ~self.incumbents.dominated(loss[met])
        return found


def fleet_kinds(
    bounds: Bounds, parts: Sequence[StageParts], scenarios: Index
) -> tuple[Matrix, NDArray[np.intp], Sequence[str]]:
    """Return the different kinds of scenarios (s, d) for fleets, and the kind of each scenario.

    The last column is the demand.  The named columns before it are quantities without stages.
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
    bounds: Bounds, parts: Sequence[StageParts], scenarios: Index, incumbents: Incumbents
) -> Iterator[Node]:
    """Yield the nodes of scenarios (s, d), without those in which a stage has no fleet."""
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
        node = Node(influence, rows, scenarios[rows], stages, incumbents)
        if node.complete and (node := node.without_empty()).complete:
            yield node

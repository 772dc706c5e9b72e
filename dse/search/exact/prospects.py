"""Which fleets and partial chains may still lead to the front of a scenario of a group.

A fleet of a list, or a part of one, stands for all that are no better in the directions in which
the list wants traits, and so does a partial chain.  All of these are enclosed: by its own traits
where they are wanted, and by those of the whole stage where they are not.  It is pruned where, in
every scenario of the group and with the best of the other stages, bounds show that all of them
are infeasible, or that an evaluated design dominates them.

*No design of the front is lost.*  Let D be one, with a fleet f, and let the list have had f', as
good as f in all that is wanted.  D is among what f' and every part of it stand for, so bounds of
these do not exceed the losses of D, which is feasible, and which nothing dominates: f' stays.  What
replaced a part stands for all that this part stood for, so nothing is lost with a part that was
replaced first.  Nor does it matter whether f' itself reaches the demand.  As this holds for the
fleets of all stages of D together, D is also among what lists that are pruned stand for, so these
serve as the other stages (`narrowed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.fleet import Traits
from dse.model.front import nondominated
from dse.model.stage import Columns
from dse.search.exact.groups import Ends, Group, Made
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.measures import Directions
from dse.search.exact.work import CALL, ROW, spend

FEW = 256
PAYS = 0.9
"""So many are not bounded; nor are more when more than this share of a sample of so many stays."""

MANY = 20_000
"""Before more are bounded, better designs to compare them with are searched for."""

MOST = np.finfo(float).max
"""Bounds that are infinite are compared as this."""

TOGETHER = 16_384
"""Parts that are bounded together."""


@dataclass(frozen=True)
class Prospects:
    """What the fleets and chains of some lists are compared with.

    Attributes
    ----------
    incumbents
        The designs evaluated so far.
    group
        Whose lists.
    directions, useful
        In which directions the lists want traits, and from which capacity of each stage on more
        is no better.
    ends
        Of the traits of what the fleets of each stage stand for; None: of the whole stage.
    """

    incumbents: Incumbents
    group: Group
    directions: Directions
    useful: Sequence[float]
    ends: Sequence[tuple[Traits, Traits]] | None = None

    def narrowed(self, stage: int, traits: Traits) -> Prospects:
        """Return the same where a stage has no fleets but those that these stand for."""
        low = {name: one.min(keepdims=True) for name, one in traits.items()}
        high = {name: one.max(keepdims=True) for name, one in traits.items()}
        ends = list(self._others)
        ends[stage] = self._stood_for(stage, low, high)
        return replace(self, ends=ends)

    def open(self, known: Ends, count: int, made: Made | None = None) -> NDArray[np.bool_]:
        """Return which of `count` parts may lead to the front; few are not examined.

        Of chains of all stages, for which `made` is given, those with the best bounds are
        evaluated, and the others are compared with them.
        """
        found = np.ones(count, dtype=bool)
        if count <= FEW:
            return found
        if count > MANY:
            self.incumbents.improve()
        ends = {stage: self._stood_for(stage, *own) for stage, own in known.items()}
        if made is None:
            sample = np.arange(0, count, count // FEW)
            if self._open(ends, sample, None).mean() > PAYS:
                return found
        for first in range(0, count, TOGETHER):
            rows = np.arange(first, min(first + TOGETHER, count))
            found[rows] = self._open(ends, rows, made)
        return found

    @property
    def _others(self) -> Sequence[tuple[Traits, Traits]]:
        return self.group.hulls if self.ends is None else self.ends

    def _stood_for(self, stage: int, low: Traits, high: Traits) -> tuple[Traits, Traits]:
        """Return the ends of the traits of all that fleets between two ends stand for."""
        least, most = (dict(end) for end in self.group.hulls[stage])
        for name, (wants_low, wants_high) in zip(self.group.names, self.directions, strict=True):
            if wants_low:
                least[name] = low[name]
            if wants_high and name in self.group.influence.capacities:
                no_better = high[name] >= self.useful[stage]
                most[name] = np.where(no_better, most[name], high[name])
            elif wants_high:
                most[name] = high[name]
        return least, most

    def _open(self, ends: Ends, rows: NDArray[np.intp], made: Made | None) -> NDArray[np.bool_]:
        """Return which of some rows may lead to the front of any scenario."""
        found = np.zeros(len(rows), dtype=bool)
        for scenario, columns in self._live:
            left = np.flatnonzero(~found)
            if not len(left):
                break
            offered = [
                _rows(ends.get(stage, other), rows[left])
                for stage, other in enumerate(self._others)
            ]
            kept, loss = self._bounded(columns, offered, len(left))
            left, loss = left[kept], loss[kept]
            if made is not None and len(left):
                best = np.flatnonzero(nondominated(np.clip(loss, -MOST, MOST)))
                self.incumbents.evaluate_reference(made(scenario, rows[left[best]]))
                left = left[~self.incumbents.dominated(loss)]
            found[left] = True
        return found

    def _bounded(
        self, columns: Columns, offered: Sequence[tuple[Traits, Traits]], count: int
    ) -> tuple[NDArray[np.bool_], Column]:
        """Return which parts may lead to the front of a scenario, and bounds of the losses."""
        spend(ROW * count + CALL)
        columns = columns | self.group.influence.enclosed_chain(*zip(*offered, strict=True))
        loss, violation = self.group.influence.bounds.best(columns, count)
        kept = np.asarray((violation <= 0).all(axis=1))
        kept[kept] = ~self.incumbents.dominated(loss[kept])
        return kept, loss

    @cached_property
    def _live(self) -> list[tuple[NDArray[np.int64], Columns]]:
        """The scenarios that may have a design of the front, with their columns."""
        group, bounds = self.group, self.group.influence.bounds
        parts = tuple(fleets.part for fleets in group.fleets)
        self.incumbents.begin(bounds, parts, group.scenarios)
        columns, scenarios = bounds.problem.space.columns, group.scenarios
        kept, _ = self._bounded(columns(scenarios), self._others, len(scenarios))
        return [(one, columns(one[np.newaxis])) for one in scenarios[kept]]


def _rows(ends: tuple[Traits, Traits], rows: NDArray[np.intp]) -> tuple[Traits, Traits]:
    """Return some rows of traits; a single one is that of all."""
    low, high = (
        {name: one if len(one) == 1 else one[rows] for name, one in end.items()} for end in ends
    )
    return low, high

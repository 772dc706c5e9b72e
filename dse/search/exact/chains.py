"""Chains of listed fleets, one of each stage, that no other chain replaces.

*No vector of losses is lost*: stages are joined one by one, and traits of a chain rise with those
of its parts, so a partial chain that is as good as another in every wanted direction makes chains
that are as good.  The *level* of a part is its negative capacity.  More capacity than the other
part has is of no use, so a part is joined only below the level from which on another is as good
in all else: that one makes a chain that is as good, with the same least capacity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column
from dse.model.front import nondominated
from dse.model.influence import JOINS
from dse.model.space import Index
from dse.search.exact.fleets import BYTE, MOST_LABELS, PORTION, Fleets, Matrix, Node, Wanted, signed
from dse.search.exact.work import CALL, SORT, SORTED, fitting, spend

_PAIRS, _BLOCK, _COMPARED = 20_000_000, 64, 256
"""Most pairs of partial chains and fleets, and chains compared at once, and in the time of one."""

Picks = NDArray[np.intp]
"""Partial chains (n, stages): the rows of the lists, 0 of stages that are not joined."""


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
        fleets, joined = self._alone(stage), [*stages, stage]
        if len(picks) * len(fleets) > _PAIRS:
            raise self.node.stages[stage].too_many
        (first, until), (second, other) = self._level(stages, picks), self._level([stage], fleets)
        level = np.maximum(first[:, np.newaxis], second)
        pairs = np.argwhere((level < until[:, np.newaxis]) & (level < other))
        known = {place: some.hull for place, some in enumerate(self.lists)}
        kept = picks[:0]
        for some in np.array_split(pairs, max(1, -(-len(pairs) // fitting(PORTION, BYTE)))):
            made = picks[some[:, 0]] + fleets[some[:, 1]]
            traits = {k: self.lists[k].take(made[:, k]).traits for k in joined}
            ends = {k: (one, one) for k, one in traits.items()}
            kept = np.concatenate([kept, made[self.node.hopeful(known, ends, len(made))]])
            best = nondominated(np.column_stack(self._measured(joined, kept)))
            spend(len(best) * int(best.sum()) // SORTED + SORT * len(best) + CALL)
            kept = kept[best]
            if len(kept) > MOST_LABELS:
                raise self.node.stages[stage].too_many
        return kept

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
        return level, signed(pairs, len(picks))

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

"""Closing scenarios by shortlists of their fleets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.model.bounds import Bounds
from dse.model.front import dominated
from dse.model.space import Index
from dse.model.stage import StageParts
from dse.search.exact.groups import capacity_enough, sharing_fleets
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.prospects import Group
from dse.search.exact.shortlists import Case, Together, cases
from dse.search.exact.work import portions

FEW_FLEETS = 50_000
"""Fleets of all stages together: so few are always compared."""

MANY_SCENARIOS = 16
MANY_STAGES = 2
"""Otherwise comparing pays for so many scenarios or stages."""

MOST_DESIGNS = 100_000
MOST_EVALUATED = 50_000_000
"""Chains of shortlisted fleets in one scenario, and in all that share them."""

CHUNK = 50_000
"""Designs that are evaluated together."""


class Replacing:
    """Closes scenarios in which better fleets can replace most others."""

    def __init__(self, bounds: Bounds, parts: Sequence[StageParts], incumbents: Incumbents) -> None:
        """Start with no scenario closed."""
        sizes = bounds.problem.space.sizes
        self._fleets = [math.prod(sizes[place] for place in part.places) for part in parts]
        self._each = math.prod(self._fleets)
        self.bounds = bounds
        self.parts = parts
        self.incumbents = incumbents
        self._groups: list[Group] = []

    def pays(self, scenarios: int) -> bool:
        """Tell whether comparing fleets is likely to pay."""
        many = scenarios >= MANY_SCENARIOS or len(self._fleets) >= MANY_STAGES
        return many or sum(self._fleets) <= FEW_FLEETS

    def close(self, scenarios: Index) -> Index:
        """Close scenarios; return those that stay open, in their order."""
        self._groups = sharing_fleets(self.bounds, self.parts, scenarios, self.incumbents)
        for demands in (False, True):
            done = np.zeros(len(scenarios), dtype=bool)
            few = (
                (rows, case)
                for rows, case in self.cases(demands=demands)
                if case.each <= MOST_DESIGNS and case.each * len(rows) <= MOST_EVALUATED
            )
            for _, alike in itertools.groupby(few, lambda one: one[1].lists.group.names):
                for some in portions(alike, CHUNK):
                    closed = self._look([case for _, case in some])
                    for (rows, _), own in zip(some, closed, strict=True):
                        done[rows[own]] = True
            self._leave(~done)
            scenarios = scenarios[~done]
        return scenarios

    def _leave(self, left: NDArray[np.bool_]) -> None:
        """Take scenarios that are closed out of the groups."""
        number = np.cumsum(left) - 1
        kept = [(group, own) for group in self._groups if (own := left[group.rows]).any()]
        self._groups = [
            replace(
                group,
                rows=number[group.rows[own]],
                scenarios=group.scenarios[own],
                wants=group.wants[own],
            )
            for group, own in kept
        ]

    def cases(self, *, demands: bool) -> Iterator[tuple[NDArray[np.intp], Case]]:
        """Yield scenarios with fleets as good as any, with `demands` in reaching them as well."""
        enough = capacity_enough(self._groups) if demands else [None] * len(self._groups)
        for group, capacity in zip(self._groups, enough, strict=True):
            for rows, case in cases(group, capacity):
                yield group.rows[rows], case

    def _look(self, some: Sequence[Case]) -> list[NDArray[np.bool_]]:
        """Evaluate the chains of shortlisted fleets; return which scenarios they close, by case."""
        good, failing = ([np.empty(0, dtype=np.intp)] * len(some) for _ in range(2))
        known = [self.incumbents.loss] * len(some)
        for pieces in portions(_pieces(map(len, some)), CHUNK):
            found = self.incumbents.compare([some[k].designs(chosen) for k, chosen in pieces])
            for (k, chosen), (evaluation, hopeful) in zip(pieces, found, strict=True):
                good[k] = np.concatenate([good[k], chosen[hopeful]])
                failing[k] = np.concatenate([failing[k], chosen[~evaluation.feasible]])
                known[k] = self.incumbents.loss
        closed = [~one for one in self._open(some, failing, known)]
        kept = []
        for case, chosen, own in zip(some, good, closed, strict=True):
            kept.append(case.designs(chosen[own[chosen // int(case.each)]]))
            self.incumbents.pruned.dominated += self._each * int(own.sum()) - len(kept[-1])
        self.incumbents.evaluate(np.concatenate(kept))
        return closed

    def _open(
        self,
        some: Sequence[Case],
        failing: Sequence[NDArray[np.intp]],
        known: Sequence[NDArray[np.float64]],
    ) -> list[NDArray[np.bool_]]:
        """Return the scenarios where a design that fails may stand for one of the front, by case.

        None does when those that it stands for are no better at reaching the demand.
        """
        found = [np.zeros(len(case.scenarios), dtype=bool) for case in some]
        lacking = [
            len(rows) * (case.lists.directions != case.helping)
            for case, rows in zip(some, failing, strict=True)
        ]
        for pieces in portions(_pieces(lacking), CHUNK):
            chosen = [(k, failing[k][rows]) for k, rows in pieces]
            index = np.concatenate([some[k].designs(rows) for k, rows in chosen])
            which = np.repeat([k for k, _ in chosen], [len(rows) for _, rows in chosen])
            columns = Together(some, which, index).stood_for()
            loss, violation = self.bounds.best(columns, len(index))
            hopeful = np.asarray((violation <= 0).all(axis=1))
            for k, rows in chosen:
                own = which == k
                left = hopeful[own]
                left[left] = ~dominated(loss[own][left], known[k])
                found[k][rows[left] // int(some[k].each)] = True
        return found


def _pieces(counts: Iterable[int]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield so many rows of each position, not too many at a time."""
    for position, count in enumerate(counts):
        for first in range(0, count, CHUNK):
            yield position, np.arange(first, min(first + CHUNK, count))

"""Closing scenarios by shortlists of their fleets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.model.bounds import Bounds
from dse.model.matrices import distinct
from dse.model.space import Index
from dse.search.exact.incumbents import Incumbents
from dse.search.exact.levels import LevelSweep, wants_both
from dse.search.exact.partial import NotComposedError, StageParts
from dse.search.exact.shortlists import Case, Group, cases, sharing_fleets
from dse.search.exact.ties import close, equals

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

FRONT = 5_000
"""Designs of a front whose equals are looked for together."""


class Replacing:
    """Closes scenarios in which better fleets can replace most others."""

    def __init__(self, bounds: Bounds, parts: Sequence[StageParts], incumbents: Incumbents) -> None:
        """Start with no scenario closed."""
        self.bounds = bounds
        self.parts = parts
        self.incumbents = incumbents
        self._closed: list[tuple[Case, Index]] = []
        self._groups: list[Group] = []

    def pays(self, fleets: Sequence[int], scenarios: int) -> bool:
        """Tell whether comparing fleets is likely to pay."""
        count = sum(fleets)
        return count <= FEW_FLEETS or scenarios >= MANY_SCENARIOS or len(fleets) >= MANY_STAGES

    def close(self, scenarios: Index, each: int) -> Index:
        """Close scenarios of `each` designs; return those that stay open, in their order."""
        self._groups = sharing_fleets(self.bounds, self.parts, scenarios)
        for demands in (False, True):
            done = np.zeros(len(scenarios), dtype=bool)
            for rows, case in self._cases(scenarios, demands=demands):
                if case.each <= MOST_DESIGNS and case.each * len(rows) <= MOST_EVALUATED:
                    done[rows[self._look(case, each)]] = True
            self._leave(~done)
            scenarios = scenarios[~done]
        return scenarios

    def sweep(self, scenarios: Index, each: int) -> Index:
        """Close scenarios in which capacity is wanted both ways; return those that stay open."""
        done = np.zeros(len(scenarios), dtype=bool)
        for group in self._groups:
            for row in group.rows[wants_both(group, scenarios[group.rows])]:
                sweep = LevelSweep(group, scenarios[[row]], self.incumbents)
                try:
                    index = sweep.designs()
                except NotComposedError:
                    continue
                done[row] = True
                self.incumbents.evaluate(index)
                self.incumbents.pruned.dominated += each - len(index)
                self._closed += [(case, scenarios[[row]]) for case in sweep.cases]
        self._leave(~done)
        return scenarios[~done]

    def _leave(self, left: NDArray[np.bool_]) -> None:
        """Take scenarios that are closed out of the groups."""
        number = np.cumsum(left) - 1
        self._groups = [
            replace(group, rows=number[group.rows[left[group.rows]]]) for group in self._groups
        ]

    def _cases(self, scenarios: Index, *, demands: bool) -> Iterator[tuple[NDArray[np.intp], Case]]:
        for group in self._groups:
            for rows, case in cases(group, scenarios[group.rows], demands=demands):
                yield group.rows[rows], case

    def listed(self, scenarios: Index) -> Iterator[tuple[NDArray[np.intp], Case]]:
        """Yield scenarios with fleets that are as good as any also in reaching the demand."""
        yield from self._cases(scenarios, demands=True)

    def keep(self, case: Case, scenarios: Index) -> None:
        """Remember that scenarios of a case were closed without chains."""
        self._closed.append((replace(case, chains=None), scenarios))

    def _look(self, case: Case, each: int) -> NDArray[np.bool_]:
        """Evaluate the chains of shortlisted fleets; return which scenarios they close."""
        good, failing = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        for first in range(0, len(case.scenarios) * int(case.each), CHUNK):
            last = min(first + CHUNK, len(case.scenarios) * int(case.each))
            chosen = np.arange(first, last)
            found, hopeful = self.incumbents.compare(case.designs(chosen))
            good.append(chosen[hopeful])
            failing.append(chosen[~found.feasible])
        closed = ~self._open(case, np.concatenate(failing))
        kept = np.concatenate(good)
        index = case.designs(kept[closed[kept // int(case.each)]])
        self.incumbents.evaluate(index)
        self.incumbents.pruned.dominated += each * int(closed.sum()) - len(index)
        self._closed.append((case, case.scenarios[closed]))
        return closed

    def _open(self, case: Case, failing: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the scenarios where a design that fails may stand for one of the front.

        None does when those that it stands for are no better at reaching the demand.
        """
        found = np.zeros(len(case.scenarios), dtype=bool)
        if case.lists.directions == case.helping:
            return found
        for first in range(0, len(failing), CHUNK):
            chosen = failing[first : first + CHUNK]
            loss, violation = case.best(chosen)
            hopeful = np.asarray((violation <= 0).all(axis=1))
            hopeful[hopeful] = ~self.incumbents.dominated(loss[hopeful])
            found[chosen[hopeful] // int(case.each)] = True
        return found

    def add_equals(self) -> None:
        """Evaluate the designs with the objective values of one of the front that were replaced."""
        for case, scenarios in self._closed:
            index, loss = self.incumbents.archive.front
            own = _within(index, scenarios, self.parts)
            index, loss = index[own], loss[own]
            for first in range(0, len(index), FRONT):
                self._add_equals(case, index[first : first + FRONT], loss[first : first + FRONT])

    def _add_equals(self, case: Case, index: Index, loss: NDArray[np.float64]) -> None:
        """Do so for some designs of a case, or in halves when together they have too many."""
        try:
            designs, rows = equals(case, index, loss)
        except NotComposedError:
            if len(index) == 1:
                raise
            half = len(index) // 2
            self._add_equals(case, index[:half], loss[:half])
            self._add_equals(case, index[half:], loss[half:])
            return
        known = np.array([self.incumbents.was_evaluated(design) for design in designs], dtype=bool)
        designs, rows = designs[~known], rows[~known]
        evaluation = self.bounds.problem.evaluate(designs)
        near = evaluation.feasible & close(evaluation.loss, loss[rows])
        found = distinct(designs[near])
        self.incumbents.evaluate(found)
        self.incumbents.pruned.dominated -= len(found)


def _within(index: Index, scenarios: Index, parts: Sequence[StageParts]) -> NDArray[np.bool_]:
    """Return which designs are of one of the scenarios."""
    chosen = {place for part in parts for place in part.places}
    outer = [place for place in range(index.shape[1]) if place not in chosen]
    known = {row.tobytes() for row in np.ascontiguousarray(scenarios[:, outer])}
    rows = np.ascontiguousarray(index[:, outer])
    return np.array([row.tobytes() in known for row in rows], dtype=bool)

"""What the bounds of an infeasible study would have to be at least, and the design nearest to them.

The bounds are dropped and what they limit is optimised instead: one exact front of these
quantities.  Its best values are what each bound needs at least, its design with the least sum of
relative excess is the nearest, and its designs that miss two bounds are what two changes admit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.algebra import units
from dse.algebra.thresholds import ConstraintThreshold, candidates, thresholds_of
from dse.errors import TooLargeError
from dse.model.evaluation import Goal
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.text import in_words, listed

MOST_BOUNDS = 4
"""More quantities have fronts that take too long."""


@dataclass(frozen=True)
class Bound:
    """A constraint with one bound of one quantity: its place in the study, and the bound."""

    place: int
    threshold: ConstraintThreshold

    @property
    def goal(self) -> Goal:
        """What is optimised in its place."""
        return Goal(self.threshold.name, maximise=self.threshold.down)

    def excess(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much values (n,) miss it, relative to it; 0 where they meet it."""
        sign = 1.0 if self.threshold.up else -1.0
        by = sign * (values - self.threshold.value)
        return np.maximum(by, 0.0) / (abs(self.threshold.value) or 1.0)

    def text(self, value: float) -> str:
        """Return the constraint with a bound that a value just meets, shortly written."""
        loose = self.threshold.up
        texts = candidates(value, self.threshold.name, up=loose, beyond=self.threshold.strict)
        return self.threshold.text(texts[-1])


@dataclass(frozen=True)
class Needed:
    """The designs that trade the bounded quantities off: values (n, bounds) and rows (n, d)."""

    bounds: tuple[Bound, ...]
    values: NDArray[np.float64]
    rows: Index

    @property
    def best(self) -> list[float]:
        """The best value of each quantity, whatever the others are."""
        pairs = zip(self.bounds, self.values.T, strict=True)
        return [float(v.max() if bound.threshold.down else v.min()) for bound, v in pairs]

    @property
    def nearest(self) -> Index:
        """The design (d,) that misses the bounds by the least sum of relative excess."""
        return np.asarray(self.rows[int(self._excess.sum(axis=1).argmin())])

    @property
    def _excess(self) -> NDArray[np.float64]:
        pairs = zip(self.bounds, self.values.T, strict=True)
        return np.column_stack([bound.excess(values) for bound, values in pairs])

    def sentence(self) -> str:
        """Say what each bound would have to be at least."""
        parts = [
            f"at {'most' if bound.threshold.down else 'least'} "
            f"{units.show(value, bound.threshold.name)} of {in_words(bound.threshold.name)}"
            for bound, value in zip(self.bounds, self.best, strict=True)
        ]
        alone = ", each on its own" if len(parts) > 1 else ""
        return f"without these bounds the study takes {listed(parts)}{alone} (proven)"

    def pairs(self) -> Iterator[tuple[float, tuple[tuple[int, str], ...]]]:
        """Yield changes of two bounds that admit a design: their sum, and places with texts."""
        excess = self._excess
        missed = excess > 0.0
        for one, other in combinations(range(len(self.bounds)), 2):
            rows = np.flatnonzero(missed[:, one] & missed[:, other] & (missed.sum(axis=1) == 2))
            if len(rows):
                best = rows[excess[rows].sum(axis=1).argmin()]
                two = [(self.bounds[k], float(self.values[best, k])) for k in (one, other)]
                changes = tuple((bound.place, bound.text(value)) for bound, value in two)
                yield float(excess[best].sum()), changes


def needed_by(problem: Problem) -> Needed | None:
    """Return what the bounds of a problem would have to be.

    None where it has none of a single quantity, more than `MOST_BOUNDS`, or no design without them,
    and where that takes too long.  Where designs are measured, those of what is not measured.
    """
    bounds = tuple(_bounds(problem))
    before = problem.beforehand
    if before is not None:
        if before.pool is not None or not before.any:
            return None
        bounds = tuple(one for one in bounds if problem.constraints[one.place] in before.rules)
    goals = tuple(dict.fromkeys(bound.goal for bound in bounds))
    if not bounds or len(goals) > MOST_BOUNDS:
        return None
    limited = [problem.constraints[bound.place] for bound in bounds]
    searched = problem if before is None else before.alone
    rest = tuple(rule for rule in searched.constraints if rule not in limited)
    relaxed = replace(searched, goals=goals, constraints=rest)
    try:
        outcome = search.run_search(relaxed, search.SearchSettings(method="exact"))
    except TooLargeError:
        return None
    rows = outcome.front_index
    if not len(rows) or not outcome.exact:
        return None
    columns = relaxed.describe(rows)
    values = [np.broadcast_to(columns[bound.threshold.name], (len(rows),)) for bound in bounds]
    return Needed(bounds, np.column_stack(values), rows)


def _bounds(problem: Problem) -> Iterator[Bound]:
    for place, constraint in enumerate(problem.constraints):
        found = thresholds_of(constraint)
        names = constraint.names
        if len(found) != 1 or len(names) != 1 or found[0].name not in names:
            continue
        quantity = next((q for q in problem.quantities if q.name == found[0].name), None)
        plain = quantity is not None and not quantity.labels and not quantity.partial
        if plain and found[0].up != found[0].down and isinstance(found[0].quantity.tree, ast.Name):
            yield Bound(place, found[0])

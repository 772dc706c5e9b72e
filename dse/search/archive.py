"""What a search has seen: the one door to evaluations, and everything kept from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError
from dse.front import dominated, nondominated
from dse.search.outcome import Certificate, Outcome
from dse.search.sample import Sample, hashes
from dse.space import Block, Index, as_index, one_block

Matrix = NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Called with the number of designs evaluated so far and the number planned."""

FEASIBLE_SAMPLE = 100_000
INFEASIBLE_SAMPLE = 20_000
"""Most designs kept as a sample of those evaluated."""

PIVOTS = 8
"""Points of the front that every batch meets first."""

CONSTRAINT_LIMIT = 62
"""A set of constraints is the bits of one int64."""


class Evaluation(Protocol):
    """Designs `index` (n, d), their `loss` (n, m) and `violation` (n, k)."""

    @property
    def loss(self) -> Matrix:
        """What is minimised; finite where feasible."""

    @property
    def violation(self) -> Matrix:
        """A constraint holds where its column is <= 0."""

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Designs that meet every constraint, (n,)."""


class Problem(Protocol):
    """What a search needs to know of a study."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each axis."""

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Which axes have an order."""

    @property
    def size(self) -> int:
        """Number of designs, however large."""

    @property
    def objective_count(self) -> int:
        """Columns of a loss."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What each column of a violation stands for."""

    def evaluate(self, points: Index | Block) -> Evaluation:
        """Evaluate designs, one result per row."""


class Archive:
    """Evaluates designs for a search and keeps what matters of all that it ever saw."""

    def __init__(self, problem: Problem, *, total: int, progress: Progress | None = None) -> None:
        """Start empty; the search may evaluate `total` distinct designs."""
        count = len(problem.constraint_names)
        if count > CONSTRAINT_LIMIT:
            raise ContractError(
                f"a study has {count} constraints; at most {CONSTRAINT_LIMIT} are supported"
            )
        self.problem = problem
        self.total = total
        self.evaluated = 0
        self.witnessed = 0
        self.given_up = 0
        self.feasible = 0
        axes, objectives = len(problem.sizes), problem.objective_count
        self._progress = progress
        self._known: dict[bytes, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self._front_index: Index = np.empty((0, axes), dtype=np.int64)
        self._front_loss: Matrix = np.empty((0, objectives))
        self._samples = (
            Sample(axes, FEASIBLE_SAMPLE),
            Sample(axes, INFEASIBLE_SAMPLE),
        )
        self._satisfied: set[int] = set()
        self._nearest: tuple[float, tuple[int, ...], NDArray[np.float64]] | None = None

    @property
    def room(self) -> int:
        """How many new designs may still be evaluated."""
        return self.total - self.evaluated

    @property
    def front(self) -> tuple[Index, Matrix]:
        """The best designs so far, in no order, and their losses."""
        return self._front_index, self._front_loss

    def seen(self, index: Index) -> NDArray[np.bool_]:
        """Return which designs (n, d) `evaluate` has already evaluated."""
        return np.array([key in self._known for key in _keys(index)], dtype=bool)

    def evaluate(self, index: Index) -> tuple[Matrix, Matrix]:
        """Return losses (n, m) and violations (n, k); a design is evaluated only once."""
        keys = _keys(index)
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        if new:
            evaluation = self.evaluate_new(index[list(new.values())])
            rows = zip(evaluation.loss, evaluation.violation, strict=True)
            self._known.update(zip(new, rows, strict=True))
        pairs = [self._known[key] for key in keys]
        return np.array([loss for loss, _ in pairs]), np.array([missed for _, missed in pairs])

    def evaluate_new(self, points: Index | Block) -> Evaluation:
        """Evaluate distinct designs, never seen before, without remembering each."""
        evaluation = self.problem.evaluate(points)
        feasible = evaluation.feasible
        self.evaluated += len(points)
        self.feasible += int(feasible.sum())
        self._update_front(points, evaluation.loss, feasible)
        hashed = hashes(points, self.problem.sizes)
        for sample, chosen in zip(self._samples, (feasible, ~feasible), strict=True):
            sample.add(points, hashed, chosen)
        if not self.feasible:
            self._update_constraints(as_index(points), evaluation.violation)
        if self._progress is not None:
            self._progress(self.evaluated, self.total)
        return evaluation

    def witness(self, index: Index) -> Evaluation:
        """Evaluate designs (n, d) that are shown and judged by, but are not yet of the front."""
        evaluation = self.problem.evaluate(index)
        hashed = hashes(index, self.problem.sizes)
        feasible = evaluation.feasible
        self.witnessed += len(index)
        for sample, chosen in zip(self._samples, (feasible, ~feasible), strict=True):
            sample.add(index, hashed, chosen)
        if not feasible.any() and not self.feasible and len(index):
            self._update_constraints(index, evaluation.violation)
        return evaluation

    def unseen(self, random: np.random.Generator, count: int) -> Index:
        """Return up to `count` distinct random designs that `evaluate` has not seen."""
        sizes = self.problem.sizes
        if self.problem.size <= 2 * (len(self._known) + count):
            every = as_index(one_block(sizes))
            left: Index = every[~self.seen(every)]
            return random.permutation(left)[:count]
        found: dict[bytes, NDArray[np.int64]] = {}
        while len(found) < count:
            drawn = random.integers(0, sizes, size=(count - len(found), len(sizes)))
            new = drawn[~self.seen(drawn)]
            found.update(zip(_keys(new), new, strict=True))
        return np.array(list(found.values()), dtype=np.int64).reshape(-1, len(sizes))

    def outcome(self, certificate: Certificate | None = None) -> Outcome:
        """Return what was found, and how."""
        if not self.evaluated and not self.witnessed:
            raise ContractError("a search that evaluated nothing has no outcome")
        nearest = None if self.feasible else self._nearest
        order = _lexicographic(self._front_index)
        sample = np.unique(np.concatenate([part.index for part in self._samples]), axis=0)
        return Outcome(
            front_index=self._front_index[order],
            front_loss=self._front_loss[order],
            sample_index=sample[_lexicographic(sample)],
            evaluated=self.evaluated,
            feasible=self.feasible,
            witnessed=self.witnessed,
            certificate=certificate or Certificate(),
            exact=self.evaluated + self.given_up == self.problem.size,
            nearest_index=None if nearest is None else np.array(nearest[1], dtype=np.int64),
            nearest_violation=None if nearest is None else nearest[2],
            satisfied=frozenset() if self.feasible else frozenset(self._satisfied),
            constraint_names=self.problem.constraint_names,
        )

    def _update_front(
        self, points: Index | Block, loss: Matrix, feasible: NDArray[np.bool_]
    ) -> None:
        """Add what no design seen so far dominates.

        A few points of the front so far dismiss most of a batch before the full comparison.
        """
        hopeful = feasible.copy()
        for pivot in self._front_loss[:: max(1, len(self._front_loss) // PIVOTS)]:
            hopeful &= ~dominated(loss, pivot)
        rows = np.flatnonzero(hopeful)
        if not len(rows):
            return
        rows = rows[nondominated(loss[rows])]
        index = np.concatenate([self._front_index, as_index(points, rows)])
        loss = np.concatenate([self._front_loss, loss[rows]])
        best = nondominated(loss)
        self._front_index, self._front_loss = index[best], loss[best]

    def _update_constraints(self, index: Index, violation: Matrix) -> None:
        bits = (violation <= 0) @ (np.int64(1) << np.arange(violation.shape[1], dtype=np.int64))
        self._satisfied.update(np.unique(bits).tolist())
        worst = np.where(np.isnan(violation), np.inf, violation).max(axis=1, initial=-np.inf)
        row = _first(index, np.flatnonzero(worst == worst.min()))
        candidate = (float(worst[row]), tuple(index[row].tolist()))
        if self._nearest is None or candidate < self._nearest[:2]:
            self._nearest = (*candidate, violation[row].copy())


def _keys(index: Index) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(index, dtype=np.int64)]


def _lexicographic(index: Index) -> NDArray[np.intp]:
    """Return the order that sorts rows by their first axis, then the second, ..."""
    return np.lexsort((np.zeros(len(index)), *index.T[::-1]))


def _first(index: Index, rows: NDArray[np.intp]) -> int:
    """Return which of `rows` holds the lexicographically first design."""
    for axis in index.T:
        rows = rows[axis[rows] == axis[rows].min()]
    return int(rows[0])

"""The archive of a search: its evaluations, and everything kept from them, as a sample."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dse.contract import Matrix as Matrix
from dse.errors import BudgetError, ContractError
from dse.model.evaluation import Evaluation, Ledger, distinct_rows
from dse.model.front import FrontSoFar, nondominated_by
from dse.model.space import Block, Index, Points, as_index, one_block
from dse.model.volume import History
from dse.search.exact.work import LOOK, EffortError, most_byte, spend
from dse.search.outcome import FAILING, INTERRUPTED, Certificate, Outcome
from dse.search.settings import FrontWatcher, beforehand, check_constraints
from dse.search.settings import Progress as Progress
from dse.search.settings import Searchable as Searchable

SAMPLE_SHARE = 1 / 32
"""Most share of the memory of a proof for a sample."""

FEASIBLE_SAMPLE = 100_000
INFEASIBLE_SAMPLE = 20_000
"""Most designs kept as a sample of those evaluated."""

DRAWN, MOST_DRAWN = 5_000, 5_000_000
"""With rules on axes, designs drawn at a time, and in all if the number of designs is unknown."""

PIVOTS = 8
"""Points of the front that every batch meets first."""


class Archive:
    """Evaluates designs for a search, and keeps its front, sample and counts."""

    def __init__(
        self, problem: Searchable, *, total: int, progress: Progress | None = None
    ) -> None:
        """Start empty, with room for `total` distinct designs."""
        check_constraints(problem)
        self.problem, self.total, self._progress = problem, total, progress
        self.sizes, self.ordered = problem.sizes, problem.ordered
        self.coordinates = problem.coordinates
        self.objective_count = problem.objective_count
        self.constraint_count = len(problem.constraint_names)
        self.evaluated = self.reference_evaluations = self.feasible = self.failed = 0
        self.failure = ""
        self.ledger = Ledger()  # of those evaluated
        self._before = beforehand(problem)
        # None: too many to count
        self._excluded = 0 if self._before is None else self._before.count
        self.excluded = self._excluded or 0
        axes = len(problem.sizes)
        self._known: dict[bytes, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self._front = FrontSoFar(axes, problem.objective_count)
        self._history = History()
        fit = most_byte() * SAMPLE_SHARE / (8 * max(1, axes))
        self._samples = tuple(
            Sample(problem.sizes, int(max(1, min(most, fit))))
            for most in (FEASIBLE_SAMPLE, INFEASIBLE_SAMPLE)
        )
        self._satisfied: set[int] = set()
        self._nearest: tuple[float, bool, tuple[int, ...], NDArray[np.float64]] | None = None
        self._hosts: Index = np.empty((0, axes), dtype=np.int64)
        if isinstance(progress, FrontWatcher):
            progress.watch(lambda: self._front.lately)

    @property
    def room(self) -> int:
        """The number of new designs that may still be evaluated."""
        return self.total - self.evaluated

    @property
    def front(self) -> tuple[Index, Matrix]:
        """The best designs so far, in no order, and their losses."""
        return self._front.best

    def seen(self, index: Index) -> NDArray[np.bool_]:
        """Return which designs (n, d) were evaluated, or miss a rule on axes."""
        known = np.array([key in self._known for key in _keys(index)], dtype=bool)
        return known if self._before is None else known | self._before.excluded(index)

    def evaluate(self, index: Index) -> tuple[Matrix, Matrix]:
        """Return losses (n, m) and violations (n, k), each design evaluated only once.

        Raise `ContractError` for what is no design, or more new ones than there is room for.
        """
        self._require_designs(index)
        keys = _keys(index)
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        if new:
            rows = index[list(new.values())]
            if (wanted := int((~self.seen(rows)).sum())) > self.room:
                raise ContractError(
                    f"a method evaluates {wanted} new designs with room for {self.room}; it has to "
                    f"ask for no more than `room`"
                )
            spend(len(new) + LOOK)  # a batch takes its time
            evaluation = self.evaluate_new(rows)
            self._history.add(self.evaluated, self._front.lately)
            pairs = zip(evaluation.loss, evaluation.violation, strict=True)
            self._known.update(zip(new, pairs, strict=True))
        found = [self._known[key] for key in keys]
        loss = np.array([loss for loss, _ in found])
        missed = np.array([missed for _, missed in found])
        return (
            loss.reshape(len(keys), self.objective_count),
            missed.reshape(len(keys), self.constraint_count),
        )

    def evaluate_new(self, points: Points) -> Evaluation:
        """Evaluate distinct designs, never seen before, without remembering each."""
        try:
            evaluation = self.problem.evaluate(points)
        except (EffortError, BudgetError):
            known = getattr(self.problem, "known", None)  # of designs whose measurements ended
            if known is not None and len(some := as_index(points)[known(points)]):
                self._count(some, self.problem.evaluate(some))
            raise
        self._count(points, evaluation)
        return evaluation

    def _count(self, points: Points, evaluation: Evaluation) -> None:
        feasible = evaluation.feasible
        ledger = getattr(self.problem, "ledger", None)
        known = Ledger(evaluated=len(points)) if ledger is None else ledger(points)
        self.ledger += known
        self.evaluated += len(points) - known.pruned
        if self._excluded is None:  # too many to be counted before
            self.excluded += known.pruned
        self.feasible += int(feasible.sum())
        self.failed += int(evaluation.failed.sum())
        self.failure = self.failure or evaluation.failure
        rows = np.flatnonzero(feasible)
        rows = rows[nondominated_by(evaluation.loss[rows], self._front.some(PIVOTS))]
        self._front.add(points, rows, evaluation.loss[rows])
        self._add_to_samples(points, feasible)
        if not self.feasible:
            self._update_constraints(as_index(points), evaluation.violation)
        if self._progress is not None:
            self._progress(self.evaluated + self.excluded - (self._excluded or 0), self.total)

    def evaluate_reference(self, index: Index) -> Evaluation:
        """Evaluate designs (n, d) to compare bounds with, outside the front."""
        evaluation = self.problem.evaluate(index)
        feasible = evaluation.feasible
        self.reference_evaluations += len(index)
        self._add_to_samples(index, feasible)
        if not feasible.any() and not self.feasible and len(index):
            self._update_constraints(index, evaluation.violation)
        return evaluation

    def unseen(self, random: np.random.Generator, count: int) -> Index:
        """Return up to `count` distinct random designs that `evaluate` has not seen."""
        sizes = self.problem.sizes
        left = self.problem.size - (self._excluded or 0)
        pool = None if self._before is None else self._before.pool
        if left <= 2 * (len(self._known) + count) or pool is not None:
            every = as_index(one_block(sizes)) if pool is None else pool
            unseen: Index = every[~self.seen(every)]
            return random.permutation(unseen)[:count]
        found: dict[bytes, NDArray[np.int64]] = {}
        few, tried = 0 if self._before is None else DRAWN, 0
        while len(found) < count and tried < MOST_DRAWN:
            drawn = random.integers(0, sizes, size=(max(count - len(found), few), len(sizes)))
            new = drawn[~self.seen(drawn)]
            found.update(zip(_keys(new), new, strict=True))
            tried += len(drawn) if self._excluded is None else 0
        if count and not found:  # hardly any design is left
            self.total = self.evaluated
            if not self.evaluated:
                self.evaluate(drawn)  # all excluded: only their violations, no measurement
        return np.array([*found.values()][:count], dtype=np.int64).reshape(-1, len(sizes))

    def outcome(self, certificate: Certificate | None = None) -> Outcome:
        """Return the outcome of the search."""
        certificate = certificate or Certificate()
        if self.excluded:
            log = {"rules on axes": self.excluded}
            certificate = replace(certificate, infeasible=self.excluded, log=log)
        pruned = certificate.dominated + certificate.infeasible
        if certificate.finished and not self.evaluated + pruned + self.reference_evaluations:
            raise ContractError("a search that evaluated nothing has no outcome")
        growth = self._history.growth(self.evaluated, self._front.best[1])
        ledger = self._ledger_with(pruned)
        every = self.ledger.known + self.excluded == self.problem.size and ledger.exact
        hosts: Index = getattr(self.problem, "hosts", self._hosts)
        ledger += self._take_hosts(hosts, certificate.way)
        known = self.feasible if every else None
        nearest = None if self.feasible else self._nearest
        front, loss = self._front.best
        order = _lexicographic(front, self.problem.sizes)
        sample = np.concatenate([sample.index for sample in self._samples])
        # reference designs may be evaluated later, too
        different = _lexicographic(sample, self.problem.sizes)
        return Outcome(
            front_index=front[order],
            front_loss=loss[order],
            equals=None if known is None else self._front.equals[order],
            sample_index=np.concatenate([self._hosts, sample.take(different, axis=0)]),
            ledger=ledger,
            growth=growth,
            feasible=self.feasible,
            failed=self.failed,
            failure=self.failure,
            feasible_in_space=known,
            reference_evaluations=self.reference_evaluations,
            certificate=certificate,
            nearest_index=None if nearest is None else np.array(nearest[2], dtype=np.int64),
            nearest_violation=None if nearest is None else nearest[3],
            satisfied=frozenset() if self.feasible else frozenset(self._satisfied),
            constraint_names=self.problem.constraint_names,
        )

    def _ledger_with(self, pruned: int) -> Ledger:
        """Return the account of the designs of the space."""
        unknown = self.problem.size - self.ledger.known - self.ledger.failed - pruned
        return replace(self.ledger, unknown=unknown, pruned=pruned)

    def _take_hosts(self, hosts: Index, way: str) -> Ledger:
        """Evaluate the designs of the host alone (n, d), which no space holds, and return these.

        After the early end of a search nothing more is evaluated.
        """
        if way in (INTERRUPTED, FAILING):
            return Ledger(unknown=len(hosts))
        if len(self._hosts) != len(hosts):
            found, self._hosts = self.problem.evaluate(hosts), hosts
            rows = np.flatnonzero(found.feasible)
            self.feasible += len(rows)
            self._front.add(hosts, rows, found.loss[rows])
            if not self.feasible:
                self._update_constraints(hosts, found.violation)
        return Ledger(evaluated=len(hosts))

    def _require_designs(self, index: Index) -> None:
        sizes = np.array(self.sizes)
        right = index.ndim == 2 and index.shape[1] == len(sizes)
        if not right or not np.issubdtype(index.dtype, np.integer):
            raise ContractError(
                f"a method asks for an array of {index.dtype} of shape {index.shape}; a design is "
                f"a row of {len(sizes)} whole numbers"
            )
        if ((index < 0) | (index >= sizes)).any():
            row = index[((index < 0) | (index >= sizes)).any(axis=1)][0]
            raise ContractError(
                f"a method asks for the design {row.tolist()}; positions are from 0 and less than "
                f"{sizes.tolist()}"
            )

    def _add_to_samples(self, points: Points, feasible: NDArray[np.bool_]) -> None:
        hashed = hashes(points, self.problem.sizes)
        for sample, chosen in zip(self._samples, (feasible, ~feasible), strict=True):
            sample.add(points, hashed, chosen)

    def _update_constraints(self, index: Index, violation: Matrix) -> None:
        bits = (violation <= 0) @ (np.int64(1) << np.arange(violation.shape[1], dtype=np.int64))
        self._satisfied.update(np.unique(bits).tolist())
        worst = np.where(np.isnan(violation), np.inf, violation).max(axis=1, initial=-np.inf)
        row = _first(index, np.flatnonzero(worst == worst.min()))
        alone = bool((index[row] < 0).any())  # of equals the host alone is the last
        candidate = (float(worst[row]), alone, tuple(index[row].tolist()))
        if self._nearest is None or candidate < self._nearest[:3]:
            self._nearest = (*candidate, violation[row].copy())


def _keys(index: Index) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(index, dtype=np.int64)]


def _lexicographic(index: Index, sizes: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the different rows, sorted by their first axis, then the second, ..."""
    if math.prod(sizes) >= 2**63 or not sizes or index.min(initial=0) < 0:
        return distinct_rows(index)
    position = index @ np.array([math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))])
    order = np.argsort(position)
    new = np.ones(len(index), dtype=bool)
    new[1:] = np.diff(position[order]) > 0
    return order[new]


def _first(index: Index, rows: NDArray[np.intp]) -> int:
    """Return which of `rows` holds the lexicographically first design."""
    for axis in index.T:
        rows = rows[axis[rows] == axis[rows].min()]
    return int(rows[0])


Hashes = NDArray[np.uint32]


class Sample:
    """A uniform sample of the designs added, the same whatever the batches and their order.

    A design is kept while its hash is at most a threshold, which halves whenever more than
    `limit` designs are kept.
    """

    def __init__(self, sizes: tuple[int, ...], limit: int) -> None:
        """Start empty."""
        self._axes = len(sizes)
        self._limit = limit
        self._threshold = np.uint32(2**32 - 1)
        self._parts: list[tuple[Index, Hashes]] = []
        self._kept = 0

    @property
    def index(self) -> Index:
        """The designs of the sample, (n, d), in the order in which they came."""
        none: Index = np.empty((0, self._axes), dtype=np.int64)
        return np.concatenate([none, *(index for index, _ in self._parts)])

    def add(self, points: Points, hashes: Hashes, chosen: NDArray[np.bool_]) -> None:
        """Add the designs `points[chosen]`, with the hashes of all `points`."""
        rows = np.flatnonzero((hashes <= self._threshold) & chosen)
        if not len(rows):
            return
        new = hashes[rows]
        while self._kept + len(rows) > self._limit:
            self._threshold >>= np.uint32(1)
            self._parts = [_below(self._threshold, *part) for part in self._parts]
            self._kept = sum(len(kept) for _, kept in self._parts)
            rows, new = _below(self._threshold, rows, new)
        self._kept += len(rows)
        self._parts.append((as_index(points, rows), new))


def _below(threshold: np.uint32, designs: Index, hashes: Hashes) -> tuple[Index, Hashes]:
    kept = np.flatnonzero(hashes <= threshold)
    return designs.take(kept, axis=0), hashes.take(kept)


def hashes(points: Points, sizes: tuple[int, ...]) -> Hashes:
    """Return a hash of each design, shape (n,): the sum of a hash of each of its positions.

    Simple tabulation hashing: any three designs are independent (Patrascu and Thorup, "The
    Power of Simple Tabulation Hashing", J. ACM 2012).  Sums broadcast like columns.
    """
    tables = [_table(size, axis) for axis, size in enumerate(sizes)]
    if isinstance(points, Block):
        parts = np.ix_(*(t[f : f + n] for t, (f, n) in zip(tables, points.ranges, strict=True)))
    else:
        parts = tuple(t.take(points[:, axis]) for axis, t in enumerate(tables))
    shape = (points.shape or (1,)) if isinstance(points, Block) else (len(points),)
    # short ones first: only the last sum is as long as all designs
    total = sum(sorted(parts, key=np.size), start=np.zeros(1, dtype=np.uint32))
    return np.broadcast_to(total, shape).reshape(-1)


@lru_cache(maxsize=64)
def _table(size: int, axis: int) -> Hashes:
    """Return a hash of each position: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = np.arange(size, dtype=np.uint64) + np.uint64((axis + 2) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)).astype(np.uint32)

"""The archive against lists and loops: what it keeps of all that a search has seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from dse.errors import ContractError
from dse.model import front as fronts
from dse.model.evaluation import Evaluation
from dse.model.front import nondominated
from dse.model.space import Points, as_index
from dse.search import archive as archives
from dse.search.archive import Archive


@dataclass
class Table:
    """A problem whose losses and violations are looked up in tables."""

    sizes: tuple[int, ...]
    losses: np.ndarray
    violations: np.ndarray
    fails: frozenset[tuple[int, ...]] = frozenset()
    asked: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def ordered(self) -> tuple[bool, ...]:
        return tuple(axis % 2 == 0 for axis in range(len(self.sizes)))

    @property
    def coordinates(self) -> tuple[np.ndarray | None, ...]:
        return tuple(np.arange(size) / 1.0 for size in self.sizes)

    @property
    def size(self) -> int:
        return int(np.prod(self.sizes))

    @property
    def objective_count(self) -> int:
        return self.losses.shape[1]

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return tuple(f"c{number}" for number in range(self.violations.shape[1]))

    def evaluate(self, points: Points) -> Evaluation:
        index = as_index(points)
        rows = np.ravel_multi_index(tuple(index.T), self.sizes)
        told = [tuple(row) for row in index.tolist()]
        self.asked += told
        failed = np.array([row in self.fails for row in told], dtype=bool)
        why = "it is broken" if failed.any() else ""
        return Evaluation(points, self.losses[rows], self.violations[rows], failed, why)


def table(seed: int, *, feasible: bool = True, sizes: tuple[int, ...] = (3, 4, 2)) -> Table:
    """Few levels, so that equals and ties abound."""
    random = np.random.default_rng(seed)
    count = int(np.prod(sizes))
    losses = random.integers(0, 4, (count, 2)).astype(float)
    missed = random.integers(-1, 2, (count, 3)).astype(float)
    if not feasible:
        missed[:, 0] = random.integers(1, 3, count)
        missed[random.integers(0, count), 1] = np.nan
    return Table(sizes, losses, missed, fails=frozenset({(0, 0, 0), (2, 3, 1)}))


def designs(problem: Table) -> list[tuple[int, ...]]:
    return list(product(*map(range, problem.sizes)))


def dominates(one: np.ndarray, other: np.ndarray) -> bool:
    return bool((one <= other).all() and (one < other).any())


def front_of(problem: Table, seen: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The feasible designs among those seen that none of them dominates, in order, of equal losses
    the first."""
    return [one for one, count in equals_of(problem, seen).items() if count]


def equals_of(problem: Table, seen: list[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """How many designs share the losses of each one that is the first of them, 0 for others."""
    rows = {design: np.ravel_multi_index(design, problem.sizes) for design in seen}
    good = sorted(design for design in seen if (problem.violations[rows[design]] <= 0).all())
    loss = {design: tuple(problem.losses[rows[design]]) for design in good}
    best = [
        one
        for one in good
        if not any(dominates(np.array(loss[other]), np.array(loss[one])) for other in good)
    ]
    values = [loss[design] for design in best]
    return {
        design: values.count(loss[design]) * (loss[design] not in values[:place])
        for place, design in enumerate(best)
    }


def listed(index: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in index.tolist()]


@pytest.mark.parametrize("pivots", [1, 8])
@pytest.mark.parametrize("seed", range(12))
def test_the_front_is_that_of_all_designs_seen(
    seed: int, pivots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "PIVOTS", pivots)
    problem, random = table(seed), np.random.default_rng(seed)
    archive, seen = Archive(problem, total=problem.size), set()
    order = random.permutation(designs(problem))
    for batch in np.array_split(order, 5):
        archive.evaluate_new(batch)
        seen |= set(listed(batch))
        found = archive.outcome()
        assert listed(found.front_index) == front_of(problem, list(seen))
        rows = np.ravel_multi_index(tuple(found.front_index.T), problem.sizes)
        assert (found.front_loss == problem.losses[rows]).all()
        assert sorted(listed(archive.front[0])) == front_of(problem, list(seen))
        assert listed(found.sample_index) == sorted(seen)
        good = [
            d
            for d in seen
            if (problem.violations[np.ravel_multi_index(d, problem.sizes)] <= 0).all()
        ]
        assert (found.evaluated, found.feasible) == (len(seen), len(good))
        assert found.exact == (len(seen) == problem.size)
        assert found.feasible_in_space == (len(good) if found.exact else None)
        counts = [count for count in equals_of(problem, list(seen)).values() if count]
        assert (found.equals is None) != found.exact
        assert found.equals is None or found.equals.tolist() == counts
        assert found.failed == len(problem.fails & seen)
        assert found.failure == ("it is broken" if found.failed else "")
    assert not Archive(problem, total=1).front[0].size


@pytest.mark.parametrize("seed", range(12))
def test_where_nothing_is_feasible_the_nearest_design_is_kept(seed: int) -> None:
    problem = table(seed, feasible=False)
    archive, random = Archive(problem, total=problem.size), np.random.default_rng(seed)
    nearest, satisfied, seen = None, set(), []
    for batch in np.array_split(random.permutation(designs(problem)), 4):
        archive.evaluate_new(batch)
        seen += listed(batch)
        missed = {d: problem.violations[np.ravel_multi_index(d, problem.sizes)] for d in seen}
        worst = {d: np.where(np.isnan(row), np.inf, row).max() for d, row in missed.items()}
        nearest = min(seen, key=lambda d: (worst[d], d))
        satisfied = {
            sum(1 << bit for bit, value in enumerate(row) if value <= 0) for row in missed.values()
        }
        found = archive.outcome()
        assert tuple(found.nearest_index) == nearest
        assert np.array_equal(found.nearest_violation, missed[nearest], equal_nan=True)
        assert found.satisfied == satisfied
        assert not len(found.front_index)
        assert (found.feasible, found.constraint_names) == (0, ("c0", "c1", "c2"))


def test_a_design_is_evaluated_once_and_told_again() -> None:
    problem = table(1)
    archive = Archive(problem, total=5)
    first = np.array([[0, 1, 0], [2, 0, 1], [0, 1, 0]])
    loss, missed = archive.evaluate(first)
    rows = np.ravel_multi_index(tuple(first.T), problem.sizes)
    assert (loss == problem.losses[rows]).all()
    assert (missed == problem.violations[rows]).all()
    assert sorted(problem.asked) == [(0, 1, 0), (2, 0, 1)]
    assert (archive.room, archive.evaluated) == (3, 2)
    archive.evaluate(first)
    assert len(problem.asked) == 2
    assert archive.seen(np.array([[2, 0, 1], [2, 0, 0]])).tolist() == [True, False]
    none = archive.evaluate(np.empty((0, 3), dtype=np.int64))
    assert (none[0].shape, none[1].shape) == ((0, 2), (0, 3))
    with pytest.raises(ContractError, match="4 new designs with room for 3"):
        archive.evaluate(np.array(designs(problem))[-4:])
    archive.evaluate(np.array(designs(problem))[-3:])
    assert archive.room == 0


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (np.array([[0, 1, 0], [0, 4, 0]]), "the design [0, 4, 0]; positions are from 0 and less"),
        (np.array([[2, 3, 1], [0, -1, 0], [0, 9, 0]]), "the design [0, -1, 0]"),
        (np.array([[2, 3, 2]]), "the design [2, 3, 2]"),
        (np.array([[0, 1]]), "of shape (1, 2); a design is a row of 3"),
        (np.array([0, 1, 0]), "of shape (3,)"),
        (np.array([[0.0, 1.0, 0.0]]), "an array of float64"),
    ],
)
def test_what_is_no_design_is_refused(index: np.ndarray, said: str) -> None:
    archive = Archive(table(2), total=9)
    with pytest.raises(ContractError) as caught:
        archive.evaluate(index)
    assert said in str(caught.value)
    assert not archive.evaluated


def test_a_space_with_more_designs_than_a_number_counts_has_an_order() -> None:
    """Positions of its designs do not fit into 64 bit."""
    sizes = (2**16,) * 4

    class Huge(Table):
        def evaluate(self, points: Points) -> Evaluation:
            index = as_index(points)
            value = index @ 2.0 ** np.array([48, 32, 16, 0])
            loss = np.stack([value, -value], axis=1)
            return Evaluation(points, loss, np.zeros((len(index), 1)))

        @property
        def size(self) -> int:
            return 2**64

    archive = Archive(Huge(sizes, np.zeros((1, 2)), np.zeros((1, 1))), total=9)
    last = 2**16 - 1
    wanted = [(0, 0, 0, 7), (0, 1, 0, 0), (1, 0, last, 0), (last, 0, 0, 3)]
    archive.evaluate_new(np.array([wanted[row] for row in (2, 0, 3, 1)]))
    assert listed(archive.outcome().front_index) == wanted


def test_a_large_front_is_the_same_however_its_designs_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    index = np.arange(4_000)[:, np.newaxis]
    loss = rng.integers(0, 60, (4_000, 3)).astype(float)
    best = nondominated(loss)
    for large, parts in ((0, 400), (50, 37), (10_000, 1)):
        monkeypatch.setattr(fronts, "LARGE_FRONT", large)
        front = fronts.FrontSoFar(1, 3)
        for part in np.array_split(np.arange(4_000), parts):
            front.add(index, part, loss[part])
        found, worth = front.best
        order = np.argsort(found[:, 0])
        _, first, counts = np.unique(loss[best], axis=0, return_index=True, return_counts=True)
        firsts = np.flatnonzero(best)[np.sort(first)]
        assert found[order, 0].tolist() == firsts.tolist()
        assert worth[order].tolist() == loss[firsts].tolist()
        assert front.equals[order].tolist() == counts[np.argsort(first)].tolist()

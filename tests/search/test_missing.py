"""What the front lacks: draws of the posterior, and a search that ends by them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import ndtri

from dse.contract import Ending, Index, Lacking, Method
from dse.plugins import registry
from dse.search import run_method
from dse.search.archive import Archive
from dse.search.expensive import missing
from dse.search.expensive.choosing import REFERENCE, Believer
from dse.search.expensive.missing import IN_A_ROW, SPREAD, Missing, shares_lacking
from dse.search.expensive.process import ModelledLosses
from tests.search.test_expensive import smooth
from tests.search.test_search import Synthetic


def believer(left: list[float], *, mean: float, chance: float = 1.0) -> Believer:
    """Return designs left at these places, whose losses are taken to be `mean`, of one loss."""
    losses, seen = ModelledLosses(), np.linspace(0, 1, 6)[:, None]
    losses.learn(seen, np.exp(np.sin(9 * seen)), np.full((6, 1), np.nan))
    features, means = np.array(left)[:, None], np.full((len(left), 1), mean)
    return Believer(losses, features, means, np.ones(1), np.full(len(left), chance))


def test_the_share_of_one_design_left_is_that_of_its_normal_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A loss y < 0 adds -y to the 1.1 that the front, at 0, dominates."""
    monkeypatch.setattr(missing, "DRAWS", 4_000)
    for chance in (1.0, 0.5):
        one = believer([0.13], mean=0.2, chance=chance)
        drawn = shares_lacking(one, np.zeros((1, 1)), np.random.default_rng(1))
        for level in (0.6, 0.9, 0.99):
            within = max(1 - (1 - level) / chance, 1e-9)  # of the draws in which it is feasible
            loss = 0.2 - SPREAD * one.deviation()[0, 0] * ndtri(within)
            added = max(0.0, -loss)
            below = np.mean(drawn <= added / (REFERENCE + added) + 1e-12)
            assert below == pytest.approx(level, abs=0.03) or not added


def test_designs_that_are_alike_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty that are nearly one design lack what that one lacks: their losses go together."""
    monkeypatch.setattr(missing, "DRAWS", 1_000)
    found = [
        np.median(shares_lacking(believer(left, mean=0.0), np.zeros((1, 1)), random))
        for left in ([0.1], np.linspace(0.1, 0.1001, 50).tolist())
        for random in [np.random.default_rng(2)]
    ]
    assert found[1] == pytest.approx(found[0], abs=0.05)


def test_the_worst_of_three_batches_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = iter([0.5, 0.01, 0.3, 0.02, 0.0])
    monkeypatch.setattr(missing, "shares_lacking", lambda *_: np.full(9, next(shares)))
    known = Missing(0.9, seed=1)
    found = [known.learn(believer([0.1], mean=0.0), np.zeros((1, 1))) for _ in range(5)]
    assert found[: IN_A_ROW - 1] == [None, None]
    assert [one and one.share for one in found[2:]] == [0.5, 0.3, 0.3]


def searched(problem: Synthetic, budget: int, until: Lacking | None) -> Archive:
    archive = Archive(problem, total=budget, ending=Ending(until))
    run_method(registry.get(Method, "gaussian"), archive, seed=1, population=4)
    return archive


def test_a_search_ends_where_it_would_have_gone_on_and_lacks_little() -> None:
    whole, cut = smooth(), smooth()
    every = searched(whole, 120, None)
    found = searched(cut, 120, Lacking(0.02, 0.9))
    assert found.evaluated < 120 == every.evaluated
    assert whole.seen[: found.evaluated] == cut.seen[: found.evaluated]
    assert found.outcome().lacking == Lacking(0.02, 0.9)  # no less is claimed
    assert every.outcome().lacking is None
    ideal = np.log(every.front[1]).min(axis=0)
    span = np.ptp(np.log(every.front[1]), axis=0)

    def volume(archive: Archive) -> float:
        scaled = (np.log(archive.front[1]) - ideal) / span
        return missing.hypervolume(scaled, np.full(2, REFERENCE)).value

    assert volume(found) >= 0.98 * volume(every)


def test_a_space_that_ends_first_is_known_wholly() -> None:
    def losses(index: Index) -> np.ndarray:
        noise = np.random.default_rng(3).random((30, 30, 2))
        return np.asarray(1 + noise[index[:, 0], index[:, 1]])

    problem = Synthetic((3, 4), losses)
    found = searched(problem, 100, Lacking(1e-9, 0.99))
    designs = set(itertools.product(range(3), range(4)))
    assert {tuple(row) for row in problem.seen} == designs
    assert found.outcome().exact
    assert found.outcome().lacking is None

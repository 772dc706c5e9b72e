"""Fleets and partial chains that bounds prune before they are compared or joined."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dse.algebra.enclosure import ends
from dse.model.bounds import Bounds
from dse.model.fleet import STAGE_CAPACITY
from dse.model.space import Index, as_index, one_block
from dse.model.stage import stage_parts
from dse.search.exact import compose, fleets, nodes
from dse.search.exact.partial import Batch, PartialDesigns
from dse.search.exact.work import limited
from tests.conftest import Write, problem_of
from tests.search.test_chains import offload_study
from tests.search.test_compose import front, random_problem, random_study, same_losses
from tests.search.test_waiting import waiting_study

CAPPED = """
workload: {rate: 20 Gbit/s, granularity: 4 KiB, kernel: des}
stages:
  - {core: fft, name: one, instances: {from: 1, to: 8}}
  - {core: fft, name: two, fleet: mixed, instances: {from: 0, to: 4}}
interface: {device: sparc_t4_engine, wait: sync, in_flight: 64}
budget: {power_cap: 1 W}
objectives:
  {energy: minimise, throughput: maximise, instances: minimise, offload_latency: minimise}
constraints: [power <= 2 W]
"""
FEW, MANY = range(2), range(2, 60)


def without_rate(written: Callable[[np.random.Generator], str]) -> Callable[..., str]:
    """Return what draws studies until one demands no rate."""

    def drawn(rng: np.random.Generator) -> str:
        while "  rate: " in (text := written(rng)):
            pass
        return text

    return drawn


def test_large_rounds_of_tasks_do_not_keep_fleets_that_cost_too_much(
    write: Write,
) -> None:
    """It took 20 million while every fleet with a larger round than others was kept."""
    problem = problem_of(write(CAPPED))
    with limited() as work:
        composed = front(problem, "compose")
    assert work.spent < 2_000_000
    assert len(composed.front_index) == 6
    assert np.array_equal(composed.front_index, front(problem, "enumerate").front_index)


def test_open_fleets_lie_between_their_ends_and_have_the_latency_of_a_design(
    write: Write,
) -> None:
    problem = problem_of(write(CAPPED))
    parts = tuple(stage_parts(problem))
    batch = Batch(Bounds(problem), parts, np.zeros((1, len(problem.sizes)), dtype=np.int64))
    sizes = tuple(problem.sizes[place] for place in parts[1].places)
    rows = batch.rows.expand(parts[1].places, as_index(one_block(sizes)))
    every = batch.exact(rows, 1)
    carrying = every[STAGE_CAPACITY] >= batch.floor(np.zeros(1, dtype=np.intp))
    for chosen in range(len(parts[1].places)):  # with no instance of any of these
        some = carrying & (rows.index[:, parts[1].places[:chosen]] == 0).all(axis=1)
        found = batch.partial(batch.rows, 1, chosen)
        for name, values in every.items():
            low, high = ends(found[name])
            assert low <= values[some].min() * (1 + 1e-8), name
            assert high >= values[some].max() * (1 - 1e-8), name
        assert ends(found["stage_latency_s"])[0] == every["stage_latency_s"][some].min()


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_for_every_completion_with_empty_fleets_among_them(
    seed: int, tmp_path: Path
) -> None:
    """A quantity that falls with bandwidth may be 0 where there is no fleet at all."""
    for written in (without_rate(random_study), without_rate(offload_study), offload_study):
        problem = random_problem(seed, tmp_path, written)
        every = problem.evaluate(designs := as_index(one_block(problem.sizes)))
        best = np.where(every.feasible[:, np.newaxis], every.loss, np.inf)
        parts = tuple(stage_parts(problem))
        own = [place for part in parts for place in part.places]
        outer = [place for place in range(len(problem.sizes)) if place not in own]
        for stage, part in enumerate(parts):
            for chosen in range(1 if part.designs else len(part.places), len(part.places) + 1):
                known = designs.copy()
                known[:, [k for k in own if k not in part.places[:chosen]]] = 0
                index, which = np.unique(known[:, [*outer, *own]], axis=0, return_inverse=True)
                index = index[:, np.argsort([*outer, *own])]
                start = index * np.isin(np.arange(len(problem.sizes)), outer)
                scenarios, of = np.unique(start[:, outer], axis=0, return_inverse=True)
                whole = np.zeros((len(scenarios), len(problem.sizes)), dtype=np.int64)
                whole[:, outer] = scenarios
                batch = Batch(Bounds(problem), parts, whole)
                rows = PartialDesigns(of.reshape(-1), index)
                opened = partial(Batch.partial, stage=stage, chosen=chosen)
                loss, violation = batch.bound(rows, {stage: opened})
                least = np.full(loss.shape, np.inf)
                np.minimum.at(least, which.reshape(-1), best)
                open_ = np.isfinite(least).all(axis=1)
                assert (loss <= least + 1e-9 * abs(least))[open_].all()
                assert (violation <= 0)[open_].all()


@pytest.mark.parametrize("banded", [False, True])
@pytest.mark.parametrize("whole", [1, fleets.WHOLE])
@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_fronts_are_those_of_all_designs_where_every_limit_is_tiny(
    seeds: range, whole: int, banded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where fleets grow band by band, as no label may be compared with another before."""
    if banded:
        monkeypatch.setattr(fleets._Growth, "best", _only_in_bands(fleets._Growth.best))
    for name, value in {"FEW_ROWS": 200, "MOST_ROWS": 40, "BATCH": 2, "TOGETHER": 16}.items():
        monkeypatch.setattr(compose, name, value)
    for name, value in {"_FEW": 1, "_TOGETHER": 7, "_BLOCK": 3, "PORTION": 20}.items():
        monkeypatch.setattr(nodes, name, value)
    monkeypatch.setattr(compose.Composer, "bounds_first", lambda _, scenarios: scenarios)
    monkeypatch.setattr(fleets, "WHOLE", whole)
    pruned, opened = [], nodes.Node._stage_hopeful

    def examined(*given: Any) -> np.ndarray:
        found = opened(*given)
        pruned.append(len(found) - found.sum())
        return found

    monkeypatch.setattr(nodes.Node, "_stage_hopeful", examined)
    for seed in seeds:
        for written in (random_study, without_rate(random_study), offload_study, waiting_study):
            problem = random_problem(seed, tmp_path, written)
            every, composed = front(problem, "enumerate"), front(problem, "compose")
            assert same_losses(composed, every), seed
    assert sum(pruned) > 100


def _only_in_bands(best: Callable[..., Index]) -> Callable[..., Index]:
    def grown(own: fleets._Growth, clock: np.ndarray) -> Index:
        if own.limit == fleets.FEW_LABELS:
            raise fleets.TooManyLabelsError("all at once")
        return best(own, clock)

    return grown

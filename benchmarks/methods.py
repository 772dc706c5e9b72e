"""Every search method on the same studies: its cost, and how much of the front it found."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.plot import over_time
from benchmarks.timing import REPETITIONS, table
from dse import search
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.model.volume import hypervolume, reference_point
from dse.search import SearchSettings
from dse.study import study

ROOT = Path(__file__).parent.parent
STUDIES: Mapping[str, Sequence[tuple[str, str]]] = {
    "crypto_interface_100gbps": (),
    "des_100gbps": (),
}
"""Shipped studies and the fields to replace in them."""

PICTURE = ROOT / "docs" / "benchmarks.png"
SECONDS = 8.0
"""CPU time that a method gets which is bounded by time."""

EXACT: Mapping[str, Mapping[str, Any]] = {
    "exact, composed": {"method": "compose"},
    "exact, enumerated": {"method": "enumerate"},
}
"""Ways to the exact front: name -> search settings.  The first one is the truth for the others."""

_GENERATIONS_60 = {"budget": 200 * 60, "population": 200}
HEURISTICS: Mapping[str, Mapping[str, Any]] = {
    "NSGA-II 200 x 60": {"method": "nsga2", **_GENERATIONS_60},
    "NSGA-II 200 x 400": {"method": "nsga2", "budget": 200 * 400, "population": 200},
    "NSGA-III 200 x 60": {"method": "nsga3", **_GENERATIONS_60},
    "optuna TPE": {"method": "tpe", "budget": 10_000},
    "random": {"method": "random", "budget": 12_000},
}
"""Heuristics: name -> search settings; those of optuna end after `SECONDS`."""


class TimeUp(BaseException):
    """A method has used its time; no `Exception`, as a search takes those for faults of methods."""


class Recorder:
    """A problem that keeps when which losses came, and stops a method when its time is up."""

    def __init__(self, problem: Problem, seconds: float) -> None:
        """Start the clocks."""
        self._problem = problem
        self._seconds = seconds
        self._start, self._cpu = time.perf_counter(), time.process_time()
        self.evaluated = 0
        self.batches: list[tuple[float, np.ndarray]] = []

    def __getattr__(self, name: str) -> Any:
        """Be the problem in everything else."""
        return getattr(self._problem, name)

    def evaluate(self, points: Any) -> Any:
        """Evaluate designs; the result counts when it is there in time."""
        evaluation = self._problem.evaluate(points)
        if self.cpu > self._seconds:
            raise TimeUp
        self.evaluated += len(points)
        self.keep(evaluation.loss[evaluation.feasible])
        return evaluation

    def keep(self, loss: np.ndarray) -> None:
        """Keep feasible losses and after how much CPU time they came."""
        self.batches.append((self.cpu, loss))

    @property
    def wall(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def cpu(self) -> float:
        """CPU seconds since the start."""
        return time.process_time() - self._cpu


@dataclass(frozen=True)
class Truth:
    """The exact front and the hypervolume that counts as 1."""

    front: np.ndarray

    @property
    def points(self) -> set[tuple[float, ...]]:
        """The front as tuples."""
        return set(map(tuple, self.front.tolist()))

    def share(self, loss: np.ndarray) -> float:
        """Return the hypervolume of a front as a share of the exact one's."""
        reference, ideal = reference_point(self.front), self.front.min(axis=0)
        whole = hypervolume(self.front, reference, ideal=ideal)
        return hypervolume(loss, reference, ideal=ideal).share_of(whole).value


@dataclass(frozen=True)
class Trial:
    """One run: its cost, what it found, and its hypervolume over time."""

    wall: float
    cpu: float
    evaluated: int
    share: float
    found: float
    curve: list[tuple[float, float]]


def trial(problem: Problem, settings: Mapping[str, Any], seed: int, truth: Truth) -> Trial:
    """Run one method once; its front is that of everything it evaluated in time."""
    timed = settings["method"] == "tpe"
    recorder = Recorder(problem, SECONDS if timed else np.inf)
    try:
        outcome = search.run_search(recorder, SearchSettings(**settings, seed=seed))
        recorder.keep(outcome.front_loss)
    except TimeUp:
        pass
    wall, cpu = recorder.wall, recorder.cpu
    front, curve = np.empty((0, problem.objective_count)), []
    for seconds, loss in recorder.batches:
        merged = np.concatenate([front, loss])
        front = merged[nondominated(merged)] if len(merged) else merged
        curve.append((seconds, truth.share(front)))
    found = len(set(map(tuple, front.tolist())) & truth.points) / len(truth.points)
    return Trial(wall, cpu, recorder.evaluated, curve[-1][1], found, curve)


def compare(name: str) -> dict[str, list[Trial]]:
    """Run every method on a study, and print one row for each."""
    problem = study.prepare(
        study.read_study(ROOT / "studies" / f"{name}.yaml", STUDIES[name])
    ).problem
    truth = Truth(
        search.run_search(problem, SearchSettings(**next(iter(EXACT.values())))).front_loss
    )
    trials = {
        label: [trial(problem, settings, seed, truth) for seed in range(1, REPETITIONS + 1)]
        for label, settings in (EXACT | HEURISTICS).items()
    }
    headers = ("method", "evaluated", "wall s", "CPU s", "hypervolume / exact", "points found")
    table(
        f"Methods on {name} ({problem.size:,} designs, {len(truth.points)} points on the front)",
        headers,
        [(label, *_row(runs)) for label, runs in trials.items()],
    )
    return trials


def _row(runs: list[Trial]) -> tuple[str, ...]:
    def middle(field: str) -> float:
        return statistics.median(getattr(run, field) for run in runs)

    return (
        f"{middle('evaluated'):,.0f}",
        f"{middle('wall'):.2f}",
        f"{middle('cpu'):.2f}",
        f"{middle('share'):.4f}",
        f"{middle('found'):.0%}",
    )


def main() -> None:
    """Compare the methods on every study, and draw their hypervolume over time."""
    found = {name: compare(name) for name in STUDIES}
    curves = {
        name: {label: _median(runs).curve for label, runs in trials.items()}
        for name, trials in found.items()
    }
    over_time(curves, exact=tuple(EXACT), path=PICTURE)
    print(f"\n![Hypervolume over time, for every method and study]({PICTURE.name})")


def _median(runs: list[Trial]) -> Trial:
    return sorted(runs, key=lambda run: (run.share, -run.wall))[len(runs) // 2]


if __name__ == "__main__":
    main()

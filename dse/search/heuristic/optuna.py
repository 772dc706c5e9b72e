"""Search with optuna's samplers, asked and told in batches; its storage is only in memory."""

from __future__ import annotations

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, NSGAIISampler, RandomSampler, TPESampler

from dse.model.space import Index
from dse.search.archive import Archive, Searchable
from dse.search.heuristic.scales import Scales

WORST = 1e12
"""Stands for an infinite violation: optuna adds violations up."""

MOST_WHOLE = 1_000
"""Values of an ordered axis that are whole numbers to optuna; of more, real ones on a scale."""


def tpe(archive: Archive, *, seed: int, population: int, start: Index) -> None:
    """Search with the tree-structured Parzen estimator (Ozaki et al. 2022 for several goals).

    One joint estimate per trial rather than one per axis: better here, in half the time.
    """
    _ask_and_tell(archive, population, seed, start, TPESampler(seed=seed, multivariate=True))


def nsga2_optuna(archive: Archive, *, seed: int, population: int, start: Index) -> None:
    """Search with optuna's own NSGA-II."""
    size = max(2, population)
    _ask_and_tell(archive, size, seed, start, NSGAIISampler(population_size=size, seed=seed))


def random(archive: Archive, *, seed: int, population: int, start: Index) -> None:
    """Draw designs at random, whatever `start`: what every other method has to beat."""
    _ask_and_tell(archive, population, seed, start[:0], RandomSampler(seed=seed))


def _ask_and_tell(
    archive: Archive, batch: int, seed: int, start: Index, sampler: BaseSampler
) -> None:
    """Ask for a batch, evaluate it together, tell the results, until the room is used.

    Samplers repeat themselves; for every repetition the next batch holds one random new
    design instead, so that the search always comes to an end.
    """
    substitutes = np.random.default_rng(seed)
    axes = _Axes(archive.problem)
    study = _study(archive.problem.objective_count, sampler)
    for design in axes.parameters(start):
        study.enqueue_trial(design)
    while archive.room:
        before = archive.evaluated
        trials = [study.ask(axes.distributions) for _ in range(min(batch, archive.room))]
        loss, violation = archive.evaluate(axes.index([trial.params for trial in trials]))
        feasible = (violation <= 0).all(axis=1)
        loss[~feasible] = 0.0  # Never compared: infeasible designs are ranked by violation.
        violation = np.clip(np.nan_to_num(violation, nan=WORST), -WORST, WORST)
        for trial, values, missed in zip(trials, loss.tolist(), violation.tolist(), strict=True):
            for position, value in enumerate(missed):
                trial.set_constraint(str(position), value)
            study.tell(trial, values)
        repeated = len(trials) - (archive.evaluated - before)
        for design in axes.parameters(archive.unseen(substitutes, min(repeated, archive.room))):
            study.enqueue_trial(design)


class _Axes:
    """Designs as optuna's parameters: choices, whole numbers, and real numbers on a scale.

    A long axis is a real number in [0, 1] on its own scale: what `log=True` is to a value.
    """

    def __init__(self, problem: Searchable) -> None:
        self.scales = Scales(problem)
        self.real = self.scales.ordered & (np.array(problem.sizes) > MOST_WHOLE)
        self.names = [f"axis{position}" for position in range(len(problem.sizes))]
        kinds = zip(problem.sizes, problem.ordered, self.real.tolist(), strict=True)
        found = (_distribution(*kind) for kind in kinds)
        self.distributions = dict(zip(self.names, found, strict=True))

    def parameters(self, index: Index) -> list[dict[str, float]]:
        """Return designs (n, d) as parameters."""
        values = index.astype(np.float64)
        values[:, self.scales.ordered] = np.where(
            self.real[self.scales.ordered],
            self.scales.coordinates(index),
            values[:, self.scales.ordered],
        )
        return [
            {
                name: value if real else int(value)
                for name, value, real in zip(self.names, row, self.real.tolist(), strict=True)
            }
            for row in values.tolist()
        ]

    def index(self, parameters: list[dict[str, float]]) -> Index:
        """Return parameters as designs (n, d)."""
        values = np.array([[design[name] for name in self.names] for design in parameters])
        values = values.reshape(len(parameters), len(self.names))
        index = values.astype(np.int64)
        real = self.real[self.scales.ordered]
        nearest = self.scales.nearest(values[:, self.scales.ordered])
        index[:, self.real] = nearest[:, real]
        return index


def _distribution(size: int, ordered: bool, real: bool) -> BaseDistribution:
    if real:
        return FloatDistribution(0.0, 1.0)
    return IntDistribution(0, size - 1) if ordered else CategoricalDistribution(range(size))


def _study(objectives: int, sampler: BaseSampler) -> optuna.Study:
    """Create a study in memory, without its greeting."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
    finally:
        optuna.logging.set_verbosity(verbosity)

"""Search with optuna's samplers, asked and told in batches; its storage is only in memory."""

from __future__ import annotations

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, NSGAIISampler, RandomSampler, TPESampler

from dse.search.archive import Archive, Problem

WORST = 1e12
"""Stands for an infinite violation: optuna adds violations up."""


def tpe(archive: Archive, *, seed: int, population: int) -> None:
    """Search with the tree-structured Parzen estimator (Ozaki et al. 2022 for several goals).

    One joint estimate per trial rather than one per axis: better here, in half the time.
    """
    _ask_and_tell(archive, population, seed, TPESampler(seed=seed, multivariate=True))


def nsga2(archive: Archive, *, seed: int, population: int) -> None:
    """Search with optuna's own NSGA-II."""
    size = max(2, population)
    _ask_and_tell(archive, size, seed, NSGAIISampler(population_size=size, seed=seed))


def random(archive: Archive, *, seed: int, population: int) -> None:
    """Draw designs at random: what every other method has to beat."""
    _ask_and_tell(archive, population, seed, RandomSampler(seed=seed))


def _ask_and_tell(archive: Archive, batch: int, seed: int, sampler: BaseSampler) -> None:
    """Ask for a batch, evaluate it together, tell the results, until the room is used.

    Samplers repeat themselves; for every repetition the next batch holds one random new
    design instead, so that the search always comes to an end.
    """
    substitutes = np.random.default_rng(seed)
    axes = _axes(archive.problem)
    study = _study(archive.problem.objective_count, sampler)
    while archive.room:
        before = archive.evaluated
        trials = [study.ask(axes) for _ in range(min(batch, archive.room))]
        index = np.array([[trial.params[axis] for axis in axes] for trial in trials], np.int64)
        loss, violation = archive.evaluate(index)
        feasible = (violation <= 0).all(axis=1)
        loss[~feasible] = 0.0  # Never compared: infeasible designs are ranked by violation.
        violation = np.clip(np.nan_to_num(violation, nan=WORST), -WORST, WORST)
        for trial, values, missed in zip(trials, loss.tolist(), violation.tolist(), strict=True):
            for position, value in enumerate(missed):
                trial.set_constraint(str(position), value)
            study.tell(trial, values)
        repeated = len(trials) - (archive.evaluated - before)
        for row in archive.unseen(substitutes, min(repeated, archive.room)).tolist():
            study.enqueue_trial(dict(zip(axes, row, strict=True)))


def _axes(problem: Problem) -> dict[str, BaseDistribution]:
    return {
        f"axis{position}": IntDistribution(0, size - 1)
        if ordered
        else CategoricalDistribution(range(size))
        for position, (size, ordered) in enumerate(zip(problem.sizes, problem.ordered, strict=True))
    }


def _study(objectives: int, sampler: BaseSampler) -> optuna.Study:
    """Create a study in memory, without its greeting."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
    finally:
        optuna.logging.set_verbosity(verbosity)

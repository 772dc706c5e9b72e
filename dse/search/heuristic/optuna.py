"""Samplers of Optuna, in batches, with a storage in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.samplers import RandomSampler as RandomSampler
from optuna.samplers import TPESampler as TPESampler
from optuna.trial import BaseTrial, FixedTrial, create_trial

from dse.contract import Column, Index, Search
from dse.contract.methods import Axes
from dse.model.problem import Problem
from dse.search.heuristic.scales import clipped, nearest_positions

Trials = optuna.Study
"""A study of optuna: trials, of which each is a design."""

MOST_WHOLE = 1_000
"""Values of an ordered axis as whole numbers of Optuna. More values are real numbers on a scale."""


def ask_and_tell(search: Search, sampler: BaseSampler, *, seed: int, population: int) -> None:
    """Evaluate the batches of a seeded sampler of Optuna, or of its kind, until the room is used.

    Samplers repeat designs.  For every repetition the next batch has one random new design, so
    that the search always ends.
    """
    substitutes = np.random.default_rng(seed)
    axes = _Parameters(search)
    with quiet():
        study = optuna.create_study(
            directions=["minimize"] * search.objective_count, sampler=sampler
        )
    while search.room:
        before = search.evaluated
        trials = [study.ask(axes.distributions) for _ in range(min(population, search.room))]
        loss, violation = search.evaluate(axes.index([trial.params for trial in trials]))
        feasible = (violation <= 0).all(axis=1)
        loss[~feasible] = 0.0  # Never compared: infeasible designs are ranked by violation.
        for trial, values, missed in zip(trials, loss.tolist(), violation, strict=True):
            tell_missed(trial, map(str, range(len(missed))), missed)
            study.tell(trial, values)
        repeated = len(trials) - (search.evaluated - before)
        for design in axes.parameters(search.unseen(substitutes, min(repeated, search.room))):
            study.enqueue_trial(design)


def tell_missed(trial: BaseTrial, names: Iterable[str], violation: Column) -> None:
    """Set the violation of each constraint of a trial."""
    for name, value in zip(names, clipped(violation).tolist(), strict=True):
        trial.set_constraint(name, value)


def losses_of(problem: Problem, trial: BaseTrial) -> tuple[float, ...]:
    """Return the losses of a trial, choices of which have labels, and set its attributes."""
    row = [
        trial.suggest_int(axis.name, 0, axis.size - 1)
        if axis.ordered
        else axis.labels.index(trial.suggest_categorical(axis.name, axis.labels))
        for axis in problem.space.axes
    ]
    design = np.array(row)
    trial.set_user_attr("design", problem.space.point_text(design))
    found = problem.evaluate(design[np.newaxis])
    tell_missed(trial, problem.constraint_names, found.violation[0])
    return tuple(np.where(found.feasible[0], found.loss[0], 0.0).tolist())


def trials_of(problem: Problem, designs: Index, settings: Mapping[str, Any]) -> Trials:
    """Return a new study that has a trial for each design (n, d), and names of its values."""
    names = [goal.loss for goal in problem.goals]
    with quiet():
        study = optuna.create_study(directions=["minimize"] * len(names), **settings)
        study.set_metric_names(names)
        for row in designs.tolist():
            axes = zip(problem.space.axes, row, strict=True)
            trial = FixedTrial(
                {axis.name: at if axis.ordered else axis.labels[at] for axis, at in axes}
            )
            study.add_trial(
                create_trial(
                    values=losses_of(problem, trial),
                    params=trial.params,
                    distributions=trial.distributions,
                    user_attrs=trial.user_attrs,
                    constraints=trial.constraints,
                )
            )
    return study


class _Parameters:
    """Designs as optuna's parameters: choices, whole numbers, and real numbers on a scale.

    A long axis is a real number in [0, 1] on its own scale, as `log=True` is for a value.
    """

    def __init__(self, axes: Axes) -> None:
        self._scales: list[Column | None] = []
        self.distributions: dict[str, BaseDistribution] = {}
        for axis, (size, scale) in enumerate(zip(axes.sizes, axes.coordinates, strict=True)):
            real = scale is not None and size > MOST_WHOLE
            self._scales.append(scale if real else None)
            if real:
                kind: BaseDistribution = FloatDistribution(0.0, 1.0)
            elif scale is not None:
                kind = IntDistribution(0, size - 1)
            else:
                kind = CategoricalDistribution(range(size))
            self.distributions[f"axis{axis}"] = kind

    def parameters(self, index: Index) -> list[dict[str, float]]:
        """Return designs (n, d) as parameters."""
        return [
            {
                name: at if scale is None else float(scale[at])
                for name, scale, at in zip(self.distributions, self._scales, row, strict=True)
            }
            for row in index.tolist()
        ]

    def index(self, parameters: list[dict[str, float]]) -> Index:
        """Return parameters as designs (n, d), the nearest ones."""
        columns = []
        for name, scale in zip(self.distributions, self._scales, strict=True):
            values = np.array([design[name] for design in parameters])
            columns.append(values if scale is None else nearest_positions(scale, values))
        return np.stack(columns, axis=1).astype(np.int64)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the messages of Optuna, except errors."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(verbosity)

"""Samplers of others as methods of ours, for spaces known whole: Optuna's GPSampler and SMAC3.

`pip install torch smac` installs what they need; what is missing is no peer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dse.contract import Index, Method

PEERS = {"gp-sampler": "torch", "smac3": "smac"}
"""Methods of others, and the package without which they are not there."""

MOST_TRIALS = 1_000_000
"""More than any budget: ours ends the search."""


def installed() -> list[str]:
    """Return the peers that are installed."""
    return [name for name, package in PEERS.items() if find_spec(package)]


def peer(name: str) -> Method:
    """Return a method of others."""
    sampler: Callable[..., None] = {"gp-sampler": _gp_sampler, "smac3": _smac}[name]
    return Method(sampler, description="of others", budget=200, population=4)


def _gp_sampler(search: Any, *, seed: int, population: int, start: Index) -> None:
    """Search with Optuna's GPSampler."""
    import torch
    from optuna.samplers import GPSampler

    from dse.search.heuristic.optuna import ask_and_tell, quiet

    torch.set_num_threads(1)
    with quiet():
        sampler = GPSampler(seed=seed, deterministic_objective=True)
    ask_and_tell(search, sampler, seed=seed, population=population, start=start)


def _smac(search: Any, *, seed: int, population: int, start: Index) -> None:
    """Search with SMAC3: its random forest and ParEGO, one design at a time, its own first ones.

    An infeasible design costs twice what the worst one did.  For one that is known already a
    random new one is evaluated as well, as with Optuna's samplers.
    """
    from ConfigSpace import CategoricalHyperparameter, Configuration, ConfigurationSpace
    from ConfigSpace import UniformIntegerHyperparameter as Whole
    from smac import HyperparameterOptimizationFacade as Facade
    from smac import Scenario
    from smac.multi_objective.parego import ParEGO
    from smac.runhistory import TrialInfo, TrialValue

    named = [(f"axis{place}", place) for place, size in enumerate(search.sizes) if size > 1]
    space = ConfigurationSpace(seed=seed)
    space.add(
        Whole(name, 0, search.sizes[place] - 1)
        if search.ordered[place]
        else CategoricalHyperparameter(name, range(search.sizes[place]))
        for name, place in named
    )
    random, worst = np.random.default_rng(seed), np.zeros(search.objective_count)
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            output_directory=Path(folder),
            objectives=[f"loss{place}" for place in range(search.objective_count)],
            deterministic=True,
            n_trials=MOST_TRIALS,
            seed=seed,
        )
        first = Facade.get_initial_design(scenario, n_configs=max(2, min(search.room // 4, 20)))
        smac = Facade(
            scenario,
            lambda config, seed: None,
            initial_design=first,
            multi_objective_algorithm=ParEGO(scenario),
            logging_level=False,
        )
        while search.room:
            trial = smac.ask()
            design = np.zeros((1, len(search.sizes)), dtype=np.int64)
            design[0, [place for _, place in named]] = [trial.config[name] for name, _ in named]
            asked = [(trial, design)]
            if search.seen(design).all():
                other = search.unseen(random, 1)
                values = {name: int(other[0, place]) for name, place in named}
                config = Configuration(space, values=values)
                asked.append((TrialInfo(config=config, seed=trial.seed), other))
            for told, row in asked:
                loss, violation = search.evaluate(row)
                feasible = bool((violation <= 0).all())
                worst = np.maximum(worst, loss[0]) if feasible else worst
                cost = loss[0] if feasible else 2 * np.where(worst > 0, worst, 1.0)
                smac.tell(told, TrialValue(cost=cost.tolist()))

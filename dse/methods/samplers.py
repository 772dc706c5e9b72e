"""Methods that draw designs: optuna's samplers."""

from __future__ import annotations

from dse.contract import Option, Search, method
from dse.methods.extras import adapter


@method(
    description="tree-structured Parzen estimator: for expensive evaluations",
    budget=1_000,
    population=25,
    options=(
        Option(
            name="multivariate",
            description="one joint estimate per trial rather than one per axis",
            default=True,
        ),
    ),
)
def tpe(search: Search, *, seed: int, population: int, multivariate: bool) -> None:
    """Search with the tree-structured Parzen estimator (Ozaki et al. 2022 for several goals).

    One joint estimate per trial: better here than one per axis, in half the time.
    """
    optuna = adapter("tpe", "optuna")
    sampler = optuna.TPESampler(seed=seed, multivariate=multivariate)
    optuna.ask_and_tell(search, sampler, seed=seed, population=population)


@method(description="random search, the baseline", budget=12_000, population=1_000)
def random(search: Search, *, seed: int, population: int) -> None:
    """Draw designs at random, as a baseline for every other method."""
    optuna = adapter("random", "optuna")
    sampler = optuna.RandomSampler(seed=seed)
    optuna.ask_and_tell(search, sampler, seed=seed, population=population)

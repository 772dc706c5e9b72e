"""Methods that draw designs: optuna's samplers."""

from __future__ import annotations

from dse.contract import Option, Search, method
from dse.methods.extras import from_extra


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
    with from_extra("tpe", "optuna"):
        from optuna.samplers import TPESampler

    from dse.search.heuristic.optuna import ask_and_tell

    sampler = TPESampler(seed=seed, multivariate=multivariate)
    ask_and_tell(search, sampler, seed=seed, population=population)


@method(description="random search, the baseline", budget=12_000, population=1_000)
def random(search: Search, *, seed: int, population: int) -> None:
    """Draw designs at random, as a baseline for every other method."""
    with from_extra("random", "optuna"):
        from optuna.samplers import RandomSampler

    from dse.search.heuristic.optuna import ask_and_tell

    sampler = RandomSampler(seed=seed)
    ask_and_tell(search, sampler, seed=seed, population=population)

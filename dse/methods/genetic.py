"""Genetic algorithms: pymoo's, with operators that know orders from choices."""

from __future__ import annotations

from functools import partial

from dse.contract import Option, Search, method
from dse.methods.extras import adapter

_ETA = Option(
    name="eta",
    description="distribution index of mutations along an order: steps of about 1 / eta of it",
    default=20.0,
    low=1.0,
    high=1000.0,
)
_genetic = partial(method, budget=12_000, options=(_ETA,))


@_genetic(description="NSGA-II: a good start for two or three objectives")
def nsga2(search: Search, *, seed: int, population: int, eta: float) -> None:
    """Search with NSGA-II (Deb et al. 2002): rank, then crowding distance."""
    pymoo = adapter("nsga2", "pymoo")
    pymoo.evolve(search, pymoo.NSGA2, seed=seed, population=population, eta=eta)


@_genetic(description="NSGA-III: for four or more objectives")
def nsga3(search: Search, *, seed: int, population: int, eta: float) -> None:
    """Search with NSGA-III (Deb and Jain 2014): niches around reference directions.

    There are as many Das-Dennis directions as fit into the population, which grows to the
    number of objectives if it is smaller.
    """
    pymoo = adapter("nsga3", "pymoo")
    create, size = pymoo.niching(search.objective_count, population)
    pymoo.evolve(search, create, seed=seed, population=size, eta=eta)

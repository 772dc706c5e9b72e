"""Genetic algorithms: pymoo's, with operators that know orders from choices."""

from __future__ import annotations

from functools import partial
from typing import Any

from dse.contract import Option, Search, method
from dse.methods.extras import from_extra

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
    with from_extra("nsga2", "pymoo"):
        from pymoo.algorithms.moo.nsga2 import NSGA2

    from dse.search.heuristic.pymoo import evolve

    evolve(search, NSGA2, seed=seed, population=population, eta=eta)


@_genetic(description="NSGA-III: for four or more objectives")
def nsga3(search: Search, *, seed: int, population: int, eta: float) -> None:
    """Search with NSGA-III (Deb and Jain 2014): niches around reference directions.

    There are as many Das-Dennis directions as fit into the population, which grows to the
    number of objectives if it is smaller.
    """
    with from_extra("nsga3", "pymoo"):
        from pymoo.algorithms.moo.nsga3 import NSGA3
        from pymoo.algorithms.moo.sms import cv_and_dom_tournament
        from pymoo.operators.selection.tournament import TournamentSelection
        from pymoo.util.ref_dirs import get_reference_directions
        from pymoo.util.reference_direction import get_partition_closest_to_points

    from dse.search.heuristic.pymoo import evolve

    objectives = search.objective_count
    parts = max(1, get_partition_closest_to_points(population, objectives))
    directions = get_reference_directions("das-dennis", objectives, n_partitions=parts)
    # pymoo's own tournament for NSGA-III breaks ties with an unseeded generator
    tournament = TournamentSelection(func_comp=cv_and_dom_tournament)

    def create(**settings: Any) -> Any:
        return NSGA3(directions, selection=tournament, **settings)

    size = max(population, len(directions))
    evolve(search, create, seed=seed, population=size, eta=eta)

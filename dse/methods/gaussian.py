"""The method for designs that take minutes each: a Gaussian process."""

from __future__ import annotations

from dse.contract import Option, Search, method


@method(
    description="Gaussian process: for designs that take minutes each",
    budget=100,
    population=4,
    options=(
        Option(
            name="candidates",
            description="designs compared for each batch; spaces of no more are enumerated",
            default=100_000,
            low=1_000,
            high=1_000_000,
        ),
    ),
)
def gaussian(search: Search, *, seed: int, population: int, candidates: int) -> None:
    """Search by the expected hypervolume improvement of a Gaussian process of each objective."""
    from dse.search.expensive.search import improve

    improve(search, seed=seed, population=population, candidates=candidates)

"""Choosing designs: `exact` proves fronts, `heuristic` samples them, the archive keeps them.

May import `dse.model` and lower floors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dse.contract import Method
from dse.contract.methods import OptionValue
from dse.errors import FOREIGN, BudgetError, ContractError, DseError, TooLargeError
from dse.model.problem import Problem
from dse.plugins import registry
from dse.search.exact.work import EffortError, Stop, StopError, limited, spend
from dse.search.outcome import FAILING, UNFINISHED, Certificate, Outcome
from dse.search.settings import Progress, Searchable, SearchSettings, check_constraints, left_of

if TYPE_CHECKING:
    from dse.search.archive import Archive

__all__ = [
    "FAILING",
    "Outcome",
    "Progress",
    "SearchSettings",
    "Stop",
    "check_search",
    "planned",
    "run_method",
    "run_search",
]

MOST_AXES = 64
"""Dimensions of an array, which blocks of a space are."""

COPIES, KEPT_BYTE = 2, 500
"""Of each design that a heuristic evaluates: copies of its positions, and bytes of all else."""


def run_search(
    problem: Searchable, settings: SearchSettings, progress: Progress | None = None
) -> Outcome:
    """Search `problem` and return the outcome, with the host alone beside its space.

    Raises
    ------
    TooLargeError
        The exact method was requested for a space beyond its limit or budget.
    ContractError
        A feasible design has a loss that is not finite, or the method fails.
    """
    check_search(problem, settings)
    method = registry.get(Method, settings.method)
    if method.proves:
        with limited(seconds=settings.effort_s, byte=settings.memory_byte):
            outcome: Outcome = method.function(
                problem, progress, budget=settings.budget, limit=settings.most_enumerated
            )
        if not outcome.certificate.finished and not settings.partial:
            spend(0)  # a limit around this one raises its own error
            raise TooLargeError(outcome.certificate.reason)
        return outcome
    from dse.search.archive import Archive
    from dse.search.exact.prove import enumerated

    total = planned(problem, settings)
    if total >= left_of(problem) and settings.time_s is None:  # time may end it: order matters
        return enumerated(problem, progress, "the budget covers the space")
    population = max(2, min(settings.population or method.population, total))
    return run_method(
        method,
        Archive(problem, total=total, progress=progress),
        seed=settings.seed,
        population=population,
        options=settings.options,
    )


def planned(problem: Searchable, settings: SearchSettings) -> int:
    """Return how many designs of the space a search evaluates at most: hosts count as well."""
    method = registry.get(Method, settings.method)
    if method.proves:
        return min(settings.budget or problem.size, left_of(problem))
    hosts = len(problem.hosts) if isinstance(problem, Problem) else 0
    budget = (settings.budget or method.budget) - hosts
    return max(1, min(budget, left_of(problem)))


def _check_memory(problem: Searchable, settings: SearchSettings) -> None:
    """Raise `TooLargeError` when the designs that a heuristic remembers take too much memory."""
    total = planned(problem, settings)
    byte = total * (COPIES * 8 * len(problem.sizes) + KEPT_BYTE)
    if byte > settings.memory_byte:
        raise TooLargeError(
            f"{settings.method} needs {byte / 2**20:,.0f} MiB for {total:,} designs of "
            f"{len(problem.sizes):,} axes; search.memory is {settings.memory_byte / 2**20:g} MiB; "
            f"lower search.budget or raise search.memory"
        )


def run_method(
    method: Method,
    archive: Archive,
    *,
    seed: int,
    population: int,
    options: Mapping[str, OptionValue] | None = None,
) -> Outcome:
    """Run a sampling method while an archive has room, and return the outcome.

    Raise `ContractError` if it fails, or asks for no designs, or for too many.
    """
    given = {option.name: option.default for option in method.options} | dict(options or {})
    try:
        method.function(archive, seed=seed, population=population, **given)
    except (EffortError, BudgetError) as error:
        done = f"{archive.evaluated:,} of {archive.total:,} evaluations are done"
        way = error.way if isinstance(error, StopError) else UNFINISHED
        return archive.outcome(Certificate(way=way, reason=f"{error}; {done}"))
    except DseError:
        raise
    except FOREIGN as error:  # whatever a foreign function raises
        raise ContractError(
            f"method {method.name} fails: {type(error).__name__}: {error}; repair its plug-in, or "
            f"search with another method"
        ) from error
    return archive.outcome()


def check_search(problem: Searchable, settings: SearchSettings) -> None:
    """Raise `TooLargeError` when the method cannot finish the space, without evaluation.

    The same holds for `ContractError` and more constraints than a search takes.
    """
    check_constraints(problem)
    if not registry.get(Method, settings.method).proves:
        _check_memory(problem, settings)
        return
    if len(problem.sizes) > MOST_AXES:
        raise TooLargeError(
            f"the study opens {len(problem.sizes)} axes, one for each count and choice, and exact "
            f"search takes up to {MOST_AXES}; give mixed stages fewer designs (`node`, `designs`), "
            f"let some be of one design, or search with another method, for instance nsga2"
        )
    few = left_of(problem) <= min(settings.budget or math.inf, settings.most_enumerated)
    if few:
        return
    from dse.search.exact.prove import check_provable  # the engine, only now

    check_provable(problem, settings.method, budget=settings.budget, limit=settings.most_enumerated)

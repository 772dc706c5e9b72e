"""Proven fronts: composed from parts, or every design, whichever suits the space."""

from __future__ import annotations

from typing import cast

from dse.errors import TooLargeError
from dse.model.problem import Problem
from dse.model.space import product_text
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact import enumeration
from dse.search.exact.compose import Composer
from dse.search.exact.partial import NotComposedError, TooMuchWorkError
from dse.search.outcome import Certificate, Outcome

ENOUGH = 100_000
"""Spaces up to this size are enumerated: it takes less than putting designs together."""

LARGE = f"more than {ENOUGH:,} designs, made of stages".replace(",", " ")

METHODS = ("exact", "enumerate", "compose")
"""The methods that prove their front."""


def check_provable(problem: Searchable, method: str, *, budget: int | None, limit: int) -> None:
    """Raise `TooLargeError` when a method cannot prove the front; evaluates nothing."""
    if method == "enumerate" or problem.continuous or not composable(problem):
        enumeration.check_enumerable(problem, budget=budget, limit=limit)


def composable(problem: Searchable) -> bool:
    """Tell whether a problem is made of stages and scenarios, and may be composed."""
    return bool(getattr(problem, "stages", ()))


def prove(
    problem: Searchable, method: str, progress: Progress | None, *, budget: int | None, limit: int
) -> Outcome:
    """Return the front of the whole space and why it is proven.

    Raises
    ------
    TooLargeError
        When the space is too large for the method, or neither way is possible.
    """
    check_provable(problem, method, budget=budget, limit=limit)
    small = problem.size <= ENOUGH
    if method == "enumerate" or not composable(problem):
        reason = "as asked" if method == "enumerate" else "the space is not made of stages"
        return enumerated(problem, progress, reason)
    if method == "exact" and small:
        return enumerated(problem, progress, f"no more than {ENOUGH:,} designs".replace(",", " "))
    try:
        return _compose(problem, progress, "as asked" if method == "compose" else LARGE)
    except (NotComposedError, TooMuchWorkError) as error:
        if method == "compose":
            raise TooLargeError(_refusal(problem, error)) from None
        return _fall_back(problem, progress, error, budget=budget, limit=limit)


def _fall_back(
    problem: Searchable,
    progress: Progress | None,
    error: TooLargeError,
    *,
    budget: int | None,
    limit: int,
) -> Outcome:
    try:
        enumeration.check_enumerable(problem, budget=budget, limit=limit)
    except TooLargeError:
        raise TooLargeError(_refusal(problem, error)) from None
    return enumerated(problem, progress, str(error))


def _refusal(problem: Searchable, error: TooLargeError) -> str:
    return (
        f"{error}, and {product_text(problem.sizes)} designs are too many to enumerate; give axes "
        f"fewer values, add constraints, or search with another method, for instance nsga2"
    )


def enumerated(problem: Searchable, progress: Progress | None, reason: str) -> Outcome:
    """Return the front of a space of which every design is evaluated or pruned."""
    archive = Archive(problem, total=problem.size, progress=progress)
    enumeration.enumerate_all(archive)
    closed = archive.closed
    return archive.outcome(
        Certificate(
            way="enumerated", reason=reason, dominated=closed[True], infeasible=closed[False]
        )
    )


def _compose(problem: Searchable, progress: Progress | None, reason: str) -> Outcome:
    archive = Archive(problem, total=problem.size)
    composer = Composer(cast(Problem, problem), archive, progress)
    composer.run()
    archive.pruned = composer.pruned.dominated + composer.pruned.infeasible
    return archive.outcome(
        Certificate(
            way="composed",
            reason=reason,
            dominated=composer.pruned.dominated,
            infeasible=composer.pruned.infeasible,
        )
    )

"""Proven fronts: composed from parts, or every design, whichever suits the space."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from dse.errors import TooLargeError
from dse.model.problem import Problem
from dse.model.space import product_text
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact import enumeration
from dse.search.exact.compose import Composer, Rehearsal
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


def foretell(problem: Searchable, method: str, *, budget: int | None, limit: int) -> bool:
    """Raise what `prove` will raise, as far as some seconds of work tell; else whether they do.

    Raises
    ------
    TooLargeError
        As `prove` does.
    """
    check_provable(problem, method, budget=budget, limit=limit)
    if _why_enumerated(problem, method):
        return True
    try:
        Rehearsal(cast(Problem, problem), Archive(problem, total=problem.size)).run()
    except NotComposedError as error:
        _require_enumerable(problem, method, error, budget=budget, limit=limit)
    except TooMuchWorkError:
        return False
    return True


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
    reason = _why_enumerated(problem, method)
    if reason:
        return enumerated(problem, progress, reason)
    try:
        return _compose(problem, progress, "as asked" if method == "compose" else LARGE)
    except (NotComposedError, TooMuchWorkError) as error:
        _require_enumerable(problem, method, error, budget=budget, limit=limit)
        return enumerated(problem, progress, str(error))


def _why_enumerated(problem: Searchable, method: str) -> str:
    """Return why a method goes through all designs at once; empty when it composes them."""
    if method == "enumerate":
        return "as asked"
    if not composable(problem):
        return "the space is not made of stages"
    small = method == "exact" and problem.size <= ENOUGH
    return f"no more than {ENOUGH:,} designs".replace(",", " ") if small else ""


def _require_enumerable(
    problem: Searchable, method: str, error: TooLargeError, *, budget: int | None, limit: int
) -> None:
    """Refuse a problem that cannot be composed, unless a method may enumerate it instead."""
    if method != "compose":
        with suppress(TooLargeError):
            enumeration.check_enumerable(problem, budget=budget, limit=limit)
            return
    raise TooLargeError(_refusal(problem, error)) from None


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

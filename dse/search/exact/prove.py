"""Proven fronts: composed from parts, or every design, whichever suits the space."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from dse.errors import TooLargeError
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact import enumeration
from dse.search.exact.enumeration import (
    REMEDY,
    check_provable,
    composable,
    enumerated,
    unfinished_at,
)
from dse.search.exact.work import EffortError, NotComposedError, TooMuchWorkError, limited
from dse.search.outcome import Certificate, Outcome

if TYPE_CHECKING:
    from dse.search.exact.compose import Composer

ENOUGH = 100_000
"""Spaces up to this size are enumerated: it takes less than putting designs together."""

LITTLE = 400_000
"""Work that takes less than to set a composition up."""

LARGE = f"more than {ENOUGH:,} designs, made of stages"


def prove(
    problem: Searchable,
    method: str,
    progress: Progress | None,
    *,
    budget: int | None,
    limit: int,
) -> Outcome:
    """Return the front of the whole space and why it is proven, or the front so far and why not.

    Composition is given up for enumeration once it took as much work as enumeration is expected
    to take, so that both together take at most twice as much as the better way.

    Raises
    ------
    TooLargeError
        When the space is too large for the method.
    """
    check_provable(problem, method, budget=budget, limit=limit)
    if method == "enumerate" or not composable(problem):
        reason = "as requested" if method == "enumerate" else "the space is not made of stages"
        return enumerated(problem, progress, reason)
    if method == "compose":
        return _composed(_composer(problem, progress), "as requested")
    if problem.size <= ENOUGH:
        return enumerated(problem, progress, f"no more than {ENOUGH:,} designs")
    least = enumeration.least_work(problem)
    work = partial(_enumeration_work, problem, budget=budget, limit=limit)
    if least <= LITTLE and work() <= LITTLE:
        return enumerated(problem, progress, "the expected work is small")
    composer = _composer(problem, progress)
    most = cache(lambda: work(composer.incumbents.designs))
    try:
        return _composed(composer, LARGE, least, most)
    except (NotComposedError, TooMuchWorkError) as error:
        if math.isinf(most()):
            raise TooLargeError(f"{error}; {REMEDY}") from None
        return enumerated(problem, progress, str(error), composer.incumbents.designs)


def _enumeration_work(
    problem: Searchable, rivals: Index | None = None, *, budget: int | None, limit: int
) -> float:
    """Return how much work enumeration is expected to be, infinite where it is not allowed."""
    try:
        enumeration.check_enumerable(problem, budget=budget, limit=limit)
    except TooLargeError:
        return math.inf
    return enumeration.expected_work(problem, rivals)


def _composer(problem: Searchable, progress: Progress | None) -> Composer:
    from dse.search.exact.compose import Composer  # only where something is composed

    return Composer(cast(Problem, problem), Archive(problem, total=problem.size), progress)


def _composed(
    composer: Composer,
    reason: str,
    least_work: float = math.inf,
    most_work: Callable[[], float] = lambda: math.inf,
) -> Outcome:
    """Compose; as soon as that took `least_work`, find out how much it may take."""
    problem, archive, way = composer.problem, composer.incumbents.archive, "composed"
    try:
        with limited(designs=least_work, most=most_work):
            composer.run()
    except (EffortError, NotComposedError) as error:
        if isinstance(error, NotComposedError) and most_work() < math.inf:
            raise
        way, reason = unfinished_at(error, composer.settled, archive)
        composer.incumbents.settle()
        # what settles may be among what was pruned: not all is accounted for
        most = problem.size - 1 - archive.evaluated - composer.pruned.infeasible
        composer.pruned.dominated = min(composer.pruned.dominated, most)
    archive.pruned = composer.pruned.dominated + composer.pruned.infeasible
    return archive.outcome(
        Certificate(
            way=way,
            reason=reason,
            dominated=composer.pruned.dominated,
            infeasible=composer.pruned.infeasible,
        )
    )

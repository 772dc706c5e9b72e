"""Proven fronts: composed from parts, or every design, whichever suits the space."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from dse.errors import BudgetError, DseError, TooLargeError
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact import enumeration
from dse.search.exact.work import EffortError, StopError, TooMuchWorkError, limited
from dse.search.outcome import UNFINISHED, Certificate, Outcome
from dse.search.searchable import left_of, pool_of

if TYPE_CHECKING:
    from dse.search.exact.compose import Composer

ENOUGH = 100_000
"""Spaces up to this size are enumerated: it takes less than putting designs together."""

LITTLE = 400_000
"""Work that takes less than to set a composition up."""

LARGE = f"more than {ENOUGH:,} designs, made of stages"

_REMEDY = (
    "raise search.effort and search.memory, give axes fewer values, add constraints, or search "
    "with another method, for instance nsga2"
)

MOST_SHARE = 0.999
"""The largest share of designs that an unfinished proof says are settled: 1 would claim too much.
"""

MEASURED_TOGETHER = 16
"""Designs that are measured before the next ones are requested, where all of them are."""

METHODS = ("exact", "enumerate", "compose")
"""The methods that prove their front."""


def check_provable(problem: Searchable, method: str, *, budget: int | None, limit: int) -> None:
    """Raise `TooLargeError` when a method cannot prove the front; evaluates nothing."""
    if method == "enumerate" or problem.continuous or not composable(problem):
        enumeration.check_enumerable(problem, budget=budget, limit=limit)


def composable(problem: Searchable) -> bool:
    """Tell whether a problem is made of stages and scenarios, and may be composed."""
    return bool(getattr(problem, "stages", ())) and not is_measured(problem)


def is_measured(problem: Searchable) -> bool:
    """Tell whether designs are measured: no bounds say anything of those that are not."""
    return getattr(problem, "measured", None) is not None


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
        reason = "as asked" if method == "enumerate" else "the space is not made of stages"
        return enumerated(problem, progress, reason)
    if method == "compose":
        return _composed(_composer(problem, progress), "as asked")
    if problem.size <= ENOUGH:
        return enumerated(problem, progress, f"no more than {ENOUGH:,} designs")
    least = enumeration.least_work(problem)
    work = partial(_enumeration_work, problem, budget=budget, limit=limit)
    if least <= LITTLE and work() <= LITTLE:
        return enumerated(problem, progress, "little work is expected")
    from dse.search.exact.work import NotComposedError  # only where something is composed

    composer = _composer(problem, progress)
    most = cache(lambda: work(composer.incumbents.designs))
    try:
        return _composed(composer, LARGE, least, most)
    except (NotComposedError, TooMuchWorkError) as error:
        if math.isinf(most()):
            raise TooLargeError(f"{error}; {_REMEDY}") from None
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


def enumerated(
    problem: Searchable, progress: Progress | None, reason: str, rivals: Index | None = None
) -> Outcome:
    """Return the front of a space of which every design is evaluated or pruned.

    `rivals` are good designs (n, d) that are known already.
    """
    archive = Archive(problem, total=left_of(problem), progress=progress)
    way = "enumerated"
    try:
        pool = pool_of(problem)
        if pool is not None:
            enumeration.evaluate_rows(archive, pool, MEASURED_TOGETHER)
        elif is_measured(problem):
            enumeration.enumerate_all(archive, chunk=MEASURED_TOGETHER, whole=problem.size)
        else:
            enumeration.enumerate_all(archive, rivals=rivals)
    except (EffortError, BudgetError) as error:
        way, reason = _unfinished(error, archive.evaluated + archive.pruned, archive)
    else:
        reason = archive.ledger.measured if is_measured(problem) else reason
    closed = archive.closed
    return archive.outcome(
        Certificate(way=way, reason=reason, dominated=closed[True], infeasible=closed[False])
    )


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
    from dse.search.exact.work import NotComposedError

    problem, archive, way = composer.problem, composer.incumbents.archive, "composed"
    try:
        with limited(designs=least_work, most=most_work):
            composer.run()
    except (EffortError, NotComposedError) as error:
        if isinstance(error, NotComposedError) and most_work() < math.inf:
            raise
        way, reason = _unfinished(error, composer.settled, archive)
        composer.incumbents.settle()
        # equals of the front may be among what was pruned: not all is accounted for
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


def _unfinished(error: DseError, settled: int, archive: Archive) -> tuple[str, str]:
    """Return the way of a proof that ended before it was done, why it did, and how far it was."""
    share = min(settled / archive.problem.size, MOST_SHARE)
    reason = f"{error}; {share:.3g} of the designs are settled"
    if isinstance(error, StopError):
        return error.way, reason
    if isinstance(error, BudgetError):
        return UNFINISHED, reason
    return UNFINISHED, f"{reason}; {_REMEDY}"

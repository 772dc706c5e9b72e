"""Proven fronts: composed from parts, or every design, whichever suits the space."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from dse.errors import TooLargeError
from dse.model.problem import Problem
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact.enumeration import (
    check_enumerable,
    check_provable,
    composable,
    enumerated,
    unfinished_at,
)
from dse.search.exact.work import EffortError, NotComposedError, TooMuchWorkError
from dse.search.outcome import Outcome

if TYPE_CHECKING:
    from dse.search.exact.compose import Composer

ENOUGH = 400_000
"""Spaces up to this size are enumerated: composition needs more time to set up."""

FIRST, SHARE = 2_000_000, 8
"""Most work of composition: at least `FIRST`, and one of `SHARE` designs of the space."""

_LARGE = f"more than {ENOUGH:,} designs, made of stages"


def prove(
    problem: Searchable,
    method: str,
    progress: Progress | None,
    *,
    budget: int | None,
    limit: int,
) -> Outcome:
    """Return the proven front of the whole space, or the front so far with the cause of its end.

    Beyond a share of the work of enumeration, composition is given up for it.

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
    most = None
    with suppress(TooLargeError):
        check_enumerable(problem, budget=budget, limit=limit)
        most = max(FIRST, problem.size / SHARE)
    composer = _composer(problem, progress)
    try:
        return _composed(composer, _LARGE, most)
    except (NotComposedError, TooMuchWorkError) as error:
        return enumerated(problem, progress, str(error))


def _composer(problem: Searchable, progress: Progress | None) -> Composer:
    from dse.search.exact.compose import Composer  # loads slowly

    return Composer(cast(Problem, problem), Archive(problem, total=problem.size), progress)


def _composed(composer: Composer, reason: str, most: float | None = None) -> Outcome:
    """Compose with limited work before enumeration, or with any work if `most` is None."""
    problem, archive, way = composer.problem, composer.incumbents.archive, "composed"
    try:
        composer.run(math.inf if most is None else most)
    except (EffortError, NotComposedError) as error:
        if isinstance(error, NotComposedError) and most is not None:
            raise
        way, reason = unfinished_at(error, composer.settled, archive)
        composer.incumbents.settle()
    most = math.inf if way == "composed" else problem.size - 1 - archive.evaluated
    certificate = composer.log.certificate(way, reason, most)  # evaluated ones may be pruned ones
    archive.pruned = certificate.dominated + certificate.infeasible
    return archive.outcome(certificate)

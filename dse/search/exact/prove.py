"""Proven fronts: composed from parts, or every design evaluated, whichever suits the space."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import cast

import numpy as np

from dse.errors import BudgetError, DseError, TooLargeError
from dse.model.problem import Problem
from dse.model.space import blocks, designs_text
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact.work import (
    BOUND_BYTE,
    CALL,
    CHUNK,
    EffortError,
    NotComposedError,
    StopError,
    TooMuchWorkError,
    fitting,
    spend,
)
from dse.search.outcome import UNFINISHED, Certificate, Outcome
from dse.search.settings import beforehand, left_of

ENOUGH = 400_000
"""Spaces up to this size are enumerated: composition needs more time to set up."""

FIRST, SHARE = 2_000_000, 8
"""Most work of composition: at least `FIRST`, and one of `SHARE` designs of the space."""

_REMEDY = (
    "raise search.effort and search.memory, give axes fewer values, add constraints, or search "
    "with another method, for instance nsga2"
)

MOST_SHARE = 0.999
"""Largest settled share of an unfinished proof: 1 would claim too much."""

MEASURED_TOGETHER = 16
"""Designs of a batch of measurements."""

KEPT_BYTE = 31 * 2**20
"""After an allocation of this size glibc reuses the memory of smaller arrays (mallopt(3),
M_MMAP_THRESHOLD).  Otherwise the system clears pages again for every chunk, a fifth of the time."""


def prove(
    problem: Searchable, method: str, progress: Progress | None, *, budget: int | None, limit: int
) -> Outcome:
    """Return the proven front of the whole space, or the front so far with the cause of its end.

    Beyond a share of the work of enumeration, composition is given up for it.
    """
    if method == "enumerate" or not composable(problem):
        reason = "as requested" if method == "enumerate" else "the space is not made of stages"
        return enumerated(problem, progress, reason)
    if method == "compose":
        return _composed(problem, progress, "as requested")
    if problem.size <= ENOUGH:
        return enumerated(problem, progress, f"no more than {ENOUGH:,} designs")
    most = None
    with suppress(TooLargeError):
        check_enumerable(problem, budget=budget, limit=limit)
        most = max(FIRST, problem.size / SHARE)
    try:
        reason = f"more than {ENOUGH:,} designs, made of stages"
        return _composed(problem, progress, reason, most)
    except (NotComposedError, TooMuchWorkError) as error:
        return enumerated(problem, progress, str(error))


def check_provable(problem: Searchable, method: str, *, budget: int | None, limit: int) -> None:
    """Raise `TooLargeError` when a method cannot prove the front, without evaluation."""
    if method == "enumerate" or not composable(problem):
        check_enumerable(problem, budget=budget, limit=limit)


def composable(problem: Searchable) -> bool:
    """Return whether a problem consists of stages and scenarios, and may be composed."""
    return bool(getattr(problem, "stages", ())) and not is_measured(problem)


def is_measured(problem: Searchable) -> bool:
    """Return whether designs are measured, so that bounds do not exist."""
    return getattr(problem, "measured", None) is not None


def check_enumerable(problem: Searchable, *, budget: int | None, limit: int) -> None:
    """Raise `TooLargeError` for a space above `limit` or a given `budget`, as a product."""
    left, bound = left_of(problem), limit if budget is None else min(budget, limit)
    if left <= bound:
        return
    fewer = _fewer(problem, bound * problem.size // left)
    if bound == budget:
        said = f"its budget is {bound:,}; raise the budget to {left:,}, {fewer}"
    else:
        said = f"the most it takes on is {bound:,}; {fewer}, raise the effort"
    allowed = f", of which rules on axes leave {left:,}" if left < problem.size else ""
    raise TooLargeError(
        f"exact search would evaluate {designs_text(problem.sizes)}{allowed}; {said}, "
        f"or search with another method, for instance nsga2"
    )


def _fewer(problem: Searchable, most: int) -> str:
    """Return the remedy for a large space: the number of values of its longest axis, if enough."""
    space = getattr(problem, "space", None)
    if space is None or not space.axes:
        return "give axes fewer values"
    largest = max(space.axes, key=lambda axis: axis.size)
    enough = most * largest.size // problem.size
    if enough < 1:
        return f"give axes fewer values: {largest.name} has most, {largest.size}"
    return f"give {largest.name} at most {enough} values of its {largest.size}"


def enumerate_all(archive: Archive, *, chunk: int = CHUNK) -> None:
    """Evaluate every design once, in constant memory."""
    np.empty(KEPT_BYTE, dtype=np.uint8)  # given back at once
    for block in blocks(archive.problem.sizes, fitting(chunk, BOUND_BYTE)):
        spend(len(block) + CALL)
        archive.evaluate_new(block)


def enumerated(problem: Searchable, progress: Progress | None, reason: str) -> Outcome:
    """Return the front of a space of which every design is evaluated."""
    archive = Archive(problem, total=left_of(problem), progress=progress)
    way, before = "enumerated", beforehand(problem)
    try:
        if before is not None and before.pool is not None:  # the only designs
            # of none, one is measured for its violations
            pool = before.pool if len(before.pool) else np.zeros((1, len(problem.sizes)), np.int64)
            for first in range(0, len(pool), MEASURED_TOGETHER):
                archive.evaluate_new(pool[first : first + MEASURED_TOGETHER])
        else:
            enumerate_all(archive, chunk=MEASURED_TOGETHER if is_measured(problem) else CHUNK)
    except (EffortError, BudgetError) as error:
        way, reason = _unfinished(error, archive.evaluated + archive.excluded, archive)
    else:
        reason = archive.ledger.measured if is_measured(problem) else reason
    return archive.outcome(Certificate(way=way, reason=reason))


def _unfinished(error: DseError, settled: int, archive: Archive) -> tuple[str, str]:
    """Return the way of an unfinished proof, and its cause with the settled share."""
    share = min(settled / archive.problem.size, MOST_SHARE)
    reason = f"{error}; {share:.3g} of the designs are settled"
    if isinstance(error, StopError):
        return error.way, reason
    return UNFINISHED, reason if isinstance(error, BudgetError) else f"{reason}; {_REMEDY}"


def _composed(
    problem: Searchable, progress: Progress | None, reason: str, most: float | None = None
) -> Outcome:
    """Compose with limited work before enumeration, or with any work if `most` is None."""
    from dse.search.exact.compose import Composer  # loads slowly

    archive, way = Archive(problem, total=problem.size), "composed"
    composer = Composer(cast(Problem, problem), archive, progress)
    different: float = math.inf
    try:
        composer.run(math.inf if most is None else most)
    except (EffortError, NotComposedError) as error:
        if isinstance(error, NotComposedError) and most is not None:
            raise
        way, reason = _unfinished(error, composer.settled, archive)
        composer.incumbents.settle()
        different = problem.size - 1 - archive.evaluated  # evaluated ones may be pruned ones
    return archive.outcome(composer.log.certificate(way, reason, different))

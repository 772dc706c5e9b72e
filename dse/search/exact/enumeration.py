"""The exact front by going through all designs: evaluated, or pruned cell by cell by bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dse.errors import BudgetError, DseError, TooLargeError
from dse.model.cells import CellBounds, Cells, cells_of
from dse.model.space import Block, Boxes, Index, as_index, blocks, designs_text
from dse.search.archive import Archive, Progress, Searchable
from dse.search.exact.work import BOUND_BYTE, CALL, ROW, EffortError, StopError, fitting, spend
from dse.search.outcome import UNFINISHED, Certificate, Outcome
from dse.search.settings import beforehand, left_of

Flags = NDArray[np.bool_]

_REMEDY = (
    "raise search.effort and search.memory, give axes fewer values, add constraints, or search "
    "with another method, for instance nsga2"
)

MOST_SHARE = 0.999
"""The largest share of designs that an unfinished proof says are settled: 1 would claim too much.
"""

MEASURED_TOGETHER = 16
"""Designs that are measured before the next ones are requested, where all of them are."""

CHUNK = 65_536
"""Designs evaluated at once: what bounds the memory."""

KEPT_BYTE = 31 * 2**20
"""Once so much was allocated and freed, glibc hands smaller arrays out of memory that it keeps
(mallopt(3), M_MMAP_THRESHOLD).  The system otherwise clears pages again for the results of every
chunk, which takes a fifth of an enumeration."""

WHOLE = 100_000
"""Spaces up to this size are evaluated whole."""

CELLS = (8, 64, 512, 4096)
FEWEST_ENUMERATED = 4_000
"""Designs per cell of each level; a level has at least so many cells."""

HALF, SMALL = 0.9, 32
"""Bounds of a cell cost as much as some designs: where they leave more than `HALF` of the cells
open, cells of less than `SMALL` designs are not tried."""

SEEDS = 4_096
"""Random designs whose front is the first to rule out cells."""

CLOSED = 20
"""Designs that are ruled out take, to be drawn from, as much as one that is evaluated."""


def check_provable(problem: Searchable, method: str, *, budget: int | None, limit: int) -> None:
    """Raise `TooLargeError` when a method cannot prove the front; evaluates nothing."""
    if method == "enumerate" or problem.continuous or not composable(problem):
        check_enumerable(problem, budget=budget, limit=limit)


def composable(problem: Searchable) -> bool:
    """Tell whether a problem is made of stages and scenarios, and may be composed."""
    return bool(getattr(problem, "stages", ())) and not is_measured(problem)


def is_measured(problem: Searchable) -> bool:
    """Tell whether designs are measured: no bounds say anything of those that are not."""
    return getattr(problem, "measured", None) is not None


def check_enumerable(problem: Searchable, *, budget: int | None, limit: int) -> None:
    """Refuse a continuous axis, and a space larger than `limit`, or than `budget` where set.

    Raises
    ------
    TooLargeError
        The message prints the size as a product.
    """
    if problem.continuous:
        names = " and ".join(problem.continuous)
        raise TooLargeError(
            f"exact search cannot try every value of {names}, which is continuous; "
            f"give `points` in place of `continuous`, for instance points: 101, "
            f"or search with another method, for instance nsga2"
        )
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
    """Return which axis to give fewer values, and how many would do, where one alone suffices."""
    space = getattr(problem, "space", None)
    if space is None or not space.axes:
        return "give axes fewer values"
    largest = max(space.axes, key=lambda axis: axis.size)
    enough = most * largest.size // problem.size
    if enough < 1:
        return f"give axes fewer values: {largest.name} has most, {largest.size}"
    return f"give {largest.name} at most {enough} values of its {largest.size}"


def enumerate_all(
    archive: Archive, *, chunk: int = CHUNK, whole: int = WHOLE, rivals: Index | None = None
) -> None:
    """Evaluate or prune every design once, in constant memory.

    Spaces of up to `whole` designs, and problems without bounds, are evaluated in blocks.  Bounds
    are compared with `rivals` (n, d) from the beginning, and with random designs.
    """
    problem, chunk = archive.problem, fitting(chunk, BOUND_BYTE)
    archive.forget(every=True)
    levels = _levels(problem) if problem.size > whole else []
    np.empty(KEPT_BYTE, dtype=np.uint8)  # given back at once
    if len(levels) > 1:
        _evaluate_rivals(archive, rivals)
        for block in blocks(levels[0].sizes, chunk // 4):
            _visit(archive, levels, block, chunk)
        if archive.feasible:
            return
        archive.forget(every=True)  # what conflicts is known only where every design was evaluated
    for block in blocks(problem.sizes, chunk):
        _evaluate_part(archive, block)


def enumerated(
    problem: Searchable, progress: Progress | None, reason: str, rivals: Index | None = None
) -> Outcome:
    """Return the front of a space of which every design is evaluated or pruned.

    `rivals` are good designs (n, d) that are known already.
    """
    archive = Archive(problem, total=left_of(problem), progress=progress)
    way, before = "enumerated", beforehand(problem)
    try:
        if before is not None and before.pool is not None:
            _evaluate_pool(archive, before.pool)
        elif is_measured(problem):
            enumerate_all(archive, chunk=MEASURED_TOGETHER, whole=problem.size)
        else:
            enumerate_all(archive, rivals=rivals)
    except (EffortError, BudgetError) as error:
        way, reason = unfinished_at(error, archive.evaluated + archive.pruned, archive)
    else:
        reason = archive.ledger.measured if is_measured(problem) else reason
    return archive.outcome(Certificate(way=way, reason=reason, dominated=archive.closed[True]))


def unfinished_at(error: DseError, settled: int, archive: Archive) -> tuple[str, str]:
    """Return the way of a proof that ended before it was done, why it did, and how far it was."""
    share = min(settled / archive.problem.size, MOST_SHARE)
    reason = f"{error}; {share:.3g} of the designs are settled"
    if isinstance(error, StopError):
        return error.way, reason
    if isinstance(error, BudgetError):
        return UNFINISHED, reason
    return UNFINISHED, f"{reason}; {_REMEDY}"


def _evaluate_pool(archive: Archive, pool: Index) -> None:
    """Measure designs (n, d) that are all there are; of none, one tells what is missed."""
    archive.forget(every=True)
    pool = pool if len(pool) else np.zeros((1, len(archive.problem.sizes)), dtype=np.int64)
    for first in range(0, len(pool), MEASURED_TOGETHER):
        archive.evaluate_new(pool[first : first + MEASURED_TOGETHER])


def _levels(problem: Searchable) -> list[Cells]:
    """Return levels of cells, from the coarsest to single designs; none without a model.

    Again and again the axis whose values differ least gets cells of twice the width.
    """
    steps = [1] * len(problem.sizes)
    single = cells_of(problem, steps)
    if single is None:
        return []
    levels = [single]
    wanted = [size for size in CELLS if size * FEWEST_ENUMERATED <= problem.size]
    while wanted:
        wider = [axis for axis, size in enumerate(problem.sizes) if 2 * steps[axis] <= size]
        spread = {axis: single.spread(axis, 2 * steps[axis]) for axis in wider}
        best = min(wider, key=spread.__getitem__, default=None)
        if best is None or spread[best] >= 1:
            break
        steps[best] *= 2
        if math.prod(steps) >= wanted[0]:
            levels.append(Cells(single.problem, tuple(steps)))
            wanted.pop(0)
    return levels[::-1]


def _evaluate_rivals(archive: Archive, rivals: Index | None) -> None:
    """Evaluate random designs, and those that are known to be good."""
    sizes = archive.problem.sizes
    drawn = np.random.default_rng(0).integers(0, sizes, size=(SEEDS, len(sizes)))
    archive.evaluate_rivals(drawn if rivals is None else np.concatenate([drawn, rivals]))


def _visit(archive: Archive, levels: list[Cells], points: Block | Boxes, chunk: int) -> None:
    """Bound cells of the first of `levels`; those that stay open go one level down."""
    level, *finer = levels
    if not finer:
        _evaluate_part(archive, points)
        return
    spend(ROW * len(points) + CALL)
    infeasible, dominated = _closed(archive, level.bounds(points))
    for closed, meets in ((infeasible, False), (dominated, True)):
        cells = as_index(points, np.flatnonzero(closed))
        for part in _parts(archive.problem.sizes, level.steps, cells, chunk):
            spend(len(part) // CLOSED)
            archive.close(part, feasible=meets)
    open_cells = np.flatnonzero(~infeasible & ~dominated)
    if _are_enough(len(open_cells), len(infeasible), finer[0]):
        finer = finer[-1:]
    ratio = [a // b for a, b in zip(level.steps, finer[0].steps, strict=True)]
    for part in _parts(finer[0].sizes, ratio, as_index(points, open_cells), chunk):
        _visit(archive, finer, part, chunk)


def _are_enough(left: int, cells: int, finer: Cells) -> bool:
    """Tell whether the designs of cells, of which so many are open, are evaluated at once."""
    return left > HALF * cells and math.prod(finer.steps) < SMALL


def _closed(archive: Archive, bounds: CellBounds) -> tuple[Flags, Flags]:
    """Return which cells hold no feasible design, and which only feasible, dominated ones.

    Only where no design can have a violation that is NaN or, if feasible, an infinite loss:
    such models are refused, which must not depend on whether designs are evaluated.
    """
    low, high = bounds.violation_low, bounds.violation_high
    known: Flags = ~np.asarray((np.isnan(low) | np.isnan(high)).any(axis=1))
    infeasible: Flags = known & np.asarray((low > 0).any(axis=1))
    finite = np.isfinite(bounds.loss_low) & np.isfinite(bounds.loss_high)
    feasible = np.flatnonzero(known & (high <= 0).all(axis=1) & finite.all(axis=1))
    dominated: Flags = np.zeros(len(infeasible), dtype=bool)
    dominated[feasible] = archive.dominated(bounds.loss_low[feasible])
    return infeasible, dominated


def _parts(sizes: Sequence[int], steps: Sequence[int], cells: Index, chunk: int) -> Iterator[Boxes]:
    """Yield the designs of cells as boxes; those cut by the end of an axis are smaller."""
    corners = cells * np.array(steps, dtype=np.int64)
    cut = corners + steps > sizes
    kinds = cut @ (1 << np.arange(len(steps)))
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        left = np.minimum(steps, sizes - corners[rows[0]]).tolist()
        most = max(1, chunk // math.prod(left))
        for first in range(0, len(rows), most):
            yield Boxes(tuple(left), corners[rows[first : first + most]])


def _evaluate_part(archive: Archive, points: Block | Boxes) -> None:
    spend(len(points) + CALL)
    archive.evaluate_new(points)

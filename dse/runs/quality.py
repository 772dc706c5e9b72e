"""How good a front is: its hypervolume, and its share of the exact one's, known or at least."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from dse import search
from dse.contract import Column
from dse.errors import TooLargeError
from dse.model.cells import Cells, cells_of
from dse.model.front import nondominated_by
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.volume import Volume, hypervolume, reference_point
from dse.runs.limits import ENUMERABLE, OPEN_CELLS
from dse.runs.solved import Quality
from dse.search.archive import Matrix, Searchable
from dse.search.heuristic.start import product


def measure_front(problem: Problem, loss: Matrix, *, exact: bool, compare: bool = True) -> Quality:
    """Return how good a front of losses (n, m) is; `exact` says that it is the exact one.

    Otherwise it is held against the exact one of a small space, where `compare` says so.
    """
    if not len(loss):
        return Quality()
    partly = problem.measured is not None or bool(problem.not_measured or problem.lost)
    compare = compare and not partly  # only what was measured is known
    front = loss if exact else _exact_front(problem) if compare else None
    best = front if front is not None else loss
    reference, ideal = reference_point(best), best.min(axis=0)
    reached = tuple(reference.tolist())
    volume = hypervolume(loss, reference, ideal=ideal)
    if front is None and partly:
        return Quality(reached, volume)
    if front is None:
        least = share_at_least(problem, loss, reference, floor_of(problem))
        return Quality(reached, volume, at_least=least)
    share = volume.share_of(hypervolume(front, reference, ideal=ideal))
    return Quality(reached, volume, share, at_least=share)


def _exact_front(problem: Problem) -> Matrix | None:
    """Return the losses of the exact front, None when it takes too much to prove."""
    if problem.continuous or problem.size > ENUMERABLE:
        return None
    with suppress(TooLargeError):
        return search.run_search(problem, search.SearchSettings(), None).front_loss
    return None


def share_at_least(
    problem: Searchable, loss: Matrix, reference: Matrix, floor: Matrix
) -> Volume | None:
    """Return a share of the exact front's hypervolume that a front surely has.

    The space is divided into cells, again and again.  No design of a cell is better, in any
    objective, than the bounds of the cell, so that the hypervolume of the front and of all these
    bounds together is at least that of the exact front.  Cells drop out that hold no feasible
    design, nothing better than the reference, or only what the front dominates.

    Parameters
    ----------
    problem
        What was searched.
    loss
        The front found, (n, m), n >= 1.
    reference
        The point up to which volume counts, (m,).
    floor
        Losses that no design goes below, (m,); -inf where nothing is known.

    Returns
    -------
    share
        None where nothing is proven: a function of the study cannot be bounded.
    """
    single = cells_of(problem, [1] * len(problem.sizes))
    if single is None:
        return None
    least = _least(single, loss, reference, floor)
    if least is None:
        return None
    every = np.concatenate([loss, least])
    ideal = every.min(axis=0)
    whole = hypervolume(every, reference, ideal=ideal)
    return hypervolume(loss, reference, ideal=ideal).share_of(whole)


def _least(single: Cells, loss: Matrix, reference: Matrix, floor: Matrix) -> Matrix | None:
    """Return the least losses of the cells that stay open; None where one is unknown."""
    problem = single.problem
    axes = list(zip(problem.sizes, problem.ordered, strict=True))
    steps = [1 << (size - 1).bit_length() if ordered else 1 for size, ordered in axes]
    choices = [1 if ordered else size for size, ordered in axes]
    if math.prod(choices) > OPEN_CELLS:
        return None
    cells = product(np.array(choices, dtype=np.int64))
    found: list[Matrix] = []
    while True:
        bounds = Cells(problem, tuple(steps)).bounds(cells)
        least = np.fmax(bounds.loss_low, floor)
        useless = (bounds.violation_low > 0).any(axis=1) | (least >= reference).any(axis=1)
        kept = np.setdiff1d(nondominated_by(least, loss), np.flatnonzero(useless))
        cells, least = cells[kept], least[kept]
        wide = [axis for axis, step in enumerate(steps) if step > 1]
        if not wide or 2 * len(cells) > OPEN_CELLS:
            known = np.isfinite(least).all(axis=1)
            found.append(least[known])
            cells = cells[~known]  # these alone go on
            if not len(cells):
                return np.concatenate(found)
            if not wide or 2 * len(cells) > OPEN_CELLS:
                return None
        widest = max(wide, key=lambda axis: single.spread(axis, steps[axis]))
        steps[widest] //= 2
        cells = _halved(cells, widest, -(-problem.sizes[widest] // steps[widest]))


def _halved(cells: Index, axis: int, count: int) -> Index:
    """Return the two halves of each cell along an axis that has `count` cells now."""
    halves = np.repeat(cells, 2, axis=0)
    halves[:, axis] = 2 * halves[:, axis] + np.tile([0, 1], len(cells))
    return halves[halves[:, axis] < count]


def floor_of(problem: Problem) -> Column:
    """Return losses (m,) that no design goes below: 0 for what is minimised and never negative."""
    signed = {quantity.name for quantity in problem.quantities if quantity.signed}
    free = [goal.maximise or goal.name in signed for goal in problem.goals]
    return np.where(free, -np.inf, 0.0)

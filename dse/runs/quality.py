"""How good a front is: its hypervolume, and its share of the exact one's."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from dse import search
from dse.errors import TooLargeError
from dse.model.problem import Problem
from dse.model.volume import NOTHING, Volume, hypervolume, reference_point
from dse.search.archive import Matrix

ENUMERABLE = 10_000_000
"""A heuristic's front is held against the exact one on spaces up to this size."""


@dataclass(frozen=True)
class Quality:
    """How good a front is.

    Attributes
    ----------
    reference, hypervolume
        The reference point in the units of the losses, and the volume up to it as a share of
        the box between the front's best values and the reference.
    share
        The hypervolume as a share of the exact front's, None when that is not known.
    at_least
        A share that it surely has: `share` where that is known; None when nothing is proven.
    """

    reference: tuple[float, ...] = ()
    hypervolume: Volume = NOTHING
    share: Volume | None = None
    at_least: Volume | None = None


def measure_front(problem: Problem, loss: Matrix, *, exact: bool, compare: bool = True) -> Quality:
    """Return how good a front of losses (n, m) is; `exact` says that it is the exact one.

    Otherwise it is held against the exact one of a small space, where `compare` says so.
    """
    if not len(loss):
        return Quality()
    partly = problem.measured is not None or problem.whole_size > problem.size
    compare = compare and not partly  # only what was measured is known
    front = loss if exact else _exact_front(problem) if compare else None
    best = front if front is not None else loss
    reference, ideal = reference_point(best), best.min(axis=0)
    reached = tuple(reference.tolist())
    volume = hypervolume(loss, reference, ideal=ideal)
    if front is None and partly:
        return Quality(reached, volume)
    if front is None:
        from dse.search.completeness import share_at_least

        least = share_at_least(problem, loss, reference, problem.floor)
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

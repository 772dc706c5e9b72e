"""Chains of shortlisted fleets: those that no other chain is as good as.

Shortlists are joined stage after stage, and partial chains that others can replace are dropped
after each.  Nothing here knows what the measures are: each is to be low, and the values of two
parts are added, or the worse or the better one counts (`dse.search.exact.measures`).

The *level* of a chain is one measure in which its worst stage counts (what it carries, for
instance).  A partial chain is of use from its own level up to that of the next one that is as
good in all other measures.  Two parts are joined only if both are of use at the worse of
their levels; from the chains, those that others are as good as are dropped after each join.

*No loss vector is lost.*  Let chain D have parts p and f, at level q, the worse of theirs.
Another p' of the list is as good as p in all measures; if p' is of no use at q, another p''
is at least as good in all but the level, which is no worse than q.  Either way D with p
replaced has a level of at most q and, as sums, worse and better ones of two values rise with
both values, is as good as D in every measure.  The same holds for f, and a part that sets
q is of use there.  So some joined pair is as good as D; what is dropped from the pairs
is not better than what is kept; and by induction over the stages some chain of the
result is as good as any chain.  A design's losses and what it violates rise with the
measures, so its losses are no worse either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import distinct_rows
from dse.model.front import nondominated
from dse.search.exact.measures import Matrix, Measure, joined
from dse.search.exact.work import CALL, SORT, SORTED, NotComposedError, fitting, spend

CHUNK, BYTE = 200_000, 1_000
"""Pairs that are put together at once, and what each takes."""

MOST_PAIRS = 10_000_000
"""Pairs that are examined in one join."""

MOST_CHAINS = 100_000
"""Partial chains that may be left of a join."""

MOST_VALUES = 40_000_000_000
"""Values of partial chains that are compared with each other's to find what is left of a join."""

FEW = 16
"""Partial chains that are compared with one in the time in which a design is evaluated."""

BLOCK = 64
"""Partial chains that are compared at once with those before them."""

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows of the left and of the right part."""


@dataclass(frozen=True)
class PartialChains:
    """Partial chains that none can replace, by rising level.

    Attributes
    ----------
    picks
        Which fleet of each of its stages, (n, stages).
    measures
        What they offer, (n, measures).
    column
        Which measure is their level; None where they have none.
    """

    picks: NDArray[np.intp]
    measures: Matrix
    column: int | None

    def __len__(self) -> int:
        """Return the number of partial chains."""
        return len(self.picks)

    @property
    def level(self) -> Matrix:
        """From which level on each is of use, (n,)."""
        return np.zeros(len(self)) if self.column is None else self.measures[:, self.column]

    @cached_property
    def until(self) -> Matrix:
        """From which level on another one is as good as each in all else, (n,)."""
        until = np.full(len(self), np.inf)
        if self.column is None:
            return until
        rest = np.delete(self.measures, self.column, axis=1)
        best = np.empty(0, dtype=np.intp)
        for first in range(0, len(self), BLOCK):
            some = np.arange(first, min(first + BLOCK, len(self)))
            spend(len(best) * len(some) // FEW)
            best = np.concatenate([best, some])
            ended = best[:, np.newaxis] < some
            for column in rest.T:
                ended &= column[best, np.newaxis] >= column[some]
            over = ended.any(axis=1)
            until[best[over]] = self.level[some[ended[over].argmax(axis=1)]]
            best = best[~over]
        return until


def chains(
    wanted: tuple[Measure, ...],
    fleets: Sequence[Matrix],
    hopeful: Callable[[Sequence[int], NDArray[np.intp]], NDArray[np.bool_]],
) -> NDArray[np.intp]:
    """Return chains of fleets of which one is as good as any: which of each stage, (n, stages).

    The measures of fleets are given stage by stage.  Partial chains of some stages are omitted that
    are not `hopeful`, by which fleets they pick.

    Raises
    ------
    NotComposedError
        They are too many.
    """
    order = tuple(sorted(range(len(fleets)), key=lambda stage: len(fleets[stage])))
    level = _level(wanted, fleets)
    best = {k: np.flatnonzero(nondominated(fleets[k])) for k in order}
    lists = [_part(best[k][:, np.newaxis], fleets[k][best[k]], level) for k in order]
    joined_ = lists[0]
    for place, part in enumerate(lists[1:], start=2):
        joined_ = _front(wanted, joined_, part, level, partial(hopeful, order[:place]))
    picks = np.empty_like(joined_.picks)
    picks[:, order] = joined_.picks
    return picks


def _level(wanted: tuple[Measure, ...], fleets: Sequence[Matrix]) -> int | None:
    """Return the measure with the most values of those in which the worst stage counts."""
    found = [column for column, one in enumerate(wanted) if one.join == "worst"]
    values = {column: sum(len(np.unique(some[:, column])) for some in fleets) for column in found}
    return max(found, key=values.__getitem__, default=None)


def _front(
    wanted: tuple[Measure, ...],
    left: PartialChains,
    right: PartialChains,
    level: int | None,
    hopeful: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
) -> PartialChains:
    """Return the chains of two parts that none can replace."""
    picks = np.empty((0, left.picks.shape[1] + 1), dtype=np.intp)
    kept = np.empty((0, left.measures.shape[1]))
    for (first, second), values in _joined(wanted, left, right):
        both = np.concatenate([left.picks[first], right.picks[second]], axis=1)
        open_ = hopeful(both)
        picks, kept = np.concatenate([picks, both[open_]]), np.concatenate([kept, values[open_]])
        spend(SORT * len(kept))
        best = nondominated(kept)
        spend(len(kept) * int(best.sum()) // SORTED)
        picks, kept = picks[best], kept[best]
        if len(kept) > MOST_CHAINS or len(kept) * kept.size > MOST_VALUES:
            raise NotComposedError("chains of fleets that none can replace are too many")
    return _part(picks, kept, level)


def _part(picks: NDArray[np.intp], values: Matrix, level: int | None) -> PartialChains:
    """Return partial chains, of which none is better than another; equal ones count once."""
    if level is None:
        rows = distinct_rows(values)
        return PartialChains(picks[rows], values[rows], None)
    rows = np.lexsort((*np.delete(values, level, axis=1).T, values[:, level]))
    again = np.zeros(len(rows), dtype=bool)
    again[1:] = (values[rows[1:]] == values[rows[:-1]]).all(axis=1)
    rows = rows[~again]
    return PartialChains(picks[rows], values[rows], level)


def _joined(
    wanted: tuple[Measure, ...], left: PartialChains, right: PartialChains
) -> Iterator[tuple[Pairs, Matrix]]:
    """Yield the pairs that are both of use at the worse of their levels, some at a time."""
    starts = np.concatenate(
        [
            np.searchsorted(left.level, right.level, side="left"),
            np.searchsorted(right.level, left.level, side="right"),
        ]
    )
    ends = np.concatenate(
        [
            np.searchsorted(left.level, right.until, side="left"),
            np.searchsorted(right.level, left.until, side="left"),
        ]
    )
    last = np.cumsum(np.maximum(ends - starts, 0))
    total = int(last[-1]) if len(last) else 0
    if total > MOST_PAIRS:
        raise NotComposedError(f"chains of {total:,} pairs are too many")
    some = fitting(CHUNK, BYTE)
    for begin in range(0, total, some):
        number = np.arange(begin, min(begin + some, total))
        spend(len(number) + CALL)
        group = np.searchsorted(last, number, side="right")
        found = ends[group] - (last[group] - number)
        turned = group >= len(right)  # by a row of the left part, which looks for right ones
        first = np.where(turned, group - len(right), found)
        second = np.where(turned, found, group)
        yield (first, second), joined(wanted, left.measures[first], right.measures[second])

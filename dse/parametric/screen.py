"""Which designs may be the answer somewhere between two values, for several assumptions at once.

A space is gone through in cells, from the widest down to single designs: what no design of a cell
can be, by its bounds at both values, is not divided any further.  The cells of all assumptions are
bounded together.  Spaces made of stages that are large are composed instead, one assumption after
the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import TOLERANCE
from dse.model.cells import Cells
from dse.model.evaluation import distinct
from dse.model.front import dominated_by_point
from dse.model.problem import Problem
from dse.model.space import Index, Space, as_index, blocks, coarsened
from dse.parametric.perturbed import (
    TOGETHER,
    PerturbedDesigns,
    PerturbedPart,
    compare_together,
    same_space,
    widest,
)
from dse.search.exact.enumeration import CHUNK, composable
from dse.search.exact.interval import may_beat
from dse.search.exact.prove import ENOUGH
from dse.search.exact.work import CALL, LOOK, ROW, limited, spend
from dse.study.assumptions import Assumption

FEW = 20_000
"""With more designs that may win an interval is divided before they are compared."""

LISTED = 2_000_000
"""Spaces up to this size are gone through design by design where no fleet is mixed."""

GROWTH = 16
"""A cell is divided into about so many."""

SHORT = 0.2
"""Natural logarithm of the longest ratio over which losses are taken for smooth."""

EQUAL = 2 * TOLERANCE
"""Losses closer than this, relatively, are a tie: equal ones may be rounded to neighbours."""

CAUTION = 4.0
"""How many times the bend seen in the middle a gap has to exceed to stay open."""

Losses = NDArray[np.float64]


def may_replace(
    losses: Losses, violations: Losses, ours: Losses, column: int | None, distance: float
) -> NDArray[np.bool_]:
    """Return which designs may replace others between two values.

    Parameters
    ----------
    losses, violations
        Those of the designs (3, n, m), (3, n, k): at the two values and, last, in the middle.
    ours
        Losses (3, h, m) of the incumbents.
    column, distance
        The one loss that decides, None when a design must be dominated to be ruled out, and
        the natural logarithm of the ratio of the two values.
    """
    possible = may_win(losses, violations, ours.max(axis=0), column)
    if distance <= SHORT:
        possible &= ~_stay_behind(losses, ours, column, distance**2)
    return possible


def may_win(
    losses: Losses, violations: Losses, worst: Losses, column: int | None
) -> NDArray[np.bool_]:
    """Return which designs may replace those whose losses between some values are at most `worst`.

    By what they do at these values: losses (v, n, m) and violations (v, n, k), `worst` (h, m).
    """
    lowest, possible = np.fmin.reduce(losses), (violations.min(axis=0) <= 0).all(axis=1)
    if column is not None:
        return np.asarray(possible & may_beat_each(lowest, worst[0], column))
    for row in worst:
        possible &= ~dominated_by_point(lowest, row)
    return np.asarray(possible)


def may_beat_each(lowest: Losses, worst: Losses, column: int) -> NDArray[np.bool_]:
    """Return which designs may beat a design, or one each: losses (n, m) against (m,) or (n, m).

    They are no worse in the loss that decides, and better in one, by more than a tie.
    """
    slack = _slack(worst)
    decides = lowest[:, column] <= (worst + slack)[..., column]
    return np.asarray(decides & (lowest < worst - slack).any(axis=-1))


def beats(keys: Losses, own: Losses) -> NDArray[np.bool_]:
    """Return which designs (..., n, k) beat one (..., 1, k) in the first key that is no tie.

    Keys are in the order in which they decide; less is better.
    """
    slack = _slack(own)
    better, worse = keys < own - slack, keys > own + slack
    first = (better | worse).argmax(axis=-1)
    return np.asarray(np.take_along_axis(better, first[..., np.newaxis], axis=-1)[..., 0])


def _slack(losses: Losses) -> Losses:
    """Return how far others may be from losses in a tie with them."""
    return np.where(np.isfinite(losses), EQUAL * np.abs(losses), 0.0)


def _stay_behind(
    losses: Losses, ours: Losses, column: int | None, share: float
) -> NDArray[np.bool_]:
    """Return which losses (3, n, m) stay worse than those of an incumbent, (3, h, m)."""
    behind = np.zeros(losses.shape[1], dtype=bool)
    for incumbent in range(ours.shape[1]):
        own = ours[:, incumbent, :]
        margin = share * np.abs(own).max(axis=0)
        smooth = _bend(own) <= margin
        with np.errstate(invalid="ignore"):
            gap = losses - own[:, np.newaxis, :]
            noise = EQUAL * np.abs(own).max(axis=0)
            worse = gap.min(axis=0) > CAUTION * _bend(gap) + noise
            worse &= smooth & (_bend(losses) <= margin)
            same = (np.abs(gap) <= noise).all(axis=0)
        behind |= (worse | same).all(axis=1)  # where all is the same, their order stays
        if column is not None:
            behind |= worse[:, column]
    return behind


def _bend(losses: Losses) -> Losses:
    """Return how far the middle lies from the straight line between the ends."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(losses[2] - (losses[0] + losses[1]) / 2))


@dataclass(frozen=True)
class Screen:
    """A question to a space.

    Attributes
    ----------
    entry
        What moves.
    low, high
        Between which values.
    worst
        Losses (h, m) that the answer has at most wherever it holds, and its successors beyond.
    touched
        An axis and one of its choices, if only designs with that can do better than today.
    most
        Work that it may take where a space is composed.
    """

    entry: Assumption
    low: float
    high: float
    worst: NDArray[np.float64]
    touched: tuple[int, int] | None
    most: int


def screened(problem: Problem, wanted: Sequence[Screen], column: int | None) -> list[Index | None]:
    """Return for each question the designs (n, d) that may win; None for too many.

    `column` is the one loss that decides, None where designs win that are not dominated.
    """
    found: list[Index | None] = [None] * len(wanted)
    hosts = _hosts_that_may_win(problem, wanted, column)
    together: dict[tuple[int, ...], tuple[Space, list[int]]] = {}
    for place, screen in enumerate(wanted):
        ends = same_space(*(screen.entry.at(value) for value in (screen.low, screen.high)))
        if any(map(composes, ends)):
            found[place] = _composed(screen, ends, column)
        elif column is None:
            found[place] = _listed(screen, ends, column)
        else:
            space = widest(problem, ends)
            together.setdefault(space.sizes, (space, []))[1].append(place)
    for _, (space, places) in sorted(together.items()):
        cells = _Descent(problem.renumbered(space=space), [wanted[k] for k in places], column or 0)
        for place, rows in zip(places, cells.found(), strict=True):
            found[place] = rows
    return [
        rows if rows is None or not len(alone) else distinct(np.vstack([rows, alone]))
        for rows, alone in zip(found, hosts, strict=True)
    ]


def _hosts_that_may_win(
    problem: Problem, wanted: Sequence[Screen], column: int | None
) -> list[Index]:
    """Return of the designs of the host alone, which no cell has, those that may win."""
    alone = problem.hosts
    if not len(alone):
        return [alone] * len(wanted)
    asks = [PerturbedPart(screen.entry, (screen.low, screen.high), alone) for screen in wanted]
    every = compare_together(problem, problem.space, asks)
    return [
        alone[may_win(seen.loss, seen.violation, screen.worst, column)]
        for screen, seen in zip(wanted, every, strict=True)
    ]


def composes(problem: Problem) -> bool:
    """Tell whether the rivals of a problem are composed rather than found among all designs."""
    mixed = any(stage.mixed for stage in problem.stages)
    return composable(problem) and problem.size > (ENOUGH if mixed else LISTED)


def _composed(screen: Screen, ends: Sequence[Problem], column: int | None) -> Index | None:
    one, other = ends
    with limited(designs=screen.most):
        rows = may_beat((one, other), screen.worst, column)
    spend(LOOK)  # that it says too little may be because the time for all is over
    return None if rows is None else _may_win(rows, ends, screen.worst, column)


def _listed(screen: Screen, ends: Sequence[Problem], column: int | None) -> Index | None:
    """Return which of all designs may win."""
    found = []
    for block in blocks(ends[0].sizes, CHUNK):
        spend(CALL + 2 * len(block))
        rows = _may_win(as_index(block), ends, screen.worst, column)
        if rows is None:
            return None
        found.append(rows)
    return np.concatenate(found) if sum(map(len, found)) <= FEW else None


def _may_win(
    rows: Index, ends: Sequence[Problem], worst: NDArray[np.float64], column: int | None
) -> Index | None:
    found = [end.evaluate(rows) for end in ends]
    losses = np.array([one.loss for one in found])
    violations = np.array([one.violation for one in found])
    rows = rows[may_win(losses, violations, worst, column)]
    return rows if len(rows) <= FEW else None


class _Descent:
    """Goes through the cells of a space for several questions."""

    def __init__(self, problem: Problem, wanted: Sequence[Screen], column: int) -> None:
        self._problem = problem
        self._wanted = wanted
        self._column = column
        goals = (problem.goals[column],)
        self._deciding = replace(problem, goals=goals)
        self._levels = _levels(problem)
        self._spaces = [coarsened(problem.space, steps) for steps in self._levels]
        self._worst = np.array([screen.worst[0] for screen in wanted])
        self._kept: list[tuple[NDArray[np.intp], Index]] = []
        self._counts = np.zeros(len(wanted), dtype=np.int64)

    def found(self) -> list[Index | None]:
        """Return the designs for each question."""
        pending = [(0, *self._first())]
        while pending:
            level, which, rows = pending.pop()
            if (self._counts > FEW).any():  # there are too many, so none is looked for any more
                open_ = self._counts[which] <= FEW
                which, rows = which[open_], rows[open_]
            if not len(rows):
                continue
            if len(rows) > TOGETHER:
                half = len(rows) // 2
                pending += [(level, which[half:], rows[half:]), (level, which[:half], rows[:half])]
                continue
            single = level == len(self._levels) - 1
            spend(CALL + len(rows) * (2 if single else ROW))
            kept = np.flatnonzero(self._may_win(level, which, rows))
            which, rows = which[kept], rows[kept]
            if single:
                self._kept.append((which, rows))
                self._counts += np.bincount(which, minlength=len(self._counts))
            else:
                pending.append((level + 1, *self._divided(level, which, rows)))
        none = np.empty(0, dtype=np.intp), np.empty((0, len(self._problem.sizes)), dtype=np.int64)
        which, rows = map(np.concatenate, zip(none, *self._kept, strict=True))
        few = self._counts <= FEW
        return [rows[which == number] if few[number] else None for number in range(len(few))]

    def _first(self) -> tuple[NDArray[np.intp], Index]:
        """Return the widest cells of each question."""
        sizes = self._spaces[0].sizes
        every = np.indices(sizes).reshape(len(sizes), -1).T
        rows = [
            every if one.touched is None else every[every[:, one.touched[0]] == one.touched[1]]
            for one in self._wanted
        ]
        which = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        return which, np.concatenate(rows)

    def _divided(
        self, level: int, which: NDArray[np.intp], cells: Index
    ) -> tuple[NDArray[np.intp], Index]:
        wide, narrow = self._levels[level], self._levels[level + 1]
        ratio = np.array(wide) // np.array(narrow)
        inside = np.indices(ratio).reshape(len(ratio), -1).T
        rows = (cells[:, np.newaxis] * ratio + inside).reshape(-1, len(ratio))
        which = np.repeat(which, len(inside))
        real = (rows < np.array(self._spaces[level + 1].sizes)).all(axis=1)
        return which[real], rows[real]

    def _may_win(self, level: int, which: NDArray[np.intp], rows: Index) -> NDArray[np.bool_]:
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(self._wanted) + 1))
        used = [
            (one, rows[order[start:end]])
            for one, start, end in zip(self._wanted, bounds[:-1], bounds[1:], strict=True)
            if end > start
        ]
        parts = [PerturbedPart(one.entry, (one.low,), some) for one, some in used]
        parts += [PerturbedPart(one.entry, (one.high,), some) for one, some in used]
        single = level == len(self._levels) - 1
        space = self._spaces[level]
        worst = self._worst[which[order]]
        if single:
            found = PerturbedDesigns(self._problem, space, parts).evaluate()
            loss, violation = found.loss, found.violation
        else:
            cells = PerturbedDesigns(self._deciding, space, parts).bounds(self._levels[level])
            loss, violation = cells.loss_low, cells.violation_low
            worst = worst[:, [self._column]]
        half = len(rows)
        lowest = np.fmin(loss[:half], loss[half:])
        violated = np.fmin(violation[:half], violation[half:])
        possible = ~(violated > 0).any(axis=1)
        if single:
            possible &= may_beat_each(lowest, worst, self._column)
        else:
            possible &= ~(lowest[:, 0] > worst[:, 0] + EQUAL * np.abs(worst[:, 0]))
        result = np.zeros(len(rows), dtype=bool)
        result[order] = possible
        return result


def _levels(problem: Problem) -> list[tuple[int, ...]]:
    """Return how many values of each axis a cell has, from the widest to single designs.

    Again and again the axis whose values differ least gets cells of twice the width.
    """
    steps = [1] * len(problem.sizes)
    single = Cells(problem, tuple(steps))
    levels = [single.steps]
    while True:
        wider = [
            axis
            for axis, size in enumerate(problem.sizes)
            if problem.ordered[axis] and steps[axis] < size
        ]
        if not wider:
            break
        steps[min(wider, key=lambda axis: single.spread(axis, 2 * steps[axis]))] *= 2
        if math.prod(steps) >= GROWTH * math.prod(levels[-1]):
            levels.append(tuple(steps))
    return levels[::-1]

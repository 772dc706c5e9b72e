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
from dse.parametric.question import EQUAL, Bool, Losses, may_replace
from dse.search.exact.enumeration import CHUNK, composable
from dse.search.exact.interval import may_beat
from dse.search.exact.prove import ENOUGH
from dse.search.exact.work import CALL, LOOK, ROW, limited, spend
from dse.study.assumptions import Assumption

FEW = 4_096
"""With more designs that may win a span is divided before they are compared."""

LISTED = 2_000_000
"""Spaces up to this size are gone through design by design where no fleet is mixed."""

EFFORT = 1_000_000
"""Work to go through a space of partial designs between two values."""

GROWTH = 16
"""A cell is divided into about so many."""


@dataclass(frozen=True)
class Span:
    """Two values of a number, between which designs are bounded.

    Attributes
    ----------
    entry
        What moves.
    low, high
        The two values, which may be one.
    worst
        Losses (h, m) that something feasible has at most between them; of no designs where
        nothing is known to be.
    touched
        An axis and one of its choices, if only designs with that can do better than today.
    """

    entry: Assumption
    low: float
    high: float
    worst: Losses
    touched: tuple[int, int] | None


def rivals_of(spans: Sequence[Span], column: int | None) -> list[Index | None]:
    """Return for each span the designs (n, d) that may win; None for too many.

    `column` is the one loss that decides, None where designs win that are not dominated.
    """
    problem = spans[0].entry.problem
    found: list[Index | None] = [None] * len(spans)
    together: dict[tuple[int, ...], tuple[Space, list[int]]] = {}
    for place, span in enumerate(spans):
        ends = same_space(*(span.entry.at(value) for value in (span.low, span.high)))
        if any(map(composes, ends)):
            found[place] = _composed(span, ends, column)
        elif column is None:
            found[place] = _listed(span, ends)
        else:
            space = widest(problem, ends)
            together.setdefault(space.sizes, (space, []))[1].append(place)
    for _, (space, places) in sorted(together.items()):
        cells = _Descent(problem.renumbered(space=space), [spans[k] for k in places], column or 0)
        for place, rows in zip(places, cells.found(), strict=True):
            found[place] = rows
    hosts = _hosts_that_may_win(spans, column)
    return [
        rows if rows is None or not len(alone) else distinct(np.vstack([rows, alone]))
        for rows, alone in zip(found, hosts, strict=True)
    ]


def _hosts_that_may_win(spans: Sequence[Span], column: int | None) -> list[Index]:
    """Return of the designs of the host alone, which no cell has, those that may win."""
    problem = spans[0].entry.problem
    alone = problem.hosts
    if not len(alone):
        return [alone] * len(spans)
    asks = [PerturbedPart(span.entry, (span.low, span.high), alone) for span in spans]
    every = compare_together(problem, problem.space, asks)
    return [
        alone[_may_win(seen.loss, seen.violation, span.worst, column)]
        for span, seen in zip(spans, every, strict=True)
    ]


def composes(problem: Problem) -> bool:
    """Tell whether the rivals of a problem are composed rather than found among all designs."""
    mixed = any(stage.mixed for stage in problem.stages)
    return composable(problem) and problem.size > (ENOUGH if mixed else LISTED)


def _composed(span: Span, ends: Sequence[Problem], column: int | None) -> Index | None:
    one, other = ends
    worst = span.worst if len(span.worst) else np.full((1, len(one.goals)), np.inf)
    with limited(designs=EFFORT):
        rows = may_beat((one, other), worst, column)
    spend(LOOK)  # that it says too little may be because the time for all is over
    return None if rows is None else _winning(rows, ends, span.worst, column)


def _listed(span: Span, ends: Sequence[Problem]) -> Index | None:
    """Return which of all designs may win."""
    found = []
    for block in blocks(ends[0].sizes, CHUNK):
        spend(CALL + 2 * len(block))
        rows = _winning(as_index(block), ends, span.worst, None)
        if rows is None:
            return None
        found.append(rows)
    return np.concatenate(found) if sum(map(len, found)) <= FEW else None


def _winning(
    rows: Index, ends: Sequence[Problem], worst: Losses, column: int | None
) -> Index | None:
    found = [end.evaluate(rows) for end in ends]
    losses = np.array([one.loss for one in found])
    violations = np.array([one.violation for one in found])
    rows = rows[_may_win(losses, violations, worst, column)]
    return rows if len(rows) <= FEW else None


def _may_win(losses: Losses, violations: Losses, worst: Losses, column: int | None) -> Bool:
    """Return which designs may replace those whose losses between some values are at most `worst`.

    By what they do at these values: losses (v, n, m) and violations (v, n, k), `worst` (h, m).
    """
    lowest, possible = np.fmin.reduce(losses), (violations.min(axis=0) <= 0).all(axis=1)
    if column is not None and len(worst):
        return np.asarray(possible & may_replace(lowest, worst[0], column))
    for row in worst:
        possible &= ~dominated_by_point(lowest, row)
    return np.asarray(possible)


class _Descent:
    """Goes through the cells of a space for several questions."""

    def __init__(self, problem: Problem, wanted: Sequence[Span], column: int) -> None:
        self._problem = problem
        self._wanted = wanted
        self._column = column
        goals = (problem.goals[column],)
        self._deciding = replace(problem, goals=goals)
        self._levels = _levels(problem)
        self._spaces = [coarsened(problem.space, steps) for steps in self._levels]
        anything = np.full((1, len(problem.goals)), np.inf)
        self._worst = np.array([(*span.worst, *anything)[0] for span in wanted])
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
            possible &= may_replace(lowest, worst, self._column)
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

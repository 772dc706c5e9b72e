"""A question to a study, and many designs at many values of its numbers, evaluated together.

A value of an assumption is a column with a row for each design, and a metric of a core is a matrix.
One evaluation serves many assumptions, and no problem is built anew.  A question picks the designs
that answer at a value.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra.compared_numbers import with_named_bounds
from dse.algebra.expression import TOLERANCE
from dse.algebra.thresholds import ConstraintThreshold
from dse.model.cells import CellBounds, Cells
from dse.model.evaluation import Evaluation, Goal
from dse.model.front import nondominated
from dse.model.host import hosts_among, with_hosts
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index, Space
from dse.search.exact.work import CALL, ROW, spend
from dse.study.assumptions import Assumption

_CLOSE = 1e-7
"""Relative width to which a breakpoint is found."""

_ZERO = 1e-12
"""Share of the range from which a number that is zero, or passes it, is moved."""

_TOGETHER = 8_192
"""Number of designs evaluated at once, whose columns fit into the cache."""

_BOUND = "assumed bound"
"""Beginning of the columns of bounds of constraints."""

_EQUAL = 2 * TOLERANCE
"""Relative difference of losses that tie, since equal ones may be rounded to neighbours."""

_SHORT, _CAUTION = 0.25, 4.0
"""Distance of values over which losses count as smooth, as the natural logarithm of a ratio.

And the multiple of the observed bend that a gap must exceed to stay open.
"""

Bool = NDArray[np.bool_]
Losses = NDArray[np.float64]


@dataclass(frozen=True)
class NumberScale:
    """The scale of a number: logarithmic, and linear within its `floor` around zero.

    The values may be whole numbers, or only those `among` some.
    """

    floor: float
    integer: bool = False
    among: tuple[float, ...] = ()

    def place(self, value: float) -> float:
        """Return the place of a value on the scale."""
        size, log_floor = abs(value), math.log(self.floor)
        near = size <= 1e9 * self.floor  # a larger ratio may overflow
        place = math.log1p(size / self.floor) if near else math.log(size) - log_floor
        return math.copysign(place, value)

    def values(self, start: float, end: float, count: int) -> list[float]:
        """Return `count` values from one end to the other, or all if these are fewer."""
        low, high = sorted((start, end))
        if self.integer and not self.among and high - low < count:
            inside = np.arange(low, high)
        elif self.among:
            inside = np.array(self.among)
        else:
            places = np.linspace(self.place(low), self.place(high), count)[1:-1]
            sizes = np.exp(np.abs(places) + math.log(self.floor)) - self.floor
            inside = np.sign(places) * sizes
            inside = np.round(inside) if self.integer else inside
        inside = inside[(inside > low) & (inside < high)]
        found: list[float] = np.unique([low, *inside, high]).tolist()
        return found if end >= start else found[::-1]

    def middle(self, one: float, other: float) -> float:
        """Return a value between two, or the first if there is none."""
        between = self.values(one, other, 3)[1:-1]
        return between[len(between) // 2] if between else one

    def is_close(self, one: float, other: float, width: float = _CLOSE) -> bool:
        """Whether two values are at most `width` apart, relatively, or none lies between."""
        near = abs(one - other) <= width * max(min(abs(one), abs(other)), self.floor)
        return near or len(self.values(one, other, 3)) < 3


def logarithmic_from(low: float, high: float) -> float:
    """Return the size from which a number between two values is on a logarithmic scale."""
    least = min(abs(low), abs(high))
    same = (low > 0) == (high > 0) and least > 0
    return (1e-3 * least if same else _ZERO * max(abs(low), abs(high))) or sys.float_info.min


def limits_of(entry: Assumption, factor: float, size: float = 0.0) -> tuple[float, float]:
    """Return the ends of the range of an assumption: its value over a factor, and times it.

    A number that may be negative moves by as much to both sides, also through zero.  `size` is the
    size of a quantity whose bound is zero, or the upper end of another number that is zero.
    """
    value, most, least = entry.value, sys.float_info.max, sys.float_info.min
    if value == 0.0 and entry.bound is None:
        return 0.0, size
    if value <= 0.0:
        step = (factor - 1.0) * (abs(value) or size or 1.0)
        return max(value - step, -most), min(value + step, most)
    low, high = max(value / factor, min(value, least)), min(value * factor, most)
    if entry.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    within = [known for known in entry.among if low <= known <= high]
    return (within[0], within[-1]) if within else (low, high)


def goal_of(problem: Problem, threshold: ConstraintThreshold) -> Goal | None:
    """Return the goal in place of a bound, or None unless it bounds one plain quantity."""
    name, tree = threshold.name, threshold.quantity.tree
    quantity = next((q for q in problem.quantities if q.name == name), None)
    plain = quantity is not None and not quantity.labels and not quantity.partial
    if not plain or not isinstance(tree, ast.Name) or threshold.up == threshold.down:
        return None
    return Goal(name, maximise=threshold.down)


@dataclass(frozen=True)
class PerturbedPart:
    """Designs or cells, (n, d), at each of the values (v,) of an assumption: value after value."""

    entry: Assumption
    values: Sequence[float]
    rows: Index

    def __len__(self) -> int:
        """Return how many designs or cells are evaluated."""
        return len(self.values) * len(self.rows)


class PerturbedDesigns:
    """The parts of one evaluation, put together: a problem, and the columns that it takes."""

    def __init__(self, problem: Problem, space: Space, parts: Sequence[PerturbedPart]) -> None:
        """Put parts together in the space of their rows, of designs or of cells."""
        self.rows = np.concatenate([np.tile(part.rows, (len(part.values), 1)) for part in parts])
        self._any = np.zeros_like(self.rows[:1])  # columns have the choices
        self._problem = problem
        self._space = space
        self._parts = parts
        self._found = space.columns(np.maximum(self.rows, 0))
        set_by_axes = {name for axis in space.axes for name in axis.columns}
        self.columns: dict[str, Any] = {
            name: self._found[name][:, np.newaxis] for name in set_by_axes
        }
        self._own: set[str] = set()
        self._metrics: dict[tuple[int, str], NDArray[np.float64]] = {}
        self._constraints = list(problem.constraints)
        end = 0
        for part in parts:
            start, end = end, end + len(part)
            self._move(part, slice(start, end))
        self.stages = self._stages()

    def evaluate(self) -> Evaluation:
        """Return losses and violations, part after part."""
        problem, columns = self._renumbered(), self.columns
        at_rows = {name: np.ravel(column) for name, column in self.columns.items()}
        if problem.measured is not None:
            known = problem.measured.columns(self._space, self.rows)
            columns = columns | {name: column[:, np.newaxis] for name, column in known.items()}
            measured = replace(problem.measured, at_rows=self.rows)
            problem = problem.renumbered(measured=measured)
        found = problem.evaluate(self._any, columns, draws=len(self.rows))
        return with_hosts(problem, found, self.rows, at_rows)

    def _renumbered(self) -> Problem:
        constraints = tuple(self._constraints)
        return self._problem.renumbered(stages=self.stages, constraints=constraints)

    def bounds(self, steps: Sequence[int]) -> CellBounds:
        """Return the bounds of cells, part after part."""
        cells = Cells(self._renumbered(), tuple(steps))
        return cells.bounds(self._any, self.columns, draws=len(self.rows))

    def least_counts(self) -> NDArray[np.float64]:
        """Return the instances of each stage with the least that carry the rate, (n, stages)."""
        given = {**self._problem.space.constants, **self.columns}
        counted = [
            np.broadcast_to(stage.fleet(given).counts[0], (len(self.rows), 1))
            for stage in self.stages
            if not stage.mixed and f"{stage.name}.instances" not in given
        ]
        alone = hosts_among(self.rows)
        table = np.hstack([np.empty((len(self.rows), 0)), *counted])
        return table if alone is None else np.where(alone[:, np.newaxis], 0.0, table)

    def _move(self, part: PerturbedPart, where: slice) -> None:
        entry = part.entry
        values = np.repeat(np.array(part.values, dtype=np.float64), len(part.rows))
        if entry.metric is not None:
            stage, row = entry.metric
            matrix = self._metric(stage, entry.quantity)[where]
            if self._problem.stages[stage].mixed:
                matrix[:, row] = values
            else:
                there = self._chosen(stage)[where] == row
                matrix[there, 0] = values[there]
        elif entry.bound is not None:
            place, order = entry.bound
            stem = f"{_BOUND} {place} "
            if f"{stem}{order}" not in self.columns:
                self._constraints[place], nominal = with_named_bounds(
                    self._constraints[place], stem
                )
                self.columns |= {name: np.full((1, 1), value) for name, value in nominal.items()}
            self._column(f"{stem}{order}", entry.value)[where, 0] = values
        elif entry.touched is not None:
            axis, row = entry.touched
            there = self.rows[where, axis] == row
            self._column(entry.quantity, entry.value)[where][there, 0] = values[there]
        else:
            self._column(entry.quantity, entry.value)[where, 0] = values
            for name, factor in entry.follows.items():
                self._column(name, factor * entry.value)[where, 0] = factor * values

    def _column(self, name: str, nominal: float) -> NDArray[np.float64]:
        """Return a column to write to, (n, 1)."""
        if name not in self._own:
            self._own.add(name)
            known = self.columns.get(name, np.full((1, 1), nominal))
            self.columns[name] = np.broadcast_to(known, (len(self.rows), 1)).copy()
        column: NDArray[np.float64] = self.columns[name]
        return column

    def _chosen(self, stage: int) -> NDArray[np.int64]:
        chosen = self._found[f"{self._problem.stages[stage].name}.design"].astype(np.int64)
        return np.broadcast_to(chosen, (len(self.rows),))

    def _metric(self, stage: int, name: str) -> NDArray[np.float64]:
        """Return a metric to write to: of each design of a mixed fleet, or of the chosen one."""
        if (stage, name) not in self._metrics:
            self._metrics[stage, name] = self._gathered(stage, name).copy()
        return self._metrics[stage, name]

    def _gathered(self, stage: int, name: str) -> NDArray[np.float64]:
        designs = self._problem.stages[stage].designs
        nominal = np.broadcast_to(getattr(designs.metrics, name), (len(designs.names),))
        if self._problem.stages[stage].mixed:
            return np.broadcast_to(nominal, (len(self.rows), len(nominal)))
        return nominal[self._chosen(stage)][:, np.newaxis]

    def _stages(self) -> tuple[Any, ...]:
        stages = list(self._problem.stages)
        for number in {stage for stage, _ in self._metrics}:
            stage = stages[number]
            own = {name: matrix for (of, name), matrix in self._metrics.items() if of == number}
            names = stage.designs.names
            if not stage.mixed:  # the chosen design becomes the only one
                fields = type(stage.designs.metrics).__dataclass_fields__
                own = {name: self._gathered(number, name) for name in fields} | own
                self.columns[f"{stage.name}.design"] = np.zeros(1)
                names = ("chosen",)
            metrics = replace(stage.designs.metrics, **own)
            designs = replace(stage.designs, names=names, metrics=metrics, uncertainty={})
            stages[number] = replace(stage, designs=designs)
        return tuple(stages)


@dataclass(frozen=True)
class Compared:
    """Designs (n, d) at v values: losses (v, n, m), violations (v, n, k), instances (v, n, s).

    `lacking`, (v, n), are not in the space at a value.  Their losses there are known as well, since
    they may be feasible between two values and at neither.
    """

    rows: Index
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    counts: NDArray[np.float64]
    lacking: NDArray[np.bool_]

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Return the designs in the space that meet every constraint, (v, n)."""
        return np.asarray((self.violation <= 0).all(axis=2) & ~self.lacking)


def compare_together(
    problem: Problem, space: Space, wanted: Sequence[PerturbedPart], steps: Sequence[int] = ()
) -> list[Compared]:
    """Return how designs do at values of several numbers, evaluated together.

    With `steps`, bounds of cells of so many values in a space of cells.
    """
    parts = [part for ask in wanted for part in _divided(ask)]
    tables = _evaluated(problem, space, parts, steps)
    found = []
    end = 0
    for ask in wanted:
        start, end = end, end + len(ask)
        shape = (len(ask.values), len(ask.rows))
        loss, violation, counts = (
            np.ascontiguousarray(table[start:end]).reshape(*shape, table.shape[1])
            for table in tables
        )
        lacking: NDArray[np.bool_] = np.zeros(shape, dtype=bool)
        least = np.min([end.sizes for end in ends_of(ask.entry, ask.values)], axis=0)
        if not steps and (ask.rows >= least).any():
            order = np.argsort(ask.values)
            sizes = np.empty((len(order), ask.rows.shape[1]), dtype=np.int64)
            _fill_sizes(ask, order, sizes)
            lacking = np.asarray((ask.rows >= sizes[:, np.newaxis]).any(axis=2))
        found.append(Compared(ask.rows, loss, violation, counts, lacking))
    return found


def _fill_sizes(ask: PerturbedPart, order: NDArray[np.intp], sizes: Index) -> None:
    """Fill in how many choices each axis has at values in order: more of all, or fewer of all."""
    if not len(order):
        return
    for end in order[[0, -1]].tolist():
        sizes[end] = ask.entry.at(ask.values[end]).sizes
    if (sizes[order[0]] == sizes[order[-1]]).all():
        sizes[order] = sizes[order[0]]
        return
    middle = len(order) // 2
    _fill_sizes(ask, order[1:middle], sizes)
    _fill_sizes(ask, order[middle:-1], sizes)


def ends_of(entry: Assumption, values: Sequence[float]) -> list[Problem]:
    """Return problems that have the fewest and the most counts of all at some values.

    The rate or a clock opens more of all counts as it rises or as it falls, so both ends do.
    """
    return [entry.at(end(values)) for end in (min, max)] if entry.growing else [entry.problem]


def _divided(ask: PerturbedPart) -> Iterator[PerturbedPart]:
    step = max(1, _TOGETHER // max(len(ask.rows), 1))
    for first in range(0, len(ask.values), step):
        yield replace(ask, values=ask.values[first : first + step])


def _evaluated(
    problem: Problem, space: Space, parts: Sequence[PerturbedPart], steps: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Return losses, violations and least instances of parts, some evaluated at a time."""
    found = []
    first = count = 0
    for last, part in enumerate(parts, 1):
        count += len(part)
        if count < _TOGETHER and last < len(parts):
            continue
        spend(CALL + count * (ROW if steps else 1))
        moved = PerturbedDesigns(problem, space, parts[first:last])
        if steps:
            low = moved.bounds(steps)
            found.append((low.loss_low, low.violation_low, np.empty((len(moved.rows), 0))))
        else:
            seen = moved.evaluate()
            found.append((seen.loss, seen.violation, moved.least_counts()))
        first, count = last, 0
    return [np.concatenate(tables) for tables in zip(*found, strict=True)]


def widest(problem: Problem, moved: Sequence[Problem]) -> Space:
    """Return the space with the longest of each axis of moved problems, since counts may rise.

    All else stays as it is, so that unmoved designs do not depend on moved ones.
    """
    every = zip(problem.space.axes, *(other.space.axes for other in moved), strict=True)
    longest = ((own, max(axes, key=lambda axis: axis.size)) for own, *axes in every)
    axes = tuple(own if own.size == axis.size else axis for own, axis in longest)
    return Space(axes, problem.space.constants)


def same_space(*problems: Problem) -> tuple[Problem, ...]:
    """Return problems over the largest of their spaces.  Counts beyond are never the least."""
    if len({problem.sizes for problem in problems}) == 1:
        return problems
    return tuple(replace(problem, space=widest(problem, problems)) for problem in problems)


@dataclass(frozen=True)
class AnswerDesigns:
    """The designs that answer: their identities, by which they are compared, and rows (n, d)."""

    keys: frozenset[tuple[float, ...]]
    rows: Index = field(compare=False)


@dataclass(frozen=True)
class Question:
    """The design of a front that a preference picks, or whether any design is `feasible`.

    With `counts`, instances that follow from the rate distinguish designs.  Axes `by` index, if
    any, are the only distinction.
    """

    preference: Preference
    feasible: bool = False
    counts: bool = True
    by: tuple[int, ...] = ()

    def column(self, problem: Problem) -> int | None:
        """Return the one loss that decides, or None if the rest of the front matters too."""
        if self.feasible or self.preference.tolerance:
            return None
        return self.preference.column(problem)

    def answer(
        self, problem: Problem, seen: Compared, instead: AnswerDesigns | None = None
    ) -> AnswerDesigns:
        """Return the answer among designs compared at one value, at which `problem` is.

        `instead` is an answer that holds no longer, though rounding may still favour it in a tie.
        """
        fit = np.flatnonzero(seen.feasible[0])
        best = self._best(problem, seen, fit)
        if instead is not None:
            others = fit[~self.own(instead, seen)[0, fit]]
            if len(others) and self.own(instead, seen)[0, best].any():
                best = self._best(problem, seen, others)
        keys = self._identities(seen)[0, best]
        return AnswerDesigns(frozenset(map(tuple, keys.tolist())), seen.rows[best])

    def _best(self, problem: Problem, seen: Compared, fit: NDArray[np.intp]) -> NDArray[np.intp]:
        column, loss = self.column(problem), seen.loss[0]
        if column is not None and len(fit):
            fit = fit[loss[fit, column] == loss[fit, column].min()]
        if len(fit) > 1:
            fit = fit[nondominated(loss[fit])]
            fit = fit[self.preference.order(problem, seen.rows[fit])[:1]]
        return fit

    def _identities(self, seen: Compared) -> Losses:
        """Return the identities of designs at each value, (v, n, k)."""
        shape = seen.loss.shape[:2]
        if self.by:
            return np.broadcast_to(seen.rows[:, self.by], (*shape, len(self.by))).astype(float)
        rows = np.broadcast_to(seen.rows, (*shape, seen.rows.shape[1]))
        counts = seen.counts if self.counts else seen.counts[..., :0]
        return np.concatenate([rows, counts], axis=2)

    def own(self, answer: AnswerDesigns, seen: Compared) -> Bool:
        """Return which designs, at each value, count as one of an answer, (v, n)."""
        identities = self._identities(seen)
        own = np.zeros(identities.shape[:2], dtype=bool)
        for key in answer.keys:
            own |= (identities == np.array(key)).all(axis=2)
        return own

    def holds(
        self, problem: Callable[[int], Problem], answer: AnswerDesigns, seen: Compared
    ) -> Bool:
        """Return at which values an answer holds among designs, (v,), also in a tie.

        If more than losses decide, only up to the second value at which it does not.  `problem`
        returns the problem at the place of a value.
        """
        feasible, own = seen.feasible, self.own(answer, seen)
        if not answer.keys or not feasible.any():
            return np.asarray(feasible.any(axis=1) == bool(answer.keys))
        if len(seen.rows) == len(answer.rows):
            return np.asarray((own & feasible).any(axis=1))
        column = self.preference.column(problem(0))
        if column is not None:
            merit = np.where(feasible, seen.loss[..., column], np.inf)
            keys = np.stack(self.preference.keys(problem(0), merit, seen.loss), axis=-1)
            keys[~feasible] = np.inf
            return np.asarray((own & feasible).any(axis=1) & ~_beaten(keys, own & feasible))
        held = np.zeros(len(own), dtype=bool)
        for at in range(len(own)):
            held[at] = own[at].any() and self._is_best(problem(at), own[at], seen, at)
            if at and not held[at]:
                break
        return held

    def _is_best(self, problem: Problem, own: Bool, seen: Compared, at: int) -> bool:
        """Whether the best design of the front is one of some, (n,), at one of the values."""
        fit = np.flatnonzero(seen.feasible[at])
        fit = fit[nondominated(seen.loss[at, fit])] if len(fit) else fit
        fit = np.union1d(fit, np.flatnonzero(own & seen.feasible[at]))  # an equal one is kept
        loss = seen.loss[at, fit]
        if not own[fit].any():
            return False
        merit = self.preference.merit(problem, seen.rows[fit], loss)
        keys = np.column_stack(self.preference.keys(problem, merit, loss))
        return not _beaten(keys[np.newaxis], own[np.newaxis, fit])[0]

    def may_win(
        self, problem: Problem, answer: AnswerDesigns, seen: Compared, places: NDArray[np.float64]
    ) -> Bool:
        """Return which designs may replace an answer between two neighbouring values, (v - 1, n).

        Losses and violations lie between their values at both.  `places` are the places of the
        values on a logarithmic scale.
        """
        own, column = self.own(answer, seen) & seen.feasible, self.column(problem)
        low = np.fmin(seen.loss[1:], seen.loss[:-1])
        missed = np.fmin(seen.violation[1:], seen.violation[:-1]) > 0
        may: Bool = ~np.asarray(missed.any(axis=2))
        if not answer.keys:
            return np.asarray(may)
        if column is None:
            return np.asarray(may & ~(own[1:] & own[:-1]))
        mine = np.where(own[..., np.newaxis], seen.loss, np.inf)
        first = np.asarray(mine[..., column].argmin(axis=1))
        best = np.take_along_axis(mine, first[:, np.newaxis, np.newaxis], axis=1)
        worst = np.maximum(best[1:], best[:-1])
        may &= may_replace(low, worst, column) & ~(own[1:] & own[:-1])
        return may & ~_stay_behind(seen.loss[..., column], best[:, 0, column], places)


def may_replace(lowest: Losses, worst: Losses, column: int) -> Bool:
    """Return which designs of losses (..., m) may beat others.

    They are no worse in the loss that decides, and better in one, by more than a tie.
    """
    slack = _slack(worst)
    decides = lowest[..., column] <= (worst + slack)[..., column]
    return np.asarray(decides & (lowest < worst - slack).any(axis=-1))


def _stay_behind(loss: Losses, own: Losses, places: NDArray[np.float64]) -> Bool:
    """Return which losses (v, n) stay worse than an answer's, (v,), between two values.

    The distance of each value from the straight line between near neighbours is the bend.
    """
    width = np.abs(places[2:] - places[:-2])[:, np.newaxis]
    share = np.abs(places[1:-1] - places[:-2])[:, np.newaxis] / width

    def bend(values: Losses) -> Losses:
        return np.abs(values[1:-1] - values[:-2] - (values[2:] - values[:-2]) * share)

    with np.errstate(invalid="ignore"):
        own = own[:, np.newaxis]
        gap, margin = loss - own, width**2 * np.abs(own[1:-1])
        smooth = (bend(own) <= margin) & (bend(loss) <= margin)
        bent = np.where(width <= _SHORT, np.where(smooth, bend(gap), np.inf), np.nan)
        none = np.full((1, loss.shape[1]), np.nan)
        most = np.fmax(np.concatenate([none, bent]), np.concatenate([bent, none]))
        noise = _slack(np.fmax(own[1:], own[:-1]))
        return np.asarray(np.fmin(gap[1:], gap[:-1]) > _CAUTION * most + noise)


def _beaten(keys: Losses, own: Bool) -> Bool:
    """Return at which values a design beats the best of some in the first key that is no tie.

    Keys (v, n, k) are in the order in which they decide, and less is better.
    """
    left = own.copy()
    for key in np.moveaxis(keys, 2, 0):
        left &= key <= np.where(left, key, np.inf).min(axis=1, keepdims=True)
    best = np.take_along_axis(keys, left.argmax(axis=1)[:, np.newaxis, np.newaxis], axis=1)
    slack = _slack(best)
    better, worse = keys < best - slack, keys > best + slack
    first = (better | worse).argmax(axis=-1)
    return np.asarray(np.take_along_axis(better, first[..., np.newaxis], -1)[..., 0].any(axis=1))


def _slack(losses: Losses) -> Losses:
    """Return how far others may be from losses in a tie with them."""
    return np.where(np.isfinite(losses), _EQUAL * np.abs(losses), 0.0)

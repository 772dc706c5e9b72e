"""A question to a study: which designs answer at a value of a number, and where that may change.

The scale of a number has the values that are compared.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import TOLERANCE
from dse.algebra.thresholds import ConstraintThreshold
from dse.model.evaluation import Goal
from dse.model.front import nondominated
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.parametric.perturbed import Bool, Compared, Losses
from dse.study.assumptions import Assumption

_CLOSE = 1e-7
"""Relative width to which a breakpoint is found."""

_ZERO = 1e-12
"""Share of the range from which a number that is zero, or passes it, is moved."""

_EQUAL = 2 * TOLERANCE
"""Relative difference of losses that tie, since equal ones may be rounded to neighbours."""

_SHORT, _CAUTION = 0.25, 4.0
"""Largest distance of values between which a gap of losses is judged by its bend, as the natural
logarithm of a ratio, and the multiple of the bend that the gap must exceed."""


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
        loss, fit = seen.loss[0], np.flatnonzero(seen.feasible[0])
        others = fit if instead is None else fit[~self.own(instead, seen)[0, fit]]
        fit, column = others if len(others) else fit, self.column(problem)
        if column is not None and len(fit):
            fit = fit[loss[fit, column] == loss[fit, column].min()]
        if len(fit) > 1:
            fit = fit[nondominated(loss[fit])]
            fit = fit[self.preference.order(problem, seen.rows[fit])[:1]]
        keys = self._identities(seen)[0, fit]
        return AnswerDesigns(frozenset(map(tuple, keys.tolist())), seen.rows[fit])

    def _identities(self, seen: Compared) -> Losses:
        """Return the identities of designs at each value, (v, n, k)."""
        rows = seen.rows[:, self.by] if self.by else seen.rows
        rows = np.broadcast_to(rows, (*seen.loss.shape[:2], rows.shape[1]))
        counts = seen.counts if self.counts and not self.by else seen.counts[..., :0]
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
        if self.feasible or not answer.keys:
            return np.asarray(seen.feasible.any(axis=1) == bool(answer.keys))
        own = self.own(answer, seen) & seen.feasible
        if len(seen.rows) == len(answer.rows):
            return np.asarray(own.any(axis=1))
        column = self.preference.column(problem(0))
        if column is None:
            held = np.zeros(len(own), dtype=bool)
            for at in range(len(own)):
                held[at] = self._is_best(problem(at), own[at], seen, at)
                if at and not held[at]:
                    break
            return held
        merit = np.where(seen.feasible, seen.loss[..., column], np.inf)
        keys = np.stack(self.preference.keys(problem(0), merit, seen.loss), axis=-1)
        keys[~seen.feasible] = np.inf
        return np.asarray(own.any(axis=1) & ~_beaten(keys, own))

    def _is_best(self, problem: Problem, own: Bool, seen: Compared, at: int) -> bool:
        """Return whether the best design of the front is one of some, (n,), at a value."""
        if not own.any():
            return False
        fit = np.flatnonzero(seen.feasible[at])
        front = nondominated(seen.loss[at, fit]) | own[fit]  # an equal one is kept
        fit = fit[front]
        loss = seen.loss[at, fit]
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
        missed = np.fmin(seen.violation[1:], seen.violation[:-1]) > 0
        may: Bool = ~np.asarray(missed.any(axis=2))
        if not answer.keys:
            return may
        own, column = self.own(answer, seen) & seen.feasible, self.column(problem)
        may &= ~(own[1:] & own[:-1])
        if column is None:
            return may
        mine = np.where(own[..., np.newaxis], seen.loss, np.inf)
        first = mine[..., column].argmin(axis=1)[:, np.newaxis, np.newaxis]
        best = np.take_along_axis(mine, first, axis=1)
        low = np.fmin(seen.loss[1:], seen.loss[:-1])
        may &= may_replace(low, np.maximum(best[1:], best[:-1]), column)
        return may & ~_stays_behind(seen.loss[..., column], best[..., column], places)


def may_replace(lowest: Losses, worst: Losses, column: int) -> Bool:
    """Return which designs of losses (..., m) may beat others.

    They are no worse in the loss that decides, and better in one, by more than a tie.
    """
    slack = _slack(worst)
    decides = lowest[..., column] <= (worst + slack)[..., column]
    return np.asarray(decides & (lowest < worst - slack).any(axis=-1))


def _stays_behind(loss: Losses, own: Losses, places: NDArray[np.float64]) -> Bool:
    """Return which losses (v, n) stay worse than an answer's, (v, 1), between two values.

    They do if the gap exceeds its bend, the distance from the line between neighbours, and both
    are smooth there.
    """
    width = np.abs(places[2:] - places[:-2])[:, np.newaxis]
    share = np.abs(places[1:-1] - places[:-2])[:, np.newaxis] / width

    def bend(values: Losses) -> Losses:
        return np.abs(values[1:-1] - values[:-2] - (values[2:] - values[:-2]) * share)

    with np.errstate(invalid="ignore"):
        gap, margin = loss - own, width**2 * np.abs(own[1:-1])
        smooth = (bend(own) <= margin) & (bend(loss) <= margin)
        bent = np.where(width <= _SHORT, np.where(smooth, bend(gap), np.inf), np.nan)
        bent = np.pad(bent, ((1, 1), (0, 0)), constant_values=np.nan)
        most = _CAUTION * np.fmax(bent[1:], bent[:-1]) + _slack(np.fmax(own[1:], own[:-1]))
        return np.asarray(np.fmin(gap[1:], gap[:-1]) > most)


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

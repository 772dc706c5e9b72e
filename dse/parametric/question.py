"""The question at each value of a number: which designs answer, and where they still do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import TOLERANCE
from dse.model.front import dominated_by_point, nondominated
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.parametric.perturbed import Compared

EQUAL = 2 * TOLERANCE
"""Losses closer than this, relatively, are a tie: equal ones may be rounded to neighbours."""

SHORT, CAUTION = 0.25, 4.0
"""Distance of values over which losses are taken for smooth, as the natural logarithm of a ratio.

And how many times the bend that is seen a gap has to exceed to stay open.
"""

Bool = NDArray[np.bool_]
Losses = NDArray[np.float64]


@dataclass(frozen=True)
class AnswerDesigns:
    """The designs that answer: their identities, by which they are compared, and rows (n, d)."""

    keys: frozenset[tuple[float, ...]]
    rows: Index = field(compare=False)


@dataclass(frozen=True)
class Question:
    """The design of a front that a preference picks, or the whole `front`.

    With `counts` the instances that follow from the rate are part of what a design is; where `by`
    names axes by index, these alone tell designs apart.
    """

    preference: Preference
    front: bool = False
    counts: bool = True
    by: tuple[int, ...] = ()

    def column(self, problem: Problem) -> int | None:
        """Return which loss alone decides, None when the rest of the front matters too."""
        if self.front or self.preference.tolerance:
            return None
        return self.preference.column(problem)

    def answer(
        self, problem: Problem, seen: Compared, instead: AnswerDesigns | None = None
    ) -> AnswerDesigns:
        """Return which of some designs, compared at one value of which `problem` is, answer.

        `instead` is an answer that holds no longer: where two tie in what decides, rounding may
        still name it.
        """
        fit = np.flatnonzero(seen.feasible[0])
        best = self._best(problem, seen, fit)
        if instead is not None and not self.front:
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
            if not self.front:
                fit = fit[self.preference.order(problem, seen.rows[fit])[:1]]
        return fit

    def _identities(self, seen: Compared) -> Losses:
        """Return what tells designs apart at each value, (v, n, k)."""
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

    def holds(self, problems: list[Problem], answer: AnswerDesigns, seen: Compared) -> Bool:
        """Return at which values an answer holds among designs, (v,); in a tie it does.

        `problems` are those at the values where more than losses decides, else today's.
        """
        feasible, own = seen.feasible, self.own(answer, seen)
        if not answer.keys or not feasible.any():
            return np.asarray(feasible.any(axis=1) == bool(answer.keys))
        if not self.front and len(seen.rows) == len(answer.rows):
            return np.asarray((own & feasible).any(axis=1))
        column = self.preference.column(problems[0])
        if not self.front and column is not None:
            merit = np.where(feasible, seen.loss[..., column], np.inf)
            keys = np.stack(self.preference.keys(problems[0], merit, seen.loss), axis=-1)
            keys[~feasible] = np.inf
            return np.asarray((own & feasible).any(axis=1) & ~_beaten(keys, own & feasible))
        if self.front:
            identities = self._identities(seen)
            return np.array(
                [self._is_front(answer, seen, identities, at) for at in range(len(own))]
            )
        every = enumerate(problems)
        return np.array([self._is_best(problem, own[at], seen, at) for at, problem in every])

    def _is_front(self, answer: AnswerDesigns, seen: Compared, identities: Losses, at: int) -> bool:
        fit = np.flatnonzero(seen.feasible[at])
        fit = fit[nondominated(seen.loss[at, fit])] if len(fit) else fit
        return {*map(tuple, identities[at, fit].tolist())} == answer.keys

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

        A loss and a violation are between those at the two values, of which `places` are where
        these lie on a logarithmic scale.
        """
        own, column = self.own(answer, seen) & seen.feasible, self.column(problem)
        low = np.fmin(seen.loss[1:], seen.loss[:-1])
        missed = np.fmin(seen.violation[1:], seen.violation[:-1]) > 0
        may: Bool = ~np.asarray(missed.any(axis=2))
        if not answer.keys:
            return np.asarray(may)
        if column is None:
            for place in np.flatnonzero(own.any(axis=0)).tolist() if self.front else ():
                worst = np.maximum(seen.loss[1:, place], seen.loss[:-1, place])
                for at in range(len(worst)):
                    may[at] &= ~dominated_by_point(low[at], worst[at])
            return np.asarray(may & ~(own[1:] & own[:-1]))
        mine = np.where(own[..., np.newaxis], seen.loss, np.inf)
        first = np.asarray(mine[..., column].argmin(axis=1))
        best = np.take_along_axis(mine, first[:, np.newaxis, np.newaxis], axis=1)
        worst = np.maximum(best[1:], best[:-1])
        may &= may_replace(low, worst, column) & ~(own[1:] & own[:-1])
        return may & ~_stay_behind(seen.loss[..., column], best[:, 0, column], places)


def may_replace(lowest: Losses, worst: Losses, column: int) -> Bool:
    """Return which designs may beat others: losses (..., m) against those of a design each.

    They are no worse in the loss that decides, and better in one, by more than a tie.
    """
    slack = _slack(worst)
    decides = lowest[..., column] <= (worst + slack)[..., column]
    return np.asarray(decides & (lowest < worst - slack).any(axis=-1))


def _stay_behind(loss: Losses, own: Losses, places: NDArray[np.float64]) -> Bool:
    """Return which losses (v, n) stay worse than those of an answer, (v,), between two values.

    By how far each value lies from the straight line between its neighbours, where these are near.
    """
    width = np.abs(places[2:] - places[:-2])[:, np.newaxis]
    share = np.abs(places[1:-1] - places[:-2])[:, np.newaxis] / width

    def bend(values: Losses) -> Losses:
        return np.abs(values[1:-1] - values[:-2] - (values[2:] - values[:-2]) * share)

    with np.errstate(invalid="ignore"):
        own = own[:, np.newaxis]
        gap, margin = loss - own, width**2 * np.abs(own[1:-1])
        smooth = (bend(own) <= margin) & (bend(loss) <= margin)
        bent = np.where(width <= SHORT, np.where(smooth, bend(gap), np.inf), np.nan)
        none = np.full((1, loss.shape[1]), np.nan)
        most = np.fmax(np.concatenate([none, bent]), np.concatenate([bent, none]))
        noise = _slack(np.fmax(own[1:], own[:-1]))
        return np.asarray(np.fmin(gap[1:], gap[:-1]) > CAUTION * most + noise)


def _beaten(keys: Losses, own: Bool) -> Bool:
    """Return at which values a design beats the best of some in the first key that is no tie.

    Keys (v, n, k) are in the order in which they decide; less is better.
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
    return np.where(np.isfinite(losses), EQUAL * np.abs(losses), 0.0)

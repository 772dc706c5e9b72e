"""What happens to candidates in every sample: which are feasible, on the front, the answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.model import tables
from dse.model.front import bend, nondominated
from dse.model.preference import Preference, finite
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.designs import described
from dse.search import Progress
from dse.uncertainty.certainty import Candidate
from dse.uncertainty.draws import Draws

PART = 200_000
"""Designs that are evaluated together."""


class Outcomes:
    """What happens to candidates in every sample."""

    def __init__(
        self, drawn: Draws, rows: Index, preference: Preference, progress: Progress | None = None
    ) -> None:
        """Evaluate candidates (n, d) in every sample."""
        self.problem: Problem = drawn.problem
        self.rows = rows
        count, width = drawn.count, len(rows)
        self.feasible = np.zeros((count, width), dtype=bool)
        self.on_front = np.zeros((count, width), dtype=bool)
        self.merit = np.full((count, width), np.inf)
        self.answers = np.full(count, -1)
        self._preference = preference
        written = np.empty(width)
        written[tables.sort_order(self.problem, rows, np.empty((width, 0)))] = np.arange(width)
        step = max(1, PART // width)
        for first in range(0, count, step):
            part = slice(first, min(first + step, count))
            self._answer(drawn, part, written)
            if progress is not None:
                progress(part.stop, count)

    def _answer(self, drawn: Draws, part: slice, written: NDArray[np.float64]) -> None:
        evaluation = drawn.evaluate(self.rows, part)
        shape = (part.stop - part.start, len(self.rows))
        loss = np.ascontiguousarray(evaluation.loss).reshape(*shape, -1)
        feasible = evaluation.feasible.reshape(shape)
        front = np.zeros(shape, dtype=bool)
        for row, (losses, fits) in enumerate(zip(loss, feasible, strict=True)):
            feasible_rows = np.flatnonzero(fits)
            if len(feasible_rows):
                kept = feasible_rows[nondominated(losses[feasible_rows])]
                front[row, kept] = True
        merit = self._merit(drawn, part, loss, front)
        chosen = np.where(front, merit, np.inf)
        best = front.copy()
        keys = self._preference.keys(self.problem, chosen, loss)
        for key in (*keys, np.broadcast_to(written, shape)):
            keyed = np.where(best, key, np.inf)
            best &= keyed == keyed.min(axis=1, keepdims=True)
        self.feasible[part], self.on_front[part], self.merit[part] = feasible, front, merit
        self.answers[part] = np.where(best.any(axis=1), best.argmax(axis=1), -1)

    def _merit(
        self, drawn: Draws, part: slice, loss: NDArray[np.float64], front: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return what the preference minimises, (samples, n)."""
        column = self._preference.column(self.problem)
        if column is not None:
            return finite(loss[:, :, column])
        expression = self._preference.expression
        if expression is not None:
            value = expression.value(drawn.columns(self.rows, part, expression.names))
            return finite(np.broadcast_to(value, front.shape))
        merit = np.full(front.shape, np.inf)
        for row, kept in enumerate(front):
            if kept.any():
                merit[row, kept] = bend(loss[row, kept])
        return merit

    def unanswered(self) -> NDArray[np.intp]:
        """Return the samples in which no candidate is feasible."""
        return np.flatnonzero(self.answers < 0)

    def _regrets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return regrets and their shares, (samples, n), where a design is feasible."""
        if not self._preference.is_quantity:
            return None
        rows = np.arange(len(self.answers))
        best = np.where(self.answers >= 0, self.merit[rows, self.answers], np.nan)[:, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            regret = np.maximum(self.merit - best, 0.0)
            return regret, np.where(regret == 0, 0.0, regret / np.abs(best))

    def candidates(self, nominal: int) -> tuple[Candidate, ...]:
        """Return every candidate; the first `nominal` rows are the nominal front."""
        regrets = self._regrets()
        names = described(self.problem, self.rows)
        answers = np.bincount(self.answers[self.answers >= 0], minlength=len(self.rows))
        count = len(self.answers)
        found = []
        for row, name in enumerate(names):
            fits = self.feasible[:, row]
            entry = Candidate(
                name=name,
                point=tuple(self.rows[row].tolist()),
                nominal=row < nominal,
                feasible=float(fits.mean()),
                on_front=float(self.on_front[:, row].mean()),
                answer=float(answers[row] / count),
                **(_regret_fields(*(part[fits, row] for part in regrets)) if regrets else {}),
            )
            found.append(entry)
        first, *rest = found
        return (first, *sorted(rest, key=lambda entry: (-entry.answer, -entry.on_front)))


def _regret_fields(regret: NDArray[np.float64], share: NDArray[np.float64]) -> dict[str, float]:
    """Return the fields of a `Candidate` from its regrets where it is feasible."""
    if not regret.size:
        return {}
    return {
        "expected": float(regret.mean()),
        "worst": float(regret.max()),
        "expected_share": float(share.mean()),
        "worst_share": float(share.max()),
    }

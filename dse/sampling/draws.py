"""Certainty of a recommendation: Monte Carlo samples of the study, each answered.

Searching every sample exactly would take too long, so that samples are answered among candidates:
the nominal front, and the fronts of samples that are searched until these add nothing.  A further
set of samples is searched to see how often a front has a design that is no candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.contract import Column
from dse.errors import UnitError
from dse.model import tables
from dse.model.designs import PACED
from dse.model.evaluation import Evaluation
from dse.model.front import bend, nondominated
from dse.model.preference import Preference, finite
from dse.model.problem import Problem
from dse.model.space import Index, Space
from dse.model.stage import Stage
from dse.reports.designs import described
from dse.sampling.certainty import RATE_FIELD, Candidate, Certainty, Uncertain, uncertain_of
from dse.search import Progress, SearchSettings
from dse.study.assumptions import regrown
from dse.study.demand import followers
from dse.study.study import Study

MOST_NUMBERS = 100_000_000


@dataclass(frozen=True)
class Draws:
    """A study sampled many times.

    Attributes
    ----------
    problem
        The nominal one.  A mixed fleet may have as many instances as the highest drawn demand
        needs.
    uncertain, factors
        Uncertain numbers, and their factors, (count, k) each.
    count, seed
        Number of samples, and their seed.
    """

    problem: Problem
    uncertain: tuple[Uncertain, ...]
    factors: tuple[Column, ...]
    count: int
    seed: int

    def at(self, draw: int) -> Problem:
        """Return the problem of one sample."""
        space, stages = self.problem.space, list(self.problem.stages)
        constants, axes = dict(space.constants), list(space.axes)
        for entry, factors in zip(self.uncertain, self.factors, strict=True):
            row = factors[draw]
            if entry.stage is not None:
                stages[entry.stage] = _scaled(stages[entry.stage], entry.column, row)
            elif entry.axis is not None:
                columns = axes[entry.axis].columns
                changed = {entry.column: columns[entry.column] * row}
                axes[entry.axis] = replace(axes[entry.axis], columns={**columns, **changed})
            else:
                for name in (entry.column, *followers(self.problem, entry.column)):
                    constants[name] = constants[name] * row
        return replace(self.problem, space=Space(tuple(axes), constants), stages=tuple(stages))

    def extremes(self, most: int) -> list[int]:
        """Return the samples with the least and the largest factor of each number, up to `most`."""
        ends = [
            int(end)
            for factors in self.factors
            for column in factors.T
            for end in (column.argmin(), column.argmax())
        ]
        return list(dict.fromkeys(ends))[:most]

    def evaluate(self, index: Index, part: slice) -> Evaluation:
        """Evaluate designs (n, d) in some samples: len(part) * n results, sample after sample."""
        problem, changed = self._part(index, part)
        return problem.evaluate(index, changed, draws=len(range(self.count)[part]))

    def columns(self, index: Index, part: slice, wanted: Iterable[str]) -> dict[str, Any]:
        """Return columns of designs (n, d) in some samples, as they broadcast to (samples, n)."""
        problem, changed = self._part(index, part)
        return problem.columns(index, wanted, changed)

    def _part(self, index: Index, part: slice) -> tuple[Problem, dict[str, Column]]:
        stages = list(self.problem.stages)
        nominal = self.problem.space.columns(index)
        changed: dict[str, Column] = {}
        for entry, factors in zip(self.uncertain, self.factors, strict=True):
            drawn = factors[part]
            if entry.stage is not None:
                stages[entry.stage] = _scaled(stages[entry.stage], entry.column, drawn)
                continue
            if entry.axis is not None:
                drawn = np.take(drawn, index[:, entry.axis], axis=-1)
            for name in (entry.column, *followers(self.problem, entry.column)):
                changed[name] = changed.get(name, nominal[name]) * drawn
        return replace(self.problem, stages=tuple(stages)), changed


def _scaled(stage: Stage, metric: str, factors: Column) -> Stage:
    """Return a stage with one metric of its designs multiplied."""
    return stage.with_metrics(**{metric: getattr(stage.designs.metrics, metric) * factors})


def draw_study(study: Study, shares: Mapping[str, float], samples: int, seed: int) -> Draws:
    """Sample the uncertain numbers of `shares`, by path, and of the study.

    A study without any is sampled once, as it is.

    Raises
    ------
    UnitError
        They do not fit into memory.
    """
    found = uncertain_of(study, shares)
    count = samples if found else 1
    numbers = count * sum(len(entry.share) for entry in found)
    if numbers > MOST_NUMBERS:
        rule = f"{count:,} samples of {numbers // count:,} uncertain numbers are too many"
        raise UnitError(rule, f"ask for {MOST_NUMBERS * count // numbers:,} samples or fewer")
    factors = tuple(entry.factors(count, seed) for entry in found)
    return Draws(_widened(study, found, factors), found, factors, count, seed)


def _widened(study: Study, found: tuple[Uncertain, ...], factors: tuple[Column, ...]) -> Problem:
    """Return the problem with as many instances to choose from as any sample needs."""
    problem = study.problem
    drawn = dict(zip(((entry.stage, entry.column) for entry in found), factors, strict=True))
    rates = [
        factor for entry, factor in zip(found, factors, strict=True) if entry.name == RATE_FIELD
    ]
    slowed, growing = [*problem.stages], set[str]()
    for number, stage in enumerate(problem.stages):
        paces = {metric: drawn[number, metric] for metric in PACED if (number, metric) in drawn}
        if rates or paces:
            growing.add(stage.name)
            slow = stage
            for metric, factor in paces.items():
                slow = _scaled(slow, metric, factor)
            bandwidth = slow.designs.bandwidth_bit_per_s.reshape(-1, len(stage.designs.names))
            share = bandwidth.min(axis=0) / stage.designs.bandwidth_bit_per_s
            slowed[number] = _scaled(stage, PACED[0], share)
    times = max((float(factor.max()) for factor in rates), default=1.0)
    slowest = replace(problem, stages=tuple(slowed))
    return replace(problem, space=regrown(slowest, growing & study.growing, times).space)


PART = 200_000
"""Designs that are evaluated together."""


class Outcomes:
    """Results of candidates in every sample."""

    def __init__(self, drawn: Draws, rows: Index, preference: Preference) -> None:
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
            self._answer(drawn, slice(first, min(first + step, count)), written)

    def _answer(self, drawn: Draws, part: slice, written: NDArray[np.float64]) -> None:
        evaluation = drawn.evaluate(self.rows, part)
        shape = (part.stop - part.start, len(self.rows))
        loss = np.ascontiguousarray(evaluation.loss).reshape(*shape, -1)
        feasible = evaluation.feasible.reshape(shape)
        front = np.zeros(shape, dtype=bool)
        for row, (losses, fits) in enumerate(zip(loss, feasible, strict=True)):
            front[row, fits] = nondominated(losses[fits])
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
        """Return the value that the preference minimises, (samples, n)."""
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

    def _regrets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return regrets and their shares, (samples, n), of feasible designs."""
        if not self._preference.is_quantity:
            return None
        rows = np.arange(len(self.answers))
        best = np.where(self.answers >= 0, self.merit[rows, self.answers], np.nan)[:, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            regret = np.maximum(self.merit - best, 0.0)
            return regret, np.where(regret == 0, 0.0, regret / np.abs(best))

    def candidates(self, nominal: int) -> tuple[Candidate, ...]:
        """Return every candidate, with the nominal front as the first `nominal` rows."""
        regrets = self._regrets()
        names = described(self.problem, self.rows)
        answers = np.bincount(self.answers[self.answers >= 0], minlength=len(self.rows))
        count = len(self.answers)
        found = []
        for row, name in enumerate(names):
            fits = self.feasible[:, row]
            entry = Candidate(
                design=name,
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
    """Return the fields of a `Candidate` from its regrets in its feasible samples."""
    if not regret.size:
        return {}
    means = {"expected": float(regret.mean()), "expected_share": float(share.mean())}
    return means | {"worst": float(regret.max()), "worst_share": float(share.max())}


QUIET = 100
"""Samples that add no candidate in a row, before candidates are enough."""
MOST_SEARCHES = 300
"""Samples that are searched for candidates, besides those with the most extreme factors."""
MOST_EXTREMES = 40
MOST_ROUNDS, ROUND = 5, 10
"""Samples that no candidate answers are searched in rounds of so many."""
CHECKS = 100
"""Number of samples that are searched after that, to find designs that the candidates lack."""


def certainty(
    drawn: Draws,
    front: Index,
    preference: Preference,
    settings: SearchSettings,
    progress: Progress | None = None,
) -> Certainty:
    """Return the certainty of an answer from the front (n, d) at nominal values, the answer first.

    `settings` are for the search of samples.  `progress` is called with the number of searched
    samples and the most that may be.
    """
    pool = _Pool(drawn, front, preference, settings)
    pool.progress = progress
    pool.grow()
    outcomes = Outcomes(drawn, pool.index, preference)
    for _ in range(MOST_ROUNDS):
        if not pool.answer(np.flatnonzero(outcomes.answers < 0)):
            break
        outcomes = Outcomes(drawn, pool.index, preference)
    searched = len(pool.searched)
    checked, beyond, beyond_answer = pool.check()
    outcomes = Outcomes(drawn, pool.index, preference)
    return Certainty(
        uncertain=drawn.uncertain,
        samples=drawn.count,
        seed=drawn.seed,
        answered=float((outcomes.answers >= 0).mean()),
        candidates=outcomes.candidates(len(front)),
        quantity=preference.quantity,
        searched=searched,
        checked=checked,
        beyond=beyond,
        beyond_answer=beyond_answer,
    )


class _Pool:
    """Designs that may be an answer: the fronts of studies that were searched."""

    def __init__(
        self, drawn: Draws, front: Index, preference: Preference, settings: SearchSettings
    ) -> None:
        """Start from the nominal front, with `settings` for the search of samples."""
        self.drawn = drawn
        self.rows: list[tuple[int, ...]] = [tuple(row) for row in front.tolist()]
        self.searched: set[int] = set()
        self._known = set(self.rows)
        self._preference, self._settings = preference, settings
        self.progress: Progress | None = None
        self._most = min(drawn.count, MOST_EXTREMES + MOST_SEARCHES + MOST_ROUNDS * ROUND + CHECKS)

    @property
    def index(self) -> Index:
        """Return the candidates, (n, d)."""
        return np.array(self.rows, dtype=np.int64)

    def grow(self) -> None:
        """Add the fronts of the most extreme samples, then of others until they add nothing."""
        quiet = 0
        for draw in self.drawn.extremes(MOST_EXTREMES):
            self._search(draw)
        for draw in range(min(MOST_SEARCHES, self.drawn.count)):
            quiet = 0 if self._search(draw)[0] else quiet + 1
            if quiet == QUIET:
                break

    def answer(self, draws: NDArray[np.intp]) -> bool:
        """Search the first of some samples.  Return whether their fronts added anything."""
        fresh = [draw for draw in draws.tolist() if draw not in self.searched]
        return sum(self._search(draw)[0] for draw in fresh[:ROUND]) > 0

    def check(self) -> tuple[int, int, int]:
        """Search further samples.  Return their number, and the numbers that lacked candidates."""
        fresh = [draw for draw in range(self.drawn.count) if draw not in self.searched]
        lacking = [self._search(draw) for draw in fresh[:CHECKS]]
        return len(lacking), sum(new for new, _ in lacking), sum(best for _, best in lacking)

    def _search(self, draw: int) -> tuple[bool, bool]:
        """Add the front of a sample.  Return whether any of it, and its answer, was new."""
        if draw in self.searched:
            return False, False
        self.searched.add(draw)
        found = search.run_search(self.drawn.at(draw), self._settings).front_index
        front = found[np.lexsort(found.T[::-1])]  # in one order whichever way it is found
        new = [row for row in map(tuple, front.tolist()) if row not in self._known]
        best = False
        if new:
            answer = front[self._preference.order(self.drawn.at(draw), front)[0]]
            best = tuple(answer.tolist()) in new
        self.rows += new
        self._known.update(new)
        if self.progress is not None:
            self.progress(len(self.searched), self._most)
        return bool(new), best

"""How sure a recommendation is: the study drawn many times, each draw answered.

Searching every draw exactly would take too long, so that draws are answered among candidates:
the front of today, and the fronts of drawn studies that are searched until these add nothing.
A further set of draws is searched to see how often a front has a design that is no candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.errors import TooLargeError, UnitError
from dse.model import tables
from dse.model.front import bend, nondominated
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search import SearchSettings
from dse.study.study import Study
from dse.uncertainty import draws
from dse.uncertainty.draws import Draws, Uncertain

DRAWS = 10_000
QUIET = 100
"""Drawn studies that add no candidate in a row, before candidates are enough."""
MOST_SEARCHES = 300
"""Drawn studies that are searched for candidates, besides those with the most extreme factors."""
MOST_EXTREMES = 40
MOST_ROUNDS, ROUND = 5, 10
"""Draws that no candidate answers are searched in rounds of so many."""
CHECKS = 100
"""Drawn studies that are searched after that, to see what the candidates lack."""
PART = 200_000
"""Designs that are evaluated together."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """How to sample: how many draws, from which seed, and uncertainties by path."""

    draws: int = DRAWS
    seed: int = 0
    uncertainty: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One design over all draws.

    Attributes
    ----------
    name
        What it is, in one line.
    point
        Its design point.
    today
        Whether it is on the front today.
    feasible, on_front, answer
        Share of the draws in which it meets every constraint, is on the front, is the answer.
    expected, worst
        Mean and largest regret where it is feasible: how much more of what the preference
        minimises than the answer of the draw has, in SI; None when the preference is no single
        number.
    expected_share, worst_share
        The same as shares of the answer's.
    """

    name: str
    point: tuple[int, ...]
    today: bool
    feasible: float
    on_front: float
    answer: float
    expected: float | None = None
    worst: float | None = None
    expected_share: float | None = None
    worst_share: float | None = None


@dataclass(frozen=True, kw_only=True)
class Certainty:
    """How sure a recommendation is.

    Attributes
    ----------
    uncertain, draws, seed
        What was drawn, how often, and from which seed.
    answered
        Share of the draws in which some candidate meets every constraint.
    candidates
        The recommended design first, the others by the probability of being the answer.
    steady
        The candidate with the least largest regret among those that are feasible in every
        answered draw; None without one, or without a regret.
    quantity
        What is preferred, for the unit of a regret; None when it is no quantity.
    searched, checked
        Drawn studies searched for candidates, and to check them.
    beyond, beyond_answer
        Checked studies with a design on the front, or an answer, that had been no candidate.
    """

    uncertain: tuple[Uncertain, ...]
    draws: int
    seed: int
    answered: float
    candidates: tuple[Candidate, ...]
    steady: Candidate | None
    quantity: str | None
    searched: int
    checked: int
    beyond: int
    beyond_answer: int

    @property
    def pick(self) -> Candidate:
        """The recommended design."""
        return self.candidates[0]


def certainty(
    study: Study,
    front: Index,
    preference: Preference,
    sampled: Sampled,
    *,
    settings: SearchSettings | None = None,
    progress: Progress | None = None,
) -> Certainty:
    """Return how sure the answer of a study is.

    Parameters
    ----------
    study
        The study as it is today.
    front
        Its front, (n, d).
    preference
        Which design of a front is the answer.
    sampled
        What to draw.  A study that states no uncertainty is drawn once, as it is.
    settings
        How to search; the study's own.
    progress
        Called with (draws answered, draws).

    Raises
    ------
    UnitError
        When an uncertainty is of nothing that the study has, or there are too many numbers.
    """
    found = draws.uncertain_of(study, sampled.uncertainty)
    drawn = draws.draw_study(study, found, sampled.draws if found else 1, sampled.seed)
    ranked = front[preference.order(study.problem, front)]
    pool = _Pool(drawn, ranked, preference, settings or study.settings)
    pool.grow()
    told = _Told(drawn, pool.index, preference)
    for _ in range(MOST_ROUNDS):
        if not pool.answer(told.unanswered()):
            break
        told = _Told(drawn, pool.index, preference)
    searched = len(pool.searched)
    checked, beyond, beyond_answer = pool.check()
    told = _Told(drawn, pool.index, preference, progress)
    answered = float((told.answers >= 0).mean())
    candidates = told.candidates(len(front))
    return Certainty(
        uncertain=found,
        draws=drawn.count,
        seed=sampled.seed,
        answered=answered,
        candidates=candidates,
        steady=_steady(candidates, answered),
        quantity=preference.quantity,
        searched=searched,
        checked=checked,
        beyond=beyond,
        beyond_answer=beyond_answer,
    )


def sampling_options(samples: int | None, uncertainty: Sequence[str], seed: int) -> Sampled | None:
    """Return what options ask for; uncertainties alone ask for `DRAWS` draws.

    Raises
    ------
    UnitError
        When an uncertainty cannot be read, or a number is out of range.
    """
    if samples is None and not uncertainty:
        return None
    if samples is not None and samples < 1:
        raise UnitError(f"{samples} samples are none", f"ask for 1 or more, such as {DRAWS}")
    if seed < 0:
        raise UnitError(f"seed {seed} is negative", "write 0 or more")
    return Sampled(draws=samples or DRAWS, seed=seed, uncertainty=draws.read_shares(uncertainty))


class _Pool:
    """Designs that may be an answer: the fronts of studies that were searched."""

    def __init__(
        self, drawn: Draws, front: Index, preference: Preference, settings: SearchSettings
    ) -> None:
        self.drawn = drawn
        self.rows: list[tuple[int, ...]] = [tuple(row) for row in front.tolist()]
        self.searched: set[int] = set()
        self._known = set(self.rows)
        self._preference = preference
        self._settings = settings
        exact = settings.method == SearchSettings.method and bool(drawn.problem.stages)
        self._brief = replace(settings, limit=1) if exact else None

    @property
    def index(self) -> Index:
        """The candidates, (n, d)."""
        return np.array(self.rows, dtype=np.int64)

    def grow(self) -> None:
        """Add the fronts of the most extreme draws, then of others until they add nothing."""
        quiet = 0
        for draw in self.drawn.extremes(MOST_EXTREMES):
            self._search(draw)
        for draw in range(min(MOST_SEARCHES, self.drawn.count)):
            quiet = 0 if self._search(draw)[0] else quiet + 1
            if quiet == QUIET:
                break

    def answer(self, draws: NDArray[np.intp]) -> bool:
        """Search the first of some draws; return whether their fronts added anything."""
        fresh = [draw for draw in draws.tolist() if draw not in self.searched]
        return sum(self._search(draw)[0] for draw in fresh[:ROUND]) > 0

    def check(self) -> tuple[int, int, int]:
        """Search further draws; return how many, and in how many candidates were lacking."""
        fresh = [draw for draw in range(self.drawn.count) if draw not in self.searched]
        lacking = [self._search(draw) for draw in fresh[:CHECKS]]
        return len(lacking), sum(new for new, _ in lacking), sum(best for _, best in lacking)

    def _search(self, draw: int) -> tuple[bool, bool]:
        """Add the front of a draw; return whether any of it, and its answer, was new."""
        self.searched.add(draw)
        problem = self.drawn.at(draw)
        front = self._front(problem)
        new = [row for row in map(tuple, front.tolist()) if row not in self._known]
        best = False
        if new:
            answer = front[self._preference.order(problem, front)[0]]
            best = tuple(answer.tolist()) in new
        self.rows += new
        self._known.update(new)
        return bool(new), best

    def _front(self, problem: Problem) -> Index:
        """Return the front of a draw, without asking every design why nothing is feasible."""
        if self._brief is not None:
            try:
                return search.run_search(problem, self._brief).front_index
            except TooLargeError:
                self._brief = None
        return search.run_search(problem, self._settings).front_index


class _Told:
    """What happens to candidates over all draws."""

    def __init__(
        self,
        drawn: Draws,
        rows: Index,
        preference: Preference,
        progress: Progress | None = None,
    ) -> None:
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
        merit = np.full(shape, np.inf)
        for row, (losses, fits) in enumerate(zip(loss, feasible, strict=True)):
            places = np.flatnonzero(fits)
            if len(places):
                kept = places[nondominated(losses[places])]
                front[row, kept] = True
                if self._preference.expression is None:
                    merit[row, kept] = bend(losses[kept])
        expression = self._preference.expression
        if expression is not None:
            value = expression.value(drawn.columns(self.rows, part, expression.names))
            value = np.broadcast_to(-value if self._preference.maximise else value, shape)
            merit = np.where(np.isnan(value), np.inf, value)
        best = front.copy()
        ties = [loss[:, :, column] for column in range(loss.shape[2])]
        for key in (merit, *ties, np.broadcast_to(written, shape)):
            keyed = np.where(best, key, np.inf)
            best &= keyed == keyed.min(axis=1, keepdims=True)
        self.feasible[part], self.on_front[part], self.merit[part] = feasible, front, merit
        self.answers[part] = np.where(best.any(axis=1), best.argmax(axis=1), -1)

    def unanswered(self) -> NDArray[np.intp]:
        """Return the draws in which no candidate is feasible."""
        return np.flatnonzero(self.answers < 0)

    def _regrets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return regrets and their shares, (draws, n), where a design is feasible."""
        if not self._preference.is_quantity:
            return None
        rows = np.arange(len(self.answers))
        best = np.where(self.answers >= 0, self.merit[rows, self.answers], np.nan)[:, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            regret = np.maximum(self.merit - best, 0.0)
            return regret, np.where(regret == 0, 0.0, regret / np.abs(best))

    def candidates(self, today: int) -> tuple[Candidate, ...]:
        """Return every candidate; the first `today` rows are today's front."""
        regrets = self._regrets()
        names = tables.described(self.problem, self.rows)
        answers = np.bincount(self.answers[self.answers >= 0], minlength=len(self.rows))
        count = len(self.answers)
        found = []
        for place, name in enumerate(names):
            fits = self.feasible[:, place]
            entry = Candidate(
                name=name,
                point=tuple(self.rows[place].tolist()),
                today=place < today,
                feasible=float(fits.mean()),
                on_front=float(self.on_front[:, place].mean()),
                answer=float(answers[place] / count),
                **_summary(regrets, place, fits),
            )
            found.append(entry)
        first, *rest = found
        return (first, *sorted(rest, key=lambda entry: (-entry.answer, -entry.on_front)))


def _steady(candidates: tuple[Candidate, ...], answered: float) -> Candidate | None:
    """Return the least largest regret of the designs that are feasible wherever any is."""
    always = [
        entry
        for entry in candidates
        if entry.feasible == answered and entry.worst is not None and answered > 0
    ]
    return min(always, key=lambda entry: entry.worst or 0.0, default=None)


def _summary(
    regrets: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    place: int,
    fits: NDArray[np.bool_],
) -> dict[str, float]:
    if regrets is None or not fits.any():
        return {}
    regret, share = (values[fits, place] for values in regrets)
    return {
        "expected": float(regret.mean()),
        "worst": float(regret.max()),
        "expected_share": float(share.mean()),
        "worst_share": float(share.max()),
    }

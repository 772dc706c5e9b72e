"""Designs along one number: evaluated at its values, and the exact answer at some of them."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.errors import DseError
from dse.model.evaluation import distinct
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.model.space import Index, Space, as_index, blocks
from dse.parametric import screen
from dse.parametric.perturbed import (
    Compared,
    PerturbedDesigns,
    PerturbedPart,
    compare_together,
    ends_of,
    widest,
)
from dse.parametric.scale import LogScale
from dse.parametric.tracked_answer import AnswerDesigns, TrackedAnswer, answer_among, counting_as
from dse.search.exact.work import CALL, LOOK, EffortError, spend
from dse.study.assumptions import Assumption
from dse.study.demand import OFFERED, RATE, SIZE

IN_STEPS = frozenset((RATE, OFFERED, SIZE, "clock_hz", "interface_segment_byte", "interface_batch"))
"""What counts of instances, rounds of tasks and packets follow from, besides clocks of stages."""

DRAWN = 512
"""Designs drawn at random of those along a number with steps; of fewer, all."""

MOST_KEPT = 480
"""Problems at values that are kept."""


def in_steps(quantity: str) -> bool:
    """Whether with a number losses and violations may neither rise nor fall throughout."""
    return quantity in IN_STEPS or quantity.endswith(".clock")


class Track:
    """One number of a study, within limits, and what is known of the designs along it."""

    def __init__(
        self,
        entry: Assumption,
        tracked: TrackedAnswer,
        settings: search.SearchSettings,
        limits: tuple[float, float],
        size: float = 0.0,
    ) -> None:
        """Know nothing so far; `settings` say how much a search may take.

        `size` is how large a number is that may pass zero.
        """
        self.entry = entry
        self.limits = limits
        self.tracked = tracked
        self.scale = LogScale(entry.integer, entry.among, size if min(limits) <= 0.0 else 0.0)
        self.column = tracked.column(entry.problem)
        self.at = lru_cache(MOST_KEPT)(entry.at)
        self.ends = ends_of(entry, limits)
        self.space = widest(entry.problem, self.ends)
        self.rows: Index = entry.problem.hosts
        self._settings = replace(settings, method="exact", budget=None, options={}, partial=False)
        self._answers: dict[float, AnswerDesigns] = {}

    def near(self, rows: Index) -> Index:
        """Return designs next to some, to those that are known, and others of the space."""
        sizes = np.array(self.space.sizes)
        if math.prod(self.space.sizes) <= DRAWN:
            return as_index(next(blocks(self.space.sizes, DRAWN)))
        drawn = np.random.default_rng(0).integers(0, sizes, (DRAWN, len(sizes)))
        step = np.eye(len(sizes), dtype=np.int64)
        known = distinct(np.vstack([rows, self.rows]))[: DRAWN // len(sizes)]
        beside = (known[:, np.newaxis] + np.vstack([step, -step])).reshape(-1, len(sizes))
        beside = beside[((beside >= 0) & (beside < sizes)).all(axis=1)]
        return distinct(np.vstack([beside, drawn]))

    def know(self, value: float, front: Index, answer: AnswerDesigns) -> None:
        """Take the front (n, d) at a value, and the answer there."""
        self._answers[value] = answer
        self.rows = distinct(np.vstack([self.rows, front]))

    def pick(self, value: float) -> AnswerDesigns:
        """Return the answer at a value, searched exactly once."""
        if value not in self._answers:
            front = self._front(self.at(value))
            self.know(value, front, answer_among(self.at(value), front, self.tracked))
        return self._answers[value]

    def learns(self, value: float) -> bool:
        """Whether the best designs at a value, searched exactly, were not known.

        Where one loss decides it alone is searched for, which takes much less than a front.
        """
        known = len(self.rows)
        if self.column is None:
            self.pick(value)
        elif value not in self._answers:
            problem = self.at(value)
            best = self._front(replace(problem, goals=(problem.goals[self.column],)))
            self.rows = distinct(np.vstack([self.rows, best]))
        return len(self.rows) > known

    def _front(self, problem: Problem) -> Index:
        try:
            return search.run_search(problem, self._settings).front_index
        finally:
            spend(LOOK)  # a search that was cut short proves nothing, whatever it says

    def ask(self, rows: Index, values: Sequence[float]) -> PerturbedPart:
        """Return the question how designs (n, d) do at values."""
        return PerturbedPart(self.entry, values, rows)

    def compare(self, rows: Index, values: Sequence[float]) -> Compared:
        """Return how designs (n, d) do at values."""
        return compare_together(self.entry.problem, self.space, [self.ask(rows, values)])[0]

    def least_counts(self, rows: Index, value: float) -> NDArray[np.float64]:
        """Return the least instances of designs at a value, (n, stages): nothing is evaluated."""
        part = PerturbedPart(self.entry, (value,), rows)
        return PerturbedDesigns(self.entry.problem, self.space, [part]).least_counts()

    def proves(self, answer: AnswerDesigns) -> bool:
        """Whether designs answer by one loss, or as the whole front: intervals are proven then."""
        one = self.tracked.front or (self.column is not None and len(answer.rows) == 1)
        return one and len(answer.rows) > 0 and not self.entry.problem.tolerant

    def holds(self, answer: AnswerDesigns, value: float) -> bool:
        """Whether an answer holds at a value among all designs that are known; in a tie it does."""
        problem, tracked = self.at(value), self.tracked
        rows = np.vstack([self.rows, answer.rows])
        spend(CALL + len(rows))
        if tracked.front:
            return answer_among(problem, distinct(rows), tracked).keys == answer.keys
        rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
        found = problem.evaluate(rows)
        rows, loss = rows[found.feasible], found.loss[found.feasible]
        same = counting_as(answer, problem, rows, tracked)
        if not same.any():
            return not len(rows) and not answer.keys
        kept = same.copy()
        kept[nondominated(loss)] = True
        rows, loss, same = rows[kept], loss[kept], same[kept]
        preference = tracked.preference
        keys = np.column_stack(preference.keys(problem, preference.merit(problem, rows), loss))
        own = keys[same][np.lexsort(keys[same].T[::-1])[:1]]
        return not screen.beats(keys[~same], own).any()


Found = TypeVar("Found")
Asking = Generator[PerturbedPart, Any, Found]
"""Asks how designs do, is sent what is `Compared`, and returns what it found."""


def in_step(
    tracks: Sequence[Track], asking: Sequence[Asking[Found]]
) -> Iterator[tuple[Track, Found]]:
    """Yield each track with what is found along it; what all ask at a time is answered together."""
    if not tracks:
        return
    problem = tracks[0].entry.problem
    space = widest(problem, [end for track in tracks for end in track.ends])
    given: dict[int, Compared | DseError | None] = dict.fromkeys(range(len(tracks)))
    while given:
        asks: dict[int, PerturbedPart] = {}
        for place, answer in given.items():
            one = asking[place]
            try:
                asks[place] = (
                    one.throw(answer) if isinstance(answer, DseError) else one.send(answer)
                )
            except StopIteration as ended:
                yield tracks[place], ended.value
        given = dict(zip(asks, _answers(problem, space, [*asks.values()]), strict=True))


def _answers(
    problem: Problem, space: Space, asks: Sequence[PerturbedPart]
) -> list[Compared | DseError]:
    """Return how all do; errors where that cannot be evaluated even alone."""
    try:
        return [*compare_together(problem, space, asks)]
    except EffortError:
        raise
    except DseError as error:
        if len(asks) == 1:
            return [error]
        return [answer for ask in asks for answer in _answers(problem, space, [ask])]

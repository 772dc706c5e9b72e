"""Searching what would change an answer: every assumption varied until the answer changes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dse.errors import ContractError, DseError
from dse.model.preference import Preference
from dse.model.space import Index
from dse.parametric.flips import (
    FACTOR,
    HARDLY,
    NEAR,
    NOTHING_FITS,
    SECTION,
    Flips,
    Stability,
)
from dse.parametric.perturbed import (
    Compared,
    PerturbedPart,
    compare_together,
    ends_of,
    same_space,
    widest,
)
from dse.parametric.proven import EFFORT, breakpoints_of, screened_answers
from dse.parametric.repairs.required import require_feasible
from dse.parametric.scale import NARROW, LogScale, limits_of
from dse.parametric.screen import Screen, composes, screened
from dse.parametric.track import Track, in_step, in_steps
from dse.parametric.tracked_answer import Breakpoint, TrackedAnswer, answer_among
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.runs import runner
from dse.runs.solved import Options
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.demand import RATE, SIZE
from dse.study.evidence import source_of
from dse.study.study import Study

Progress = Callable[[str, int, int], None]

FIRST = (RATE, SIZE, "budget_power_cap_w")
"""What is checked before all else, and the bounds of constraints."""

TOGETHER, SPACE = 128, 200_000
"""Assumptions that are ruled out together, and in spaces of how many designs; fewer in larger."""

IN_STEP = 16
"""Assumptions that are tracked at the same time: when the time is over, none of these is known."""

BEYOND = 1.1
"""How far beyond a flip its regret is: a tenth."""

STEP = 1.01
"""By how much each assumption moves to find what the answer depends on most."""


def find_flips(
    study: Study,
    *,
    preference: Preference | None = None,
    only: Sequence[str] = (),
    factor: float = FACTOR,
    known: Index | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Flips:
    """Return for every assumption of a study how far the answer holds.

    The demanded rate, sizes, caps and bounds come first, then what the answer depends on most.

    Parameters
    ----------
    study
        A prepared study.
    preference
        Which design is the answer; the study's own.
    only, progress
        As in `dse.flips`.
    factor
        Each assumption is varied between its value over this and its value times this.
    known
        The exact front (n, d), where it is known already.
    budget
        What it may take; assumptions that are left then are named.
    """
    chosen = every = assumptions_of(study, zero=True)
    if only:
        wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    budget = budget or Budget()
    front = proven_front(study, budget) if known is None else known
    tracked = TrackedAnswer(preference or study.preference)
    searched = _FlipSearch(study, tracked, front, factor)
    found: dict[str, Stability] = {}
    first = [entry.name for entry in chosen if is_first(entry)]
    with suppress(EffortError), limited(seconds=budget.left_s, byte=budget.byte):
        for entry in searched.at(searched.ordered(chosen)):
            found[entry.name] = entry
            if progress is not None:
                progress(entry.name, len(found), len(chosen))
    ranked = sorted(found.values(), key=lambda entry: (float(f"{entry.distance:.6g}"), entry.name))
    unchecked = [entry.name for entry in chosen if entry.name not in found]
    return Flips(
        study,
        tracked.preference.text,
        parts(study.problem, searched.answer.rows)[0],
        tuple(ranked),
        factor,
        budget.seconds,
        tuple(sorted(unchecked, key=lambda name: name not in first)),
        tuple(first),
        max(HARDLY, tracked.preference.tolerance),
    )


def proven_front(study: Study, budget: Budget) -> Index:
    """Return the exact front of a study, searched within a budget.

    Raises
    ------
    InfeasibleError
        No design is feasible.
    """
    effort_s, memory_byte = (
        None if math.isinf(one) else one for one in (budget.left_s, budget.byte)
    )
    options = Options(method="exact", effort_s=effort_s, memory_byte=memory_byte)
    answer = runner.solve_study(study, options)
    require_feasible(answer, budget=budget)
    return answer.outcome.front_index


def _in_turn(tracks: Sequence[Track]) -> Iterator[list[Track]]:
    """Yield tracks that are followed together: those that matter first by themselves."""
    for _, alike in itertools.groupby(tracks, lambda track: is_first(track.entry)):
        every = [*alike]
        yield from (every[first : first + IN_STEP] for first in range(0, len(every), IN_STEP))


def is_first(entry: Assumption) -> bool:
    """Whether an assumption is checked before others."""
    return entry.quantity in FIRST or entry.bound is not None


class _FlipSearch:
    """Checks assumptions of a study of which the exact front (n, d) is known."""

    def __init__(self, study: Study, tracked: TrackedAnswer, front: Index, factor: float) -> None:
        self.study = study
        self.tracked = tracked
        self.front = front
        self.factor = factor
        self.answer = answer_among(study.problem, front, tracked)

    def at(self, entries: Sequence[Assumption]) -> Iterator[Stability]:
        """Yield how far the answer holds: first those together that change nothing."""
        most = max(1, min(TOGETHER, TOGETHER * SPACE // self.study.problem.size))
        for at in range(0, len(entries), most):
            group = entries[at : at + most]
            still, rivals = self.unmoved(group)
            yield from still
            names = {entry.name for entry in still}
            tracks = [self._track(entry) for entry in group if entry.name not in names]
            proven = screened_answers(tracks, self.answer, rivals)
            for some in _in_turn(tracks):
                asking = [breakpoints_of(t, self.answer, proven.get(t.entry.name)) for t in some]
                for track, found in in_step(some, asking):
                    yield self._stability(track.entry, [self._end(track, end) for end in found])

    def _stability(self, entry: Assumption, ends: Sequence[Breakpoint]) -> Stability:
        evidence, _ = source_of(self.study, entry)
        return Stability(entry.name, entry.quantity, entry.value, ends[0], ends[1], evidence)

    def _track(self, entry: Assumption) -> Track:
        ends = self._limits(entry)
        scale_of = abs(entry.value) or max(map(abs, ends))
        track = Track(entry, self.tracked, self.study.settings, ends, scale_of)
        track.know(entry.value, self.front, self.answer)
        return track

    def _limits(self, entry: Assumption) -> tuple[float, float]:
        size = 0.0
        if entry.value <= 0.0 and entry.bound is not None:
            values = self.study.problem.describe(self.front).get(entry.quantity, np.zeros(1))
            size = float(np.abs(values).max())
        return limits_of(entry, self.factor, size)

    def ordered(self, entries: Sequence[Assumption]) -> list[Assumption]:
        """Return assumptions, those first that matter: see `find_flips`."""
        moves = {}
        with suppress(ContractError):
            wanted = [
                PerturbedPart(entry, (entry.value, _stepped(entry)), self.answer.rows[:1])
                for entry in entries
            ]
            seen = self._compared(wanted)
            moves = {e.name: _moved(one) for e, one in zip(entries, seen, strict=True)}
        return sorted(
            entries, key=lambda e: (not is_first(e), -round(moves.get(e.name, 0.0), 6), e.name)
        )

    def _compared(self, wanted: Sequence[PerturbedPart]) -> list[Compared]:
        if not wanted:
            return []
        ends = [end for one in wanted for end in ends_of(one.entry, one.values)]
        return compare_together(self.study.problem, widest(self.study.problem, ends), wanted)

    def unmoved(self, entries: Sequence[Assumption]) -> tuple[list[Stability], dict[str, Index]]:
        """Return what no design can change the answer of, in the whole range, screened together.

        Where one loss decides; and for others, by name, the designs that may.  Spaces that are
        composed are screened for one assumption after the other anyway.
        """
        problem, own = self.study.problem, self.answer.rows
        column = self.tracked.column(problem)
        alone = len(entries) == 1 or composes(problem)
        if alone or column is None or len(own) != 1 or problem.tolerant:
            return [], {}
        try:
            ends = [self._limits(entry) for entry in entries]
            wanted, questions = [], []
            for entry, (low, high) in zip(entries, ends, strict=True):
                cut = LogScale(entry.integer, entry.among, abs(entry.value)).cut
                sides = [*cut(low, entry.value, NARROW), *cut(entry.value, high, NARROW)]
                wanted.append(PerturbedPart(entry, sides, own))
            for ask, seen in zip(wanted, self._compared(wanted), strict=True):
                if seen.feasible.all() and (seen.counts == seen.counts[0]).all():
                    loss, low, high = seen.loss[:, 0], ask.values[0], ask.values[-1]
                    touched = ask.entry.touched if (loss == loss[0]).all() else None
                    worst = loss.max(axis=0)[np.newaxis]
                    questions.append(Screen(ask.entry, low, high, worst, touched, EFFORT))
            found = screened(problem, questions, column)
        except EffortError:
            raise
        except DseError:  # then each is checked alone
            return [], {}
        still, rivals = [], {}
        for question, rows in zip(questions, found, strict=True):
            sampled = in_steps(question.entry.quantity)  # between its ends, too
            if rows is not None and (rows == own).all() and not sampled:
                held = [Breakpoint(holds_to=end) for end in (question.low, question.high)]
                still.append(self._stability(question.entry, held))
            elif rows is not None:
                rivals[question.entry.name] = rows
        return still, rivals

    def _end(self, track: Track, found: Breakpoint) -> Breakpoint:
        """Return an end with the answer beyond in words, and what it costs to stay."""
        if found.flips_at is None or found.beyond is None:
            return found
        words = parts(track.at(found.flips_at), found.beyond.rows)
        becomes = next(iter(words), (NOTHING_FITS,))
        return replace(found, becomes=becomes, regret=self._regret(track, found.flips_at))

    def _regret(self, track: Track, flips_at: float) -> float | None:
        """Return how much worse the answer is than the best design known a tenth beyond a flip.

        Infinite where it is infeasible, or needs more instances than it has; None where no one
        number is compared, or fewer instances would do.
        """
        preference = self.tracked.preference
        if not preference.is_quantity:
            return None
        value = _beyond(track.entry, flips_at)
        with suppress(DseError):
            own = self.answer.rows[:1]
            more = track.least_counts(own, value) - track.least_counts(own, track.entry.value)
            if more.any():
                return math.inf if (more > 0).any() else None
            # a lower rate opens fewer counts, and today's are still there to stay with
            problem, _ = same_space(track.at(value), track.entry.problem)
            rows = np.vstack([own, track.rows])
            rows = rows[(rows < np.array(problem.sizes)).all(axis=1)]
            found = problem.evaluate(rows)
            if not found.feasible[0]:
                return math.inf
            merit = preference.merit(problem, rows, found.loss)
            best = float(merit[found.feasible].min())
            return (float(merit[0]) - best) / abs(best) if best else None
        return None


def _beyond(entry: Assumption, flips_at: float) -> float:
    """Return the value a tenth beyond a flip, seen from the nominal value."""
    if entry.among:
        return flips_at
    if entry.value * flips_at > 0:
        up = abs(flips_at) > abs(entry.value)
        value = flips_at * BEYOND if up else flips_at / BEYOND
    else:
        value = flips_at + (BEYOND - 1.0) * (flips_at - entry.value)
    if not entry.integer:
        return value
    return float(math.ceil(value) if flips_at > entry.value else max(math.floor(value), 1))


def _stepped(entry: Assumption) -> float:
    return entry.value if entry.among or entry.integer else entry.value * STEP


def _moved(seen: Compared) -> float:
    """Return how much a step moves the losses of a design, and its distance from constraints."""
    both = np.concatenate([seen.loss[:, 0], seen.violation[:, 0]], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        by = np.abs(np.diff(both, axis=0)[0] / both[0])
    return float(np.nan_to_num(by, nan=0.0, posinf=1.0).max(initial=0.0))


def flips_section(
    study: Study,
    front: Index,
    preference: Preference,
    *,
    exact: bool,
    full: bool,
    budget: Budget,
    progress: Progress | None = None,
) -> Section | None:
    """Return what would change the answer to a study; None where it is not worth a word.

    `exact` says whether its `front`, (n, d), is proven; `full` searches the whole range and shows
    every flip, as far as the budget goes.
    """
    if not exact:
        reason = "Flips are unknown, as the front is not proven; dse flips searches every design."
        return without_flips(reason) if full else None
    found = find_flips(
        study,
        preference=preference,
        factor=FACTOR if full else NEAR,
        known=front,
        budget=budget,
        progress=progress,
    )
    return found.section(full=full)


def without_flips(reason: str) -> Section:
    """Return the section of an answer whose flips are not searched."""
    return Section(*SECTION, (reason,), facts={"reason": reason}, brief=(reason,))

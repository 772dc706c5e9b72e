"""Searching what would change an answer: every assumption varied until the answer changes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.errors import ContractError, DseError
from dse.model.preference import Preference
from dse.model.space import Index
from dse.parametric.breakpoints import Breakpoint, Line, breakpoints, compare_lines
from dse.parametric.flips import (
    FACTOR,
    HARDLY,
    NEAR,
    NOTHING_FITS,
    SECTION,
    Flips,
    Stability,
)
from dse.parametric.infeasible import require_feasible
from dse.parametric.question import (
    AnswerDesigns,
    Compared,
    PerturbedPart,
    Question,
    compare_together,
    ends_of,
    limits_of,
    widest,
)
from dse.reports.designs import parts
from dse.reports.sections import Section
from dse.runs import runner
from dse.runs.solved import Options
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import (
    Assumption,
    assumptions_of,
    choose_assumptions,
    column_path,
    modelled_axes,
)
from dse.study.demand import RATE, SIZE
from dse.study.evidence import source_of
from dse.study.study import Study
from dse.study.workload_interface_budget import FREE

Progress = Callable[[str, int, int], None]

FIRST = (RATE, SIZE, "budget_power_cap_w")
"""What is checked before all else, and the bounds of constraints."""

TOGETHER, SPACE = 128, 200_000
"""Assumptions that are followed together, and in spaces of how many designs; fewer in larger."""

CHOSEN = FREE - {"workload.granularity"}
"""Fields that say how something is used, which nobody is wrong about."""

LARGEST = {"w": 1e3, "s": 1e-2, "m2": 1e-3, "cycles": 1e6, "byte": 1e6} | {
    "j_per_byte": 1e-6,
    "s_per_byte": 1e-6,
    "m2_per_bit": 1e-9,
    "w_per_bit": 1e-3,
}
"""How large a number could be that is zero, by its unit in SI."""

BEYOND = 1.1
"""How far beyond a flip a saving is compared: a tenth."""

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
    budget = budget or Budget()
    front = proven_front(study, budget) if known is None else known
    chosen = every = figures_of(study, front)
    if only:
        wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    question = Question(preference or study.preference)
    searched = _FlipSearch(study, question, front, factor)
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
        question.preference.text,
        parts(study.problem, searched.answer.rows)[0],
        tuple(ranked),
        factor,
        budget.seconds,
        tuple(sorted(unchecked, key=lambda name: name not in first)),
        tuple(first),
        max(HARDLY, question.preference.tolerance),
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


def is_first(entry: Assumption) -> bool:
    """Whether an assumption is checked before others."""
    return entry.quantity in FIRST or entry.bound is not None


class _FlipSearch:
    """Checks assumptions of a study of which the exact front (n, d) is known."""

    def __init__(self, study: Study, question: Question, front: Index, factor: float) -> None:
        self.study = study
        self.question = question
        self.front = front
        self.factor = factor
        self.answer = AnswerDesigns(frozenset(), question.preference.first(study.problem, front))

    def at(self, entries: Sequence[Assumption]) -> Iterator[Stability]:
        """Yield how far the answer holds along assumptions, some of which are followed together."""
        most = max(1, min(TOGETHER, TOGETHER * SPACE // self.study.problem.size))
        for _, alike in itertools.groupby(entries, is_first):
            every = [*alike]
            together = 1 if is_first(every[0]) else most  # so that few are lost when time ends
            for at in range(0, len(every), together):
                lines = [self._line(entry) for entry in every[at : at + together]]
                seen = lines[0].compare(self.answer.rows, [lines[0].entry.value])
                self.answer = self.question.answer(self.study.problem, seen)
                found = breakpoints(lines, [self.answer] * len(lines))
                sides = iter(self._worded(lines, found))
                for line in lines:
                    yield _stability(self.study, line.entry, [next(sides), next(sides)])

    def _line(self, entry: Assumption) -> Line:
        line = Line(entry, self.question, self.study.settings, self._limits(entry))
        line.learn(self.front)
        return line

    def _limits(self, entry: Assumption) -> tuple[float, float]:
        size = 0.0
        if entry.value == 0.0 and entry.bound is None:
            size = most_of(entry)
        elif entry.value <= 0.0 and entry.bound is not None:
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

    def _worded(self, lines: Sequence[Line], found: Sequence[Breakpoint]) -> Iterator[Breakpoint]:
        """Yield all ends with the answer beyond in words, and how much less that takes."""
        own = self.answer.rows[:1]
        ends = [(lines[at // 2], end) for at, end in enumerate(found)]
        asks = {
            id(end): (
                line,
                np.vstack([own, end.beyond.rows[:1]]),
                [_beyond(line.entry, end.flips_at)],
            )
            for line, end in ends
            if end.flips_at is not None and end.beyond is not None
        }
        seen = dict(zip(asks, compare_lines([*asks.values()]), strict=True))
        for line, end in ends:
            if end.beyond is None or end.flips_at is None:
                yield end
                continue
            words = parts(line.at(end.flips_at), end.beyond.rows[:1])
            saving = self._saving(line, end.flips_at, seen[id(end)])
            yield replace(end, becomes=next(iter(words), (NOTHING_FITS,)), saving=saving)

    def _saving(self, line: Line, flips_at: float, seen: Compared | DseError) -> float | None:
        """Return how much less the design beyond a flip takes than the answer, a tenth beyond.

        Infinite where the answer is infeasible, or needs more instances than it has; None where no
        one number is compared, or fewer instances would do.
        """
        preference, problem = self.question.preference, line.entry.problem
        if isinstance(seen, DseError) or not preference.is_quantity:
            return None
        (key,) = self.answer.keys
        more = seen.counts[0, 0] - key[len(key) - seen.counts.shape[2] :]
        if more.any():
            return math.inf if (more > 0).any() else None
        if not seen.feasible[0, 0]:
            return math.inf
        if not seen.feasible[0].all() or len(seen.rows) < 2:
            return None
        if line.column is None:
            problem = line.at(_beyond(line.entry, flips_at))
        own, other = preference.merit(problem, seen.rows, seen.loss[0]).tolist()
        return (own - other) / abs(own) if own else None


def _stability(study: Study, entry: Assumption, ends: Sequence[Breakpoint]) -> Stability:
    low, high = ends
    evidence, _ = source_of(study, entry)
    return Stability(entry.name, entry.quantity, entry.value, low, high, evidence)


def _beyond(entry: Assumption, flips_at: float) -> float:
    """Return the value a tenth beyond a flip, seen from the nominal value."""
    if entry.among:
        return flips_at
    if entry.value * flips_at > 0 or entry.value == 0.0:
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


def figures_of(study: Study, front: Index) -> tuple[Assumption, ...]:
    """Return the assumptions that somebody could be wrong about.

    Neither exponents, nor choices of the study, nor what a constraint equals; but numbers with a
    unit that a record gives as zero.  Of a large table, of designs of the `front`, (n, d).
    """
    rules = study.problem.constraints
    found = [
        entry
        for entry in assumptions_of(study, zero=True, of=front)
        if not (entry.bound is None and column_path(entry.quantity) in CHOSEN)
        and not units.stem(entry.quantity).endswith("exponent")
        and not (entry.bound is not None and "==" in rules[entry.bound[0]].text)
    ]
    return (*found, *_zeros(study))


def most_of(entry: Assumption) -> float:
    """Return up to where a number is moved that is zero: ten times the largest of a catalogue.

    Where that has none, as much as its unit says.
    """
    columns = [axis.columns.get(entry.quantity) for axis in entry.problem.space.axes]
    known = [np.nan_to_num(one, posinf=0.0).max() for one in columns if one is not None]
    largest = 10 * float(max(known, default=0.0))
    return max(largest, LARGEST.get(units.suffix(entry.quantity), 0.0)) or 1.0


def _zeros(study: Study) -> Iterator[Assumption]:
    """Yield what a record or the study gives as zero, of which a unit says how large it could be.

    A zero of another unit than the one that is given stands for nothing.
    """
    problem = study.problem
    places = {axis.name: place for place, axis in modelled_axes(problem)}
    for name, row, column in sorted(study.sureness.zeros):
        path, place = column_path(column), places.get(name)
        if not units.suffix(column):
            continue
        if place is not None and column in problem.space.axes[place].columns:
            label = f"{problem.space.axes[place].labels[row]}.{path.partition('.')[2]}"
            yield Assumption(label, column, 0.0, False, problem, (place, row))
        elif not name and column in problem.space.constants:
            yield Assumption(path, column, 0.0, False, problem)

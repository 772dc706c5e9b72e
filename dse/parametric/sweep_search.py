"""Searching where designs change places along a number, to a tenth of a per cent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from dse.algebra import units
from dse.errors import TooLargeError, UnitError, nearest
from dse.files.csv import is_number
from dse.files.document import Document
from dse.model.evaluation import distinct
from dse.model.problem import Problem
from dse.parametric.breakpoints import Line, intervals
from dse.parametric.crossovers import FRONT, AnswerInterval, Crossovers
from dse.parametric.question import AnswerDesigns, Question
from dse.reports.designs import objective_values, parts
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.axes import read_unit
from dse.study.overrides import override, sweep_of
from dse.study.study import Study
from dse.study.workload_interface_budget import DECLARED, FIELDS

KNOTS = 17
"""Points of a curve in each interval."""

T = TypeVar("T")

DOTS = ".."
EXAMPLE = "write for instance rate=1..240Gbps"


def read_range(found: Document, written: str | None) -> tuple[Study, Assumption, float, float]:
    """Return the study at the low end of a range, what is swept, and both ends in SI.

    Parameters
    ----------
    found
        The study's document.
    written
        ``NAME=FROM..TO``; None for the range of the study's sweep.
    """
    name, low, high = _own_sweep(found) if written is None else _split(written)
    if is_number(low):  # it has the unit of the high end
        low = f"{low} {high.rstrip().lstrip('+-0123456789.eE ')}".rstrip()
    path = _field(name)
    if path is not None:
        unit = FIELDS.get(path)
        if unit is None:
            raise UnitError(f"{path} takes choices, not numbers", "sweep a number")
        column, _ = (_end(name, end, read_unit(unit)).column for end in (low, high))
        prepared = study.prepare(override(found, [(path, low)]))
        known = assumptions_of(prepared)
        chosen = tuple(a for a in known if a.quantity == column and a.name == path)
    else:
        prepared = study.prepare(found)
        chosen = choose_assumptions(assumptions_of(prepared), name)
    if not chosen:
        raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")
    if len(chosen) != 1:
        listed = ", ".join(entry.name for entry in chosen[:6])
        raise UnitError(f"{name!r} stands for several numbers", f"write one of {listed}")
    parse = partial(units.parse, name=chosen[0].quantity)
    first, last = (_end(name, end, parse) for end in (low, high))
    if not 0 < first < last:
        raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")
    return prepared, chosen[0], first, last


def _end(name: str, end: str, read: Callable[[str], T]) -> T:
    """Return an end of the range of `name`; a fault says which it is."""
    try:
        return read(end)
    except UnitError as error:
        raise UnitError(f"{name} {end!r}: {error.rule}", error.remedy) from error


def _own_sweep(found: Document) -> tuple[str, str, str]:
    sweep = sweep_of(found)
    if sweep is None:
        raise UnitError("the study has no sweep of a number, and no range was given", EXAMPLE)
    if not sweep.column:
        rule = f"the study sweeps {sweep.path}, and nothing is known between its values"
        raise UnitError(rule, "ask `dse answer` for each, or give a range NAME=FROM..TO")
    numbers = [float(value) for value in sweep.values]
    low, high = (units.exact_text(value, sweep.column) for value in (min(numbers), max(numbers)))
    return sweep.path, low, high


def _split(written: str) -> tuple[str, str, str]:
    name, _, rest = written.rpartition("=")  # a bound is named as it is written, a <= 1 um2
    low, dots, high = rest.partition(DOTS)
    if not (name.strip() and low.strip() and dots and high.strip()):
        raise UnitError(f"{written!r} is no range NAME=FROM..TO", EXAMPLE)
    return name.strip(), low.strip(), high.strip()


def _field(name: str) -> str | None:
    """Return the field that `name` is, or is short for; None when it is none."""
    if name in DECLARED:
        return name
    short = [path for path in DECLARED if path.partition(".")[2] == name]
    if len(short) > 1:
        raise UnitError(f"{name!r} stands for several fields", nearest(name, short))
    return short[0] if short else None


def find_crossovers(
    found: Document,
    written: str | None,
    *,
    prefer: str | None = None,
    front: bool = False,
    counts: bool = False,
    by: Sequence[str] = (),
    budget: Budget | None = None,
    progress: Callable[[float], None] | None = None,
) -> Crossovers:
    """Return who holds which part of a range; parameters as in `dse.decision_map`.

    Raises
    ------
    UnitError
        When the range cannot be read, or names nothing that the study assumes.
    StudyError
        When the study has faults.
    TooLargeError
        When the time is over before anything is known.
    """
    prepared, assumption, low, high = read_range(found, written)
    budget = (budget or Budget()).within(prepared.settings)
    question = Question(
        prepared.preferring(prefer),
        front=front,
        counts=counts,
        by=tuple(axis_of(prepared.problem, name) for name in by),
    )
    line = Line(assumption, question, prepared.settings, (low, high))
    intervals: list[AnswerInterval] = []
    curve: list[tuple[float, ...]] = []
    try:
        with limited(seconds=budget.left_s, byte=budget.byte) as work:
            for interval, answer in intervals_of(line):
                points = [] if front else _points(line, answer, interval)
                intervals.append(interval)
                if points:
                    first, last = points[0][1:], points[-1][1:]
                    intervals[-1] = replace(interval, first=first, last=last)
                    curve += [*points, (interval.high,)]
                if progress is not None:
                    progress(float(np.log(interval.high / low) / np.log(high / low)))
    except EffortError as error:
        limit = work.ended or str(error)
        if not intervals:
            raise TooLargeError(f"{limit}: not even the answer at one end is known") from error
        intervals[-1] = replace(intervals[-1], limited=limit)
    width = 1 + len(prepared.problem.goals)
    padded = [(*row, *[np.nan] * (width - len(row))) for row in curve]
    return Crossovers(
        prepared,
        assumption,
        low,
        high,
        FRONT if front else question.preference.text,
        tuple(intervals),
        np.array(padded).reshape(-1, width),
    )


def axis_of(problem: Problem, name: str) -> int:
    """Return the index of the axis called `name`, or whose path ends with it."""
    names = [axis.name for axis in problem.space.axes]
    fitting = [number for number, full in enumerate(names) if f".{full}".endswith(f".{name}")]
    if len(fitting) != 1:
        raise UnitError(f"{name!r} is no axis of the study", nearest(name, names))
    return fitting[0]


def intervals_of(line: Line) -> Iterator[tuple[AnswerInterval, AnswerDesigns]]:
    """Yield the intervals of a line, one after the other, and what answers there."""
    question = line.question
    for start, found, answer in intervals(line):
        texts = parts(line.at(start), answer.rows, counts=question.counts, by=question.by)
        designs = tuple(dict.fromkeys(", ".join(text) for text in texts))
        yield AnswerInterval(start, found.holds_to, designs, found.proof, found.limited), answer


def objectives_at(
    line: Line, answer: AnswerDesigns, values: Sequence[float]
) -> list[tuple[float, ...]]:
    """Return the objectives of an answer at values, of its best design where several count as it.

    None of them where no design is feasible.
    """
    rows = answer.rows[:1]
    if line.question.by:  # another design may be the best that counts as the answer
        known = [some for some in map(line.known, values) if some is not None]
        rows = distinct(np.vstack([answer.rows, line.pool, *known]))
    seen = line.compare(rows, values)
    own, column, found = line.question.own(answer, seen) & seen.feasible, line.column, []
    for at in range(len(values)):
        fit = np.flatnonzero(own[at])
        loss = seen.loss[at, fit]
        best = loss[[] if not len(fit) else [loss[:, column or 0].argmin()]]
        goals = [tuple(objective_values(line.entry.problem, one).values()) for one in best]
        found.append(goals[0] if goals else ())
    return found


def _points(line: Line, answer: AnswerDesigns, interval: AnswerInterval) -> list[tuple[float, ...]]:
    """Return values from one end of an interval to the other, each with the objectives there."""
    values = line.scale.values(interval.low, interval.high, KNOTS)
    found = objectives_at(line, answer, values)
    return [(value, *there) for value, there in zip(values, found, strict=True)]

"""Searching where designs change places along a number, to a tenth of a per cent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dse.errors import UnitError, nearest
from dse.files.document import Document
from dse.model.preference import prefer
from dse.model.problem import Problem
from dse.reports.designs import parts
from dse.stability import swept_range
from dse.stability.boundary import Line
from dse.stability.crossovers import FRONT, AnswerInterval, Crossovers
from dse.stability.tracking import Pool, TrackedAnswer, look

KNOTS = 16
"""Points of a curve in each interval."""


def find_crossovers(
    found: Document,
    written: str | None,
    *,
    preferred: str | None = None,
    front: bool = False,
    counts: bool = False,
    by: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> Crossovers:
    """Return who holds which part of a range.

    Parameters
    ----------
    found
        The study's document.
    written
        ``NAME=FROM..TO``, where NAME is an assumption; None for the range of the study's sweep.
    preferred
        What is preferred, as `dse.model.preference.prefer` takes it.
    front
        Follow which designs are on the front, whatever is preferred.
    counts
        Tell designs apart by the number of instances too where it follows from the rate.
    by
        Axes that alone tell designs apart, ``device`` for instance; all of them when empty.
    progress
        Called with the share of the range that is done.

    Raises
    ------
    UnitError
        When the range cannot be read, or names nothing that the study assumes.
    StudyError
        When the study has faults.
    """
    prepared, assumption, low, high = swept_range.read_range(found, written)
    question = TrackedAnswer(
        prefer(prepared.problem, preferred),
        front=front,
        counts=counts,
        by=tuple(_axis(prepared.problem, name) for name in by),
    )
    pool = Pool(np.empty((0, len(prepared.problem.sizes)), dtype=np.int64))
    line = Line(assumption.at, question, pool, integer=assumption.integer)
    intervals = []
    for interval in _follow(line, low, high):
        intervals.append(interval)
        if progress is not None:
            progress(float(np.log(interval.high / low) / np.log(high / low)))
    followed = FRONT if front else question.preference.text
    curve = np.empty((0, 1)) if front else _curve(line, intervals)
    return Crossovers(prepared, assumption, low, high, followed, tuple(intervals), curve)


def _axis(problem: Problem, name: str) -> int:
    """Return the position of the axis called `name`, or whose path ends with it."""
    names = [axis.name for axis in problem.space.axes]
    fitting = [place for place, full in enumerate(names) if f".{full}".endswith(f".{name}")]
    if len(fitting) != 1:
        raise UnitError(f"{name!r} is no axis of the study", nearest(name, names))
    return fitting[0]


def _follow(line: Line, low: float, high: float) -> Iterator[AnswerInterval]:
    question = line.question
    start: float | None = low
    while start is not None:
        edge = line.edge(start, high) if start < high else None
        end = high if edge is None else edge.inside
        rows = line.exact(start).rows
        texts = parts(line.problem(start), rows, counts=question.counts, by=question.by)
        designs = tuple(dict.fromkeys(", ".join(text) for text in texts))
        first, last = ((), ()) if question.front else (_goals(line, start), _goals(line, end))
        yield AnswerInterval(start, end, designs, first, last, edge is None or edge.complete)
        start = None if edge is None else edge.outside


def _goals(line: Line, value: float) -> tuple[float, ...]:
    """Return the objectives of the answer at a value, as the pool has it."""
    problem = line.problem(value)
    rows = look(problem, line.pool.rows, line.question).rows[:1]
    if not len(rows):
        return ()
    loss = problem.evaluate(rows).loss[0]
    pairs = zip(problem.goals, loss, strict=True)
    return tuple(float(-entry if goal.maximise else entry) for goal, entry in pairs)


def _curve(line: Line, intervals: Sequence[AnswerInterval]) -> NDArray[np.float64]:
    """Return objectives of the answer along the range, NaN between two intervals."""
    count = len(line.problem(intervals[0].low).goals)
    rows = []
    for interval in intervals:
        steps = np.geomspace(interval.low, interval.high, KNOTS)
        for value in steps[1:-1].tolist() if interval.low < interval.high else []:
            rows.append((value, *_goals(line, value)))
        ends = ((interval.low, *interval.first), (interval.high, *interval.last))
        rows += [*ends, (interval.high,)]
    padded = [(*row, *[np.nan] * (1 + count - len(row))) for row in rows]
    order = sorted(range(len(padded)), key=lambda place: padded[place][0])
    return np.array([padded[place] for place in order])

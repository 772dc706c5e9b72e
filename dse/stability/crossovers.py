"""Which design holds which interval of a number, and where they change places exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import UnitError, nearest
from dse.files.document import Document
from dse.model.preference import prefer
from dse.model.problem import Problem
from dse.reports import report
from dse.reports.designs import parts
from dse.stability import swept_range
from dse.stability.boundary import Line
from dse.stability.flips import NOTHING_FITS
from dse.stability.tracking import Pool, Question, look
from dse.study.assumptions import Assumption
from dse.study.study import Study

FRONT = "the front"
KNOTS = 16
"""Points of a curve in each interval."""


@dataclass(frozen=True)
class Interval:
    """Where the same designs answer: from `low` to `high`, in SI.

    Attributes
    ----------
    low, high
        The first and the last value at which they were found to.
    designs
        What they are, in words; one unless the whole front is followed, none when nothing fits.
    first, last
        The objectives of the answer at both ends, in the order of the study; empty for none.
    complete
        Whether every design was compared between `low` and `high`.
    """

    low: float
    high: float
    designs: tuple[str, ...]
    first: tuple[float, ...]
    last: tuple[float, ...]
    complete: bool


@dataclass(frozen=True)
class Crossovers:
    """A number, its range, and who holds which part of it.

    Attributes
    ----------
    study
        The study at the low end.
    assumption
        What was swept.
    low, high
        The range, in SI.
    followed
        What was followed, in words: a preference, or the front.
    intervals
        In order; together they cover the range, up to where the space grows too large.
    curve
        For the answer of a preference, (n, 1 + goals): values of the number and objectives there.
    """

    study: Study
    assumption: Assumption
    low: float
    high: float
    followed: str
    intervals: tuple[Interval, ...]
    curve: NDArray[np.float64]

    def held(self) -> dict[str, list[tuple[float, float]]]:
        """Return for each design where it answers, touching intervals joined."""
        found: dict[str, list[tuple[float, float]]] = {}
        previous: tuple[str, ...] = ()
        for interval in self.intervals:
            for design in interval.designs:
                spans = found.setdefault(design, [])
                if design in previous:
                    spans[-1] = (spans[-1][0], interval.high)
                else:
                    spans.append((interval.low, interval.high))
            previous = interval.designs
        return found


def of_range(
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
    prepared, assumption, low, high = swept_range.read(found, written)
    question = Question(
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


def _follow(line: Line, low: float, high: float) -> Iterator[Interval]:
    question = line.question
    start: float | None = low
    while start is not None:
        edge = line.edge(start, high) if start < high else None
        end = high if edge is None else edge.inside
        rows = line.exact(start).rows
        texts = parts(line.problem(start), rows, counts=question.counts, by=question.by)
        designs = tuple(dict.fromkeys(", ".join(text) for text in texts))
        first, last = ((), ()) if question.front else (_goals(line, start), _goals(line, end))
        yield Interval(start, end, designs, first, last, edge is None or edge.complete)
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


def _curve(line: Line, intervals: Sequence[Interval]) -> NDArray[np.float64]:
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


def text(crossovers: Crossovers) -> str:
    """Return the intervals as a table."""
    quantity = crossovers.assumption.quantity
    ends = [units.show(end, quantity) for end in (crossovers.low, crossovers.high)]
    title = f"{crossovers.followed}, {crossovers.assumption.name} from {ends[0]} to {ends[1]}"
    if crossovers.followed == FRONT:
        table = report.catalogue(_front_rows(crossovers), ("design", "on the front"))
    else:
        goals = [goal.name for goal in crossovers.study.problem.goals]
        headers = ("from", "to", *(units.stem(name).replace("_", " ") for name in goals), "design")
        table = report.catalogue(_rows(crossovers), headers)
    return "\n\n".join([title, table, *_notes(crossovers)])


def _rows(crossovers: Crossovers) -> Iterator[tuple[str, ...]]:
    quantity = crossovers.assumption.quantity
    for interval in crossovers.intervals:
        ends = [_precise(end, quantity) for end in (interval.low, interval.high)]
        goals = [goal.name for goal in crossovers.study.problem.goals]
        values = [
            f"{units.show(one, name)} to {units.show(other, name)}"
            for name, one, other in zip(goals, interval.first, interval.last, strict=False)
        ] or [""] * len(goals)
        yield (*ends, *values, ", ".join(interval.designs) or NOTHING_FITS)


def _front_rows(crossovers: Crossovers) -> Iterator[tuple[str, str]]:
    quantity = crossovers.assumption.quantity
    for design, spans in crossovers.held().items():
        shown = (f"{_precise(a, quantity)} to {_precise(b, quantity)}" for a, b in spans)
        yield design, ", ".join(shown)


def _precise(value: float, quantity: str) -> str:
    """Return a value with its unit and six digits, as crossovers deserve."""
    factor, unit = units.scale([value], quantity)
    return f"{value / factor:.6g} {unit}".rstrip()


def _notes(crossovers: Crossovers) -> list[str]:
    notes = []
    if not all(interval.complete for interval in crossovers.intervals):
        notes.append(
            "not every design was compared: for a knee or an expression, and in large spaces, the "
            "answer was searched exactly at some values only"
        )
    end = crossovers.intervals[-1].high
    if end < crossovers.high:
        reached = units.show(end, crossovers.assumption.quantity)
        notes.append(f"beyond {reached} the space is too large to search exactly")
    return notes


def plain(crossovers: Crossovers) -> dict[str, Any]:
    """Return the intervals as plain data in SI."""
    suffix = units.suffix(crossovers.assumption.quantity)
    unit = f"_{suffix}" if suffix else ""
    goals = [goal.name for goal in crossovers.study.problem.goals]
    return {
        "swept": crossovers.assumption.name,
        f"from{unit}": crossovers.low,
        f"to{unit}": crossovers.high,
        "followed": crossovers.followed,
        "intervals": [
            {
                f"from{unit}": interval.low,
                f"to{unit}": interval.high,
                "designs": list(interval.designs),
                "at_from": dict(zip(goals, interval.first, strict=False)),
                "at_to": dict(zip(goals, interval.last, strict=False)),
                "every_design_compared": interval.complete,
            }
            for interval in crossovers.intervals
        ],
        "held": [
            {"design": design, f"intervals{unit}": [list(span) for span in spans]}
            for design, spans in crossovers.held().items()
        ],
    }

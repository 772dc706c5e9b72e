"""Which design holds which interval of a number, and where they change places exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import TooLargeError, UnitError, nearest
from dse.files.csv import is_number
from dse.files.document import Document
from dse.model.evaluation import distinct
from dse.model.labels import labelled_line
from dse.model.problem import Problem
from dse.parametric.breakpoints import Line, intervals, proofs_text
from dse.parametric.flips import NOTHING_FITS
from dse.parametric.question import AnswerDesigns, Question
from dse.reports.designs import objective_values, parts
from dse.reports.sections import Section, html
from dse.reports.text import Printable, in_words, table_text, unit_suffix
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.axes import read_unit
from dse.study.overrides import override, sweep_of
from dse.study.study import Study
from dse.study.workload_interface_budget import DECLARED, FIELDS

FRONT = "the front"

KNOTS = 17
"""Points of a curve in each interval."""

T = TypeVar("T")

DOTS = ".."
EXAMPLE = "write for instance rate=1..240Gbps"


@dataclass(frozen=True)
class AnswerInterval:
    """Where the same designs answer: from `low` to `high`, in SI, as far as was found.

    `designs` are in words, one unless the whole front is followed, none when nothing fits;
    `proof` says what was compared in between; `limited` is why nothing is known
    beyond `high`, if it is not the range's end; `first` and `last` are the objectives of the answer
    at both ends, empty for none, or where nobody asks.
    """

    low: float
    high: float
    designs: tuple[str, ...]
    proof: str
    limited: str = ""
    first: tuple[float, ...] = ()
    last: tuple[float, ...] = ()


@dataclass(frozen=True, repr=False)
class Crossovers(Printable):
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
    intervals: tuple[AnswerInterval, ...]
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

    def text(self) -> str:
        """Return the intervals as a table."""
        found = self._section
        table = table_text(found.rows, found.headers)
        return "\n\n".join([found.title, table, *found.remarks])

    def _repr_html_(self) -> str:
        return html("", [self._section])

    @property
    def _section(self) -> Section:
        quantity = self.assumption.quantity
        ends = [units.show(end, quantity) for end in (self.low, self.high)]
        title = f"{self.followed}, {self.assumption.name} from {ends[0]} to {ends[1]}"
        headers: tuple[str, ...] = ("design", "on the front")
        rows: tuple[tuple[str, ...], ...] = tuple(_front_rows(self))
        if self.followed != FRONT:
            goals = [goal.name for goal in self.study.problem.goals]
            headers, rows = ("from", "to", *map(in_words, goals), "design"), tuple(_rows(self))
        remarks = tuple(_notes(self))
        return Section("intervals", title, headers=headers, rows=rows, remarks=remarks)

    def to_dict(self) -> dict[str, Any]:
        """Return the intervals as plain data in SI."""
        unit = unit_suffix(self.assumption.quantity)
        goals = [goal.name for goal in self.study.problem.goals]
        return {
            "swept": self.assumption.name,
            f"from{unit}": self.low,
            f"to{unit}": self.high,
            "followed": self.followed,
            "intervals": [
                {
                    f"from{unit}": interval.low,
                    f"to{unit}": interval.high,
                    "designs": list(interval.designs),
                    "at_from": dict(zip(goals, interval.first, strict=False)),
                    "at_to": dict(zip(goals, interval.last, strict=False)),
                    "proof": interval.proof,
                }
                for interval in self.intervals
            ],
            f"settled_to{unit}": self.intervals[-1].high,
            "range_ends_where": self.intervals[-1].limited or None,
            "held": [
                {"design": design, f"intervals{unit}": [list(span) for span in spans]}
                for design, spans in self.held().items()
            ],
        }


def _rows(crossovers: Crossovers) -> Iterator[tuple[str, ...]]:
    quantity = crossovers.assumption.quantity
    intervals = crossovers.intervals
    ends = _distinct([intervals[0].low, *(one.high for one in intervals)], quantity)
    for interval, *between in zip(intervals, ends[:-1], ends[1:], strict=True):
        goals = [goal.name for goal in crossovers.study.problem.goals]
        values = [
            " to ".join(dict.fromkeys(units.show(end, name) for end in (one, other)))
            for name, one, other in zip(goals, interval.first, interval.last, strict=False)
        ] or [""] * len(goals)
        answer = labelled_line(", ".join(interval.designs), crossovers.study.problem.labels)
        yield (*between, *values, answer or NOTHING_FITS)


def _front_rows(crossovers: Crossovers) -> Iterator[tuple[str, str]]:
    held = crossovers.held()
    ends = sorted({end for spans in held.values() for span in spans for end in span})
    text = dict(zip(ends, _distinct(ends, crossovers.assumption.quantity), strict=True))
    for design, spans in held.items():
        within = ", ".join(f"{text[low]} to {text[high]}" for low, high in spans)
        yield labelled_line(design, crossovers.study.problem.labels), within


def _distinct(values: Sequence[float], quantity: str) -> list[str]:
    """Return values with their units, all to as few digits as tell them apart, four at least."""
    scales = [units.scale([value], quantity) for value in values]
    shown = [value / factor for value, (factor, _) in zip(values, scales, strict=True)]
    texts: list[str] = []
    for least in range(4, 13):
        digits = (max(least, len(f"{abs(one):.0f}")) for one in shown)  # all before the point
        numbers = (f"{one:.{count}g}" for one, count in zip(shown, digits, strict=True))
        texts = [f"{one} {unit}".rstrip() for one, (_, unit) in zip(numbers, scales, strict=True)]
        if len({*texts}) == len({*values}):
            break
    return texts


def _notes(crossovers: Crossovers) -> list[str]:
    notes = []
    notes.append(f"Compared in each interval: {proofs_text(crossovers.intervals)}.")
    last = crossovers.intervals[-1]
    if last.limited:
        reached = units.show(last.high, crossovers.assumption.quantity)
        notes.append(f"stopped at {reached}: above it {last.limited}")
    return notes


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

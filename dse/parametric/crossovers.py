"""Which design holds which interval of a number, and where they change places exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

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
from dse.study.overrides import override
from dse.study.study import Study
from dse.study.workload_interface_budget import DECLARED, FIELDS

KNOTS = 17
"""Points of a curve in each interval."""

T = TypeVar("T")

DOTS = ".."
_EXAMPLE = "write for instance rate=1..240Gbps"


@dataclass(frozen=True)
class AnswerInterval:
    """Where one design answers: from `low` to `high`, in SI, as far as was found.

    `designs` is that one in words, or none when nothing fits; `proof` says what was compared in
    between; `limited` is why nothing is known beyond `high`, if it is not the range's end.  Of
    `curve` each row is a value, the first and last are the ends, and the objectives there, where
    something fits.
    """

    low: float
    high: float
    designs: tuple[str, ...]
    proof: str
    limited: str = ""
    curve: tuple[tuple[float, ...], ...] = ()

    @property
    def name(self) -> str:
        """The answer."""
        return self.designs[0] if self.designs else NOTHING_FITS

    @property
    def first(self) -> tuple[float, ...]:
        """The objectives at the low end."""
        return self.curve[0][1:]

    @property
    def last(self) -> tuple[float, ...]:
        """The objectives at the high end."""
        return self.curve[-1][1:]

    def facts(self, quantity: str, goals: Sequence[str]) -> dict[str, Any]:
        """Return its ends, what is known of them and of what is between, as plain data."""
        unit = unit_suffix(quantity)
        return {
            f"from{unit}": self.low,
            f"to{unit}": self.high,
            "answer": self.name,
            "at_from": dict(zip(goals, self.first, strict=False)),
            "at_to": dict(zip(goals, self.last, strict=False)),
            "proof": self.proof,
        }


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
        The preference that was followed, in words.
    intervals
        In order; together they cover the range, up to where the space grows too large.
    """

    study: Study
    assumption: Assumption
    low: float
    high: float
    followed: str
    intervals: tuple[AnswerInterval, ...]

    def text(self) -> str:
        """Return the intervals as a table."""
        found = self._section
        table = table_text(found.rows, found.headers)
        return "\n\n".join([found.title, table, *found.remarks])

    def _repr_html_(self) -> str:
        return html("", [self._section])

    @property
    def _section(self) -> Section:
        show, last = self.assumption.show, self.intervals[-1]
        title = (
            f"{self.followed}, {self.assumption.name} from {show(self.low)} to {show(self.high)}"
        )
        headers = ("from", "to", *map(in_words, self.goals), "design")
        notes = [f"Compared in each interval: {proofs_text(self.intervals)}."]
        if last.limited:
            notes.append(f"stopped at {show(last.high)}: above it {last.limited}")
        rows = tuple(self._rows())
        return Section("intervals", title, headers=headers, rows=rows, remarks=tuple(notes))

    @property
    def goals(self) -> list[str]:
        """The names of the objectives."""
        return [goal.name for goal in self.study.problem.goals]

    def to_dict(self) -> dict[str, Any]:
        """Return the intervals as plain data in SI."""
        quantity, last = self.assumption.quantity, self.intervals[-1]
        unit = unit_suffix(quantity)
        return {
            "swept": self.assumption.name,
            f"from{unit}": self.low,
            f"to{unit}": self.high,
            "followed": self.followed,
            "intervals": [one.facts(quantity, self.goals) for one in self.intervals],
            f"settled_to{unit}": last.high,
            "range_ends_where": last.limited or None,
        }

    def _rows(self) -> Iterator[tuple[str, ...]]:
        ends = [self.intervals[0].low, *(one.high for one in self.intervals)]
        texts = _distinct(ends, self.assumption.quantity)
        for one, *between in zip(self.intervals, texts[:-1], texts[1:], strict=True):
            values = [
                " to ".join(dict.fromkeys(units.show(end, name) for end in pair))
                for name, *pair in zip(self.goals, one.first, one.last, strict=False)
            ] or [""] * len(self.goals)
            yield (*between, *values, labelled_line(one.name, self.study.problem.labels))


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


def read_range(found: Document, written: str) -> tuple[Study, Assumption, float, float]:
    """Return the study at the low end of a range, what is swept, and both ends in SI.

    Parameters
    ----------
    found
        The study's document.
    written
        ``NAME=FROM..TO``.
    """
    name, _, rest = written.rpartition("=")  # a bound is named as it is written, a <= 1 um2
    name, (low, _, high) = name.strip(), (end.strip() for end in rest.partition(DOTS))
    if not (name and low and high):
        raise UnitError(f"{written!r} is no range NAME=FROM..TO", _EXAMPLE)
    if is_number(low):  # it has the unit of the high end
        low = f"{low} {high.lstrip('+-0123456789.eE ')}".rstrip()
    prepared, chosen = _named(found, name, low, high)
    if len(chosen) > 1:
        listed = ", ".join(entry.name for entry in chosen[:6])
        raise UnitError(f"{name!r} stands for several numbers", f"write one of {listed}")
    for entry in chosen:
        parse = partial(units.parse, name=entry.quantity)
        first, last = (_end(name, end, parse) for end in (low, high))
        if 0 < first < last:
            return prepared, entry, first, last
    raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")


def _named(found: Document, name: str, low: str, high: str) -> tuple[Study, tuple[Assumption, ...]]:
    """Return the study at the low end of a number, and which of its assumptions have that name."""
    path = _field(name)
    if path is None:
        prepared = study.prepare(found)
        return prepared, choose_assumptions(assumptions_of(prepared), name)
    unit = FIELDS.get(path)
    if unit is None:
        raise UnitError(f"{path} takes choices, not numbers", "sweep a number")
    column, _ = (_end(name, end, read_unit(unit)).column for end in (low, high))
    prepared = study.prepare(override(found, [(path, low)]))
    known = assumptions_of(prepared)
    return prepared, tuple(a for a in known if a.quantity == column and a.name == path)


def _end(name: str, end: str, read: Callable[[str], T]) -> T:
    """Return an end of the range of `name`; a fault says which it is."""
    try:
        return read(end)
    except UnitError as error:
        raise UnitError(f"{name} {end!r}: {error.rule}", error.remedy) from error


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
    written: str,
    *,
    prefer: str | None = None,
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
    axes = tuple(axis_of(prepared.problem, name) for name in by)
    question = Question(prepared.preferring(prefer), counts=counts, by=axes)
    line = Line(assumption, question, prepared.settings, (low, high))
    intervals: list[AnswerInterval] = []
    try:
        with limited(seconds=budget.left_s, byte=budget.byte) as work:
            for one in intervals_of(line, KNOTS):
                intervals.append(one)
                if progress is not None:
                    progress(float(np.log(one.high / low) / np.log(high / low)))
    except EffortError as error:
        limit = work.ended or str(error)
        if not intervals:
            raise TooLargeError(f"{limit}: not even the answer at one end is known") from error
        intervals[-1] = replace(intervals[-1], limited=limit)
    text = question.preference.text
    return Crossovers(prepared, assumption, low, high, text, tuple(intervals))


def axis_of(problem: Problem, name: str) -> int:
    """Return the index of the axis called `name`, or whose path ends with it."""
    names = [axis.name for axis in problem.space.axes]
    fitting = [number for number, full in enumerate(names) if f".{full}".endswith(f".{name}")]
    if len(fitting) != 1:
        raise UnitError(f"{name!r} is no axis of the study", nearest(name, names))
    return fitting[0]


def intervals_of(line: Line, knots: int = 2) -> Iterator[AnswerInterval]:
    """Yield the intervals of a line, one after the other, each with its curve."""
    question = line.question
    for low, found, answer in intervals(line):
        texts = parts(line.at(low), answer.rows, counts=question.counts, by=question.by)
        designs = tuple(", ".join(text) for text in texts[:1])
        values = line.scale.values(low, found.holds_to, knots)
        values = values if len(values) > 1 else values * 2
        curve = tuple(_curve(line, answer, values))
        yield AnswerInterval(low, found.holds_to, designs, found.proof, found.limited, curve)


def _curve(
    line: Line, answer: AnswerDesigns, values: Sequence[float]
) -> Iterator[tuple[float, ...]]:
    """Yield values, each with the objectives there of the best design that counts as an answer."""
    rows = answer.rows
    if line.question.by:  # another design may be the best
        known = [some for some in map(line.known, values) if some is not None]
        rows = distinct(np.vstack([rows, line.pool, *known]))
    seen = line.compare(rows, values)
    own = line.question.own(answer, seen) & seen.feasible
    merit = np.where(own, seen.loss[..., line.column or 0], np.inf)
    for at, value in enumerate(values):
        best = seen.loss[at, merit[at].argmin()] if own[at].any() else None
        objectives = {} if best is None else objective_values(line.entry.problem, best)
        yield (value, *objectives.values())

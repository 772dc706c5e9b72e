"""Which answer is best where, over two numbers: rows of exact crossovers, more where they differ.

Each row is a sweep of the first number at one value of the second.  Between neighbours with other
answers or boundaries that are apart a row is added, the widest pair first, until the boundaries are
within a hundredth of the range, the rows are, or the budget is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dse.errors import DseError, TooLargeError, UnitError
from dse.files.document import Document
from dse.model.labels import labelled_line
from dse.model.problem import Problem
from dse.parametric.breakpoints import Line, proofs_text
from dse.parametric.crossovers import (
    AnswerInterval,
    axis_of,
    intervals_of,
    read_range,
)
from dse.parametric.flips import NOTHING_FITS
from dse.parametric.question import NumberScale, Question, logarithmic_from
from dse.reports.text import Printable, in_words, plural, table_text, unit_suffix
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import Assumption, assumptions_of
from dse.study.study import Study, prepare

FIRST, MOST_ROWS = 9, 257
"""Rows before any two are compared, and most rows."""

PIXEL = 0.01
"""Boundaries of neighbouring rows differ by less of the range, or the rows are this near."""

DEVICE = "interface.device"

Ends = tuple[float, float]


@dataclass(frozen=True)
class MapRow:
    """The answers along the first number at one `value` of the second, in SI."""

    value: float
    intervals: tuple[AnswerInterval, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The answers in order."""
        return tuple(one.name for one in self.intervals)

    def at(self, first: float) -> str:
        """Return the answer at a value of the first number."""
        names = (one.name for one in self.intervals if one.low <= first <= one.high)
        return next(names, NOTHING_FITS)


@dataclass(frozen=True, repr=False)
class DecisionMap(Printable):
    """Who answers where, over two numbers.

    Attributes
    ----------
    study
        The study at the low ends.
    first, second
        The numbers; each row is exact along the first.
    ranges
        Their ends, in SI.
    followed
        What is preferred, in words.
    rows
        By the second number, from its low end on.
    unfinished
        What ended the search early, in words; empty where it is whole.
    own
        The study's own values of both numbers, in SI; None of what it gives several of.
    by
        The axes that alone tell answers apart; empty where all do.
    """

    study: Study
    first: Assumption
    second: Assumption
    ranges: tuple[tuple[float, float], tuple[float, float]]
    followed: str
    rows: tuple[MapRow, ...]
    unfinished: str = ""
    own: tuple[float | None, float | None] = (None, None)
    by: tuple[str, ...] = ()

    @property
    def compared(self) -> int:
        """The place of the objective that is preferred, the first where none is alone."""
        names = [goal.name for goal in self.study.problem.goals]
        words = [in_words(name) * (in_words(name) in self.followed) for name in names]
        return words.index(max(words, key=len))

    @property
    def shares(self) -> dict[str, float]:
        """Each answer's share of the map, on both logarithmic scales, the largest first."""
        found: dict[str, float] = {}
        heights, widths = (math.log(high / low) for low, high in reversed(self.ranges))
        for (low, high), row in zip(self.bands(), self.rows, strict=True):
            height = math.log(high / low) / heights
            for one in row.intervals:
                width = math.log(one.high / one.low) / widths
                found[one.name] = found.get(one.name, 0.0) + height * width
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def bands(self) -> list[tuple[float, float]]:
        """Return for each row which values of the second number are nearest to it."""
        values = [row.value for row in self.rows]
        middles = [math.sqrt(one * other) for one, other in pairwise(values)]
        return list(pairwise([self.ranges[1][0], *middles, self.ranges[1][1]]))

    @property
    def unknown(self) -> list[tuple[MapRow, MapRow]]:
        """The neighbouring rows between which boundaries are not known."""
        pairs = pairwise(self.rows)
        return [pair for pair in pairs if not alike(*pair, self.ranges[0])]

    def text(self) -> str:
        """Return each answer's share, and how the map was made."""
        ends = [
            f"{entry.name} from {entry.show(low)} to {entry.show(high)}"
            for entry, (low, high) in zip((self.first, self.second), self.ranges, strict=True)
        ]
        labels = self.study.problem.labels
        rows = [
            (f"{100 * s:.3g} %", labelled_line(name, labels)) for name, s in self.shares.items()
        ]
        proofs = proofs_text(one for row in self.rows for one in row.intervals)
        unknown = "; between two rows nothing was compared"
        if self.unknown:
            unknown += (
                f": {len(self.unknown)} bands, where boundaries are further apart, are not known"
            )
        note = (
            f"{plural(len(self.rows), 'row')} of {self.second.name}, compared in the intervals "
            f"along {self.first.name}: {proofs}{unknown}"
        )
        parts = [f"{self.followed}, {ends[0]} and {ends[1]}"]
        parts += [table_text(rows, ("share", "answer")), note]
        return "\n\n".join([*parts, *filter(None, [self.unfinished])])

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain data in SI."""
        goals = [goal.name for goal in self.study.problem.goals]
        return {
            "first": self.first.name,
            "second": self.second.name,
            "followed": self.followed,
            "by": list(self.by),
            "rows": [
                {
                    f"second{unit_suffix(self.second.quantity)}": row.value,
                    "intervals": [one.facts(self.first.quantity, goals) for one in row.intervals],
                }
                for row in self.rows
            ],
            "shares": self.shares,
            "unfinished": self.unfinished or None,
        }


def find_map(
    found: Document,
    ranges: tuple[str, str],
    *,
    prefer: str | None = None,
    counts: bool = False,
    by: Sequence[str] = (),
    known: DecisionMap | None = None,
    progress: Callable[[int, int], None] | None = None,
    budget: Budget | None = None,
) -> DecisionMap:
    """Return who answers where; parameters as in `dse.decision_map`.

    `known` is a map of the same question: its rows are taken, and more are added.

    Raises
    ------
    UnitError
        When a range cannot be read, or both name the same number.
    TooLargeError
        When the time is over before the first row is known.
    """
    given = found
    study, first, low, high = read_range(found, ranges[0])
    study, second, bottom, top = read_range(study.document, ranges[1])
    if first.name == second.name:
        raise UnitError(f"both ranges are of {first.name}", "give ranges of two numbers")
    axes = tuple(axis_of(study.problem, name) for name in by)
    axes = axes or (() if counts else _main_choice(study.problem))
    question = Question(study.preferring(prefer), counts=counts, by=axes)
    budget = (budget or Budget()).within(study.settings)
    scale = NumberScale(logarithmic_from(bottom, top), second.integer, second.among)
    pending = scale.values(bottom, top, FIRST)
    ends = ((low, high), (bottom, top))
    rows = {} if known is None else {row.value: row for row in known.rows}
    unfinished = ""
    try:
        with limited(seconds=budget.left_s, byte=budget.byte) as work:
            while pending and len(rows) < MOST_ROWS:
                for value in [value for value in pending if value not in rows]:
                    rows[value] = _row(study, first.name, second, value, (low, high), question)
                    if progress is not None:
                        progress(len(rows), len(rows) + len(pending))
                pending = _between(rows, scale, (low, high))[: MOST_ROWS - len(rows)]
    except EffortError as error:
        if not rows:
            raise TooLargeError(f"{error}: not even the first row is known") from error
        unfinished = f"{work.ended or error}: rows are further apart than elsewhere"
    ordered = tuple(rows[value] for value in sorted(rows))
    text = question.preference.text
    own = _own(given, first), _own(given, second)
    names = tuple(study.problem.space.axes[place].name for place in question.by)
    return DecisionMap(study, first, second, ends, text, ordered, unfinished, own, names)


def _main_choice(problem: Problem) -> tuple[int, ...]:
    """Return the axis that a study asks about: the device, else the design of its one stage."""
    wide = [place for place, axis in enumerate(problem.space.axes) if axis.size > 1]
    for end in (DEVICE, ".design"):
        found = [place for place in wide if problem.space.axes[place].name.endswith(end)]
        if len(found) == 1:
            return (found[0],)
    return ()


def _own(found: Document, entry: Assumption) -> float | None:
    """Return the one value that a study gives a number, None where it gives several or none."""
    with suppress(DseError):
        every = assumptions_of(prepare(found))
        return next((one.value for one in every if one.name == entry.name), None)
    return None


def _row(
    study: Study,
    name: str,
    second: Assumption,
    value: float,
    ends: tuple[float, float],
    question: Question,
) -> MapRow:
    """Return the answers along the number called `name` at a value of the second."""
    at = replace(study, problem=second.at(value))
    first = next(entry for entry in assumptions_of(at) if entry.name == name)
    line = Line(first, question, study.settings, ends)
    found: list[AnswerInterval] = []
    for one in intervals_of(line):
        if found and found[-1].designs == one.designs and found[-1].proof == one.proof:
            curve = (found[-1].curve[0], one.curve[-1])
            found[-1] = replace(one, low=found[-1].low, curve=curve)
        else:
            found.append(one)
    return MapRow(value, tuple(found))


def _between(rows: dict[float, MapRow], scale: NumberScale, ends: Ends) -> list[float]:
    """Return values between rows whose boundaries are apart, the widest pair first."""
    first, last = scale.place(min(rows)), scale.place(max(rows))
    apart = {
        pair: scale.place(pair[1]) - scale.place(pair[0])
        for pair in pairwise(sorted(rows))
        if not alike(rows[pair[0]], rows[pair[1]], ends)
    }
    wide = [pair for pair, distance in apart.items() if distance > PIXEL * (last - first)]
    wide.sort(key=lambda pair: -apart[pair])
    middles = [(scale.middle(*pair), pair) for pair in wide]
    return [middle for middle, pair in middles if middle not in pair]


def alike(one: MapRow, other: MapRow, ends: Ends) -> bool:
    """Whether two rows have the same answers, with boundaries within a share of the range."""
    if one.names != other.names:
        return False
    most = PIXEL * math.log(ends[1] / ends[0])
    pairs = zip(one.intervals, other.intervals, strict=True)
    return all(abs(math.log(a.high / b.high)) <= most for a, b in pairs)

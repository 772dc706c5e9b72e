"""Which answer is best where, over two numbers: rows of exact crossovers, more where they differ.

Each row is a sweep of the first number at one value of the second.  Rows are halved where
neighbours have other answers, the widest pair first, until they are close or the budget is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dse.errors import TooLargeError, UnitError
from dse.files.document import Document
from dse.parametric.crossovers import AnswerInterval
from dse.parametric.flips import NOTHING_FITS
from dse.parametric.scale import LogScale, log_distance
from dse.parametric.sweep_search import axis_of, intervals_of, read_range
from dse.parametric.track import Track
from dse.parametric.tracked_answer import TrackedAnswer
from dse.reports.text import Printable, plural, table_text, unit_suffix
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import Assumption, assumptions_of
from dse.study.study import Study

FIRST_HALVINGS = 3
"""How often the range of the second number is halved before rows are compared."""

CLOSE = 0.02
"""Rows this near, as the natural logarithm of their ratio, are not halved."""

MOST_ROWS = 129

Ends = tuple[float, float]


@dataclass(frozen=True)
class MapRow:
    """The answers along the first number at one `value` of the second, in SI."""

    value: float
    intervals: tuple[AnswerInterval, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The answers in order."""
        return tuple(", ".join(one.designs) or NOTHING_FITS for one in self.intervals)


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
    """

    study: Study
    first: Assumption
    second: Assumption
    ranges: tuple[tuple[float, float], tuple[float, float]]
    followed: str
    rows: tuple[MapRow, ...]
    unfinished: str = ""

    @property
    def shares(self) -> dict[str, float]:
        """Each answer's share of the map, on both logarithmic scales, the largest first."""
        found: dict[str, float] = {}
        for (low, high), row in zip(self.bands(), self.rows, strict=True):
            height = log_distance(low, high) / log_distance(*self.ranges[1])
            for name, one in zip(row.names, row.intervals, strict=True):
                width = log_distance(one.low, one.high) / log_distance(*self.ranges[0])
                found[name] = found.get(name, 0.0) + height * width
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def bands(self) -> list[tuple[float, float]]:
        """Return for each row which values of the second number are nearest to it."""
        values = [row.value for row in self.rows]
        middles = [math.sqrt(one * other) for one, other in pairwise(values)]
        return list(pairwise([self.ranges[1][0], *middles, self.ranges[1][1]]))

    def text(self) -> str:
        """Return each answer's share, and how the map was made."""
        ends = [
            f"{entry.name} from {entry.show(low)} to {entry.show(high)}"
            for entry, (low, high) in zip((self.first, self.second), self.ranges, strict=True)
        ]
        rows = [(f"{100 * share:.3g} %", name) for name, share in self.shares.items()]
        complete = all(one.complete for row in self.rows for one in row.intervals)
        note = (
            f"{plural(len(self.rows), 'row')} of {self.second.name}, each "
            f"{'proven' if complete else 'searched exactly'} along {self.first.name}; between two "
            f"rows nothing was compared"
        )
        parts = [f"{self.followed}, {ends[0]} and {ends[1]}"]
        parts += [table_text(rows, ("share", "answer")), note]
        return "\n\n".join([*parts, *filter(None, [self.unfinished])])

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain data in SI."""
        units_ = [unit_suffix(entry.quantity) for entry in (self.first, self.second)]
        return {
            "first": self.first.name,
            "second": self.second.name,
            "followed": self.followed,
            "rows": [
                {
                    f"second{units_[1]}": row.value,
                    "intervals": [
                        {
                            f"from{units_[0]}": one.low,
                            f"to{units_[0]}": one.high,
                            "answer": name,
                            "every_design_compared": one.complete,
                        }
                        for name, one in zip(row.names, row.intervals, strict=True)
                    ],
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
    study, first, low, high = read_range(found, ranges[0])
    study, second, bottom, top = read_range(study.document, ranges[1])
    if first.name == second.name:
        raise UnitError(f"both ranges are of {first.name}", "give ranges of two numbers")
    tracked = TrackedAnswer(
        study.preferring(prefer),
        counts=counts,
        by=tuple(axis_of(study.problem, name) for name in by),
    )
    budget = (budget or Budget()).within(study.settings)
    scale = LogScale(second.integer, second.among)
    pending = list(dict.fromkeys(scale.cut(bottom, top, CLOSE, FIRST_HALVINGS)))
    ends = ((low, high), (bottom, top))
    rows = {} if known is None else {row.value: row for row in known.rows}
    unfinished = ""
    try:
        with limited(seconds=budget.left_s, byte=budget.byte) as work:
            while pending and len(rows) < MOST_ROWS:
                for value in [value for value in pending if value not in rows]:
                    rows[value] = _row(study, first.name, second, value, (low, high), tracked)
                    if progress is not None:
                        progress(len(rows), len(rows) + len(pending))
                pending = _between(rows, scale)[: MOST_ROWS - len(rows)]
    except EffortError as error:
        if not rows:
            raise TooLargeError(f"{error}: not even the first row is known") from error
        unfinished = f"{work.ended or error}: rows are further apart than elsewhere"
    ordered = tuple(rows[value] for value in sorted(rows))
    text = tracked.preference.text
    return DecisionMap(study, first, second, ends, text, ordered, unfinished)


def _row(
    study: Study,
    name: str,
    second: Assumption,
    value: float,
    ends: tuple[float, float],
    tracked: TrackedAnswer,
) -> MapRow:
    """Return the answers along the number called `name` at a value of the second."""
    at = replace(study, problem=second.at(value))
    first = next(entry for entry in assumptions_of(at) if entry.name == name)
    track = Track(first, tracked, study.settings, ends)
    return MapRow(value, tuple(interval for interval, _ in intervals_of(track, *ends)))


def _between(rows: dict[float, MapRow], scale: LogScale) -> list[float]:
    """Return values between rows of which the answers differ, the widest apart first."""
    pairs = [
        pair
        for pair in pairwise(sorted(rows))
        if rows[pair[0]].names != rows[pair[1]].names and not scale.is_close(*pair, CLOSE)
    ]
    pairs.sort(key=lambda pair: -log_distance(*pair))
    return [scale.middle(*pair) for pair in pairs]

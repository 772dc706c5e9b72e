"""The best answers over a range of one number, or over the ranges of two.

Breakpoints along the first number are exact.  Over two numbers each row is such a line at one value
of the second.  Rows are added between neighbours with other answers or distant boundaries, the
widest gap first, until boundaries or rows are within a hundredth of a range, or the budget ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from dse.algebra import units
from dse.errors import DseError, TooLargeError, UnitError, nearest
from dse.files.csv import is_number
from dse.files.document import Document
from dse.model.evaluation import distinct
from dse.model.labels import labelled_line
from dse.model.problem import Problem
from dse.parametric.breakpoints import Line, intervals, proofs_text
from dse.parametric.flips import NOTHING_FITS
from dse.parametric.question import AnswerDesigns, NumberScale, Question, logarithmic_from
from dse.reports.designs import objective_values, parts
from dse.reports.sections import Section, html, sections_text
from dse.reports.text import Printable, in_words, plural, unit_suffix
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.overrides import override
from dse.study.schema import DECLARED, FIELDS
from dse.study.study import Study

_KNOTS = 17
"""Points of a curve in each interval of a map of one number."""

FIRST_ROWS, MOST_ROWS = 9, 257
"""Rows before any comparison, and most rows."""

_PIXEL = 0.01
"""Share of a range within which boundaries of neighbouring rows, or the rows, are near."""

_DEVICE = "interface.device"

DOTS = ".."
_EXAMPLE = "write for instance rate=1..240Gbps"

_SPAN = 4.0
"""A range around a number goes from its value divided by this to that multiplied by it."""

T = TypeVar("T")
Ends = tuple[float, float]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AnswerInterval:
    """The values, in SI, from `low` to `high`, at which one design answers.

    `limited` is the reason why nothing is known beyond `high`.  `curve` has rows of a value and the
    objectives there, from end to end; without a design only values.
    """

    low: float
    high: float
    name: str
    proof: str
    limited: str = ""
    curve: tuple[tuple[float, ...], ...] = ()

    @property
    def ends(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The objectives at the low end, and at the high end."""
        return self.curve[0][1:], self.curve[-1][1:]


@dataclass(frozen=True)
class MapRow:
    """The answers along the first number at one `value` of the last, in SI.

    Over one number `value` is its low end.
    """

    value: float
    intervals: tuple[AnswerInterval, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The answers in order."""
        return tuple(one.name for one in self.intervals)

    def at(self, first: float) -> str:
        """Return the answer at a value of the first number, empty beyond the intervals.

        In the gap between two intervals, 1e-7 wide, it is the answer of the upper one.
        """
        return next((one.name for one in self.intervals if first <= one.high), "")


@dataclass(frozen=True, repr=False)
class DecisionMap(Printable):
    """The best answers over one number or two, of which the first is exact along each row.

    `study` is at the low ends of the `ranges`, in SI, and `own` are its values of both numbers.
    `unfinished` is the reason for an early end of the search.
    """

    study: Study
    numbers: tuple[Assumption, ...]
    ranges: tuple[Ends, ...]
    question: Question
    rows: tuple[MapRow, ...] = ()
    unfinished: str = ""
    own: tuple[float | None, ...] = ()

    @property
    def goals(self) -> list[str]:
        """The names of the objectives."""
        return [goal.name for goal in self.study.problem.goals]

    @property
    def intervals(self) -> tuple[AnswerInterval, ...]:
        """The intervals of the first row, of one number the whole map."""
        return self.rows[0].intervals

    @property
    def by(self) -> tuple[str, ...]:
        """The axes that distinguish answers, empty if all do."""
        return tuple(self.study.problem.space.axes[place].name for place in self.question.by)

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

    def bands(self) -> list[Ends]:
        """Return for each row the values of the second number that are nearest to it."""
        values = [row.value for row in self.rows]
        middles = [math.sqrt(one * other) for one, other in pairwise(values)]
        return list(pairwise([self.ranges[1][0], *middles, self.ranges[1][1]]))

    @property
    def unknown(self) -> list[tuple[MapRow, MapRow]]:
        """The neighbouring rows with unknown boundaries in between."""
        pairs = pairwise(self.rows)
        return [pair for pair in pairs if not alike(*pair, self.ranges[0])]

    def text(self) -> str:
        """Return the intervals of one number, or each answer's share over two, as a table."""
        return sections_text(self.section.title, [replace(self.section, title="")])

    def _repr_html_(self) -> str:
        return html("", [self.section])

    @property
    def section(self) -> Section:
        """The intervals of one number, or each answer's share over two, and their proof."""
        first, second = self.numbers[0], self.numbers[-1]
        pairs = zip(self.numbers, self.ranges, strict=True)
        ranges = (
            f"{one.name} from {one.show(low)} to {one.show(high)}" for one, (low, high) in pairs
        )
        title = f"{self.question.preference.text}, {' and '.join(ranges)}"
        proofs = proofs_text(one for row in self.rows for one in row.intervals)
        unfinished = (self.unfinished,) if self.unfinished else ()
        if len(self.numbers) == 1:
            headers = ("from", "to", *map(in_words, self.goals), "design")
            notes = (f"Compared in each interval: {proofs}.", *unfinished)
            return Section("intervals", title, (), headers, tuple(self._interval_rows()), notes)
        labels = self.study.problem.labels
        rows = [(f"{100 * s:.3g} %", labelled_line(n, labels)) for n, s in self.shares.items()]
        note = (
            f"{plural(len(self.rows), 'row')} of {second.name}, compared in the intervals "
            f"along {first.name}: {proofs}; between two rows nothing was compared"
        )
        if bands := len(self.unknown):
            note += f": {bands} bands, where boundaries are further apart, are not known"
        return Section("map", title, (), ("share", "answer"), tuple(rows), (note, *unfinished))

    def _interval_rows(self) -> Iterator[tuple[str, ...]]:
        ends = [self.intervals[0].low, *(one.high for one in self.intervals)]
        texts = _distinct(ends, self.numbers[0].quantity)
        for one, *between in zip(self.intervals, texts[:-1], texts[1:], strict=True):
            values = [
                " to ".join(dict.fromkeys(units.show(end, name) for end in pair))
                for name, *pair in zip(self.goals, *one.ends, strict=False)
            ] or [""] * len(self.goals)
            yield (*between, *values, labelled_line(one.name, self.study.problem.labels))

    def to_dict(self) -> dict[str, Any]:
        """Return the intervals of one number, or the rows and shares over two, in SI."""
        names = [f"{one.name}{unit_suffix(one.quantity)}" for one in self.numbers]
        facts: dict[str, Any] = {
            "ranges": dict(zip(names, self.ranges, strict=True)),
            "followed": self.question.preference.text,
            "by": list(self.by),
            "unfinished": self.unfinished or None,
        }
        unit = unit_suffix(self.numbers[0].quantity)
        rows = [[self._interval(one, unit) for one in row.intervals] for row in self.rows]
        if len(self.numbers) == 1:
            return facts | {"intervals": rows[0]}
        value = f"second{unit_suffix(self.numbers[1].quantity)}"
        pairs = zip(self.rows, rows, strict=True)
        known = [{value: row.value, "intervals": found} for row, found in pairs]
        return facts | {"rows": known, "shares": self.shares}

    def _interval(self, one: AnswerInterval, unit: str) -> dict[str, Any]:
        first, last = (dict(zip(self.goals, end, strict=False)) for end in one.ends)
        about = {f"from{unit}": one.low, f"to{unit}": one.high, "answer": one.name}
        return about | {"at_from": first, "at_to": last, "proof": one.proof}


def _distinct(values: Sequence[float], quantity: str) -> list[str]:
    """Return values with their units, with four digits or as many as distinguish them."""
    texts = [units.show(value, quantity) for value in values]
    for digits in (6, 9, 12):
        if len({*texts}) == len({*values}):
            break
        texts = [units.exact_text(float(f"{value:.{digits}g}"), quantity) for value in values]
    return texts


def range_around(name: str, value: float, quantity: str, *, whole: bool = False) -> str:
    """Return the range of a number, in SI, from a part of it to a multiple, for `find_map`."""
    low, high = value / _SPAN, value * _SPAN
    if whole:
        low, high = max(math.floor(low), 1.0), math.ceil(high)
    ends = (units.exact_text(end, quantity) for end in (low, high))
    return f"{name}={DOTS.join(ends)}"


def find_map(
    found: Document,
    ranges: Sequence[str],
    *,
    prefer: str | None = None,
    counts: bool = False,
    by: Sequence[str] = (),
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> DecisionMap:
    """Return the best answers over one or two `ranges`, as in `dse.decision_map`.

    Raises a `TooLargeError` if the time does not suffice for a first answer or row.
    """
    given, numbers, ends = found, list[Assumption](), list[Ends]()
    for written in ranges:
        prepared, entry, low, high = read_range(found, written)
        numbers.append(entry)
        ends.append((low, high))
        found = prepared.document
    if len({entry.name for entry in numbers}) < len(numbers):
        raise UnitError(f"both ranges are of {numbers[0].name}", "give ranges of two numbers")
    axes = tuple(axis_of(prepared.problem, name) for name in by)
    two = len(numbers) > 1
    axes = axes or (_main_choice(prepared.problem) if two and not counts else ())
    question = Question(prepared.preferring(prefer), counts=counts, by=axes)
    own = tuple(_own(given, entry) for entry in numbers) if two else ()
    begun = DecisionMap(prepared, tuple(numbers), tuple(ends), question, own=own)
    return continue_map(begun, progress=progress, budget=budget)


def continue_map(
    begun: DecisionMap, *, progress: Progress | None = None, budget: Budget | None = None
) -> DecisionMap:
    """Return a map with more rows than one that ended early."""
    budget = (budget or Budget()).within(begun.study.settings)
    two, unfinished = len(begun.numbers) > 1, ""
    rows = {row.value: row for row in begun.rows}
    try:
        with limited(seconds=budget.left_s, byte=budget.byte) as work:
            for row, done, planned in _rows(begun, rows) if two else _only_row(begun):
                rows[row.value] = row
                if progress is not None:
                    progress(done, planned)
    except EffortError as error:
        unfinished = work.ended or str(error)
        if not rows:
            least = "the first row" if two else "the answer at one end"
            raise TooLargeError(f"{unfinished}: not even {least} is known") from error
    found = replace(begun, rows=tuple(rows[value] for value in sorted(rows)))
    last = found.intervals[-1]
    if two:
        unfinished += ": rows are further apart than elsewhere" * bool(unfinished)
    elif unfinished := unfinished or last.limited:
        unfinished = f"stopped at {found.numbers[0].show(last.high)}: above it {unfinished}"
    return replace(found, unfinished=unfinished)


def _only_row(begun: DecisionMap) -> Iterator[tuple[MapRow, int, int]]:
    """Yield the row of a map of one number, ever longer, and the hundredths done of all."""
    ((low, high),), known = begun.ranges, list[AnswerInterval]()
    line = Line(begun.numbers[0], begun.question, begun.study.settings, (low, high))
    for one in intervals_of(line, _KNOTS):
        known.append(one)
        done = round(100 * math.log(one.high / low) / math.log(high / low))
        yield MapRow(low, tuple(known)), done, 100


def _rows(begun: DecisionMap, rows: dict[float, MapRow]) -> Iterator[tuple[MapRow, int, int]]:
    """Yield rows until neighbours are alike or near, and the numbers done and planned.

    The caller adds each to `rows`.
    """
    second, (low, high) = begun.numbers[1], begun.ranges[1]
    scale = NumberScale(logarithmic_from(low, high), second.integer, second.among)
    pending = scale.values(low, high, FIRST_ROWS)
    while pending and len(rows) < MOST_ROWS:
        for value in [value for value in pending if value not in rows]:
            row, done = _row(begun, value), len(rows) + 1
            yield row, done, done + len(pending)
        pending = _between(rows, scale, begun.ranges[0])[: MOST_ROWS - len(rows)]


def _row(begun: DecisionMap, value: float) -> MapRow:
    """Return the answers along the first number at a value of the second."""
    first, second = begun.numbers
    at = replace(begun.study, problem=second.at(value))
    entry = next(entry for entry in assumptions_of(at) if entry.name == first.name)
    line = Line(entry, begun.question, begun.study.settings, begun.ranges[0])
    found: list[AnswerInterval] = []
    for one in intervals_of(line):
        if found and (found[-1].name, found[-1].proof) == (one.name, one.proof):
            before = found.pop()
            one = replace(one, low=before.low, curve=(before.curve[0], one.curve[-1]))
        found.append(one)
    return MapRow(value, tuple(found))


def _between(rows: dict[float, MapRow], scale: NumberScale, ends: Ends) -> list[float]:
    """Return values between rows with distant boundaries, the widest pair first."""
    pixel = _PIXEL * (scale.place(max(rows)) - scale.place(min(rows)))
    apart = [
        (scale.place(high) - scale.place(low), low, high)
        for low, high in pairwise(sorted(rows))
        if not alike(rows[low], rows[high], ends)
    ]
    wide = sorted((one for one in apart if one[0] > pixel), key=lambda one: -one[0])
    middles = [scale.middle(low, high) for _, low, high in wide]
    return [middle for middle in middles if middle not in rows]


def alike(one: MapRow, other: MapRow, ends: Ends) -> bool:
    """Return whether rows have the same answers, with boundaries within a share of the range."""
    if one.names != other.names:
        return False
    most = _PIXEL * math.log(ends[1] / ends[0])
    pairs = zip(one.intervals, other.intervals, strict=True)
    return all(abs(math.log(a.high / b.high)) <= most for a, b in pairs)


def _main_choice(problem: Problem) -> tuple[int, ...]:
    """Return the main choice of a study: the device, or the design of its only stage."""
    wide = [place for place, axis in enumerate(problem.space.axes) if axis.size > 1]
    for end in (_DEVICE, ".design"):
        found = [place for place in wide if problem.space.axes[place].name.endswith(end)]
        if len(found) == 1:
            return (found[0],)
    return ()


def _own(found: Document, entry: Assumption) -> float | None:
    """Return the one value that a study gives a number, or None for several or none."""
    with suppress(DseError):
        every = assumptions_of(study.prepare(found))
        return next((one.value for one in every if one.name == entry.name), None)
    return None


def _parts_of_range(written: str) -> tuple[str, str, str]:
    """Return the name and both ends of a range, each end with its unit."""
    name, _, rest = written.rpartition("=")  # a bound is named as it is written, a <= 1 um2
    name, (low, _, high) = name.strip(), (end.strip() for end in rest.partition(DOTS))
    if not (name and low and high):
        raise UnitError(f"{written!r} is no range NAME=FROM..TO", _EXAMPLE)
    if is_number(low):  # it has the unit of the high end
        low = f"{low} {high.lstrip('+-0123456789.eE ')}".rstrip()
    return name, low, high


def read_range(found: Document, written: str) -> tuple[Study, Assumption, float, float]:
    """Return the study at the low end of a range NAME=FROM..TO, its number, and both ends in SI."""
    name, low, high = _parts_of_range(written)
    path = _field(name)
    if path is None:
        prepared = study.prepare(found)
        chosen = choose_assumptions(assumptions_of(prepared), name)
    elif path not in FIELDS:
        raise UnitError(f"{path} takes choices, not numbers", "sweep a number")
    else:
        column, _ = (_end(name, end, FIELDS[path].read).column for end in (low, high))
        prepared = study.prepare(override(found, [(path, low)]))
        every = assumptions_of(prepared)
        chosen = tuple(one for one in every if (one.name, one.quantity) == (path, column))
    if len(chosen) > 1:
        listed = ", ".join(entry.name for entry in chosen[:6])
        raise UnitError(f"{name!r} stands for several numbers", f"write one of {listed}")
    for entry in chosen:
        parse = partial(units.parse, name=entry.quantity)
        first, last = (_end(name, end, parse) for end in (low, high))
        if 0 < first < last:
            return prepared, entry, first, last
    raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")


def _end(name: str, end: str, read: Callable[[str], T]) -> T:
    """Return an end of the range of `name`, with both in the text of an error."""
    try:
        return read(end)
    except UnitError as error:
        raise UnitError(f"{name} {end!r}: {error.rule}", error.remedy) from error


def _field(name: str) -> str | None:
    """Return the field that `name` is or abbreviates, or None."""
    short = [path for path in DECLARED if path.partition(".")[2] == name]
    if name not in DECLARED and len(short) > 1:
        raise UnitError(f"{name!r} stands for several fields", nearest(name, short))
    return name if name in DECLARED else next(iter(short), None)


def axis_of(problem: Problem, name: str) -> int:
    """Return the index of the axis called `name`, or whose path ends with it."""
    names = [axis.name for axis in problem.space.axes]
    fitting = [number for number, full in enumerate(names) if f".{full}".endswith(f".{name}")]
    if len(fitting) != 1:
        raise UnitError(f"{name!r} is no axis of the study", nearest(name, names))
    return fitting[0]


def intervals_of(line: Line, knots: int = 2) -> Iterator[AnswerInterval]:
    """Yield the intervals of a line in order, each with its curve."""
    question = line.question
    for low, found, answer in intervals(line):
        texts = parts(line.at(low), answer.rows, counts=question.counts, by=question.by)
        name = ", ".join(texts[0]) if texts else NOTHING_FITS
        values = line.scale.values(low, found.holds_to, knots)
        values = values if len(values) > 1 else values * 2
        curve = tuple(_curve(line, answer, values))
        yield AnswerInterval(low, found.holds_to, name, found.proof, found.limited, curve)


def _curve(
    line: Line, answer: AnswerDesigns, values: Sequence[float]
) -> Iterator[tuple[float, ...]]:
    """Yield values, each with the objectives there of the best design of an answer."""
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

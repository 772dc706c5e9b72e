"""Searching where designs change places along a number, to a tenth of a per cent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.errors import TooLargeError, UnitError, nearest
from dse.files.csv import is_number
from dse.files.document import Document
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.reports.designs import objective_values, parts
from dse.runs.instead import Without, without_accelerators
from dse.search.exact.work import EffortError, limited
from dse.stability.crossovers import FRONT, AnswerInterval, Crossovers
from dse.stability.deadline import Deadline
from dse.stability.edge import Edge
from dse.stability.follow import Follower
from dse.stability.holding import Searched
from dse.stability.together import follow_together
from dse.stability.tracking import TrackedAnswer, answer_among, counting_as
from dse.study import study
from dse.study.assumptions import Assumption, assumptions_of, choose_assumptions
from dse.study.axes import read_unit
from dse.study.overrides import override
from dse.study.schema import FIELDS
from dse.study.study import Study
from dse.study.swept import sweep_of

HALVINGS = 40
"""To find the end of what can be done without accelerators, to a millionth of a decade."""

KNOTS = 16
"""Points of a curve in each interval."""

DOTS = ".."
EXAMPLE = "write for instance rate=1..240Gbps"


def find_crossovers(
    found: Document,
    written: str | None,
    *,
    prefer: str | None = None,
    tolerance: str | None = None,
    front: bool = False,
    counts: bool = False,
    by: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    until: Deadline | None = None,
) -> Crossovers:
    """Return who holds which part of a range; parameters as in `dse.sweep`.

    Raises
    ------
    UnitError
        When the range cannot be read, or names nothing that the study assumes.
    StudyError
        When the study has faults.
    TooLargeError
        When the time is over before anything is known.
    """
    until = until or Deadline()
    prepared, assumption, low, high = read_range(found, written)
    tracked = TrackedAnswer(
        prepared.preferring(prefer, tolerance),
        front=front,
        counts=counts,
        by=tuple(_axis(prepared.problem, name) for name in by),
    )
    searched = Searched(assumption, tracked, prepared.settings)
    intervals = []
    for interval in _intervals(searched, low, high, until):
        intervals.append(interval)
        if progress is not None:
            progress(float(np.log(interval.high / low) / np.log(high / low)))
    if intervals[-1].high < high and not intervals[-1].limited:
        intervals[-1] = replace(intervals[-1], limited=_too_short(until))
    followed = FRONT if front else tracked.preference.text
    curve = np.empty((0, 1)) if front else _curve(searched, intervals)
    return Crossovers(
        prepared,
        assumption,
        low,
        high,
        followed,
        tuple(intervals),
        curve,
        tuple(_instead(assumption, tracked.preference, low, high)),
    )


def _instead(
    assumption: Assumption, preference: Preference, low: float, high: float
) -> Iterator[str]:
    """Yield where in a range it can be done without accelerators."""

    def at(value: float) -> list[Without]:
        problem = assumption.at(value)
        first = np.zeros((1, len(problem.sizes)), dtype=np.int64)
        return list(without_accelerators(problem, first, preference))

    for place, (one, other) in enumerate(zip(at(low), at(high), strict=True)):
        if not one.demanded or one.available is None:
            continue
        does, ends = f"{one.words[0].upper()}{one.words[1:]}", (low, high)
        if one.possible == other.possible:
            yield f"{does} {'can' if one.possible else 'cannot'} do it anywhere in this range."
            continue
        for _ in range(HALVINGS):
            middle = math.sqrt(ends[0] * ends[1])
            same = at(middle)[place].possible == one.possible
            ends = (middle, ends[1]) if same else (ends[0], middle)
        shown = units.show(ends[0], assumption.quantity)
        where = f"up to {shown}, and not beyond" if one.possible else f"from {shown} on only"
        yield f"{does} can do it {where}."


def _axis(problem: Problem, name: str) -> int:
    """Return the index of the axis called `name`, or whose path ends with it."""
    names = [axis.name for axis in problem.space.axes]
    fitting = [number for number, full in enumerate(names) if f".{full}".endswith(f".{name}")]
    if len(fitting) != 1:
        raise UnitError(f"{name!r} is no axis of the study", nearest(name, names))
    return fitting[0]


def _intervals(
    searched: Searched, low: float, high: float, until: Deadline
) -> Iterator[AnswerInterval]:
    """Yield intervals one after the other; when the time is over the last ends where it begins."""
    tracked = searched.tracked
    start: float | None = low
    before: float | None = None
    while start is not None:
        edge = _edge(searched, start, high, until, before)
        if edge is None and not searched.knows(start):
            if start == low:
                raise TooLargeError(f"{_too_short(until)}: not even the answer at one end is known")
            return
        edge = edge or Edge(holds_to=start, limited=_too_short(until))
        problem, rows = searched.at(start), searched.answer(start).rows
        texts = parts(problem, rows, counts=tracked.counts, by=tracked.by)
        designs = tuple(dict.fromkeys(", ".join(text) for text in texts))
        ends = (start, edge.holds_to)
        first, last = ((), ()) if tracked.front else (_goals(searched, end, start) for end in ends)
        yield AnswerInterval(*ends, designs, first, last, edge.complete, edge.limited)
        before, start = start, edge.flips_at


def _edge(
    searched: Searched, start: float, high: float, until: Deadline, before: float | None
) -> Edge | None:
    """Return how far the answer at `start` holds, None when the time is over before that.

    It is another than the one from `before` on, where there is that.
    """
    entry = replace(searched.entry, value=start)
    with suppress(EffortError), limited(seconds=until.left):
        if before is not None:
            searched.change_at(start, before)
        followers = {entry.name: Follower(entry, searched, (start, high))}
        ends = follow_together(entry.problem, followers).get(entry.name)
        return ends and ends[1]
    return None


def _too_short(until: Deadline) -> str:
    return f"{until.seconds:g} s of CPU time did not suffice (--budget)"


def _goals(searched: Searched, value: float, start: float) -> tuple[float, ...]:
    """Return the objectives, at a value, of the answer that holds from `start` on."""
    problem, tracked = searched.at(value), searched.tracked
    rows = searched.rows[(searched.rows < np.array(problem.sizes)).all(axis=1)]
    rows = rows[counting_as(searched.answer(start), problem, rows, tracked)]
    rows = answer_among(problem, rows, tracked).rows[:1]
    if not len(rows):
        return ()
    return tuple(objective_values(problem, problem.evaluate(rows).loss[0]).values())


def _curve(searched: Searched, intervals: Sequence[AnswerInterval]) -> NDArray[np.float64]:
    """Return objectives of the answer along the range, NaN between two intervals."""
    count = len(searched.entry.problem.goals)
    rows = []
    for interval in intervals:
        steps = np.geomspace(interval.low, interval.high, KNOTS)
        for value in steps[1:-1].tolist() if interval.low < interval.high else []:
            rows.append((value, *_goals(searched, value, interval.low)))
        ends = ((interval.low, *interval.first), (interval.high, *interval.last))
        rows += [*ends, (interval.high,)]
    padded = [(*row, *[np.nan] * (1 + count - len(row))) for row in rows]
    return np.array(sorted(padded, key=lambda row: row[0]))


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
        low = f"{low} {high.rstrip().lstrip('+-0123456789.eE ')}"
    path = _field(name)
    if path is not None:
        unit = FIELDS[path]
        if unit is None:
            raise UnitError(f"{path} takes choices, not numbers", "sweep a number")
        column, _ = (read_unit(unit)(end).column for end in (low, high))
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
    first, last = (units.parse(end, chosen[0].quantity) for end in (low, high))
    if not 0 < first < last:
        raise UnitError(f"{low} to {high} is no range", "write the lower end first, above 0")
    return prepared, chosen[0], first, last


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
    name, _, rest = written.partition("=")
    low, dots, high = rest.partition(DOTS)
    if not (name.strip() and low.strip() and dots and high.strip()):
        raise UnitError(f"{written!r} is no range NAME=FROM..TO", EXAMPLE)
    return name.strip(), low.strip(), high.strip()


def _field(name: str) -> str | None:
    """Return the field that `name` is, or is short for; None when it is none."""
    if name in FIELDS:
        return name
    short = [path for path in FIELDS if path.partition(".")[2] == name]
    if len(short) > 1:
        raise UnitError(f"{name!r} stands for several fields", nearest(name, short))
    return short[0] if short else None

"""Which design holds which interval of a number, and where they change places exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model.labels import labelled_line
from dse.parametric.breakpoints import EVERY, proofs_text
from dse.parametric.flips import NOTHING_FITS
from dse.reports.sections import Section, html
from dse.reports.text import Printable, in_words, table_text, unit_suffix
from dse.study.assumptions import Assumption
from dse.study.study import Study

FRONT = "the front"


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

    @property
    def complete(self) -> bool:
        """Whether no design wins between two values that were compared."""
        return self.proof == EVERY


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

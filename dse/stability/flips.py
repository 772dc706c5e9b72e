"""What would change an answer: for every assumption the interval in which it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dse.algebra import units
from dse.reports.designs import difference
from dse.reports.sections import Section, html
from dse.reports.text import Printable, table_text
from dse.reports.words import paragraph, plural, signed, unit_suffix
from dse.stability.deadline import not_looked_at
from dse.stability.edge import Edge
from dse.study.study import Study

FACTOR = 1000.0
"""Each assumption is varied between its value over this and its value times this."""

NEAR = 2.0
"""The factor in an answer, unless all is asked for."""

SHOWN = 8
"""Flips that an answer shows, unless all are asked for."""

NEAREST = 2
"""Flips that one screen shows."""

SECTION = ("flips", "What would change it")
"""Key and title of the section of an answer."""

HEADERS = ("assumption", "nominal", "holds from", "to", "change needed", "answer beyond")
NOTHING_FITS = "no feasible design"
NOT_EVERY_DESIGN = (
    "not every design was compared: for a knee, an expression or a tolerance, and in large spaces, "
    "the answer was searched exactly at some values only"
)


@dataclass(frozen=True, kw_only=True)
class IntervalEnd(Edge):
    """One end of the interval in which an answer holds, and the answer beyond, part by part."""

    becomes: tuple[str, ...]


@dataclass(frozen=True)
class Stability:
    """How far one assumption may move before the answer changes."""

    name: str
    quantity: str
    nominal: float
    low: IntervalEnd
    high: IntervalEnd
    fitted: bool = False

    @property
    def label(self) -> str:
        """The name, and that the value is fitted to measurements if it is."""
        return f"{self.name} (fitted)" if self.fitted else self.name

    @property
    def least_factor(self) -> float:
        """The least factor, or its reciprocal, by which a value flips the answer; inf for none."""
        return math.exp(_distance(self.nearest_change)) if self.moves else math.inf

    @property
    def least_change(self) -> float:
        """The relative change of the least factor, without its sign; inf for none."""
        return abs(self.nearest_change) if self.moves else math.inf

    @property
    def moves(self) -> bool:
        """Whether anything flips the answer."""
        return self.changes != (None, None)

    @property
    def nearest_change(self) -> float:
        """The relative change to the nearest flip: by ratio, so that 1/2 is as far as 2."""
        return min((each for each in self.changes if each is not None), key=_distance)

    @property
    def is_limited(self) -> bool:
        """Whether its range ends early at either end."""
        return bool(self.low.limited or self.high.limited)

    @property
    def changes(self) -> tuple[float | None, float | None]:
        """Relative change to the flip below and above, None where there is none."""
        low, high = (
            None if side.flips_at is None else side.flips_at / self.nominal - 1.0
            for side in self.sides
        )
        return low, high

    @property
    def sides(self) -> tuple[IntervalEnd, IntervalEnd]:
        """Both ends of its interval."""
        return self.low, self.high


@dataclass(frozen=True, repr=False)
class Flips(Printable):
    """The answer to a study and what would change it, the least change first.

    `unlooked` are assumptions for which the CPU time given, `seconds`, did not suffice.
    """

    study: Study
    preference: str
    answer: tuple[str, ...]
    found: tuple[Stability, ...]
    factor: float = FACTOR
    seconds: float | None = None
    unlooked: tuple[str, ...] = ()

    @property
    def moving(self) -> tuple[Stability, ...]:
        """The assumptions that flip the answer."""
        return tuple(entry for entry in self.found if math.isfinite(entry.least_change))

    @property
    def is_complete(self) -> bool:
        """Whether every design was compared for every assumption."""
        return all(side.complete for entry in self.found for side in (entry.low, entry.high))

    @property
    def limits(self) -> tuple[str, ...]:
        """Why some ranges end early."""
        sides = (side for entry in self.found for side in (entry.low, entry.high))
        return tuple(sorted({side.limited for side in sides if side.limited}))

    def text(self) -> str:
        """Return a table, the least change first, and what changes nothing."""
        lines = [paragraph(f"{', '.join(self.answer)}: {self.preference}")]
        if self.moving:
            lines.append(table_text([_row(self, entry) for entry in self.moving], HEADERS))
        lines += [paragraph(note) for note in _notes(self)]
        return "\n\n".join(lines)

    def _repr_html_(self) -> str:
        rows = tuple(_row(self, entry) for entry in self.moving)
        title = f"{', '.join(self.answer)}: {self.preference}"
        return html(title, [Section("", "", (), HEADERS, rows, tuple(_notes(self)))])

    def section(self, *, full: bool) -> Section:
        """Return the flips as a section of an answer, only the nearest unless `full`."""
        moving = self.moving
        shown = moving if full else moving[:SHOWN]
        still = len(self.found) - len(moving)
        counts = {"looked_at": len(self.found), "change_nothing": still, "shown": len(shown)}
        near = self.factor == NEAR
        span = "half to twice" if near else f"1/{self.factor:g} to {self.factor:g} times"
        lines = [
            f"Each of {len(self.found)} assumptions was varied alone, from {span} its nominal "
            f"value; {still or 'none'} of them change nothing."
        ] * bool(self.found)
        if shown:
            lines.append(
                "The answer holds while a value stays in its interval; any: no flip up to the "
                "factor tried."
            )
        if not self.is_complete:
            lines.append("It was searched at points: a narrow window between them can hide.")
        remarks = []
        if len(moving) > len(shown):
            counts["left_out"] = len(moving) - len(shown)
            names = ", ".join(entry.label for entry in moving[len(shown) :])
            remarks.append(f"Less sensitive: {names}.")
        if self.unlooked:
            remarks.append(not_looked_at(self.unlooked, self.seconds))
        remarks += [f"Where {reason}, the range ends there." for reason in self.limits]
        if not full:
            counts["widest_range_factor"] = int(FACTOR)
            remarks.append(f"Use --flips to vary each by up to {FACTOR:g}x in both directions.")
        return Section(
            *SECTION,
            tuple(lines),
            HEADERS if shown else (),
            tuple(_row(self, entry) for entry in shown),
            tuple(remarks),
            facts=counts | self.to_dict(),
            brief=None if full else tuple(self._brief(span)),
        )

    def _brief(self, span: str) -> Iterator[str]:
        """Yield the nearest flips, and what was not looked at."""
        for entry in self.moving[:NEAREST]:
            change, side = min(
                ((c, s) for c, s in zip(entry.changes, entry.sides, strict=True) if c is not None),
                key=lambda found: abs(found[0]),
            )
            becomes = difference(side.becomes, self.answer)
            yield f"Flips with {entry.label} {change_text(change)}: {becomes}."
        if self.found and not self.moving:
            looked = "that were looked at " if self.unlooked else ""
            yield (
                f"No flip: none of the {len(self.found)} assumptions {looked}changes the answer "
                f"from {span} its nominal value."
            )
        if self.unlooked:
            yield (
                f"Not looked at in {self.seconds:g} s of CPU time: "
                f"{plural(len(self.unlooked), 'assumption')}; --flips-budget gives more."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data in SI."""
        return {
            "preference": self.preference,
            "answer": ", ".join(self.answer),
            "range_factor": self.factor,
            "not_looked_at": list(self.unlooked),
            "assumptions": [_facts(self, entry) for entry in self.found],
        }


def _distance(change: float) -> float:
    """Return how far a relative change is, as the logarithm of its factor."""
    return abs(math.log1p(change)) if change > -1.0 else math.inf


def change_text(change: float) -> str:
    """Return a relative change as text: per cent, or a factor where that reads better."""
    if change >= 1.0:
        return f"{1 + change:.4g}x"
    if change <= -0.9:
        return f"1/{1 / (1 + change):.4g}"
    return signed(change)


def _row(flips: Flips, entry: Stability) -> tuple[str, ...]:
    """Return one assumption as a row of `HEADERS`."""
    low, high = (
        "any" if side.flips_at is None else units.show(side.holds_to, entry.quantity)
        for side in (entry.low, entry.high)
    )
    beyond = [
        f"{word}: {difference(side.becomes, flips.answer)}"
        for word, side in (("below", entry.low), ("above", entry.high))
        if side.flips_at is not None
    ]
    return (
        entry.label,
        units.show(entry.nominal, entry.quantity),
        f">= {units.show(entry.low.holds_to, entry.quantity)}" if entry.low.limited else low,
        f"<= {units.show(entry.high.holds_to, entry.quantity)}" if entry.high.limited else high,
        change_text(entry.nearest_change),
        "; ".join(beyond),
    )


def _notes(flips: Flips) -> list[str]:
    still = [entry for entry in flips.found if not math.isfinite(entry.least_change)]
    stable = sorted(entry.label for entry in still if not entry.is_limited)
    notes = []
    if stable:
        notes.append(
            f"no flip between 1/{flips.factor:g} and {flips.factor:g} times the nominal value: "
            f"{', '.join(stable)}"
        )
    ends = [f"{entry.name} {_searched(entry)}" for entry in still if entry.is_limited]
    if ends:
        notes.append(f"no flip within what was searched: {', '.join(ends)}")
    if not flips.is_complete:
        notes.append(NOT_EVERY_DESIGN)
    if flips.unlooked:
        notes.append(not_looked_at(flips.unlooked, flips.seconds, "--budget"))
    return notes + [f"where {reason}, the range ends there" for reason in flips.limits]


def _searched(entry: Stability) -> str:
    """Return the range in which an answer holds."""
    low, high = (units.show(side.holds_to, entry.quantity) for side in (entry.low, entry.high))
    return f"from {low} to {high}"


def _facts(flips: Flips, entry: Stability) -> dict[str, Any]:
    unit = unit_suffix(entry.quantity)
    change, factor = entry.least_change, entry.least_factor
    sides = zip(("below", "above"), (entry.low, entry.high), entry.changes, strict=True)
    return {
        "assumption": entry.name,
        "fitted": entry.fitted,
        f"nominal{unit}": entry.nominal,
        "least_relative_change": change if math.isfinite(change) else None,
        "least_factor": factor if math.isfinite(factor) else None,
        **{
            name: {
                f"holds_to{unit}": side.holds_to,
                f"flips_at{unit}": side.flips_at,
                "relative_change": relative,
                "becomes": ", ".join(side.becomes) or None,
                "differs": difference(side.becomes, flips.answer) or None,
                "every_design_compared": side.complete,
                "range_limited": bool(side.limited),
                "range_ends_where": side.limited or None,
            }
            for name, side, relative in sides
        },
    }

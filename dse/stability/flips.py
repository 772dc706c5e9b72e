"""What would change an answer: for every assumption the interval in which it stays the same."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

from dse.algebra import units
from dse.reports.designs import difference
from dse.reports.text import table_text
from dse.study.study import Study

FACTOR = 1000.0
"""Each assumption is moved between its value over this and its value times this."""

WIDTH = 100
"""Longest line of a note."""

NOTHING_FITS = "no feasible design"


@dataclass(frozen=True)
class IntervalEnd:
    """One end of the interval in which the answer stays the same.

    Attributes
    ----------
    holds_to
        The last value, in SI, at which it was found to hold.
    flips_at
        The first value at which it was found not to; None when none was found in the range.
    becomes
        The answer there, part by part; ``no feasible design`` when there is none.
    complete
        Whether every design was compared, or only exact answers at some values.
    limited
        Beyond `holds_to` the space has too many designs to search.
    """

    holds_to: float
    flips_at: float | None
    becomes: tuple[str, ...]
    complete: bool
    limited: bool


@dataclass(frozen=True)
class Stability:
    """How far one assumption may move before the answer changes."""

    name: str
    quantity: str
    today: float
    low: IntervalEnd
    high: IntervalEnd

    @property
    def least_change(self) -> float:
        """The least relative change, in either direction, that flips the answer; inf for none."""
        return min((abs(change) for change in self.changes if change is not None), default=math.inf)

    @property
    def changes(self) -> tuple[float | None, float | None]:
        """Relative change to the flip below and above, None where there is none."""
        sides = (self.low, self.high)
        low, high = (
            None if side.flips_at is None else side.flips_at / self.today - 1.0 for side in sides
        )
        return low, high


@dataclass(frozen=True, repr=False)
class Flips:
    """The answer to a study and what would change it, the least change first."""

    study: Study
    preference: str
    answer: tuple[str, ...]
    found: tuple[Stability, ...]
    factor: float = FACTOR

    @property
    def is_complete(self) -> bool:
        """Whether every design was compared for every assumption."""
        return all(side.complete for entry in self.found for side in (entry.low, entry.high))

    def text(self) -> str:
        """Return a table, the least change first, and what changes nothing."""
        moving = [entry for entry in self.found if math.isfinite(entry.least_change)]
        lines = [f"{', '.join(self.answer)}: {self.preference}"]
        if moving:
            headers = ("assumption", "today", "same from", "to", "takes", "then")
            lines.append(table_text([row(self, entry) for entry in moving], headers))
        lines += [textwrap.fill(note, WIDTH, break_on_hyphens=False) for note in _notes(self)]
        return "\n\n".join(lines)

    __repr__ = text

    def to_dict(self) -> dict[str, Any]:
        """Return plain data in SI."""
        return {
            "preference": self.preference,
            "answer": ", ".join(self.answer),
            "range_factor": self.factor,
            "assumptions": [_plain(self, entry) for entry in self.found],
        }


def row(flips: Flips, entry: Stability) -> tuple[str, ...]:
    """Return one assumption as a row: what it is, how far it may move, what it takes, and then."""
    low, high = (
        "any" if side.flips_at is None else units.show(side.holds_to, entry.quantity)
        for side in (entry.low, entry.high)
    )
    return (
        entry.name,
        units.show(entry.today, entry.quantity),
        f">= {units.show(entry.low.holds_to, entry.quantity)}" if entry.low.limited else low,
        f"<= {units.show(entry.high.holds_to, entry.quantity)}" if entry.high.limited else high,
        change_text(min((c for c in entry.changes if c is not None), key=abs)),
        "; ".join(_then(flips, entry)),
    )


def _then(flips: Flips, entry: Stability) -> list[str]:
    sides = [("below", entry.low), ("above", entry.high)]
    return [
        f"{word}: {difference(side.becomes, flips.answer)}"
        for word, side in sides
        if side.flips_at is not None
    ]


def change_text(change: float) -> str:
    """Return a relative change as text: per cent, or times where that reads better."""
    if change >= 1.0:
        return f"x {1 + change:.4g}"
    if change <= -0.9:
        return f"/ {1 / (1 + change):.4g}"
    return f"{100 * change:+.3g} %"


def _notes(flips: Flips) -> list[str]:
    stable = sorted(e.name for e in flips.found if not math.isfinite(e.least_change))
    sides = [side for entry in flips.found for side in (entry.low, entry.high)]
    notes = []
    if stable:
        notes.append(
            f"no flip between 1/{flips.factor:g} and {flips.factor:g} times today's value: "
            f"{', '.join(stable)}"
        )
    if not flips.is_complete:
        notes.append(
            "not every design was compared: for a knee or an expression, and in large spaces, the "
            "answer was searched exactly at some values only"
        )
    if any(side.limited for side in sides):
        notes.append("where the space grows beyond what is searched exactly, the range ends there")
    return notes


def _plain(flips: Flips, entry: Stability) -> dict[str, Any]:
    suffix = units.suffix(entry.quantity)
    unit = f"_{suffix}" if suffix else ""
    change = entry.least_change
    return {
        "assumption": entry.name,
        f"today{unit}": entry.today,
        "least_relative_change": change if math.isfinite(change) else None,
        **{
            side_name: {
                f"holds_to{unit}": side.holds_to,
                f"flips_at{unit}": side.flips_at,
                "relative_change": relative,
                "becomes": ", ".join(side.becomes) or None,
                "differs": difference(side.becomes, flips.answer) or None,
                "every_design_compared": side.complete,
                "range_limited": side.limited,
            }
            for side_name, side, relative in zip(
                ("below", "above"), (entry.low, entry.high), entry.changes, strict=True
            )
        },
    }

"""What would change the answer: for every assumption the interval in which it stays the same."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.algebra import units
from dse.model.preference import prefer
from dse.model.space import Index
from dse.reports import report
from dse.reports.designs import difference, parts
from dse.runs import runner
from dse.stability.boundary import Edge, Line
from dse.stability.tracking import Found, Pool, Question, look
from dse.study import assumptions
from dse.study.assumptions import Assumption
from dse.study.study import Study

FACTOR = 1000.0
"""Each assumption is moved between its value over this and its value times this."""

WIDTH = 100
"""Longest line of a note."""

NOTHING_FITS = "no feasible design"


@dataclass(frozen=True)
class Side:
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
    low: Side
    high: Side

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


@dataclass(frozen=True)
class Flips:
    """The answer to a study and what would change it, the least change first."""

    study: Study
    preference: str
    answer: tuple[str, ...]
    found: tuple[Stability, ...]
    factor: float = FACTOR


def find(
    study: Study,
    *,
    written: str | None = None,
    only: Sequence[str] = (),
    factor: float = FACTOR,
    known: Index | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Flips:
    """Return for every assumption of a study how far the answer holds.

    Parameters
    ----------
    study
        A prepared study.
    written
        What is preferred, as `dse.model.preference.prefer` takes it.
    only
        Names of assumptions, or parts of their dotted names; all of them when empty.
    factor
        Each assumption is moved between its value over this and its value times this.
    known
        The exact front (n, d) where it is known already.
    progress
        Called with the name of an assumption, its number and how many there are.

    Raises
    ------
    InfeasibleError
        When the study has no answer.
    TooLargeError
        When the space cannot be searched exactly.
    UnitError
        When there is no assumption of a name.
    """
    every = assumptions.of(study)
    chosen = every
    if only:
        wanted = {entry.name for name in only for entry in assumptions.choose(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    question = Question(prefer(study.problem, written))
    front = _front(study) if known is None else known
    pool = Pool(np.empty((0, len(study.problem.sizes)), dtype=np.int64))
    pool.add(front)
    today = look(study.problem, front, question)
    found = []
    for number, assumption in enumerate(chosen):
        if progress is not None:
            progress(assumption.name, number + 1, len(chosen))
        found.append(_stability(assumption, question, pool, today, factor))
    ranked = sorted(found, key=lambda entry: (float(f"{entry.least_change:.6g}"), entry.name))
    told = parts(study.problem, today.rows)[0]
    return Flips(study, question.preference.text, told, tuple(ranked), factor)


def _front(study: Study) -> Index:
    answer = runner.solve(study, runner.Options(method="exact"), None)
    runner.require_feasible(answer)
    return answer.outcome.front_index


def _stability(
    assumption: Assumption, question: Question, pool: Pool, today: Found, factor: float
) -> Stability:
    line = Line(
        assumption.at,
        question,
        pool,
        integer=assumption.integer,
        known=(assumption.value, today),
        touched=assumption.touched,
    )
    low, high = assumption.value / factor, assumption.value * factor
    if assumption.integer:
        low, high = max(1.0, float(round(low))), float(round(high))
    if line.holds(assumption.value, low, high):
        edges = [Edge(limit, None, complete=True) for limit in (low, high)]
    else:
        edges = [line.edge(assumption.value, limit) for limit in (low, high)]
    sides = [_side(line, edge) for edge in edges]
    return Stability(assumption.name, assumption.quantity, assumption.value, sides[0], sides[1])


def _side(line: Line, edge: Edge) -> Side:
    becomes: tuple[str, ...] = ()
    if edge.outside is not None:
        found = line.exact(edge.outside)
        texts = parts(line.problem(edge.outside), found.rows)
        becomes = texts[0] if texts else (NOTHING_FITS,)
    return Side(edge.inside, edge.outside, becomes, edge.complete, edge.limited)


def text(flips: Flips) -> str:
    """Return the flips as a table, the least change first, and what changes nothing."""
    moving = [entry for entry in flips.found if math.isfinite(entry.least_change)]
    lines = [f"{', '.join(flips.answer)}: {flips.preference}"]
    if moving:
        headers = ("assumption", "today", "same from", "to", "takes", "then")
        lines.append(report.catalogue([row(flips, entry) for entry in moving], headers))
    lines += [textwrap.fill(note, WIDTH, break_on_hyphens=False) for note in _notes(flips)]
    return "\n\n".join(lines)


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
        percent(min((c for c in entry.changes if c is not None), key=abs)),
        "; ".join(_then(flips, entry)),
    )


def _then(flips: Flips, entry: Stability) -> list[str]:
    sides = [("below", entry.low), ("above", entry.high)]
    return [
        f"{word}: {difference(side.becomes, flips.answer)}"
        for word, side in sides
        if side.flips_at is not None
    ]


def percent(change: float) -> str:
    """Return a relative change as text: per cent, or times where that reads better."""
    if change >= 1.0:
        return f"x {1 + change:.4g}"
    if change <= -0.9:
        return f"/ {1 / (1 + change):.4g}"
    return f"{100 * change:+.3g} %"


def is_complete(flips: Flips) -> bool:
    """Tell whether every design was compared for every assumption."""
    return all(side.complete for entry in flips.found for side in (entry.low, entry.high))


def _notes(flips: Flips) -> list[str]:
    stable = sorted(e.name for e in flips.found if not math.isfinite(e.least_change))
    sides = [side for entry in flips.found for side in (entry.low, entry.high)]
    notes = []
    if stable:
        notes.append(
            f"no flip between 1/{flips.factor:g} and {flips.factor:g} times today's value: "
            f"{', '.join(stable)}"
        )
    if not is_complete(flips):
        notes.append(
            "not every design was compared: for a knee or an expression, and in large spaces, the "
            "answer was searched exactly at some values only"
        )
    if any(side.limited for side in sides):
        notes.append("where the space grows beyond what is searched exactly, the range ends there")
    return notes


def plain(flips: Flips) -> dict[str, Any]:
    """Return the flips as plain data in SI."""
    return {
        "preference": flips.preference,
        "answer": ", ".join(flips.answer),
        "range_factor": flips.factor,
        "assumptions": [_plain(flips, entry) for entry in flips.found],
    }


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

"""What would change an answer: for every assumption the interval in which it holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dse.algebra import units
from dse.parametric.breakpoints import Breakpoint, proofs_text
from dse.reports.designs import difference, for_people
from dse.reports.sections import Section, html, sections_text
from dse.reports.text import (
    Printable,
    listed,
    percent,
    plural,
    signed,
    unit_suffix,
)
from dse.study.assumptions import MOST_RECORDS
from dse.study.evidence import GIVEN
from dse.study.study import Study

FACTOR = 1000.0
"""Each assumption is varied between its value over this and its value times this."""

NEAR = 2.0
"""The factor in an answer, unless every flip is shown."""

SHOWN = 8
"""Flips that an answer shows, unless every flip is shown."""

NEAREST = 2
"""Flips that one screen shows, and one more of a number written as zero."""

HARDLY = 0.01
"""Flips whose saving is less, or than the tolerance, hardly matter."""

SECTION = ("flips", "What would change it")
"""Key and title of the section of an answer."""

HEADERS = ("assumption", "nominal", "holds from", "to", "change needed", "answer beyond", "saving")
NOTHING_FITS = "no feasible design"
SAVING = (
    "Saving: how much less the design beyond a flip takes than the one it replaces, a tenth beyond."
)

NAMED = 12
"""Names that a text lists."""


@dataclass(frozen=True)
class Stability:
    """How far one assumption may move before the answer changes."""

    name: str
    quantity: str
    nominal: float
    low: Breakpoint
    high: Breakpoint
    evidence: str = GIVEN

    @property
    def label(self) -> str:
        """The name, and the evidence for its value where the study does not give it."""
        return self.name if self.evidence == GIVEN else f"{self.name} ({self.evidence})"

    @property
    def distance(self) -> float:
        """How far the nearest flip is, as the logarithm of a factor; inf for none."""
        return min(map(self.distance_to, self.sides))

    @property
    def moves(self) -> bool:
        """Whether anything flips the answer."""
        return any(side.flips_at is not None for side in self.sides)

    def nearest(self, hardly: float = 0.0) -> Breakpoint:
        """Return the end with the nearest flip, of those with a saving that matters."""
        return min(self.mattering(hardly) or self.sides, key=self.distance_to)

    def mattering(self, hardly: float) -> tuple[Breakpoint, ...]:
        """Return the ends with flips whose saving is not less, or not known."""
        flips = (side for side in self.sides if side.flips_at is not None)
        return tuple(s for s in flips if s.saving is None or s.saving >= hardly)

    @property
    def is_limited(self) -> bool:
        """Whether its range ends early at either end."""
        return bool(self.low.limited or self.high.limited)

    def change(self, side: Breakpoint) -> float | None:
        """Return the relative change to a flip, None where there is none, or nothing to relate."""
        if side.flips_at is None or side.flips_at * self.nominal <= 0.0:
            return None
        return side.flips_at / self.nominal - 1.0

    def change_text(self, side: Breakpoint) -> str:
        """Return the change to a flip: per cent, a factor, or a step where a number passes zero."""
        relative = self.change(side)
        if relative is None:
            step = (side.flips_at or 0.0) - self.nominal
            return f"{'+' if step > 0 else ''}{units.show(step, self.quantity)}"
        if relative >= 1.0:
            return f"{1 + relative:.4g}x"
        if relative <= -0.9:
            return f"1/{1 / (1 + relative):.4g}"
        return signed(relative)

    def distance_to(self, side: Breakpoint) -> float:
        """Return how far the flip at an end is, as the logarithm of a factor; inf for none."""
        if side.flips_at is None:
            return math.inf
        change = self.change(side)
        if change is not None:
            return abs(math.log1p(change))
        return math.log1p(abs(side.flips_at - self.nominal) / (abs(self.nominal) or 1.0))

    @property
    def sides(self) -> tuple[Breakpoint, Breakpoint]:
        """Both ends of its interval."""
        return self.low, self.high


@dataclass(frozen=True, repr=False)
class Flips(Printable):
    """The answer to a study and what would change it, the least change first.

    `unchecked` are assumptions for which the CPU time, `seconds`, did not suffice; `first` what
    matters most.  Flips with a saving below `hardly` hardly matter.
    """

    study: Study
    preference: str
    answer: tuple[str, ...]
    found: tuple[Stability, ...]
    factor: float = FACTOR
    seconds: float = math.inf
    unchecked: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    hardly: float = HARDLY

    @property
    def moving(self) -> tuple[Stability, ...]:
        """The assumptions that flip the answer."""
        return tuple(entry for entry in self.found if entry.moves)

    @property
    def mattering(self) -> tuple[Stability, ...]:
        """Those of which staying with the answer costs something."""
        return tuple(entry for entry in self.moving if entry.mattering(self.hardly))

    @property
    def limits(self) -> tuple[str, ...]:
        """Why some ranges end early."""
        found = {side.limited for entry in self.found for side in entry.sides}
        return tuple(sorted(found - {""}))

    def text(self) -> str:
        """Return a table, the least change first, and what changes nothing."""
        return sections_text(self.title, [replace(self.section(full=True), title="")])

    @property
    def title(self) -> str:
        """The answer, and by what it is one."""
        return f"{', '.join(self.answer)}: {self.preference}"

    def _repr_html_(self) -> str:
        return html(self.title, [replace(self.section(full=True), title="")])

    def section(self, *, full: bool) -> Section:
        """Return the flips as a section of an answer, only the nearest unless `full`."""
        moving = self.mattering
        shown = moving if full else moving[:SHOWN]
        still = len(self.found) - len(self.moving)
        counts = {"checked": len(self.found), "change_nothing": still, "shown": len(shown)}
        near = self.factor == NEAR
        span = "half to twice" if near else f"1/{self.factor:g} to {self.factor:g} times"
        alone = len(self.found) == 1
        varied = self.found[0].label if alone else f"Each of {len(self.found)} assumptions"
        nothing = f"; {still} of them change nothing" * (still > 0 and not alone)
        lines = [f"{varied} was varied alone, from {span} its nominal value{nothing}."]
        lines *= bool(self.found)
        if shown:
            lines.append(
                "The answer holds while a value stays in its interval; any: no flip up to the "
                f"factor tried. {SAVING}"
            )
            sides = [side for entry in self.found for side in entry.sides]
            lines.append(f"Compared up to the ends: {proofs_text(sides)}.")
        remarks = list(_hardly(self))
        if len(moving) > len(shown):
            counts["not_shown"] = len(moving) - len(shown)
            names = ", ".join(entry.label for entry in moving[len(shown) :])
            remarks.append(f"Less sensitive: {names}.")
        remarks += _unmoved(self) if full else ()
        if self.unchecked:
            remarks.append(not_checked(self.unchecked, self.seconds))
        remarks += [f"Some ranges stop early: {reason}." for reason in self.limits]
        remarks += [
            f"Of the {axis.size:,} choices of {axis.name} those on the front were varied alone."
            for axis in self.study.problem.space.axes
            if axis.size > MOST_RECORDS
        ]
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
        """Yield the nearest flips, and what was not checked."""
        pairs = ((entry, entry.nearest(self.hardly)) for entry in self.mattering)
        nearest = sorted(pairs, key=lambda pair: pair[0].distance_to(pair[1]))
        missing = [name for name in self.unchecked if name in self.first]
        most = NEAREST - bool(missing)  # one of those may be nearer
        zeros = [pair for pair in nearest[most:] if pair[0].nominal == 0.0]
        for entry, side in [*nearest[:most], *zeros[:1]]:
            beyond = _beyond(self.beyond(side), side.saving)
            yield f"Flips with {entry.label} {entry.change_text(side)}: {beyond}."
        more = len(self.unchecked) - 1
        named = listed([*missing[:1], *[f"{more} more"] * bool(more)])
        unchecked = named if missing else plural(more + 1, "assumption")
        if self.found and not self.mattering and not missing:
            flip = "flip that matters" if self.moving else "flip"
            yield (
                f"No {flip}: {plural(len(self.found), 'assumption')} checked, each from {span} its "
                "nominal value."
            )
        if not self.mattering:  # else --all tells them
            yield from _hardly(self)
        if self.unchecked:
            yield f"Not checked in {self.seconds:g} s of CPU time (--time): {unchecked}."

    def beyond(self, side: Breakpoint) -> str:
        """Return by what the design beyond a flip differs from the answer, for people."""
        return for_people(self.study.problem, difference(side.becomes, self.answer))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data in SI."""
        return {
            "preference": self.preference,
            "answer": ", ".join(self.answer),
            "range_factor": self.factor,
            "hardly_below": self.hardly,
            "not_checked": list(self.unchecked),
            "proofs": Counter(side.proof for entry in self.found for side in entry.sides),
            "assumptions": [_facts(self, entry) for entry in self.found],
        }


def _beyond(becomes: str, saving: float | None) -> str:
    """Return what is beyond a flip, and what it costs to stay, in words."""
    if becomes == NOTHING_FITS or saving is None:
        return becomes
    if math.isinf(saving):
        return f"infeasible, then {becomes} takes over"
    return f"then {becomes} takes over, {percent(saving)} less a tenth beyond"


def _hardly(flips: Flips) -> Iterator[str]:
    few = [entry.label for entry in flips.moving if entry not in flips.mattering]
    if few:
        names = ", ".join(few[:NAMED]) + (f" and {len(few) - NAMED} more" * (len(few) > NAMED))
        yield f"Flips that hardly matter (saving below {100 * flips.hardly:g} %): {names}."


def _row(flips: Flips, entry: Stability) -> tuple[str, ...]:
    """Return one assumption as a row of `HEADERS`."""
    low, high = (
        "any" if side.flips_at is None else units.show(side.holds_to, entry.quantity)
        for side in entry.sides
    )
    beyond = [
        f"{word}: {flips.beyond(side)}"
        for word, side in (("below", entry.low), ("above", entry.high))
        if side.flips_at is not None
    ]
    savings = [side.saving for side in entry.sides if side.flips_at is not None]
    return (
        f"{entry.name}\n{entry.evidence}",
        units.show(entry.nominal, entry.quantity),
        f">= {units.show(entry.low.holds_to, entry.quantity)}" if entry.low.limited else low,
        f"<= {units.show(entry.high.holds_to, entry.quantity)}" if entry.high.limited else high,
        entry.change_text(entry.nearest()),
        "; ".join(beyond),
        "; ".join(_saving_text(saving, flips.hardly) for saving in savings),
    )


def _saving_text(saving: float | None, hardly: float) -> str:
    if saving is None:
        return "unknown"
    if saving < hardly:
        return "hardly"
    return "not met" if math.isinf(saving) else percent(saving)


def _unmoved(flips: Flips) -> Iterator[str]:
    """Yield what changes nothing, by name."""
    still = [entry for entry in flips.found if not entry.moves]
    stable = sorted(entry.name for entry in still if not entry.is_limited)
    if stable:
        yield f"No flip: {', '.join(stable)}."
    for entry in still:
        if entry.is_limited:
            low, high = (units.show(side.holds_to, entry.quantity) for side in entry.sides)
            yield f"No flip within what was searched: {entry.name} from {low} to {high}."


def not_checked(names: Sequence[str], seconds: float) -> str:
    """Say what was not checked when the time was over, and which option gives more."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (
        f"Not checked ({seconds:g} s of CPU time used; raise --time): "
        f"{', '.join(names[:NAMED])}{more}. How far these reach depends on the machine."
    )


def _facts(flips: Flips, entry: Stability) -> dict[str, Any]:
    unit = unit_suffix(entry.quantity)
    change = entry.change(entry.nearest())
    return {
        "assumption": entry.name,
        "evidence": entry.evidence,
        f"nominal{unit}": entry.nominal,
        "least_relative_change": None if change is None else abs(change),
        "least_factor": math.exp(entry.distance) if entry.moves else None,
        **{
            name: {
                f"holds_to{unit}": side.holds_to,
                f"flips_at{unit}": side.flips_at,
                "relative_change": entry.change(side),
                "becomes": ", ".join(side.becomes) or None,
                "differs": ", ".join(difference(side.becomes, flips.answer)) or None,
                "saving": side.saving if math.isfinite(side.saving or 0.0) else None,
                "infeasible_beyond": side.saving == math.inf,
                "proof": side.proof,
                "range_limited": bool(side.limited),
                "range_ends_where": side.limited or None,
            }
            for name, side in zip(("below", "above"), entry.sides, strict=True)
        },
    }

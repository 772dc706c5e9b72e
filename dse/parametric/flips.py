"""What would change an answer: every assumption varied until the answer changes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dse.algebra import units
from dse.contract import SIZE
from dse.errors import ContractError, DseError
from dse.model.preference import Preference
from dse.model.space import Index
from dse.parametric.breakpoints import Breakpoint, Line, breakpoints, compare_lines, proofs_text
from dse.parametric.infeasible import require_feasible
from dse.parametric.question import (
    AnswerDesigns,
    Compared,
    PerturbedPart,
    Question,
    compare_together,
    ends_of,
    limits_of,
    widest,
)
from dse.reports.designs import difference, for_people, parts
from dse.reports.sections import Section, html, sections_text
from dse.reports.text import (
    Printable,
    interval,
    listed,
    percent,
    plural,
    signed,
    unit_suffix,
)
from dse.runs import runner
from dse.runs.solved import Options
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import (
    MOST_RECORDS,
    Assumption,
    assumptions_of,
    choose_assumptions,
    column_path,
    modelled_axes,
)
from dse.study.demand import RATE
from dse.study.evidence import GIVEN, source_of
from dse.study.study import Study
from dse.study.workload_interface_budget import FREE

FACTOR = 1000.0
"""Each assumption is varied between its value over this and its value times this."""

_NEAR = 2.0
"""The factor in an answer, unless every flip is shown."""

SHOWN = 8
"""Flips that an answer shows, unless every flip is shown."""

NEAREST = 3
"""Flips that one screen shows, and one more of a number written as zero."""

HARDLY = 0.01
"""Flips whose saving is less, or than the tolerance, hardly matter."""

SECTION = ("flips", "What would change it")
"""Key and title of the section of an answer."""

_HEADERS = ("assumption", "nominal", "holds from", "to", "change needed", "answer beyond", "saving")
NOTHING_FITS = "no feasible design"
SAVING = (
    "Saving: how much less the design beyond a flip takes than the one it replaces, a tenth beyond."
)

NAMED = 12
"""Names that a text lists."""

Progress = Callable[[str, int, int], None]

_FIRST = (RATE, SIZE, "budget_power_cap_w")
"""What is checked before all else, and the bounds of constraints."""

TOGETHER, SPACE = 128, 200_000
"""Assumptions that are followed together, and in spaces of how many designs; fewer in larger."""

CHOSEN = FREE - {"workload.granularity"}
"""Fields that say how something is used, which nobody is wrong about."""

_LARGEST = {"w": 1e3, "s": 1e-2, "m2": 1e-3, "cycles": 1e6, "byte": 1e6} | {
    "j_per_byte": 1e-6,
    "s_per_byte": 1e-6,
    "m2_per_bit": 1e-9,
    "w_per_bit": 1e-3,
}
"""How large a number could be that is zero, by its unit in SI."""

_BEYOND = 1.1
"""How far beyond a flip a saving is compared: a tenth."""

STEP = 1.01
"""By how much each assumption moves to find what the answer depends on most."""


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

    @property
    def span(self) -> str:
        """How far each assumption was varied, in words."""
        near = self.factor == _NEAR
        return "half to twice" if near else f"1/{self.factor:g} to {self.factor:g} times"

    def section(self, *, full: bool) -> Section:
        """Return the flips as a section of an answer, only the nearest unless `full`."""
        moving = self.mattering
        shown = moving if full else moving[:SHOWN]
        counts = {
            "checked": len(self.found),
            "change_nothing": len(self.found) - len(self.moving),
            "shown": len(shown),
        }
        counts |= {"not_shown": len(moving) - len(shown)} if len(moving) > len(shown) else {}
        counts |= {} if full else {"widest_range_factor": int(FACTOR)}
        return Section(
            *SECTION,
            tuple(self._lines(bool(shown))),
            _HEADERS if shown else (),
            tuple(_row(self, entry) for entry in shown),
            tuple(self._remarks(moving[len(shown) :], full=full)),
            facts=counts | self.to_dict(),
            brief=None if full else tuple(self._brief()),
        )

    def _lines(self, shown: bool) -> Iterator[str]:
        """Yield what was varied, and how to read the table, where one is `shown`."""
        still = len(self.found) - len(self.moving)
        if len(self.found) == 1:
            yield f"{self.found[0].label} was varied alone, from {self.span} its nominal value."
        elif self.found:
            nothing = f"; {still} of them change nothing" * (still > 0)
            yield (
                f"Each of {len(self.found)} assumptions was varied alone, from {self.span} its "
                f"nominal value{nothing}."
            )
        if shown:
            yield (
                "The answer holds while a value stays in its interval; any: no flip up to the "
                f"factor tried. {SAVING}"
            )
            sides = [side for entry in self.found for side in entry.sides]
            yield f"Compared up to the ends: {proofs_text(sides)}."

    def _remarks(self, left: Sequence[Stability], *, full: bool) -> Iterator[str]:
        """Yield what the table has not, `left` among it."""
        yield from _hardly(self)
        if left:
            yield f"Less sensitive: {', '.join(entry.label for entry in left)}."
        if full:
            yield from _unmoved(self)
        if self.unchecked:
            yield not_checked(self.unchecked, self.seconds)
        for reason in self.limits:
            yield f"Some ranges stop early: {reason}."
        for axis in self.study.problem.space.axes:
            if axis.size > MOST_RECORDS:
                yield (
                    f"Of the {axis.size:,} choices of {axis.name} those on the front were varied "
                    "alone."
                )
        if not full:
            yield f"Use --flips to vary each by up to {FACTOR:g}x in both directions."

    def _brief(self) -> Iterator[str]:
        """Yield the nearest flips, and what was not checked."""
        pairs = ((entry, entry.nearest(self.hardly)) for entry in self.mattering)
        nearest = sorted(pairs, key=lambda pair: pair[0].distance_to(pair[1]))
        missing = [name for name in self.unchecked if name in self.first]
        most = NEAREST - bool(missing)  # one of those may be nearer
        zeros = [pair for pair in nearest[most:] if pair[0].nominal == 0.0]
        rate = next((one for one in self.found if one.quantity == RATE), None)
        if rate is not None:
            holds = interval(rate.low.holds_to, rate.high.holds_to, rate.quantity)
            least = any(side.flips_at is None for side in rate.sides)  # no farther was searched
            yield f"Holds {'at least ' * least}for {rate.name} from {holds}."
        fragile: dict[str, list[str]] = {}
        for entry, side in [*nearest[:most], *zeros[:1]]:
            moved = f"{entry.label} {entry.change_text(side)}"
            limit = "infeasible, then " if side.saving == math.inf else ""
            fragile.setdefault(f"{limit}{self.beyond(side)}", []).append(moved)
        if fragile:
            texts = (f"{', '.join(moved)}: {beyond}" for beyond, moved in fragile.items())
            yield f"Flips with {'; '.join(texts)}."
        more = len(self.unchecked) - 1
        named = listed([*missing[:1], *[f"{more} more"] * bool(more)])
        unchecked = named if missing else plural(more + 1, "assumption")
        if self.found and not self.mattering and not missing:
            flip = "flip that matters" if self.moving else "flip"
            yield f"No {flip}: {plural(len(self.found), 'assumption')} from {self.span} nominal."
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


def _hardly(flips: Flips) -> Iterator[str]:
    few = [entry.label for entry in flips.moving if entry not in flips.mattering]
    if few:
        names = ", ".join(few[:NAMED]) + (f" and {len(few) - NAMED} more" * (len(few) > NAMED))
        yield f"Flips that hardly matter (saving below {100 * flips.hardly:g} %): {names}."


def _row(flips: Flips, entry: Stability) -> tuple[str, ...]:
    """Return one assumption as a row of `_HEADERS`."""
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


def find_flips(
    study: Study,
    *,
    preference: Preference | None = None,
    only: Sequence[str] = (),
    factor: float = FACTOR,
    known: Index | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Flips:
    """Return for every assumption of a study how far the answer holds.

    The demanded rate, sizes, caps and bounds come first, then what the answer depends on most.

    Parameters
    ----------
    study
        A prepared study.
    preference
        Which design is the answer; the study's own.
    only, progress
        As in `dse.flips`.
    factor
        Each assumption is varied between its value over this and its value times this.
    known
        The exact front (n, d), where it is known already.
    budget
        What it may take; assumptions that are left then are named.
    """
    budget = budget or Budget()
    front = proven_front(study, budget) if known is None else known
    chosen = every = figures_of(study, front)
    if only:
        wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
        chosen = tuple(entry for entry in every if entry.name in wanted)
    question = Question(preference or study.preference)
    searched = _FlipSearch(study, question, front, factor)
    found: dict[str, Stability] = {}
    first = [entry.name for entry in chosen if is_first(entry)]
    with suppress(EffortError), limited(seconds=budget.left_s, byte=budget.byte):
        for entry in searched.at(searched.ordered(chosen)):
            found[entry.name] = entry
            if progress is not None:
                progress(entry.name, len(found), len(chosen))
    ranked = sorted(found.values(), key=lambda entry: (float(f"{entry.distance:.6g}"), entry.name))
    unchecked = [entry.name for entry in chosen if entry.name not in found]
    return Flips(
        study,
        question.preference.text,
        parts(study.problem, searched.answer.rows)[0],
        tuple(ranked),
        factor,
        budget.seconds,
        tuple(sorted(unchecked, key=lambda name: name not in first)),
        tuple(first),
        max(HARDLY, question.preference.tolerance),
    )


def proven_front(study: Study, budget: Budget) -> Index:
    """Return the exact front of a study, searched within a budget.

    Raises
    ------
    InfeasibleError
        No design is feasible.
    """
    effort_s, memory_byte = (
        None if math.isinf(one) else one for one in (budget.left_s, budget.byte)
    )
    options = Options(method="exact", effort_s=effort_s, memory_byte=memory_byte)
    answer = runner.solve_study(study, options)
    require_feasible(answer, budget=budget)
    return answer.outcome.front_index


def is_first(entry: Assumption) -> bool:
    """Whether an assumption is checked before others."""
    return entry.quantity in _FIRST or entry.bound is not None


class _FlipSearch:
    """Checks assumptions of a study of which the exact front (n, d) is known."""

    def __init__(self, study: Study, question: Question, front: Index, factor: float) -> None:
        self.study = study
        self.question = question
        self.front = front
        self.factor = factor
        self.answer = AnswerDesigns(frozenset(), question.preference.first(study.problem, front))

    def at(self, entries: Sequence[Assumption]) -> Iterator[Stability]:
        """Yield how far the answer holds along assumptions, some of which are followed together."""
        most = max(1, min(TOGETHER, TOGETHER * SPACE // self.study.problem.size))
        for _, alike in itertools.groupby(entries, is_first):
            every = [*alike]
            together = 1 if is_first(every[0]) else most  # so that few are lost when time ends
            for at in range(0, len(every), together):
                lines = [self._line(entry) for entry in every[at : at + together]]
                seen = lines[0].compare(self.answer.rows, [lines[0].entry.value])
                self.answer = self.question.answer(self.study.problem, seen)
                found = breakpoints(lines, [self.answer] * len(lines))
                sides = iter(self._worded(lines, found))
                for line in lines:
                    yield _stability(self.study, line.entry, [next(sides), next(sides)])

    def _line(self, entry: Assumption) -> Line:
        line = Line(entry, self.question, self.study.settings, self._limits(entry))
        line.learn(self.front)
        return line

    def _limits(self, entry: Assumption) -> tuple[float, float]:
        size = 0.0
        if entry.value == 0.0 and entry.bound is None:
            size = most_of(entry)
        elif entry.value <= 0.0 and entry.bound is not None:
            values = self.study.problem.describe(self.front).get(entry.quantity, np.zeros(1))
            size = float(np.abs(values).max())
        return limits_of(entry, self.factor, size)

    def ordered(self, entries: Sequence[Assumption]) -> list[Assumption]:
        """Return assumptions, those first that matter: see `find_flips`."""
        moves = {}
        with suppress(ContractError):
            wanted = [
                PerturbedPart(entry, (entry.value, _stepped(entry)), self.answer.rows[:1])
                for entry in entries
            ]
            seen = self._compared(wanted)
            moves = {e.name: _moved(one) for e, one in zip(entries, seen, strict=True)}
        return sorted(
            entries, key=lambda e: (not is_first(e), -round(moves.get(e.name, 0.0), 6), e.name)
        )

    def _compared(self, wanted: Sequence[PerturbedPart]) -> list[Compared]:
        if not wanted:
            return []
        ends = [end for one in wanted for end in ends_of(one.entry, one.values)]
        return compare_together(self.study.problem, widest(self.study.problem, ends), wanted)

    def _worded(self, lines: Sequence[Line], found: Sequence[Breakpoint]) -> Iterator[Breakpoint]:
        """Yield all ends with the answer beyond in words, and how much less that takes."""
        own = self.answer.rows[:1]
        ends = [(lines[at // 2], end) for at, end in enumerate(found)]
        asks = {
            id(end): (
                line,
                np.vstack([own, end.beyond.rows[:1]]),
                [_beyond(line.entry, end.flips_at)],
            )
            for line, end in ends
            if end.flips_at is not None and end.beyond is not None
        }
        seen = dict(zip(asks, compare_lines([*asks.values()]), strict=True))
        for line, end in ends:
            if end.beyond is None or end.flips_at is None:
                yield end
                continue
            words = parts(line.at(end.flips_at), end.beyond.rows[:1])
            saving = self._saving(line, end.flips_at, seen[id(end)])
            yield replace(end, becomes=next(iter(words), (NOTHING_FITS,)), saving=saving)

    def _saving(self, line: Line, flips_at: float, seen: Compared | DseError) -> float | None:
        """Return how much less the design beyond a flip takes than the answer, a tenth beyond.

        Infinite where the answer is infeasible, or needs more instances than it has; None where no
        one number is compared, or fewer instances would do.
        """
        preference, problem = self.question.preference, line.entry.problem
        if isinstance(seen, DseError) or not preference.is_quantity:
            return None
        (key,) = self.answer.keys
        more = seen.counts[0, 0] - key[len(key) - seen.counts.shape[2] :]
        if more.any():
            return math.inf if (more > 0).any() else None
        if not seen.feasible[0, 0]:
            return math.inf
        if not seen.feasible[0].all() or len(seen.rows) < 2:
            return None
        if line.column is None:
            problem = line.at(_beyond(line.entry, flips_at))
        own, other = preference.merit(problem, seen.rows, seen.loss[0]).tolist()
        return (own - other) / abs(own) if own else None


def _stability(study: Study, entry: Assumption, ends: Sequence[Breakpoint]) -> Stability:
    low, high = ends
    evidence, _ = source_of(study, entry)
    return Stability(entry.name, entry.quantity, entry.value, low, high, evidence)


def _beyond(entry: Assumption, flips_at: float) -> float:
    """Return the value a tenth beyond a flip, seen from the nominal value."""
    if entry.among:
        return flips_at
    if entry.value * flips_at > 0 or entry.value == 0.0:
        up = abs(flips_at) > abs(entry.value)
        value = flips_at * _BEYOND if up else flips_at / _BEYOND
    else:
        value = flips_at + (_BEYOND - 1.0) * (flips_at - entry.value)
    if not entry.integer:
        return value
    return float(math.ceil(value) if flips_at > entry.value else max(math.floor(value), 1))


def _stepped(entry: Assumption) -> float:
    return entry.value if entry.among or entry.integer else entry.value * STEP


def _moved(seen: Compared) -> float:
    """Return how much a step moves the losses of a design, and its distance from constraints."""
    both = np.concatenate([seen.loss[:, 0], seen.violation[:, 0]], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        by = np.abs(np.diff(both, axis=0)[0] / both[0])
    return float(np.nan_to_num(by, nan=0.0, posinf=1.0).max(initial=0.0))


def flips_section(
    study: Study,
    front: Index,
    preference: Preference,
    *,
    exact: bool,
    full: bool,
    budget: Budget,
    progress: Progress | None = None,
) -> Section | None:
    """Return what would change the answer to a study; None where it is not worth a word.

    `exact` says whether its `front`, (n, d), is proven; `full` searches the whole range and shows
    every flip, as far as the budget goes.
    """
    if not exact:
        reason = "Flips are unknown, as the front is not proven; dse flips searches every design."
        return without_flips(reason) if full else None
    found = find_flips(
        study,
        preference=preference,
        factor=FACTOR if full else _NEAR,
        known=front,
        budget=budget,
        progress=progress,
    )
    return found.section(full=full)


def without_flips(reason: str) -> Section:
    """Return the section of an answer whose flips are not searched."""
    return Section(*SECTION, (reason,), facts={"reason": reason}, brief=(reason,))


def figures_of(study: Study, front: Index) -> tuple[Assumption, ...]:
    """Return the assumptions that somebody could be wrong about.

    Neither exponents, nor choices of the study, nor what a constraint equals; but numbers with a
    unit that a record gives as zero.  Of a large table, of designs of the `front`, (n, d).
    """
    rules = study.problem.constraints
    found = [
        entry
        for entry in assumptions_of(study, zero=True, of=front)
        if not (entry.bound is None and column_path(entry.quantity) in CHOSEN)
        and not units.stem(entry.quantity).endswith("exponent")
        and not (entry.bound is not None and "==" in rules[entry.bound[0]].text)
    ]
    return (*found, *_zeros(study))


def most_of(entry: Assumption) -> float:
    """Return up to where a number is moved that is zero: ten times the largest of a catalogue.

    Where that has none, as much as its unit says.
    """
    columns = [axis.columns.get(entry.quantity) for axis in entry.problem.space.axes]
    known = [np.nan_to_num(one, posinf=0.0).max() for one in columns if one is not None]
    largest = 10 * float(max(known, default=0.0))
    return max(largest, _LARGEST.get(units.suffix(entry.quantity), 0.0)) or 1.0


def _zeros(study: Study) -> Iterator[Assumption]:
    """Yield what a record or the study gives as zero, of which a unit says how large it could be.

    A zero of another unit than the one that is given stands for nothing.
    """
    problem = study.problem
    places = {axis.name: place for place, axis in modelled_axes(problem)}
    for name, row, column in sorted(study.sureness.zeros):
        path, place = column_path(column), places.get(name)
        if not units.suffix(column):
            continue
        if place is not None and column in problem.space.axes[place].columns:
            label = f"{problem.space.axes[place].labels[row]}.{path.partition('.')[2]}"
            yield Assumption(label, column, 0.0, False, problem, (place, row))
        elif not name and column in problem.space.constants:
            yield Assumption(path, column, 0.0, False, problem)

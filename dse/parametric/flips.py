"""The flips of an answer: every assumption varied until the answer changes."""

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
from dse.parametric.perturbed import Compared, PerturbedPart, compare_together, ends_of, widest
from dse.parametric.question import AnswerDesigns, Question, limits_of
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
from dse.runs.runner import Options
from dse.search.exact.work import EffortError, limited
from dse.search.settings import Budget
from dse.study.assumptions import (
    GIVEN,
    MOST_RECORDS,
    Assumption,
    assumptions_of,
    choose_assumptions,
    column_path,
    modelled_axes,
    source_of,
)
from dse.study.demand import RATE
from dse.study.schema import FREE
from dse.study.study import Study

FACTOR = 1000.0
"""Each assumption varies between its value over this and its value times this."""

_NEAR = 2.0
"""The factor in an answer, unless it shows every flip."""

_SHOWN = 8
"""Flips in an answer, unless it shows every flip."""

_NEAREST = 3
"""Flips on one screen, besides one of a number written as zero."""

_HARDLY = 0.01
"""Saving below which a flip hardly matters, unless the tolerance is larger."""

_STEP = 1.01
"""Factor by which assumptions move to find those on which the answer depends most."""

_SECTION = ("flips", "What would change it")
"""Key and title of the section of an answer."""

_HEADERS = ("input", "nominal", "holds from", "to", "change needed", "answer beyond", "saving")
NOTHING_FITS = "no feasible design"
_SAVING = "Saving: how much less the answer beyond takes than the old one, a tenth past the flip."

_NAMED = 12
"""Most names in a text."""

Progress = Callable[[str, int, int], None]

_FIRST = (RATE, SIZE, "budget_power_cap_w")
"""Columns checked before all others, besides the bounds of constraints."""

TOGETHER, _SPACE = 128, 200_000
"""Assumptions followed together, and the largest space for so many."""

_CHOSEN = FREE - {"workload.granularity"}
"""Fields that are choices of use instead of assumptions."""

_LARGEST = {"w": 1e3, "s": 1e-2, "m2": 1e-3, "cycles": 1e6, "byte": 1e6} | {
    "j_per_byte": 1e-6,
    "s_per_byte": 1e-6,
    "m2_per_bit": 1e-9,
    "w_per_bit": 1e-3,
}
"""Upper ends of numbers that are zero, by their unit in SI."""

_BEYOND = 1.1
"""Distance beyond a flip at which a saving is compared: a tenth."""


@dataclass(frozen=True)
class Stability:
    """The distances that one assumption may move before the answer changes."""

    name: str
    quantity: str
    nominal: float
    low: Breakpoint
    high: Breakpoint
    evidence: str = GIVEN

    @property
    def sides(self) -> tuple[Breakpoint, Breakpoint]:
        """Both ends of its interval."""
        return self.low, self.high

    @property
    def label(self) -> str:
        """The name, and the evidence for its value unless the study gives it."""
        return self.name if self.evidence == GIVEN else f"{self.name} ({self.evidence})"

    @property
    def moves(self) -> bool:
        """Whether anything flips the answer."""
        return any(side.flips_at is not None for side in self.sides)

    @property
    def distance(self) -> float:
        """The distance of the nearest flip as the logarithm of a factor, or infinity."""
        return min(map(self.distance_to, self.sides))

    def distance_to(self, side: Breakpoint) -> float:
        """Return the distance of the flip at an end as the logarithm of a factor, or infinity."""
        if side.flips_at is None:
            return math.inf
        change = self.change(side)
        if change is not None:
            return abs(math.log1p(change))
        return math.log1p(abs(side.flips_at - self.nominal) / (abs(self.nominal) or 1.0))

    def nearest(self, hardly: float = 0.0) -> Breakpoint:
        """Return the end with the nearest flip, if possible one that matters."""
        return min(self.mattering(hardly) or self.sides, key=self.distance_to)

    def mattering(self, hardly: float) -> tuple[Breakpoint, ...]:
        """Return the ends with flips of no smaller or an unknown saving."""
        flips = (side for side in self.sides if side.flips_at is not None)
        return tuple(s for s in flips if s.saving is None or s.saving >= hardly)

    def change(self, side: Breakpoint) -> float | None:
        """Return the relative change to a flip, or None without a flip or a ratio."""
        if side.flips_at is None or side.flips_at * self.nominal <= 0.0:
            return None
        return side.flips_at / self.nominal - 1.0

    def change_text(self, side: Breakpoint) -> str:
        """Return the change to a flip in per cent or as a factor, or as a step through zero."""
        relative = self.change(side)
        if relative is None:
            step = (side.flips_at or 0.0) - self.nominal
            return f"{'+' if step > 0 else ''}{units.show(step, self.quantity)}"
        if relative >= 1.0:
            return f"{1 + relative:.4g}x"
        if relative <= -0.9:
            return f"1/{1 / (1 + relative):.4g}"
        return signed(relative)


@dataclass(frozen=True, repr=False)
class Flips(Printable):
    """The answer to a study, in parts, and its flips, the least change first.

    Each assumption was varied from its value over `factor` to its value times this.  Those
    `unchecked` were not, for want of CPU time; those in `first` matter most.  A flip hardly
    matters that saves less than `hardly`.
    """

    study: Study
    preference: str
    answer: tuple[str, ...]
    found: tuple[Stability, ...]
    factor: float = FACTOR
    seconds: float = math.inf
    unchecked: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    hardly: float = _HARDLY

    @property
    def moving(self) -> tuple[Stability, ...]:
        """The assumptions that flip the answer."""
        return tuple(entry for entry in self.found if entry.moves)

    @property
    def mattering(self) -> tuple[Stability, ...]:
        """Those with a flip that matters."""
        return tuple(entry for entry in self.moving if entry.mattering(self.hardly))

    def text(self) -> str:
        """Return a table, the least change first, and the assumptions that change nothing."""
        return sections_text(self.title, [replace(self.section(full=True), title="")])

    @property
    def title(self) -> str:
        """The answer and its preference."""
        return f"{', '.join(self.answer)}: {self.preference}"

    def _repr_html_(self) -> str:
        return html(self.title, [replace(self.section(full=True), title="")])

    @property
    def span(self) -> str:
        """The range of each assumption, in words."""
        near = self.factor == _NEAR
        return "half to twice" if near else f"1/{self.factor:g} to {self.factor:g} times"

    def section(self, *, full: bool) -> Section:
        """Return the flips as a section of an answer, only the nearest unless `full`."""
        moving = self.mattering
        shown = moving if full else moving[:_SHOWN]
        counts = {
            "checked": len(self.found),
            "change_nothing": len(self.found) - len(self.moving),
            "shown": len(shown),
        }
        counts |= {"not_shown": len(moving) - len(shown)} if len(moving) > len(shown) else {}
        counts |= {} if full else {"widest_range_factor": int(FACTOR)}
        nearest = tuple(_brief(self))
        return Section(
            *_SECTION,
            tuple(_lines(self, shown)),
            _HEADERS if shown else (),
            tuple(_row(self, entry) for entry in shown),
            tuple(_remarks(self, moving[len(shown) :], full=full)),
            facts=counts | {"nearest": nearest} | self.to_dict(),
            brief=None if full else nearest,
        )

    def beyond(self, side: Breakpoint) -> str:
        """Return the difference of the design beyond a flip from the answer, for people."""
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


def _lines(flips: Flips, shown: Sequence[Stability]) -> Iterator[str]:
    """Yield the varied assumptions, and how to read the table of those shown."""
    still = len(flips.found) - len(flips.moving)
    if len(flips.found) == 1:
        yield f"{flips.found[0].label} was varied from {flips.span} its nominal value."
    elif flips.found:
        nothing = f"; {still} of them change nothing" * (still > 0)
        yield (
            f"Each of {len(flips.found)} inputs was varied separately, from {flips.span} its "
            f"nominal value, a 0 upwards{nothing}."
        )
    if shown:
        yield (
            "The answer holds between both ends of a row; any: as far as the input was varied. "
            f"{_SAVING}"
        )
        sides = [side for entry in flips.found for side in entry.sides]
        yield f"Compared up to the ends: {proofs_text(sides)}."


def _remarks(flips: Flips, left: Sequence[Stability], *, full: bool) -> Iterator[str]:
    """Yield facts beside the table, on those `left` out of it among others."""
    few = [entry.label for entry in flips.moving if entry not in flips.mattering]
    if few:
        names = _names(few)
        yield f"Flips that hardly matter (saving below {100 * flips.hardly:g} %): {names}."
    if left:
        yield f"Less sensitive: {', '.join(entry.label for entry in left)}."
    still = sorted(_still(entry) for entry in flips.found if not entry.moves)
    if full and still:
        yield f"No flip: {', '.join(still)}."
    if flips.unchecked:
        yield (
            f"Not checked ({flips.seconds:g} s of CPU time used; raise --time): "
            f"{_names(flips.unchecked)}. How far these reach depends on the machine."
        )
    yield from _short_ranges(flips)
    if not full:
        yield f"Use --flips to vary each by up to {FACTOR:g}x in both directions."


def _short_ranges(flips: Flips) -> Iterator[str]:
    """Yield why ranges stop early, and which designs were varied."""
    for reason in sorted({side.limited for entry in flips.found for side in entry.sides} - {""}):
        yield f"Some ranges stop early: {reason}."
    for axis in flips.study.problem.space.axes:
        if axis.size > MOST_RECORDS:
            size = f"{axis.size:,} choices of {axis.name}"
            yield f"Of the {size} those on the front were varied alone."


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _still(entry: Stability) -> str:
    """Return the name of an assumption without a flip, and how far it was searched if not whole."""
    low, high = (units.show(side.holds_to, entry.quantity) for side in entry.sides)
    whole = not any(side.limited for side in entry.sides)
    return entry.name if whole else f"{entry.name} (searched from {low} to {high})"


def _brief(flips: Flips) -> Iterator[str]:
    """Yield the nearest flips and the unchecked assumptions, for one screen."""
    missing = [name for name in flips.unchecked if name in flips.first]
    rate = next((one for one in flips.found if one.quantity == RATE), None)
    if rate is not None:
        holds = interval(rate.low.holds_to, rate.high.holds_to, rate.quantity)
        least = any(side.flips_at is None for side in rate.sides)  # the range ends there
        yield f"Holds {'at least ' * least}for {rate.name} from {holds}."
    yield from _nearest_flips(flips, 1 if flips.unchecked else _NEAREST)  # others may be nearer
    if flips.found and not flips.mattering and not missing:
        flip = "flip that matters" if flips.moving else "flip"
        yield f"No {flip}: {plural(len(flips.found), 'input')} from {flips.span} nominal."
    if flips.unchecked:
        more = len(flips.unchecked) - 1
        names = listed([*missing[:1], *[f"{more} more"] * bool(more)])
        unchecked = names if missing else plural(more + 1, "input")
        yield f"Not checked in {flips.seconds:g} s of CPU time (--time): {unchecked}."


def _nearest_flips(flips: Flips, most: int) -> Iterator[str]:
    """Yield the nearest flips by the answer beyond, and one more of a number written as zero."""
    pairs = ((entry, entry.nearest(flips.hardly)) for entry in flips.mattering)
    nearest = sorted(pairs, key=lambda pair: pair[0].distance_to(pair[1]))
    zeros = [pair for pair in nearest[most:] if pair[0].nominal == 0.0 and most > 1]
    fragile: dict[str, list[str]] = {}
    for entry, side in [*nearest[:most], *zeros[:1]]:
        limit = "infeasible, then " if side.saving == math.inf else ""
        moved = f"{entry.label} {entry.change_text(side)}"
        fragile.setdefault(f"{limit}{flips.beyond(side)}", []).append(moved)
    if fragile:
        texts = (f"{', '.join(moved)}: {beyond}" for beyond, moved in fragile.items())
        yield f"Flips with {'; '.join(texts)}."


def _row(flips: Flips, entry: Stability) -> tuple[str, ...]:
    """Return an assumption as a row of `_HEADERS`."""
    ends, beyond, savings = [], [], []
    for word, sign, side in zip(("below", "above"), (">= ", "<= "), entry.sides, strict=True):
        end = units.show(side.holds_to, entry.quantity)
        if side.flips_at is not None:
            beyond.append(f"{word}: {flips.beyond(side)}")
            savings.append(_saving_text(side.saving, flips.hardly))
        ends.append(f"{sign}{end}" if side.limited else "any" if side.flips_at is None else end)
    nominal = units.show(entry.nominal, entry.quantity)
    change = entry.change_text(entry.nearest())
    name = f"{entry.name}\n{entry.evidence}"
    return name, nominal, *ends, change, "; ".join(beyond), "; ".join(savings)


def _saving_text(saving: float | None, hardly: float) -> str:
    if saving is None:
        return "unknown"
    if saving < hardly:
        return "hardly"
    return "not met" if math.isinf(saving) else percent(saving)


def _facts(flips: Flips, entry: Stability) -> dict[str, Any]:
    unit, change = unit_suffix(entry.quantity), entry.change(entry.nearest())
    facts: dict[str, Any] = {
        "assumption": entry.name,
        "evidence": entry.evidence,
        f"nominal{unit}": entry.nominal,
        "least_relative_change": None if change is None else abs(change),
        "least_factor": math.exp(entry.distance) if entry.moves else None,
    }
    for name, side in zip(("below", "above"), entry.sides, strict=True):
        facts[name] = {
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
    return facts


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
    """Return for every assumption of a study how far the answer holds, or for some `only`.

    The demanded rate, sizes, caps and bounds come first, then the assumptions that matter most.
    Each varies between its value over `factor` and its value times this.  `known` is the exact
    front (n, d), if it is known already.  Assumptions without a result within the budget are named.
    """
    budget = budget or Budget()
    front = _proven_front(study, budget) if known is None else known
    chosen = _chosen(figures_of(study, front), only)
    question = Question(preference or study.preference)
    rows, found = question.preference.first(study.problem, front), dict[str, Stability]()
    with suppress(EffortError), limited(seconds=budget.left_s, byte=budget.byte):
        for entries in _together(study, _ordered(study, chosen, rows)):
            lines = [_line(study, question, front, factor, entry) for entry in entries]
            for entry in _followed(study, lines, rows):
                found[entry.name] = entry
                if progress is not None:
                    progress(entry.name, len(found), len(chosen))
    ranked = sorted(found.values(), key=lambda entry: (float(f"{entry.distance:.6g}"), entry.name))
    first = [entry.name for entry in chosen if is_first(entry)]
    unchecked = [entry.name for entry in chosen if entry.name not in found]
    return Flips(
        study,
        question.preference.text,
        parts(study.problem, rows)[0],
        tuple(ranked),
        factor,
        budget.seconds,
        tuple(sorted(unchecked, key=lambda name: name not in first)),
        tuple(first),
        max(_HARDLY, question.preference.tolerance),
    )


def _chosen(every: tuple[Assumption, ...], only: Sequence[str]) -> tuple[Assumption, ...]:
    """Return the assumptions with some names, or every one without names."""
    wanted = {entry.name for name in only for entry in choose_assumptions(every, name)}
    return tuple(entry for entry in every if not only or entry.name in wanted)


def _proven_front(study: Study, budget: Budget) -> Index:
    """Return the exact front of a study, searched within a budget, or raise `InfeasibleError`."""
    effort_s, memory_byte = (
        None if math.isinf(one) else one for one in (budget.left_s, budget.byte)
    )
    options = Options(method="exact", effort_s=effort_s, memory_byte=memory_byte)
    answer = runner.solve_study(study, options)
    require_feasible(answer, budget=budget)
    return answer.outcome.front_index


def is_first(entry: Assumption) -> bool:
    """Return whether an assumption is checked before others."""
    return entry.quantity in _FIRST or entry.bound is not None


def _moved(seen: Compared) -> float:
    """Return the effect of a step on the losses of a design, and its distance from constraints."""
    both = np.concatenate([seen.loss[:, 0], seen.violation[:, 0]], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        by = np.abs(np.diff(both, axis=0)[0] / both[0])
    return float(np.nan_to_num(by, nan=0.0, posinf=1.0).max(initial=0.0))


def _ordered(study: Study, entries: Sequence[Assumption], answer: Index) -> list[Assumption]:
    """Return assumptions in the order of `find_flips`, by the effect of a step on an answer."""
    if not entries:
        return []
    steps = [e.value if e.among or e.integer else e.value * _STEP for e in entries]
    asks = [PerturbedPart(e, (e.value, to), answer) for e, to in zip(entries, steps, strict=True)]
    moves = [0.0] * len(asks)
    with suppress(ContractError):
        ends = [end for ask in asks for end in ends_of(ask.entry, ask.values)]
        seen = compare_together(study.problem, widest(study.problem, ends), asks)
        moves = [round(_moved(one), 6) for one in seen]
    pairs = zip(entries, moves, strict=True)
    return [e for e, by in sorted(pairs, key=lambda p: (not is_first(p[0]), -p[1], p[0].name))]


def _together(study: Study, entries: Sequence[Assumption]) -> Iterator[Sequence[Assumption]]:
    """Yield assumptions in parts, the first ones one by one: few are lost at the time's end."""
    most = max(1, min(TOGETHER, TOGETHER * _SPACE // study.problem.size))
    for alone, alike in itertools.groupby(entries, is_first):
        every, step = [*alike], 1 if alone else most
        yield from (every[at : at + step] for at in range(0, len(every), step))


def _line(study: Study, question: Question, front: Index, factor: float, entry: Assumption) -> Line:
    """Return the line of an assumption, with the front in its pool."""
    size = 0.0
    if entry.value == 0.0 and entry.bound is None:
        size = _most_of(entry)
    elif entry.value <= 0.0 and entry.bound is not None:
        size = float(np.abs(study.problem.describe(front).get(entry.quantity, np.zeros(1))).max())
    line = Line(entry, question, study.settings, limits_of(entry, factor, size))
    line.learn(front)
    return line


def _followed(study: Study, lines: Sequence[Line], rows: Index) -> Iterator[Stability]:
    """Yield how far an answer of designs (1, d) holds along lines that are followed together."""
    seen = lines[0].compare(rows, [lines[0].entry.value])
    answer = lines[0].question.answer(study.problem, seen)
    ways = [line for line in lines for _ in line.limits]
    found = [*zip(ways, breakpoints(lines, answer), strict=True)]
    asks = [
        (line, np.vstack([answer.rows[:1], end.beyond.rows[:1]]), [_past(line, end.flips_at)])
        for line, end in found
        if end.beyond is not None and end.flips_at is not None
    ]
    seen_beyond = iter(compare_lines(asks))
    ends = [_in_words(line, answer, end, seen_beyond) for line, end in found]
    for line, low, high in zip(lines, ends[::2], ends[1::2], strict=True):
        entry, (evidence, _) = line.entry, source_of(study, line.entry)
        yield Stability(entry.name, entry.quantity, entry.value, low, high, evidence)


def _in_words(
    line: Line, answer: AnswerDesigns, end: Breakpoint, beyond: Iterator[Compared | DseError]
) -> Breakpoint:
    """Return an end with the answer beyond in words, and its saving, compared as next `beyond`."""
    if end.beyond is None or end.flips_at is None:
        return end
    seen, words = next(beyond), parts(line.at(end.flips_at), end.beyond.rows[:1])
    becomes = next(iter(words), (NOTHING_FITS,))
    if isinstance(seen, DseError) or not line.question.preference.is_quantity:
        return replace(end, becomes=becomes)
    saving = _saving(line, answer, _past(line, end.flips_at), seen)
    return replace(end, becomes=becomes, saving=saving)


def _saving(line: Line, answer: AnswerDesigns, past: float, seen: Compared) -> float | None:
    """Return the saving of the design beyond a flip relative to the answer, a tenth beyond.

    Infinite if the answer is infeasible, or needs more instances than it has.  None if fewer
    instances would do.
    """
    preference = line.question.preference
    (key,) = answer.keys
    more = seen.counts[0, 0] - key[len(key) - seen.counts.shape[2] :]
    if (more > 0).any() or not (seen.feasible[0, 0] or more.any()):
        return math.inf
    if more.any() or not seen.feasible[0].all() or len(seen.rows) < 2:
        return None
    problem = line.at(past) if line.column is None else line.entry.problem
    own, other = preference.merit(problem, seen.rows, seen.loss[0]).tolist()
    return (own - other) / abs(own) if own else None


def _past(line: Line, flips_at: float) -> float:
    """Return the value a tenth beyond a flip, seen from the nominal value."""
    entry = line.entry
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
    """Return the flips of the answer to a study, or None if these are not worth a word.

    They are searched if the `front`, (n, d), is `exact`.  With `full` the whole range is searched
    and every flip is shown, within the budget.
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
    """Return the section of an answer without a search for flips."""
    return Section(*_SECTION, (reason,), facts={"reason": reason}, brief=(reason,))


def figures_of(study: Study, front: Index) -> tuple[Assumption, ...]:
    """Return the assumptions of a study that may be wrong.

    Exponents, choices of the study and the numbers of equalities may not.  Numbers with a unit that
    a record gives as zero may.  Of a large table, only designs of the `front`, (n, d), count.
    """
    rules = study.problem.constraints
    found = list[Assumption]()
    for entry in assumptions_of(study, zero=True, of=front):
        if entry.bound is not None:
            fixed = "==" in rules[entry.bound[0]].text
        else:
            fixed = column_path(entry.quantity) in _CHOSEN
        if not fixed and not units.stem(entry.quantity).endswith("exponent"):
            found.append(entry)
    return (*found, *_zeros(study))


def _most_of(entry: Assumption) -> float:
    """Return the upper end of a number that is zero: ten times the largest of a catalogue.

    Without one it follows from the unit.
    """
    columns = [axis.columns.get(entry.quantity) for axis in entry.problem.space.axes]
    known = [np.nan_to_num(one, posinf=0.0).max() for one in columns if one is not None]
    largest = 10 * float(max(known, default=0.0))
    return max(largest, _LARGEST.get(units.suffix(entry.quantity), 0.0)) or 1.0


def _zeros(study: Study) -> Iterator[Assumption]:
    """Yield the numbers with a unit that a record or the study gives as zero."""
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

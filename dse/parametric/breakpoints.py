"""The values of a number at which the answer to a question changes.

A *breakpoint* is the first value at which an answer holds no longer.  Bounds of the space between
two values leave few designs that can win there, the *rivals*, which are evaluated at many values.
If too many remain, the space is searched exactly at some values, and each design that wins there
joins the *pool*, which is evaluated at the others.  Rivals of many lines are found together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from dse import search
from dse.contract import SIZE
from dse.errors import ContractError, DseError, NotFiniteError, TooLargeError, UnitError
from dse.model.cells import Cells
from dse.model.evaluation import distinct
from dse.model.problem import Problem
from dse.model.space import Index, Space, as_index, coarsened, one_block
from dse.parametric.perturbed import (
    Bool,
    Compared,
    Losses,
    PerturbedPart,
    compare_together,
    ends_of,
    widest,
)
from dse.parametric.question import (
    AnswerDesigns,
    NumberScale,
    Question,
    logarithmic_from,
    may_replace,
)
from dse.reports.text import listed
from dse.search.conflicts import any_design
from dse.search.exact.compose import may_beat
from dse.search.exact.prove import ENOUGH, composable
from dse.search.exact.work import LOOK, EffortError, limited, spend
from dse.study.assumptions import Assumption
from dse.study.demand import OFFERED, RATE

_PARTS, _LEVELS, _SECTION, _SAMPLED = 8, 3, 65, 33
"""Parts of a doubtful part, number of divisions, values of a section, and values of a knee."""

_DENSE, _CLOSEST = 4096, 64
"""Designs times values along a number with steps, and other designs compared there."""

LISTED = 16_384
"""Largest space that is compared whole if bounds of cells exclude little."""

_PROBES, _HALVINGS, _TIED = 3, 4, 256
"""Exact searches to one side and halvings of a range if bounds leave too many designs.

And designs of one search that are evaluated at other values.
"""

EVERY, ENDS = "every design", "exact at both ends"
"""Proofs of an interval.  Between the two is every design at a number of values."""

TOO_MANY = "the design space is too large for an exact search"
OVERFLOW = "a quantity overflows"
"""Reasons for the early end of a range."""

_IN_STEPS = frozenset(
    (RATE, OFFERED, SIZE, "clock_hz", "interface_segment_byte", "interface_batch")
)
"""Columns on which counts of instances, rounds of tasks and packets depend, besides clocks."""

_FEW = 4_096
"""Most designs that may win, and most cells that may hold one."""

_WALKED = 2_000_000
"""Largest space without mixed fleets whose designs are bounded in cells."""

_EFFORT = 1_000_000
"""Most work for a space of partial designs between two values."""

_GROWTH = 16
"""Number of parts of a cell, about."""


@dataclass(frozen=True)
class Span:
    """Two values of a number, possibly equal, between which designs are bounded.

    `worst` are the losses (m,) that the best known design has at most between them, or None
    without any.  `touched` is an axis and one of its choices, if only designs with it can improve.
    """

    entry: Assumption
    low: float
    high: float
    worst: Losses | None
    touched: tuple[int, int] | None = None


def rivals_of(spans: Sequence[Span], column: int | None) -> list[Index | None]:
    """Return for each span the designs (n, d) that may win, or None for too many.

    `column` is the one loss that decides, or None if any feasible design wins.
    """
    problem = spans[0].entry.problem
    found: list[Index | None] = [None] * len(spans)
    alike: dict[tuple[int, ...], tuple[Space, list[int]]] = {}
    for place, span in enumerate(spans):
        space = widest(problem, ends_of(span.entry, (span.low, span.high)))
        alike.setdefault(space.sizes, (space, []))[1].append(place)
    for _, (space, places) in sorted(alike.items()):
        wide, some = problem.renumbered(space=space), [spans[place] for place in places]
        most = ENOUGH if any(stage.mixed for stage in wide.stages) else _WALKED
        if composable(wide) and wide.size > most:
            rows = [_composed(span, column) for span in some]
        else:
            rows = _descended(wide, some, column)
        rows = [None if one is None else np.vstack([one, problem.hosts]) for one in rows]
        for place, one in zip(places, _open(wide, some, rows, column), strict=True):
            found[place] = one
    return found


def _composed(span: Span, column: int | None) -> Index | None:
    """Return the designs of mixed fleets that may win."""
    ends = [span.entry.at(value) for value in (span.low, span.high)]
    if ends[0].sizes != ends[1].sizes:  # counts beyond are never the least
        ends = [replace(end, space=widest(end, ends)) for end in ends]
    worst = np.full(len(ends[0].goals), np.inf) if span.worst is None else span.worst
    with limited(designs=_EFFORT):
        rows = may_beat((ends[0], ends[1]), worst[np.newaxis], column)
    spend(LOOK)  # a result without time left proves nothing
    return rows


def _descended(problem: Problem, spans: Sequence[Span], column: int | None) -> list[Index | None]:
    """Return the designs of cells that may hold a rival, or all of a small space."""
    levels = _levels(problem)
    every = as_index(one_block(coarsened(problem.space, levels[0]).sizes))
    rows: list[Index | None] = []
    for one in spans:
        axis, choice = one.touched or (0, 0)
        own = one.touched is not None and column is not None
        rows.append(every[every[:, axis] == choice] if own else every)
    for wide, narrow in pairwise(levels):
        ratio = np.array(wide) // np.array(narrow)
        inside = np.indices(ratio).reshape(len(ratio), -1).T
        sizes = np.array(coarsened(problem.space, narrow).sizes)
        for place, cells in enumerate(_open(problem, spans, rows, column, wide)):
            rows[place] = None
            if cells is not None:
                parts = cells[:, np.newaxis] * ratio + inside
                rows[place] = parts[(parts < sizes).all(axis=2)]
    return rows


def _open(
    problem: Problem,
    spans: Sequence[Span],
    rows: Sequence[Index | None],
    column: int | None,
    steps: tuple[int, ...] = (),
) -> list[Index | None]:
    """Return the designs of each span, or cells of `steps` values, that may win, if few."""
    known = [(span, some) for span, some in zip(spans, rows, strict=True) if some is not None]
    asks = [PerturbedPart(span.entry, (span.low, span.high), some) for span, some in known]
    space = coarsened(problem.space, steps) if steps else problem.space
    every = zip(known, compare_together(problem, space, asks, steps), strict=True)
    left = iter([seen.rows[_may_win(seen, span.worst, column)] for (span, _), seen in every])
    found = [None if some is None else next(left) for some in rows]
    return [None if some is None or len(some) > _FEW else some for some in found]


def _may_win(seen: Compared, worst: Losses | None, column: int | None) -> Bool:
    """Return which designs or cells may replace a design of losses `worst`.

    The better of their losses at both ends of a span counts.
    """
    possible = ~np.asarray((np.fmin.reduce(seen.violation) > 0).any(axis=1))
    if column is None or worst is None:
        return possible
    lowest = np.fmin.reduce(seen.loss)
    return possible & may_replace(np.where(np.isnan(lowest), -np.inf, lowest), worst, column)


def _levels(problem: Problem) -> list[tuple[int, ...]]:
    """Return the numbers of values of each axis in a cell, from the widest to single designs.

    The axis whose values differ least gets cells of twice the width, again and again.  A small
    space has only single designs.
    """
    steps = [1] * len(problem.sizes)
    single = Cells(problem, tuple(steps))
    levels = [single.steps]
    axes = [*zip(problem.sizes, problem.ordered, strict=True)] if problem.size > LISTED else []
    while wider := [at for at, (size, ordered) in enumerate(axes) if ordered and steps[at] < size]:
        steps[min(wider, key=lambda axis: single.spread(axis, 2 * steps[axis]))] *= 2
        if math.prod(steps) >= _GROWTH * math.prod(levels[-1]):
            levels.append(tuple(steps))
    return levels[::-1]


@dataclass(frozen=True, kw_only=True)
class Breakpoint:
    """The last value at which an answer holds, in SI, and the first at which it does not, if any.

    `beyond` is the answer there, of no designs if none is feasible, and `becomes` the same in
    words.  `saving` is what it saves of the one that it replaces, a tenth beyond: infinite if that
    is infeasible, None if no number is compared.  `proof` names the designs compared up to there,
    and `limited` is the reason why nothing is known beyond `holds_to`.
    """

    holds_to: float
    flips_at: float | None = None
    beyond: AnswerDesigns | None = None
    proof: str = EVERY
    limited: str = ""
    becomes: tuple[str, ...] = ()
    saving: float | None = None


def proofs_text(found: Iterable[Any]) -> str:
    """Return the proofs of intervals or breakpoints in words, each with its number."""
    counts = Counter(one.proof for one in found).most_common()
    same = len(counts) == 1
    return listed([proof if same else f"{proof} ({n})" for proof, n in counts]) or EVERY


class Line:
    """A question along one number, within limits, and the pool of designs that matter.

    `spans` are two values each, and every design that may win between them.
    """

    def __init__(
        self,
        entry: Assumption,
        question: Question,
        settings: search.SearchSettings,
        limits: tuple[float, float],
    ) -> None:
        """Start with the hosts as the pool.  `settings` limit each search."""
        self.entry = entry
        self.question = question
        self.limits = limits
        self.scale = NumberScale(logarithmic_from(*limits), entry.integer, entry.among)
        self.column = question.column(entry.problem)
        self.sampled = self.column is None and not question.feasible
        self.steps = entry.quantity in _IN_STEPS or entry.quantity.endswith(".clock")
        self.at = lru_cache(64)(entry.at)
        self.pool: Index = entry.problem.hosts
        self.spans: list[tuple[float, float, Index]] = []
        self._settings = replace(settings, method="exact", budget=None, options={}, partial=False)

    @cached_property
    def ends(self) -> list[Problem]:
        """Problems with the fewest and the most counts within the limits."""
        return ends_of(self.entry, self.limits)

    @cached_property
    def space(self) -> Space:
        """The space with the most counts within the limits."""
        return widest(self.entry.problem, self.ends)

    def compare(self, rows: Index, values: Sequence[float]) -> Compared:
        """Return losses and violations of designs (n, d) at values."""
        (found,) = compare_lines([(self, rows, values)])
        if isinstance(found, DseError):
            raise found
        return found

    def holds(self, answer: AnswerDesigns, seen: Compared, values: Sequence[float]) -> Bool:
        """Return at which values an answer holds among compared designs: see `Question.holds`."""
        moves = self.sampled and self.question.preference.expression is not None
        problem = self.entry.problem
        return self.question.holds(
            lambda at: self.at(values[at]) if moves else problem, answer, seen
        )

    def holds_at(self, value: float, answer: AnswerDesigns) -> bool:
        """Return whether an answer holds at a value among the pool."""
        return bool(self.holds(answer, self.compare(self.pool, [value]), [value])[0])

    def broken(self, answer: AnswerDesigns, seen: Compared, values: Sequence[float]) -> int:
        """Return the place of the first value, after the first of all, where an answer breaks."""
        held = self.holds(answer, seen, values)[1:].tolist()
        return 1 + (*held, False).index(False)

    def span(self, start: float, limit: float) -> tuple[float, Index] | None:
        """Return the end of the span that begins a way to a limit, and its rivals, if known."""
        for low, high, rows in self.spans:
            if limit >= start and low <= start < high:
                return min(high, limit), rows
            if limit < start and low < start <= high:
                return max(low, limit), rows
        return None

    def known(self, value: float) -> Index | None:
        """Return every design that may win at a value, or None if these are unknown."""
        return next((rows for low, high, rows in self.spans if low <= value <= high), None)

    def learn(self, rows: Index) -> None:
        """Add designs (n, d) to the pool."""
        self.pool = distinct(np.vstack([self.pool, rows]))

    def search(self, value: float) -> None:
        """Search the space exactly at a value, and add the winners to the pool."""
        if self.known(value) is not None:
            self.answer(value)
            return None
        problem = self.at(value)
        if self.question.feasible:
            design = any_design(problem)
            return self.learn(problem.hosts[:0] if design is None else design)
        if self.column is not None:
            problem = replace(problem, goals=(problem.goals[self.column],))
        found = search.run_search(problem, self._settings).front_index
        spend(LOOK)  # a search without time left proves nothing
        return self.learn(found if self.column is None else found[:_TIED])

    def answer(self, value: float, instead: AnswerDesigns | None = None) -> AnswerDesigns:
        """Return the exact answer at a value, at which `instead` holds no longer."""
        if self.known(value) is None:
            find_rivals([(self, value, value, self.pool)])
        rows = self.known(value)
        if rows is None:
            self.search(value)
            rows = self.pool[:0]
        rows = distinct(np.vstack([rows, self.pool, *([] if instead is None else [instead.rows])]))
        found = self.question.answer(self.at(value), self.compare(rows, [value]), instead)
        self.learn(found.rows)
        return found

    def defined_to(self, rows: Index, start: float, limit: float) -> float:
        """Return a limit nearer to `start`, up to which designs can be evaluated."""

        def fails(value: float) -> bool:
            return isinstance(compare_lines([(self, rows, [value])])[0], DseError)

        if not fails(limit):
            middle = self.scale.middle(start, limit)
            return start if self.scale.is_close(start, middle, 1e-3) else middle
        while not self.scale.is_close(start, limit, 1e-3):
            middle = self.scale.middle(start, limit)
            start, limit = (start, middle) if fails(middle) else (middle, limit)
        return start

    def closest(self, answer: AnswerDesigns, limit: float, start: float) -> Index:
        """Return designs that nearly fit and are nearly as good at some values, closest first."""
        rows = self.pool
        if self.space.size <= LISTED // 8:
            rows = np.vstack([as_index(one_block(self.space.sizes)), self.entry.problem.hosts])
        if len(rows) <= _CLOSEST:
            return rows
        seen = self.compare(np.vstack([answer.rows, rows]), self.scale.values(start, limit, 3))
        short = np.maximum(seen.violation, 0.0).max(axis=2, initial=0.0)
        if self.column is not None and len(answer.rows):
            loss = seen.loss[:, :, self.column]
            worse = (loss - loss[:, :1]) / np.maximum(np.abs(loss[:, :1]), np.finfo(float).tiny)
            short = np.maximum(short, worse)
        best: Index = seen.rows[np.argsort(short.min(axis=0), kind="stable")[:_CLOSEST]]
        return best


Ask = tuple[Line, Index, Sequence[float]]
_Entry = TypeVar("_Entry")
_Found = TypeVar("_Found")


def _together(
    asks: Sequence[_Entry], solve: Callable[[Sequence[_Entry]], list[_Found]]
) -> list[_Found | DseError]:
    """Return the results of asks solved together, or each separately with errors if that fails."""
    try:
        return [*solve(asks)]
    except EffortError:
        raise
    except DseError as error:
        alone = len(asks) == 1
        return [error] if alone else [one for ask in asks for one in _together([ask], solve)]


def compare_lines(asks: Sequence[Ask]) -> list[Compared | DseError]:
    """Return losses and violations along lines, evaluated together, with errors instead of some."""
    if not asks:
        return []
    problem = asks[0][0].entry.problem
    space = widest(problem, [end for line, _, _ in asks for end in line.ends])
    parts = [PerturbedPart(line.entry, values, rows) for line, rows, values in asks]
    return _together(parts, lambda some: compare_together(problem, space, some))


def find_rivals(wanted: Sequence[tuple[Line, float, float, Index]]) -> None:
    """Find all designs that may win between two values of each line, if these are few.

    The best of the last designs of each that are feasible in between bounds others.
    """
    wanted = [one for one in wanted if not one[0].sampled]
    known = [
        (line, Span(line.entry, low, high, None), rows)
        for line, low, high, rows in wanted
        if not len(rows)
    ]
    bounded = [one for one in wanted if len(one[3])]
    asks = [
        (line, rows, line.scale.values(low, high, _PARTS + 1)) for line, low, high, rows in bounded
    ]
    known += [
        (line, _span(line, low, high, seen), rows)
        for (line, low, high, rows), seen in zip(bounded, compare_lines(asks), strict=True)
        if not isinstance(seen, DseError)
    ]
    if known:
        column = known[0][0].column
        found = _together([span for _, span, _ in known], lambda some: rivals_of(some, column))
        for (line, span, own), rows in zip(known, found, strict=True):
            if rows is not None and not isinstance(rows, DseError):
                line.spans.append((span.low, span.high, distinct(np.vstack([own, rows]))))
                line.learn(rows[:_TIED])


def _span(line: Line, low: float, high: float, seen: Compared) -> Span:
    """Return two values as a span, bounded by designs compared between them."""
    loss = seen.loss[:, seen.feasible.all(axis=0)]
    if line.column is None or not loss.shape[1]:
        return Span(line.entry, low, high, None)
    most = loss.max(axis=0)
    same = low != high and bool((loss == loss[0]).all())
    worst = most[most[:, line.column].argmin()]
    return Span(line.entry, low, high, worst, line.entry.touched if same else None)


def _divided(
    line: Line, answer: AnswerDesigns, rows: Index, start: float, limit: float
) -> Breakpoint:
    """Return how far an answer holds among designs (n, d).

    Parts of the range in which some design may win are divided, since between them nothing wins.
    """
    rows = distinct(np.vstack([rows, answer.rows]))
    count = _SAMPLED if line.sampled else _PARTS + 1
    values = line.scale.values(
        start, limit, max(count, _DENSE // max(len(rows), 1) + 1) if line.steps else count
    )
    proof = f"every design at {_PARTS**_LEVELS + 1:,} values"
    for level in range(1, _LEVELS + 1):
        seen = line.compare(rows, values)
        first, places = line.broken(answer, seen, values), [*map(line.scale.place, values)]
        may = line.question.may_win(line.entry.problem, answer, seen, np.array(places))
        mine = line.question.own(answer, seen).any(axis=0)
        finer = {*values[: first + 1]}
        for at in np.flatnonzero(may[:first].any(axis=1)).tolist():
            finer.update(line.scale.values(values[at], values[at + 1], _PARTS + 1))
        if line.sampled or level == _LEVELS or len(finer) == len(values[: first + 1]):
            break
        rows = rows[may[:first].any(axis=0) | mine]
        values = sorted(finer, reverse=limit < start)
    if _is_proven(line, answer, seen, may[: first - 1]):
        proof = EVERY
    if first == len(values):
        return Breakpoint(holds_to=values[-1], proof=proof)
    rows = rows if line.sampled else rows[may[first - 1] | mine]
    return replace(_narrowed(line, answer, rows, *values[first - 1 : first + 1]), proof=proof)


def _is_proven(line: Line, answer: AnswerDesigns, seen: Compared, may: Bool) -> bool:
    """Return whether nothing wins between values: no design may, or fits again and again."""
    if line.sampled or may.any():
        return False
    fits = (seen.violation[..., :-1] <= 0).all(axis=2)
    once = bool((np.diff(fits, axis=0).sum(axis=0) <= 1).all())
    return not line.steps or (once and bool(answer.keys))


def _narrowed(
    line: Line, answer: AnswerDesigns, rows: Index, inside: float, outside: float
) -> Breakpoint:
    """Return where an answer breaks among designs between two values, if it does."""
    while not line.scale.is_close(inside, outside):
        count = _PARTS + 1 if line.sampled else _SECTION
        values = line.scale.values(inside, outside, count)
        first = line.broken(answer, line.compare(rows, values), values)
        if first == len(values):
            return Breakpoint(holds_to=outside)
        inside, outside = values[first - 1], values[first]
    return Breakpoint(holds_to=inside, flips_at=outside)


def _as_far_as_defined(
    line: Line, rows: Index, start: float, limit: float, find: Callable[[float], Breakpoint]
) -> Breakpoint:
    """Return the end found up to a limit, or up to a nearer one if designs have no values there."""
    limited = ""
    while start != limit:
        try:
            found = find(limit)
            return replace(found, limited=found.limited or limited)
        except EffortError:
            raise
        except DseError as error:  # the range ends
            limited, limit = early_end(error), line.defined_to(rows, start, limit)
    return Breakpoint(holds_to=limit, limited=limited)


def early_end(error: DseError) -> str:
    """Return the reason why a range ends early, in words."""
    known = TOO_MANY if isinstance(error, TooLargeError) else str(error)
    return OVERFLOW if isinstance(error, NotFiniteError) else known


def _weaker(one: str, other: str) -> str:
    return max(one, other, key=lambda proof: (proof == ENDS, proof != EVERY))


def breakpoints(lines: Sequence[Line], answer: AnswerDesigns) -> list[Breakpoint]:
    """Return for each line how far an answer holds down, and up, from the nominal value.

    First as far as the answer stays feasible, then among the rivals up to there.  Of all lines
    rivals are found together.
    """
    ways = [(line, limit) for line in lines for limit in line.limits]
    grids = [line.scale.values(line.entry.value, limit, _PARTS + 1) for line, limit in ways]
    asks = [(line, answer.rows, grid) for (line, _), grid in zip(ways, grids, strict=True)]
    ends = [
        _feasible_to(line, answer, grid, seen)
        for (line, _, grid), seen in zip(asks, compare_lines(asks), strict=True)
    ]
    _find_rivals_between(lines, answer, [end.holds_to for end in ends])
    found = [
        _end_among_rivals(line, answer, end) for (line, _), end in zip(ways, ends, strict=True)
    ]
    flips = [(line, one.flips_at) for (line, _), one in zip(ways, found, strict=True)]
    known = [(line, at) for line, at in flips if at is not None and line.known(at) is None]
    find_rivals([(line, at, at, line.pool) for line, at in known])
    return [with_answer(line, answer, one) for (line, _), one in zip(ways, found, strict=True)]


def _find_rivals_between(
    lines: Sequence[Line], answer: AnswerDesigns, ends: Sequence[float]
) -> None:
    """Find the rivals of an answer between the low and the high end of each line."""
    sides = [*zip(lines, ends[::2], ends[1::2], strict=True)]
    find_rivals([(*side, answer.rows) for side in sides])
    for line, low, high in sides:
        for part in ((low, line.entry.value), (line.entry.value, high)) if not line.spans else ():
            find_rivals([(line, *part, answer.rows)])


def _feasible_to(
    line: Line, answer: AnswerDesigns, grid: Sequence[float], seen: Compared | DseError
) -> Breakpoint:
    """Return how far an answer stays feasible, from its designs compared at some values."""
    if isinstance(seen, DseError) or line.sampled or line.steps:
        find = partial(_divided, line, answer, answer.rows, grid[0])
        return _as_far_as_defined(line, answer.rows, grid[0], grid[-1], find)
    first = line.broken(answer, seen, grid)
    if first == len(grid):
        return Breakpoint(holds_to=grid[-1])
    return _narrowed(line, answer, answer.rows, *grid[first - 1 : first + 1])


def _end_among_rivals(line: Line, answer: AnswerDesigns, end: Breakpoint) -> Breakpoint:
    """Return how far an answer holds among the rivals up to the end of its feasibility."""
    start, limit = line.entry.value, end.holds_to
    to, rows = line.span(start, limit) or (math.nan, answer.rows)
    if to == limit and np.array_equal(rows, answer.rows) and not line.steps:
        return end  # there are no others
    found = follow(line, answer, start, limit)
    found = replace(found, proof=_weaker(found.proof, end.proof))
    if found.flips_at is not None or found.limited:
        return found
    return replace(found, flips_at=end.flips_at, limited=end.limited)


def with_answer(line: Line, answer: AnswerDesigns, found: Breakpoint) -> Breakpoint:
    """Return the end of an answer with the answer beyond."""
    if found.flips_at is None:
        return found
    return replace(found, beyond=line.answer(found.flips_at, answer), limited="")


def follow(line: Line, answer: AnswerDesigns, start: float, limit: float) -> Breakpoint:
    """Return how far an answer holds up to a limit, span after span."""
    proof = EVERY
    while True:
        span = line.span(start, limit)
        if span is None:
            spans = () if line.sampled else chain.from_iterable(span[:2] for span in line.spans)
            nearer = [one for one in spans if min(start, limit) < one < max(start, limit)]
            end = min(nearer, key=lambda one: abs(one - start), default=limit)
            rows, find = line.pool, partial(_searched, line, answer, start)
        else:
            end, rows = span
            if line.steps and start != limit and not line.question.feasible:
                rows = np.vstack([rows, line.closest(answer, end, start)])
            find = partial(_divided, line, answer, rows, start)
        found = _as_far_as_defined(line, rows, start, end, find)
        proof = _weaker(found.proof if span else ENDS, proof)
        if found.holds_to == limit or found.flips_at is not None or found.limited:
            return replace(found, proof=proof)
        start = found.holds_to


def _searched(line: Line, answer: AnswerDesigns, start: float, limit: float) -> Breakpoint:
    """Return how far an answer holds, by exact searches at some values, and in the pool between."""
    for value in line.scale.values(start, limit, 2 if line.question.feasible else _PROBES + 1)[1:]:
        line.search(value)
        if not line.holds_at(value, answer):
            break
    while True:
        known = len(line.pool)
        found = replace(_divided(line, answer, line.pool, start, limit), proof=ENDS)
        if found.flips_at is None or found.holds_to == start:
            return found
        try:
            line.search(found.holds_to)  # unknown designs may win there already
        except EffortError:
            raise
        except DseError as error:
            return replace(found, limited=early_end(error))
        if len(line.pool) == known or line.holds_at(found.holds_to, answer):
            return found


def intervals(line: Line) -> Iterator[tuple[float, Breakpoint, AnswerDesigns]]:
    """Yield the beginning of each interval of a line, its end, and the answer in it."""
    start, limit = line.limits
    answer = line.answer(start)
    _cover(line, start, limit, _HALVINGS)
    line.spans.sort(key=lambda span: span[:2])
    while True:
        found = with_answer(line, answer, follow(line, answer, start, limit))
        yield start, found, answer
        if found.flips_at is None or found.beyond is None:
            return
        start, answer = found.flips_at, found.beyond


def _cover(line: Line, low: float, high: float, halvings: int) -> None:
    """Find every design that may win between two values, of halves if these are too many."""
    with suppress(ContractError, UnitError):
        line.answer(high)
        find_rivals([(line, low, high, line.pool)])
        middle = line.scale.middle(low, high)
        if line.known(middle) is None and halvings and middle not in (low, high):
            _cover(line, low, middle, halvings - 1)
            _cover(line, middle, high, halvings - 1)

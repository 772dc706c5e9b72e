"""Where along a number of a study the answer to a question changes.

A *breakpoint* is the first value at which an answer holds no longer.  Bounds of the space between
two values leave few designs that can win there, the *rivals*; among these an answer is followed by
evaluating them at many values at once.  Where too many remain, the space is searched exactly at
some values, and what wins there is evaluated at the others.  Many lines are followed together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse import search
from dse.contract import SIZE
from dse.errors import ContractError, DseError, NotFiniteError, TooLargeError, UnitError
from dse.model.cells import Cells
from dse.model.evaluation import distinct
from dse.model.front import dominated_by_point, nondominated
from dse.model.problem import Problem
from dse.model.space import Index, Space, as_index, coarsened, one_block
from dse.parametric.question import (
    AnswerDesigns,
    Bool,
    Compared,
    Losses,
    NumberScale,
    PerturbedPart,
    Question,
    compare_together,
    ends_of,
    logarithmic_from,
    may_replace,
    same_space,
    widest,
)
from dse.reports.text import listed
from dse.search.exact.enumeration import composable
from dse.search.exact.interval import may_beat
from dse.search.exact.prove import ENOUGH
from dse.search.exact.work import LOOK, EffortError, limited, spend
from dse.study.assumptions import Assumption
from dse.study.demand import OFFERED, RATE

PARTS, LEVELS, SECTION, SAMPLED = 8, 3, 65, 33
"""Parts of a part in doubt, how often it is divided, values of a section, and of a knee."""

DENSE, CLOSEST = 4096, 64
"""Designs times values along what moves in steps; other designs that are compared there, too."""

LISTED = 16_384
"""Spaces up to this size are compared whole where bounds of cells say little."""

PROBES, HALVINGS, TIED = 3, 4, 256
"""Exact searches to one side, and halvings of a range, where bounds leave too many designs.

And designs of one search that are evaluated elsewhere."""

EVERY, ENDS = "every design", "exact at both ends"
"""What stands behind an interval; between the two, every design at a number of values."""

TOO_MANY = "the design space is too large for an exact search"
OVERFLOW = "a quantity overflows"
"""Why a range ends early."""

IN_STEPS = frozenset((RATE, OFFERED, SIZE, "clock_hz", "interface_segment_byte", "interface_batch"))
"""What counts of instances, rounds of tasks and packets follow from, besides clocks of stages."""

Ask = tuple["Line", Index, Sequence[float]]

_FEW = 4_096
"""More designs that may win, or cells that may hold one, are too many."""

WALKED = 2_000_000
"""Spaces up to this size are gone through design by design where no fleet is mixed."""

EFFORT = 1_000_000
"""Work to go through a space of partial designs between two values."""

_GROWTH = 16
"""A cell is divided into about so many."""


@dataclass(frozen=True)
class Span:
    """Two values of a number, between which designs are bounded.

    Attributes
    ----------
    entry
        What moves.
    low, high
        The two values, which may be one.
    worst
        Losses (h, m) that something feasible has at most between them; of no designs where
        nothing is known to be.
    touched
        An axis and one of its choices, if only designs with that can do better than today.
    """

    entry: Assumption
    low: float
    high: float
    worst: Losses
    touched: tuple[int, int] | None


def rivals_of(spans: Sequence[Span], column: int | None) -> list[Index | None]:
    """Return for each span the designs (n, d) that may win; None for too many.

    `column` is the one loss that decides, None where designs win that are not dominated.
    """
    problem = spans[0].entry.problem
    found: list[Index | None] = [None] * len(spans)
    alike: dict[tuple[int, ...], tuple[Space, list[int]]] = {}
    for place, span in enumerate(spans):
        space = widest(problem, ends_of(span.entry, (span.low, span.high)))
        alike.setdefault(space.sizes, (space, []))[1].append(place)
    for _, (space, places) in sorted(alike.items()):
        wide, some = problem.renumbered(space=space), [spans[place] for place in places]
        rows = (
            [_composed(span, column) for span in some]
            if composes(wide)
            else _descended(wide, some, column)
        )
        rows = [None if one is None else np.vstack([one, problem.hosts]) for one in rows]
        for place, one in zip(places, _open(wide, some, rows, column), strict=True):
            found[place] = one if one is not None and len(one) <= _FEW else None
    return found


def composes(problem: Problem) -> bool:
    """Tell whether the rivals of a problem are composed rather than found among all designs."""
    mixed = any(stage.mixed for stage in problem.stages)
    return composable(problem) and problem.size > (ENOUGH if mixed else WALKED)


def _composed(span: Span, column: int | None) -> Index | None:
    one, other = same_space(*(span.entry.at(value) for value in (span.low, span.high)))
    worst = span.worst if len(span.worst) else np.full((1, len(one.goals)), np.inf)
    with limited(designs=EFFORT):
        rows = may_beat((one, other), worst, column)
    spend(LOOK)  # that it says too little may be because the time for all is over
    return rows


def _descended(problem: Problem, spans: Sequence[Span], column: int | None) -> list[Index | None]:
    """Return the designs of cells that may hold one that wins; of small spaces all."""
    levels = _levels(problem)
    every = as_index(one_block(coarsened(problem.space, levels[0]).sizes))
    rows: list[Index | None] = []
    for one in spans:
        axis, choice = one.touched or (0, None)
        all_matter = choice is None or column is None
        rows.append(every if all_matter else every[every[:, axis] == choice])
    for wide, narrow in pairwise(levels):
        ratio = np.array(wide) // np.array(narrow)
        inside = np.indices(ratio).reshape(len(ratio), -1).T
        sizes = np.array(coarsened(problem.space, narrow).sizes)
        for place, cells in enumerate(_open(problem, spans, rows, column, wide)):
            if cells is None or len(cells) > _FEW:
                rows[place] = None
                continue
            parts = (cells[:, np.newaxis] * ratio + inside).reshape(-1, len(ratio))
            rows[place] = parts[(parts < sizes).all(axis=1)]
    return rows


def _open(
    problem: Problem,
    spans: Sequence[Span],
    rows: Sequence[Index | None],
    column: int | None,
    steps: tuple[int, ...] = (),
) -> list[Index | None]:
    """Return of the designs of each span, or of cells of so many values, those that may win."""
    found: list[Index | None] = [*rows]
    asks = [
        (place, PerturbedPart(span.entry, (span.low, span.high), some))
        for place, (span, some) in enumerate(zip(spans, rows, strict=True))
        if some is not None
    ]
    space = coarsened(problem.space, steps) if steps else problem.space
    every = compare_together(problem, space, [ask for _, ask in asks], steps)
    for (place, _), seen in zip(asks, every, strict=True):
        found[place] = seen.rows[_may_win(seen, spans[place].worst, column)]
    return found


def _may_win(seen: Compared, worst: Losses, column: int | None) -> Bool:
    """Return which designs, or cells, may replace those whose losses are at most `worst`, (h, m).

    By the better of what they do at both ends of a span.
    """
    lowest = np.fmin.reduce(seen.loss)
    possible = ~np.asarray((np.fmin.reduce(seen.violation) > 0).any(axis=1))
    if column is not None and len(worst):
        known = np.where(np.isnan(lowest), -np.inf, lowest)
        return np.asarray(possible & may_replace(known, worst[0], column))
    for row in worst:
        possible &= ~dominated_by_point(lowest, row)
    return np.asarray(possible)


def _levels(problem: Problem) -> list[tuple[int, ...]]:
    """Return how many values of each axis a cell has, from the widest to single designs.

    Again and again the axis whose values differ least gets cells of twice the width.  A small space
    has designs alone.
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
    """How far an answer holds, in SI, and the answer beyond.

    Attributes
    ----------
    holds_to
        The last value at which it was found to hold.
    flips_at
        The first value at which it was found not to; None when it holds up to the limit.
    beyond
        The answer there; of no designs when none is feasible, None where there is no flip.
    proof
        What was compared up to there, in words.
    limited
        Why nothing is known beyond `holds_to`; empty where the range ends as it was given.
    becomes
        The answer beyond in words, where that is wanted.
    saving
        How much less the answer beyond takes than the one it replaces, a tenth beyond: infinite
        where the latter is infeasible, None where no number is compared.
    """

    holds_to: float
    flips_at: float | None = None
    beyond: AnswerDesigns | None = None
    proof: str = EVERY
    limited: str = ""
    becomes: tuple[str, ...] = ()
    saving: float | None = None


def proofs_text(found: Iterable[Any]) -> str:
    """Return what stands behind intervals or breakpoints, in words, each proof counted."""
    counts = Counter(one.proof for one in found).most_common()
    alone = len(counts) == 1
    return listed([proof if alone else f"{proof} ({n})" for proof, n in counts]) or EVERY


class Line:
    """A question along one number, within limits, and the pool of designs that matter."""

    def __init__(
        self,
        entry: Assumption,
        question: Question,
        settings: search.SearchSettings,
        limits: tuple[float, float],
    ) -> None:
        """Know nothing so far; `settings` say how much a search may take."""
        self.entry = entry
        self.question = question
        self.limits = limits
        self.scale = NumberScale(logarithmic_from(*limits), entry.integer, entry.among)
        self.column = question.column(entry.problem)
        self.sampled = self.column is None and not question.feasible
        self.steps = entry.quantity in IN_STEPS or entry.quantity.endswith(".clock")
        self.at = lru_cache(64)(entry.at)
        self.pool: Index = entry.problem.hosts
        self.spans: list[tuple[float, float, Index]] = []
        """Two values each, and every design that may win between them."""
        self._settings = replace(settings, method="exact", budget=None, options={}, partial=False)

    @property
    def bounded(self) -> bool:
        """Whether bounds of the space say which designs may win between two values."""
        small = not self.sampled or self.entry.problem.size <= LISTED
        return small and not self.entry.problem.tolerant

    @cached_property
    def ends(self) -> list[Problem]:
        """Problems with the fewest and the most counts of all within the limits."""
        return ends_of(self.entry, self.limits)

    def compare(self, rows: Index, values: Sequence[float]) -> Compared:
        """Return how designs (n, d) do at values."""
        (found,) = compare_lines([(self, rows, values)])
        if isinstance(found, DseError):
            raise found
        return found

    def holds(
        self, answer: AnswerDesigns, seen: Compared, values: Sequence[float]
    ) -> NDArray[np.bool_]:
        """Return at which values an answer holds among designs compared; see `Question.holds`."""
        problem = self.entry.problem
        if self.sampled and self.question.preference.expression is not None:
            return self.question.holds(lambda at: self.at(values[at]), answer, seen)
        return self.question.holds(lambda _: problem, answer, seen)

    def known(self, value: float) -> Index | None:
        """Return every design that may win at a value, None where that is not known."""
        spans = (rows for low, high, rows in self.spans if low <= value <= high)
        return next(spans, None)

    def bound(self, answer: AnswerDesigns) -> Index:
        """Return the designs by which others are bounded where an answer holds."""
        return answer.rows if self.column is not None else self.pool

    def learn(self, rows: Index) -> None:
        """Add designs (n, d) to the pool."""
        self.pool = distinct(np.vstack([self.pool, rows]))

    def search(self, value: float) -> None:
        """Search the space exactly at a value; what wins there joins the pool."""
        rows = self.known(value)
        if rows is not None:
            seen = self.compare(rows, [value])
            rows, loss = rows[seen.feasible[0]], seen.loss[0, seen.feasible[0]]
            return self.learn(rows[nondominated(loss)] if len(rows) else rows)
        problem = self.at(value)
        if self.column is not None:
            problem = replace(problem, goals=(problem.goals[self.column],))
        found = search.run_search(problem, self._settings).front_index
        spend(LOOK)  # a search that was cut short proves nothing, whatever it says
        return self.learn(found if self.column is None else found[:TIED])

    def answer(self, value: float, instead: AnswerDesigns | None = None) -> AnswerDesigns:
        """Return the exact answer at a value, `instead` of one that holds there no longer."""
        rows = self.known(value)
        if rows is None:
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
        """Return a limit nearer to `start`, where designs can be evaluated up to it."""
        if not isinstance(compare_lines([(self, rows, [limit])])[0], DseError):
            middle = self.scale.middle(start, limit)
            return start if self.scale.is_close(start, middle, 1e-3) else middle
        while not self.scale.is_close(start, limit, 1e-3):
            middle = self.scale.middle(start, limit)
            failed = isinstance(compare_lines([(self, rows, [middle])])[0], DseError)
            start, limit = (start, middle) if failed else (middle, limit)
        return start

    def closest(self, answer: AnswerDesigns, limit: float, start: float) -> Index:
        """Return designs that nearly fit and are nearly as good at some values, closest first."""
        space = widest(self.entry.problem, self.ends)
        rows = self.pool
        if space.size <= LISTED // 8:
            rows = np.vstack([as_index(one_block(space.sizes)), self.entry.problem.hosts])
        if len(rows) <= CLOSEST:
            return rows
        seen = self.compare(np.vstack([answer.rows, rows]), self.scale.values(start, limit, 3))
        short = np.maximum(seen.violation, 0.0).max(axis=2, initial=0.0)
        if self.column is not None and len(answer.rows):
            loss = seen.loss[:, :, self.column]
            worse = (loss - loss[:, :1]) / np.maximum(np.abs(loss[:, :1]), np.finfo(float).tiny)
            short = np.maximum(short, worse)
        best: Index = seen.rows[np.argsort(short.min(axis=0), kind="stable")[:CLOSEST]]
        return best


def compare_lines(asks: Sequence[Ask]) -> list[Compared | DseError]:
    """Return how designs do along lines, evaluated together; errors where that is impossible."""
    if not asks:
        return []
    problem = asks[0][0].entry.problem
    space = widest(problem, [end for line, _, _ in asks for end in line.ends])
    try:
        parts = [PerturbedPart(line.entry, values, rows) for line, rows, values in asks]
        return [*compare_together(problem, space, parts)]
    except EffortError:
        raise
    except DseError as error:
        return [error] if len(asks) == 1 else [one for ask in asks for one in compare_lines([ask])]


def find_rivals(wanted: Sequence[tuple[Line, float, float, Index]]) -> None:
    """Find all designs that may win between two values of each line, where these are few.

    The last of each are designs, by the best of which others are bounded that are feasible.
    """
    wanted = [one for one in wanted if one[0].bounded]
    asks: list[Ask] = [
        (line, rows, line.scale.values(low, high, PARTS + 1)) for line, low, high, rows in wanted
    ]
    spans, lines = [], []
    for (line, low, high, _), seen in zip(wanted, compare_lines(asks), strict=True):
        if isinstance(seen, DseError):
            continue
        fits = seen.feasible.all(axis=0)
        most, best = seen.loss[:, fits].max(axis=0), seen.rows[fits]
        if line.column is not None and len(most):
            least = [most[:, line.column].argmin()]
            most, best = most[least], best[least]
        same = low != high and fits.any() and bool((seen.loss[:, fits] == seen.loss[0, fits]).all())
        spans.append(Span(line.entry, low, high, most, line.entry.touched if same else None))
        lines.append((line, best))
    if not spans:
        return
    found = _rivals(spans, lines[0][0].column)
    for (line, best), span, rows in zip(lines, spans, found, strict=True):
        if rows is not None:
            line.spans.append((span.low, span.high, distinct(np.vstack([best, rows]))))
            line.learn(rows[:TIED])


def _rivals(spans: Sequence[Span], column: int | None) -> list[Index | None]:
    try:
        return rivals_of(spans, column)
    except EffortError:
        raise
    except DseError:  # then each is bounded alone
        if len(spans) == 1:
            return [None]
        return [one for span in spans for one in _rivals([span], column)]


class Bracket:
    """The search for the first value at which an answer holds no longer among some designs.

    From `start` to `limit`, which may turn out to be nearer: `limited` says why.
    """

    def __init__(
        self, line: Line, answer: AnswerDesigns, rows: Index, start: float, limit: float
    ) -> None:
        """Begin with a grid."""
        self.line, self.answer, self.start, self.limit = line, answer, start, limit
        self.rows = distinct(np.vstack([rows, answer.rows]))
        self.limited = ""
        self._begin()

    def _begin(self) -> None:
        line = self.line
        self.inside: float = self.start
        self.outside: float | None = None
        self.proof = EVERY
        self._level, self._narrow, self._open = 0, False, set[tuple[float, float]]()
        count = PARTS + 1
        if line.steps:
            count = max(count, DENSE // max(len(self.rows), 1) + 1)
        if line.sampled and len(self.rows) > len(self.answer.rows):
            count = max(count, SAMPLED)
        self.values = line.scale.values(self.start, self.limit, count)
        self._count = len(self.values) if line.sampled else PARTS**LEVELS + 1
        if self.start == self.limit:
            self._end(None)

    def _end(self, outside: float | None) -> None:
        self.values, self.outside = [], outside

    def take(self, seen: Compared | DseError) -> None:
        """Take how the designs do at the values, and ask for others."""
        if isinstance(seen, DseError):
            return self._fail(seen)
        line, values = self.line, self.values
        held = line.holds(self.answer, seen, values)
        held[0] = True
        first = (*held.tolist(), False).index(False)
        if not self._narrow and self._divided(seen, values, first):
            return None
        self.inside = values[first - 1]
        if first == len(values):
            return self._end(None)
        self._narrow = True
        if line.scale.is_close(self.inside, values[first]):
            return self._end(values[first])
        section = PARTS + 1 if line.sampled else SECTION
        self.values = line.scale.values(self.inside, values[first], section)
        return None

    def _divided(self, seen: Compared, values: list[float], first: int) -> bool:
        """Whether parts in which some design may win are divided again, among those designs."""
        line, pairs = self.line, list(pairwise(values))
        places = np.array([line.scale.place(value) for value in values])
        may = line.question.may_win(line.entry.problem, self.answer, seen, places)
        if self._level:  # between two parts in doubt nothing wins
            may &= np.array([pair in self._open for pair in pairs])[:, np.newaxis]
        mine = line.question.own(self.answer, seen).any(axis=0)
        doubtful = np.flatnonzero(may[:first].any(axis=1)).tolist()
        if not line.sampled and self._level < LEVELS - 1 and doubtful:
            finer = [line.scale.values(*pairs[at], PARTS + 1) for at in doubtful]
            self._open = {*chain.from_iterable(map(pairwise, finer))}
            if len(self._open) > len(doubtful):
                ends = values[max(first - 1, 0) : first + 1]  # where it holds, and does not
                self.rows = seen.rows[may[:first].any(axis=0) | mine]
                every = {*chain(*finer), values[0], *ends}
                self.values = sorted(every, reverse=self.limit < self.start)
                self._level += 1
                return True
        if line.sampled or not self._is_steady(seen) or may[: first - 1].any():
            self.proof = f"every design at {self._count:,} values"
        if not line.sampled and first < len(values):
            self.rows = seen.rows[may[first - 1] | mine]
        return False

    def _is_steady(self, seen: Compared) -> bool:
        """Whether no design fits again and again along what moves in steps."""
        fits = (seen.violation <= 0).all(axis=2)
        once = bool((np.diff(fits, axis=0).sum(axis=0) <= 1).all())
        return not self.line.steps or (once and bool(self.answer.keys))

    def ended(self) -> Breakpoint:
        """Return how far the answer holds, and what answers beyond."""
        beyond = None if self.outside is None else self.line.answer(self.outside, self.answer)
        return Breakpoint(
            holds_to=self.inside,
            flips_at=self.outside,
            beyond=beyond,
            proof=self.proof,
            limited=self.limited if beyond is None else "",
        )

    def _fail(self, error: DseError) -> None:
        """End the range where designs can be evaluated."""
        self.limited = early_end(error)
        self.limit = self.line.defined_to(self.rows, self.start, self.limit)
        self._begin()


def early_end(error: DseError) -> str:
    """Return why a range ends early, in words."""
    known = TOO_MANY if isinstance(error, TooLargeError) else str(error)
    return OVERFLOW if isinstance(error, NotFiniteError) else known


def advance(brackets: Iterable[Bracket]) -> None:
    """Let searches end, each step of all of them evaluated together."""
    pending = [one for one in brackets if one.values]
    while pending:
        asks = [(one.line, one.rows, one.values) for one in pending]
        for one, seen in zip(pending, compare_lines(asks), strict=True):
            one.take(seen)
        pending = [one for one in pending if one.values]


def breakpoints(lines: Sequence[Line], answers: Sequence[AnswerDesigns]) -> list[Breakpoint]:
    """Return for each line how far today's answer holds down, and up, within its limits."""
    alone = [
        Bracket(line, answer, answer.rows, line.entry.value, limit)
        for line, answer in zip(lines, answers, strict=True)
        for limit in line.limits
    ]
    advance(alone)
    pairs = zip(alone[::2], alone[1::2], strict=True)
    find_rivals([(a.line, a.inside, b.inside, a.line.bound(a.answer)) for a, b in pairs])
    for one in [one for one in alone if not one.line.spans]:
        low, high = sorted((one.start, one.inside))
        find_rivals([(one.line, low, high, one.line.bound(one.answer))])
    among = [_among_rivals(one) for one in alone]
    advance(filter(None, among))
    ends = [_earlier(one, other) for one, other in zip(alone, among, strict=True)]
    flips = [(one.line, one.outside) for one in ends if one.outside is not None]
    asks = [(li, at, at, li.pool) for li, at in flips if li.known(at) is None]
    find_rivals(asks)
    return [_followed(one) for one in ends]


def _among_rivals(one: Bracket) -> Bracket | None:
    """Return the search among rivals of an answer up to where it holds alone, if there are any."""
    rows = one.line.known(one.inside)
    if rows is None or one.inside == one.start or one.line.sampled:
        return None
    if one.line.steps:
        rows = np.vstack([rows, one.line.closest(one.answer, one.inside, one.start)])
    if len(distinct(np.vstack([rows, one.answer.rows]))) == len(one.answer.rows):
        return None
    return Bracket(one.line, one.answer, rows, one.start, one.inside)


def _earlier(alone: Bracket, among: Bracket | None) -> Bracket:
    """Return how far an answer holds among rivals; beyond these it holds no longer alone."""
    if among is None:
        return alone
    if among.outside is None and not among.limited:
        among.outside, among.limited = alone.outside, alone.limited
    if alone.proof != EVERY:
        among.proof = alone.proof
    return among


def _followed(one: Bracket) -> Breakpoint:
    """Return how far an answer holds, searched at values where bounds do not prove it."""
    if not one.line.sampled and one.line.known(one.inside) is not None:
        return one.ended()
    found = follow(one.line, one.answer, one.start, one.inside)
    if found.flips_at is not None or found.limited or one.outside is None:
        limited = found.limited or ("" if found.flips_at else one.limited)
        return replace(found, limited=limited)
    return replace(one.ended(), proof=ENDS)


def follow(line: Line, answer: AnswerDesigns, start: float, limit: float) -> Breakpoint:
    """Return how far an answer that holds at a value holds up to a limit."""
    proof, at = EVERY, start
    while True:
        spans = () if line.sampled else line.spans
        span = next((one for one in spans if one[0] <= at < one[1]), None)
        if span is None:
            later = [low for low, _, _ in spans if at < low < limit]
            one = searched(line, answer, at, min(later, default=limit))
        else:
            rows, end = span[2], min(span[1], limit)
            if line.steps:
                rows = np.vstack([rows, line.closest(answer, end, at)])
            one = Bracket(line, answer, rows, at, end)
            advance([one])
        proof = max(proof, one.proof, key=lambda text: (text == ENDS, text != EVERY))
        at, one.proof = one.inside, proof
        if one.outside is not None or one.limited or at == limit:
            return one.ended()


def searched(line: Line, answer: AnswerDesigns, start: float, limit: float) -> Bracket:
    """Return how far an answer holds by exact searches at some values."""
    limited = ""
    while True:
        try:
            for value in line.scale.values(start, limit, PROBES + 1)[1:]:
                line.search(value)
                if not line.holds(answer, line.compare(line.pool, [value]), [value])[0]:
                    break
            break
        except EffortError:
            raise
        except (ContractError, TooLargeError, UnitError) as error:
            limited, limit = early_end(error), line.defined_to(line.pool, start, limit)
            if limit == start:
                break
    while True:
        one = Bracket(line, answer, line.pool, start, limit)
        advance([one])
        one.proof, known = ENDS, len(line.pool)
        one.limited = one.limited or ("" if one.outside is not None else limited)
        if one.outside is None or one.inside == start:
            return one
        line.search(one.inside)  # designs that nobody knows may win there already
        seen = line.compare(line.pool, [one.inside])
        if len(line.pool) == known or line.holds(answer, seen, [one.inside])[0]:
            return one


def intervals(line: Line) -> Iterator[tuple[float, Breakpoint, AnswerDesigns]]:
    """Yield where each interval of a line begins, how far it reaches and what answers there."""
    start, limit = line.limits
    answer = line.answer(start)
    _cover(line, start, limit, HALVINGS)
    line.spans.sort(key=lambda span: span[:2])
    while True:
        found = follow(line, answer, start, limit)
        yield start, found, answer
        if found.flips_at is None or found.beyond is None:
            return
        start, answer = found.flips_at, found.beyond


def _cover(line: Line, low: float, high: float, halvings: int) -> None:
    """Find every design that may win between two values, of halves where they are too many."""
    with suppress(ContractError, UnitError):
        line.answer(high)
        find_rivals([(line, low, high, line.pool)])
        middle = line.scale.middle(low, high)
        if line.known(middle) is None and halvings and middle not in (low, high):
            _cover(line, low, middle, halvings - 1)
            _cover(line, middle, high, halvings - 1)

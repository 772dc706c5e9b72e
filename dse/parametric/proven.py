"""How far designs are the answer along one number, and by what that is proven.

One question to the space gives every design that may win anywhere in an interval, by bounds at both
ends (`screen`); among these, parts of the interval are halved until none can win between two values
(`rivals`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError, DseError, NotFiniteError, TooLargeError, UnitError
from dse.model.evaluation import distinct
from dse.model.front import nondominated
from dse.model.space import Index
from dse.parametric import screen
from dse.parametric.perturbed import Compared
from dse.parametric.scale import NARROW, log_distance
from dse.parametric.screen import Screen, screened
from dse.parametric.track import Asking, Track, in_step, in_steps
from dse.parametric.tracked_answer import (
    AnswerDesigns,
    Breakpoint,
    answer_among,
    answer_instead,
)
from dse.search.exact.work import EffortError

PRECISE = 1e-7
"""Relative width to which an end is found."""

EFFORT = 1_000_000
"""Work to go through a space of partial designs to one side at first; twice as much in each half,
and half as much to both sides at once, where bounds are wider."""

ROUGH = 0.01
"""Relative width to which an end is searched for before it is proven."""

FEW, DENSE = 64, 2**12
"""Values of an interval at which the answer is examined; so many where with a number some designs
may fit again and again, all of them where they are whole and fewer."""

CLOSEST = 64
"""Other designs that are examined there too, at fewer values, so that both take as much."""

SHORTEST = 1e-3
"""Natural logarithm of the ratio of two values between which no more is divided."""

AT_ONCE = 128
"""Designs times values evaluated in about the time that a few take."""

PROBES = 8
"""Values of exact searches on each side, where an interval is not proven."""

EXAMINED = 2**16
"""Designs times values that are examined where nothing fits, along what moves in steps."""

TOO_MANY = "the design space is too large for an exact search"
OVERFLOW = "a quantity overflows"
"""Why a range ends early."""


class ProvenAnswer:
    """How far designs are the answer, by one loss or as the whole front, from where they are."""

    def __init__(self, track: Track, answer: AnswerDesigns, start: float) -> None:
        """Begin with what is known along the track; designs answer from `start` on."""
        self.screened: list[tuple[tuple[float, float], Index]] = []
        """All designs that may win between two values."""
        self._track = track
        self._answer = answer
        self._start = start
        self._own = len(answer.rows)
        self._counts = track.least_counts(answer.rows, start)
        self._known: dict[tuple[float, int], tuple[float, float | None, float]] = {}

    def question(self) -> Asking[Screen | None]:
        """Return what to ask between both limits, as far as known designs let it hold."""
        low, high = self._track.limits
        low, high = (yield from self._narrowed(low))[2], (yield from self._narrowed(high))[2]
        return None if low == high else (yield from self._question(low, high, EFFORT // 2))

    def end(self, limit: float) -> Asking[Breakpoint]:
        """Return how far they hold up to a limit."""
        track = self._track
        inside, outside, complete = yield from self._searched(limit)
        if outside is not None:
            known = distinct(np.vstack([track.rows, *(rows for _, rows in self.screened)]))
            inside, outside = yield from self._refined(self._others(known), inside, outside)
        sooner, steady = yield from self._sampled(inside)
        complete &= steady
        if sooner is not None:
            inside, outside = yield from self._refined(self._others(track.rows), *sooner)
        if outside is None:
            return Breakpoint(holds_to=inside, complete=complete)
        beyond = self._beyond(outside, complete)
        return Breakpoint(holds_to=inside, flips_at=outside, beyond=beyond, complete=complete)

    def _searched(self, limit: float) -> Asking[tuple[float, float | None, bool]]:
        """Return about how far they hold among all designs, and whether all were compared."""
        track, scale = self._track, self._track.scale
        inside, outside, reach = yield from self._narrowed(limit)
        tested, complete = track.rows, True
        pending, searched = [(self._start, reach, EFFORT)], set[float]()
        while pending:
            low, high, most = pending.pop(0)
            rows = yield from self._rivals(low, high, most)
            if rows is None and high not in searched and (track.column is not None or not searched):
                searched.add(high)
                if self._learns_up_to(high):
                    inside, outside, reach = yield from self._narrowed(limit)
                    tested, pending = track.rows, [(self._start, reach, EFFORT)]
                    continue
            if (
                rows is None
                and log_distance(low, high) > SHORTEST
                and not scale.is_close(low, high, 0)
            ):
                middle = scale.middle(low, high)
                pending[:0] = [(low, middle, 2 * most), (middle, high, 2 * most)]
                continue
            if rows is None:
                complete = False
                rows = distinct(np.vstack([track.pick(v).rows for v in (low, high)]))
            new = self._others(_without(rows, tested))
            change = yield from self._change(new, low, high)
            if change is not None:
                return *change, complete
        return inside, outside, complete

    def _sampled(self, limit: float) -> Asking[tuple[tuple[float, float] | None, bool]]:
        """Return between which values they stop to hold, if they do at a sample of values.

        And whether no design of a sample becomes feasible again after it was: what takes whole
        rounds of tasks neither rises nor falls throughout.
        """
        track, own = self._track, self._answer.rows
        stepping = in_steps(track.entry.quantity)
        most = DENSE if stepping else FEW
        end, steady = yield from self._examined(own, limit, most)
        if not stepping:
            return end, steady
        limit = limit if end is None else end[0]
        closest = yield from self._closest(track.scale.cut(self._start, limit, NARROW, 1))
        sooner, also = yield from self._examined(np.vstack([own, closest]), limit, most)
        return sooner or end, steady and also

    def _closest(self, values: list[float]) -> Asking[Index]:
        """Return designs that nearly fit and are nearly as good at some values, closest first."""
        track, own = self._track, self._own
        others = self._others(track.near(self._answer.rows))
        seen = yield track.ask(np.vstack([self._answer.rows, others]), values)
        short = np.maximum(seen.violation[:, own:], 0.0).max(axis=2, initial=0.0)
        if track.column is not None:
            loss = seen.loss[:, :, track.column]
            worse = loss[:, own:] - loss[:, :1]
            short = np.maximum(short, worse / np.maximum(np.abs(loss[:, :1]), np.finfo(float).tiny))
        closest: Index = others[np.argsort(short.min(axis=0), kind="stable")[:CLOSEST]]
        return closest

    def _examined(
        self, rows: Index, limit: float, most: int
    ) -> Asking[tuple[tuple[float, float] | None, bool]]:
        """Return the same of some designs, the answer first, at so many values for all of them."""
        dense = self._track.scale.dense
        values = dense(self._start, limit, NARROW, max(2, most // len(rows)))
        seen = yield self._track.ask(rows, values)
        held, fits = self._held(seen), (seen.violation <= 0).all(axis=2)
        steady = bool(held.all() and (np.diff(fits, axis=0).sum(axis=0) <= 1).all())
        first = int(held.argmin())
        if held.all() or not first:
            return None, steady
        self._track.rows = distinct(np.vstack([self._track.rows, rows[seen.feasible[first]]]))
        return (values[first - 1], values[first]), steady

    def _learns_up_to(self, high: float) -> bool:
        """Whether searches at single values, which take little, find designs that were not known.

        Where these are better at the far end, about where they begin to be.
        """
        track, answer = self._track, self._answer
        if not track.learns(high):
            return False
        if track.column is not None and not track.holds(answer, high):

            def holds(value: float) -> bool:
                track.learns(value)
                return track.holds(answer, value)

            track.scale.bisected(self._start, high, ROUGH, holds)
        return True

    def _narrowed(self, limit: float) -> Asking[tuple[float, float | None, float]]:
        """Return how far they hold up to a limit among the designs that are known.

        And up to where the space is searched: beyond, where something is known that fits there.
        """
        track, key = self._track, (limit, len(self._track.rows))
        if key not in self._known:
            rows = self._others(track.rows)
            change = yield from self._change(rows, self._start, limit)
            inside, outside = change or (limit, None)
            reach = inside
            if outside is not None:
                seen = yield track.ask(np.vstack([self._answer.rows, rows]), [outside])
                fits = track.column is not None and seen.feasible.any()
                reach = outside if fits else (yield from self._fits_to(outside))
            self._known[key] = inside, outside, reach
        return self._known[key]

    def _fits_to(self, high: float) -> Asking[float]:
        """Return the last value up to another at which they are feasible."""
        none = self._answer.rows[:0]
        alone = yield from self._change(none, self._start, high)
        return high if alone is None else (yield from self._refined(none, *alone))[0]

    def _others(self, rows: Index) -> Index:
        return _without(rows, self._answer.rows)

    def _rivals(self, low: float, high: float, most: int) -> Asking[Index | None]:
        """Return the designs that may win between two values, None for too many."""
        if low == high:
            return self._answer.rows[:0]
        for ends, rows in self.screened:
            if min(ends) <= min(low, high) and max(low, high) <= max(ends):
                return rows
        wanted = yield from self._question(low, high, most)
        if wanted is None:
            return None
        (found,) = screened(self._track.entry.problem, [wanted], self._track.column)
        if found is not None:
            self.screened.append(((low, high), found))
        return found

    def _question(self, low: float, high: float, most: int) -> Asking[Screen | None]:
        """Return what to ask of the space between two values; None where nothing bounds it."""
        track, own = self._track, self._own
        every = np.vstack([self._answer.rows, self._others(track.rows)])
        seen = yield track.ask(every, [low, high, self._start])
        worst = []
        for loss, feasible in zip(seen.loss[:2], seen.feasible, strict=False):
            if feasible[:own].all():
                worst.append(loss[:own])
            elif track.column is not None and feasible.any():  # the best that is known to fit
                best = int(np.where(feasible, loss[:, track.column], np.inf).argmin())
                worst.append(loss[[best]])
            else:
                return None
        same = (seen.loss[:, :own] == seen.loss[2, :own]).all() and seen.feasible[:, :own].all()
        touched = track.entry.touched if same else None
        return Screen(track.entry, low, high, np.maximum(*worst), touched, most)

    def _change(self, rows: Index, low: float, high: float) -> Asking[tuple[float, float] | None]:
        """Return the last value where they hold against designs, and the first where they do not.

        Parts are halved until they are `NARROW`, or none of the designs can win in them.
        """
        scale, every = self._track.scale, np.vstack([self._answer.rows, rows])
        parts, end = list(pairwise(scale.cut(low, high, NARROW, 1))), None
        while parts:
            rounds = _halvings(len(every) * len(parts)) // 2 or 1
            cuts = (scale.cut(*part, NARROW, 2 * rounds) for part in parts)
            values = list(dict.fromkeys(value for cut in cuts for value in cut))
            seen = yield self._track.ask(every, values)
            for _ in range(rounds):
                parts, end, possible = self._halved(seen, values, parts, end)
            every = every[possible]
        return end

    def _halved(
        self,
        seen: Compared,
        values: list[float],
        parts: list[tuple[float, float]],
        end: tuple[float, float] | None,
    ) -> tuple[list[tuple[float, float]], tuple[float, float] | None, NDArray[np.bool_]]:
        """Return parts that are still open, halved twice, the end, and which designs may win."""
        scale, own = self._track.scale, self._own
        held, places = self._held(seen), {value: at for at, value in enumerate(values)}
        possible = np.arange(seen.loss.shape[1]) < own
        still = []
        for one, other in (
            half for part in parts for half in pairwise(scale.cut(*part, NARROW, 1))
        ):
            between = scale.halfway(one, other, NARROW)
            middle = other if between is None else between
            three = [places[value] for value in (one, other, middle)]
            may = self._may_replace(seen, three, one, other)
            fails = not held[three[1:]].all()
            if fails:
                early = between is None or not held[three[2]]
                end = (one, middle) if early else (middle, other)
            if between is not None and (fails or may[own:].any()):
                possible |= may
                still += [(one, middle), (middle, other)][: 1 + int(held[three[2]])]
            if fails:
                break
        return still, end, possible

    def _may_replace(
        self, seen: Compared, three: list[int], one: float, other: float
    ) -> NDArray[np.bool_]:
        """Return which designs may win between two values, by those there and in the middle."""
        loss, violation = seen.loss[three], seen.violation[three]
        ours, distance = loss[:, : self._own], log_distance(one, other)
        return screen.may_replace(loss, violation, ours, self._track.column, distance)

    def _held(self, seen: Compared) -> NDArray[np.bool_]:
        """Return at which values the first of some designs are the answer."""
        own, column = self._own, self._track.column
        held: NDArray[np.bool_] = np.asarray(seen.feasible[:, :own].all(axis=1))
        if self._track.tracked.counts and self._counts.size:
            held &= (seen.counts[:, :own] == self._counts).all(axis=(1, 2))
        if column is not None:
            keys = np.concatenate([seen.loss[:, :, [column]], seen.loss], axis=2)
            return np.asarray(held & ~(screen.beats(keys, keys[:, :1]) & seen.feasible).any(axis=1))
        for at in np.flatnonzero(held).tolist():
            rows = np.flatnonzero(seen.feasible[at])
            best = rows[nondominated(seen.loss[at, rows])]
            held[at] = np.array_equal(best, np.arange(own))
        return held

    def _refined(self, rows: Index, inside: float, outside: float) -> Asking[tuple[float, float]]:
        """Return how far they hold against designs between two close values, more precisely."""
        track, scale = self._track, self._track.scale
        every = np.vstack([self._answer.rows, rows])
        while not scale.is_close(inside, outside, PRECISE):
            values = scale.cut(inside, outside, PRECISE, _halvings(len(every)))
            seen = yield track.ask(every, values)
            three = [0, len(values) - 1, len(values) // 2]
            may = self._may_replace(seen, three, inside, outside)
            may[: self._own] = True
            held = self._held(seen)[1:-1].tolist()
            first = held.index(False) if False in held else len(held)
            inside, outside, every = values[first], values[first + 1], every[may]
        return inside, outside

    def _beyond(self, outside: float, complete: bool) -> AnswerDesigns:
        """Return the answer where they hold no longer."""
        track = self._track
        inside = [rows for ends, rows in self.screened if min(ends) <= outside <= max(ends)]
        if inside and complete:
            rows = distinct(np.vstack([self._answer.rows, track.rows, *inside]))
        else:
            rows = track.pick(outside).rows
        track.rows = distinct(np.vstack([track.rows, rows]))
        if track.tracked.by:  # another design may count as the same answer
            found = answer_among(track.at(outside), rows, track.tracked)
            if not np.array_equal(found.rows, self._answer.rows):
                return found
        return answer_instead(track.at(outside), rows, track.tracked, self._answer)


def screened_answers(
    tracks: Sequence[Track], answer: AnswerDesigns, known: Mapping[str, Index]
) -> dict[str, ProvenAnswer]:
    """Return what proves how far an answer holds along each track, by its name, where that can be.

    One question to the space serves all of them, between the limits of each; `known` are all
    designs that may win there, where it is answered already.
    """
    found: dict[str, ProvenAnswer] = {}
    wanted = []
    asking = [_opening(track, answer, known.get(track.entry.name)) for track in tracks]
    for track, (now, question) in in_step(tracks, asking):
        if now is not None:
            found[track.entry.name] = now
        if question is not None:
            wanted.append(question)
    try:
        rows = screened(tracks[0].entry.problem, wanted, tracks[0].column) if wanted else []
    except EffortError:
        raise
    except DseError:  # then each is screened alone
        return found
    for question, some in zip(wanted, rows, strict=True):
        if some is not None:
            found[question.entry.name].screened.append(((question.low, question.high), some))
    return found


def _opening(
    track: Track, answer: AnswerDesigns, known: Index | None
) -> Asking[tuple[ProvenAnswer | None, Screen | None]]:
    """Return what proves, where that can be, and what to ask for it of the space, if anything."""
    with suppress(ContractError, UnitError):
        if track.proves(answer):
            now = ProvenAnswer(track, answer, track.entry.value)
            if known is None:
                return now, (yield from now.question())
            now.screened.append((track.limits, known))
            return now, None
    return None, None


def _halvings(count: int) -> int:
    """Return how often parts with so many designs are halved in one evaluation."""
    return max(1, int(math.log2(AT_ONCE / count)) if count < AT_ONCE else 1)


def _without(rows: Index, others: Index) -> Index:
    known = {row.tobytes() for row in others}
    return rows[[row.tobytes() not in known for row in rows]]


def breakpoints_of(
    track: Track, answer: AnswerDesigns, proven: ProvenAnswer | None
) -> Asking[tuple[Breakpoint, Breakpoint]]:
    """Return how far the answer at today's value holds to both sides."""
    low, high = track.limits
    below = yield from _breakpoint(track, answer, track.entry.value, low, proven)
    return below, (yield from _breakpoint(track, answer, track.entry.value, high, proven))


def breakpoint_of(track: Track, answer: AnswerDesigns, start: float, limit: float) -> Breakpoint:
    """Return how far the answer at `start` holds up to `limit`, or to where models fail."""
    return next(in_step([track], [_breakpoint(track, answer, start, limit, None)]))[1]


def _breakpoint(
    track: Track, answer: AnswerDesigns, start: float, limit: float, proven: ProvenAnswer | None
) -> Asking[Breakpoint]:
    limited = ""
    while True:
        try:
            found = yield from _end(track, answer, start, limit, proven)
            return found if found.flips_at is not None else replace(found, limited=limited)
        except EffortError:
            raise
        except (ContractError, TooLargeError, UnitError) as error:
            if limit == start:
                raise
            limited = OVERFLOW if isinstance(error, NotFiniteError) else TOO_MANY
            limit = _shortened(track, answer, start, limit)


def _end(
    track: Track, answer: AnswerDesigns, start: float, limit: float, proven: ProvenAnswer | None
) -> Asking[Breakpoint]:
    if not track.proves(answer):
        if not len(answer.rows):
            if in_steps(track.entry.quantity):
                limit = yield from _first_fit(track, start, limit)
            elif _nothing_fits(track, start, limit):
                return Breakpoint(holds_to=limit)
        return _searched_end(track, answer, start, limit)
    now, complete = proven or ProvenAnswer(track, answer, start), True
    while True:  # a design may follow another that counts as the same answer
        found = yield from now.end(limit)
        complete &= found.complete
        if found.beyond is None or found.beyond.keys != answer.keys:
            return replace(found, complete=complete)
        now = ProvenAnswer(track, found.beyond, found.flips_at or limit)


def _nothing_fits(track: Track, low: float, high: float) -> bool:
    """Whether bounds at both values prove that no design is feasible between them."""
    problem = track.entry.problem
    if problem.tolerant or low == high:
        return low == high
    anything = np.full((1, len(problem.goals)), np.inf)
    (found,) = screened(problem, [Screen(track.entry, low, high, anything, None, EFFORT)], 0)
    return found is not None and not len(found)


def _first_fit(track: Track, start: float, limit: float) -> Asking[float]:
    """Return the first of some values at which one of some designs fits, the limit for none."""
    rows = track.near(track.rows)
    values = track.scale.dense(start, limit, NARROW, max(2, EXAMINED // len(rows)))
    seen = yield track.ask(rows, values)
    fits = seen.feasible.any(axis=1)
    if not fits[1:].any():
        return limit
    first = int(fits[1:].argmax()) + 1
    track.rows = distinct(np.vstack([track.rows, rows[seen.feasible[first]]]))
    return values[first]


def _shortened(track: Track, answer: AnswerDesigns, start: float, limit: float) -> float:
    """Return a limit nearer to `start`, where known designs can be evaluated up to it."""

    def is_defined(value: float) -> bool:
        with suppress(ContractError, TooLargeError, UnitError):
            track.compare(np.vstack([answer.rows, track.rows]), [value])
            return True
        return False

    if not is_defined(limit):
        return track.scale.bisected(start, limit, NARROW, is_defined)[0]
    middle = track.scale.middle(start, limit)
    return start if track.scale.is_close(start, middle, NARROW) else middle


def _searched_end(track: Track, answer: AnswerDesigns, start: float, limit: float) -> Breakpoint:
    """Return how far an answer holds by exact searches at some values."""
    inside, outside = start, None
    for value in track.scale.grid(start, limit, PROBES, NARROW):
        track.pick(value)
        if not track.holds(answer, value):
            outside = value
            break
        inside = value
    while outside is not None:
        known = len(track.rows)
        low, high = track.scale.bisected(
            inside, outside, PRECISE, lambda value: track.holds(answer, value)
        )
        track.pick(low)  # designs that nobody knows may win there already
        if len(track.rows) == known or track.holds(answer, low):
            inside, outside = low, high
            break
        outside = low
    beyond = None
    if outside is not None:
        rows = np.vstack([track.pick(outside).rows, track.rows])
        beyond = answer_instead(track.at(outside), distinct(rows), track.tracked, answer)
    return Breakpoint(holds_to=inside, flips_at=outside, beyond=beyond, complete=False)

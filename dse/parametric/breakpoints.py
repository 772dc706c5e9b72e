"""How far along one number an answer holds, and what the answer is beyond.

Where one loss decides, or the whole front is followed, this is proven.  Designs that are known
tell how far the answer holds at most.
One question to the space over that interval gives every design that may win anywhere in it, by
bounds at both ends (`screen`); among these, parts of the interval are halved until none can win
between two values (`rivals`).  Where a knee, an expression or a tolerance decides,
the space is searched exactly at some values, and again just inside of where designs that are known
say that the answer ends.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError, NotFiniteError, TooLargeError, UnitError
from dse.model.front import nondominated
from dse.model.matrices import distinct
from dse.model.space import Index
from dse.parametric import rivals
from dse.parametric.perturbed import Compared
from dse.parametric.scale import NARROW, log_distance
from dse.parametric.screen import Screen, screened
from dse.parametric.track import Track
from dse.parametric.tracking import AnswerDesigns, answer_among, answer_instead
from dse.search.exact.work import EffortError

PRECISE = 1e-7
"""Relative width to which an end is found."""

EFFORT = 1_000_000
"""Work to go through a space of partial designs at first; twice as much in each half."""

SHORTEST = 1e-3
"""Natural logarithm of the ratio of two values between which no more is divided."""

PROBES = 8
"""Values of exact searches on each side, where an interval is not proven."""

TOO_MANY = "the design space is too large for an exact search"
OVERFLOW = "a quantity overflows"
"""Why a range ends early."""


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
    complete
        Every design was compared; False when only exact searches at some values were.
    limited
        Why nothing is known beyond `holds_to`; empty where the range ends as it was given.
    """

    holds_to: float
    flips_at: float | None = None
    beyond: AnswerDesigns | None = None
    complete: bool = True
    limited: str = ""


def breakpoints_of(
    track: Track,
    answer: AnswerDesigns,
    start: float,
    limits: tuple[float, float],
    known: Index | None = None,
) -> tuple[Breakpoint, Breakpoint]:
    """Return how far the answer at `start` holds to both sides.

    One question to the space serves both where it is answered; `known` are all designs that may win
    between the limits, where it is answered already.
    """
    proven = None
    if track.proves(answer):
        with suppress(ContractError, UnitError):
            proven = _Proven(track, answer, start)
            if known is None:
                proven.screen(limits)
            else:
                proven.screened.append((limits, known))
    low, high = (breakpoint_of(track, answer, start, limit, proven) for limit in limits)
    return low, high


def breakpoint_of(
    track: Track,
    answer: AnswerDesigns,
    start: float,
    limit: float,
    proven: _Proven | None = None,
) -> Breakpoint:
    """Return how far the answer at `start` holds up to `limit`, or to where models fail."""
    limited = ""
    while True:
        try:
            found = _end(track, answer, start, limit, proven)
            return found if found.flips_at is not None else replace(found, limited=limited)
        except EffortError:
            raise
        except (ContractError, TooLargeError, UnitError) as error:
            if limit == start:
                raise
            limited = OVERFLOW if isinstance(error, NotFiniteError) else TOO_MANY
            limit = _shortened(track, answer, start, limit)


def _end(
    track: Track, answer: AnswerDesigns, start: float, limit: float, proven: _Proven | None
) -> Breakpoint:
    if not track.proves(answer):
        if not len(answer.rows) and _nothing_fits(track, start, limit):
            return Breakpoint(holds_to=limit)
        return _searched_end(track, answer, start, limit)
    now, complete = proven or _Proven(track, answer, start), True
    while True:  # a design may follow another that counts as the same answer
        found = now.end(limit)
        complete &= found.complete
        if found.beyond is None or found.beyond.keys != answer.keys:
            return replace(found, complete=complete)
        now = _Proven(track, found.beyond, found.flips_at or limit)


def _nothing_fits(track: Track, low: float, high: float) -> bool:
    """Whether bounds at both values prove that no design is feasible between them."""
    problem = track.entry.problem
    if problem.tolerant or low == high:
        return low == high
    anything = np.full((1, len(problem.goals)), np.inf)
    (found,) = screened(problem, [Screen(track.entry, low, high, anything, None, EFFORT)], 0)
    hosts = track.compare(problem.hosts, [low, high]).violation.min(axis=0)
    return found is not None and not len(found) and not (hosts <= 0).all(axis=1).any()


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


class _Proven:
    """How far designs are the answer, by one loss or as the whole front, from where they are."""

    def __init__(self, track: Track, answer: AnswerDesigns, start: float) -> None:
        self.screened: list[tuple[tuple[float, float], Index]] = []
        """All designs that may win between two values."""
        self._track = track
        self._answer = answer
        self._start = start
        self._own = len(answer.rows)
        here = track.compare(answer.rows, [start])
        self._loss, self._counts = here.loss[0], here.counts[0]
        self._known: dict[tuple[float, int], tuple[float, float | None, float]] = {}

    def screen(self, limits: tuple[float, float]) -> None:
        """Ask once for what may win between both ends, as far as known designs let it hold."""
        low, high = (self._narrowed(limit)[2] for limit in limits)
        self._rivals(low, high, EFFORT)

    def end(self, limit: float) -> Breakpoint:
        """Return how far they hold up to a limit."""
        track, scale = self._track, self._track.scale
        inside, outside, reach = self._narrowed(limit)
        tested, complete, searched = track.rows, True, False
        pending = [(self._start, reach, EFFORT)]
        while pending:
            low, high, most = pending.pop(0)
            rows = self._rivals(low, high, most)
            if rows is None and not searched:  # designs at the far end tell more
                track.pick(high)
                inside, outside, reach = self._narrowed(limit)
                tested, searched = track.rows, True
                pending = [(self._start, reach, EFFORT)]
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
            change = self._change(self._others(_without(rows, tested)), low, high)
            if change is not None:
                inside, outside = change
                break
        if outside is None:
            return Breakpoint(holds_to=inside, complete=complete)
        known = distinct(np.vstack([track.rows, *(rows for _, rows in self.screened)]))
        inside, outside = self._refined(self._others(known), inside, outside)
        beyond = self._beyond(outside)
        return Breakpoint(holds_to=inside, flips_at=outside, beyond=beyond, complete=complete)

    def _narrowed(self, limit: float) -> tuple[float, float | None, float]:
        """Return how far they hold up to a limit among the designs that are known.

        And up to where the space is asked: beyond, where something is known that fits there.
        """
        track, key = self._track, (limit, len(self._track.rows))
        if key not in self._known:
            rows = self._others(track.rows)
            inside, outside = self._change(rows, self._start, limit) or (limit, None)
            reach = inside
            if outside is not None:
                seen = track.compare(np.vstack([self._answer.rows, rows]), [outside])
                fits = track.column is not None and seen.feasible.any()
                reach = outside if fits else self._fits_to(outside)
            self._known[key] = inside, outside, reach
        return self._known[key]

    def _fits_to(self, high: float) -> float:
        """Return the last value up to another at which they are feasible."""
        none = self._answer.rows[:0]
        alone = self._change(none, self._start, high)
        return high if alone is None else self._refined(none, *alone)[0]

    def _others(self, rows: Index) -> Index:
        return _without(rows, self._answer.rows)

    def _rivals(self, low: float, high: float, most: int) -> Index | None:
        """Return the designs that may win between two values, None for too many."""
        if low == high:
            return self._answer.rows[:0]
        for ends, rows in self.screened:
            if min(ends) <= min(low, high) and max(low, high) <= max(ends):
                return rows
        track, own = self._track, self._own
        seen = track.compare(np.vstack([self._answer.rows, self._others(track.rows)]), [low, high])
        worst = []
        for loss, feasible in zip(seen.loss, seen.feasible, strict=True):
            if feasible[:own].all():
                worst.append(loss[:own])
            elif track.column is not None and feasible.any():  # the best that is known to fit
                best = int(np.where(feasible, loss[:, track.column], np.inf).argmin())
                worst.append(loss[[best]])
            else:
                return None
        same = (seen.loss[:, :own] == self._loss).all() and seen.feasible[:, :own].all()
        touched = track.entry.touched if same else None
        asked = Screen(track.entry, low, high, np.maximum(*worst), touched, most)
        (found,) = screened(track.entry.problem, [asked], track.column)
        if found is not None:
            self.screened.append(((low, high), found))
        return found

    def _change(self, rows: Index, low: float, high: float) -> tuple[float, float] | None:
        """Return the last value where they hold against designs, and the first where they do not.

        Parts are halved until they are `NARROW`, or none of the designs can win in them.
        """
        track, scale, own = self._track, self._track.scale, self._own
        every = np.vstack([self._answer.rows, rows])
        parts = list(pairwise(scale.cut(low, high, NARROW, 1)))
        end = None
        while parts:
            halves = [half for part in parts for half in pairwise(scale.cut(*part, NARROW, 1))]
            triples = [(one, scale.cut(one, other, NARROW, 1)[1], other) for one, other in halves]
            values = list(dict.fromkeys(value for triple in triples for value in triple))
            seen, places = track.compare(every, values), {v: at for at, v in enumerate(values)}
            held = self._held(seen)
            possible = np.arange(len(every)) < own
            parts = []
            for one, middle, other in triples:
                three = [places[value] for value in (one, other, middle)]
                may = self._may_replace(seen, three, one, other)
                fails = not held[three[1:]].all()
                if fails:
                    early = middle == other or not held[three[2]]
                    end = (one, middle) if early else (middle, other)
                if (fails or may[own:].any()) and not scale.is_close(one, other, NARROW):
                    possible |= may
                    parts += [(one, middle), (middle, other)][: 1 + int(held[three[2]])]
                if fails:
                    break
            every = every[possible]
        return end

    def _may_replace(
        self, seen: Compared, three: list[int], one: float, other: float
    ) -> NDArray[np.bool_]:
        """Return which designs may win between two values, by those there and in the middle."""
        loss, violation = seen.loss[three], seen.violation[three]
        ours, distance = loss[:, : self._own], log_distance(one, other)
        return rivals.may_replace(loss, violation, ours, self._track.column, distance)

    def _held(self, seen: Compared) -> NDArray[np.bool_]:
        """Return at which values the first of some designs are the answer."""
        own, column = self._own, self._track.column
        held: NDArray[np.bool_] = np.asarray(seen.feasible[:, :own].all(axis=1))
        if self._track.tracked.counts and self._counts.size:
            held &= (seen.counts[:, :own] == self._counts).all(axis=(1, 2))
        if column is not None:
            keys = np.concatenate([seen.loss[:, :, [column]], seen.loss], axis=2)
            return np.asarray(held & ~(rivals.beats(keys, keys[:, :1]) & seen.feasible).any(axis=1))
        for at in np.flatnonzero(held).tolist():
            rows = np.flatnonzero(seen.feasible[at])
            best = rows[nondominated(seen.loss[at, rows])]
            held[at] = np.array_equal(best, np.arange(own))
        return held

    def _refined(self, rows: Index, inside: float, outside: float) -> tuple[float, float]:
        """Return how far they hold against designs between two close values, more precisely."""
        track, scale = self._track, self._track.scale
        every = np.vstack([self._answer.rows, rows])
        seen = track.compare(every, [inside, outside, scale.middle(inside, outside)])
        may = self._may_replace(seen, [0, 1, 2], inside, outside)
        may[: self._own] = True
        while not scale.is_close(inside, outside, PRECISE):
            values = scale.cut(inside, outside, PRECISE, 5)
            held = self._held(track.compare(every[may], values))[1:-1].tolist()
            first = held.index(False) if False in held else len(held)
            inside, outside = values[first], values[first + 1]
        return inside, outside

    def _beyond(self, outside: float) -> AnswerDesigns:
        """Return the answer where they hold no longer."""
        track = self._track
        inside = [rows for ends, rows in self.screened if min(ends) <= outside <= max(ends)]
        if inside:
            rows = distinct(np.vstack([self._answer.rows, track.rows, *inside]))
        else:
            rows = track.pick(outside).rows
        track.rows = distinct(np.vstack([track.rows, rows]))
        if track.tracked.by:  # another design may count as the same answer
            found = answer_among(track.at(outside), rows, track.tracked)
            if not np.array_equal(found.rows, self._answer.rows):
                return found
        return answer_instead(track.at(outside), rows, track.tracked, self._answer)


def _without(rows: Index, others: Index) -> Index:
    known = {row.tobytes() for row in others}
    return rows[[row.tobytes() not in known for row in rows]]


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

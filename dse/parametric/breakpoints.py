"""How far along one number an answer holds, and what the answer is beyond.

Where one loss decides, or the whole front is followed, this is proven (`proven`).  Where a knee, an
expression or a tolerance decides, the space is searched exactly at some values, and again just
inside of where designs that are known say that the answer ends.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from dse.errors import ContractError, NotFiniteError, TooLargeError, UnitError
from dse.model.evaluation import distinct
from dse.parametric.proven import EFFORT, PRECISE, ProvenAnswer
from dse.parametric.scale import NARROW
from dse.parametric.screen import Screen, screened
from dse.parametric.track import Asking, Track, in_step, in_steps
from dse.parametric.tracked_answer import AnswerDesigns, Breakpoint, answer_instead
from dse.search.exact.work import EffortError

PROBES = 8
"""Values of exact searches on each side, where an interval is not proven."""

EXAMINED = 2**16
"""Designs times values that are examined where nothing fits, along what moves in steps."""

TOO_MANY = "the design space is too large for an exact search"
OVERFLOW = "a quantity overflows"
"""Why a range ends early."""


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

"""Answering what several followers ask: one evaluation and one descent for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError, DseError, TooLargeError
from dse.model.problem import Problem
from dse.model.space import Space
from dse.search.exact.work import CALL, EffortError, spend
from dse.stability.follow import Ends, Follower
from dse.stability.holding import Asked, Compare, Compared
from dse.stability.moved import TOGETHER, MovedDesigns, MovedPart, widest
from dse.stability.screen import Screen, screened

PORTION = 500_000
"""Designs at values that are compared before those who asked go on."""


def follow_together(problem: Problem, followers: Mapping[str, Follower]) -> dict[str, Ends]:
    """Return both ends for each follower by name.

    Those that were not done when the time was over are left out.
    """
    found: dict[str, Ends] = {}
    if not followers:
        return found
    column = next(iter(followers.values())).column
    reached = [end for follower in followers.values() for end in follower.problems]
    space = widest(problem, [problem, *reached])
    running = {name: follower.ends() for name, follower in followers.items()}
    replies: dict[str, list[Any]] = {name: [] for name in running}
    waiting: dict[str, Sequence[Asked]] = {}
    with suppress(EffortError):
        while replies or waiting:
            again: dict[str, DseError] = {}
            for name, reply in replies.items():
                try:
                    waiting[name] = running[name].send(reply or None)  # type: ignore[arg-type]
                except StopIteration as done:
                    found[name] = done.value
                except EffortError:
                    raise
                except (TooLargeError, ContractError) as error:
                    again[name] = error
            asked = _portion(waiting)
            try:
                replies = _answered(problem, space, asked, column)
            except ContractError:
                replies = _answered_alone(problem, space, asked, column, again)
            for name, why in again.items():
                followers[name].shorten(why)
                running[name], replies[name] = followers[name].ends(), []
    return found


def _portion(waiting: dict[str, Sequence[Asked]]) -> dict[str, Sequence[Asked]]:
    """Take the questions of the first followers, as many as are answered together."""
    taken: dict[str, Sequence[Asked]] = {}
    count = 0
    while waiting and count < PORTION:
        name = next(iter(waiting))
        taken[name] = waiting.pop(name)
        count += sum(len(one) if isinstance(one, Compare) else TOGETHER for one in taken[name])
    return taken


def _answered_alone(
    problem: Problem,
    space: Space,
    asked: Mapping[str, Sequence[Asked]],
    column: int,
    failed: dict[str, DseError],
) -> dict[str, list[Any]]:
    """Answer those whose designs can be evaluated; the errors of others are `failed`."""
    replies: dict[str, list[Any]] = {}
    for name, some in asked.items():
        try:
            replies |= _answered(problem, space, {name: some}, column)
        except ContractError as error:
            failed[name] = error
    return replies


def _answered(
    problem: Problem, space: Space, asked: Mapping[str, Sequence[Asked]], column: int
) -> dict[str, list[Any]]:
    """Answer all questions of a kind together."""
    every = [one for some in asked.values() for one in some]
    compares = [one for one in every if isinstance(one, Compare)]
    screens = [one for one in every if isinstance(one, Screen)]
    compared = iter(_compared(problem, space, compares))
    found = iter(screened(problem, screens, column))
    return {
        name: [next(compared if isinstance(one, Compare) else found) for one in some]
        for name, some in asked.items()
    }


def _parts(asked: Sequence[Compare]) -> Iterator[MovedPart]:
    for ask in asked:
        step = max(1, TOGETHER // len(ask.rows))
        for first in range(0, len(ask.values), step):
            yield MovedPart(ask.entry, ask.values[first : first + step], ask.rows)


def _evaluated(
    problem: Problem, space: Space, parts: Sequence[MovedPart]
) -> list[NDArray[np.float64]]:
    """Return losses, violations and least instances of parts, some evaluated at a time."""
    found = []
    first = count = 0
    for last, part in enumerate(parts, 1):
        count += len(part)
        if count < TOGETHER and last < len(parts):
            continue
        spend(CALL + count)
        moved = MovedDesigns(problem, space, parts[first:last])
        evaluation = moved.evaluate()
        found.append((evaluation.loss, evaluation.violation, moved.least_counts()))
        first, count = last, 0
    return [np.concatenate(tables) for tables in zip(*found, strict=True)]


def _compared(problem: Problem, space: Space, asked: Sequence[Compare]) -> list[Compared]:
    if not asked:
        return []
    tables = _evaluated(problem, space, list(_parts(asked)))
    found = []
    end = 0
    for ask in asked:
        shape = (len(ask.values), len(ask.rows))
        start, end = end, end + shape[0] * shape[1]
        loss, violation, counts = (
            np.ascontiguousarray(table[start:end]).reshape(*shape, table.shape[1])
            for table in tables
        )
        if (ask.rows >= np.array(ask.least)).any():  # the space grows with the number
            for at, value in enumerate(ask.values):
                beyond = (ask.rows >= np.array(ask.entry.at(value).sizes)).any(axis=1)
                violation[at, beyond] = np.inf
        found.append(Compared(loss, violation, counts))
    return found

"""Answering what several followers ask: one evaluation and one descent for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError, TooLargeError
from dse.model.problem import Problem
from dse.model.space import Space
from dse.stability.follow import Asked, Compare, Compared, Ends, Follower, UnfollowedError
from dse.stability.moved import TOGETHER, Moved, Part, widest
from dse.stability.screen import Screen, screened


def follow_together(problem: Problem, followers: Sequence[Follower]) -> list[Ends | None]:
    """Return both ends for each follower, None for what has to be tracked from point to point."""
    found: list[Ends | None] = [None] * len(followers)
    if not followers:
        return found
    column = followers[0].column
    reached = [end for follower in followers for end in follower.problems]
    space = widest(problem, [problem, *reached])
    running = {number: follower.ends() for number, follower in enumerate(followers)}
    replies: dict[int, list[Any]] = {number: [] for number in running}
    while replies:
        asked: dict[int, Sequence[Asked]] = {}
        for number, reply in replies.items():
            try:
                asked[number] = running[number].send(reply or None)  # type: ignore[arg-type]
            except StopIteration as done:
                found[number] = done.value
            except (UnfollowedError, TooLargeError, ContractError):
                pass
        try:
            replies = _answered(problem, space, asked, column)
        except ContractError:
            replies = _answered_alone(problem, space, asked, column)
    return found


def _answered_alone(
    problem: Problem, space: Space, asked: Mapping[int, Sequence[Asked]], column: int
) -> dict[int, list[Any]]:
    """Answer those whose designs can be evaluated; whose fault it is shows point by point."""
    replies: dict[int, list[Any]] = {}
    for number, some in asked.items():
        with suppress(ContractError):
            replies |= _answered(problem, space, {number: some}, column)
    return replies


def _answered(
    problem: Problem, space: Space, asked: Mapping[int, Sequence[Asked]], column: int
) -> dict[int, list[Any]]:
    """Answer all questions of a kind together."""
    places = [(number, at) for number, some in asked.items() for at in range(len(some))]
    every = [asked[number][at] for number, at in places]
    compares = [one for one in every if isinstance(one, Compare)]
    screens = [one for one in every if isinstance(one, Screen)]
    compared = iter(_compared(problem, space, compares))
    found = iter(screened(problem, screens, column))
    replies: dict[int, list[Any]] = {number: [] for number in asked}
    for (number, _), one in zip(places, every, strict=True):
        replies[number].append(next(compared if isinstance(one, Compare) else found))
    return replies


def _parts(asked: Sequence[Compare]) -> Iterator[Part]:
    for ask in asked:
        step = max(1, TOGETHER // len(ask.rows))
        for first in range(0, len(ask.values), step):
            yield Part(ask.entry, ask.values[first : first + step], ask.rows)


def _evaluated(problem: Problem, space: Space, parts: Sequence[Part]) -> list[NDArray[np.float64]]:
    """Return losses, violations and least instances of parts, some evaluated at a time."""
    found = []
    first = count = 0
    for last, part in enumerate(parts, 1):
        count += len(part)
        if count < TOGETHER and last < len(parts):
            continue
        moved = Moved(problem, space, parts[first:last])
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

"""Challenging a front: designs to compare with it, and its rows that they dominate.

Shares no code with the searches or with `dse.model.front`, so that an error there cannot hide here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import distinct
from dse.model.problem import Problem
from dse.model.space import Index

RIVAL_CHUNK = 65_536
"""Designs evaluated at once."""

COMPARISONS = 4_000_000
"""Pairs of rows compared at once."""

STEPS_SHARE = 4
"""One two-step neighbour is drawn for so many random designs."""

ROUNDED = 1e-11
"""Relative difference below which losses may be of equal designs, rounded differently."""

Loss = NDArray[np.float64]


def at_most(loss: Loss) -> Loss:
    """Return the upper ends of losses (n, m) that are equal up to rounding."""
    return loss + ROUNDED * np.abs(loss)


def dominated_rows(loss: Loss) -> list[tuple[int, int]]:
    """Return pairs of rows of a loss (n, m): one, and one that dominates it, of every two."""
    found = []
    step = max(1, COMPARISONS // max(1, len(loss)))
    for start in range(0, len(loss), step):
        part = loss[start : start + step]
        no_worse = np.ones((len(part), len(loss)), dtype=bool)
        better = np.zeros_like(no_worse)
        for mine, theirs in zip(part.T, loss.T, strict=True):
            no_worse &= theirs <= mine[:, np.newaxis]
            better |= theirs < mine[:, np.newaxis]
        dominated = no_worse & better
        for row in np.flatnonzero(dominated.any(axis=1)):
            found.append((start + int(row), int(np.argmax(dominated[row]))))
    return found


def weakly_dominating(loss: Loss, front: Loss) -> NDArray[np.int64]:
    """Return, for each row of `loss` (n, m), a row of `front` that is nowhere worse, else -1."""
    dominating = np.full(len(loss), -1, dtype=np.int64)
    if not len(front):
        return dominating
    spread = np.ptp(front, axis=0)
    merit = (front / np.where(spread > 0, spread, 1.0)).sum(axis=1)
    rows, left = np.arange(len(loss)), loss.T
    for row in np.argsort(merit, kind="stable"):  # those that dominate much come first
        dominated = np.ones(left.shape[1], dtype=bool)
        for column, value in zip(left, front[row], strict=True):
            dominated &= column >= value
        if dominated.any():
            dominating[rows[dominated]] = row
            rows, left = rows[~dominated], left[:, ~dominated]
            if not len(rows):
                break
    return dominating


def rival_designs(
    problem: Problem, front: Index, trials: int, random: np.random.Generator
) -> Iterator[Index]:
    """Yield designs in chunks: all if there are at most `trials`, else a sample.

    The sample has the host's designs, `trials` random designs, every design one step of one axis
    away from the `front`, (p, d), and two steps away all designs if they are few, else some.
    """
    if len(problem.hosts):
        yield problem.hosts
    front = front[(front >= 0).all(axis=1)]
    sizes = np.array(problem.sizes, dtype=np.int64)
    if problem.size <= trials:
        for start in range(0, problem.size, RIVAL_CHUNK):
            rows = np.arange(start, min(start + RIVAL_CHUNK, problem.size))
            yield (
                np.stack(np.unravel_index(rows, problem.sizes), axis=1)
                if len(sizes)
                else (np.zeros((len(rows), 0), dtype=np.int64))
            )
        return
    for start in range(0, trials, RIVAL_CHUNK):
        count = min(RIVAL_CHUNK, trials - start)
        yield random.integers(0, sizes, (count, len(sizes)), dtype=np.int64)
    if not len(front):
        return
    yield from _neighbours(problem, front, max(1, trials // STEPS_SHARE), random)


def _neighbours(
    problem: Problem, front: Index, most: int, random: np.random.Generator
) -> Iterator[Index]:
    """Yield every design one step from the front, and up to about `most` two steps from it."""
    reach = sum(2 if o else n - 1 for n, o in zip(problem.sizes, problem.ordered, strict=True))
    part = max(1, RIVAL_CHUNK // max(1, reach))
    few = len(front) * reach**2 <= most
    for start in range(0, len(front), part):
        near = steps(front[start : start + part], problem)
        yield near
        if few:
            far = steps(near, problem)
            yield from (
                far[first : first + RIVAL_CHUNK] for first in range(0, len(far), RIVAL_CHUNK)
            )
    for start in range(0, 0 if few else most, RIVAL_CHUNK):
        chosen = random.integers(0, len(front), min(RIVAL_CHUNK, most - start))
        yield _walk(front[chosen], problem, random)


def steps(index: Index, problem: Problem) -> Index:
    """Return every design one step away from `index`, each once.

    A step goes to the next value of an ordered axis, or to any other value of a choice.
    """
    found = []
    for axis, (size, ordered) in enumerate(zip(problem.sizes, problem.ordered, strict=True)):
        moves = (-1, 1) if ordered else range(1, size)
        for move in moves:
            moved = index.copy()
            moved[:, axis] += move
            if not ordered:
                moved[:, axis] %= size
            inside = (moved[:, axis] >= 0) & (moved[:, axis] < size)
            found.append(moved[inside])
    return distinct(np.concatenate([index[:0], *found]))


def _walk(index: Index, problem: Problem, random: np.random.Generator) -> Index:
    """Return each design after two random steps, each along a random axis."""
    sizes, ordered = np.array(problem.sizes), np.array(problem.ordered)
    free = np.flatnonzero(sizes > 1)
    walked, rows = index.copy(), np.arange(len(index))
    for _ in range(2 if len(free) else 0):
        axis = free[random.integers(0, len(free), len(index))]
        sign = random.choice(np.array([-1, 1]), len(index))
        jump = random.integers(1, sizes[axis])
        to = walked[rows, axis] + np.where(ordered[axis], sign, jump)
        walked[rows, axis] = np.where(
            ordered[axis], np.clip(to, 0, sizes[axis] - 1), to % sizes[axis]
        )
    return distinct(walked)

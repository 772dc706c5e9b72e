"""Stages that are alike: exchanging their fleets makes other designs of equal objective values.

All of them belong on the front.  In long chains they are more than composition holds, which is
told here from how many orders there are, before it looks for each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from dse.contract import CoreMetrics
from dse.model.problem import Problem
from dse.model.space import Index
from dse.search.exact.partial import StageParts
from dse.search.exact.ties import close, require_few

TRIED = 64
"""Orders of fleets that are evaluated, to see that they are equal."""

PARTIAL = 2
"""Looking for them holds about so many partial designs for each."""


def check_alike(problem: Problem, parts: Sequence[StageParts], front: Index) -> None:
    """Raise `NotComposedError` when a design of the front, (n, d), has too many equal ones."""
    for group in _groups(problem, parts):
        orders = [_orders(group, row) for row in front]
        most = int(np.argmax(np.array(orders, dtype=np.float64))) if orders else 0
        if orders and _are_equal(problem, group, front[most]):
            require_few(PARTIAL * orders[most])


def _groups(problem: Problem, parts: Sequence[StageParts]) -> Iterator[list[StageParts]]:
    """Yield stages with the same fleets, as far as they are more than one."""
    found: list[list[StageParts]] = []
    for part in parts:
        group = next((group for group in found if _same(problem, group[0], part)), None)
        if group is None:
            found.append([part])
        else:
            group.append(part)
    yield from (group for group in found if len(group) > 1)


def _same(problem: Problem, one: StageParts, other: StageParts) -> bool:
    first, second = one.stage, other.stage
    if (first.mixed, first.clocked) != (second.mixed, second.clocked):
        return False
    if [one.designs.get(k) for k in one.places] != [other.designs.get(k) for k in other.places]:
        return False
    axes = problem.space.axes
    pairs = [
        (getattr(first.designs.metrics, name), getattr(second.designs.metrics, name))
        for name in CoreMetrics.__dataclass_fields__
    ]
    for mine, theirs in zip(one.places, other.places, strict=True):
        pairs += zip(axes[mine].columns.values(), axes[theirs].columns.values(), strict=True)
    return all(np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in pairs)


def _orders(group: Sequence[StageParts], row: Index) -> int:
    """Return in how many orders the fleets of a design may be along stages that are alike."""
    counts = Counter(tuple(row[list(part.places)].tolist()) for part in group)
    return math.factorial(len(group)) // math.prod(map(math.factorial, counts.values()))


def _are_equal(problem: Problem, group: Sequence[StageParts], row: Index) -> bool:
    """Tell whether random orders of the fleets of a design have its objective values."""
    places = np.array([part.places for part in group])
    random = np.random.default_rng(0)
    designs = np.repeat(row[np.newaxis], TRIED + 1, axis=0)
    for number in range(1, TRIED + 1):
        designs[number, places] = row[places[random.permutation(len(group))]]
    evaluated = problem.evaluate(designs)
    equal = close(evaluated.loss, np.broadcast_to(evaluated.loss[0], evaluated.loss.shape))
    return bool((evaluated.feasible & equal).all())

"""What no point of a front dominates, cut into boxes."""

from __future__ import annotations

import itertools

import numpy as np

from dse.contract import Column, Matrix
from dse.model.front import nondominated
from dse.model.matrices import distinct

Box = tuple[tuple[float, float], ...]

MOST_POINTS = {1: 1, 2: 1_000, 3: 200, 4: 24, 5: 12}
"""Most points of a front of so many objectives that count; of more objectives, `FEWEST`."""

FEWEST = 8


def boxes(front: Matrix, reference: Column) -> Matrix:
    """Return disjoint boxes (b, 2, m), low and high corners, of what the front leaves open.

    They hold all y < reference that no point of the front dominates; what is low without limit
    starts at -inf.  A sweep along the last objective: between two points, the open region is
    that of the points passed, in one objective less, and boxes that do not change go on.
    (The partition of Lacour, Klamroth and Fonseca 2017 has fewer boxes from 4 objectives on.)

    Parameters
    ----------
    front
        (n, m), m >= 1, minimised; dominated points and those beyond the reference do not count.
    """
    inside = distinct(front[(front < reference).all(axis=1)])
    if len(inside):
        inside = inside[nondominated(inside)]
    found = _cut([tuple(row) for row in _fewer(inside).tolist()], tuple(reference.tolist()))
    rows = np.array(found, dtype=np.float64).reshape(-1, len(reference), 2)
    return rows.transpose(0, 2, 1)


def _fewer(front: Matrix) -> Matrix:
    """Return the front, or as many of its points as count, evenly along the first objective."""
    most = MOST_POINTS.get(front.shape[1], FEWEST)
    if len(front) <= most:
        return front
    fewer: Matrix = front[np.linspace(0, len(front) - 1, most).round().astype(int)]
    return fewer


def _cut(front: list[tuple[float, ...]], reference: tuple[float, ...]) -> list[Box]:
    *fewer, last = reference
    if not fewer:
        low = min((point[0] for point in front), default=last)
        return [((-np.inf, min(low, last)),)]
    levels = sorted({point[-1] for point in front})
    done: list[Box] = []
    open_since: dict[Box, float] = {}
    for start, end in itertools.pairwise([-np.inf, *levels, last]):
        passed = [point[:-1] for point in front if point[-1] <= start]
        now = dict.fromkeys(_cut(_best(passed), tuple(fewer)), start)
        done += [(*box, (since, start)) for box, since in open_since.items() if box not in now]
        open_since = {box: open_since.get(box, since) for box, since in now.items()}
        if end == last:
            done += [(*box, (since, end)) for box, since in open_since.items()]
    return done


def _best(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return the points that no other dominates, each once."""
    if len(points) < 2 or len(points[0]) == 1:
        return [min(points)] if points else []
    rows = distinct(np.array(points))
    return [tuple(row) for row in rows[nondominated(rows)].tolist()]

"""Which designs of a large front are shown: the best ones, and others far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse.reports.front_view import FrontView, Values, is_long

RULE = "the best in each objective, the recommended one, and those farthest from all before"
"""How `shown_rows` chooses, in words."""

MOST_CANDIDATES = 100_000
"""Of more designs so many are looked at, drawn at random: the work is theirs by those shown."""


def shown_rows(view: FrontView, most: int) -> NDArray[np.intp]:
    """Return at most `most` rows of a front, in order, the same ones every time.

    The recommended design and the best in each objective come first.  Then that design follows
    whose nearest chosen one is farthest (Gonzalez, Theoretical Computer Science 38, 1985), by
    objectives and swept value, each scaled to [0, 1], or its logarithm where it is a long one.
    """
    if view.size <= most:
        return np.arange(view.size)
    telling = [view.recommended.row] if view.recommended else []
    telling += [view.best(name) for name, _ in view.objectives]
    chosen = list(dict.fromkeys(telling))[:most]
    candidates = np.arange(view.size)
    if view.size > MOST_CANDIDATES:
        drawn = np.random.default_rng(0).choice(view.size, MOST_CANDIDATES, replace=False)
        candidates = np.union1d(drawn, chosen)
    points = np.stack([values[candidates] for values in _scaled(view)])
    nearest = np.full(len(candidates), np.inf)
    for row in chosen:
        _approach(nearest, points, int(np.searchsorted(candidates, row)))
    while len(chosen) < most:
        place = int(nearest.argmax())
        chosen.append(int(candidates[place]))
        _approach(nearest, points, place)
    return np.sort(np.array(chosen, dtype=np.intp))


def _approach(nearest: Values, points: Values, place: int) -> None:
    """Let `nearest` be the squared distance to the next chosen point, -1 for that point itself."""
    distance = ((points - points[:, [place]]) ** 2).sum(axis=0)
    np.minimum(nearest, distance, out=nearest)
    nearest[place] = -1.0


def _scaled(view: FrontView) -> list[Values]:
    names = [name for name, _ in view.objectives] + [name for name in (view.sweep,) if name]
    scaled = []
    for name in names:
        values = view.front[name]
        if values.dtype.kind not in "fiub":
            values = np.unique(values.astype(str), return_inverse=True)[1]
        values = values.astype(np.float64)
        if is_long(values.min(), values.max()):
            values = np.log(values)
        spread = np.ptp(values)
        scaled.append((values - values.min()) / (spread if spread > 0 else 1.0))
    return scaled

"""The first designs of an expensive search: the ends of all axes, and some in between."""

from __future__ import annotations

import numpy as np

from dse.contract import Index
from dse.contract.methods import Axes
from dse.search.heuristic.scales import Scales

BETWEEN = 8
"""Designs between the ends."""


def extremes(axes: Axes, random: np.random.Generator) -> Index:
    """Return the lowest and the highest design, and the lowest with each axis alone at its end.

    The lowest one and its neighbours are often on a front: hardware costs more with each knob.
    Choices, which have no end, take all their values in turn, as far as there are rows.
    """
    sizes = np.array(axes.sizes, dtype=np.int64)
    ordered = np.flatnonzero(np.array(axes.ordered) & (sizes > 1))
    rows: Index = np.zeros((2 + len(ordered), len(sizes)), dtype=np.int64)
    rows[1, ordered] = sizes[ordered] - 1
    rows[2 + np.arange(len(ordered)), ordered] = sizes[ordered] - 1
    for axis in np.flatnonzero(~np.array(axes.ordered)).tolist():
        values = random.permutation(axes.sizes[axis])
        rows[:, axis] = values[random.permutation(np.arange(len(rows)) % axes.sizes[axis])]
    return rows


def between(axes: Axes, random: np.random.Generator, count: int) -> Index:
    """Return a Latin hypercube of `count` designs: each axis evenly over its scale."""
    scales = Scales(axes)
    strata = np.tile(np.arange(count), (len(axes.sizes), 1))
    shares = (random.permuted(strata, axis=1).T + 0.5) / count
    rows: Index = np.floor(shares * np.array(axes.sizes)).astype(np.int64)
    rows[:, scales.ordered] = scales.nearest(shares[:, scales.ordered])
    return rows

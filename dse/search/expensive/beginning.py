"""The first designs of an expensive search: the ends of all axes, and some in between."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from dse.contract import Index
from dse.contract.methods import Axes
from dse.search.heuristic.scales import Scales

BETWEEN = 8
"""Designs between the ends."""

PRIMES = (3, 7, 11, 19, 23)
"""Axes for which Paley's construction gives a two-level design, one row more than axes."""


def ends(axes: Axes, random: np.random.Generator) -> Index:
    """Return designs in which every two axes meet at all four pairs of their ends, equally often.

    Plackett and Burman, "The design of optimum multifactorial experiments", Biometrika 33 (1946):
    4, 8, 12, 20 or 24 designs; from 24 axes on columns repeat.  Which end is which, and which
    column which axis, is drawn.  Choices take all their values in turn, as far as there are rows.
    """
    sizes = np.array(axes.sizes, dtype=np.int64)
    varied = int((sizes > 1).sum())
    prime = next((prime for prime in PRIMES if prime >= varied), PRIMES[-1])
    high = _two_levels(prime)[:, random.permutation(prime)]
    high = np.insert(high, 1, values=True, axis=0)
    rows: Index = np.zeros((len(high), len(sizes)), dtype=np.int64)
    columns = itertools.cycle(range(prime))
    for axis, (size, ordered) in enumerate(zip(axes.sizes, axes.ordered, strict=True)):
        if ordered and size > 1:
            rows[:, axis] = high[:, next(columns)] * (size - 1)
        elif size > 1:
            turn = np.arange(len(rows)) % size
            rows[:, axis] = random.permutation(size)[random.permutation(turn)]
    return rows


def between(axes: Axes, random: np.random.Generator, count: int) -> Index:
    """Return a Latin hypercube of `count` designs: each axis evenly over its scale."""
    scales = Scales(axes)
    shares = (random.permuted(np.tile(np.arange(count), (len(axes.sizes), 1)), axis=1).T + 0.5) / (
        count
    )
    rows: Index = np.floor(shares * np.array(axes.sizes)).astype(np.int64)
    rows[:, scales.ordered] = scales.nearest(shares[:, scales.ordered])
    return rows


def _two_levels(prime: int) -> NDArray[np.bool_]:
    """Return a two-level design of strength two, (prime + 1, prime), its first row all low."""
    residues = {(number * number) % prime for number in range(prime)}
    first = np.array([number in residues for number in range(prime)])
    rows = [np.roll(first, shift) for shift in range(prime)]
    return np.array([np.zeros(prime, dtype=bool), *rows])

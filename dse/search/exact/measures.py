"""What is to be low in a fleet or a chain of fleets: traits, or their negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.contract import Column
from dse.model.fleet import Traits

Directions = tuple[tuple[bool, bool], ...]
"""Whether low and high values of each trait are wanted, in the order of the traits."""

Matrix = Column
"""Measures of fleets or chains, (n, measures)."""


@dataclass(frozen=True)
class Measure:
    """A trait, or its negative, of which low values are wanted.

    Attributes
    ----------
    name
        Of the trait.
    high
        Whether high values of the trait are wanted.
    stage
        The position of the only stage that it is of; None for a trait that stages join.
    join
        How stages join it: ``sum``, ``worst`` or ``best``.
    """

    name: str
    high: bool
    stage: int | None
    join: str

    def of(self, values: Column) -> Column:
        """Return the measure of a trait's values, or back."""
        finite = np.clip(values, -np.finfo(float).max, np.finfo(float).max)
        return -finite if self.high else finite


def in_each_measure(wanted: Sequence[Measure], traits: Traits, stage: int) -> Matrix:
    """Return the measures of fleets of one stage; a column of zeros when nothing is wanted."""
    count = len(next(iter(traits.values())))
    found = np.zeros((count, max(len(wanted), 1)))
    for column, one in enumerate(wanted):
        if one.stage is None or one.stage == stage:
            found[:, column] = one.of(traits[one.name])
    return found


def joined(wanted: Sequence[Measure], first: Matrix, second: Matrix) -> Matrix:
    """Return the measures of chains that are put together of two parts, row by row."""
    found: Matrix = first + second
    for column, one in enumerate(wanted):
        if one.join != "sum":
            join = np.maximum if one.join == "worst" else np.minimum
            found[:, column] = join(first[:, column], second[:, column])
    return found

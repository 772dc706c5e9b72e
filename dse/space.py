"""The design space: axes with finitely many values, addressed by index.

A design point is a row of integers, one per axis, so that the same design is the same row in
every method and duplicates are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column

Index = NDArray[np.int64]
"""Design points, shape (n, d): the position of each axis value."""


@dataclass(frozen=True)
class Axis:
    """One free choice of a study.

    Attributes
    ----------
    name
        Dotted path as written in the study, or ``<stage>.<design>`` for a count.
    columns
        What choosing a value sets: column name -> one number per value.
    labels
        Each value as it is shown; for a number the number itself.
    unit_name
        Column that carries the axis value itself, empty when values are choices by name.
    ordered
        False for choices without an order.
    """

    name: str
    columns: Mapping[str, Column]
    labels: tuple[str, ...]
    unit_name: str = ""
    ordered: bool = True

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.labels)


@dataclass(frozen=True)
class Space:
    """The product of `axes`; `constants` are columns that every design shares."""

    axes: tuple[Axis, ...]
    constants: Mapping[str, Column] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of designs (an exact integer, however large)."""
        return math.prod(self.sizes)

    def columns(self, index: Index) -> dict[str, Column]:
        """Return the columns that the designs `index` (n, d) set: arrays (n,), constants (1,).

        A later axis overrides an earlier one, and every axis the constants.
        """
        columns: dict[str, Column] = dict(self.constants)
        for position, axis in enumerate(self.axes):
            choice = index[:, position]
            for name, values in axis.columns.items():
                columns[name] = values[choice]
        return columns


def constant(value: float) -> Column:
    """Return a column of one row, which broadcasts against any other."""
    return np.array([value], dtype=np.float64)


def index_of(axis: Axis, label: str) -> int:
    """Return the position of the value shown as `label`; ValueError when there is none."""
    return axis.labels.index(label)


def product_text(sizes: Sequence[int]) -> str:
    """Return the size of a space as a product, for messages: ``6 x 40 = 240``."""
    factors = " x ".join(str(size) for size in sizes if size > 1) or "1"
    return f"{factors} = {math.prod(sizes):,}".replace(",", " ")

"""Designs as points of a cube, and losses on a scale of straight laws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dse.contract import Column, Index, Matrix
from dse.contract.methods import Axes

_MOST_CHOICES = 32
"""Choices among more values than this are taken in the order in which they are written."""


class Features:
    """Designs as rows of numbers in [0, 1].

    An ordered axis is one feature, its place on the axis's scale.  A choice has a feature of 0 or 1
    for each of its values but the first.  Axes of one value have none.
    """

    def __init__(self, axes: Axes) -> None:
        """Tabulate the features of each value of each axis."""
        self._axes = [axis for axis, size in enumerate(axes.sizes) if size > 1]
        self._tables: list[Matrix] = []
        for axis in self._axes:
            size, scale = axes.sizes[axis], axes.coordinates[axis]
            if scale is not None:
                self._tables.append(np.asarray(scale, dtype=np.float64)[:, None])
            elif size <= _MOST_CHOICES:
                self._tables.append(np.eye(size)[:, 1:])
            else:
                self._tables.append(np.linspace(0.0, 1.0, size)[:, None])

    def of(self, index: Index) -> Matrix:
        """Return the features (n, f) of designs (n, d), one of zeros if no axis has two values."""
        found = [
            table[index[:, axis]] for axis, table in zip(self._axes, self._tables, strict=True)
        ]
        return np.concatenate(found, axis=1) if found else np.zeros((len(index), 1))


@dataclass(frozen=True)
class Straight:
    """The scale of a modelled loss.

    log(y) if all losses are above 0, -log(-y) if all are below, else asinh(y / s), with the median
    s of |y| other than 0: close to log far from 0.
    """

    sign: float
    scale: float

    def __call__(self, loss: Column) -> Column:
        """Return losses on this scale, in the same order, NaN outside it."""
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.sign:
                found = self.sign * np.log(self.sign * loss)
            else:
                found = np.arcsinh(loss / self.scale)
        return np.where(np.isfinite(found), found, np.nan)


def straight(loss: Column) -> Straight:
    """Return the scale for losses (n,), finite."""
    if (loss > 0).all():
        return Straight(1.0, 1.0)
    if (loss < 0).all():
        return Straight(-1.0, 1.0)
    size = np.abs(loss[loss != 0])
    return Straight(0.0, float(np.median(size)) if len(size) else 1.0)

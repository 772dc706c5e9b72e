"""Axes as parameters of Optuna under their own names, with values as a study shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from dse.model.space import Axis

MOST_LABELS = 64
"""Values of an ordered axis that are labels to Optuna: a storage keeps all with each trial."""

LARGEST_WHOLE = 2.0**53

Row = tuple[int, ...]
"""A design: a position on each axis."""


@dataclass(frozen=True)
class NamedParameter:
    """An axis as a parameter that a person can read.

    Whole numbers at even distances are such to Optuna, in SI units.  Choices and other short axes
    are categories named by their labels, whose order Optuna does not know.  A longer axis is a real
    number in SI units, on a logarithmic scale where the axis is on one, and rounded to the nearest
    value; one that carries no number is a position, counted from 0.
    """

    axis: Axis

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The values of an axis that are numbers to Optuna, (n,), None for labels."""
        axis = self.axis
        values = axis.columns[axis.unit_name] if axis.unit_name else np.arange(float(axis.size))
        if not axis.ordered:
            return None
        labelled = axis.size <= MOST_LABELS and len({*axis.labels}) == axis.size
        return values if self._whole(values) or not labelled else None

    @cached_property
    def distribution(self) -> BaseDistribution:
        """The values among which Optuna chooses."""
        numbers = self.numbers
        if numbers is None:
            return CategoricalDistribution([*self.axis.labels])
        low, high = float(numbers.min()), float(numbers.max())
        if self._whole(numbers):
            step = abs(int(numbers[1] - numbers[0])) if len(numbers) > 1 else 1
            return IntDistribution(int(low), int(high), step=step)
        return FloatDistribution(low, high, log=self.axis.log)

    def value(self, position: int) -> Any:
        """Return the value at a position."""
        if self.numbers is None:
            return self.axis.labels[position]
        number = float(self.numbers[position])
        return int(number) if self._whole(self.numbers) else number

    def position(self, value: Any) -> int:
        """Return the position of a value; `ValueError` or `TypeError` where it is none."""
        if self.numbers is None:
            return self.axis.labels.index(value)
        if not self.numbers.min() <= float(value) <= self.numbers.max():
            raise ValueError(f"{self.axis.name} has no value {value}")
        scaled = np.log if self.axis.log else np.asarray
        return int(np.argmin(np.abs(scaled(self.numbers) - scaled(float(value)))))

    def _whole(self, values: NDArray[np.float64]) -> bool:
        steps = np.diff(values)
        even = len({*steps.tolist()}) <= 1 and bool((steps != 0).all())
        return even and bool(
            (values == np.round(values)).all() & (abs(values) < LARGEST_WHOLE).all()
        )


class NamedParameters:
    """Designs as parameters that a person can read; see `NamedParameter`."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        """Keep the axes; their order is that of the positions in a row."""
        self.axes = [NamedParameter(axis) for axis in axes]
        self.distributions = {each.axis.name: each.distribution for each in self.axes}

    def parameters(self, row: Sequence[int]) -> dict[str, Any]:
        """Return a design as parameters."""
        pairs = zip(self.axes, row, strict=True)
        return {each.axis.name: each.value(int(position)) for each, position in pairs}

    def row(self, parameters: Mapping[str, Any]) -> Row | None:
        """Return parameters as a design; None where one is missing, or no value of its axis."""
        try:
            return tuple(each.position(parameters[each.axis.name]) for each in self.axes)
        except (KeyError, ValueError, TypeError):
            return None

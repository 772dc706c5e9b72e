"""The design space: axes with finitely many values, addressed by index.

A design point is a row of integers, one per axis, so that the same design is the same row in
every method and duplicates are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.algebra.enclosure import Enclosure
from dse.contract import Column
from dse.contract import Index as Index
from dse.contract.evaluators import Value
from dse.errors import plural

HOST, NOWHERE = "host", -1
"""The device if the host works without accelerators, and its position on axes that it lacks."""

ALONE = "the host alone"
"""The name of the design without accelerators."""


@dataclass(frozen=True)
class Axis:
    """One free choice of a study.

    Attributes
    ----------
    name
        Dotted path as written in the study, or ``<stage>.<design>`` for a count.
    columns
        Columns that a value of the axis sets: column name -> one number per value.
    labels
        Each value as it is shown, which for a number is the number itself.
    unit_name
        Column that carries the axis value itself, empty if values are choices by name.
    ordered
        False for choices without an order.
    log
        True for values that are searched in their logarithm.
    """

    name: str
    columns: Mapping[str, Column]
    labels: Sequence[str]
    unit_name: str = ""
    ordered: bool = True
    log: bool = False

    @property
    def size(self) -> int:
        """Return the number of values."""
        return len(self.labels)

    @cached_property
    def places(self) -> Mapping[float | str, int]:
        """Return the position of each value, by the number in SI or text that evaluators get."""
        values = self.columns[self.unit_name].tolist() if self.ordered else self.labels
        return {value: place for place, value in enumerate(values)}

    def shown(self, choice: int) -> str:
        """Return a value with its unit, exactly."""
        if not units.suffix(self.unit_name):
            return self.labels[choice]
        return units.exact_text(float(self.columns[self.unit_name][choice]), self.unit_name)

    def cell_ends(self, name: str, step: int) -> tuple[Column, Column]:
        """Return the least and largest value of a column in each cell of `step` values."""
        values, starts = self.columns[name], np.arange(0, self.size, step)
        return np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)

    @cached_property
    def coordinates(self) -> Column | None:
        """Return the values on the scale of the axis, rising in [0, 1], or None for choices."""
        if not self.ordered:
            return None
        if not self.log or self.size == 1:
            return np.linspace(0.0, 1.0, self.size)
        scale = np.log(self.columns[self.unit_name])
        return np.asarray((scale - scale[0]) / (scale[-1] - scale[0]))


@dataclass(frozen=True)
class Block:
    """Consecutive designs of a space that form a product of ranges of its axes.

    Evaluated by broadcasting: an axis contributes each of its values once, in a separate
    dimension, so work that depends on few axes is done once for all others.  The whole space has
    `sizes`, and `ranges` are the first position and the number of positions of each axis.
    """

    sizes: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of values of each axis inside the block."""
        return tuple(count for _, count in self.ranges)

    def __len__(self) -> int:
        """Return the number of designs."""
        return math.prod(self.shape)

    def rows(self, chosen: NDArray[np.intp]) -> Index:
        """Return the designs at positions `chosen` of the block as an index (n, d)."""
        index = np.empty((len(chosen), len(self.sizes)), dtype=np.int64)
        index[:] = [first for first, _ in self.ranges]
        varied = [axis for axis, size in enumerate(self.shape) if size > 1]
        if varied:
            inside = np.unravel_index(chosen, tuple(self.shape[axis] for axis in varied))
            for axis, positions in zip(varied, inside, strict=True):
                index[:, axis] += positions
        return index


Points = Index | Block
"""Designs to evaluate."""


def one_block(sizes: tuple[int, ...]) -> Block:
    """Return a space as one block."""
    return Block(sizes, tuple((0, size) for size in sizes))


def as_index(points: Points, chosen: NDArray[np.intp] | None = None) -> Index:
    """Return designs as an index: all of them, or the designs at positions `chosen`."""
    if not isinstance(points, np.ndarray):
        return points.rows(np.arange(len(points)) if chosen is None else chosen)
    return points if chosen is None else points[chosen]


def blocks(sizes: tuple[int, ...], most: int) -> Iterator[Block]:
    """Divide a space into blocks of at most `most` designs, in lexicographic order."""
    inner = len(sizes)  # axes from here on are whole in every block
    whole = 1
    while inner and whole * sizes[inner - 1] <= most:
        inner -= 1
        whole *= sizes[inner]
    split = max(inner - 1, 0)  # this axis is cut into ranges
    step = max(1, most // whole)
    ends = tuple((0, size) for size in sizes[inner:])
    for outer in np.ndindex(*sizes[:split]):
        fixed = tuple((position, 1) for position in outer)
        if not inner:
            yield Block(sizes, ends)
            return
        for first in range(0, sizes[split], step):
            yield Block(sizes, (*fixed, (first, min(step, sizes[split] - first)), *ends))


@dataclass(frozen=True)
class Space:
    """The product of `axes`.  `constants` are columns that every design shares."""

    axes: tuple[Axis, ...]
    constants: Mapping[str, Column] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of values of each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """Return the number of designs (an exact integer, however large)."""
        return math.prod(self.sizes)

    def columns(
        self, points: Points, wanted: Callable[[str], bool] | None = None
    ) -> dict[str, Column]:
        """Return the columns that designs set, or the `wanted` ones.  Constants have one row.

        A later axis overrides an earlier one, and every axis the constants.  Columns of an
        index (n, d) have shape (n,), columns of a block one long dimension each.
        """
        columns: dict[str, Column] = dict(self.constants)
        for position, axis in enumerate(self.axes):
            for name, values in axis.columns.items():
                if wanted is not None and not wanted(name):
                    continue
                if isinstance(points, Block):
                    first, count = points.ranges[position]
                    shape = [1] * len(self.axes)
                    shape[position] = count
                    columns[name] = values[first : first + count].reshape(shape)
                else:
                    columns[name] = values[points[:, position]]
        return columns

    def restricted(self, kept: Mapping[int, Sequence[int]]) -> Space:
        """Return the space with only some positions of some axes, by the number of the axis."""
        axes = [*self.axes]
        for number, places in kept.items():
            axis = axes[number]
            columns = {name: values[list(places)] for name, values in axis.columns.items()}
            labels = tuple(axis.labels[place] for place in places)
            axes[number] = replace(axis, columns=columns, labels=labels)
        return Space(tuple(axes), self.constants)

    def values(self, name: str) -> Column:
        """Return the values of a column over all designs, empty if it is never set."""
        given = [self.constants, *(axis.columns for axis in self.axes)]
        return next((some[name] for some in reversed(given) if name in some), np.empty(0))

    def point_text(self, point: NDArray[np.int64]) -> str:
        """Return one design point, shape (d,), as ``axis = value`` pairs."""
        pairs = [
            (axis, choice) for axis, choice in zip(self.axes, point, strict=True) if choice >= 0
        ]
        chosen = [f"{axis.name} = {axis.shown(choice)}" for axis, choice in pairs]
        return ", ".join(chosen if len(pairs) == len(self.axes) else [ALONE, *chosen])


class Numbers(Sequence[str]):
    """Numbers as they are shown, formatted on request."""

    def __init__(self, values: Column) -> None:
        """Keep the numbers, (n,)."""
        self._values = values

    def __len__(self) -> int:
        """Return the number of numbers."""
        return len(self._values)

    def __getitem__(self, position: Any) -> Any:
        """Return one of them, or a part, with twelve digits."""
        if isinstance(position, slice):
            return Numbers(self._values[position])
        return f"{self._values[position]:.12g}"


def coarsened(space: Space, steps: Sequence[int]) -> Space:
    """Return a space of cells: `steps` consecutive values of each axis are one value.

    Columns that differ inside a cell become an `Enclosure`.
    """
    axes = zip(space.axes, steps, strict=True)
    return replace(space, axes=tuple(_coarse_axis(axis, step) for axis, step in axes))


def _coarse_axis(axis: Axis, step: int) -> Axis:
    if step == 1:
        return axis
    columns: dict[str, Any] = {}
    for name in axis.columns:
        low, high = axis.cell_ends(name, step)
        columns[name] = low if (low == high).all() else Enclosure(low, high)
    return replace(axis, columns=columns, labels=axis.labels[::step])


def constant(value: float) -> Column:
    """Return a column of one row, which broadcasts against any other."""
    return np.array([value], dtype=np.float64)


def designs_text(sizes: Sequence[int]) -> str:
    """Return the size of a space as a product, for messages: ``6 x 400 = 2,400 designs``."""
    factors = [str(size) for size in sizes if size > 1]
    total = plural(math.prod(sizes), "design")
    return f"{' x '.join(factors)} = {total}" if len(factors) > 1 else total


def unit_names_of(axes: Sequence[Axis]) -> dict[str, str]:
    """Return the column of each axis whose values have a unit."""
    return {axis.name: axis.unit_name for axis in axes if units.suffix(axis.unit_name)}


def design_text(design: Mapping[str, Value], unit_names: Mapping[str, str]) -> str:
    """Return a design as ``name = value`` pairs, numbers in the units of `unit_names`."""

    def shown(name: str, value: Value) -> str:
        if isinstance(value, str):
            return value
        return units.exact_text(value, unit_names[name]) if name in unit_names else f"{value:.12g}"

    return ", ".join(f"{name} = {shown(name, value)}" for name, value in design.items())

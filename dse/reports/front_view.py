"""What a front looks like to those who draw it or print it: columns, names, axes, groups."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.reports.words import in_words

Values = NDArray[np.float64]

Columns = Mapping[str, NDArray[Any]]
"""Column by name: float64 in SI for quantities, strings for categorical ones."""

MOST_CHARACTERS = 40
"""Longest name, or line of an axis label, in a picture."""


@dataclass(frozen=True)
class Recommended:
    """The recommended design of a front: its row, what it is, and which one that is, in words."""

    row: int
    design: str
    rule: str


@dataclass(frozen=True)
class Reference:
    """What does without any design: its name, its objectives as far as known, whether it can.

    `text` is a sentence, `verdict` a word: ``cannot``.
    """

    name: str
    values: Mapping[str, float]
    verdict: str
    text: str


@dataclass(frozen=True, kw_only=True)
class FrontView:
    """The answer of a study, ready to be drawn (`plots`) or printed (`front_text`).

    Attributes
    ----------
    title
        One line: the question that the study asks.
    objectives
        Pairs of a quantity's name, with its unit suffix, and ``minimise`` or ``maximise``.
    front
        Columns of the n designs on the front: at least the objectives, `axes`, `category`
        and `sweep`.
    cloud
        The same columns of feasible designs, or of a sample of them; may be empty.
    axes
        Columns that tell the designs apart (design choices), most telling first.
    category
        The categorical column that colours the points, for instance ``bound``.
    limits
        Whether the category says what limits a design: its bottleneck.
    sweep
        The column whose values were swept.
    names
        A short label per design on the front, for instance ``2 u16 + 1 u8``; or none at all.
    recommended
        The design that the study recommends; None for a sweep, and for an empty front.
    references
        What does without any design, shown beside the front.
    """

    title: str
    objectives: tuple[tuple[str, str], ...]
    front: Columns
    cloud: Columns = field(default_factory=dict)
    axes: tuple[str, ...] = ()
    category: str | None = None
    limits: bool = True
    sweep: str | None = None
    names: Sequence[str] = ()
    recommended: Recommended | None = None
    references: Sequence[Reference] = ()

    @property
    def size(self) -> int:
        """Number of designs on the front."""
        return len(self.front.get(self.objectives[0][0], ()))

    def words(self, column: str) -> str:
        """Return a column in words."""
        bottleneck = self.limits and column == self.category
        return "bottleneck" if bottleneck else in_words(column)

    def best(self, objective: str) -> int:
        """Return the row of the front that is best in one objective; the first of equals."""
        sign = 1 if dict(self.objectives)[objective] == "minimise" else -1
        return int(np.argmin(sign * self.front[objective]))


@dataclass(frozen=True)
class Scale:
    """One column as an axis of a picture.

    Attributes
    ----------
    label
        Words and unit.
    front, cloud
        Values in that unit; for a categorical column the positions of its `ticks`.
    low, high
        Range: all of the front, and the cloud as far as the front stays readable.
    factor
        What values in SI are divided by.
    log
        The range is positive and longer than two decades.
    ticks
        The categories, at positions 0, 1, ...; empty for numbers.
    factor
        What a value in SI is divided by.
    """

    label: str
    front: Values
    cloud: Values
    low: float
    high: float
    log: bool = False
    ticks: tuple[str, ...] = ()
    factor: float = 1.0

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which rows of the cloud lie within the range."""
        return np.asarray((self.low <= self.cloud) & (self.cloud <= self.high) | bool(self.ticks))


def axis_scale(view: FrontView, name: str, cloud: Columns) -> Scale:
    """Return one column of the front, and of the cloud behind it, as an axis."""
    values, background = view.front[name], cloud.get(name, np.empty(0))
    title = "\n".join(textwrap.wrap(view.words(name), MOST_CHARACTERS))
    if values.dtype.kind not in "fiub":
        kinds, codes = np.unique(values.astype(str), return_inverse=True)
        ticks = tuple(elided(kind) for kind in kinds)
        return Scale(title, codes.astype(float), np.empty(0), -0.5, len(ticks) - 0.5, ticks=ticks)
    low, high = _range(values, background)
    log = is_long(low, high)
    factor, unit = units.scale([np.sqrt(low * high)] if log else [*values, low, high], name)
    largest = max(abs(low), abs(high)) / factor
    if not log and largest and not 1e-2 <= largest < 1e6:  # more digits than a tick has room for
        power = 3 * int(np.floor(np.log10(largest) / 3))
        factor, unit = factor * 10.0**power, f"{power_of_ten(power)} {unit}".rstrip()
    low, high = _with_margin(low, high, log)
    label = f"{title} [{unit}]" if unit else title
    ends = low / factor, high / factor
    return Scale(label, values / factor, background / factor, *ends, log, factor=factor)


def is_long(low: float, high: float) -> bool:
    """Return whether a range is positive and longer than two decades, so that a logarithm suits."""
    return low > 0 and high > 100 * low


def _range(front: Values, cloud: Values) -> tuple[float, float]:
    """Return all of the front, and of the cloud what is not too far from it."""
    low, high = float(front.min()), float(front.max())
    if not len(cloud):
        return low, high
    reach = max(high - low, 0.25 * max(abs(low), abs(high))) if low < high else np.inf
    lower, upper = max(float(cloud.min()), low - reach), min(float(cloud.max()), high + reach)
    return min(low, lower), max(high, upper)


def _with_margin(low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        margin = (high / low) ** 0.06
        return low / margin, high * margin
    size = max(abs(low), abs(high))
    # A relative span below 1e-4 would need ticks of more digits than fit.
    margin = max(0.06 * (high - low), 1e-4 * size) if low < high else 0.1 * size or 0.5
    return low - margin, high + margin


def thinned(cloud: Columns, most: int) -> Columns:
    """Return at most `most` rows, always the same ones."""
    count = row_count(cloud)
    if count <= most:
        return cloud
    # At random, because a regular step beats with the regular order of a design space.
    kept = np.random.default_rng(0).choice(count, most, replace=False)
    return {name: values[kept] for name, values in cloud.items()}


def row_count(columns: Columns) -> int:
    """Return the length of the columns, 0 when there are none."""
    return len(next(iter(columns.values()), ()))


def groups(view: FrontView, most: int) -> dict[str, NDArray[np.bool_]]:
    """Return which rows of the front belong together: by category, in order of name.

    A sweep that leads to at most `most` designs is grouped by design; beyond `most`
    categories the rarest become ``other``.
    """
    labels = np.asarray(view.names, dtype=str)
    if view.sweep is None or not 0 < len(np.unique(labels)) <= most:
        labels = np.full(view.size, "front")
        if view.category is not None:
            labels = np.array(
                [f"{view.words(view.category)}: {kind}" for kind in view.front[view.category]]
            )
    kinds, counts = np.unique(labels, return_counts=True)
    if len(kinds) > most:
        frequent = np.sort(kinds[np.argsort(-counts, kind="stable")[: most - 1]])
        labels = np.where(np.isin(labels, frequent), labels, "other")
        kinds = np.append(frequent, "other")
    return {str(kind): labels == kind for kind in kinds}


def staircase(x: Values, y: Values, sense: str) -> Values:
    """Return the corners (k, 2) of the border of what a front attains.

    `sense` is that of `x`; that of `y` follows, since the points do not dominate each other.
    """
    order = np.lexsort((y, x))
    x, y = np.repeat(x[order], 2), np.repeat(y[order], 2)
    return np.column_stack((x[1:], y[:-1]) if sense == "minimise" else (x[:-1], y[1:]))


def best_per_value(x: Values, y: Values, sense: str) -> Values:
    """Return (k, 2): every value of `x` once, rising, with the best `y` found there."""
    values, group = np.unique(x, return_inverse=True)
    worst, pick = (np.inf, np.minimum) if sense == "minimise" else (-np.inf, np.maximum)
    best = np.full(len(values), worst)
    pick.at(best, group, y)
    return np.column_stack((values, best))


def elided(name: str, most: int = MOST_CHARACTERS) -> str:
    """Cut the middle out of a long name: it is the ends that tell designs apart."""
    if len(name) <= most:
        return name
    keep = (most - 3) // 2
    return f"{name[:keep]}...{name[-keep:]}"


def power_of_ten(exponent: int) -> str:
    """Return for instance ``10⁻⁶``."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def decade(value: float) -> str:
    """Return a power of ten as the tick of a logarithmic axis."""
    if 1e-3 <= value < 1e5:
        return f"{value:g}"
    return power_of_ten(round(np.log10(value)))


def legend_columns(lengths: Sequence[int], inches: float) -> int:
    """Return how many columns of a legend fit; it fills them from top to bottom.

    `lengths` are the characters of its entries, in order.
    """
    for across in range(len(lengths), 1, -1):
        columns = np.array_split(lengths, across)  # as matplotlib does it
        if sum(0.076 * max(column) + 0.5 for column in columns) < inches:
            return across
    return 1

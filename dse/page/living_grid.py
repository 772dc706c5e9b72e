"""Values of the numbers that move on a page without the program, and their order.

A grid of few numbers: the study's own values, the points where the answer changes, and between them
values of two digits.  What is coarse comes first, so that a grid that ends early is even.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.algebra import base_units, units
from dse.errors import UnitError
from dse.page.sliders import Slider

REACH = 10.0
"""A number moves from its own value by this factor, either way."""

HALVINGS = {1: 10, 2: 4, 3: 2}
"""How often the range of a number is halved, by how many there are."""


@dataclass(frozen=True)
class Ticks:
    """The values of one number, in order, in SI; `ranks` has 0 for the study's own, then coarse."""

    slider: Slider
    values: tuple[float, ...]
    ranks: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for the page."""
        return self.slider.to_dict() | {
            "values": self.values,
            "texts": [units.show_exactly(value, self.slider.quantity) for value in self.values],
            "sets": [self.slider.written(value) for value in self.values],
            "spellings": _spellings(self.slider.quantity),
        }


def ticks_of(slider: Slider, breakpoints: Iterable[float], halvings: int) -> Ticks:
    """Return the values of a number: its own, breakpoints, ``2**halvings + 1`` others at most."""
    factor, unit = units.scale([slider.value], slider.quantity)
    low, high = slider.value / REACH, slider.value * REACH
    ranks = {slider.value: 0}
    for value in breakpoints:
        if low <= value <= high and (not slider.whole or value == round(value)):
            ranks.setdefault(value, 1)
    count = 1 << halvings
    for place, value in enumerate(np.geomspace(low / factor, high / factor, count + 1)):
        # how often the range is halved before this place is an end; 0 for both ends
        depth = halvings - ((place & -place).bit_length() - 1 if place % count else halvings)
        text = f"{value:.2g}" if not slider.whole else f"{max(round(value), 1)}"
        found = units.parse(f"{float(text):f} {unit}".strip(), slider.quantity)
        if not slider.among or found in slider.among:
            ranks.setdefault(found, 1 + depth)
    for value in slider.among:
        if low <= value <= high:
            ranks.setdefault(value, 1)
    ordered = sorted(ranks)
    return Ticks(slider, tuple(ordered), tuple(ranks[value] for value in ordered))


def coarse_first(ticks: Sequence[Ticks]) -> list[tuple[int, ...]]:
    """Return the places of every point of a grid, the study itself first."""
    points = itertools.product(*(range(len(one.values)) for one in ticks))

    def rank(point: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        ranks = [one.ranks[place] for one, place in zip(ticks, point, strict=True)]
        return max(ranks), sum(ranks), point

    return sorted(points, key=rank)


def _spellings(name: str) -> dict[str, float]:
    """Return what every way to write a unit of a quantity is worth, in SI."""
    wanted = units.suffix(name)
    if not wanted:
        return {"": 1.0, "%": 0.01}
    plain = [*base_units.SPELLINGS, *base_units.PER_SECOND]
    found = {}
    for text in (*plain, *(f"{one}/s" for one in base_units.SPELLINGS)):
        try:
            factor, suffix = units.factor(text)
        except UnitError:
            continue
        if suffix == wanted:
            found[text] = float(factor)
    return found

"""What of a study moves on its page: rate, sizes, assumptions, and bounds of constraints.

Without the program they move on a grid of few numbers: the study's own values, the points where the
answer changes, and between them values of two digits.  What is coarse comes first, so that a grid
that ends early is even.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dse.algebra import base_units, units
from dse.algebra.thresholds import ConstraintThreshold, thresholds_of
from dse.errors import UnitError
from dse.study.assumptions import assumptions_of
from dse.study.study import Study

FIRST = ("workload.rate", "workload.granularity")
"""What most questions turn on stands before the rest."""


@dataclass(frozen=True)
class Slider:
    """A number of a study that ``--set`` changes.

    Attributes
    ----------
    path
        What ``--set`` takes.
    name
        What it is called: the path, or the constraint.
    quantity
        A name whose suffix is the unit of `value`, which is in SI.
    bound
        The bound that it is, of a constraint.
    first
        Whether it stands before the rest.
    whole, among
        Whether only whole numbers make sense, or only some.
    """

    path: str
    name: str
    quantity: str
    value: float
    bound: ConstraintThreshold | None = None
    first: bool = False
    whole: bool = False
    among: tuple[float, ...] = ()

    def written(self, value: float | str) -> str:
        """Return what ``--set`` gives the path: of a number in SI, or of a text as typed."""
        text = value if isinstance(value, str) else units.exact_text(value, self.quantity)
        return text if self.bound is None else self.bound.text(text)

    def number(self, value: float | str) -> float:
        """Return in SI what was moved to."""
        return units.parse(value, self.quantity) if isinstance(value, str) else value

    def rounded(self, value: float, *, away: bool) -> float:
        """Return a value in SI with five digits, towards the slider's own value or away from it."""
        factor, unit = units.scale([value], self.quantity)
        digit = 10.0 ** (math.floor(math.log10(value / factor)) - 4)
        towards = math.ceil if (value > self.value) == away else math.floor
        return units.parse(f"{towards(value / factor / digit) * digit:.5g} {unit}", self.quantity)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for the page."""
        factor, unit = units.scale([self.value], self.quantity)
        return {
            "path": self.path,
            "words": self.name,
            "value": self.value,
            "factor": factor,
            "unit": unit,
            "first": self.first,
            "whole": self.whole,
        }


def sliders_of(study: Study) -> Iterator[Slider]:
    """Yield what may move: numbers that the study itself writes, and bounds of its constraints."""
    written = study.document.data
    for entry in assumptions_of(study):
        section, _, field = entry.name.partition(".")
        fields = written.get(section)
        plain = entry.touched is None and entry.metric is None and entry.bound is None
        if plain and isinstance(fields, Mapping) and field in fields and entry.value > 0:
            first = entry.name in FIRST
            yield Slider(
                entry.name,
                entry.name,
                entry.quantity,
                entry.value,
                first=first,
                whole=entry.integer,
                among=entry.among,
            )
    for place, constraint in enumerate(study.problem.constraints):
        bounds = thresholds_of(constraint)
        if len(bounds) == 1 and bounds[0].up != bounds[0].down and bounds[0].value > 0:
            path = f"constraints.{place}"
            (bound,) = bounds
            yield Slider(path, constraint.text, bound.name, bound.value, bound, first=True)


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

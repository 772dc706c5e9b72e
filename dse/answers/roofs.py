"""The roofs over a design: the value of each limit, its bends, and the price of lifting it.

They bend over the size of an offload (LogCA's granularity), or over the operational intensity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dse.algebra import units
from dse.answers.design import Bottlenecks, Pick, Trade, allowed, pick
from dse.answers.sections import headroom
from dse.contract import SIZE, Column, Objective
from dse.model.evaluation import full_column
from dse.model.preference import Preference
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.sections import Section
from dse.reports.text import change, in_words, listed, percent
from dse.runs.manifest import spreads_of
from dse.study.demand import RATE

FACTORS = np.exp2(np.arange(-32, 33) / 4)
"""Sizes, or intensities, at which roofs are drawn, over the design's."""

_LEAST = 0.01
"""Share by which the lowest roof of another design must be higher to lift a roof."""

ABOVE, DECADES = 3.0, 1e6
"""Factor of the heights that are drawn, above the highest roof at the design and below."""

ACROSS = (SIZE, "workload_intensity_op_per_byte")
"""Columns over which roofs bend, the first that a study has."""


@dataclass(frozen=True)
class Roofs:
    """The limits of a design, over the size of an offload, and the lift of the lowest roof.

    Attributes
    ----------
    limited
        The quantity, its reached value, and its limits, the lowest roof first.
    demanded
        Whether a rate is demanded, so that designs of the front exceed it little.
    lift
        The cost of exceeding that roof: of the designs of the front whose lowest roof is higher,
        the preferred one, or None.
    lifted
        The lowest roof of that design.
    column, at
        A column of `ACROSS`, and the design's value, NaN if it moves no roof.
    places
        Values of that column, in SI, empty if they move no roof.
    heights
        The value that each limit, by its label, allows at each of the places.
    lifted_height
        The lowest roof of the design that lifts, at each of the places.
    """

    limited: Bottlenecks
    demanded: bool
    lift: Trade | None = None
    lifted: Bottlenecks | None = None
    column: str = SIZE
    at: float = math.nan
    places: Column = field(default_factory=lambda: np.empty(0))
    heights: Mapping[str, Column] = field(default_factory=dict)
    lifted_height: Column = field(default_factory=lambda: np.empty(0))

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest drawn height."""
        high = ABOVE * max(self.limited.reached, *(one.value or 0.0 for one in self.limited.limits))
        heights = np.concatenate([*self.heights.values(), self.lifted_height])
        return max(float(heights[heights > 0].min(initial=high)), high / DECADES), high

    @property
    def text(self) -> str:
        """The cost of lifting the lowest roof, in words."""
        lowest = self.limited.limits[0]
        if self.lift is None or self.lifted is None:
            asks = "; --rate asks for more" * self.demanded
            by = percent(_LEAST)
            return (
                f"The lowest roof, {lowest.words}: no design of the front lifts it by {by}{asks}."
            )
        new, name = self.lifted.limits[0], self.limited.quantity
        costs, gains = (self.lift.differences(better=better) for better in (False, True))
        allows = new.value or 0.0
        more = change(allows, lowest.value or 0.0, digits=2)
        text = (
            f"Lifting the lowest: {self.lift.taken.line} allows {units.show(allows, name)} "
            f"({more}, then {new.words}) for {listed(costs) or 'nothing'}"
        )
        return f"{text}, with {listed(gains)}." if gains else f"{text}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON and for a page."""
        facts: dict[str, Any] = {
            "quantity": self.limited.quantity,
            "reached": self.limited.reached,
            "limits": [one.to_dict() | {"headroom": headroom(one)} for one in self.limited.limits],
            "text": self.text,
            "column": self.column,
            "at": self.at,
            "places": self.places.tolist(),
            "heights": {label: height.tolist() for label, height in self.heights.items()},
            "span": self.span,
            "lift": None,
        }
        if self.lift is not None and self.lifted is not None:
            taken, first = self.lift.taken, self.lifted.limits[0].to_dict()
            lift = {"line": taken.line, "limit": first, "height": self.lifted_height.tolist()}
            facts["lift"] = taken.to_dict() | lift
        return facts


def roofs_of(
    problem: Problem, front: Index, chosen: Pick, preference: Preference
) -> Iterator[Roofs]:
    """Yield the roofs of the preferred design of a front for each quantity with known limits."""
    point = preference.first(problem, front)
    for limited in chosen.bottlenecks:
        if (lowest := limited.limits[0].value) is None:
            continue
        name = limited.quantity
        (quantity,) = (one for one in problem.quantities if one.limits and one.limited == name)
        moved = _moved(problem, point)
        heights = _heights(problem, quantity, point, moved)
        heights = {limit.label: heights[limit.label] for limit in limited.limits}
        found = Roofs(limited, RATE in problem.available)
        if any((height != height[0]).any() for height in heights.values() if moved):
            ((column, places),) = moved.items()
            at = float(np.ravel(problem.columns(point, {column})[column])[0])
            found = replace(found, column=column, at=at, places=places, heights=heights)
        beyond = front[_lowest(_heights(problem, quantity, front)) > lowest * (1.0 + _LEAST)]
        if len(beyond):
            other = preference.first(problem, beyond)
            taken = pick(problem, other[0], preference.quantity)
            found = replace(
                found,
                lift=Trade(taken, chosen, preference, problem.goals),
                lifted=next(one for one in taken.bottlenecks if one.quantity == name),
                lifted_height=_lowest(_heights(problem, quantity, other, moved)),
            )
        yield found


def of_each(
    problem: Problem, points: Index
) -> tuple[list[dict[str, Any]], dict[str, tuple[Column, Column]]]:
    """Return the values of the limits by quantity, of designs (n, d), and objectives' ranges."""
    limits = []
    for quantity in problem.quantities if len(points) else ():
        if quantity.limits and quantity.limited in problem.available:
            heights = _heights(problem, quantity, points)
            words = dict(zip(quantity.labels, (one.words for one in quantity.limits), strict=True))
            reached = problem.describe(points)[quantity.limited]
            allows = [{"words": words[label], "values": heights[label]} for label in heights]
            limits.append({"quantity": quantity.limited, "reached": reached, "limits": allows})
    goals = [goal.name for goal in problem.goals]
    return limits, spreads_of(problem, points, goals) if len(points) else {}


def _heights(
    problem: Problem, quantity: Objective, points: Index, moved: Mapping[str, Column] | None = None
) -> dict[str, Column]:
    """Return the values of the limits by label, of designs (n, d) or of one along a column."""
    moved = moved or {}
    for places in moved.values():
        points = np.repeat(points, len(places), axis=0)
    known = {one.name for one in problem.quantities}
    names = {name for limit in quantity.limits for name in limit.quantities if name in known}
    found = problem.columns(points, names, moved)
    columns = {name: full_column(found[name], len(points)) for name in names}
    pairs = zip(quantity.labels, quantity.limits, strict=True)
    heights = {label: allowed(limit, columns) for label, limit in pairs}
    return {label: height for label, height in heights.items() if height is not None}


def _lowest(heights: Mapping[str, Column]) -> Column:
    found: Column = np.min([*heights.values()], axis=0)
    return found


def _moved(problem: Problem, point: Index) -> dict[str, Column]:
    """Return the column over which the roofs of a design (1, d) are drawn, and its values."""
    column = next((name for name in ACROSS if name in problem.available), None)
    if column is None:
        return {}
    places = float(np.ravel(problem.columns(point, {column})[column])[0]) * FACTORS
    return {column: places[places >= 1.0] if column == SIZE else places}


def roofs_section(problem: Problem, front: Index, chosen: Pick, preference: Preference) -> Section:
    """Return the value of each limit of the preferred design, and the lift of the lowest."""
    found = [*roofs_of(problem, front, chosen, preference)]
    rows = tuple(
        (one.words, units.show(one.value or 0.0, roofs.limited.quantity), headroom(one))
        for roofs in found
        for one in roofs.limited.limits
    )
    what = listed([in_words(roofs.limited.quantity) for roofs in found])
    return Section(
        "roofs",
        f"Roofs of the {what}" if found else "",
        headers=("limit", "allows", "headroom"),
        rows=rows if len(rows) > 1 else (),
        remarks=tuple(roofs.text for roofs in found),
        facts=[roofs.to_dict() for roofs in found],
        brief=(),
    )

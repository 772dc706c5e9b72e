"""Whether a recommended design can be meant: accelerator cores that need no hall of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model.problem import Problem
from dse.model.space import Index
from dse.reports.words import in_words, listed
from dse.study.demand import RATE, TASKS
from dse.study.study import Study

INSTANCES = "instances"

MOST_INSTANCES = 1e4
"""The largest processors have some thousand cores."""

MOST: Mapping[str, float] = {"m2": 1e-2, "w": 1e4}
"""By unit: a dozen of the largest dies (a reticle is 858 mm2), and the power of a rack."""

MATTERS = 0.25
"""A figure matters where its half changes the result by this share."""

MOST_FIELDS = 4


@dataclass(frozen=True)
class Implausible:
    """What of a design is beyond what any chip has, and which written figures to check.

    Attributes
    ----------
    text
        Both in a sentence without a capital and a full stop.
    beyond
        Quantities in SI and the number of instances, as far as they are beyond.
    check
        Dotted names of the figures that decide the first of them.
    """

    text: str
    beyond: Mapping[str, float]
    check: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {"beyond": dict(self.beyond), "check": list(self.check)}


def implausible(study: Study, design: NDArray[np.int64]) -> Implausible | None:
    """Return which written figures to check where a design (d,) is out of all proportion."""
    problem = study.problem
    if not problem.stages:
        return None
    beyond = dict(_beyond(problem, design[np.newaxis, :]))
    if not beyond:
        return None
    sizes = [
        f"{size:,.0f} {name}" if name == INSTANCES else f"{in_words(name)} {units.show(size, name)}"
        for name, size in beyond.items()
    ]
    fields = [*_mattering(study, design, next(iter(beyond)))][:MOST_FIELDS]
    checked = listed([f"{name} ({written})" for name, written in fields]) or "all figures"
    text = f"check the units of {checked}: no chip has {listed(sizes)}"
    return Implausible(text, beyond, tuple(name for name, _ in fields))


def _beyond(problem: Problem, point: Index) -> Iterator[tuple[str, float]]:
    """Yield what of a design (1, d) is beyond its limit."""
    instances = float(sum(problem.counts(point)[0].values()))
    if instances > MOST_INSTANCES:
        yield INSTANCES, instances
    columns = problem.describe(point)
    told = [entry.name for entry in problem.quantities if entry.told]
    for name in dict.fromkeys([*(goal.name for goal in problem.goals), *told]):
        if columns[name][0] > MOST.get(units.suffix(name), np.inf):
            yield name, float(columns[name][0])


def _mattering(study: Study, design: NDArray[np.int64], name: str) -> Iterator[tuple[str, str]]:
    """Yield the figures that decide a quantity of a design, as written, the weightiest first.

    How many instances there are follows from demand and clocks.
    """
    from dse.study.assumptions import assumptions_of  # rarely needed

    point = design[np.newaxis, :]
    known = [entry for entry in assumptions_of(study) if entry.bound is None]
    known = [entry for entry in known if entry.concerns(point)]
    if name == INSTANCES:
        demand = (RATE, TASKS, "clock_hz")
        yield from ((one.name, one.show(one.value)) for one in known if one.quantity in demand)
        return
    today = float(study.problem.describe(point)[name][0])
    effects = []
    for entry in known:
        half = np.ceil(entry.value / 2) if entry.integer else entry.value / 2
        changed = entry.at(float(half))
        if (design < changed.sizes).all():  # counts that are searched may end before
            effect = abs(float(changed.describe(point)[name][0]) / today - 1.0)
            effects += [(effect, entry.name, entry.show(entry.value))] * (effect > MATTERS)
    yield from ((path, shown) for _, path, shown in sorted(effects, reverse=True))

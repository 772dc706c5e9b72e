"""Whether a recommended design can be meant: accelerator cores that need no hall of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.answers.design import Pick
from dse.reports.sections import Section
from dse.reports.words import in_words, listed
from dse.study.assumptions import assumptions_of
from dse.study.demand import RATE, TASKS
from dse.study.study import Study

MOST_INSTANCES = 1e4
"""The largest processors have some thousand cores."""

MOST: Mapping[str, float] = {"m2": 1e-2, "w": 1e4}
"""By unit: a dozen of the largest dies (a reticle is 858 mm2), and the power of a rack."""

MATTERS = 0.25
"""A figure matters where its half changes the result by this share."""

MOST_FIELDS = 4


def plausible_section(study: Study, design: NDArray[np.int64], pick: Pick) -> Section | None:
    """Return which written figures to check where a design (d,) is out of all proportion."""
    if not study.problem.stages:
        return None
    beyond = _sizes(pick.counts, pick.quantities)
    if not beyond:
        return None
    told = [
        f"{count:,.0f} instances" if name == "" else f"{in_words(name)} {units.show(count, name)}"
        for name, count in beyond.items()
    ]
    fields = [*_mattering(study, design, next(iter(beyond)))][:MOST_FIELDS]
    checked = listed([f"{name} ({shown})" for name, shown in fields]) or "all figures"
    line = f"Check the units of {checked}: no chip has {listed(told)}."
    facts = {
        "beyond": {name or "instances": value for name, value in beyond.items()},
        "check": [name for name, _ in fields],
    }
    return Section("plausible", lines=(line,), facts=facts, brief=(line,))


def _sizes(counts: Mapping[str, int], quantities: Mapping[str, float]) -> dict[str, float]:
    """Return what is beyond its limit by quantity; instances have an empty name."""
    found = {"": float(sum(counts.values()))} if sum(counts.values()) > MOST_INSTANCES else {}
    return found | {
        name: value
        for name, value in quantities.items()
        if value > MOST.get(units.suffix(name), np.inf)
    }


def _mattering(study: Study, design: NDArray[np.int64], name: str) -> Iterator[tuple[str, str]]:
    """Yield the figures that decide a quantity of a design, as written, the weightiest first.

    How many instances there are follows from demand and clocks.
    """
    point = design[np.newaxis, :]
    known = [entry for entry in assumptions_of(study) if entry.bound is None]
    known = [entry for entry in known if entry.concerns(point)]
    if not name:
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

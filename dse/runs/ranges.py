"""Ranges of quantities from the uncertainty of cores, and the missing terms of sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.model.designs import PACED
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.stage import Stage
from dse.reports.front_view import Ranges
from dse.reports.text import in_words
from dse.study.scenario import field_path

NARROW = 1e-3
"""Least relative width of a range that is shown."""

_KINDS = {"m2": ("m2",), "w": ("w", "j"), "j": ("w", "j")}
"""Units of the terms of a sum in a unit."""


def spread_of(problem: Problem, point: Index, names: Sequence[str]) -> Ranges:
    """Return the ranges of quantities of a design, (1, d), without the narrow ones."""
    found = {}
    for name, (low, high) in spreads_of(problem, point, names).items():
        ends = float(low[0]), float(high[0])
        if np.isfinite(ends[1]) and ends[1] - ends[0] > NARROW * abs(ends[0]):
            found[name] = ends
    return found


def spreads_of(
    problem: Problem, points: Index, names: Sequence[str]
) -> dict[str, tuple[Column, Column]]:
    """Return the lowest and highest values of quantities of designs (n, d), if any is uncertain.

    All uncertain numbers of cores are at their 10th percentiles, and then at their 90th.  The rate
    stays, as a slower fleet would draw less.
    """
    if not any(stage.designs.uncertainty for stage in problem.stages):
        return {}
    ends = [
        replace(problem, stages=tuple(_at(stage, end) for stage in problem.stages))
        for end in (0, 1)
    ]
    columns = [one.describe(points) for one in (problem, *ends)]
    found = {name: np.stack([column[name] for column in columns]) for name in names}
    return {name: (values.min(axis=0), values.max(axis=0)) for name, values in found.items()}


def _at(stage: Stage, end: int) -> Stage:
    """Return a stage with the numbers of its designs at one end, and the same clock."""
    metrics = stage.designs.metrics
    moved = {
        name: getattr(metrics, name) * interval[:, end]
        for name, interval in stage.designs.intervals().items()
        if name not in PACED
    }
    return replace(stage, designs=replace(stage.designs, metrics=replace(metrics, **moved)))


def gaps_of(problem: Problem, point: Index, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the terms of sums that are unknown or 0 for a design, (1, d), by quantity."""
    return {name: [*_gaps(problem, point, name)] for name in names}


def _gaps(problem: Problem, point: Index, name: str) -> Iterator[str]:
    """Yield the terms of a sum that are unknown or 0, in words."""
    kinds = _KINDS.get(units.suffix(name).partition("_")[0])
    if kinds is None or name not in problem.graph.quantities:
        return
    columns = problem.describe(point)
    steps = problem.graph.closure([name])
    for term in dict.fromkeys(one for step in steps for one in step.arguments):
        known = term in problem.graph.inputs and units.suffix(term).startswith(kinds)
        if known and term in columns and not columns[term].any():
            yield _words(term)
    for step in steps[-1:]:
        _, optional = argument_names(step.plugin)
        yield from (
            _words(term)
            for term in optional
            if term not in step.arguments and units.suffix(term).startswith(kinds)
        )


def _words(term: str) -> str:
    return in_words(field_path(term)) if "." in field_path(term) else in_words(term)

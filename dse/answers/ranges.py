"""Ranges of an answer's numbers, from how sure the figures of its cores are, and their gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dse.algebra import units
from dse.contract import Column
from dse.model.designs import PACED
from dse.model.graph import argument_names
from dse.model.problem import Problem
from dse.model.space import Index
from dse.model.stage import Stage
from dse.reports.sections import Section
from dse.reports.text import in_words, listed
from dse.study.scenario import field_path

NARROW = 1e-3
"""A range is shown when its ends differ by more than this share."""

_KINDS = {"m2": ("m2",), "w": ("w", "j"), "j": ("w", "j")}
"""First letters of the units of what a quantity in a unit sums."""

Ranges = Mapping[str, tuple[float, float]]


def spread_of(problem: Problem, point: Index, names: Sequence[str]) -> Ranges:
    """Return the lowest and highest value of quantities of the design at `point`, (1, d).

    Quantities that hardly depend on uncertain figures of its cores are omitted.
    """
    found = {}
    for name, (low, high) in spreads_of(problem, point, names).items():
        ends = float(low[0]), float(high[0])
        if np.isfinite(ends[1]) and ends[1] - ends[0] > NARROW * abs(ends[0]):
            found[name] = ends
    return found


def spreads_of(
    problem: Problem, points: Index, names: Sequence[str]
) -> dict[str, tuple[Column, Column]]:
    """Return the lowest and highest values of quantities of designs (n, d), none if all are sure.

    With all uncertain figures of its cores at their 10th percentiles, and at their 90th, at the
    same rate: a slower fleet would carry less, and so draw less.
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
    """Return a stage with the figures of its designs at one end, at the same clock."""
    metrics = stage.designs.metrics
    moved = {
        name: getattr(metrics, name) * interval[:, end]
        for name, interval in stage.designs.intervals().items()
        if name not in PACED
    }
    return replace(stage, designs=replace(stage.designs, metrics=replace(metrics, **moved)))


def range_text(found: Ranges, name: str) -> str:
    """Return the range of a quantity that follows its value, empty without one."""
    if name not in found:
        return ""
    low, high = (units.show(float(f"{value:.3g}"), name) for value in found[name])
    number, _, unit = low.partition(" ")
    return f" ({number if high.endswith(f' {unit}') else low} to {high}, cores only)"


def spread_section(problem: Problem, point: Index, found: Ranges) -> Section:
    """Return the meaning of an answer's ranges, and the terms that its sums omit."""
    lines = []
    if found:
        scaled = any(stage.designs.percentiles for stage in problem.stages)
        figures = "figures, scaled to placed designs" if scaled else "figures"
        lines.append(
            f"Ranges: 10th to 90th percentile of the cores' {figures}; clocks and all else nominal."
        )
    gaps = {goal.name: [*_gaps(problem, point, goal.name)] for goal in problem.goals}
    brief = []
    if any(gaps.values()):
        kinds: dict[str, list[str]] = {"area": [], "power": []}
        for term in dict.fromkeys(term for of in gaps.values() for term in of):
            name, _, kind = term.rpartition(" ")
            kinds["area" if kind == "area" else "power"].append(name)
        parts = [f"{listed(names)} {kind}" for kind, names in kinds.items() if names]
        brief.append(f"Not counted: {'; '.join(parts)}.")
    facts = {"ranges": {name: list(ends) for name, ends in found.items()}, "omitted": gaps}
    return Section("ranges", "Ranges", tuple(lines + brief), facts=facts, brief=tuple(brief))


def _gaps(problem: Problem, point: Index, name: str) -> Iterator[str]:
    """Yield the terms of a sum that are unknown or 0 for the design at `point`, in words."""
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

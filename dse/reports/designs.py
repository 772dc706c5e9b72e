"""Designs and their objectives in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dse.algebra import units
from dse.model import tables
from dse.model.labels import labelled
from dse.model.problem import Problem
from dse.model.space import ALONE, Axis, Index
from dse.reports.text import in_words, listed


def parts(
    problem: Problem, index: Index, *, counts: bool = True, by: Sequence[int] = ()
) -> list[tuple[str, ...]]:
    """Return the choices of each design (n, d): its fleet, then every open axis.

    With `counts` the number of instances is included, even if the rate determines it.  `by` are the
    indices of the axes to include, if not all.
    """
    if by:
        axes = [(number, problem.space.axes[number]) for number in by]
        hosts = [(ALONE,) if (row < 0).any() else () for row in index]
        return [(*host, *_choices(axes, row)) for host, row in zip(hosts, index, strict=True)]
    fleets = tables.design_names(problem, index)
    if not counts and problem.stages:
        fleets = [name if name == ALONE else _without_counts(problem, name) for name in fleets]
    axes = open_axes(problem)
    return [(fleet, *_choices(axes, row)) for fleet, row in zip(fleets, index, strict=True)]


def described(problem: Problem, index: Index, *, people: bool = False) -> list[str]:
    """Return the choices of each design in one line: ``3 u16, in flight 2``.

    For `people` labels replace names.
    """
    found = parts(problem, index)
    named = [tuple(part for part in one if part != tables.UNNAMED) or one for one in found]
    return [for_people(problem, one) if people else ", ".join(one) for one in named]


def for_people(problem: Problem, chosen: Sequence[str]) -> str:
    """Return parts of a design in one line, with labels in place of names."""
    return ", ".join(labelled(part, problem.labels) for part in chosen)


def open_axes(problem: Problem) -> list[tuple[int, Axis]]:
    """Return the axes that distinguish designs besides their names, each with its index."""
    return [
        (number, axis)
        for number, axis in enumerate(problem.space.axes)
        if axis.size > 1
        and tables.is_choice_of_scenario(problem, axis)
        and (problem.stages or axis.ordered)  # other choices are the names of the designs
    ]


def host_notes(problem: Problem) -> Iterator[str]:
    """Yield the inputs that a comparison with the host lacks, if a study gives the host's time."""
    lacking = () if problem.alone is None else problem.alone.lacking(problem)
    if lacking:
        yield f"{ALONE} is not compared, for lack of {listed([in_words(name) for name in lacking])}"


def objective_values(problem: Problem, loss: NDArray[np.float64]) -> dict[str, float]:
    """Return the objectives of one design by name, in SI, from its losses (m,)."""
    pairs = zip(problem.goals, loss.tolist(), strict=True)
    return {goal.name: -value if goal.maximise else value for goal, value in pairs}


def difference(new: Sequence[str], old: Sequence[str]) -> Sequence[str]:
    """Return the parts of one design that another lacks, or all of them."""
    return [part for part in new if part not in old] or new


def _choices(axes: Sequence[tuple[int, Axis]], row: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the choices on some axes.  The host by itself has no choice on most."""
    chosen = ((axis, int(row[number])) for number, axis in axes)
    return tuple(_choice(axis, choice) for axis, choice in chosen if choice >= 0)


def _choice(axis: Axis, choice: int) -> str:
    if not axis.unit_name:
        return axis.labels[choice]
    value = float(axis.columns[axis.unit_name][choice])
    return f"{in_words(axis.name)} {units.show(value, axis.unit_name)}"


def _without_counts(problem: Problem, fleet: str) -> str:
    """Omit the number of instances if it is the least that carries the rate."""
    shown = []
    for stage, part in zip(problem.stages, fleet.split(" -> "), strict=True):
        free = any(axis.name == f"{stage.name}.instances" for axis in problem.space.axes)
        shown.append(part if stage.mixed or free else part.partition(" ")[2])
    return " -> ".join(shown)

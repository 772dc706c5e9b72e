"""Problems that differ in constants alone, such as the values of a sweep, as one problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dse.contract import Column
from dse.model.problem import Problem
from dse.model.space import Axis, Space
from dse.model.stage import Stage

WHICH = "problem"
"""The axis that says which of the problems a design is of."""


def as_one(problems: Sequence[Problem]) -> Problem | None:
    """Return several problems as one, None where more than their constants differ.

    Its last axis says which of them: their designs are rows with that position appended.
    """
    first, *others = problems
    if not all(_alike(first, other) for other in others):
        return None
    space = first.space
    chosen = {name for axis in space.axes for name in axis.columns}
    columns = {
        name: np.concatenate([problem.space.constants[name] for problem in problems])
        for name in space.constants
        if name not in chosen
    }
    if any(len(column) != len(problems) for column in columns.values()):
        return None
    names = [str(position) for position in range(len(problems))]
    which = Axis(WHICH, columns, names, ordered=False)
    constants = {name: space.constants[name] for name in space.constants.keys() & chosen}
    return first.renumbered(space=Space((*space.axes, which), constants))


def wired_alike(one: Problem, other: Problem) -> bool:
    """Tell whether problems differ in numbers alone, so that one can be renumbered to the other."""
    same = one.graph is other.graph and one.tolerant == other.tolerant
    same = same and one.beside == other.beside
    same = same and list(map(_named, one.space.axes)) == list(map(_named, other.space.axes))
    same = same and one.goals == other.goals and one.requirements == other.requirements
    same = same and [r.text for r in one.constraints] == [r.text for r in other.constraints]
    return same and one.measured is other.measured and one.offered == other.offered


def _named(axis: Axis) -> tuple[object, ...]:
    return axis.name, *axis.columns


def _alike(one: Problem, other: Problem) -> bool:
    """Tell whether problems differ in constants alone, as far as these have the same names."""
    same = wired_alike(one, other) and len(one.stages) == len(other.stages)
    same = same and one.space.constants.keys() == other.space.constants.keys()
    same = same and one.space.sizes == other.space.sizes
    axes = zip(one.space.axes, other.space.axes, strict=True) if same else ()
    same = same and all(_same(first.columns, second.columns) for first, second in axes)
    return same and all(map(_same_stage, one.stages, other.stages))


def _same_stage(one: Stage, other: Stage) -> bool:
    said = [(s.name, s.mixed, s.clocked, s.common, s.alone, s.designs.names) for s in (one, other)]
    return said[0] == said[1] and _same(vars(one.designs.metrics), vars(other.designs.metrics))


def _same(one: Mapping[str, Column], other: Mapping[str, Column]) -> bool:
    return all(
        one[name] is other[name] or np.array_equal(one[name], other[name], equal_nan=True)
        for name in one
    )

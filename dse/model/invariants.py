"""Plausibility: invariants of the models, checked on every run.

Without checks, models may return areas of 0, negative cycles and speedups beyond every bound.
Here every printed design is examined, and a sample of the feasible designs of a
run.  A model that breaks an invariant stops the program with the design and the term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column, Guard
from dse.errors import ContractError
from dse.model.evaluation import full_column
from dse.model.graph import Step, wire
from dse.model.problem import Problem
from dse.model.space import Index
from dse.plugins import registry

_MOST_DESIGNS = 2_000
"""Approximate number of examined designs of a sample, and of a front with one more instance."""

REPORT = "this is an error of a model, not of the study: please report it, with the study"


def check_invariants(problem: Problem, front: Index, *samples: Index) -> None:
    """Check the feasible designs of `front`, indices (n, d), and some of each sample.

    Raises
    ------
    ContractError
        An invariant is broken.  The message has the design, the quantity or rule, and its value.
    """
    points = np.concatenate([front, *map(_some, samples)])
    space = points[(points >= 0).all(axis=1)]  # the host has no fleet
    new = space[np.array([row.tobytes() not in problem.examined for row in space], dtype=bool)]
    index = new[problem.evaluate(new).feasible] if len(new) else new
    if not len(index) or not problem.graph.steps:  # designs evaluated already have no model
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = problem.terms(index)
        _refuse_negative(problem, index, columns)
        _grow_with_instances(problem, _some(index))
        _hold_guards(problem, index, columns)
    problem.examined.update(row.tobytes() for row in _some(index))  # these are shown


def _some(designs: Index) -> Index:
    return designs[:: max(1, len(designs) // _MOST_DESIGNS)]


def _refuse_negative(problem: Problem, index: Index, columns: Mapping[str, Any]) -> None:
    for quantity in problem.quantities:
        values = full_column(columns[quantity.name], len(index))
        wrong = np.isnan(values) & (not quantity.partial) | (values < 0) & (not quantity.signed)
        text = f"{quantity.name} is {{:.6g}}, and must be a number that is not negative"
        _refuse(problem, index, wrong, values, text)


def _hold_guards(problem: Problem, index: Index, columns: Mapping[str, Any]) -> None:
    given = wire({}, columns)
    for guard in registry.records(Guard).values():
        step = given.bind(guard)
        if step is not None:
            excess = np.broadcast_to(step(columns), (len(index),))
            wrong = ~(excess <= guard.tolerance)
            text = f"{guard.rule} ({guard.name}) is broken by {{:.3g}}, relative"
            _refuse(problem, index, wrong, excess, text)


def _grow_with_instances(problem: Problem, index: Index) -> None:
    """Add one instance of each design in turn.  Quantities that depend on it must grow."""
    growing = {q.name for q in problem.quantities if q.grows_with_instances}
    steps = [step for step in problem.graph.steps if step.name in growing]
    before = problem.columns(index, growing)
    given = problem.space.columns(index)
    for stage in problem.stages if steps else ():
        for changed in stage.one_more(given):
            after = problem.columns(index, growing, changed)
            for step in steps:
                values = np.broadcast_to(after[step.name], (len(index),))
                wrong = ~(values > before[step.name]) & _must_grow(step, before, after)
                text = f"{step.name} is {{:.6g}} and did not grow with an instance of {stage.name}"
                _refuse(problem, index, wrong, values, text)


def _must_grow(
    step: Step, before: Mapping[str, Any], after: Mapping[str, Any]
) -> NDArray[np.bool_]:
    """Return rows in which a quantity takes a stage column that grew.

    A core may have no leakage values, and then leakage does not grow.
    """
    taken = [name for name in step.arguments if name.startswith("stage_")]
    grew = [
        more > less for name in taken for less, more in zip(before[name], after[name], strict=True)
    ]
    return (
        np.asarray(np.logical_or.reduce(np.broadcast_arrays(*grew)))
        if grew
        else np.ones(1, dtype=bool)
    )


def _refuse(
    problem: Problem, index: Index, wrong: NDArray[np.bool_], values: Column, text: str
) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        design = problem.space.point_text(index[rows[0]])
        broken = text.format(values[rows[0]])
        raise ContractError(f"implausible: {broken}; design: {design}; {REPORT}")

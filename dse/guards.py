"""Plausibility: invariants of the models, checked on every run.

Other tools print areas of 0, negative cycles and speedups beyond every bound, because nothing
looks.  Here every run looks at its front and at a sample of its feasible designs; a model that
breaks an invariant stops the run with the design and the term.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dse import plugins
from dse.contract import Column, Guard
from dse.errors import ContractError
from dse.graph import bind
from dse.problem import Problem
from dse.space import Axis, Index

MOST_DESIGNS = 2_000
"""Designs of the sample that are looked at, besides the front."""


def check(problem: Problem, front: Index, sample: Index) -> None:
    """Look at the designs `front` (p, d) and at some of the feasible designs of `sample`.

    Raises
    ------
    ContractError
        Naming the design, the quantity or rule, and the values.
    """
    looked_at = sample[:: max(1, len(sample) // MOST_DESIGNS)]
    feasible = problem.evaluate(looked_at).feasible
    index = np.concatenate([front, looked_at[feasible]])
    if not len(index):
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        _refuse_negative(problem, index)
        _hold_guards(problem, index)
        _grow_with_instances(problem, front[:MOST_DESIGNS])


def _refuse_negative(problem: Problem, index: Index) -> None:
    columns = problem.describe(index)
    for quantity in problem.quantities:
        values = columns[quantity.name]
        wrong = np.isnan(values) & (not quantity.partial) | (values < 0) & (not quantity.signed)
        text = f"{quantity.name} is {{:.6g}}, and must be a number that is not negative"
        _refuse(problem, index, wrong, values, text)


def _hold_guards(problem: Problem, index: Index) -> None:
    columns = problem.terms(index)
    for guard in plugins.records(Guard).values():
        step = bind(guard, columns)
        if step is not None:
            excess = np.broadcast_to(step(columns), (len(index),))
            wrong = ~(excess <= guard.tolerance)
            text = f"{guard.rule} ({guard.name}) is broken by {{:.3g}}, relative"
            _refuse(problem, index, wrong, excess, text)


def _grow_with_instances(problem: Problem, index: Index) -> None:
    growing = [quantity.name for quantity in problem.quantities if quantity.grows_with_instances]
    for position, axis in enumerate(problem.space.axes):
        if not growing or not _counts_instances(problem, axis):
            continue
        fewer = index[index[:, position] + 1 < axis.size]
        more = fewer.copy()
        more[:, position] += 1
        before, after = problem.describe(fewer), problem.describe(more)
        added = after[axis.unit_name] > before[axis.unit_name]
        for name in growing:
            known = after[name] > 0  # a core may come without figures for leakage
            wrong = added & known & ~(after[name] > before[name])
            text = f"{name} is {{:.6g}} and did not grow with an instance ({axis.name})"
            _refuse(problem, more, wrong, after[name], text)


def _counts_instances(problem: Problem, axis: Axis) -> bool:
    stage, _, rest = axis.name.partition(".")
    designs = {entry.name: entry.designs.names for entry in problem.stages}
    return stage in designs and (rest == "instances" or rest in designs[stage])


def _refuse(
    problem: Problem, index: Index, wrong: NDArray[np.bool_], values: Column, text: str
) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        design = problem.point_text(index[rows[0]])
        raise ContractError(f"implausible: {text.format(values[rows[0]])}; design: {design}")

"""How sure figures are that come of means of several measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from dse.contract import Column, Matrix
from dse.model.matrices import full_column
from dse.model.space import Index

Problem = Any
"""A `dse.model.problem.Problem`; whatever else a search is given measures nothing."""

APART = 2.0
"""Standard errors of their difference within which two figures count as equal."""


def output_errors(problem: Problem, index: Index) -> dict[str, Column]:
    """Return the standard error of each output of designs (n, d), by quantity, in SI.

    NaN where a design was measured once; empty where no two measurements of a design differ.
    """
    measured = getattr(problem, "measured", None)
    if measured is None or measured.at_rows is not None or not measured.bench.noisy:
        return {}
    found = measured.found(problem.space, np.maximum(index, 0), ask=False)
    alone = (index < 0).any(axis=1)
    return {
        name: np.where(alone, np.nan, [one.errors.get(name, np.nan) for one in found])
        for name in measured.outputs
    }


def loss_errors(problem: Problem, index: Index) -> Matrix | None:
    """Return the standard errors (n, m) of the objectives of designs; None without any noise.

    To first order, of outputs x_k with standard errors e_k that do not depend on each other:
    e^2 = sum_k (y(x + e_k) - y(x))^2.
    """
    if not (errors := output_errors(problem, index)):
        return None
    names = [goal.name for goal in problem.goals]
    nominal, count = problem.columns(index, names), len(index)
    squares = np.zeros((count, len(names)))
    for output, error in errors.items():
        moved = problem.columns(index, names, {output: nominal[output] + error})
        for k, name in enumerate(names):
            if moved[name] is not nominal[name]:
                squares[:, k] += full_column(moved[name] - nominal[name], count) ** 2
    return np.sqrt(squares)

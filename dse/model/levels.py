"""Cheaper levels of what is measured: the losses that designs have as one of them says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dse.contract import Column, Fidelity, Matrix
from dse.model.evaluation import Problem, matrix_of, rounded
from dse.model.measured import MeasuredColumns
from dse.model.space import Index


@dataclass(frozen=True)
class MeasuredLevel:
    """A level of a problem; see `dse.contract.Fidelity`."""

    problem: Problem
    columns: MeasuredColumns
    cost_share: float

    def losses(self, index: Index) -> Matrix:
        """Measure designs (n, d); return their losses (n, m), NaN where nothing came of it."""
        found = self.columns.found(self.problem.space, index, ask=True)
        said = {  # NaN where only the last level has an output, and it may be known
            name: np.array([one.values.get(name, np.nan) for one in found])
            for name in self.problem.measured.outputs
        }
        return losses_with(self.problem, index, said)


def losses_with(problem: Problem, index: Index, changed: Mapping[str, Column]) -> Matrix:
    """Return the losses (n, m) that designs have with other columns; NaN where these are."""
    columns = problem.columns(index, [goal.name for goal in problem.goals], changed)
    loss = [-columns[goal.name] if goal.maximise else columns[goal.name] for goal in problem.goals]
    return rounded(matrix_of(loss, (len(index),)))


def levels_of(problem: Problem) -> tuple[Fidelity, ...]:
    """Return the cheaper levels of a problem, the cheapest first."""
    measured = getattr(problem, "measured", None)
    cheaper = () if measured is None else measured.cheaper
    return tuple(MeasuredLevel(problem, one, one.cost_share) for one in cheaper)

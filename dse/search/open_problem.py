"""A problem for optimisers from outside, with errors for wrong designs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dse.contract import Column
from dse.errors import ArgumentError, extra_module
from dse.model.evaluation import Evaluation
from dse.model.problem import Problem
from dse.model.space import Block, Index, Points

if TYPE_CHECKING:
    from dse.search.heuristic.optuna import Trials
    from dse.search.heuristic.pymoo import ProblemOfStudy

_ROWS = "give rows of whole numbers, shape (n, {}): a position on each axis"


@dataclass(frozen=True, repr=False)
class OpenProblem(Problem):
    """A problem whose `evaluate` and `describe` refuse rows that are no designs."""

    def evaluate(
        self, points: Points, changed: Mapping[str, Column] | None = None, *, draws: int = 1
    ) -> Evaluation:
        """Evaluate designs as `Problem.evaluate` does, or raise `ArgumentError` for wrong rows."""
        known = points if isinstance(points, Block) else self.rows(points)
        return super().evaluate(known, changed, draws=draws)

    def describe(self, index: Index) -> dict[str, Column]:
        """Return every column of designs as `Problem.describe`, with the errors of `evaluate`."""
        return super().describe(self.rows(index))

    def to_pymoo(self) -> ProblemOfStudy:
        """Return it as a problem of pymoo: whole numbers, losses ``F`` and violations ``G``.

        The losses of infeasible designs are 0, for pymoo ranks those by violation.
        """
        found: ProblemOfStudy = _adapter("to_pymoo", "pymoo").ProblemOfStudy(self)
        return found

    def optuna(self, trial: Any) -> tuple[float, ...]:
        """Return the losses of a trial of Optuna, and let it know the constraints.

        The objective of a study whose directions are all to minimise: ``study.optimize(
        problem.optuna)``.  A choice is suggested by its labels, an ordered axis by position.  The
        losses of infeasible designs are 0: samplers rank those by violation.  The attribute
        ``design`` of the trial is the text of its design.
        """
        found: tuple[float, ...] = _adapter("optuna", "optuna").losses_of(self, trial)
        return found

    def to_optuna(self, rows: Index, **settings: Any) -> Trials:
        """Return designs as the trials of a new study of Optuna, as `optuna` suggests them.

        Values have the names of their goals.  `settings` are arguments of `optuna.create_study`.
        """
        adapter, designs = _adapter("to_optuna", "optuna"), self.rows(rows)
        found: Trials = adapter.trials_of(self, designs, settings)
        return found

    def rows(self, given: Any) -> Index:
        """Return designs as an index (n, d), checked."""
        try:
            found = np.asarray(given)
        except ValueError:  # rows of different lengths
            found = np.array(given, dtype=object)
        shape, width = found.shape, len(self.sizes)
        if len(shape) != 2 or shape[1] != width or found.dtype.kind not in "iu":
            what = f"{found.dtype} of shape {shape} is no designs"
            raise ArgumentError(f"{what}; {_ROWS.format(width)}")
        wrong = (found < 0) | (found >= self.sizes)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            axis = self.space.axes[column]
            raise ArgumentError(
                f"row {row}: {found[row, column]} is no position on {axis.name}, which has "
                f"{axis.size} values; give 0 to {axis.size - 1}"
            )
        return found.astype(np.int64, copy=False)


def opened(problem: Problem) -> OpenProblem:
    """Return a problem for optimisers from outside."""
    return OpenProblem(**{entry.name: getattr(problem, entry.name) for entry in fields(problem)})


def _adapter(method: str, library: str) -> Any:
    """Return the module of the program that knows a library of the extra `search`."""
    instead = ", or call `evaluate` from an optimiser of your own"
    what, module = f"problem.{method}", f"dse.search.heuristic.{library}"
    return extra_module(module, what, library, "search", instead)

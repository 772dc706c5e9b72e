"""What a composition has evaluated and pruned so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.front import dominated, nondominated
from dse.model.problem import Evaluation
from dse.model.space import Index
from dse.search.archive import Archive


@dataclass
class Pruned:
    """How many designs were pruned unevaluated.

    Attributes
    ----------
    dominated
        Because an evaluated design dominates a bound of theirs, or because fleets of theirs can
        be replaced by others that are at least as good.
    infeasible
        Because all of them violate a constraint.
    """

    dominated: int = 0
    infeasible: int = 0


class Incumbents:
    """The best losses known, with which bounds are compared, and an account of every design."""

    def __init__(self, archive: Archive, objectives: int) -> None:
        """Start with nothing known."""
        self.archive = archive
        self.pruned = Pruned()
        self._known = np.empty((0, objectives))
        self._evaluated: set[bytes] = set()

    def dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which losses (n, m) an evaluated design dominates."""
        return dominated(loss, self._known)

    def evaluate_reference(self, index: Index) -> Evaluation:
        """Evaluate designs only to have something to compare bounds with."""
        evaluation = self.archive.evaluate_reference(index)
        self._remember(evaluation)
        return evaluation

    def evaluate(self, index: Index) -> None:
        """Evaluate designs that may be on the front and have not been evaluated before."""
        if len(index):
            self._evaluated.update(map(_key, index))
            self._remember(self.archive.evaluate_new(index))

    def was_evaluated(self, design: NDArray[np.int64]) -> bool:
        """Tell whether a design was evaluated."""
        return _key(design) in self._evaluated

    def _remember(self, evaluation: Evaluation) -> None:
        loss = evaluation.loss[evaluation.feasible]
        loss = loss[~self.dominated(loss)]
        if len(loss):
            known = np.unique(np.concatenate([self._known, loss]), axis=0)
            self._known = known[nondominated(known)]


def _key(design: NDArray[np.int64]) -> bytes:
    return design.tobytes()

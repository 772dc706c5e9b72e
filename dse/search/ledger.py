"""What a composition has evaluated and given up so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.front import beaten, nondominated
from dse.model.space import Index
from dse.search.archive import Archive, SearchEvaluation


@dataclass
class Tally:
    """How many designs were given up unevaluated.

    Attributes
    ----------
    dominated
        Because an evaluated design dominates a bound of theirs, or because fleets of theirs can
        be replaced by others that are at least as good.
    infeasible
        Because all of them miss a constraint.
    """

    dominated: int = 0
    infeasible: int = 0


class Ledger:
    """The losses that bounds have to beat, and an account of every design."""

    def __init__(self, archive: Archive, objectives: int) -> None:
        """Start with nothing known."""
        self.archive = archive
        self.tally = Tally()
        self._known = np.empty((0, objectives))
        self._settled: set[bytes] = set()

    def beaten(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which losses (n, m) an evaluated design dominates."""
        return beaten(loss, self._known)

    def witness(self, index: Index) -> SearchEvaluation:
        """Evaluate designs only to have something to compare bounds with."""
        evaluation = self.archive.witness(index)
        self._remember(evaluation)
        return evaluation

    def settle(self, index: Index) -> None:
        """Evaluate designs that may be on the front and have not been settled before."""
        if len(index):
            self._settled.update(map(_key, index))
            self._remember(self.archive.evaluate_new(index))

    def settled(self, design: NDArray[np.int64]) -> bool:
        """Tell whether a design was settled."""
        return _key(design) in self._settled

    def _remember(self, evaluation: SearchEvaluation) -> None:
        loss = evaluation.loss[evaluation.feasible]
        loss = loss[~self.beaten(loss)]
        if len(loss):
            known = np.unique(np.concatenate([self._known, loss]), axis=0)
            self._known = known[nondominated(known)]


def _key(design: NDArray[np.int64]) -> bytes:
    return design.tobytes()

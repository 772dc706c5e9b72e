"""What a composition has evaluated and pruned so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.evaluation import Evaluation
from dse.model.front import dominated, nondominated
from dse.model.matrices import distinct_rows
from dse.model.space import Index
from dse.search.archive import Archive
from dse.search.exact.work import CALL, SORTED, spend, spend_comparing


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

    def restore(self, before: Pruned) -> None:
        """Count again what was counted before."""
        self.dominated, self.infeasible = before.dominated, before.infeasible


class Incumbents:
    """The best losses known, with which bounds are compared, and an account of every design."""

    def __init__(self, archive: Archive, objectives: int) -> None:
        """Start with nothing known."""
        self.archive = archive
        self.pruned = Pruned()
        self._known = np.empty((0, objectives))
        self.designs: Index = np.empty((0, len(archive.sizes)), dtype=np.int64)
        self._evaluated: set[bytes] = set()

    def dominated(self, loss: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which losses (n, m) an evaluated design dominates."""
        spend_comparing(len(loss), self._known)
        return dominated(loss, self._known)

    def evaluate_reference(self, index: Index) -> None:
        """Evaluate designs only to have something to compare bounds with."""
        list(self.compare([index]))

    def compare(self, parts: Sequence[Index]) -> Iterator[tuple[Evaluation, NDArray[np.bool_]]]:
        """Evaluate designs likewise; yield of each part which are feasible and not dominated.

        By what is known so far, of the part itself and those before it.
        """
        every = self.archive.evaluate_reference(np.concatenate(parts))
        last = 0
        for index in parts:
            own = slice(last, last + len(index))
            last = own.stop
            feasible = every.feasible[own]
            some = Evaluation(index, every.loss[own], every.violation[own], known_feasible=feasible)
            yield some, self._remember(index, some)
        spend(last + CALL)

    def evaluate(self, index: Index) -> None:
        """Evaluate designs that may be on the front and have not been evaluated before."""
        if len(index):
            self._evaluated.update(map(_key, index))
            self._remember(index, self.archive.evaluate_new(index))
            spend(len(index) + CALL)

    def settle(self) -> None:
        """Evaluate what is known of the front so far, where nothing more is going to be known."""
        new = [row for row, design in enumerate(self.designs) if not self.was_evaluated(design)]
        if new:
            self.archive.evaluate_new(self.designs[new])

    @property
    def loss(self) -> NDArray[np.float64]:
        """The best losses known."""
        return self._known

    def was_evaluated(self, design: NDArray[np.int64]) -> bool:
        """Tell whether a design was evaluated."""
        return _key(design) in self._evaluated

    def _remember(self, index: Index, evaluation: Evaluation) -> NDArray[np.bool_]:
        """Return which designs are feasible, and not dominated by any that was evaluated."""
        hopeful = evaluation.feasible.copy()
        every = np.concatenate([self._known, evaluation.loss[hopeful]])
        if len(every):
            best = nondominated(every)
            hopeful[hopeful] = best[len(self._known) :]
            known = self.designs[best[: len(self._known)]]
            designs, every = np.concatenate([known, index[hopeful]]), every[best]
            rows = distinct_rows(every)
            self._known, self.designs = every[rows], designs[rows]
            spend(len(best) * len(every) // SORTED)
        return hopeful


def _key(design: NDArray[np.int64]) -> bytes:
    return design.tobytes()

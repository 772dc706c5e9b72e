"""What becomes of designs that cannot be evaluated: the first is refused, or all are infeasible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.errors import ContractError, NotFiniteError
from dse.model.evaluation import Evaluation
from dse.model.graph import EVALUATED, REMEDY
from dse.model.measured import MEASURED, MeasuredColumns
from dse.model.space import Points, Space, as_index


@dataclass(frozen=True)
class Judge:
    """What is known of a problem when its designs are judged.

    Attributes
    ----------
    space
        Where designs lie, to tell one in words.
    constraints, goals
        Names, by column of violations and losses.
    tolerant
        Whether designs that cannot be evaluated are infeasible.
    """

    space: Space
    constraints: Sequence[str]
    goals: Sequence[str]
    tolerant: bool

    def measured(
        self,
        values: MeasuredColumns,
        found: Evaluation,
        failed: NDArray[np.bool_],
        reason: str,
        excluded: NDArray[np.bool_],
    ) -> Evaluation:
        """Let designs of which there are no values miss the constraint for that; judge others.

        Those that are `excluded` by rules on axes alone lack nothing.
        """
        missing, cause = values.missing(self.space, found.points)
        if excluded.any():
            missing, failed = missing & ~excluded, failed & ~excluded
        if missing.any():
            there = len(found.loss) // len(missing)  # draws of each design
            rows = np.tile(missing, there)
            violation = found.violation[rows]
            found.violation[rows] = np.where(np.isnan(violation), np.inf, violation)
            found.violation[rows, self.constraints.index(MEASURED)] = np.inf
            found.loss[rows] = np.inf
            failed = failed & ~rows
        done = self.judged(found, failed, reason)
        if not missing.any() or done.failed is None:
            return done
        row = int(np.argmax(missing))
        failure = f"{cause(row)}, for the design {self._text(found.points, row)}"
        return replace(done, failed=done.failed | rows, failure=done.failure or failure)

    def judged(self, found: Evaluation, failed: NDArray[np.bool_], reason: str) -> Evaluation:
        """Refuse designs that cannot be evaluated, or let them miss the constraint for that.

        Parameters
        ----------
        found
            Losses and violations of n designs; those of infeasible ones are replaced.
        failed
            Designs for which a function raised an error, shape (n,).
        reason
            What the first of these errors said.

        Raises
        ------
        ContractError
            A function failed, and it is not tolerant.
        NotFiniteError
            A violation is NaN, or a loss of a feasible design is not finite; likewise.
        """
        wrong = failed | _nonsense(found)
        if not wrong.any():
            return replace(found, failed=wrong)
        row = int(np.argmax(wrong))
        said, remedy = (reason, REMEDY) if failed[row] else self._complaint(found, row)
        failure = f"{said} for the design {self._text(found.points, row)}"
        if not self.tolerant:
            kind = ContractError if failed[row] else NotFiniteError
            raise kind(f"{failure}; {remedy}")
        violation = found.violation[wrong]
        found.violation[wrong] = np.where(np.isnan(violation), np.inf, violation)
        found.violation[wrong, self.constraints.index(EVALUATED)] = np.inf
        found.loss[wrong] = np.inf
        return replace(found, failed=wrong, failure=failure)

    def _complaint(self, found: Evaluation, row: int) -> tuple[str, str]:
        """Say which number of a design is none, and what must hold."""
        missing = np.flatnonzero(np.isnan(found.violation[row]))
        if len(missing):
            rule = f"requirement {self.constraints[missing[0]]!r} gives NaN"
            return rule, "a violation must be a number"
        column = int(np.argmin(np.isfinite(found.loss[row])))
        rule = f"{self.goals[column]} is {found.loss[row, column]}"
        return rule, "an objective must be a finite number"

    def _text(self, points: Points, row: int) -> str:
        return self.space.point_text(as_index(points, np.array([row % len(points)]))[0])


def _nonsense(found: Evaluation) -> NDArray[np.bool_]:
    """Return which designs have a violation that is NaN, or if feasible no finite losses."""
    infinite = found.feasible & ~np.isfinite(found.loss).all(axis=1)
    return np.asarray(infinite | np.isnan(found.violation).any(axis=1))

"""What a study evaluates of designs, and the result of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.algebra.expression import Expression
from dse.model.space import Points

KNEE = "knee"
"""The preference for the design nearest to the best of every objective."""


@dataclass(frozen=True)
class Goal:
    """A quantity to optimise."""

    name: str
    maximise: bool = False

    @property
    def sense(self) -> str:
        """``minimise`` or ``maximise``."""
        return "maximise" if self.maximise else "minimise"


@dataclass(frozen=True)
class Constraint:
    """A constraint of the study: the text as written and what it means."""

    text: str
    expression: Expression


@dataclass(frozen=True)
class Evaluation:
    """Designs, their losses and violations.

    Attributes
    ----------
    points
        Design points: an index (n, d), or a block or boxes of n designs.
    loss
        What is minimised, shape (n, m), rounded to 40 bits; maximised quantities with their
        sign flipped.
    violation
        Shape (n, k); a constraint holds where its column is <= 0.
    failed
        Designs that cannot be evaluated, shape (n,), where a study takes these for infeasible.
    failure
        Why the first of them cannot, and which design it is.
    known_feasible
        Designs that meet every constraint, shape (n,), where that was found on the way.
    """

    points: Points
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]
    failed: NDArray[np.bool_] | None = None
    failure: str = ""
    known_feasible: NDArray[np.bool_] | None = None

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Designs that meet every constraint, shape (n,)."""
        if self.known_feasible is not None:
            return self.known_feasible
        return np.asarray((self.violation <= 0).all(axis=1))

"""The chance that a design meets the constraints and can be evaluated at all."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from dse.contract import Column, Matrix
from dse.search.expensive.process import Process, fitted

MOST_CONSTRAINTS = 4
"""Where more constraints are missed than this, they are taken together, as met or not."""

MOST_NOISE = 0.02
"""Most variance of noise, of that of the violations: where few designs work, each of them tells of
its neighbours rather than being an exception."""

LEAST_ERROR = 0.2
"""Least standard error of a prediction, on the scale on which violations are modelled."""


class Chances:
    """Chances of feasibility, learnt anew from each batch.

    A constraint has a Gaussian process of its violations v, on the scale asinh(v / median |v|),
    where these are numbers; where they only say yes or no, as for designs that failed, of -1 where
    it is met and 1 where not.  It is met with the chance Phi(-mean / e): e is the root of the mean
    square of the leave-one-out errors, since the variance of a process says little of a step.
    """

    def __init__(self) -> None:
        """Know nothing: every design is feasible."""
        self._parts: list[tuple[Process, float]] = []
        self._parameters: dict[int, Column] = {}

    def learn(self, features: Matrix, violation: Matrix) -> None:
        """Learn from all designs seen: features (n, f) and violations (n, k), which may be inf."""
        missed = ~(violation <= 0)
        columns = np.flatnonzero(missed.any(axis=0)).tolist()
        if len(columns) > MOST_CONSTRAINTS:
            together = np.where(missed.any(axis=1), np.inf, -1.0)
            parts = [(-1, together)]
        else:
            parts = [(column, violation[:, column]) for column in columns]
        self._parts = []
        for key, column in parts:
            rows, values = _scaled(column)
            process = fitted(features[rows], values, self._parameters.get(key), noise=MOST_NOISE)
            self._parameters[key] = process.parameters
            error = float(np.sqrt(np.mean(process.left_out() ** 2)))
            self._parts.append((process, max(error, LEAST_ERROR)))

    def of(self, features: Matrix) -> Column:
        """Return the chance of each design, (q,): the product over the constraints."""
        chance: Column = np.ones(len(features))
        for process, error in self._parts:
            chance = chance * ndtr(-process.mean(features) / error)
        return chance


def _scaled(violation: Column) -> tuple[Column, Column]:
    """Return which rows count, and their violations on a scale; 0 stays 0."""
    finite = np.isfinite(violation)
    size = np.abs(violation[finite & (violation != 0)])
    if len(np.unique(violation[finite])) < 3 or not len(size):
        return np.ones(len(violation), dtype=bool), np.where(violation <= 0, -1.0, 1.0)
    return finite, np.arcsinh(violation[finite] / np.median(size))

"""What is known of the objectives: a Gaussian process of each, about what was expected of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dse.contract import Column, Index, Matrix
from dse.search.expensive.features import Straight, straight
from dse.search.expensive.process import Process, fitted

Expected = Callable[[Index], Matrix]
"""Losses (n, m) that are expected of designs (n, d), NaN where nothing is."""


@dataclass(frozen=True)
class ModelledLoss:
    """One loss: its scale, the process of what is left, and whether that is of the expected."""

    scale: Straight
    process: Process
    trusted: bool


class ModelledLosses:
    """All losses, learnt anew from each batch.

    y = c + f(x), or y = m(x) + c + f(x) where the study expects m(x): whichever predicts the
    designs seen better when each is left out.
    """

    def __init__(self, count: int) -> None:
        """Know nothing of so many losses."""
        self._parameters: dict[tuple[int, bool], Column] = {}
        self.known: list[ModelledLoss] = []
        self.count = count

    def learn(self, features: Matrix, loss: Matrix, expected: Matrix) -> None:
        """Learn from designs whose losses (n, m) are finite; `expected` is NaN where nothing is."""
        self.known = []
        for k in range(self.count):
            scale = straight(loss[:, k])
            y, prior = scale(loss[:, k]), scale(expected[:, k])
            plain = self._process(k, False, features, y)
            found = ModelledLoss(scale, plain, False)
            if np.isfinite(prior).all():
                about = self._process(k, True, features, y - prior)
                if (about.left_out() ** 2).sum() < (plain.left_out() ** 2).sum():
                    found = ModelledLoss(scale, about, True)
            self.known.append(found)

    def straightened(self, loss: Matrix) -> Matrix:
        """Return losses (n, m) on the scales on which they are modelled."""
        return np.stack([one.scale(loss[:, k]) for k, one in enumerate(self.known)], axis=1)

    def mean(self, features: Matrix, index: Index, expected: Expected) -> Matrix:
        """Return the posterior means, (q, m), on their scales."""
        means = np.stack([one.process.mean(features) for one in self.known], axis=1)
        if any(one.trusted for one in self.known):
            prior = self.straightened(expected(index))
            for k, one in enumerate(self.known):
                if one.trusted:
                    typical = np.nanmedian(prior[:, k])
                    means[:, k] += np.where(np.isnan(prior[:, k]), typical, prior[:, k])
        return means

    def _process(self, k: int, about: bool, features: Matrix, y: Column) -> Process:
        process = fitted(features, y, self._parameters.get((k, about)))
        self._parameters[k, about] = process.parameters
        return process

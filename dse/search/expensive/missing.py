"""How much of the hypervolume the front still lacks, as the posterior of the designs left has it.

The share of the designs not evaluated is drawn from their joint posterior, about which the spread
is wider than the processes say, and counts once three batches in a row agree: so far, and no
further, it is calibrated (docs/expensive.md has what was measured).
"""

from __future__ import annotations

from collections import deque

import numpy as np
from scipy.linalg import cholesky

from dse.contract import Column, Lacking, Matrix
from dse.model.front import nondominated
from dse.model.volume import hypervolume
from dse.search.expensive.choosing import REFERENCE, Believer, expected_improvement

SPREAD = 1.5
"""By this factor the spread of the posterior is widened: the processes are too sure of cliffs."""

IN_A_ROW = 3
"""Batches of which the worst estimate counts: one batch may have learnt a wrong law."""

CANDIDATES, DRAWS = 300, 64
"""Designs with the most expected improvement that are drawn, and how often."""

WIDE = 2.0
"""Among which designs these are is found with a spread of so many deviations."""

JITTER = 1e-6
"""Of the prior variance: what a factor of the joint covariance needs."""


class Missing:
    """What the front lacks, batch after batch, with a confidence."""

    def __init__(self, confidence: float, seed: int) -> None:
        """Know nothing; the draws are apart from those of the search, which they do not change."""
        self._confidence, self._seed = confidence, seed
        self._shares: deque[float] = deque(maxlen=IN_A_ROW)
        self._batches = 0

    def learn(self, believer: Believer, observed: Matrix) -> Lacking | None:
        """Return what the front of what was observed lacks, None before there are estimates enough.

        `believer` holds the designs left; `observed` (n, m) are losses with the front in [0, 1].
        """
        self._batches += 1
        random = np.random.default_rng([self._seed, self._batches])
        shares = shares_lacking(believer, observed, random)
        self._shares.append(float(np.quantile(shares, self._confidence)))
        enough = len(self._shares) == IN_A_ROW
        return Lacking(max(self._shares), self._confidence) if enough else None


def shares_lacking(believer: Believer, observed: Matrix, random: np.random.Generator) -> Column:
    """Return draws of 1 - V(front) / V(front with the designs left), V the hypervolume.

    The losses of the designs left are drawn from their joint posterior, and each counts with the
    chance that it is feasible.
    """
    reference = np.full(observed.shape[1], REFERENCE)
    front = observed[nondominated(observed)]
    wide = WIDE * believer.deviation()
    gain = expected_improvement(believer.mean, wide, front, reference) * believer.chance
    rows = np.argsort(-gain, kind="stable")[:CANDIDATES]
    mean, chance = believer.mean[rows], believer.chance[rows]
    drawn = np.empty((DRAWS, *mean.shape))
    for k, covariance in enumerate(believer.covariances(rows)):
        factor = cholesky(covariance + JITTER * believer.prior(k) * np.eye(len(rows)), lower=True)
        normal = random.standard_normal((len(rows), DRAWS))
        drawn[:, :, k] = mean[:, k] + SPREAD * (factor @ normal).T
    works = random.random((DRAWS, len(rows))) < chance
    now = hypervolume(front, reference).value
    volumes = [
        hypervolume(np.concatenate([front, new[meets]]), reference).value
        for new, meets in zip(drawn, works, strict=True)
    ]
    whole = np.array(volumes)
    return np.where(whole > 0, 1.0 - now / np.where(whole > 0, whole, 1.0), 1.0)

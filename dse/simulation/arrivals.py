"""When offloads arrive, and of which size they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dse.contract import Column


def arrivals(*, cv2: float, rate_hz: float, count: int, seed: int) -> Column:
    """Return times of arrival, in s: independent gaps of one mean and squared variation.

    Equal gaps (0), gamma distributed (below 1), exponential (1), hyperexponential with balanced
    means (above 1).
    """
    random, mean = np.random.default_rng(seed), 1.0 / rate_hz
    if cv2 == 0:
        gaps = np.full(count, mean)
    elif cv2 < 1:
        gaps = random.gamma(1.0 / cv2, mean * cv2, count)
    else:
        share = (1.0 + math.sqrt((cv2 - 1.0) / (cv2 + 1.0))) / 2.0
        short = random.random(count) < share
        means = np.where(short, mean / (2.0 * share), mean * (cv2 + 1.0) * share)
        gaps = random.exponential(1.0, count) * means
    return np.cumsum(gaps)


def kinds(*, shares: Sequence[float], count: int, seed: int) -> NDArray[np.intp]:
    """Return the place among all sizes of each offload's own, drawn by their shares.

    Draws apart from those of arrivals, which are the same whatever the sizes.
    """
    chances = np.asarray(shares) / math.fsum(shares)
    return np.random.default_rng((seed, 1)).choice(len(chances), count, p=chances)

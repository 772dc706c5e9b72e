"""The non-dominated filter: pivots before moocore, against moocore alone."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

import moocore
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import REPETITIONS, table
from dse.model.front import nondominated

Points = Callable[[np.random.Generator, int, int], NDArray[np.float64]]

ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
OBJECTIVES = (2, 3, 4, 6)
MOST_NUMBERS = 40_000_000
"""Numbers of the largest table."""

MOST_ON_FRONT = 100_000
"""Rows of anti-correlated data in four and more objectives: all of them are on the front."""


def uniform(random: np.random.Generator, rows: int, objectives: int) -> NDArray[np.float64]:
    """Uniform points."""
    return random.random((rows, objectives))


def correlated(random: np.random.Generator, rows: int, objectives: int) -> NDArray[np.float64]:
    """Points along the diagonal, as areas and powers of designs are: a front of a few."""
    return random.random((rows, 1)) + 0.1 * random.random((rows, objectives))


def anti_correlated(random: np.random.Generator, rows: int, objectives: int) -> NDArray[np.float64]:
    """Points near a plane of equal sums: a large part is on the front."""
    points = random.exponential(size=(rows, objectives))
    points /= points.sum(axis=1, keepdims=True)
    return points * (1 + 0.001 * random.random((rows, 1)))


def ties(random: np.random.Generator, rows: int, objectives: int) -> NDArray[np.float64]:
    """Whole numbers up to 30, so that many losses are equal."""
    return random.integers(0, 30, (rows, objectives)).astype(np.float64)


def measured(make: Points, rows: int, objectives: int) -> tuple[str, ...]:
    """Return one row of the table: both filters in turn, on other points in each repetition.

    On the same points again, the processor would foresee the comparisons.
    """
    alone, ours, on_front = [], [], 0
    for seed in range(1 if rows > 1_000_000 else REPETITIONS * (5 if rows < 100_000 else 1)):
        loss = make(np.random.default_rng(seed), rows, objectives)
        start = time.process_time()
        expected = moocore.is_nondominated(loss, keep_weakly=True)
        middle = time.process_time()
        found = nondominated(loss)
        ours.append(time.process_time() - middle)
        alone.append(middle - start)
        on_front = int(found.sum())
        if not np.array_equal(found, expected):
            raise ValueError("the filters differ")
    theirs, own = statistics.median(alone), statistics.median(ours)
    return f"{on_front:,}", f"{1e3 * theirs:,.1f}", f"{1e3 * own:,.1f}", f"{theirs / own:.2f}"


def main() -> None:
    """Print milliseconds of CPU time and the ratio."""
    shown = []
    for make in (uniform, correlated, anti_correlated, ties):
        for rows, objectives in itertools.product(ROWS, OBJECTIVES):
            if rows * objectives > MOST_NUMBERS:
                continue
            if make is anti_correlated and objectives > 3 and rows > MOST_ON_FRONT:
                continue
            name = make.__name__.replace("_", " ")
            row = measured(make, rows, objectives)
            shown.append((name, f"{rows:,}", str(objectives), *row))
    table(
        "Non-dominated filter: milliseconds of CPU time",
        ("points", "rows", "objectives", "on the front", "moocore alone", "ours", "ratio"),
        shown,
    )


if __name__ == "__main__":
    main()

"""The non-dominated filter: pivots before moocore, against moocore alone."""

from __future__ import annotations

import moocore
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import cpu_seconds, table
from dse.model.front import nondominated

ROWS = (1_000_000, 10_000_000)


def small_front(rows: int, objectives: int) -> NDArray[np.float64]:
    """Uniform points: a front of some hundreds."""
    return np.random.default_rng(1).random((rows, objectives))


def correlated(rows: int, objectives: int) -> NDArray[np.float64]:
    """Points along the diagonal, as areas and powers of designs are: a front of a few."""
    random = np.random.default_rng(2)
    return random.random((rows, 1)) + 0.1 * random.random((rows, objectives))


def anti_correlated(rows: int, objectives: int) -> NDArray[np.float64]:
    """Points near a plane of equal sums: a large part is on the front."""
    random = np.random.default_rng(3)
    points = random.exponential(size=(rows, objectives))
    points /= points.sum(axis=1, keepdims=True)
    return points * (1 + 0.001 * random.random((rows, 1)))


def main() -> None:
    """Print seconds of CPU time and the ratio."""
    cases = [(small_front, rows, 3) for rows in ROWS] + [(correlated, rows, 3) for rows in ROWS]
    cases += [(anti_correlated, 1_000_000, 3), (anti_correlated, 100_000, 4)]
    shown = []
    for make, rows, objectives in cases:
        loss = make(rows, objectives)
        ours = cpu_seconds(lambda loss=loss: nondominated(loss))
        alone = cpu_seconds(lambda loss=loss: moocore.is_nondominated(loss, keep_weakly=True))
        front = int(nondominated(loss).sum())
        shown.append(
            (
                make.__name__.replace("_", " "),
                f"{rows:,}",
                str(objectives),
                f"{front:,}",
                f"{alone:.2f}",
                f"{ours:.2f}",
                f"{alone / ours:.1f}",
            )
        )
    table(
        "Non-dominated filter: seconds of CPU time",
        ("points", "rows", "objectives", "on the front", "moocore alone", "ours", "ratio"),
        shown,
    )


if __name__ == "__main__":
    main()

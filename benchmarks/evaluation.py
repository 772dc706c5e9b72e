"""Designs per second: in columns, as the engine works, against one design at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.timing import cpu_seconds, table
from dse.model.problem import Problem
from dse.study import study
from dse.study.swept import at_value, sweep_of

STUDIES = Path(__file__).parent.parent / "studies"
COLUMNS = 100_000
SINGLE = 200


def rates(problem: Problem) -> tuple[float, float]:
    """Return designs per second of CPU time: in columns, and one at a time."""
    random = np.random.default_rng(0)
    index = random.integers(0, problem.sizes, size=(COLUMNS, len(problem.sizes)))
    rows = [index[row : row + 1] for row in range(SINGLE)]
    together = cpu_seconds(lambda: problem.evaluate(index))
    alone = cpu_seconds(lambda: [problem.evaluate(row) for row in rows])
    return COLUMNS / together, SINGLE / alone


def main() -> None:
    """Print the rates of the shipped studies."""
    rows = []
    for path in sorted(STUDIES.glob("*.yaml")):
        found = study.read_study(path)
        sweep = sweep_of(found)
        problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
        columns, single = rates(problem)
        rows.append((path.stem, f"{columns:,.0f}", f"{single:,.0f}", f"{columns / single:,.0f}"))
    table(
        "Evaluation: designs per second of CPU time",
        ("study", "in columns", "one at a time", "ratio"),
        rows,
    )


if __name__ == "__main__":
    main()

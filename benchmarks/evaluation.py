"""Designs per second: function by function, and with one tape for the whole study.

Losses, violations and flags of 65 536 designs at a time: in blocks, whose axes are columns of their
own, and gathered at random.  A way is measured in short runs in turn with the other, of which the
lower quartile counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.timing import table
from dse.model.problem import Problem
from dse.model.space import Block, Points, blocks
from dse.model.tape.taped import Taped
from dse.study import study
from dse.study.swept import at_value, sweep_of

HERE = Path(__file__).parent
STUDIES = (*sorted((HERE.parent / "studies").glob("*.yaml")), HERE / "fine_grid.yaml")
DESIGNS = 65_536
RUNS = 40


def rate(evaluate: Callable[[Points], object], points: Points) -> float:
    """Return the designs that are evaluated per second of CPU time."""
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        evaluate(points)
        taken.append(time.process_time() - start)
    return len(points) / float(np.quantile(taken, 0.25))


def rates(problem: Problem, points: Points) -> tuple[float, float]:
    """Return designs per second, function by function and with the tape."""
    with patch.object(Taped, "evaluate", lambda *_: None):
        functions = rate(replace(problem).evaluate, points)
    while problem._taped.evaluate(points) is None:
        continue
    return functions, rate(problem.evaluate, points)


def block_of(problem: Problem) -> Block:
    """Return a block in the middle of a space."""
    found = [*blocks(problem.sizes, DESIGNS)]
    return found[len(found) // 2]


def main() -> None:
    """Print the rates of the shipped studies."""
    rows = []
    for path in STUDIES:
        found = study.read_study(path)
        sweep = sweep_of(found)
        problem = study.prepare(at_value(found, sweep, 0) if sweep else found).problem
        shape = (DESIGNS, len(problem.sizes))
        random = np.random.default_rng(0).integers(0, problem.sizes, size=shape)
        cells = []
        for points in (block_of(problem), random, random[:1]):
            functions, tape = rates(problem, points)
            cells += [f"{functions:,.0f}", f"{tape:,.0f}", f"{tape / functions:.1f}"]
        rows.append((path.stem, f"{problem.size:,}", *cells))
    ways = [
        f"{points}, {way}"
        for points in ("blocks", "gathered", "one at a time")
        for way in ("functions", "tape", "ratio")
    ]
    table("Evaluation: designs per second of CPU time", ("study", "designs", *ways), rows)


if __name__ == "__main__":
    main()

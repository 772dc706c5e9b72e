"""Designs per second: function by function, and with one tape for the whole study.

Losses, violations and flags of 65 536 designs at a time: in blocks, whose axes are columns of their
own, and gathered at random.  By machine code in blocks and in boxes of two values per axis,
compared with one point that dominates all, and with points of their front.  A way is measured in
short runs, of which the lower quartile counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.timing import cpu_seconds, table
from dse.model.front import nondominated
from dse.model.problem import Problem
from dse.model.space import Block, Boxes, Points, blocks
from dse.model.tape.taped import Taped
from dse.search.exact.enumeration import PIVOTS
from dse.study import study
from dse.study.overrides import at_value, sweep_of

HERE = Path(__file__).parent
STUDIES = (*sorted((HERE.parent / "studies").glob("*.yaml")), HERE / "fine_grid.yaml")
LARGE = tuple(
    path for path in STUDIES if path.stem in ("fine_grid", "des_100gbps") or "crypto" in path.stem
)
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


def boxes_of(problem: Problem) -> Boxes:
    """Return random boxes of two values per axis."""
    steps = np.minimum(problem.sizes, 2)
    shape = (DESIGNS // math.prod(steps.tolist()), len(steps))
    high = np.array(problem.sizes) - steps + 1
    return Boxes(tuple(steps.tolist()), np.random.default_rng(0).integers(0, high, size=shape))


def machine_code(path: Path) -> tuple[str, ...]:
    """Return seconds to compile, and designs per second of a study by numpy and machine code."""
    problem = study.prepare(study.read_study(path)).problem
    cells: list[str] = []
    for points in (block_of(problem), boxes_of(problem)):
        while problem._taped.evaluate(points) is None:
            continue
        best = np.full((1, problem.objective_count), -np.inf)
        compiling = cpu_seconds(partial(problem.candidates, points, best), repetitions=1)
        numpy = rate(problem.evaluate, points)
        found = problem.evaluate(points)
        losses = found.loss[found.feasible]
        front = losses[nondominated(losses)] if len(losses) else losses
        pivots = front[:: max(1, len(front) // PIVOTS)]
        one = rate(lambda points, by=best: problem.candidates(points, by), points)
        many = rate(lambda points, by=pivots: problem.candidates(points, by), points)
        cells += [f"{compiling:.2f}", f"{numpy:,.0f}", f"{one:,.0f}", f"{many:,.0f}"]
        cells.append(f"{one / numpy:.1f}")
    return path.stem, f"{problem.size:,}", *cells


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
    ways = [
        f"{points}, {way}"
        for points in ("blocks", "boxes")
        for way in ("CPU s to compile", "numpy", "machine code", "against a front", "ratio")
    ]
    table(
        "Machine code: designs per second of CPU time",
        ("study", "designs", *ways),
        [machine_code(path) for path in LARGE],
    )


if __name__ == "__main__":
    main()

"""Designs per second of the exact method: blocks by broadcasting, against gathered rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.timing import cpu_seconds, table
from dse import search, study
from dse.problem import Problem
from dse.space import blocks

STUDIES = Path(__file__).parent.parent / "studies"
CHUNK = 65_536
NAMES = ("crypto_interface_100gbps", "des_100gbps")


def rates(problem: Problem) -> tuple[float, float, float]:
    """Return designs per second: gathered rows, blocks, and the whole exact search."""
    some = [block for _, block in zip(range(30), blocks(problem.sizes, CHUNK), strict=False)]
    rows = [block.rows(np.arange(len(block))) for block in some]
    count = sum(len(block) for block in some)
    gathered = cpu_seconds(lambda: [problem.evaluate(part) for part in rows])
    broadcast = cpu_seconds(lambda: [problem.evaluate(block) for block in some])
    whole = cpu_seconds(lambda: search.run(problem, search.SearchSettings(), None))
    return count / gathered, count / broadcast, problem.size / whole


def main() -> None:
    """Print the rates of two shipped studies."""
    shown = []
    for name in NAMES:
        problem = study.prepare(study.read(STUDIES / f"{name}.yaml")).problem
        gathered, broadcast, whole = rates(problem)
        shown.append(
            (
                name,
                f"{problem.size:,}",
                f"{gathered:,.0f}",
                f"{broadcast:,.0f}",
                f"{broadcast / gathered:.1f}",
                f"{whole:,.0f}",
            )
        )
    table(
        "Enumeration: designs per second of CPU time",
        ("study", "designs", "rows", "blocks", "ratio", "whole search, with its front"),
        shown,
    )


if __name__ == "__main__":
    main()

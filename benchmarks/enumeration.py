"""Designs per second of enumeration: gathered rows, and broadcast blocks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.timing import cpu_seconds, table
from dse.model.problem import Problem
from dse.model.space import blocks
from dse.search import Outcome
from dse.search.archive import Archive
from dse.search.exact import prove
from dse.search.exact.work import CHUNK
from dse.study import study

HERE = Path(__file__).parent
STUDY = HERE / "fine_grid.yaml"
SHIPPED = tuple(
    HERE.parent / "studies" / f"{name}.yaml" for name in ("crypto_interface_100gbps", "des_100gbps")
)
GROWTH = (  # (in flight up to, granularities): about 1e6 to 1e9 designs
    (5, 2),
    (16, 8),
    (96, 13),
    (300, 41),
)
Way = Callable[[Archive], None]


def gathered(archive: Archive) -> None:
    """Evaluate a space in rows of its index."""
    for block in blocks(archive.problem.sizes, CHUNK):
        archive.evaluate_new(block.rows(np.arange(len(block))))


def broadcast(archive: Archive) -> None:
    """Evaluate a space in blocks."""
    prove.enumerate_all(archive)


WAYS = (gathered, broadcast)


def searched(problem: Problem, way: Way) -> Outcome:
    """Return the outcome, with front, counts and sample."""
    archive = Archive(problem, total=problem.size)
    way(archive)
    return archive.outcome()


def rates(path: Path) -> tuple[str, ...]:
    """Return one row: rates of every way, and their ratios to the first."""
    problem = study.prepare(study.read_study(path)).problem
    outcomes = [searched(problem, way) for way in WAYS]
    first = outcomes[0]
    for other in outcomes[1:]:
        assert np.array_equal(first.front_index, other.front_index)  # noqa: S101
        assert np.array_equal(first.front_loss, other.front_loss)  # noqa: S101
        assert np.array_equal(first.sample_index, other.sample_index)  # noqa: S101
        assert first.feasible_in_space == other.feasible_in_space  # noqa: S101
    seconds = [cpu_seconds(lambda way=way: searched(problem, way)) for way in WAYS]
    return (
        path.stem,
        f"{problem.size:,}",
        *(f"{problem.size / taken:,.0f}" for taken in seconds),
        *(f"{seconds[0] / taken:.1f}" for taken in seconds[1:]),
    )


def growth(most: int, points: int) -> tuple[str, ...]:
    """Return size, seconds, rate and peak memory of one large space, in a process of its own."""
    run = [sys.executable, "-m", "benchmarks.enumeration", str(most), str(points)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=HERE.parent)
    return tuple(done.stdout.split())


def alone(most: int, points: int) -> None:
    """Search one large space and print what `growth` returns."""
    overrides = [
        ("interface.in_flight", f"{{from: 1, to: {most}}}"),
        ("workload.granularity", f"{{from: 64 B, to: 64 KiB, points: {points}, grid: log}}"),
    ]
    problem = study.prepare(study.read_study(STUDY, overrides)).problem
    seconds = cpu_seconds(lambda: searched(problem, broadcast), repetitions=1)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(f"{problem.size:,} {seconds:.2f} {problem.size / seconds:,.0f} {peak:.0f}")


def main() -> None:
    """Print the rates of three studies, and how time and memory grow with the space."""
    table(
        "Enumeration: designs per second of CPU time, with front, counts and sample",
        (
            "study",
            "designs",
            "gathered rows",
            "blocks",
            "blocks / rows",
        ),
        [rates(path) for path in (STUDY, *SHIPPED)],
    )
    table(
        f"Enumeration of {STUDY.stem} with more granularities and offloads in flight",
        ("designs", "CPU s", "designs per s", "peak memory of the process, MiB"),
        [growth(*size) for size in GROWTH],
    )


if __name__ == "__main__":
    alone(*map(int, sys.argv[1:])) if sys.argv[1:] else main()

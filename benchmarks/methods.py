"""Every search method on one study: time, evaluations, and how much of the true front it found."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.timing import table
from dse import study
from dse.runner import Options, solve

STUDY = Path(__file__).parent.parent / "studies" / "crypto_interface_100gbps.yaml"
RUNS = (  # method, designs it may evaluate
    ("exact", None),
    ("nsga2", 12_000),
    ("nsga3", 12_000),
    ("sms-emoa", 4_000),
    ("nsga2-optuna", 2_000),
    ("tpe", 500),
    ("random", 12_000),
)


def main() -> None:
    """Print one row per method; the share is the median of three seeds."""
    prepared = study.prepare(study.read(STUDY))
    exact = solve(prepared, Options(), None)
    true = {tuple(row) for row in exact.outcome.front_loss.tolist()}
    rows = []
    for method, budget in RUNS:
        runs = []
        for seed in (1, 2, 3) if method != "exact" else (1,):
            start, cpu = time.perf_counter(), time.process_time()
            answer = solve(prepared, Options(method=method, seed=seed, budget=budget), None)
            found = {tuple(row) for row in answer.outcome.front_loss.tolist()} & true
            runs.append(
                (
                    answer.share or 0.0,
                    len(found) / len(true),
                    answer.seconds,
                    time.process_time() - cpu,
                    answer.outcome.evaluated,
                    time.perf_counter() - start,
                )
            )
        share, hits, seconds, _, evaluated, _ = sorted(runs)[len(runs) // 2]
        rows.append((method, f"{evaluated:,}", f"{seconds:.2f}", f"{share:.4f}", f"{hits:.0%}"))
    table(
        f"Methods on {STUDY.stem} ({prepared.problem.size:,} designs, {len(true)} on the front)",
        ("method", "evaluated", "wall s", "hypervolume / exact", "front points found"),
        rows,
    )


if __name__ == "__main__":
    main()

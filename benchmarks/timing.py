"""Measuring CPU time: medians of repetitions in one process, so that ratios can be trusted."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPETITIONS = 3


def cpu_seconds(action: Callable[[], Any], repetitions: int = REPETITIONS) -> float:
    """Return the median CPU time of `action`."""
    taken = []
    for _ in range(repetitions):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def as_installed(folder: str | Path) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as installed ones are."""
    found = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def table(title: str, headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a Markdown table."""
    print(f"\n## {title}\n")
    for row in (headers, tuple("---" for _ in headers), *rows):
        print("| " + " | ".join(row) + " |")

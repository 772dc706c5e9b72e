"""Run every benchmark and print Markdown: ``make bench`` keeps it as benchmarks/results.md."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version

from benchmarks import (
    answers,
    break_even,
    core_tables,
    enumeration,
    growth,
    methods,
    peers,
    plausible,
    starting,
)

LIBRARIES = ("numpy", "scipy", "moocore", "pymoo", "optuna", "ortools", "platypus-opt")


def installed(name: str) -> str:
    """Return a library and its version, or that it is missing."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} not installed"


def main() -> None:
    """Print what was measured, where and with what."""
    versions = ", ".join(map(installed, LIBRARIES))
    print("# Benchmarks\n")
    print(
        f"Measured by `make bench` on {date.today()}: {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}, {versions}. "
        f"Medians of three repetitions; the ratios of one run are what counts."
    )
    enumeration.main()
    growth.main()
    plausible.main()
    answers.main()
    core_tables.main()
    break_even.main()
    peers.main()
    methods.main()
    starting.main()


if __name__ == "__main__":
    main()

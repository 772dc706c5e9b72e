"""Run every benchmark and print Markdown: ``make bench`` keeps it as docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version

from benchmarks import (
    answers,
    break_even,
    enumeration,
    evaluation,
    filter,
    growth,
    methods,
    plausible,
)

LIBRARIES = ("numpy", "scipy", "moocore", "pymoo", "optuna")


def main() -> None:
    """Print what was measured, where and with what."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    print("# Benchmarks\n")
    print(
        f"Measured by `make bench` on {date.today()}: {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}, {versions}. "
        f"Medians of three repetitions; the ratios of one run are what counts."
    )
    evaluation.main()
    enumeration.main()
    growth.main()
    plausible.main()
    answers.main()
    filter.main()
    break_even.main()
    methods.main()


if __name__ == "__main__":
    main()

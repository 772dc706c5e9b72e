"""CPU time of whole processes, from start to end, and how many modules they import."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import table

SETTOP = "studies/settop_116mbps.yaml"
REPETITIONS = 5

COMMANDS = (
    "--help",
    "list cores",
    f"check {SETTOP}",
    f"evaluate {SETTOP} --set des.design=u1",
    "explain {run} --design des.u16=1",
    f"run {SETTOP} --no-plots --out {{run}}",
    f"run {SETTOP} --out {{run}}",
)
"""A study of six designs; the last one leaves the run that `explain` reads."""

LIBRARIES = ("numpy", "typer, pydantic.types", "pyarrow.parquet", "matplotlib.figure")
"""What commands cannot do without: they start no faster than these are imported."""


def main() -> None:
    """Print median and least of `REPETITIONS`, in turns, for noise to hit all of them alike."""
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        programs = {f"`import {name}`": ["-c", f"import {name}"] for name in LIBRARIES}
        programs |= {
            f"`dse {text.format(run='RUN')}`": ["-m", "dse", *text.format(run=run).split()]
            for text in COMMANDS
        }
        for arguments in reversed(programs.values()):  # once, for what is cached
            _cpu_seconds(arguments)
        taken: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(REPETITIONS):
            for name, arguments in programs.items():
                taken[name].append(_cpu_seconds(arguments))
        rows = [
            (name, f"{statistics.median(times):.2f}", f"{min(times):.2f}", _modules(programs[name]))
            for name, times in taken.items()
        ]
    table(
        "Starting: CPU seconds of whole processes",
        ("process", "median", "least", "modules imported"),
        rows,
    )


def _cpu_seconds(arguments: list[str]) -> float:
    """Return user and system time of a process and its children."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _modules(arguments: list[str]) -> str:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    return f"{sum(line.startswith('import time:') for line in told.splitlines()) - 1:,}"


if __name__ == "__main__":
    main()

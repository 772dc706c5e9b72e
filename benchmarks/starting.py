"""CPU time of whole processes, from start to end, and how many modules they import."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import as_installed, table

SETTOP = "studies/settop_116mbps.yaml"
REPETITIONS = 5

COMMANDS = (
    "--help",
    "list cores",
    f"check {SETTOP}",
    f"explain {SETTOP} --design u1",
    "explain {run} --design des.u16=1",
    f"run {SETTOP} --no-plots --out {{run}}",
    f"run {SETTOP} --out {{run}}",
)
"""A study of six designs; the last one leaves the run that `explain` reads."""

BEFORE = {
    "--help": ("0.16", "151"),
    "list cores": ("0.53", "487"),
    f"check {SETTOP}": ("0.68", "501"),
    "explain {run} --design des.u16=1": ("0.64", "510"),
    f"run {SETTOP} --out {{run}}": ("1.90", "1,148"),
}
"""Median and modules when each command imported whatever its neighbours need, measured as here."""

LIBRARIES = (
    "numpy",
    "numpy, typer, pydantic.types, ruamel.yaml",
    "pyarrow.parquet",
    "matplotlib.figure",
)
"""What commands cannot do without: they start no faster than these are imported."""


def main() -> None:
    """Print median and least of `REPETITIONS`, in turns, for noise to hit all of them alike."""
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        programs = {name: ["-c", f"import {name}"] for name in LIBRARIES}
        programs |= {text: ["-m", "dse", *text.format(run=run).split()] for text in COMMANDS}
        environment = as_installed(folder)
        for arguments in reversed(programs.values()):  # once, for what is cached
            _cpu_seconds(arguments, environment)
        taken: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(REPETITIONS):
            for name, arguments in programs.items():
                taken[name].append(_cpu_seconds(arguments, environment))
        rows = [_row(name, times, _modules(programs[name])) for name, times in taken.items()]
    table(
        "Starting: CPU seconds of whole processes",
        ("process", "median", "least", "median before", "modules", "modules before"),
        rows,
    )


def _row(name: str, times: list[float], modules: int) -> tuple[str, ...]:
    kind = "import" if name in LIBRARIES else "dse"
    seconds, more = BEFORE.get(name, ("", ""))
    measured = (f"{statistics.median(times):.2f}", f"{min(times):.2f}", seconds)
    return f"`{kind} {name.format(run='RUN')}`", *measured, f"{modules:,}", more


def _cpu_seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """Return user and system time of a process and its children."""
    before = os.times()
    command = [sys.executable, *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _modules(arguments: list[str]) -> int:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    return sum(line.startswith("import time:") for line in told.splitlines()) - 1


if __name__ == "__main__":
    main()

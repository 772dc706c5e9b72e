"""Commands on tables of cores: CPU time and memory as the rows grow."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import as_installed, table

ROWS = (1_000, 10_000, 100_000)
STUDY = """# Which of the cores carry 40 Gbit/s?
workload: {rate: 40 Gbit/s}
stages:
  - {name: core, table: cores.csv, values: {payload: 128 bit}}
objectives: {area: minimise, power: minimise}
"""


def write(folder: Path, rows: int) -> Path:
    """Write a table of so many cores, of no real ones, and a study of it; return the study."""
    random = np.random.default_rng(0)
    bandwidth = np.exp(random.uniform(0.0, np.log(100.0), rows))
    area = 2000 * bandwidth**0.9 * random.lognormal(0.0, 0.4, rows)
    power = 0.4 * bandwidth**0.95 * random.lognormal(0.0, 0.4, rows)
    cells = np.column_stack([np.arange(rows), area, random.uniform(400, 1000, rows), bandwidth])
    np.savetxt(
        folder / "cores.csv",
        np.column_stack([cells, power]),
        fmt=["d%d", *["%.6g"] * 4],
        delimiter=",",
        header="design,area_um2,clock_mhz,bandwidth_gbps,power_mw",
        comments="",
    )
    path = folder / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def taken(command: list[str], environment: dict[str, str]) -> tuple[str, str]:
    """Return the CPU time, s, and the peak memory, MiB, of a program."""
    program = str(Path(sys.executable).with_name("dse"))
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    child = os.posix_spawn(program, [program, *command], environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{command[0]} ends with {os.waitstatus_to_exitcode(status)}")
    return f"{used.ru_utime + used.ru_stime:.2f}", f"{used.ru_maxrss / 1024:.0f}"


def main() -> None:
    """Print the table."""
    found = []
    with tempfile.TemporaryDirectory() as home:
        environment = as_installed(home)
        for rows in (ROWS[0], *ROWS):  # the first one compiles modules
            folder = Path(home, str(rows))
            folder.mkdir(exist_ok=True)
            path = str(write(folder, rows))
            run = taken(["run", path, "--out", str(folder / "run")], environment)
            answer = taken(["answer", path, "--no-flips"], environment)
            report = taken(["report", str(folder / "run")], environment)
            found.append((f"{rows:,}", *run, *report, *answer))
    parts = ("run", "report", "answer without flips")
    headers = ("cores", *(head for part in parts for head in (f"{part}, CPU s", "peak MiB")))
    table("Tables of cores: whole processes, pictures included", headers, found[1:])


if __name__ == "__main__":
    main()

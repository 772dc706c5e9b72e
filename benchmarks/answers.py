"""CPU time of ``dse answer``: the whole process, without and with what would change the answer.

`BEFORE` is what it took when assumptions were tracked one after the other, on the same machine.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import REPETITIONS, as_installed, table
from dse.study import study

STUDIES = Path(__file__).resolve().parent.parent / "studies"
LINK = """
# Which mix of DES cores carries 100 Gbit/s behind a link, with how many offloads in flight?
workload: {rate: 100 Gbit/s, granularity: 16 KiB}
stages:
  - {core: des, fleet: mixed, clock: meet}
interface: {overhead: 1 us, latency: 0.9 us, link: 40 GB/s, host_cores: 16, host_power: 120 W}
axes:
  interface.in_flight: [1, 2, 4, 8, 16, 32, 64, 128, 256]
objectives: {area: minimise, power: minimise}
"""
BEFORE = {
    "crypto_interface_100gbps": "7.4",
    "des_100gbps": "4.0",
    "mixed fleets behind a link": "more than 240",
}


def seconds(path: Path, environment: dict[str, str], *options: str) -> float:
    """Return the median CPU time of a process that answers a study."""
    program = str(Path(sys.executable).with_name("dse"))
    taken = []
    for _ in range(REPETITIONS + 1):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [program, "answer", str(path), *options]
        subprocess.run(command, check=True, capture_output=True, env=environment)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
    return statistics.median(taken[1:])  # the first one compiles modules


def main() -> None:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = as_installed(folder)
        for name, before in BEFORE.items():
            path = STUDIES / f"{name}.yaml"
            if not path.exists():
                path = Path(folder, "link.yaml")
                path.write_text(LINK.strip(), encoding="utf-8")
            size = study.prepare(study.read_study(path)).problem.size
            first = seconds(path, environment, "--no-flips")
            whole = seconds(path, environment, "--time", "600 s")
            rows.append((name, f"{size:,}", f"{first:.2f}", f"{whole:.2f}", before))
    headers = ("study", "designs", "without flips", "with flips", "one after the other")
    table("`dse answer`: seconds of CPU time, start of the program included", headers, rows)


if __name__ == "__main__":
    main()

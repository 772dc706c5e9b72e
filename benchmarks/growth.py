"""The exact method on one family of studies, from a thousand designs to 1e16."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import table
from dse import search
from dse.study import study

CORES = ("des", "fft", "jacobi")
INTERFACE = """
interface: {device: sparc_t4_engine}
"""
INTERFACES = """
interface: {}
axes:
  workload.rate: [10 Gbps, 20 Gbps, 50 Gbps, 100 Gbps]
  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]
  interface.in_flight: [1, 4, 16, 64, 256]
  workload.granularity: [256 B, 1500 B, 4 KiB, 16 KiB, 64 KiB]
"""
FAMILY = (  # most instances of each design, stage by stage; and whether interfaces are chosen
    ((2,), False),
    ((2,), True),
    ((4,), True),
    ((3, 3), False),
    ((2, 2), True),
    ((5, 5), True),
    ((3, 3, 3), True),
    ((4, 4, 4), True),
    ((5, 5, 9), True),
    ((6, 6, 9), True),
)
OTHERS = {
    "chain with latency": """
workload: {kernel: des}
stages:
  - {core: fft, instances: {from: 1, to: 16}}
  - {core: des, fleet: mixed, instances: {from: 0, to: 9}}
interface: {device: sparc_t4_engine}
axes:
  workload.rate: [10 Gbps, 20 Gbps]
  interface.in_flight: [4, 64]
  workload.granularity: [1500 B, 4 KiB]
objectives: {area: minimise, total_power: minimise, offload_latency: minimise}
""",
    "without a rate": """
workload: {kernel: des}
stages:
  - {core: des, fleet: mixed, instances: {from: 0, to: 3}}
  - {core: fft, fleet: mixed, instances: {from: 0, to: 2}}
interface: {}
axes:
  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]
  interface.in_flight: [1, 4, 16, 64, 256]
  workload.granularity: [256 B, 1500 B, 4 KiB, 16 KiB, 64 KiB]
objectives: {area: minimise, total_power: minimise, offload_latency: minimise}
""",
}
"""Studies that are hard to prove."""


def text(counts: tuple[int, ...], interfaces: bool) -> str:
    """Return a study: a chain of mixed fleets behind one interface or a choice of them."""
    lines = [
        "workload:",
        "  kernel: des",
        *([] if interfaces else ["  rate: 10 Gbps", "  granularity: 4 KiB"]),
        "stages:",
    ]
    for core, most in zip(CORES, counts, strict=False):
        lines.append(f"  - {{core: {core}, fleet: mixed, instances: {{from: 0, to: {most}}}}}")
    goals = ["objectives:", "  area: minimise", "  total_power: minimise", "  throughput: maximise"]
    return "\n".join([*lines, (INTERFACES if interfaces else INTERFACE).strip(), *goals]) + "\n"


def measure(place: int) -> None:
    """Print designs, way, front, evaluated designs, CPU s and MiB of one study."""
    written = [*(text(*one) for one in FAMILY), *OTHERS.values()][place]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(written, encoding="utf-8")
        problem = study.prepare(study.read_study(path)).problem
    start = time.process_time()
    found = search.run_search(problem, search.SearchSettings(partial=True))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    evaluated = found.evaluated + found.reference_evaluations
    shown = (len(found.front_index), evaluated, seconds, peak)
    print(problem.size, found.certificate.way, *shown)


def main() -> None:
    """Print one row per study, each measured in a process of its own."""
    rows = []
    names = [*(str(len(counts)) for counts, _ in FAMILY), *OTHERS]
    for place, name in enumerate(names):
        command = [sys.executable, "-m", "benchmarks.growth", str(place)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        size, way, front, evaluated, seconds, peak = answer.stdout.split()
        rows.append(
            (
                f"{float(size):.1e}",
                name,
                way,
                front,
                f"{int(evaluated):,}",
                f"{float(seconds):.2f}",
                f"{float(peak):.0f}",
            )
        )
    table(
        "Growth: the exact method from a thousand designs to 1e16",
        ("designs", "stages, or study", "way", "front", "designs examined", "CPU s", "peak MiB"),
        rows,
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        main()

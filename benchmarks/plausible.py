"""Random plausible studies of all sizes: proven fronts, their time, and the better way to prove.

The seeds were drawn once by the system's random source, before any measurement.  A release draws
new ones: the search must not be tuned on them.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import table
from dse import search
from dse.errors import DseError
from dse.study import study

CORES = ("des", "fft", "jacobi")
GOALS = {
    "area": "minimise",
    "power": "minimise",
    "total_power": "minimise",
    "energy": "minimise",
    "instances": "minimise",
    "throughput": "maximise",
    "offload_latency": "minimise",
    "host_cores": "minimise",
}
BEHIND_INTERFACES = ("offload_latency", "host_cores")
SEEDS = [int(line) for line in Path(__file__).with_name("seeds.txt").read_text().split()]
SECONDS = 20
COMPARED = 10
"""CPU time within which a front is proven, and up to which ways to prove it are compared."""

STARTING = 10
NOISE, TWICE, TOLD = 0.05, 2.0, 1.5
"""CPU s to read a study at most; shorter runs tell little; ratios that are counted, or listed."""

PROVEN = ("composed", "enumerated")


def text(seed: int) -> str:
    """Return the study of a seed."""
    rng = np.random.default_rng(seed)
    interface = rng.random() < 0.6
    rate = str(rng.choice(["fixed", "axis", "none"], p=[0.5, 0.3, 0.2]))
    lines = ["workload:", "  granularity: 4 KiB", "  kernel: des"] if interface else []
    if rate == "fixed":
        lines += [] if interface else ["workload:"]
        lines.append(f"  rate: {rng.choice([1, 5, 20, 100])} Gbit/s")
    lines.append("stages:")
    stages = [_stage(rng, place, meets=rate != "none") for place in range(rng.integers(1, 5))]
    clocked = [any("clock" in line for line in stage) for stage in stages]
    if (
        rate != "none"
        and len(set(clocked)) == 2
        and np.random.default_rng((seed, 1)).random() < 0.5
    ):
        for stage, fixed in zip(stages, clocked, strict=True):
            stage += [] if fixed else ["    clock: meet"]
    lines += [line for stage in stages for line in stage]
    axes = ["  workload.rate: [5 Gbit/s, 20 Gbit/s, 60 Gbit/s, 100 Gbit/s]"] * (rate == "axis")
    if interface:
        lines.append(f"interface: {{wait: {rng.choice(['sync', 'async'])}}}")
        axes.append("  interface.device: [sparc_t4_engine, sparc_t4_instruction, sandy_bridge]")
        axes += ["  interface.in_flight: [1, 4, 16, 64, 256]"] * (rng.random() < 0.6)
        sizes = "[256 B, 1500 B, 4 KiB, 16 KiB, 64 KiB]"
        axes += [f"  workload.granularity: {sizes}"] * (rng.random() < 0.6)
    lines += ["axes:", *axes] if axes else []
    if rng.random() < 0.3:
        lines += ["budget:", f"  power_cap: {rng.choice([1, 5, 20])} W"]
    known = [name for name in GOALS if interface or name not in BEHIND_INTERFACES]
    chosen = rng.choice(known, size=rng.integers(2, 5), replace=False)
    lines += ["objectives:", *(f"  {name}: {GOALS[name]}" for name in chosen)]
    if rng.random() < 0.3:
        lines += ["constraints:", f"  - {rng.choice(['area <= 3 mm2', 'power <= 2 W'])}"]
    return "\n".join(lines) + "\n"


def _stage(rng: np.random.Generator, place: int, *, meets: bool) -> list[str]:
    lines = [f"  - core: {rng.choice(CORES)}", f"    name: s{place}"]
    kind = rng.random()
    if kind < 0.6:
        lines.append("    fleet: mixed")
        lines.append(f"    instances: {{from: 0, to: {rng.choice([3, 6, 10, 30])}}}")
    elif kind < 0.8 and meets:
        lines.append("    instances: least")
    else:
        lines.append(f"    instances: {{from: 1, to: {rng.choice([8, 64])}}}")
    if rng.random() < 0.3:
        lines.append(f"    clock: {rng.choice(['1', '[0.25, 0.5, 0.75, 1]'])}")
    return lines


def measure(seed: int, method: str, seconds: float = SECONDS) -> None:
    """Print what one study takes: size, verdict, designs of the front, CPU s, MiB."""
    start = time.process_time()
    size, verdict, front = 0, "", 0
    try:
        problem = study.prepare(study.read_study(text(seed))).problem
        size = problem.size
        start = time.process_time()
        settings = search.SearchSettings(method=method, partial=True, effort_s=seconds)
        found = search.run_search(problem, settings)
        verdict = found.certificate.way
        front = len(found.front_index)
    except DseError as error:
        verdict = type(error).__name__ + ":" + str(error).replace(" ", "_")[:200]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size:.2e}", verdict, front, f"{time.process_time() - start:.3f}", f"{peak:.0f}")


def run(seed: int, method: str = "exact", seconds: float = SECONDS) -> list[str]:
    """Return what `measure` prints in a process of its own, ended after twice so many seconds."""
    command = [sys.executable, "-m", "benchmarks.plausible", str(seed), method, str(seconds)]
    most = math.ceil(2 * seconds) + STARTING
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    )
    return done.stdout.split() or ["", "no_end", "0", str(seconds), ""]


def compare(seed: int, exact: list[str]) -> tuple[str, str, str, str, float] | None:
    """Return CPU s by `exact`, enumeration and composition, and how many times the better one.

    The other ways may take as long as `exact` did: what takes longer is no better.  None for a
    study that took `exact` too long.
    """
    seconds = float(exact[3])
    if exact[1] not in PROVEN or seconds > COMPARED:
        return None
    shown, best = [], seconds
    for way in ("enumerate", "compose"):
        row = run(seed, way, max(seconds, 0.05))
        done = row[1] in PROVEN
        best = min(best, float(row[3])) if done else best
        shown.append(f"{float(row[3]):.2f}" if done else "more")
    return str(seed), f"{seconds:.2f}", *shown, seconds / best


def main() -> None:
    """Print how many of the studies are proven, what they take, and what other ways take."""
    found = [run(seed) for seed in SEEDS]
    seconds = np.array([float(row[3]) for row in found])
    proven = [row[1] in PROVEN for row in found]
    table(
        f"Random plausible studies, proven within {SECONDS} s of CPU time",
        ("studies", "proven", "median CPU s", "90th percentile", "most CPU s", "most MiB"),
        [
            (
                str(len(SEEDS)),
                str(sum(proven)),
                f"{np.median(seconds):.2f}",
                f"{np.percentile(seconds, 90):.1f}",
                f"{seconds.max():.0f}",
                f"{max(int(row[4] or 0) for row in found)}",
            )
        ],
    )
    compared = [compare(seed, row) for seed, row in zip(SEEDS, found, strict=True)]
    ways([row for row in compared if row is not None])


def ways(compared: list[tuple[str, str, str, str, float]]) -> None:
    """Print how many times the better of enumeration and composition `exact` takes."""
    ratios = np.array([row[4] for row in compared])
    noise = np.array([float(row[1]) < NOISE for row in compared])
    over = (ratios > TWICE) & ~noise
    table(
        f"`exact` against the better of enumeration and composition, within {COMPARED} s",
        ("studies", "median", "90th percentile", "most", "above 2", f"of those under {NOISE} s"),
        [
            (
                str(len(ratios)),
                f"{np.median(ratios):.2f}",
                f"{np.percentile(ratios, 90):.2f}",
                f"{ratios[~noise].max():.2f}",
                str(over.sum()),
                str(((ratios > TWICE) & noise).sum()),
            )
        ],
    )
    worst = sorted(compared, key=lambda row: -row[4])
    table(
        "The studies where it takes most beside the better way, CPU s",
        ("seed", "exact", "enumeration", "composition", "ratio"),
        [(*row[:4], f"{row[4]:.2f}") for row in worst if row[4] > TOLD],
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(int(sys.argv[1]), *sys.argv[2:3], *map(float, sys.argv[3:]))
    else:
        main()

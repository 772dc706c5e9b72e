"""Time of a headless Chromium to draw the page of a run: ``python -m benchmarks.page``.

Not part of ``make bench``, for it needs a browser.  Prints a line of Markdown per run: feasible
designs and front, bytes of the page, seconds from navigation until every picture is drawn (median
of five), and memory that scripts hold.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import dse
from tests.page.browser import PROGRAM, browser

REPEATS = 5
LARGE = """\
# Which cores behind which interface, whatever the rate?
workload: {kernel: des}
stages:
  - core: des
    instances: {from: 1, to: 80}
interface: {}
axes:
  interface.device: [sparc_t4_engine, sandy_bridge, sparc_t4_instruction, sparc_t3, ultrasparc_t2]
  interface.in_flight: [1, 2]
  workload.granularity: {from: 64 B, to: 1 MiB, points: 24, grid: log}
objectives: {area: minimise, total_power: minimise, offload_latency: minimise, throughput: maximise}
"""
RUNS = {
    "des_100gbps": "studies/des_100gbps.yaml",
    "crypto_interface_100gbps": "studies/crypto_interface_100gbps.yaml",
    "des_fft_sweep": "studies/des_fft_sweep.yaml",
    "a large front": LARGE,
}


def main() -> None:
    """Run the studies, write their pages, and open each of them."""
    if PROGRAM is None:
        raise SystemExit("no Chromium is installed")
    with tempfile.TemporaryDirectory() as home, browser(Path(home) / "browser") as tab:
        print("| run | feasible + front | page | drawn after | memory |\n" + "| --- " * 5 + "|")
        for name, study in RUNS.items():
            result = dse.run(study, out=Path(home) / "runs" / name, plots=False)
            page = dse.report(result)
            drawn = median(tab.open(page) for _ in range(REPEATS))
            held = tab("Runtime.getHeapUsage")["usedSize"]
            cloud = min(int(result.evaluations["feasible"].sum()), 100_000)
            size = page.stat().st_size
            print(
                f"| {name} | {cloud:,} + {len(result.front):,} | {size / 1e6:.1f} MB "
                f"| {drawn / 1e3:.1f} s | {held / 1e6:.0f} MB |"
            )


if __name__ == "__main__":
    main()

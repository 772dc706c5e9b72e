"""Break-even granularities of many devices in one call, against scipy's brentq in a loop."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from benchmarks.timing import cpu_seconds, table
from dse.objectives.logca.roots import first_nonnegative

DEVICES = 1_000_000
LOOPED = 5_000


def main() -> None:
    """Print seconds for a million devices with latency per byte; the loop is extrapolated."""
    random = np.random.default_rng(0)
    overhead = random.uniform(1e2, 1e6, DEVICES)
    latency = random.uniform(0.1, 5.0, DEVICES)
    index = random.uniform(10.0, 100.0, DEVICES)
    exponent = random.uniform(1.05, 1.7, DEVICES)

    def together() -> None:
        first_nonnegative(index * (1 - 1 / 20.0), exponent, latency, overhead)

    def alone() -> None:
        for row in range(LOOPED):
            o, lat, c, b = overhead[row], latency[row], index[row], exponent[row]
            brentq(
                lambda x, o=o, lat=lat, c=c, b=b: (
                    c * np.exp(b * x) * (1 - 1 / 20.0) - lat * np.exp(x) - o
                ),
                -20.0,
                40.0,
                xtol=1e-12,
            )

    vectorised = cpu_seconds(together)
    looped = cpu_seconds(alone) * DEVICES / LOOPED
    table(
        f"Break-even granularities of {DEVICES:,} devices: seconds of CPU time",
        ("one call", "brentq in a loop (extrapolated)", "ratio"),
        [(f"{vectorised:.2f}", f"{looped:.1f}", f"{looped / vectorised:.0f}")],
    )


if __name__ == "__main__":
    main()

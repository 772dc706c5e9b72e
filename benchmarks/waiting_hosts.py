"""Busy host cores that wait for their offloads (`sync`): the model, and simulations."""

from __future__ import annotations

from itertools import count, islice

import numpy as np

from benchmarks.simulation import SEED, shares, text, witnessed
from benchmarks.timing import table

DESIGNS = 700
OFFLOADS = 60_000
KINDS = {"cv2 0.5": (0.5, False), "poisson": (1.0, False), "cv2 4": (4.0, False)}
KINDS |= {"IMIX, poisson": (1.0, True), "IMIX, cv2 4": (4.0, True)}
HEADERS = ("offloads", "designs", "median [%]", "range [%]", "≤ 5 %", "≤ 10 %", "≤ 15 %")


def main() -> None:
    """Print how far the model is off, of designs whose model says that they carry the load."""
    rows = []
    for name, (cv2, mix) in KINDS.items():
        drawn = (
            n for n in count() if "wait: sync," in text(np.random.default_rng([SEED, n]), 1.0, cv2)
        )
        found = witnessed(cv2, count=OFFLOADS, mix=mix, seeds=[*islice(drawn, DESIGNS)])
        errors = np.array([one.error("cores") for one in found if np.isfinite(one.model["wait"])])
        rows.append((name, str(len(errors)), *shares(errors)))
    table("Busy host cores that wait, model over simulation", HEADERS, rows)


if __name__ == "__main__":
    main()

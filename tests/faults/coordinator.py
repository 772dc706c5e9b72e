"""A search that measures a few designs at a time, and keeps what it measured, as a run does.

The next designs depend on what the last ones gave.  What is measured, and what counts, is told in
a file beside the store: ``measured KEY`` and ``kept KEY``.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.contract.evaluators import Measurement, Value, key
from dse.errors import StoreError
from dse.measure.store import StoreCache, open_store

AXES = {"unroll": 16, "banks": 16, "width": 16}
BATCH = 4
IDENTITY = "toy version 1"
ACKNOWLEDGED = "acknowledged"


@dataclass
class Toy:
    """Measures a design in some time; every seventh fails."""

    log: int
    seconds: float

    def measure(self, design: dict[str, Value]) -> Measurement:
        time.sleep(self.seconds)
        u, b, w = (float(design[name]) for name in AXES)
        os.write(self.log, f"measured {key(IDENTITY, design)}\n".encode())
        if (3 * u + 5 * b + w) % 7 == 0:
            return Measurement(values={}, cause="it returned 3\0", kind="exit")
        area = (1 + u) * (2 + math.sin(b)) + w / 3
        return Measurement(values={"area_m2": area, "time_s": 100 / (1 + u) + b / 7 + 9 / (1 + w)})


def main(folder: Path, count: int, seconds: float = 0.0) -> str:
    """Measure `count` designs, or take what is kept of them, and return the front as JSON."""
    log = os.open(folder / ACKNOWLEDGED, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    toy, found = Toy(log, seconds), dict[str, Measurement]()
    try:
        with open_store(folder) as store:
            cache = StoreCache(store, {}, IDENTITY)
            while len(found) < count:
                designs = {key(IDENTITY, design): design for design in _next(found)}
                known = cache.known([*designs])
                left = {name: design for name, design in designs.items() if name not in known}
                measured = {name: toy.measure(design) for name, design in left.items()}
                if measured:
                    cache.keep(measured, left)
                    os.write(log, "".join(f"kept {name}\n" for name in measured).encode())
                    os.fsync(log)
                found |= {name: (known | measured)[name] for name in designs}
    finally:
        os.close(log)
    return json.dumps(_front(found))


def _next(found: dict[str, Measurement]) -> list[dict[str, Value]]:
    """Return designs that follow from what was found, and from nothing else."""
    values = [m.values["area_m2"] * m.values["time_s"] for m in found.values() if not m.failed]
    place = math.floor(1e6 * min(values, default=1.0)) + 31 * len(found)
    designs: dict[str, dict[str, Value]] = {}
    while len(designs) < BATCH:
        place += 2654435761
        rest, design = place, dict[str, Value]()
        for name, size in AXES.items():
            rest, choice = divmod(rest, size)
            design[name] = float(choice)
        name = key(IDENTITY, design)
        if name not in found:
            designs[name] = design
    return [*designs.values()]


def _front(found: dict[str, Measurement]) -> dict[str, Sequence[float]]:
    points = {name: [*m.values.values()] for name, m in found.items() if not m.failed}
    return {
        name: point
        for name, point in points.items()
        if not any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True))
            for other in points.values()
        )
    }


if __name__ == "__main__":
    try:
        print(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
    except StoreError as error:
        print(error, file=sys.stderr)
        sys.exit(2)

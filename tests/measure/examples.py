"""Designs and what measuring them gave."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dse.contract.evaluators import Measurement, Value, key
from dse.measure.store import StoreCache, open_store

IDENTITY = "synth.sh version 1"


def design(number: int) -> dict[str, Value]:
    return {"unroll": float(number), "memory": "sram"}


def measured(number: int) -> Measurement:
    return Measurement(values={"area_m2": 0.1 * number, "power_w": 1.0 / (1 + number)})


FAILED = Measurement(values={}, cause="it returned 3", kind="exit", attempts=2, seconds=0.25)


def keep(cache: StoreCache, found: Mapping[int, Measurement]) -> list[str]:
    """Keep measurements of numbered designs, and return their keys."""
    keys = {number: key(cache.identity, design(number)) for number in found}
    cache.keep(
        {keys[number]: found[number] for number in found},
        {keys[number]: design(number) for number in found},
    )
    return [*keys.values()]


def filled(folder: Path, count: int = 20, identity: str = IDENTITY) -> list[str]:
    """Make a store with measurements of some designs, and return their keys."""
    folder.mkdir(parents=True, exist_ok=True)
    with open_store(folder) as store:
        cache = StoreCache(store, identity)
        return keep(cache, {number: measured(number) for number in range(count)})

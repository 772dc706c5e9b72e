"""Designs and what measuring them gave."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dse.contract.evaluators import Measurement, Value, key
from dse.measure.store import StoreCache, open_store
from dse.study.measuring import RunRecord, RunSearch

IDENTITY = "synth.sh version 1"


def design(number: int) -> dict[str, Value]:
    return {"unroll": float(number), "memory": "sram"}


def measured(number: int) -> Measurement:
    return Measurement(values={"area_m2": 0.1 * number, "power_w": 1.0 / (1 + number)})


def record(seed: int) -> RunRecord:
    """Return the record of a run with a seed."""
    search = RunSearch(method="random", seed=seed, budget=None, options={}, time_s=None)
    return RunRecord(
        study={"objectives": {"area": "minimise"}}, search=search, identity=IDENTITY, inputs={},
        question="", text="", file="study.yaml", overrides=[], planned=1, unit_names={},
        arguments=[],
    )  # fmt: skip


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
        cache = StoreCache(store, {}, identity)
        return keep(cache, {number: measured(number) for number in range(count)})

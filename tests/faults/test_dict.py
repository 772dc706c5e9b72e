"""A store and a dict that are told the same have the same, whatever ends the store between."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from dse.contract.evaluators import Measurement, key
from dse.measure.store import STORE_FILES, StoreCache, open_store, open_to_read
from dse.study.measuring import RunRecord
from tests.measure.examples import IDENTITY, design, keep, record

EVERYTHING = "DSE_FAULTS" in os.environ

NUMBERS = st.integers(0, 12)
KINDS = st.sampled_from(["exit", "timeout"])
GOOD = st.floats().map(lambda value: Measurement(values={"area_m2": value}))
BAD = st.builds(Measurement, values=st.just({}), cause=st.text(min_size=1), kind=KINDS)


class StoreBesideDict(RuleBasedStateMachine):
    """Designs are kept, asked for; the store is closed, killed, copied."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.model: dict[str, Measurement] = {}
        self.described: RunRecord | None = None
        self.turn = 0
        self.open(self.root / "0")

    def open(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.store = folder, open_store(folder)
        self.cache = StoreCache(self.store, {}, IDENTITY)

    def next_folder(self) -> Path:
        self.turn += 1
        return self.root / str(self.turn)

    @rule(found=st.dictionaries(NUMBERS, GOOD | BAD, max_size=5))
    def keep(self, found: dict[int, Measurement]) -> None:
        keep(self.cache, found)
        for number, measurement in found.items():
            name = key(IDENTITY, design(number))
            self.model.setdefault(name, measurement)

    @rule(number=st.integers())
    def describe(self, number: int) -> None:
        self.store.describe(record(number))
        self.described = record(number)

    @rule()
    def close(self) -> None:
        self.store.close()
        self.open(self.folder)

    @rule()
    def kill(self) -> None:
        """Go on with the files as they are on disk at this moment."""
        target = self.next_folder()
        target.mkdir()
        for name in STORE_FILES:
            if (self.folder / name).exists() and not name.endswith("-shm"):
                shutil.copy(self.folder / name, target)
        self.store.close()
        self.open(target)

    @rule()
    def copy(self) -> None:
        target = self.next_folder()
        target.mkdir()
        self.store.copy_to(target)
        self.store.close()
        self.open(target)

    @rule()
    def reuse(self) -> None:
        """Go on with a new store that has the values, and not the failures, of this one."""
        self.store.close()
        earlier, keys = self.folder, [*self.model]
        self.open(self.next_folder())
        with open_to_read(earlier) as reused:
            StoreCache(self.store, reused.found, IDENTITY).known(keys)
        values = {name: found for name, found in self.model.items() if not found.failed}
        self.model = {name: replace(found, attempts=0) for name, found in values.items()}
        self.described = None

    @invariant()
    def has_the_same(self) -> None:
        rows = [*self.store.found.values()]
        assert {row.key: repr(row.measurement) for row in rows} == {
            name: repr(found) for name, found in self.model.items()
        }
        known = self.cache.known([*self.model])
        assert {*known} == {*self.model}
        assert self.store.record == self.described

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.root)


TestStoreBesideDict = StoreBesideDict.TestCase
TestStoreBesideDict.settings = settings(
    max_examples=1_000 if EVERYTHING else 12,
    stateful_step_count=50 if EVERYTHING else 20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # many share these cores
)

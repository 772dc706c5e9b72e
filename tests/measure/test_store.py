"""What is kept is read back as it was, by whoever opens the store, and nothing else is."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.contract.evaluators import FAILURES, Measurement
from dse.errors import StoreError
from dse.measure.store import StoreCache, open_store, open_to_read, read_cells, stored_cells
from dse.study.measuring import STORE, StoredMeasurement
from tests.conftest import ROOT
from tests.measure.examples import FAILED, IDENTITY, filled, keep, measured, record


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def test_ten_thousand_numbers_come_back_with_the_same_bits(tmp_path: Path) -> None:
    drawn = np.frombuffer(np.random.default_rng(7).bytes(8 * 9990)).tolist()  # any bits at all
    odd = [0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, 2.0**53 + 1, 0.1, 1 / 3]
    numbers = [*drawn, *odd, math.inf, -math.inf]
    values = {f"n{place}": number for place, number in enumerate(numbers)}
    with open_store(tmp_path) as store:
        (name,) = keep(StoreCache(store, {}, IDENTITY), {1: Measurement(values=values)})
    with open_to_read(tmp_path) as store:
        back = StoreCache(store, {}, IDENTITY).known([name])[name].values
    for place, number in enumerate(numbers):
        if math.isnan(number):
            assert math.isnan(back[f"n{place}"])
        else:
            assert bits(back[f"n{place}"]) == bits(number), number


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"])
)  # also NUL, line ends, what steers a terminal


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.sampled_from(FAILURES), st.integers(1, 2**40), st.floats(0))
def test_causes_with_any_characters_come_back(
    identity: str, cause: str, said: str, folder: str, kind: str, attempts: int, seconds: float
) -> None:
    given_design = {cause or "axis": said, "x": -0.0}
    stored = [one.name for one in fields(Measurement) if one.name != "errors"]  # those of means
    assert len(stored) == 7  # those below
    found = Measurement(
        values={},
        cause=cause,
        kind=kind,
        attempts=attempts,
        seconds=seconds,
        said=said,
        folder=folder,
    )
    row = StoredMeasurement(
        identity=identity,
        design=given_design,
        measurement=found,
        kept_at=1.5e9,
    )
    assert read_cells(stored_cells(1, row)) == row


@pytest.mark.parametrize("cause", ["\0", "a\0b", "\udcff", "'; DROP TABLE runs; --", "\x1b[2J"])
def test_odd_causes_pass_the_database(cause: str, tmp_path: Path) -> None:
    failed = Measurement(values={}, cause=cause, kind="exit", said=cause, folder=cause)
    with open_store(tmp_path) as store:
        (name,) = keep(StoreCache(store, {}, cause), {1: failed})
    with open_to_read(tmp_path) as store:
        (row,) = store.found.values()
        cause = cause.replace("\udcff", "?")
        failed = Measurement(values={}, cause=cause, kind="exit", said=cause, folder=cause)
        assert (row.measurement, row.identity) == (failed, cause)
        assert (row.key == name) == ("?" not in cause)


def test_another_identity_is_another_measurement(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        one, other = (StoreCache(store, {}, f"synth.sh version {number}") for number in (1, 2))
        keys = keep(one, {1: measured(1)}), keep(other, {1: measured(5)})
        assert keys[0] != keys[1]
        assert one.known(keys[0])[keys[0][0]] == measured(1)


def test_other_runs_lend_their_values_and_not_their_failures(tmp_path: Path) -> None:
    keys = filled(tmp_path / "old", 5)
    with open_store(tmp_path / "old") as old:
        keys += keep(StoreCache(old, {}, IDENTITY), {7: FAILED})
    before = {path.name: path.read_bytes() for path in (tmp_path / "old").iterdir()}
    (tmp_path / "new").mkdir()
    with open_store(tmp_path / "new") as store, open_to_read(tmp_path / "old") as old:
        own = keep(StoreCache(store, {}, IDENTITY), {0: measured(9)})
        cache = StoreCache(store, old.found, IDENTITY)
        lent = cache.known(keys[1:])
        assert [*lent] == keys[1:5]
        assert {one.attempts for one in lent.values()} == {0}  # this run did nothing for them
        assert len(store) == 5
        assert cache.known(own) == {own[0]: measured(9)}
        with pytest.raises(StoreError, match="readonly database"):
            old.describe(record(1))
    assert {path.name: path.read_bytes() for path in (tmp_path / "old").iterdir()} == before


def test_a_copy_is_a_store(tmp_path: Path) -> None:
    keys = filled(tmp_path / "old")
    (tmp_path / "new").mkdir()
    with open_store(tmp_path / "old") as store:
        store.copy_to(tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [STORE]
    with open_store(tmp_path / "new") as copy:
        assert [row.key for row in copy.found.values()] == keys
        keep(StoreCache(copy, {}, IDENTITY), {99: measured(99)})


def test_every_transaction_waits_for_the_disk(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        pragmas = {"synchronous": 2, "journal_mode": "wal", "trusted_schema": 0}
        for name, value in pragmas.items():
            assert store.connection.execute(f"PRAGMA {name}").fetchone() == (value,)


def test_a_reader_sees_what_another_process_has_kept(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        keys = keep(StoreCache(store, {}, IDENTITY), {1: measured(1)})
        with open_to_read(tmp_path) as reader:
            assert [*reader.found] == keys


def test_a_process_waits_for_another_that_writes(tmp_path: Path) -> None:
    filled(tmp_path)
    code = (
        "import sys, pathlib; from dse.measure.store import open_store; "
        "from tests.measure.examples import record; "
        "store = open_store(pathlib.Path(sys.argv[1])); store.describe(record(7))"
    )
    with open_store(tmp_path) as store:
        store.connection.execute("BEGIN IMMEDIATE")
        command = [sys.executable, "-c", code, str(tmp_path)]
        with subprocess.Popen(command, cwd=ROOT) as other:
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(0.5)
            store.connection.execute("COMMIT")
        assert other.returncode == 0
    with open_to_read(tmp_path) as store:
        assert store.record == record(7)

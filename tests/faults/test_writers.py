"""Several processes keep to one store while another reads it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from dse.contract.evaluators import key
from dse.store.store import open_store, open_to_read
from tests.conftest import ROOT
from tests.store.examples import IDENTITY, design, measured

EVERYTHING = "DSE_FAULTS" in os.environ

WRITERS = 4
SHARED = 0.1
"""Of what a process keeps, the next one keeps this share, too."""


@pytest.mark.parametrize("batch", [25, 1])
def test_several_processes_keep_to_one_store(batch: int, tmp_path: Path) -> None:
    count = (10_000 if EVERYTHING else 600) // (1 if batch > 1 else 5)
    scans = (1000 if EVERYTHING else 40) if batch > 1 else 20
    part = count // WRITERS
    chance = random.Random(15)  # noqa: S311
    start = time.perf_counter()
    writers = []
    for number in range(WRITERS):
        first, last = number * part, min(count, round((number + 1 + SHARED) * part))
        arguments = [str(tmp_path), *map(str, (first, last, batch))]
        command = [sys.executable, "-m", "tests.faults.writer", *arguments]
        writers.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True))
    open_store(tmp_path).close()
    live = 0
    with open_to_read(tmp_path) as reader:
        for _ in range(scans):
            live += any(writer.poll() is None for writer in writers)
            before = len(reader)
            some = [*islice(reader.rows(after=chance.randint(0, before)), 500)]
            assert len(reader) >= before
            assert all(row.measurement == measured(int(row.design["unroll"])) for row in some)
        for writer in writers:
            _, said = writer.communicate()
            assert (writer.returncode, said) == (0, "")
        seconds = time.perf_counter() - start
        rows = [*reader.rows()]
    assert [row.number for row in rows] == [*range(1, count + 1)]
    assert {row.key for row in rows} == {key(IDENTITY, design(each)) for each in range(count)}
    print(
        f"\n{count} designs in batches of {batch} by {WRITERS} processes: {len(rows)} rows, "
        f"{count / seconds:.0f} a second; {live} of {scans} scans meanwhile"
    )

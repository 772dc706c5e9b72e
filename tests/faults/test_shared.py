"""Processes that share one storage: one budget, one front, and nothing lost with who is killed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import dse
from tests.runs.test_measuring import study
from tests.runs.test_storage import calls, journal, tool_in

pytest.importorskip("optuna", reason="the extra search is not installed")

EVERYTHING = "DSE_FAULTS" in os.environ
KILLS = 20 if EVERYTHING else 1


def sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'trials.db'}"


def from_environment(folder: Path) -> str:
    if not os.environ.get("TEST_DB_URL"):
        pytest.skip("TEST_DB_URL names no database")
    return os.environ["TEST_DB_URL"]


STORAGES = [journal, sqlite, from_environment]


def started(*arguments: Any, **options: Any) -> Any:
    """Start a process that runs a study."""
    process = get_context("fork").Process(target=_run, args=arguments, kwargs=options)
    process.start()
    return process


def _run(*arguments: Any, **options: Any) -> None:
    dse.run(*arguments, plots=False, **options)


@pytest.mark.parametrize("storage", STORAGES)
def test_two_processes_use_one_budget_and_write_one_front(
    storage: Callable[[Path], str], tmp_path: Path
) -> None:
    url, budget = storage(tmp_path), 8
    tool = tool_in(tmp_path, (2, 2e8), pause_s=0.02)
    for method in ("tpe", "random", "nsga2-optuna") if EVERYTHING else ("random",):
        name = f"{method}_{uuid4().hex[:8]}"
        path, folders = tmp_path / f"{name}.yaml", [tmp_path / f"{name}_{n}" for n in range(2)]
        path.write_text(json.dumps(study()))
        running = [
            started(path, out=out, evaluate=tool, storage=url, method=method, budget=budget)
            for out in folders
        ]
        for one in running:
            one.join()
        assert [one.exitcode for one in running] == [0, 0]
        assert len(calls(tmp_path)) == len({*calls(tmp_path)}) == budget
        (tmp_path / "calls").unlink()
        first, second = ((folder / "front.csv").read_bytes() for folder in folders)
        assert first == second
        manifests = [json.loads((folder / "manifest.json").read_text()) for folder in folders]
        ledgers = [manifest["ledger"] for manifest in manifests]
        assert [one["evaluated"] + one["failed"] for one in ledgers] == [budget, budget]
        assert sum(manifest["measured"]["measured_anew"] for manifest in manifests) == budget
        assert sum(manifest["storage"]["by_others"] for manifest in manifests) == budget
        assert any("depends on timing" in note for note in manifests[0]["notes"])
        assert all(dse.verify(folder, trials=100).holds for folder in folders)


@pytest.mark.parametrize("storage", STORAGES if EVERYTHING else [journal])
def test_what_killed_processes_left_is_measured_by_others(
    storage: Callable[[Path], str], tmp_path: Path
) -> None:
    """That a process of this machine is gone is seen at once, whatever the storage."""
    url, path = storage(tmp_path), tmp_path / f"killed_{uuid4().hex[:8]}.yaml"
    path.write_text(json.dumps(study(search={"method": "random", "warm_start": False})))
    slow, quick = tool_in(tmp_path, pause_s=60), tool_in(tmp_path)
    for number in range(KILLS):
        killed = started(path, evaluate=slow, storage=url, budget=15)
        while len(calls(tmp_path)) <= number:
            assert killed.is_alive()
            time.sleep(0.01)
        killed.kill()
        killed.join()
    result = dse.run(path, evaluate=quick, storage=url, budget=12)
    assert result.manifest["evaluated"] == 12
    assert len(calls(tmp_path)) == KILLS + 12
    assert result.manifest["storage"]["trials_fail"] >= KILLS
    assert "trials_running" not in result.manifest["storage"]


@pytest.mark.skipif(not EVERYTHING, reason="it waits for heartbeats; see `make faults`")
def test_heartbeats_tell_that_a_process_of_another_machine_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dse.search.shared import claims, storage

    monkeypatch.setattr(storage, "HEARTBEAT_S", 1)
    monkeypatch.setattr(storage, "STALE_S", 3)
    monkeypatch.setattr(claims, "is_gone", lambda process: False)
    url, slow, quick = sqlite(tmp_path), tool_in(tmp_path, pause_s=60), tool_in(tmp_path)
    killed = started(study(), method="random", evaluate=slow, storage=url, budget=12)
    while not calls(tmp_path):
        assert killed.is_alive()
        time.sleep(0.01)
    time.sleep(2)
    killed.kill()
    killed.join()
    result = dse.run(study(), method="random", evaluate=quick, storage=url, budget=15)
    assert result.manifest["evaluated"] == 15
    assert "trials_running" not in result.manifest["storage"]

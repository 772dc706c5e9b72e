"""Runs that share their trials through a storage of Optuna: one process, and several."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import dse
from dse.errors import DseError, StoreError
from dse.runs.sharing import SharingError
from tests.conftest import STUDIES
from tests.runs.test_measuring import figures, study

optuna = pytest.importorskip("optuna", reason="the extra search is not installed")

EVERYTHING = "DSE_FAULTS" in os.environ
KILLS = 20 if EVERYTHING else 1


def journal(folder: Path) -> str:
    return f"journal:///{folder / 'trials.log'}"


def sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'trials.db'}"


def from_environment(folder: Path) -> str:
    if not os.environ.get("TEST_DB_URL"):
        pytest.skip("TEST_DB_URL names no database")
    return os.environ["TEST_DB_URL"]


STORAGES = [journal, sqlite, from_environment]

Tool = Callable[[float, float], Mapping[str, float | str]]


def tool_in(folder: Path, *failing: tuple[float, float], pause_s: float = 0.0) -> Tool:
    """Return what measures, and writes what it is called with to a file."""

    def tool(unroll: float, clock: float) -> Mapping[str, float | str]:
        with (folder / "calls").open("a") as stream:
            stream.write(f"{unroll:g} {clock:g}\n")
        time.sleep(pause_s)
        if (unroll, clock) in failing:
            raise ValueError(f"no timing at {clock / 1e6:g} MHz")
        return figures(unroll, clock)

    return tool


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


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
        assert [manifest["evaluated"] for manifest in manifests] == [budget, budget]
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
    from dse.search.shared import storage, trials

    monkeypatch.setattr(storage, "HEARTBEAT_S", 1)
    monkeypatch.setattr(storage, "STALE_S", 3)
    monkeypatch.setattr(trials, "is_gone", lambda process: False)
    url, slow, quick = sqlite(tmp_path), tool_in(tmp_path, pause_s=60), tool_in(tmp_path)
    killed = started(study(), method="random", evaluate=slow, storage=url, budget=12)
    while not calls(tmp_path):
        time.sleep(0.01)
    time.sleep(2)
    killed.kill()
    killed.join()
    result = dse.run(study(), method="random", evaluate=quick, storage=url, budget=15)
    assert result.manifest["evaluated"] == 15
    assert "trials_running" not in result.manifest["storage"]


def trials(url: str, name: str = "study") -> Any:
    place = url.removeprefix("journal:///")
    backend = optuna.storages.journal.JournalFileBackend(place)
    storage = optuna.storages.JournalStorage(backend)
    return optuna.load_study(study_name=name, storage=storage)


def test_a_storage_holds_names_values_constraints_and_failures(tmp_path: Path) -> None:
    url, tool = journal(tmp_path), tool_in(tmp_path, (2, 2e8))
    result = dse.run(study(), method="tpe", budget=15, evaluate=tool, storage=url)
    assert len(calls(tmp_path)) == len({*calls(tmp_path)}) == result.manifest["evaluated"] == 15
    shared = trials(url)
    assert shared.metric_names == ["area_m2", "delay_s"]
    done = [trial for trial in shared.trials if trial.state.name == "COMPLETE"]
    assert {trial.params["unroll"] for trial in done} == {"1", "2", "4", "8", "16"}
    assert {trial.params["clock"] for trial in done} == {"100000000", "200000000", "400000000"}
    one = next(trial for trial in done if trial.params["unroll"] == "16")
    assert one.constraints.keys() == {"the design is measured", "power <= 30 mW"}
    failed = next(trial for trial in shared.trials if trial.params.get("unroll") == "2"
                  and trial.params["clock"] == "200000000")  # fmt: skip
    assert failed.state.name == "FAIL"
    assert failed.user_attrs["cause"] == "ValueError: no timing at 200 MHz"
    best = {tuple(trial.values) for trial in shared.best_trials}
    rows = result.front[["area_m2", "delay_s"]].itertuples(index=False)
    assert np.allclose(sorted(best), sorted(map(tuple, rows)), rtol=1e-9, atol=0)


def test_a_second_run_takes_what_is_there_and_measures_the_rest(tmp_path: Path) -> None:
    url, tool = journal(tmp_path), tool_in(tmp_path)
    dse.run(study(), method="random", evaluate=tool, storage=url, budget=6)
    assert len(calls(tmp_path)) == 6
    result = dse.run(study(), method="tpe", evaluate=tool, storage=url, budget=9)
    assert len(calls(tmp_path)) == len({*calls(tmp_path)}) == result.manifest["evaluated"] == 9
    assert result.manifest["storage"]["by_others"] == 6


def test_numbers_of_models_are_computed_again(tmp_path: Path) -> None:
    url, path = journal(tmp_path), STUDIES / "settop_116mbps.yaml"
    first = dse.run(path, method="tpe", budget=12, storage=url)
    shared = trials(url, path.stem)
    frozen = next(trial for trial in shared.trials if trial.state.name == "COMPLETE")
    lines = Path(url.removeprefix("journal:///")).read_text().splitlines()
    text = json.dumps(frozen.values)[1:-1].replace(" ", "")
    assert any(text in line for line in lines)
    doubled = ",".join(repr(2 * value) for value in frozen.values)
    changed = "\n".join(line.replace(text, doubled) for line in lines) + "\n"
    Path(url.removeprefix("journal:///")).write_text(changed)
    second = dse.run(path, method="random", budget=12, storage=url)
    assert second.front.equals(first.front)
    assert int(second.manifest["storage"]["differing"]) >= 1
    assert any("other numbers than the models here" in note for note in second.manifest["notes"])


def test_a_trial_that_somebody_told_by_hand_does_not_count(tmp_path: Path) -> None:
    url, tool = journal(tmp_path), tool_in(tmp_path)
    told = study(search={"method": "random", "budget": 4, "warm_start": False})
    told |= {"constraints": []}
    dse.run(told, evaluate=tool, storage=url)
    shared = trials(url)
    known = shared.trials[0]
    shared.add_trial(optuna.create_trial(
        params=known.params, distributions=known.distributions, values=[0.0, 0.0]
    ))  # fmt: skip
    result = dse.run(told, evaluate=tool, storage=url)
    assert len(calls(tmp_path)) == 4
    assert result.front["area_m2"].min() > 0
    assert result.manifest["storage"]["without_measurement"] == 1


def test_another_study_of_the_same_name_is_refused_field_by_field(tmp_path: Path) -> None:
    url = journal(tmp_path)
    told, tool = study(search={"method": "random", "budget": 9}), tool_in(tmp_path)
    dse.run(told, evaluate=tool, storage=url)
    other: Mapping[str, Any] = {
        **told,
        "axes": {**told["axes"], "unroll": [1, 2]},
        "objectives": {"area": "minimise", "delay": "maximise"},
    }
    with pytest.raises(SharingError) as refused:
        dse.run({**other}, evaluate=tool, storage=url)
    assert str(refused.value) == (
        f"{url} holds a study 'study' that asks for something else (there -> here):\n"
        '  axes.unroll: ["1", "2", "4", "8", "16"] -> ["1", "2"]\n'
        "  objectives.delay_s: minimise -> maximise\n"
        "name another storage, or make the studies the same"
    )


@pytest.mark.parametrize("method", ["exact", "nsga2", "gaussian"])
def test_methods_that_decide_on_designs_together_are_refused(method: str, tmp_path: Path) -> None:
    with pytest.raises(SharingError) as refused:
        dse.run(STUDIES / "settop_116mbps.yaml", method=method, storage=journal(tmp_path))
    assert str(refused.value) == (
        f"method {method} cannot share trials through a storage; search with --method "
        "nsga2-optuna, random or tpe, or leave --storage out: --workers and --dask go with every "
        "method"
    )
    assert not [*tmp_path.iterdir()]


def test_a_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SharingError, match=r"a storage holds one study, and this one sweeps "):
        dse.run(STUDIES / "des_fft_sweep.yaml", method="tpe", storage=journal(tmp_path))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("trials.log", "the storage trials.log is no URL; write for instance journal:///trials.log"),
        ("sqlite:////no/such/a.db", "the storage sqlite:////no/such/a.db cannot be used: "),
        ("journal:////no/such/a.log", "the storage journal:////no/such/a.log cannot be used: "),
        ("nothing://me:secret@host/a", "the storage nothing://me:***@host/a cannot be used: "),
    ],
)  # fmt: skip
def test_a_storage_that_cannot_be_used_is_told_without_its_password(url: str, said: str) -> None:
    with pytest.raises(StoreError) as told:
        dse.run(STUDIES / "settop_116mbps.yaml", method="tpe", storage=url)
    assert str(told.value).startswith(said)
    assert "secret" not in str(told.value)


def test_workers_and_a_cluster_exclude_each_other() -> None:
    with pytest.raises(DseError) as told:
        dse.run(study(), evaluate=figures, workers=2, dask="tcp://127.0.0.1:9")
    assert str(told.value) == (
        "workers and dask: a Dask cluster has workers of its own; give --workers to measure on "
        "this machine or --dask to measure on the cluster (`workers` or `dask` in Python), not both"
    )
